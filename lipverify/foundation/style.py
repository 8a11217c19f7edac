"""The appearance of every picture: Okabe-Ito colours, dashes and markers that are distinct without colour."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#a8538a", "#3d3d3d", "#c78f00", "#4ba3d6")
"""The Okabe-Ito colours, darkened if they are faint on white."""
MARKERS: Final = "osD^vP*X<>"
DASHES: Final[tuple[Any, ...]] = (
    "solid",
    (0, (5, 1.6)),
    (0, (1.2, 1.4)),
    (0, (6, 1.6, 1.2, 1.6)),
    (0, (3, 1, 1, 1, 1, 1)),
)
SHADE: Final = "#9fb8cc"
"""The colour of a range that a claim allows."""
LEGEND: Final = 5
"""Most entries of a legend: a longer one would be larger than its plot."""
STYLE: Final[dict[str, Any]] = {
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.4,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.8,
    "errorbar.capsize": 2,
    "hatch.linewidth": 0.4,
    "svg.hashsalt": "lipverify",  # the same data give the same file
}
"""Settings of Matplotlib, without the colours of successive curves (`settings`) and the fonts of the report."""

BRACKETS: Final = {"lower": 1, "upper": -1, "value": 0}
"""The direction in which the bracket of an edge opens: to larger values for a lower bound, to smaller for an upper."""
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def bracket(edge: str) -> list[tuple[float, float]]:
    """The marker of an edge of a range on a horizontal axis, which opens to what the range allows."""
    stub = 0.5 * BRACKETS[edge]
    return [(stub, -1.0), (0.0, -1.0), (0.0, 1.0), (stub, 1.0), (0.0, 1.0), (0.0, -1.0)]  # back, to be closed


def settings() -> Any:
    """All settings: those of `STYLE`, and the colours and dashes of successive curves."""
    from cycler import cycler

    dashes = [DASHES[k % len(DASHES)] for k in range(len(COLOURS))]
    return {**STYLE, "axes.prop_cycle": cycler(color=COLOURS, linestyle=dashes)}


def in_style(plot: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function that draws, in this style; the caller's settings are as before afterwards."""

    @wraps(plot)
    def styled(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        import matplotlib

        with matplotlib.rc_context(settings()):
            return plot(*args, **kwargs)

    return styled
