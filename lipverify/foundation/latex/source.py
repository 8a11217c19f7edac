r"""Formulas as LaTeX again: with all braces for any engine with amsmath and amssymb, or for matplotlib's mathtext.

The output contains only the commands of these tables, so a formula can neither define nor include anything in the
document around it. A part that a dialect cannot express is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NoReturn

from lipverify.foundation.latex import reader as tree
from lipverify.foundation.latex import symbols
from lipverify.foundation.latex.reader import Node, UnreadableError, read

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
    "⟺": r"\Longleftrightarrow",
    "≔": ":=",
    "ο": "o",
    "√": r"\surd",
    "°": r"{}^{\circ}",
    "‖": r"\|",
    "⟨": r"\langle",
    "⟩": r"\rangle",
}
COMMANDS |= {name: f"\\{name}" for name in "{}#%$&_"}
COMMANDS |= {"⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil", "−": "-", "·": r"\cdot", "’": "'"}
"""Characters that are written by a command, or by another character."""
_NEGATIONS = {character: sign for sign, character in symbols.NEGATED.items() if character not in COMMANDS}


@dataclass(frozen=True, eq=False)
class Dialect:
    """A dialect: the differences of an engine from the common core."""

    name: str
    fractions: bool
    r"""True if it knows `\tfrac`, `\dfrac` and `\cfrac`; otherwise each is written as `\frac`."""
    sizes: bool
    r"""True if it knows `\bigl` and its kin; otherwise brackets have the size of a letter."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Commands with another name in the dialect; an empty name drops the command."""
    unknown: frozenset[str] = frozenset()
    """Commands that the dialect does not have."""


_BOLD_AND_DOUBLE = {"bm": "boldsymbol", "pmb": "boldsymbol", "mathds": "mathbb", "mathbbm": "mathbb"}
LATEX = Dialect(
    "LaTeX", True, True, {**_BOLD_AND_DOUBLE, "nicefrac": "tfrac", "sfrac": "tfrac"}, frozenset({"cancel", "mathscr"})
)
MATHTEXT = Dialect(
    "mathtext",
    False,
    False,
    {**_BOLD_AND_DOUBLE, "mathop": "", "overrightarrow": "vec"},
    frozenset({"cancel", "check", "underbrace", "overbrace"}),
)


@lru_cache(_REMEMBERED)
def latex_source(latex: str, dialect: Dialect = LATEX) -> str:
    r"""A formula, given without dollar signs, in a dialect.

    Raises
    ------
    UnreadableError
        If it cannot be read, with the position, or the dialect cannot express a part of it.

    >>> print(latex_source(r"{\rm Var} f \le \frac12"), latex_source(r"\tfrac{a}{2}", MATHTEXT))
    {\mathrm{Var}} f \leq \frac{1}{2} \frac{a}{2}
    >>> latex_source(r"\cancel{x}")
    Traceback (most recent call last):
        ...
    lipverify.foundation.latex.reader.UnreadableError: \cancel cannot be written in LaTeX
    """
    return _Writer(dialect).row(read(latex).parts).strip(" ")


def mathtext(latex: str) -> str:
    """A formula in the commands that matplotlib can draw."""
    return latex_source(latex, MATHTEXT)


@dataclass(frozen=True)
class _Writer:
    dialect: Dialect

    def row(self, parts: Sequence[Node]) -> str:
        """Parts in a row, with a space where a command would run into a letter."""
        written = ""
        for part in map(self.part, parts):
            apart = re.search(r"\\[A-Za-z]+$", written) and part[:1].isalpha()
            written += f" {part}" if apart else part
        return written

    def part(self, node: Node) -> str:
        """A part in the dialect."""
        match node:
            case tree.Row():
                return self.braced(node)
            case tree.Sign(text):
                return self.sign(text)
            case tree.Space("\\"):
                self.refuse("a line break")
            case tree.Space(command):
                return f"\\{command}" if command else " "
            case tree.Words(text, command):
                words = self.plain(text)
                return rf"\mathrm{{{words}}}".replace(" ", r"\ ") if command == "mathrm" else rf"\text{{{words}}}"
            case tree.Named(text, command) if command in symbols.OPERATORS:
                return f"\\{command}"
            case tree.Named(text, command):
                star = command.removeprefix("operatorname") if self.dialect.sizes else ""
                return rf"\operatorname{star}{{{self.plain(text)}}}".replace(" ", r"\,")
            case tree.Scripts(base, below, primes, above):
                scripts = "'" * primes + "".join(
                    f"{sign}{self.script(node)}" for sign, node in (("_", below), ("^", above)) if node
                )
                return f"{self.part(base) if base else '{}'}{scripts}"
            case tree.Fraction(command, over, under):
                general = "binom" if command in symbols.BINOMIALS else "frac"
                name = self.dialect.renamed.get(command, command) if self.dialect.fractions else general
                return f"\\{name}{self.braced(over)}{self.braced(under)}"
            case tree.Root(inside, index):
                return f"\\sqrt{f'[{self.row([index])}]' if index else ''}{self.braced(inside)}"
            case tree.Styled(command, inside):
                if command in self.dialect.unknown:
                    self.refuse(f"\\{command}")
                name = self.dialect.renamed.get(command, command)
                return f"\\{name}{self.braced(inside)}" if name else self.braced(inside)
            case tree.Fenced(fences, parts):
                signs = [f"\\{'middle' if i else 'left'}{self.fence(sign)}" for i, sign in enumerate(fences[:-1])]
                rows = [self.row(part.parts) for part in parts]
                enclosed = "".join(self.after(sign, row) for sign, row in zip(signs, rows, strict=True))
                return f"{enclosed}\\right{self.fence(fences[-1])}"
            case tree.Sized(command, fence):
                return f"\\{command}{self.fence(fence)}" if self.dialect.sizes else self.sign(fence)
            case tree.Stacked(base, above, below):
                small = above or below or tree.Row(())
                return f"\\{'overset' if above else 'underset'}{self.braced(small)}{self.braced(base)}"
            case tree.Grid(name, _):
                self.refuse(rf"\begin{{{name}}}")

    def braced(self, node: Node) -> str:
        """A node as the argument of a command: its parts without further braces."""
        return f"{{{self.row(node.parts if isinstance(node, tree.Row) else [node])}}}"

    def script(self, node: Node) -> str:
        """A script: one sign without braces, anything else in braces."""
        return self.part(node) if isinstance(node, tree.Sign) else self.braced(node)

    def sign(self, text: str) -> str:
        """The command of a character."""
        if text in _NEGATIONS:
            return f"\\not{self.sign(_NEGATIONS[text])}"
        if text not in COMMANDS and not text.isascii():
            self.refuse(repr(text))
        return COMMANDS.get(text, text)

    def fence(self, text: str) -> str:
        """A bracket, or the dot for none."""
        return COMMANDS.get(text, text) if text else "."

    def after(self, sign: str, text: str) -> str:
        """A bracket and a text, separated if the bracket's command would run into it."""
        return f"{sign} {text}" if sign[-1].isalpha() and text[:1].isalpha() else sign + text

    def plain(self, text: str) -> str:
        """A text of plain words, or a refusal."""
        return text if _PLAIN_WORDS.fullmatch(text) else self.refuse(repr(text))

    def refuse(self, what: str) -> NoReturn:
        """Refuse a part that the dialect cannot express."""
        raise UnreadableError(f"{what} cannot be written in {self.dialect.name}")
