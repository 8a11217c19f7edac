r"""Diagonal models whose loss does not explode on rare contexts, and the cost of that in the mean.

A mean over 100,000 contexts does not show the effect of one context in 10^9 on a polynomial of degree 3^L: there the
loss of DIAG with four, six and seven layers exceeds any given number. SAFE has the form of DIAG, and was trained on
contexts of every decade of rareness down to one in 10^12: it does not explode, and with four to six layers costs
little. Free matrices retrained on rare contexts (SAFEFULL) explode on fewer contexts, but still on some.
"""

from lipverify.checks.linear_transformers.figures import at_rarest_by_depth, exploding_by_depth, rareness
from lipverify.checks.linear_transformers.independent_tables import TABLES, quotient
from lipverify.checks.linear_transformers.quantities import STANDARD, TRAININGS
from lipverify.checks.linear_transformers.rare_losses import BY_DECADE, EXPLODING, MOST, SHOWING, at_rarest, fewer
from lipverify.claims import at, bound, claim

# fmt: off
HEADINGS = {"lt.tail-safe": (11, 8, "Models that no rare context explodes")}
SOURCE = ("V", "Section 6", "paraphrased: adjusted evaluation losses: means over 100,000 sequences")
CHEAP = 1.2
"""The quotient of losses up to which the cost of safety counts as little."""
SAFE = (f"{STANDARD}; adjusted losses; one diagonal head a layer",
        """SAFE: trained on contexts of every decade of rareness down to one in $10^{12}$, each of which has half the
        weight of the one before; three trainings a model""")
FREE = (f"{STANDARD}; adjusted losses; one head with free matrices a layer",
        """SAFEFULL: FULL retrained with contexts of every decade of rareness to one in $10^8$, on which large losses
        count by their logarithm; three trainings a model""")
LITTLE = (f"little: a loss at most {CHEAP:g} times as large",
          """the median over independent tables of the quotient of both losses on the same 100,000 contexts, trainings in pairs of one
          seed""")

claim("lt.tail-safe/rare/{noise}",
      bound(at(at_rarest, found=BY_DECADE),
            r"\log_{10} \frac{\mathcal{L}_{10^{-9}}(\text{SAFE})}{\mathcal{L}_{10^{-9}}(0)}", high=0, control={"family": "DIAG"},
            method=("montecarlo", "observed")),
      source=SOURCE, kind="stronger", expected="supported", title="diagonal models that no rare context explodes",
      over={"noise": ("uniform-3", "levels-1-3"), "layers": (4, 6, 7)},  # with 5 layers DIAG happens not to explode
      assumes=(*SAFE, rf"""$\mathcal{{L}}_{{10^{{-9}}}}$: the mean over contexts whose rescaled moments are as large as
          those of one in $10^9$, sampled by multilevel splitting; one counts as at most {MOST:g} times the loss of the
          prediction 0"""),
      finding=at(at_rarest_by_depth, found=BY_DECADE), shows=at(rareness, found=BY_DECADE))
claim("lt.tail-safe/price/{noise}",
      bound(at(quotient, **TABLES, family="safe", against="DIAG"), r"\mathcal{L}(\text{SAFE}) / \mathcal{L}(\text{DIAG})",
            high=CHEAP, control={"times": 1.5}, method=("montecarlo", "observed")),
      source=SOURCE, kind="stronger", expected="supported", assumes=(*SAFE, *LITTLE),
      over={"noise": ("uniform-3", "levels-1-3"), "layers": (4, 5, 6), "training": TRAININGS},
      title="with four to six layers, safety from rare contexts costs little in the mean")
claim("lt.tail-safe/full/{noise}",
      bound(at(fewer, found=EXPLODING), r"p(\text{SAFEFULL}) - p(\text{FULL})", high=0, strict=True, control={"sign": -1},
            method=("montecarlo", "observed")),
      source=SOURCE, kind="stronger", expected="supported", title="""free matrices retrained on rare contexts explode on
            fewer of them""",
      over={"noise": ("uniform-1", "levels-1-3"), "layers": (6, 7)},  # where FULL explodes often enough to be counted
      assumes=(*FREE, f"""p: the share of contexts as rare as one in $10^{SHOWING}$, by the size of their rescaled
          moments, on which the loss exceeds the mean loss of the prediction 0 there"""),
      finding=at(exploding_by_depth, found=EXPLODING))
claim("lt.tail-safe/full-price/{noise}",
      bound(at(quotient, **TABLES, family="safefull", against="FULL"), r"\mathcal{L}(\text{SAFEFULL}) / \mathcal{L}(\text{FULL})",
            high=CHEAP, control={"times": 1.5}, method=("montecarlo", "observed")),
      source=SOURCE, kind="stronger", expected="supported", assumes=(*FREE, *LITTLE),
      over={"noise": ("uniform-5", "uniform-7"), "layers": 5, "training": TRAININGS},
      title="retraining free matrices on rare contexts costs little in the mean")
