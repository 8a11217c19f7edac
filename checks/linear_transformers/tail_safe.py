r"""Rare contexts: free matrices that were retrained on them explode on fewer of them, but still on some.

A mean over 100,000 contexts does not show the effect of one context in 10^9 on a polynomial of degree 3^L. SAFEFULL is FULL
retrained on contexts of every decade of rareness.
"""

from lipverify.checks.linear_transformers.quantities import EVALUATION, STANDARD
from lipverify.checks.linear_transformers.rare_losses import EXPLODING, SHOWING, fewer
from lipverify.claims import at, bound, claim

# fmt: off
HEADINGS = {"lt.tail-safe": (11, 8, "Contexts that make free matrices explode")}
FREE = (f"{STANDARD}; adjusted losses; one head with free matrices a layer",
        """SAFEFULL: FULL retrained with contexts of every decade of rareness to one in $10^8$, on which large losses
        count by their logarithm; three trainings a model""")
claim("lt.tail-safe/full/{noise}",
      bound(at(fewer, found=EXPLODING), r"p(\text{SAFEFULL}) - p(\text{FULL})", high=0, strict=True, control={"sign": -1},
            method=("montecarlo", "observed")),
      source=EVALUATION, kind="stronger", expected="supported", title="""free matrices retrained on rare contexts explode on
            fewer of them""",
      over={"noise": ("uniform-1", "levels-1-3"), "layers": (6, 7)},  # where FULL explodes often enough to be counted
      assumes=(*FREE, f"""p: the share of contexts as rare as one in $10^{SHOWING}$, by the size of their rescaled
          moments, on which the loss exceeds the mean loss of the prediction 0 there"""))
