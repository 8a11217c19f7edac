r"""The losses that GD++ can reach: proved floors for every depth.

A GD++ model with L layers is a polynomial filter of degree D - 1, D = (3^L - 1)/2. Over all such filters the minimal
loss is half the error of Gauss's rule with D nodes for int t rho(t)/(t + s) dt. Balls of Arb enclose it, from moments
that are integers. The printed losses without noise of five and six layers are below it, so they are sample means.
gdplusplus_minima.py treats the minima.
"""

from lipverify.checks.linear_transformers.gdplusplus_losses import best_over_floor, over_floor
from lipverify.checks.linear_transformers.quantities import ADJUSTED, NOISE_LAWS, STANDARD, TABLE_1
from lipverify.claims import bound, claim, per_profile

# fmt: off
HEADINGS = {"lt.gd-plus-plus": (11, 2, "What GD++ can reach at most")}
SILENT, NOISELESS = "uniform-0", r"$\sigma = 0$"
ASSUMED = (STANDARD, ADJUSTED, r"only $\omega_{xx}$, $\omega_{yx}$")
FLOOR = r"\min_{\deg e \leq (3^L - 1)/2} \mathbb{E}\, \mathcal{L}"
FOUND = rf"\frac{{\mathcal{{L}}(\text{{best }} \mathrm{{GD}}^{{++}}_L \text{{ found}})}}{{{FLOOR}}}"

claim("lt.gd-plus-plus/expectation",
      bound(over_floor, rf"\frac{{\mathcal{{L}}_{{\mathrm{{printed}}}}(\mathrm{{GD}}^{{++}}_L)}}{{{FLOOR}}}",
            low=0.95, control=({"other": -1}, 0.25), method="exact"),
      source=TABLE_1, kind="stronger", expected="refuted", title="the printed losses of GD++ without noise are expected losses",
      over={"noise": SILENT, "layers": per_profile((2, 3, 4, 5, 6), (2, 3, 4, 5, 6, 7))},
      assumes=(*ASSUMED, NOISELESS,
               "a mean over the 100,000 sequences of the table may be 5 % below its expectation: three standard errors of 1.5 %"),
      finding="""The floor holds for all filters of the degree, and GD++ models are a small part of them, so an entry above it decides
          nothing. The printed entries without noise are means over the eigenvalues in a sample; the expected loss of such weights over
          all contexts is larger by many orders of magnitude, because of contexts too rare to be in a sample.""",
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
