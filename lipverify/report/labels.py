"""Text in figures: readable formulas, and for each label a font with all its characters."""

from __future__ import annotations

import string
from functools import cache

from lipverify.foundation.latex import mathtext, pieces
from lipverify.report.text import font_folder, printable

_COMPUTER_MODERN = frozenset(string.ascii_letters + string.digits + " !#%&'()*+,-./:;=?@[]")
"""The characters that `cmr10` draws correctly; its other positions contain TeX's glyphs, such as an ffi for a ±."""

_LETTERS = 13
"""Least number of characters per inch at the font size of labels."""


@cache
def drawable(text: str, width: float) -> str:
    """Text for matplotlib, cut if it is longer than `width` inches.

    If its formulas cannot be read, the text is unchanged.
    """
    from matplotlib.mathtext import MathTextParser

    text = printable(text).replace("\n", " ")
    parts = list(pieces(text))
    letters = max(int(width * _LETTERS), 1)
    if len(text) > letters and not any(formula for formula, _ in parts):
        text = text[: letters - 1] + "…"
    if "$" not in text:
        return text
    try:
        drawn = "".join(f"${mathtext(part)}$" if formula else part.replace("$", r"\$") for formula, part in parts)
        MathTextParser("path").parse(drawn)
    except ValueError:
        return text.replace("$", r"\$")
    return drawn


@cache
def family(text: str) -> str:
    """The font of the page, or the first font that has every character of the text."""
    words = {character for formula, part in pieces(text) if not formula for character in part if character != "$"}
    if words <= _COMPUTER_MODERN:
        return "cmr10"
    known = {ord(character) for character in words} <= _stix()
    return "STIXGeneral" if known else "DejaVu Sans"


@cache
def _stix() -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(str(font_folder() / "STIXGeneral.ttf")).get_charmap())
