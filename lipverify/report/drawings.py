"""The figures of one report: figures of the same measurement are joined, then drawn, named and described."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from lipverify.claims.ledger.figure import CLAIMED, CONTROL, Band, Figure, Panel, Region, Series
from lipverify.foundation.style import LEGEND
from lipverify.report.drawing import draw, flattens, undrawable
from lipverify.report.looks import entries
from lipverify.report.model import Drawing
from lipverify.report.text import printable, rich


class Drawings:
    """Draws figures, for paper or for a page, and names them; no two names have the same drawing."""

    def __init__(self, *, paper: bool = True) -> None:
        self._paper = paper
        self._drawn: dict[str, Drawing] = {}
        self._anchors: dict[object, str] = {}

    def add(self, figure: Figure) -> Drawing:
        """Draw a figure once; if that fails, keep its caption and the reason."""
        key = repr(figure)
        if key not in self._drawn:
            try:
                self._drawn[key] = self._draw(figure)
            except Exception as error:  # no error of a drawing may lose the report
                problem = printable(f"{type(error).__name__}: {error}")
                self._drawn[key] = Drawing(caption=rich(figure.caption), alt=printable(figure.alt), problem=problem)
        return self._drawn[key]

    def _draw(self, figure: Figure) -> Drawing:
        figure, beyond = in_sight(figure)
        lost = undrawable(figure)
        note = f" ({lost} points have no place on these axes and are not drawn.)" if lost else ""
        note += " The control lies beyond the axes." if beyond else ""
        new = draw(replace(figure, caption=figure.caption + note), paper=self._paper)
        anchor = self._anchors.setdefault((new.plots, new.legend), f"figure-{len(self._anchors) + 1}")
        return replace(new, anchor=anchor)


def in_sight(figure: Figure) -> tuple[Figure, bool]:
    """The figure without the controls that would flatten a panel, and True if there were any."""
    panels = tuple(
        replace(
            panel, series=tuple(s for s in panel.series if not (s.label.startswith(CONTROL) and flattens(s.y, panel)))
        )
        for panel in figure.panels
    )
    return replace(figure, panels=panels), panels != figure.panels


Labelled = TypeVar("Labelled", Series, Band, Region)


def joined(figures: Iterable[Figure]) -> tuple[Figure, ...]:
    """Join figures that differ only by further curves on the same axes, as readings of one statement do."""
    kept: list[Figure] = []
    for figure in dict.fromkeys(figures):
        for index, earlier in enumerate(kept):
            both = _together(earlier, figure)
            if both is not None:
                kept[index] = both
                break
        else:
            kept.append(figure)
    return tuple(kept)


def _together(first: Figure, second: Figure) -> Figure | None:
    """Both figures on the same axes; None if the axes differ, or a legend would be larger than its plot."""
    if (first.caption, first.layer, len(first.panels)) != (second.caption, second.layer, len(second.panels)):
        return None
    panels = [_overlaid(a, b) for a, b in zip(first.panels, second.panels, strict=True)]
    known = [panel for panel in panels if panel is not None]
    shares = any(s in b.series for a, b in zip(first.panels, second.panels, strict=True) for s in a.series)
    both = replace(first, panels=tuple(known))
    return both if len(known) == len(panels) and shares and len(entries(both)) <= LEGEND else None


def _overlaid(first: Panel, second: Panel) -> Panel | None:
    axes = ("title", "xlabel", "ylabel", "xscale", "yscale", "names")
    series = _united(first.series, second.series)
    bands, regions = _united(first.bands, second.bands), _shaded(first.regions, second.regions)
    if series is None or bands is None or regions is None or any(getattr(first, a) != getattr(second, a) for a in axes):
        return None
    return replace(first, series=series, bands=bands, regions=regions)


def _united(first: Sequence[Labelled], second: Sequence[Labelled]) -> tuple[Labelled, ...] | None:
    """All distinct curves; None if a label would stand for two different curves, unless they are edges of controls."""
    distinct = list(first) + [labelled for labelled in second if labelled not in first]
    alone = {labelled.label for labelled in first}.isdisjoint(labelled.label for labelled in distinct[len(first) :])
    return tuple(distinct) if alone or {labelled.label for labelled in distinct[len(first) :]} == {CONTROL} else None


def _shaded(first: Sequence[Region], second: Sequence[Region]) -> tuple[Region, ...] | None:
    """The shaded ranges of both; the lower and the upper bound of one claim become one range, others stay apart."""
    if first == second or not (any(part.apart for part in first) and any(part.apart for part in second)):
        return _united(first, second)
    if len(first) != 1 or len(second) != 1:
        return None
    both = _between(first[0], second[0]) or _between(second[0], first[0])
    return None if both is None else (both,)


def _between(low: Region, high: Region) -> Region | None:
    """The range between a lower and an upper bound at the same points; None if they are something else."""
    open_ended = not any(map(math.isfinite, (*low.high, *high.low)))
    if low.x != high.x or not open_ended or not all(a <= b for a, b in zip(low.low, high.high, strict=True)):
        return None
    label = f"{low.label}, {high.label.removeprefix(CLAIMED).removeprefix(': ')}".removesuffix(", ")
    return replace(low, label=label, high=high.high)
