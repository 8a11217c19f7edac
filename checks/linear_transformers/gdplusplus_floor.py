r"""The losses that GD++ can reach: proved floors for every depth, and the cost of safety from rare contexts.

A GD++ model with L layers is a polynomial filter of degree D - 1, D = (3^L - 1)/2. Over all such filters the minimal
loss is half the error of Gauss's rule with D nodes for int t rho(t)/(t + s) dt. Balls of Arb enclose it, from moments
that are integers. The printed losses without noise of five and six layers are below it, so they are sample means.
Without noise, weights of four and five layers that are optimal for what 10^9 contexts show have at most twice the
minimal loss on what 10^5 show. gdplusplus_minima.py treats the minima.
"""

from lipverify.checks.linear_transformers import gdplusplus_figures as figures
from lipverify.checks.linear_transformers.gdplusplus_losses import (
    best_over_floor,
    explosion,
    over_floor,
    over_ridge,
    price,
)
from lipverify.checks.linear_transformers.quantities import ADJUSTED, NOISE_LAWS, STANDARD
from lipverify.claims import at, bound, claim, per_profile

# fmt: off
HEADINGS = {"lt.gd-plus-plus": (11, 2, "What GD++ can reach at most")}
TABLE_1 = ("V", "Table 1", "paraphrased: adjusted evaluation losses of trained GD++ models with 1 to 7 layers, by law of the noise")
SILENT, NOISELESS = "uniform-0", r"$\sigma = 0$"
ASSUMED = (STANDARD, ADJUSTED, r"only $\omega_{xx}$, $\omega_{yx}$")
FLOOR = r"\min_{\deg e \leq (3^L - 1)/2} \mathbb{E}\, \mathcal{L}"
FOUND = rf"\frac{{\mathcal{{L}}(\text{{best }} \mathrm{{GD}}^{{++}}_L \text{{ found}})}}{{{FLOOR}}}"

claim("lt.gd-plus-plus/expectation",
      bound(over_floor, rf"\frac{{\mathcal{{L}}_{{\mathrm{{printed}}}}(\mathrm{{GD}}^{{++}}_L)}}{{{FLOOR}}}",
            low=1 - figures.SAMPLING, control=({"other": -1}, 0.25), method="exact"),
      source=TABLE_1, kind="stronger", expected="refuted", title="the printed losses of GD++ without noise are expected losses",
      over={"noise": SILENT, "layers": per_profile((2, 3, 4, 5, 6), (2, 3, 4, 5, 6, 7))},
      assumes=(*ASSUMED, NOISELESS,
               f"a mean over the 100,000 sequences of the table may be {figures.SAMPLING:.0%} below its expectation"),
      finding=figures.BELOW_THE_FLOOR, shows=figures.LOSSES,
      corrected="""no polynomial of that degree, and so no GD++ model, has an expected loss as small as the printed entries of five and six
          layers; the paper's losses are means over a sample""")
claim("lt.gd-plus-plus/floor",
      bound(best_over_floor, FOUND, low=1, control={"other": -1}, over={"noise": SILENT, "layers": (2, 3, 4, 5)}, method="exact"),
      bound(best_over_floor, FOUND, low=1, control={"other": -1}, over={"noise": NOISE_LAWS[1:], "layers": (2, 3)}, method="exact"),
      source=TABLE_1, kind="derived", expected="supported", title="no GD++ model that a search found is below the proved floor",
      assumes=ASSUMED,
      finding="""The two computations share only the density of the eigenvalues: the floor is least squares over all
          polynomials, by integer moments and balls; the best GD++ is a search, whose loss is an integral by
          Gauss-Legendre panels.""")
claim("lt.gd-plus-plus/tail-safe",
      bound(explosion, r"\log_{10} \frac{\mathcal{L}_{10^9}(\text{made for } 10^9)}{\min \mathcal{L}_{10^5}}", high=1,
            control={"made_for": "1e5"}, over={"noise": SILENT, "layers": (3, 4, 5)}, method="exact"),
      bound(price, r"\frac{\mathcal{L}_{10^5}(\text{made for } 10^9)}{\min \mathcal{L}_{10^5}}", high=2,
            control={"safe": "all"}, over={"noise": SILENT, "layers": (4, 5)}, method="exact"),
      source=TABLE_1, kind="stronger", expected="supported", title="""weights that rare contexts cannot explode cost
            little in the mean""",
      assumes=(*ASSUMED, NOISELESS, r"$\mathcal{L}_N$: over the eigenvalues that $N$ contexts show"),
      finding=figures.PRICE_OF_SAFETY, shows=figures.EXCHANGED)

SIZES = {("d", "n"): ((5, 10), (10, 40), (20, 40))}
AT_SIZES = (
    r"$x, w \sim N(0, \mathbf{I})$, noiseless query target, $\sigma \sim \mathrm{Unif}[0, 3]$, the $d$ and $n$ of the cells",
    r"""the minimal loss over all polynomial filters of degree $(3^L - 1)/2 - 1$, of which a GD++ model of $L$ layers
          is one""",
)
OVER_RIDGE = r"\min_{\deg e \leq (3^L - 1)/2} \mathcal{L} \Big/ \mathcal{L}(\mathrm{ConstRR})"
claim("lt.gd-plus-plus/other-sizes",
      bound(at(over_ridge, layers=3), OVER_RIDGE, low=1, strict=True, control=1.01, over=SIZES, method="exact"),
      source=TABLE_1, kind="stronger", expected="supported", assumes=AT_SIZES,
      title="at other sizes, too, GD++ stays above ridge regression with the best constant",
      finding="""As for $d = 10$, $n = 20$: ridge regression with the best constant is the limit of large depth, and
          three layers can come within a percent of it.""")
claim("lt.gd-plus-plus/other-sizes/two-layers",
      bound(over_ridge, OVER_RIDGE, low=1.05, control={"layers": 3}, over={**SIZES, "layers": 2}, method="exact"),
      source=TABLE_1, kind="stronger", expected="supported", assumes=AT_SIZES,
      title="at other sizes, too, two layers of GD++ are too few",
      finding="With two layers $e$ is of degree 4, and has to fit as many eigenvalues as there are dimensions.")
