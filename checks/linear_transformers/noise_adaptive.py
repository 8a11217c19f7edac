r"""Theorem 5.2: one layer with only omega_yx and one with only omega_yy reach ridge regression at two noise levels.

With c = -omega_yx and v = n omega_yy the two layers tend to w = c (1 + v sigma^2) alpha, and ridge to alpha / (1 + sigma^2): a line in
sigma^2 that meets a convex curve at the two levels, in either order of the layers, at the rate n^(-1/2). omega_yy must fall like 1/n.
One layer, three levels or correlated covariates are out of reach.
"""

from lipverify.checks.linear_transformers import two_levels
from lipverify.checks.linear_transformers.figures import shrinkage
from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile

# fmt: off
THEOREM = ("V", "Theorem 5.2", r"""paraphrased: for two noise levels $\sigma_1, \sigma_2$ and $x \sim N(0, I/n)$, one layer with only
    $\omega_{yx}$ and one with only $\omega_{yy}$ reach ridge regression at both as $n \to \infty$""")
DRAWN = r"""$x_i \sim N(0, \mathbf{I}/n)$, $w^* \sim N(0, \mathbf{I})$, $y_i = \langle w^*, x_i \rangle + \sigma \varepsilon_i$, $d$ fixed"""
RIDGE = r"ridge has the constant $\sigma^2$; weight vectors are compared, $w$ with $w_{\mathrm{ridge}}$"
EACH = r"$\omega_{yy} = v/n$: it may depend on the length of the context"
AT = r"measured at $\sigma_1 = 0.5$, $\sigma_2 = 1$; exactly for $d = 1$ and $2$, sampled for $d = 5$"
ROOT = r"(\mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 / d)^{1/2}"
MEAN = r"\mathbb{E} \langle w - w_{\mathrm{ridge}}, w^* \rangle / d"
PAIRS, READINGS = {("sigma_1", "sigma_2"): ((0.5, 1.0), (1.0, 3.0))}, {"order": ("yx-yy", "yy-yx"), "d": (1, 2), "level": (1, 2)}
FAR, NEAR = (1e2, 1e10, per_profile(17, 25)), (1e3, 1e7, per_profile(17, 25))
"""Ladders in n of the root mean square and of the mean, which rounding hides sooner."""

claim("lt.noise-adaptive/weights",
      identity(two_levels.gap, r"-\omega_{yx} (1 + n \omega_{yy} \sigma_i^2) (1 + \sigma_i^2) - 1", control={"first_term": 2}),
      *[agree(two_levels.solved, at(two_levels.fitted, contexts=per_profile(4000, 64_000)), weight, of=weight,
             over=PAIRS | {"n": 10**8}) for weight in ("c", "v")],
      source=THEOREM, kind="derived", expected="supported", over={"level": (1, 2)}, title="two weights that give ridge at two noise levels",
      statement=r"""\omega_{yx} = -\frac{1 + \sigma_1^2 + \sigma_2^2}{(1 + \sigma_1^2)(1 + \sigma_2^2)}, \quad
          \omega_{yy} = -\frac{1}{n (1 + \sigma_1^2 + \sigma_2^2)}: \quad
          -\omega_{yx} (1 + n \omega_{yy} \sigma_i^2) = \frac{1}{1 + \sigma_i^2}""",
      assumes=(DRAWN, RIDGE, EACH), shows=at(shrinkage),
      finding=r"""As $n \to \infty$, $\Sigma \to \mathbf{I}$, $\alpha \to w^* + \sigma z$ and ridge tends to $\alpha/(1 + \sigma^2)$, while
          $\lambda/n \to \sigma^2$. With $c = -\omega_{yx}$ and $v = n \omega_{yy}$ the two layers tend to $c(1 + v\sigma^2)\alpha$: a
          straight line in $\sigma^2$ that must meet $1/(1 + \sigma^2)$ twice. Two linear equations in $(c, cv)$ have one solution, so no
          other root exists; at $\sigma_1 = \sigma_2$ one equation is left and the solution shown is the tangent. The second method fits
          ridge on sampled contexts by least squares and finds the same two numbers.""")
claim("lt.noise-adaptive/limit/{order}",
      exponent(two_levels.distance, ROOT, of="root", along={"n": FAR}, high="0", strict=True, truth="-1/2", method="exact"),
      agree(two_levels.square, at(two_levels.sampled_square, contexts=per_profile(20_000, 400_000)),
            r"n \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 / d", over={("d", "n"): ((1, 200), (2, 200), (5, 10**8))}), over=READINGS,
      source=THEOREM, kind={"*/yx-yy": "printed", "*": "convention"}, expected="supported",
      title="two layers tend to ridge at both noise levels",
      statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}(\sigma_i^2)\|^2 \to 0 \quad (n \to \infty), \quad i = 1, 2",
      assumes=(DRAWN, RIDGE, EACH, AT),
      finding=r"""Both orders work with the same weights: in the first the layer with $\omega_{yy}$ sees
          $\sum (y_i - c\, x_i^\top \alpha)^2$, in the second $\sum y_i^2$, and the two differ by $O(1)$ of $n\sigma^2$. The paper's
          prediction is $\langle w, x_t \rangle$ with $x_t \sim N(0, \mathbf{I}/n)$, itself of size $n^{-1/2}$; so weight vectors are
          compared, which asks for more.""")
claim("lt.noise-adaptive/rate/{order}",
      exponent(two_levels.distance, ROOT, of="root", along={"n": FAR}, equals="-1/2", method="exact"),
      exponent(two_levels.distance, MEAN, of="mean", along={"n": NEAR}, equals="-1", method="exact"),
      bound(two_levels.distance, rf"{ROOT} \text{{ squared, over its limit}}", of="square over limit", along={"n": FAR}, equals=1, within=1e-6,
            method="exact"),
      bound(two_levels.distance, rf"{MEAN} \text{{ over its limit}}", of="mean over limit", along={"n": NEAR}, equals=1, within=1e-5,
            method="exact"),
      over=READINGS, source=THEOREM, kind="sharp", expected="supported", title="how fast the two layers approach ridge",
      statement=r"""\tfrac{n}{d} \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 \to
          (1 + s)\left(2 (cvs)^2 + \frac{d + 1}{(1 + s)^4}\right), \quad s = \sigma_i^2, \qquad
          \mathbb{E} \langle w - w_{\mathrm{ridge}}, w^* \rangle = \Theta(1/n)""",
      assumes=(DRAWN, RIDGE, EACH, AT),
      finding=r"""The theorem states no rate. What is left is mostly chance: $\lambda/n$ fluctuates by $\sigma^2 \sqrt{2/n}$ and $\Sigma$ by
          $n^{-1/2}$ around $\mathbf{I}$, which two scalar weights cannot follow. The mean difference is a power smaller; with
          $b = (1-c)^2$ or, if $\omega_{yy}$ acts first, $b = 1$, its limit is
          $\frac{n}{d} \mathbb{E}\langle w - w_{\mathrm{ridge}}, w^* \rangle \to cv(b(d+2)(1+s) - ds) + (d+1)s/(1+s)^3$.""")
claim("lt.noise-adaptive/rate/{order}/proved",
      bound(two_levels.every_number, r"K \Big/ \lim_n \tfrac{n}{d} \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2", high="4", control="1",
            over={"d": (1, 2, 5), "level": (1, 2), "n": 10**6}, method="certified"),
      proves="lt.noise-adaptive/limit/{order}", over={"order": ("yx-yy", "yy-yx")}, source=THEOREM, kind="derived", expected="supported",
      title="two layers approach ridge at a rate, with a constant, for every number of tokens",
      statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}(\sigma_i^2)\|^2 / d \leq K / n \quad \text{for every } n \geq 10^6",
      assumes=(DRAWN, RIDGE, EACH, r"$\sigma_1 = 0.5$, $\sigma_2 = 1$", "$K$ is given as a multiple of the limit as $n$ grows"),
      finding=r"""$w - w_{\mathrm{ridge}} = cv (\lambda/n - s) \alpha - \frac{1}{1+s} (\mathbf{I} - \Sigma) w_{\mathrm{ridge}}$. The second
          moment of the first part is exact given $\Sigma$ and at most a polynomial in $\mathrm{tr}\, \Sigma$, whose moments are those of a
          chi-squared number; that of the second is at most $\mathbb{E}\, \mathrm{tr} (\mathbf{I} - \Sigma)^2 = d(d+1)/n$. Minkowski's
          inequality adds them, and all of it times $n$ falls in $n$. The same holds for every pair of levels, $d$ and $n$, with another $K$;
          for short contexts it is large.""")
claim("lt.noise-adaptive/limit/other-levels",
      exponent(two_levels.elsewhere, ROOT, along={"n": FAR}, high="0", strict=True, truth="-1/2", method="exact"),
      over={("sigma_1", "sigma_2"): ((1.0, 3.0), (0.0, 1.0), (0.1, 10.0)), "level": (1, 2)}, source=THEOREM, kind="convention",
      expected="supported", title="the two layers tend to ridge at other pairs of noise levels",
      statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}(\sigma_i^2)\|^2 \to 0 \quad (n \to \infty), \quad i = 1, 2",
      assumes=(DRAWN, RIDGE, EACH, "exactly, for $d = 1$; the pairs of the cells"),
      finding="""The theorem names no levels. From no noise beside some to a hundred times as much the limit is the same and so is its rate;
          only the constant grows.""")

# What the theorem needs: weights for each n, two levels, two layers, each weight in its place, x ~ N(0, I/n)
claim("lt.noise-adaptive/fixed-weights",
      exponent(two_levels.distance, ROOT, of="root", along={"n": (1e3, 1e12, per_profile(17, 25))}, high="0", strict=True, truth="1",
               control=(None, {"fixed": "no"}), method="exact"),
      over={"d": 1, "level": 2, "order": "yx-yy", "fixed": "yes"}, source=THEOREM, kind="convention", expected="refuted",
      title="the two weights that are right at n = 100, for every length of the context",
      statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 \to 0 \text{ with } \omega_{yy} = v/100", assumes=(DRAWN, RIDGE, AT),
      corrected=r"$\omega_{yy} = -1/(n(1 + \sigma_1^2 + \sigma_2^2))$: the weight of the sum of squares must fall like $1/n$",
      finding=r"""The theorem is about a model for each length. The sum of squared labels is not normalised by $\mathbf{I}/n$:
          $\lambda \approx n\sigma^2$. With any fixed $\omega_{yy} \neq 0$ the factor $1 + \omega_{yy}\lambda$ grows like $n$; with
          $\omega_{yy} = 0$ there is one number for two levels.""")
claim("lt.noise-adaptive/three-levels",
      bound(two_levels.worst, r"\min_{c, v} \max_i |c (1 + v \sigma_i^2)(1 + \sigma_i^2) - 1|", equals=0, within=1e-9,
            truth=two_levels.alternating, method="exact"),
      over={("sigma_1", "sigma_2", "sigma_3"): ((0.0, 1.0, 2.0), (0.5, 1.0, 2.0), (1.0, 3.0, 5.0))}, source=THEOREM, kind="stronger",
      expected="refuted", title="two layers serve three noise levels", assumes=(DRAWN, RIDGE, EACH),
      corrected=r"""two layers serve two levels and no three: $1/(1 + s)$ is strictly convex and a line in $s = \sigma^2$ meets it at most
          twice""",
      finding=r"""The worst relative error alternates in sign over the levels, with the same size at each; linear programming finds it too.
          More layers with $\omega_{yy}$ raise the degree in $\sigma^2$ and serve more levels.""")
claim("lt.noise-adaptive/one-layer",
      bound(two_levels.worst, r"\min_{c} \max_i |c (1 + \sigma_i^2) - 1|", equals=0, within=1e-9,
            truth="(sigma_2**2 - sigma_1**2)/(2 + sigma_1**2 + sigma_2**2)", method="exact"),
      over=PAIRS, source=THEOREM, kind="stronger", expected="refuted", title="one layer with both weights serves two noise levels",
      assumes=(DRAWN, RIDGE),
      corrected=r"two layers are needed: in one, $\omega_{yy}$ multiplies a prediction that is still 0, so that $w = -\omega_{yx} \alpha$",
      finding="""Claimed nowhere, like its counterpart for three levels: they say that the theorem's two layers are needed, and what they are
          enough for.""")
claim("lt.noise-adaptive/swapped",
      bound(two_levels.distance, ROOT, of="root", high=0.1, control=(0.01, {"swapped": "no"}), method="exact"),
      over={"d": 1, "level": 2, "order": "yx-yy", "n": 1e8, "swapped": "yes"}, source=THEOREM, kind="stronger", expected="refuted",
      title="the same two numbers with their roles exchanged", assumes=(DRAWN, RIDGE, AT),
      statement=rf"{ROOT} \leq 0.1 \text{{ at }} n = 10^8 \text{{ with }} \omega_{{yx}} = v/n, \ \omega_{{yy}} = -c",
      corrected=r"$\omega_{yx} = -c$ and $\omega_{yy} = v/n$; exchanged, $w \to cv\sigma^2 \alpha$, which even has the wrong sign")
claim("lt.noise-adaptive/correlated",
      bound(two_levels.correlated, r"\min_{c, v} \max_{i, k} |c (1 + v \sigma_i^2)(\lambda_k + \sigma_i^2) - 1|", equals=0, within=1e-9,
            truth="(kappa - 1)/(kappa + 1 + 2*sigma_1**2)", method="exact"),
      over=PAIRS | {"kappa": (1.1, 2.0, 10.0)}, source=THEOREM, kind="stronger", expected="refuted",
      title="the two layers reach ridge on correlated covariates",
      assumes=(r"""$x_i \sim N(0, \mathbf{S}/n)$ with eigenvalues $\lambda_k = 1$ and $\kappa$ of $\mathbf{S}$; else as in the theorem""", EACH),
      finding=r"""Ridge shrinks each direction by a factor of its own, $1/(\lambda_k + s)$; the two layers multiply $\alpha$ by one number a
          noise level. Two directions are enough to tell, at a single level.""",
      corrected=r"""$x \sim N(0, \mathbf{I}/n)$ is needed: with eigenvalues 1 and $\kappa$ the least relative error is
          $\frac{\kappa - 1}{\kappa + 1 + 2\sigma_1^2}$""")
