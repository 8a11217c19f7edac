r"""Theorem 5.2, what it needs: weights for each n, and two levels.

omega_yy must fall like 1/n, and two layers do not fit three levels.
"""

from lipverify.checks.linear_transformers import two_levels
from lipverify.checks.linear_transformers.quantities import TWO_LEVELS
from lipverify.checks.linear_transformers.two_levels import AT, DRAWN, EACH, RIDGE, ROOT
from lipverify.claims import bound, claim, exponent, per_profile

# fmt: off

claim("lt.noise-adaptive/fixed-weights",
      exponent(two_levels.distance, ROOT, of="root", along={"n": (1e3, 1e12, per_profile(17, 25))}, high="0", strict=True, truth="1",
               control=(None, {"fixed": "no"}), method="exact"),
      over={"d": 1, "level": 2, "order": "yx-yy", "fixed": "yes"}, source=TWO_LEVELS, kind="convention", expected="refuted",
      title="the two weights that are right at n = 100, for every length of the context",
      statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 \to 0 \text{ with } \omega_{yy} = v/100", assumes=(DRAWN, RIDGE, AT),
      corrected=r"$\omega_{yy} = -1/(n(1 + \sigma_1^2 + \sigma_2^2))$: the weight of the sum of squares must fall like $1/n$",
      finding=r"""The theorem is about one model for each length. The sum of squared labels is not normalised by
          $\mathbf{I}/n$: $\lambda \approx n\sigma^2$. With any fixed $\omega_{yy} \neq 0$ the factor $1 +
          \omega_{yy}\lambda$ grows like $n$; with $\omega_{yy} = 0$ there is one number for two levels.""")
claim("lt.noise-adaptive/three-levels",
      bound(two_levels.worst, r"\min_{c, v} \max_i |c (1 + v \sigma_i^2)(1 + \sigma_i^2) - 1|", equals=0, within=1e-9,
            truth=two_levels.alternating, method="exact"),
      over={("sigma_1", "sigma_2", "sigma_3"): ((0.0, 1.0, 2.0), (0.5, 1.0, 2.0), (1.0, 3.0, 5.0))}, source=TWO_LEVELS, kind="stronger",
      expected="refuted", title="two layers fit three noise levels", assumes=(DRAWN, RIDGE, EACH),
      corrected=r"""two layers fit two levels and no three: $1/(1 + s)$ is strictly convex and a line in $s = \sigma^2$
          meets it at most twice""",
      finding=r"""The worst relative error alternates in sign over the levels, with the same size at each; linear
          programming gives the same result. More layers with $\omega_{yy}$ raise the degree in $\sigma^2$ and fit more
          levels.""")
