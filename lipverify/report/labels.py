"""Text in figures: readable formulas, and for each label a font that has its characters."""

from __future__ import annotations

import re
import string
from functools import cache

from lipverify.report.text import font_folder, printable

_FORMULA = re.compile(r"(?<!\\)\$.+?(?<!\\)\$", re.DOTALL)
_COMPUTER_MODERN = frozenset(string.ascii_letters + string.digits + " !#%&'()*+,-./:;=?@[]")
"""What `cmr10` draws as what it is: its other positions hold TeX's glyphs, an ffi for a ±."""

_SIZES = re.compile(r"\\(?:[bB]igg?)[lrm]?(?![a-zA-Z])\s*")
_SMALL = re.compile(r"\\[td]frac(?![a-zA-Z])")
"""What LaTeX has and matplotlib has not: brackets by their size, and fractions by theirs."""

_LETTERS = 13
"""Letters to the inch, at least, at the size of the labels."""


@cache
def drawable(text: str, room: float) -> str:
    """Text for matplotlib, cut where it is longer than `room` inches.

    Where its formulas cannot be read, the text as it stands.
    """
    from matplotlib.mathtext import MathTextParser

    text = printable(text).replace("\n", " ")
    text = _FORMULA.sub(lambda found: _SMALL.sub(r"\\frac", _SIZES.sub("", found[0])), text)
    letters = max(int(room * _LETTERS), 1)
    if len(text) > letters and not _FORMULA.search(text):
        text = text[: letters - 1] + "…"
    if "$" in text:
        try:
            MathTextParser("path").parse(text)
        except ValueError:
            return text.replace("$", r"\$")
    return text


@cache
def family(text: str) -> str:
    """The font that matches the page, or the first one that has every character of the text."""
    words = set(_FORMULA.sub("", text).replace(r"\$", ""))
    if words <= _COMPUTER_MODERN:
        return "cmr10"
    known = {ord(character) for character in words} <= _stix()
    return "STIXGeneral" if known else "DejaVu Sans"


@cache
def _stix() -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(str(font_folder() / "STIXGeneral.ttf")).get_charmap())
