r"""Diagonal matrices beside full ones: by how much the loss differs, by depth and law of the noise."""

from __future__ import annotations

import math
from typing import Any

from lipverify.claims import Source, Table, at, bound, claim, draw, needs
from lipverify.claims.trained import DEPTHS, HALF_WIDTH, NOISE_LAWS, SAMPLES, column, compared, named, whole

NOISY = NOISE_LAWS[1:]
ALMOST = 1.25
"""The quotient of losses up to which one is called almost as good here."""


@needs(found=column)
def quotient(
    noise: str,
    layers: int,
    contexts: int,
    samples: int,
    seed: int,
    found: list[Any],
    family: str = "DIAG",
    times: float = 1.0,
) -> Any:
    """The loss of a family over that of FULL, times a number: mean losses of the trainings."""
    return over_full(compared(found[0]), layers, family, times)


def over_full(here: Any, layers: int, family: str = "DIAG", times: float = 1.0) -> tuple[float, float, str]:
    """(quotient, its error, why that is infinite); the contexts are the same, the trainings are not."""
    if not (here.has(family, layers) and here.has("FULL", layers)):
        return 1.0, math.inf, "they were not trained: see `lipverify train --help`"
    one, full = here.of(family, layers), here.of("FULL", layers)
    value = times * one.loss.value / full.loss.value
    error = sum(each.half_width(each.loss, HALF_WIDTH) / each.loss.value for each in (one, full))
    return value, value * error, one.doubtful or full.doubtful


def told(noise: str, found: Any) -> str:
    """The quotient by depth, with the number of trainings behind both."""
    here, words = compared(found), []
    for k in DEPTHS:
        value, error, why = over_full(here, k)
        counts = [len(here.of(family, k).each) for family in ("DIAG", "FULL") if here.has(family, k)]
        width = f"± {error:.1g}" if error < math.inf else f"({why})"
        words.append(f"{k} layers {value:.2f} {width}, trainings {' and '.join(map(str, counts)) or 'none'}")
    return f"DIAG over FULL at {named(noise)}: {'; '.join(words)}."


def quotients(**columns: Any) -> Table:
    """DIAG over FULL, by depth and law."""
    rows = []
    for noise, found in columns.items():
        cells = [over_full(compared(found), k) for k in DEPTHS]
        rows.append(
            (named(noise), *(f"{value:.2f} ± {error:.1g}" if error < math.inf else "–" for value, error, _ in cells))
        )
    return Table(
        caption="The loss of DIAG over that of FULL, by law of the noise and layers; the error covers contexts and trainings.",
        header=("noise", *map(str, DEPTHS)),
        rows=tuple(rows),
    )


READING: dict[str, Any] = {
    "source": Source("V", "section 6", "diagonal matrices work almost as well as full ones"),
    "kind": "convention",
    "assumes": (
        r"$d = 10$, $n = 20$, $x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$, noiseless query target; adjusted losses; one head a layer, 1 to 7 layers",
        rf"almost as well: a loss at most {ALMOST:g} times as large",
        "mean losses of three trainings a model; of FULL also from DIAG with a column $P_{xy}$ planted in a layer, and from random starts",
    ),
}

claim(
    "lt.families/diagonal/{noise}",
    bound(
        quotient, r"\mathcal{L}_{\mathrm{DIAG}} / \mathcal{L}_{\mathrm{FULL}}", high=ALMOST, twin={"times": 2.0}, instead={"times": 0.25},
        method="montecarlo", grade="observed", given=SAMPLES,
    ),
    expected="inconclusive",
    over={"noise": NOISY, "layers": DEPTHS},
    title="DIAG works almost as well as FULL",
    tables={f"diagonal/{NOISY[0]}": draw(quotients, **{noise: at(whole, noise=noise, **SAMPLES) for noise in NOISY}), "*": ()},
    finding=draw(told, found=at(whole, **SAMPLES)),
    **READING,
)  # fmt: skip
