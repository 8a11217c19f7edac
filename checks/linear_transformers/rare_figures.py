"""Pictures and sentences of the theorem on rare contexts."""

from __future__ import annotations

import math
from typing import Any

from lipverify.checks.linear_transformers.independent_tables import DEPTHS
from lipverify.checks.linear_transformers.quantities import named
from lipverify.checks.linear_transformers.rare_losses import BEYOND, CURVES, DEEP, FAMILIES, FREE, RAREST, SHOWING
from lipverify.claims.ledger import Figure, Panel, Series

SHOWN = 6
"""The logarithm of the largest quotient that is drawn."""


def told(noise: str, found: Any) -> str:
    """What both lose where one context in 10^9 is, by depth."""
    said = []
    for k in DEEP:
        safe, unsafe = (
            max(each[-1] for each in found[RAREST][f"{family}-{k}"] or [(math.nan,)]) for family in FAMILIES
        )
        loses = "more than a double holds" if unsafe >= BEYOND else f"10^{{{unsafe:.1f}}}"
        said.append(f"{k} layers: DIAG {f'${loses}$' if unsafe < BEYOND else loses}, SAFE {10**safe:.2g}")
    return (
        f"At {named(noise)}, on contexts as rare as one in $10^9$, over what the prediction 0 loses there, the worst of three trainings: {'; '.join(said)}."
    )  # fmt: skip


def told_of_free(noise: str, found: Any) -> str:
    """The shares by depth."""
    said = []
    for k in DEPTHS[4:]:
        (led, width, _), (free, error, why) = (found[f"{family}-{k}"] for family in FREE)
        said.append(f"{k} layers: {why or f'FULL {free:.2g} ± {error:.1g}, SAFEFULL {led:.2g} ± {width:.1g}'}")
    return (
        f"At {named(noise)}, shares of contexts as rare as one in $10^{SHOWING}$ that explode: {'; '.join(said)}. A polynomial of "
        "degree $3^L$ in all entries of the moments explodes in pockets, and a training mends those that it sees: fewer are left, not none."
    )  # fmt: skip


def rareness(found: Any) -> Figure:
    """Loss against rareness, for the deepest models."""
    series = []
    for family in FAMILIES:
        for k in CURVES:
            each = [max((loss[-1] for loss in decade[f"{family}-{k}"]), default=math.nan) for decade in found]
            shown = [(10.0**-i, 10.0 ** min(value, SHOWN)) for i, value in enumerate(each) if not math.isnan(value)]
            if shown:
                x, y = zip(*shown, strict=True)
                series.append(
                    Series(label=f"{family}, {k} layers", x=x, y=y, style="dashed" if family == "DIAG" else "line")
                )
    ends = (10.0**-RAREST, 1.0)
    series.append(Series(label="prediction 0", x=ends, y=(1.0, 1.0), style="dashed"))
    panel = Panel(
        title="loss on rare contexts",
        xlabel="probability of contexts so large",
        ylabel="loss over that of the prediction 0",
        series=tuple(series),
    )
    return Figure(
        caption=f"Mean loss of contexts as large as a share of all is, over what the prediction 0 loses there; losses beyond $10^{{{SHOWN}}}$ are drawn there.",
        alt="Curves of DIAG leave the picture where contexts are rare; those of SAFE stay far below 1.",
        panels=(panel,),
    )  # fmt: skip
