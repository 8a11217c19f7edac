"""Colours with enough contrast on light and dark backgrounds: those of print, with the least change of lightness."""

from __future__ import annotations

import colorsys

PAPERS = {"#ffffff": 3.1, "#16181c": 4.6}
"""The light and dark backgrounds in the page's style, and the least contrast of a curve on each.

WCAG 2 (1.4.11) requires 3; the excess covers rounding to 1/255 and thin lines, which fade on a dark background.
"""


def colour_class(color: object) -> str:
    """The CSS class of a colour; `colour_rule` defines it."""
    return f"s-{_digits(color)}"


def colour_rule(shade: str) -> str:
    """The CSS rule of a colour given as six digits: the colour itself on light, a variant on dark.

    >>> colour_rule("0072b2")
    '.s-0072b2{color:light-dark(#0072b2,#108bd1)}'
    """
    on_light, on_dark = (_standing_out(shade, paper) for paper in PAPERS)
    return f".s-{shade}{{color:light-dark(#{on_light},#{on_dark})}}"


def _standing_out(shade: str, paper: str) -> str:
    """The colour with the same hue and the nearest lightness that has the contrast."""
    ground = _luminance(_parts(paper[1:]))
    towards = 0.0 if ground > 0.5 else 1.0
    hue, light, saturation = colorsys.rgb_to_hls(*_parts(shade))
    for step in range(51):
        moved = step / 50  # reduce saturation too, because a bright dark violet would glare
        parts = colorsys.hls_to_rgb(hue, light + (towards - light) * moved, saturation * (1 - moved))
        dark, bright = sorted((_luminance(parts), ground))
        if (bright + 0.05) / (dark + 0.05) >= PAPERS[paper]:
            break
    return _digits(parts)


def _luminance(parts: tuple[float, ...]) -> float:
    """Relative luminance as defined by WCAG 2."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _parts(shade: str) -> tuple[float, ...]:
    return tuple(int(shade[k : k + 2], 16) / 255 for k in (0, 2, 4))


def _digits(color: object) -> str:
    """The six digits of a colour given as `#rrggbb` or as components."""
    if isinstance(color, str):
        return color.removeprefix("#").lower()
    assert isinstance(color, tuple)
    return "".join(f"{round(255 * part):02x}" for part in color[:3])
