r"""Theorem 5.2: one layer with only omega_yx and one with only omega_yy reach ridge regression at two noise levels.

With c = -omega_yx and v = n omega_yy the two layers tend to w = c (1 + v sigma^2) alpha, and ridge regression to alpha
/ (1 + sigma^2): a line in sigma^2 that meets a convex curve at the two levels, in either order of the layers, at the
rate n^(-1/2). The two weights are algebra for all levels and dimensions; rates are measured. noise_adaptive_needs.py shows what
the theorem needs.
"""

from lipverify.checks.linear_transformers import two_levels
from lipverify.checks.linear_transformers.figures import shrinkage
from lipverify.checks.linear_transformers.layers_in_words import rescaled
from lipverify.checks.linear_transformers.quantities import TWO_LEVELS
from lipverify.checks.linear_transformers.two_levels import AT, DRAWN, EACH, RIDGE, ROOT
from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile

# fmt: off
HEADINGS = {"lt.noise-adaptive": (10, 3, "Two layers adapt to two noise levels (Theorem 5.2)")}
RESCALING = ("V", "Section 5.2, rescaling", r"""If a layer only has $\omega_{yy}^l \neq 0$, it has a rescaling effect. [...] When
    $\omega_{yy}^l < 0$, this shrinks of the output based on the norm of $y$ in the previous layer.""")
SCALED = ("V", "Section 5.2, rescaling", r"""assuming $\Sigma \approx E[\Sigma] = nI$, the ridge regression solution becomes
    $w^*_{\sigma^2} \approx n/(n+\sigma^2) w^*$, which is exactly a scaled version of the OLS solution. Further, when noise is larger,
    the scaled factor is smaller""")
MEAN = r"\mathbb{E} \langle w - w_{\mathrm{ridge}}, w^* \rangle / d"
READINGS = {"order": ("yx-yy", "yy-yx"), "d": (1, 2), "level": (1, 2)}
FAR, NEAR = (1e2, 1e10, per_profile(17, 25)), (1e3, 1e7, per_profile(17, 25))
"""Ranges of n for the root mean square and for the mean, which reaches rounding earlier."""

claim("lt.noise-adaptive/weights",
      identity(two_levels.gap, r"-\omega_{yx} (1 + n \omega_{yy} \sigma_i^2) (1 + \sigma_i^2) - 1", control={"first_term": 2}),
      source=TWO_LEVELS, kind="printed", expected="supported", over={"level": (1, 2)}, title="""two weights that give ridge
            regression at any two noise levels, in any dimension""",
      statement=r"""\omega_{yx} = -\frac{1 + \sigma_1^2 + \sigma_2^2}{(1 + \sigma_1^2)(1 + \sigma_2^2)}, \quad
          \omega_{yy} = -\frac{1}{n (1 + \sigma_1^2 + \sigma_2^2)}: \quad
          -\omega_{yx} (1 + n \omega_{yy} \sigma_i^2) = \frac{1}{1 + \sigma_i^2}""",
      assumes=(DRAWN, RIDGE, EACH, r"$n \to \infty$, by the law of large numbers"), shows=at(shrinkage),
      finding=r"""As $n \to \infty$, $\Sigma \to \mathbf{I}$, $\alpha \to w^* + \sigma z$ and ridge regression tends to
          $\alpha/(1 + \sigma^2)$, while $\lambda/n \to \sigma^2$. With $c = -\omega_{yx}$ and $v = n \omega_{yy}$ the
          two layers tend to $c(1 + v\sigma^2)\alpha$: a straight line in $\sigma^2$ that must meet $1/(1 + \sigma^2)$
          twice. Two linear equations in $(c, cv)$ have one solution, so no other root exists; at $\sigma_1 = \sigma_2$
          one equation remains and the solution shown is the tangent.""")
claim("lt.noise-adaptive/limit/{order}",
      exponent(two_levels.distance, ROOT, of="root", along={"n": FAR}, high="0", strict=True, truth="-1/2", method="exact"),
      agree(two_levels.square, at(two_levels.sampled_square, contexts=per_profile(20_000, 400_000)),
            r"n \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 / d", over={("d", "n"): ((1, 200), (2, 200), (5, 10**8))}), over=READINGS,
      source=TWO_LEVELS, kind={"*/yx-yy": "derived", "*": "stronger"}, expected="supported",
      title="two layers tend to ridge regression at both noise levels",
      statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}(\sigma_i^2)\|^2 \to 0 \quad (n \to \infty), \quad i = 1, 2",
      assumes=(DRAWN, RIDGE, EACH, AT),
      finding=r"""Both orders work with the same weights: in the first the layer with $\omega_{yy}$ reads $\sum (y_i -
          c\, x_i^\top \alpha)^2$, in the second $\sum y_i^2$, and the two differ by $O(1)$ of $n\sigma^2$. The paper's
          prediction is $\langle w, x_t \rangle$ with $x_t \sim N(0, \mathbf{I}/n)$, itself of size $n^{-1/2}$; so the
          claim compares weight vectors, which is stricter.""")
claim("lt.noise-adaptive/rate/{order}",
      exponent(two_levels.distance, ROOT, of="root", along={"n": FAR}, equals="-1/2", method="exact"),
      exponent(two_levels.distance, MEAN, of="mean", along={"n": NEAR}, equals="-1", method="exact"),
      bound(two_levels.distance, rf"{ROOT} \text{{ squared, over its limit}}", of="square over limit", along={"n": FAR}, equals=1,
            within=1e-6,
            method="exact"),
      bound(two_levels.distance, rf"{MEAN} \text{{ over its limit}}", of="mean over limit", along={"n": NEAR}, equals=1, within=1e-5,
            method="exact"),
      over=READINGS, source=TWO_LEVELS, kind="sharp", expected="supported", title="""how fast the two layers approach ridge
            regression""",
      statement=r"""\tfrac{n}{d} \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 \to
          (1 + s)\left(2 (cvs)^2 + \frac{d + 1}{(1 + s)^4}\right), \quad s = \sigma_i^2, \qquad
          \mathbb{E} \langle w - w_{\mathrm{ridge}}, w^* \rangle = \Theta(1/n)""",
      assumes=(DRAWN, RIDGE, EACH, AT),
      finding=r"""The theorem states no rate. The remaining error is mostly random: $\lambda/n$ fluctuates by $\sigma^2
          \sqrt{2/n}$ and $\Sigma$ by $n^{-1/2}$ around $\mathbf{I}$, which two scalar weights cannot follow. The mean
          difference is a power smaller; with $b = (1-c)^2$ or, if $\omega_{yy}$ acts first, $b = 1$, its limit is
          $\frac{n}{d} \mathbb{E}\langle w - w_{\mathrm{ridge}}, w^* \rangle \to cv(b(d+2)(1+s) - ds) + (d+1)s/(1+s)^3$.""")
claim("lt.noise-adaptive/rate/{order}/proved",
      bound(two_levels.every_number, r"K \Big/ \lim_n \tfrac{n}{d} \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2", high="4", control="1",
            over={"d": (1, 2, 5), "level": (1, 2), "n": 10**6}, method="certified"),
      proves="lt.noise-adaptive/limit/{order}", over={"order": ("yx-yy", "yy-yx")}, source=TWO_LEVELS, kind="derived", expected="supported",
      title="two layers approach ridge regression at a rate, with a constant, for every number of tokens", forall="n >= 1000000",
      statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}(\sigma_i^2)\|^2 / d \leq K / n \quad \text{for every } n \geq 10^6",
      assumes=(DRAWN, RIDGE, EACH, r"$\sigma_1 = 0.5$, $\sigma_2 = 1$", "$K$ is given as a multiple of the limit as $n$ grows"),
      finding=r"""$w - w_{\mathrm{ridge}} = cv (\lambda/n - s) \alpha - \frac{1}{1+s} (\mathbf{I} - \Sigma)
          w_{\mathrm{ridge}}$. The second moment of the first part is exact given $\Sigma$ and at most a polynomial in
          $\mathrm{tr}\, \Sigma$, whose moments are those of a chi-squared number; that of the second is at most
          $\mathbb{E}\, \mathrm{tr} (\mathbf{I} - \Sigma)^2 = d(d+1)/n$. Minkowski's inequality adds them, and $n$ times
          the sum decreases in $n$. The same holds for every pair of levels, $d$ and $n$, with another $K$; for short
          contexts it is large.""")
claim("lt.noise-adaptive/limit/other-levels",
      exponent(two_levels.elsewhere, ROOT, along={"n": FAR}, high="0", strict=True, truth="-1/2", method="exact"),
      over={("sigma_1", "sigma_2"): ((1.0, 3.0), (0.0, 1.0), (0.1, 10.0)), "level": (1, 2)}, source=TWO_LEVELS, kind="stronger",
      expected="supported", title="the two layers tend to ridge regression at other pairs of noise levels",
      statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}(\sigma_i^2)\|^2 \to 0 \quad (n \to \infty), \quad i = 1, 2",
      assumes=(DRAWN, RIDGE, EACH, "exactly, for $d = 1$; the pairs of the cells"),
      finding="""The theorem names no levels. For all pairs, from no noise and some to a hundredfold ratio, the limit is
          the same and so is its rate; only the constant grows.""")
claim("lt.noise-adaptive/rescaling",
      identity(rescaled, r"\text{words left of } (x', y')", control={"weight": "yx"}, over={"weight": "yy"}),
      source=RESCALING, kind="printed", expected="supported", title="A layer with only ω_yy rescales the labels",
      statement=r"x' = x, \quad y' = (1 + \omega_{yy} \lambda)\, y, \quad \lambda = \sum_i y_i^2",
      assumes="any tokens, any number of them and any $d$",
      finding=r"""With $\omega_{yy} < 0$ the factor is below 1, and smaller for a larger norm of $y$. It is above $-1$, so that the output
          shrinks, up to $\lambda = 2/|\omega_{yy}|$.""")
claim("lt.noise-adaptive/scaled-ols",
      identity(two_levels.scaled_ols, r"(\Sigma + \sigma^2)^{-1} \alpha - \tfrac{n}{n + \sigma^2} w^*",
               control={"spread": 2}, over={"spread": 1}),
      source=SCALED, kind="printed", expected="supported",
      title="With Σ = nI ridge regression is scaled least squares, less with more noise",
      statement=r"w^*_{\sigma^2} = \tfrac{n}{n + \sigma^2} w^*, \qquad \tfrac{d}{d \sigma^2} \tfrac{n}{n + \sigma^2} < 0",
      assumes=r"$\Sigma = n \mathbf{I}$, as the section assumes; two directions, with $n$ times the spread in the second",
      finding=r"The factor $n/(n + \sigma^2)$ has the derivative $-n/(n + \sigma^2)^2$ in $\sigma^2$.")
