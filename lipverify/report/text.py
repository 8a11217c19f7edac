"""Text of the ledger as runs of words and formulas, which the typesetter reads as data.

The text never becomes source: it travels as JSON strings. Only formulas are evaluated, which are built from the fixed
vocabulary of `lipverify.foundation.latex`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import msgspec

from lipverify.foundation.latex import UnreadableError, pieces, typst_math
from lipverify.report.digits import scientific
from lipverify.report.visible import invisible, named

_POWER = re.compile(r"(?<![\w.@-])(\d+(?:\.\d+)?(?:\(\d+\))?)e([+-]?)0*(\d{1,4})(?!\w|\.\d)")
"""A number such as 1.5e-07, or 1.77(3)e-07 with its error in units of the last digit."""


class Run(msgspec.Struct, frozen=True):
    """A piece of text: words, code, or a formula (`source` its Typst form, `text` its LaTeX)."""

    kind: Literal["words", "code", "math"]
    text: str
    source: str = ""


Text = tuple[Run, ...]
USUAL = frozenset("±×·−–“”…‡→∞≈≤≥✓✗ΔΛΣΩΘσρκε")
"""Characters for which the font is not read, as it has them."""
APART = Run("words", ", ")
"""Separator between the independent parts of a statement."""


@lru_cache(1 << 14)
def rich(text: str, *, inline: bool = False) -> Text:
    r"""Parse text with `$LaTeX$` and `` `code` ``. A formula that cannot be read stays text, and 1e-7 becomes a power.

    With `inline` fractions have a slash, so that a line of a table is one line high.

    >>> [run.kind for run in rich(r"growth $w^{1/d}$, not $\nonsense$, see `growth`, costs \$5")]
    ['words', 'math', 'words', 'code', 'words', 'code', 'words']
    >>> [run.text for run in rich("1.5e-07 to 1e9 of `2e3`, at 1e-4.")]
    ['1.5 \\times 10^{-7}', ' to ', '10^{9}', ' of ', '2e3', ', at ', '10^{-4}', '.']
    """
    runs: list[Run] = []
    for is_formula, piece in pieces(text):
        if is_formula:
            run = formula(piece, inline=inline)
            runs.append(run if run.kind == "math" else Run("code", printable(f"${piece}$")))
        else:
            runs += _words(piece)
    return tuple(runs)


@lru_cache(1 << 14)  # a report shows most of its formulas several times, and the page those of the PDF
def formula(latex: str, *, inline: bool = False) -> Run:
    """One formula, given without dollar signs; as code if it cannot be typeset."""
    try:
        return Run("math", printable(latex), typst_math(latex, inline=inline))
    except UnreadableError:
        return Run("code", printable(latex))


def formulas_in(data: Any) -> Iterator[dict[str, Any]]:
    """The formulas in a part of a report as plain data."""
    if isinstance(data, dict):
        if data.get("kind") == "math":
            yield data
        data = data.values()
    if not isinstance(data, str) and hasattr(data, "__iter__"):
        for part in data:
            yield from formulas_in(part)


def printable(text: str) -> str:
    """The text with every invisible character replaced by its code point: a page shows what the ledger has."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text.replace("\t", " "))


def _words(text: str) -> list[Run]:
    runs: list[Run] = []
    for position, piece in enumerate(re.split(r"`([^`]+)`", text)):
        if piece and position % 2:
            runs.append(Run("code", printable(piece)))
        else:
            runs += _with_powers(piece)
    return runs


def _with_powers(words: str) -> Iterator[Run]:
    """Words with their powers of ten as formulas."""
    start = 0
    for match in _POWER.finditer(words):
        if match.start() > start:
            yield Run("words", printable(words[start : match.start()]))
        mantissa, sign, power = match.groups()
        yield formula(scientific(mantissa, f"{sign.strip('+')}{power}"))
        start = match.end()
    if words[start:]:
        yield Run("words", printable(words[start:]))


def _shown(character: str) -> str:
    if character == "\n" or character in USUAL or (character.isascii() and character.isprintable()):
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return named(character) if invisible(character) or ord(character) not in _glyphs("DejaVuSans") else character


def font_folder() -> Path:
    """The folder of the fonts that come with matplotlib, which are the same on every machine."""
    found = find_spec("matplotlib")  # to import it takes longer than to typeset a report
    return Path(str(found and found.origin)).parent / "mpl-data" / "fonts" / "ttf"


@cache
def _glyphs(font: str) -> frozenset[int]:
    """The code points of a font."""
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(str(font_folder() / f"{font}.ttf")).get_charmap())


_NAMES = {
    **{name: rf"\{name} " for name in ("sigma", "rho", "kappa", "epsilon", "pi", "Gamma", "log", "cos")},
    "loss": r"\mathcal{L}", "diag": r"\operatorname{diag}", "<=": r"\leq ", ">=": r"\geq ", "*": "^*",
}  # fmt: skip
_WORD = re.compile(rf"(?!(?:{'|'.join(list(_NAMES)[:6])})\b)[A-Za-z][a-z]+(?:-[a-z]+)?[,;:.]?|a")
"""A piece of a theorem's sentence that is a word and no part of a formula."""
_NAME = re.compile("|".join(rf"(?<![A-Za-z\\]){name}(?![a-z])" for name in list(_NAMES)[:10]) + r"|<=|>=|\*")


@lru_cache(1 << 10)
def certified(sentence: str) -> Text:
    r"""The sentence of a certified theorem, which the checker writes in plain characters, with its formulas set.

    >>> [run.text for run in certified("every w* has 0.5 W < w*, W = (n / sigma^2)^(1/2.5), for all n")]
    ['every ', 'w^*', ' has ', '0.5 W < w^*, W = (n / \\sigma ^{2})^{1/2.5}', ',', ' for all ', 'n']
    """
    runs: list[Run] = []
    for is_word, group in groupby(sentence.split(" "), lambda piece: bool(_WORD.fullmatch(piece))):
        text = " ".join(group)
        space = " " if runs else ""
        if is_word:
            runs.append(Run("words", printable(f"{space}{text} ")))
            continue
        latex, end = re.fullmatch(r"(.*?)([,;:]?)", text).groups()  # type: ignore[union-attr]
        latex = re.sub(r"sqrt\(([^()]*)\)", r"\\sqrt{\1}", re.sub(r"\^1(?![\d.])", "", latex))
        latex = re.sub(r"\^\(((?:[^()]|\([^()]*\))*)\)|\^([\d.]+)", lambda power: f"^{{{power[1] or power[2]}}}", latex)
        latex = re.sub(r"_([a-z]{2,})", r"_{\\mathrm{\1}}", latex)
        latex = _NAME.sub(lambda name: _NAMES[name[0]], latex)
        runs += [formula(latex), *([Run("words", end)] if end else [])]
    return tuple(runs)
