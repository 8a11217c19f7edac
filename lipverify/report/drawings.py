"""The figures of one report: figures of the same measurement are joined, then drawn, named and described."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from lipverify.claims.ledger.figure import Band, Figure, Panel, Region, Series
from lipverify.report.figures import FLAT, LEVEL, draw, has_place, undrawable, width
from lipverify.report.model import Drawing
from lipverify.report.text import printable, rich


class Drawings:
    """Collects figures and draws them, for paper by default; `files` maps the names on the page to their content."""

    def __init__(self, draw_one: Callable[[Figure], bytes] = draw) -> None:
        self.files: dict[str, bytes] = {}
        self._draw_one = draw_one
        self._drawn: dict[str, Drawing] = {}

    def add(self, figure: Figure) -> Drawing:
        """Draw a figure; readings of one claim that share a figure share its file."""
        key = repr(figure)
        if key not in self._drawn:
            self._drawn[key] = self._draw(figure)
        return self._drawn[key]

    def _draw(self, figure: Figure) -> Drawing:
        """Draw a figure; if that fails, keep its caption and the reason."""
        figure, beyond = in_sight(figure)
        name = f"figure-{len(self.files) + 1}.svg"
        alt = printable(figure.alt).strip() or "No description was given."
        try:
            self.files[name] = self._draw_one(figure)
        except Exception as error:  # no error of a plotting library may lose the report
            problem = printable(f"{type(error).__name__}: {error}")
            return Drawing(file="", width=1.0, caption=rich(figure.caption), alt=alt, problem=problem)
        lost = undrawable(figure)
        note = f" ({lost} points have no place on these axes and are not drawn.)" if lost else ""
        note += " The control lies beyond the axes." if beyond else ""
        return Drawing(file=name, width=width(figure), caption=rich(figure.caption + note), alt=alt)


def in_sight(figure: Figure) -> tuple[Figure, bool]:
    """The figure without the controls that would flatten a panel, and True if there were any."""
    panels = tuple(
        msgspec.structs.replace(panel, series=tuple(s for s in panel.series if not _flattens(s, panel)))
        for panel in figure.panels
    )
    return msgspec.structs.replace(figure, panels=panels), panels != figure.panels


def _flattens(series: Series, panel: Panel) -> bool:
    """True if a control is so far off that all other values would share less than a fourth of the axis."""
    if not series.label.startswith("control"):
        return False
    rest = [y for curve in panel.series if not curve.label.startswith("control") for y in _heights(curve, panel)]
    own = _heights(series, panel)
    if not rest or not own:
        return False
    least = 2 * (math.log(LEVEL) if panel.yscale == "log" else FLAT * max(map(abs, rest)))  # the span of a level
    span = max(max(rest) - min(rest), least)
    return max(*rest, *own) - min(*rest, *own) > 4 * span > 0


def _heights(series: Series, panel: Panel) -> list[float]:
    log = panel.yscale == "log"
    return [math.log(y) if log else y for y in series.y if has_place(y, log)]


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
    """Both figures on the same axes; None if the axes differ."""
    if (first.caption, first.layer, len(first.panels)) != (second.caption, second.layer, len(second.panels)):
        return None
    panels = [_overlaid(a, b) for a, b in zip(first.panels, second.panels, strict=True)]
    known = [panel for panel in panels if panel is not None]
    shares = any(s in b.series for a, b in zip(first.panels, second.panels, strict=True) for s in a.series)
    return msgspec.structs.replace(first, panels=tuple(known)) if len(known) == len(panels) and shares else None


def _overlaid(first: Panel, second: Panel) -> Panel | None:
    axes = ("title", "xlabel", "ylabel", "xscale", "yscale")
    series, bands = _united(first.series, second.series), _united(first.bands, second.bands)
    regions = _united(first.regions, second.regions)
    if None in (series, bands, regions) or any(getattr(first, a) != getattr(second, a) for a in axes):
        return None
    return msgspec.structs.replace(first, series=series, bands=bands, regions=regions)


def _united(first: Sequence[Labelled], second: Sequence[Labelled]) -> tuple[Labelled, ...] | None:
    """All distinct curves; None if a label would stand for two different curves."""
    distinct = list(first) + [labelled for labelled in second if labelled not in first]
    alone = {labelled.label for labelled in first}.isdisjoint(labelled.label for labelled in distinct[len(first) :])
    return tuple(distinct) if alone else None
