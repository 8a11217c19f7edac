r"""The tradeoff table, read for every w: the bias falls with w. It does not.

The bias has a minimum beyond w*, where a window holds about one token, and rises again, because one token averages
nothing: measured at 1000 tokens, and disproved by balls at three.
"""

from typing import Any

from lipverify.checks.softmax import figures
from lipverify.checks.softmax.nearest import proved_slope_beyond, slope_beyond
from lipverify.checks.softmax.quantities import DIMENSIONS, MODEL
from lipverify.checks.softmax.slopes import SAMPLED
from lipverify.checks.softmax.tradeoff import TABLE
from lipverify.claims import bound, claim, per_profile

# fmt: off
EVERY: dict[str, Any] = {
    "source": TABLE, "expected": "refuted",
    "statement": r"\frac{\mathrm{d} \log B}{\mathrm{d} \log w} < 0 \quad \text{for every } w",
    "corrected": """the bias falls with $w$ up to a $w$ beyond $w^*$ at which the window holds about one token, and
          rises again""",
}
RISES: dict[str, Any] = {"high": 0, "strict": True}
BEYOND = (*MODEL, r"from $w = 4 n^{2/(d-1)}$ to twice that, $n = 1000$")

claim("softmax.tradeoff/{law}/bias/every-window",
      bound(slope_beyond, r"\log_2 (B(2 w) / B(w)),\ w = 4 n^{2/(d - 1)}", control=(-0.01, {"low": 0, "strict": True}),
            over={"n": 1000}, method="exact", **RISES),
      *SAMPLED["B"],
      kind="stronger", over={"law": "affine", "d": DIMENSIONS}, title="the bias falls with w, for every w", assumes=BEYOND,
      shows=figures.TERMS_BY_W, **EVERY,
      finding=r"""The direction of the table holds up to the optimal $w$ and beyond, but not for every $w$: in every
      measured dimension the bias of the loss has a minimum and rises again towards that of the nearest neighbour,
      because a window that holds one token averages nothing. (This is $\mathcal{L}_{bias}$ of the decomposition, which
      contains the variance over contexts.)""")
claim("softmax.tradeoff/{law}/bias/every-window",
      bound(slope_beyond, r"\log_2 (B(2 w) / B(w)),\ w = 4 n^{2/(d - 1)}", control=(-0.01, {"low": 0, "strict": True}),
            over={"n": 1000}, method="exact", **RISES),
      kind={"relu/*": "convention", "*": "stronger"}, reading={"relu/*": "for every w", "*": ""},
      over={"law": ("relu", "cosine", "quadratic"), "d": (2, 3, 5)}, title="the bias falls with w, for every w",
      assumes=BEYOND, **EVERY)
claim("softmax.tradeoff/{law}/bias/every-window/proved",
      bound(proved_slope_beyond, r"\frac{\Delta \log B}{\Delta \log w}", control=(-0.01, {"low": 0, "strict": True}),
            method="certified", over={"d": per_profile((2, 3, 5), DIMENSIONS.full), "n": 3}, **RISES),
      kind="stronger", over={"law": "affine"}, title="the bias falls with w, for every w: disproved",
      assumes=(*MODEL, "from $w = 4 n^{2/(d-1)}$ to twice that, $n = 3$"), **EVERY,
      finding="""By ball arithmetic, for one number of tokens in each dimension: the bias at one $w$ is smaller than at
            twice that $w$.""")
