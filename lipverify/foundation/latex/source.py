r"""Formulas as LaTeX again: with all braces for any engine with amsmath and amssymb, or for matplotlib's mathtext.

The output contains only the commands of these tables, so a formula can neither define nor include anything in the
document around it. A part that a dialect cannot express is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from lipverify.foundation.latex import symbols
from lipverify.foundation.latex.reader import read
from lipverify.foundation.latex.tree import Part, UnreadableError, Writer

_REMEMBERED = 1 << 12
"""Number of formulas in the cache: figures and exports repeat theirs."""
_PLAIN_WORDS = re.compile(r"[A-Za-z0-9\u00c0-\u017f ,.;:()/+*=!?'-]*")
"""Words of letters and marks without a special meaning in LaTeX."""
_UNUSUAL = {"lt", "gt", "coloneqq", "omicron", "sqrtsign", "degree", "S", "vert", "Vert", "|"} | symbols.FENCES.keys()
"""Commands that some engines do not know, or that have a more usual synonym."""
COMMANDS = {
    character: f"\\{name}"
    for name, character in reversed(symbols.CHARACTERS.items())
    if name not in _UNUSUAL and character not in ":<>"
}
COMMANDS |= {symbols.CHARACTERS[name]: f"\\{name}" for name in ("leq", "geq", "neq", "to", "ell", "Longrightarrow")}
COMMANDS |= {
    "⟺": r"\Longleftrightarrow", "≔": ":=", "ο": "o", "√": r"\surd", "°": r"{}^{\circ}", "‖": r"\|", "⟨": r"\langle",
    "⟩": r"\rangle", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil", "−": "-", "·": r"\cdot",
    "’": "'",
}  # fmt: skip
COMMANDS |= {name: f"\\{name}" for name in "{}#%$&_"}
"""Characters that are written by a command, or by another character."""
_NEGATIONS = {character: sign for sign, character in symbols.NEGATED.items() if character not in COMMANDS}


@dataclass(frozen=True, eq=False)
class _Dialect(Writer):
    """LaTeX as one engine knows it: its differences from the common core."""

    name: str
    sizes: bool
    r"""True if it knows `\bigl` and its kin; otherwise brackets have the size of a letter."""
    renamed: dict[str, str]
    """Commands with another name in the dialect; an empty name drops the command."""
    unknown: frozenset[str]
    """Commands that the dialect does not have."""

    def content(self, part: Part | None) -> str:
        """The content of a group, with a space where a command would run into a letter."""
        written = ""
        for text in map(self.part, part.parts if part and part.kind == "row" else [part]):
            apart = re.search(r"\\[A-Za-z]+$", written) and text[:1].isalpha()
            written += f" {text}" if apart else text
        return written

    def row(self, _: str, *parts: Part) -> str:
        return f"{{{self.content(Part('row', '', parts))}}}"

    def sign(self, text: str) -> str:
        if text in _NEGATIONS:
            return f"\\not{self.sign(_NEGATIONS[text])}"
        if text not in COMMANDS and not text.isascii():
            self.refuse(repr(text))
        return COMMANDS.get(text, text)

    def space(self, command: str) -> str:
        if command == "\\":
            self.refuse("a line break")
        return f"\\{command}" if command else " "

    def function(self, name: str) -> str:
        return f"\\{name}"

    def operator(self, words: str, star: str = "") -> str:
        return rf"\operatorname{star}{{{self._plain(words)}}}".replace(" ", r"\,")

    def limits(self, words: str) -> str:
        return self.operator(words, "*" if self.sizes else "")

    def upright(self, words: str) -> str:
        return rf"\mathrm{{{self._plain(words)}}}".replace(" ", r"\ ")

    def text(self, words: str) -> str:
        return rf"\text{{{self._plain(words)}}}"

    def _plain(self, words: str) -> str:
        return words if _PLAIN_WORDS.fullmatch(words) else self.refuse(repr(words))

    def scripts(self, primes: str, base: Part | None, below: Part | None, above: Part | None) -> str:
        written = (self.part(base) or "{}") + primes
        for sign, script in (("_", below), ("^", above)):
            if script:
                written += sign + (self.part(script) if script.kind == "sign" else f"{{{self.content(script)}}}")
        return written

    def command(self, name: str, *arguments: Part) -> str:
        if name in self.unknown:
            self.refuse(f"\\{name}")
        *others, last = map(self.part, arguments)
        if name == "root":
            return f"\\sqrt[{others[0]}]{last}"
        name = self.renamed.get(name, name)
        return "".join([f"\\{name}" if name else "", *others, last])

    def fence(self, sign: str) -> str:
        return COMMANDS.get(sign, sign) or "."

    def fenced(self, _: str, *parts: Part) -> str:
        """Brackets that grow; a command of a bracket does not run into the letters after it."""
        written = ""
        for fence, part in zip(parts[::2], parts[1::2], strict=False):
            bracket, text = f"\\{'middle' if written else 'left'}{self.part(fence)}", self.content(part)
            written += bracket + " " * (bracket[-1].isalpha() and text[:1].isalpha()) + text
        return f"{written}\\right{self.part(parts[-1])}"

    def sized(self, command: str, fence: Part) -> str:
        return f"\\{command}{self.part(fence)}" if self.sizes else self.sign(fence.name)

    def grid(self, name: str, *_: Part) -> str:
        self.refuse(rf"\begin{{{name}}}")

    def refuse(self, what: str) -> NoReturn:
        """Refuse a part that the dialect cannot express."""
        raise UnreadableError(f"{what} cannot be written in {self.name}")


_BOLD_AND_DOUBLE = {"bm": "boldsymbol", "pmb": "boldsymbol", "mathds": "mathbb", "mathbbm": "mathbb"}
_LATEX = _Dialect(
    "LaTeX", True, {**_BOLD_AND_DOUBLE, "nicefrac": "tfrac", "sfrac": "tfrac"}, frozenset({"cancel", "mathscr"})
)
_MATHTEXT = _Dialect(
    "mathtext", False,
    {**_BOLD_AND_DOUBLE, **dict.fromkeys(symbols.FRACTIONS, "frac"), **dict.fromkeys(symbols.BINOMIALS, "binom"),
     "mathop": "", "overrightarrow": "vec"},
    frozenset({"cancel", "check", "underbrace", "overbrace"}),
)  # fmt: skip


@lru_cache(_REMEMBERED)
def latex_source(latex: str, dialect: _Dialect = _LATEX) -> str:
    r"""A formula, given without dollar signs, in a dialect.

    Raises
    ------
    UnreadableError
        If it cannot be read, with the position, or the dialect cannot express a part of it.

    >>> print(latex_source(r"{\rm Var} f \le \frac12"), latex_source(r"\tfrac{a}{2}", _MATHTEXT))
    {\mathrm{Var}} f \leq \frac{1}{2} \frac{a}{2}
    >>> latex_source(r"\cancel{x}")
    Traceback (most recent call last):
        ...
    lipverify.foundation.latex.tree.UnreadableError: \cancel cannot be written in LaTeX
    """
    return dialect.content(read(latex)).strip(" ")


def mathtext(latex: str) -> str:
    """A formula in the commands that matplotlib can draw."""
    return latex_source(latex, _MATHTEXT)
