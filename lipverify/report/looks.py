"""The appearance of a series or a band: distinct without colour, the same in every panel, visible on any page."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec.structs import replace

from lipverify.claims.ledger.figure import Band, Figure, Region
from lipverify.foundation.style import COLOURS, DASHES, MARKERS, SHADE

_BANDS = ((SHADE, ""), ("#e3c08a", "////"), ("#a9cbb3", "\\\\\\\\"), ("#d2b0c8", "...."))
BAND_HATCHES = tuple(hatch for _, hatch in _BANDS)
PALETTE = (*COLOURS, *(colour for colour, _ in _BANDS))
"""The colours of a figure whose labels are not a family of numbers."""


class Look(msgspec.Struct, frozen=True):
    """The appearance that distinguishes one series."""

    color: Any
    marker: str
    dashes: Any
    size: float = 1.0
    """Factor on the size of its markers."""


class BandLook(msgspec.Struct, frozen=True):
    """The appearance that distinguishes one band."""

    color: str
    hatch: str


def series_looks(figure: Figure) -> dict[str, Look]:
    """The appearance of each label, in order of first use; one label has the same appearance in all panels."""
    labels = list(dict.fromkeys(s.label for panel in figure.panels for s in panel.series))
    family = _family(labels)
    colors = dict(zip(family, _scale(len(family)), strict=True))
    others = [label for label in labels if label not in colors]
    colors |= {label: COLOURS[i % len(COLOURS)] for i, label in enumerate(others)}
    looks = {}
    for position, label in enumerate([*family, *others]):
        among = 0 if label in family else others.index(label)
        dashes = DASHES[among % len(DASHES)]
        looks[label] = Look(colors[label], MARKERS[position % len(MARKERS)], dashes)
    points = list(dict.fromkeys(s.label for panel in figure.panels for s in panel.series if s.style == "points"))
    for index, label in enumerate(points):  # later markers show inside the hollow earlier ones
        size = 1 + 0.4 * (len(points) - 1 - index)
        looks[label] = replace(looks[label], marker=MARKERS[index % len(MARKERS)], size=size)
    return {label: looks[label] for label in labels}


def between(figure: Figure) -> frozenset[str]:
    """Labels of a family that a legend leaves out: a colour scale is explained by its ends."""
    return frozenset(_family(list(dict.fromkeys(s.label for panel in figure.panels for s in panel.series)))[1:-1])


def entries(figure: Figure) -> list[str]:
    """The labels in the legend, in order: of series, then of bands; a single one says nothing."""
    labels = [label for label in series_looks(figure) if label and label not in between(figure)]
    labels += [label for label in band_looks(figure) if label]
    return labels if len(labels) > 1 else []


def band_looks(figure: Figure) -> dict[str, BandLook]:
    """The appearance of each label of a band or a region."""
    shaded: list[Band | Region] = []
    for panel in figure.panels:
        shaded += [*panel.bands]
        shaded += [*panel.regions]
    labels = list(dict.fromkeys(band.label for band in shaded))
    return {label: BandLook(*_BANDS[i % len(_BANDS)]) for i, label in enumerate(labels)}


def _family(labels: list[str]) -> list[str]:
    """Labels that differ by one number, such as d = 2, ..., d = 8, sorted by that number."""
    groups: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for label in labels:
        if match := re.match(r"^(.*?)(-?\d+(?:\.\d+)?)(.*)$", label, re.DOTALL):
            key = (match[1], match[3])
            groups.setdefault(key, []).append((float(match[2]), label))
    largest = max(groups.values(), key=len, default=[])
    return [label for _, label in sorted(largest)] if len(largest) >= 4 else []  # fewer are categories


def _scale(count: int) -> list[Any]:
    """Colours from dark to light with evenly spaced lightness, all with a contrast of 3 on white (WCAG 2, 1.4.11)."""
    import matplotlib  # most figures have no family of curves

    palette = matplotlib.colormaps["plasma"]
    return [palette(0.64 * i / max(count - 1, 1)) for i in range(count)]


def colour_class(color: object) -> str:
    """The CSS class of a colour; `colour_rule` defines it."""
    return f"s-{_digits(color)}"


def colour_rule(shade: str) -> str:
    """The CSS rule of a colour given as six digits: the colour itself on light, mixed with white on dark.

    >>> colour_rule("0072b2")
    '.s-0072b2{color:light-dark(#0072b2,color-mix(in srgb,#0072b2,#fff 55%))}'
    """
    return f".s-{shade}{{color:light-dark(#{shade},color-mix(in srgb,#{shade},#fff 55%))}}"


def _digits(color: object) -> str:
    """The six digits of a colour given as `#rrggbb` or as components."""
    if isinstance(color, str):
        return color.removeprefix("#").lower()
    assert isinstance(color, tuple)
    return "".join(f"{round(255 * part):02x}" for part in color[:3])
