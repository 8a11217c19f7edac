r"""Table 1 at other sizes: which of its findings survive at d = 5 and 10 with n = 4 d, and at d = 20 with n = 2 d.

Every layer up to the fifth lowers the loss, and with three DIAG is below the best constant ridge, the limit of GD++. Five layers beat
AdaRR at n = 4 d; they match TunedRR at d = 5 under uniform laws, not at every size.
"""

from __future__ import annotations

from typing import Any

from lipverify.checks.linear_transformers.other_sizes import (
    CAPPED,
    CLOSE,
    DEPTHS,
    DRAWN,
    EVERY,
    FAR,
    LARGE,
    LONG,
    SMALL,
    at_five,
    over,
    quotients,
    tabulated,
)
from lipverify.claims import Source, at, bound, claim

COLUMNS = {noise: at(quotients, noise=noise, **DRAWN) for noise in EVERY}
TABLE_1 = Source(
    "V",
    "Table 1",
    "paraphrased: adjusted evaluation losses of trained GD++, DIAG and FULL models with 1 to 7 layers, for $D = 10$ and $N = 20$",
)
ASSUMED: dict[str, Any] = {
    "kind": "stronger",
    "assumes": (
        r"$x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$, noiseless query target, adjusted losses; the sizes and laws of the cells, as law @ $d$ x $n$",
        CAPPED,
        "three trainings a model, trained as those of the table; TunedRR: its cap and factor fitted to other contexts",
    ),
}  # fmt: skip


def compared(against: str, quotient: str, cells: dict[str, Any], family: str = "DIAG", **bounds: Any) -> Any:
    """A bound on the logarithm of a loss of a family over another."""
    over_cells = {"family": family, "against": against, **cells}
    return bound(
        at(over, found=at(quotients, **DRAWN)),
        rf"\log(\mathcal{{L}}_{{\mathrm{{{family}}}}} / {quotient})",
        method=("montecarlo", "observed"),
        over=over_cells,
        **bounds,
    )


LESS = r"\mathcal{L}_{L - 1}"
DEEPER: dict[str, Any] = {"high": 0, "strict": True, "control": {"sign": -1}}
claim(
    "lt.other-sizes/depth",
    compared("a layer less", LESS, {"noise": EVERY, "layers": DEPTHS[1:]}, **DEEPER),
    compared("a layer less", LESS, {"noise": SMALL[0], "layers": DEPTHS[1:]}, "FULL", **DEEPER),
    source=TABLE_1,
    expected="supported",
    title="every layer up to the fifth lowers the loss",
    shows=at(tabulated, **COLUMNS),
    finding="What each layer gains, at every size and under every law of the cells, is in the table.",
    **ASSUMED,
)
claim(
    "lt.other-sizes/gd-plus-plus",
    compared(
        "ConstRR", r"\mathcal{L}(\mathrm{ConstRR})", {"noise": EVERY, "layers": DEPTHS[2:]},
        high=0, strict=True, control={"layers": 1},
    ),
    source=TABLE_1,
    expected="supported",
    title="with three layers DIAG is below the best constant ridge, the limit of GD++",
    finding="That GD++ stays above the best constant ridge in the mean is derived in lt.constant-ridge-bound, for every size.",
    **ASSUMED,
)  # fmt: skip
TUNED, ADAPTIVE = (("TunedRR", r"\mathcal{L}(\mathrm{TunedRR})"), ("AdaRR", r"\mathcal{L}(\mathrm{AdaRR})"))
MATCH = Source(
    "V",
    "Section 6, TunedRR",
    "paraphrased: models with 5 or more layers match or exceed the performance of TunedRR; AdaRR is matched by few layers",
)
claim(
    "lt.other-sizes/adaptive",
    compared(*ADAPTIVE, {"noise": (*SMALL, LONG), "layers": 5}, high=0, strict=True, control={"layers": 3}),
    source=MATCH,
    expected="supported",
    title="at n = 4 d five layers of DIAG beat AdaRR",
    finding=at(at_five, **COLUMNS),
    **ASSUMED,
)
claim(
    "lt.other-sizes/match-tuned",
    compared(*TUNED, {"noise": (SMALL[0], SMALL[2]), "layers": 5}, high=CLOSE, control={"layers": 3}),
    source=MATCH,
    expected="supported",
    title="at d = 5 five layers of DIAG match tuned ridge to a tenth, under uniform laws",
    finding=at(at_five, **COLUMNS),
    **ASSUMED,
)
claim(
    "lt.other-sizes/match-tuned/every-size",
    compared(
        *TUNED,
        {"noise": (SMALL[1], LONG, LARGE), "layers": 5},
        high=0,
        control=({"layers": 3}, {"against": "ConstRR"}),
    ),
    source=MATCH,
    expected="refuted",
    title="five layers of DIAG match tuned ridge at every size and under every law",
    finding=at(at_five, **COLUMNS),
    corrected="five layers do at $d = 5$ under uniform laws; at $d = 10$, $d = 20$ and under a law of two levels tuned ridge is ahead",
    **ASSUMED,
)
claim(
    "lt.other-sizes/diagonal",
    compared(
        "FULL", r"\mathcal{L}_{\mathrm{FULL}}", {"noise": SMALL[0], "layers": DEPTHS}, high=FAR, control="-log(3/2)"
    ),
    source=Source(
        "V", "Section 6, diagonal and full matrices", "paraphrased: diagonal matrices work almost as well as full ones"
    ),
    expected="supported",
    title="at d = 5 DIAG loses at most half as much again as FULL",
    **ASSUMED,
)
