"""Colours that stand out on white and on dark paper: those of print, moved in lightness as far as it takes."""

from __future__ import annotations

import colorsys

PAPERS = {"#ffffff": 3.1, "#16181c": 4.6}
"""The light and the dark ground, as the style of the page has them, and the contrast of a curve on it.

WCAG 2 (1.4.11) asks for 3; the rest is for rounding to 1/255, and because thin lines fade on dark ground.
"""


def colour_class(color: object) -> str:
    """The class that gives its colour to what is in it; `colour_rule` is its rule."""
    return f"s-{_digits(color)}"


def colour_rule(shade: str) -> str:
    """The rule of a colour given as six digits: it on light paper, and its kin on dark paper.

    >>> colour_rule("0072b2")
    '.s-0072b2{color:light-dark(#0072b2,#108bd1)}'
    """
    on_light, on_dark = (_standing_out(shade, paper) for paper in PAPERS)
    return f".s-{shade}{{color:light-dark(#{on_light},#{on_dark})}}"


def _standing_out(shade: str, paper: str) -> str:
    """The colour of the same hue and nearest lightness that has the contrast."""
    ground = _luminance(_parts(paper[1:]))
    towards = 0.0 if ground > 0.5 else 1.0
    hue, light, saturation = colorsys.rgb_to_hls(*_parts(shade))
    for step in range(51):
        moved = step / 50  # paler too, or a dark violet would glare
        parts = colorsys.hls_to_rgb(hue, light + (towards - light) * moved, saturation * (1 - moved))
        dark, bright = sorted((_luminance(parts), ground))
        if (bright + 0.05) / (dark + 0.05) >= PAPERS[paper]:
            break
    return _digits(parts)


def _luminance(parts: tuple[float, ...]) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _parts(shade: str) -> tuple[float, ...]:
    return tuple(int(shade[k : k + 2], 16) / 255 for k in (0, 2, 4))


def _digits(color: object) -> str:
    """Six digits of a colour that is `#rrggbb` or parts of one."""
    if isinstance(color, str):
        return color.removeprefix("#").lower()
    assert isinstance(color, tuple)
    return "".join(f"{round(255 * part):02x}" for part in color[:3])
