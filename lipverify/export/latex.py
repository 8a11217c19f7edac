r"""Convert ledger text to LaTeX for any engine: words are escaped, and formulas pass only if they are understood.

`lipverify.foundation.latex` parses formulas and writes them again. It knows no command that defines, includes or writes
anything, or that has another meaning inside a table. A formula that it does not know is printed as source text.
"""

from __future__ import annotations

import re
import unicodedata

from lipverify.foundation.latex import UnreadableError, latex_source, pieces, symbols
from lipverify.report.visible import visible

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
    "-": "{-}", "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
"""Characters with a meaning in LaTeX, alone, in pairs such as two hyphens, or after a line break."""
_TYPOGRAPHY = {
    "–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\ldots{}", "−": r"\ensuremath{-}",
    "·": r"\ensuremath{\cdot}", "²": r"\ensuremath{^{2}}", "³": r"\ensuremath{^{3}}", "¹": r"\ensuremath{^{1}}",
    "⁻": r"\ensuremath{^{-}}", "√": r"\ensuremath{\surd}", "°": r"\ensuremath{^{\circ}}", "§": r"\S{}",
    "†": r"\dag{}", "‡": r"\ddag{}", "′": r"\ensuremath{'}", "µ": r"\ensuremath{\mu}", "⟨": r"\ensuremath{\langle}",
    "⟩": r"\ensuremath{\rangle}", "✓": r"\ensuremath{\checkmark}",
}  # fmt: skip
_MARKED = re.compile(rf"([^\W\d_])([{''.join(symbols.MARKS)}])|.", re.DOTALL)
"""A letter followed by a combining mark, or any single character."""


def rich(text: str) -> str:
    r"""Convert text that may hold `$LaTeX$`.

    >>> print(rich(r"$w^{1/d}$ at 5 % & $\input{x}$"))
    $w^{1/d}$ at 5 \% \& \$\textbackslash{}input\{x\}\$
    """
    return "".join(formula(piece) if is_formula else words(piece) for is_formula, piece in pieces(text))


def formula(source: str) -> str:
    """A formula between dollar signs, or as words if it is not understood or could break the table."""
    try:
        written = latex_source(source)
    except UnreadableError:
        return words(f"${source}$")
    return f"${written}{' ' * written.endswith(chr(92))}$"  # a control space must not escape the dollar sign


def words(text: str) -> str:
    r"""Escape words, whatever characters they contain.

    >>> print(words("50 % of a_1 & \\end{table}, σ ≤ 1"))
    50 \% of a\_1 \& \textbackslash{}end\{table\}, \ensuremath{\sigma} \ensuremath{\leq} 1
    """
    return _MARKED.sub(_written, visible(text))


def _written(match: re.Match[str]) -> str:
    letter, mark = match.groups()
    return _formula_of(rf"\{symbols.MARKS[mark]}{{{letter}}}") if mark else _character(match[0])


def breakable(text: str) -> str:
    r"""Words in which a line may break after a punctuation mark.

    >>> print(breakable("a.b/c"))
    a.\allowbreak{}b/\allowbreak{}c
    """
    return re.sub(r"(?<=[./])(?=.)|(?<=\{-\})(?=.)", lambda _: r"\allowbreak{}", words(text))


def _character(character: str) -> str:
    for known in (_SPECIAL, _TYPOGRAPHY):
        if character in known:
            return known[character]
    if character.isascii() or (ord(character) < 0x180 and unicodedata.category(character).startswith("L")):
        return character
    return _composed(character) or _formula_of(character)


def _formula_of(latex: str) -> str:
    """A mathematical character in text, as a formula; any other unknown character by its code points."""
    try:
        return rf"\ensuremath{{{latex_source(latex)}}}"
    except UnreadableError:
        return "".join(rf"\texttt{{U+{ord(character):04X}}}" for character in latex)


def _composed(character: str) -> str:
    """A superscript, subscript or fraction from its Unicode decomposition; empty for any other character."""
    kind, _, parts = unicodedata.decomposition(character).partition(" ")
    signs = "".join(chr(int(part, 16)) for part in parts.split()) if kind.startswith("<") else ""
    signs = signs.replace("\u2212", "-").replace("\u2044", "/")
    if not re.fullmatch(r"[0-9A-Za-z+\-=()/]+", signs):
        return ""
    if kind == "<fraction>":
        return r"\ensuremath{\tfrac{" + signs.replace("/", "}{") + "}}"
    return {"<super>": rf"\ensuremath{{^{{{signs}}}}}", "<sub>": rf"\ensuremath{{_{{{signs}}}}}"}.get(kind, "")
