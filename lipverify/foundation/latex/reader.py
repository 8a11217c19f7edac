r"""The tree of a formula, and its reader. Nothing is guessed: an unknown part is refused with its position.

| kind | name | parts |
|---|---|---|
| sign | a letter, a number, or one other character | |
| space | its command; none if LaTeX does not print it | |
| function | `log` of the command `\log` | |
| operator, limits | the words of `\operatorname` and of `\operatorname*` | |
| upright, text | the words of `\mathrm`, and of `\text` and its kin | |
| row | | a formula, or the content of braces |
| scripts | the primes | base, subscript, superscript; None for an absent one |
| command | `frac` of `\frac{a}{b}`; `root` of `\sqrt[k]{x}` | the arguments, which are rows |
| fenced | its brackets, a dot for an absent one | the rows between them |
| sized | `bigl` of `\bigl(` | its bracket, a sign |
| grid | the environment | its lines: rows, whose parts are the cells |
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NoReturn

import msgspec

from lipverify.foundation.latex import symbols

_DEEPEST = 30
"""The deepest nesting of rows; the Typst compiler follows about twice this depth."""
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\s+|.|$", re.DOTALL)
_WORDS = re.compile(r"\{((?:[^\\{}$#%&]|\\[ ,])*)\}|([^\\{}$#%&])")
_OUTSIDE = re.compile(r"\\text\{([^{}$\\]*\s\S[^{}$\\]*)\}|\\(?:[A-Za-z]+|.)|[{}]", re.DOTALL)


class UnreadableError(ValueError):
    """A formula with an unreadable part; the message says which part, and where it is."""


class Part(msgspec.Struct, frozen=True):
    """A part of a formula; the table above has the kinds."""

    kind: str
    name: str = ""
    parts: tuple[Part | None, ...] = ()


SPACE = Part("space")


def row(*parts: Part) -> Part:
    return Part("row", "", parts)


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    r"""A text as words (False) and formulas (True), in order; `\$` in words is a dollar sign.

    >>> list(pieces(r"at most $n^2$ for \$5"))
    [(False, 'at most '), (True, 'n^2'), (False, ' for $5')]
    """
    for position, piece in enumerate(re.split(r"(?s)(?<!\\)\$(.+?)(?<!\\)\$", text)):
        if position % 2:
            yield True, piece
        elif piece:
            yield False, piece.replace(r"\$", "$")


def outside_words(latex: str) -> list[tuple[bool, str]]:
    r"""The pieces of a statement: words (True) in `\text{...}` outside of braces that contain a space, and formulas.

    >>> outside_words(r"a \leq b \text{ for every } c_{\text{of it}}")
    [(False, 'a \\leq b '), (True, ' for every '), (False, ' c_{\\text{of it}}')]
    """
    parts: list[tuple[bool, str]] = []
    start = depth = 0
    for match in _OUTSIDE.finditer(latex):
        depth += (match[0] in ("{", r"\begin")) - (match[0] in ("}", r"\end"))
        if match[1] and not depth:
            parts += [(False, latex[start : match.start()]), (True, match[1])]
            start = match.end()
    return [*parts, (False, latex[start:])]


@lru_cache(1 << 13)  # a report has some thousands, most of them repeated
def read(latex: str) -> Part:
    r"""The tree of a formula, given without dollar signs.

    >>> [part.kind for part in read(r"x^2 \leq a").parts]
    ['scripts', 'space', 'sign', 'space', 'sign']
    """
    reader = _Reader(latex)
    if word := re.search(r"[^\W_]{40}", latex):
        reader.refuse("a word that no line can hold", word.start())
    formula = reader.row()
    if reader.peek():
        reader.refuse("unexpected closing brace")
    if all(part and not part.parts and part.kind in ("space", "row") for part in formula.parts):
        reader.refuse("an empty formula", 0)
    return formula


class _Reader:
    """A formula, read from left to right."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.at = self.before = self.depth = 0  # where the next token begins, and where the one before began

    def refuse(self, reason: str, position: int | None = None) -> NoReturn:
        """Refuse what begins at a position, by default the next token."""
        position = self.at if position is None else position
        near = self.latex[position : position + 12]
        where = f"at {near!r}" if near else f"after {self.latex[-12:]!r}"
        raise UnreadableError(f"{reason}: character {position + 1} of the formula, {where}".replace("\\\\", "\\"))

    def peek(self) -> str:
        """The next token, which is not consumed; empty at the end."""
        token = _TOKEN.match(self.latex, self.at)
        assert token
        return token[0]

    def skip(self) -> str:
        """The next token that LaTeX prints, not consumed."""
        while (token := self.peek()).isspace():
            self.at += len(token)
        return token

    def take(self) -> str:
        token = self.skip()
        if token in ("", "}"):
            self.refuse("the formula breaks off")
        self.before, self.at = self.at, self.at + len(token)
        return token

    def close(self, bracket: str) -> None:
        if self.peek() != bracket:
            self.refuse(f"End of input, expecting {bracket!r}")
        self.at += 1

    def row(self, *stop: str) -> Part:
        """The parts up to a closing brace or one of these tokens, which is not consumed; or up to the end."""
        self.depth += 1
        if self.depth > _DEEPEST:
            self.refuse("it is nested too deeply")
        parts: list[Part] = []
        while (token := self.peek()) and token not in ("}", *stop):
            if token.isspace():
                self.at += len(token)
                parts.append(SPACE)
            elif part := self.scripted():
                parts.append(part)
        self.depth -= 1
        return row(*parts)

    def scripted(self) -> Part | None:
        """A part with the scripts and primes that follow it."""
        # a number with its decimals is one part here; as an argument without braces, a digit is
        number = re.compile(r"\d+(?:\.\d+)?").match(self.latex, self.at)
        self.at = number.end() if number else self.at
        base = Part("sign", number[0]) if number else self.atom()
        scripts: dict[str, Part] = {}
        primes, after = "", self.at
        while (token := self.skip()) in ("'", "’", "^", "_", r"\limits", r"\nolimits"):
            if token in scripts:
                self.refuse(f"two {token!r} on one base")
            self.at += len(token)
            if token in ("^", "_"):
                scripts[token] = self.atom() or row()
            primes += "'" * (token in ("'", "’"))
            after = self.at
        self.at = after  # a space after the last script belongs to the row
        parts = (base, scripts.get("_"), scripts.get("^"))
        return Part("scripts", primes, parts) if scripts or primes else base

    def atom(self) -> Part | None:
        """One part without its scripts; None for a command that prints nothing, and before a script without a base."""
        token = self.take()
        if name := token[1:]:
            if name not in _MEANINGS:
                self.refuse(f"{token} is not known", self.before)
            meaning = _MEANINGS[name]
            return meaning(self, name) if callable(meaning) else meaning
        if token == "{":
            group = self.row()
            self.close("}")
            return group
        if token in ("^", "_", "'"):
            self.at = self.before
            return None
        if token in set('&#$%@\\"`') or not token.isprintable():
            fault = "has no meaning here" if token.isprintable() else "cannot be printed"
            self.refuse(f"{token!r} {fault}", self.before)
        return Part("space", " ") if token == "~" else Part("sign", token)

    def argument(self, name: str, begin: int | None = None) -> Part:
        """The argument of a command that begins here, or is the token before: a group, or one sign."""
        begin = self.before if begin is None else begin
        token = self.skip()
        if token in ("", "}", "^", "_", "'", "&"):
            self.refuse(f"{'' if token else 'End of input: '}\\{name} lacks an argument", begin)
        if callable(_MEANINGS.get(token[1:])):
            self.refuse(f"{token} with its argument must stand in braces here")
        atom = self.atom()
        return atom if atom and token == "{" else row(*filter(None, [atom]))

    def words(self, name: str) -> str:
        """The argument of a command, which must be plain words, spaces kept."""
        self.skip()
        match = _WORDS.match(self.latex, self.at)
        if not match or not match[0].isprintable():
            self.refuse(f"the argument of \\{name} is not plain words")
        self.at = match.end()
        return re.sub(r"\\[ ,]|~", " ", match[1] or match[2] or "")

    def command(self, name: str) -> Part:
        begin = self.before
        arguments = [self.argument(name, begin) for _ in range(1 + (name in symbols.PAIRS))]
        return Part("command", name, tuple(arguments))

    def upright(self, name: str) -> Part:
        """Plain words, or a formula in upright letters."""
        begin = self.at
        try:
            return Part("upright", self.words(name))
        except UnreadableError:
            self.at = begin
            return self.command(name)

    def operator(self, name: str) -> Part:
        star = self.skip() == "*"
        self.at += star
        return Part("limits" if star else "operator", self.words(name))

    def root(self, name: str) -> Part:
        begin = self.before
        if self.skip() != "[":
            return self.command(name)
        self.at += 1
        index = self.row("]")
        self.close("]")
        return Part("command", "root", (index, self.argument(name, begin)))

    def switched(self, name: str) -> Part:
        r"""The rest of a group after `\rm` and its kin; letters alone are words."""
        command, rest = symbols.SWITCHES[name], self.row()
        letters = "".join(part.name for part in rest.parts if part and part.kind == "sign")
        alone = all(part and part.kind in ("sign", "space") for part in rest.parts)
        words = command == "mathrm" and alone and letters.isalpha() and letters.isascii()
        return Part("upright", letters) if words else Part("command", command, (rest,))

    def negated(self, name: str) -> Part:
        token = self.take()
        sign = unicodedata.normalize("NFC", symbols.CHARACTERS.get(token[1:], token) + "\u0338")
        if len(sign) > 1:
            self.refuse(f"\\not before {token!r} is not known", self.before)
        return Part("sign", sign)

    def fence(self) -> str:
        token = self.take()
        fence = symbols.FENCES.get(symbols.CHARACTERS.get(token[1:], token))
        if fence is None or token in ("{", "‖"):
            self.refuse(f"{token!r} is not a bracket", self.before)
        return fence

    def fenced(self, name: str) -> Part:
        r"""`\left( ... \right)`, with `\middle|` inside."""
        fences, parts, closing = self.fence(), list[Part](), ""
        while closing != r"\right":
            parts.append(self.row(r"\right", r"\middle"))
            if self.peek() in ("", "}"):
                self.refuse(r"'\right' is missing")
            closing = self.take()
            fences += self.fence()
        return Part("fenced", fences, tuple(parts))

    def grid(self, name: str) -> Part:
        begin, kind = self.before, self.words(name)
        if kind not in (*symbols.STACKS, *symbols.MATRICES, "cases"):
            self.refuse(f"the environment {kind!r} is not known", begin)
        if kind == "array":
            self.words(name)  # the alignment of its columns
        lines, cells, closing = list[Part](), list[Part](), ""
        while closing != r"\end":
            cells.append(self.row("&", r"\\", r"\end"))
            closing = self.take()
            empty = closing == r"\end" and len(cells) == 1 and all(part == SPACE for part in cells[0].parts)
            if closing != "&" and not empty:
                lines.append(row(*cells))
                cells = []
        if self.words("end") != kind:
            self.refuse(f"the environment {kind!r} is not ended")
        return Part("grid", kind, tuple(lines))


_SPACED, _MODULO = Part("space", " "), Part("operator", "mod")
_MEANINGS: dict[str, Part | Callable[[_Reader, str], Part | None] | None] = {
    **{name: Part("sign", character) for name, character in symbols.CHARACTERS.items()},
    **{name: Part("space", name) for name in symbols.SPACES},
    **{name: Part("function", name) for name in symbols.FUNCTIONS},
    **{name: Part("limits" if " " in words else "operator", words) for name, words in symbols.OPERATORS.items()},
    **dict.fromkeys(symbols.SILENT),
    **dict.fromkeys(symbols.COMMANDS, _Reader.command),
    **dict.fromkeys(symbols.TEXT, lambda reader, name: Part("text", reader.words(name))),
    **dict.fromkeys(symbols.SIZES, lambda reader, name: Part("sized", name, (Part("sign", reader.fence()),))),
    **dict.fromkeys(symbols.SWITCHES, _Reader.switched),
    "bmod": row(_SPACED, _MODULO, _SPACED),
    "pmod": lambda reader, name: row(_SPACED, Part("fenced", "()", (row(_MODULO, _SPACED, reader.argument(name)),))),
    "substack": _Reader.argument,
    "xrightarrow": lambda reader, name: Part("command", "overset", (reader.argument(name), row(Part("sign", "→")))),
    "mathrm": _Reader.upright,
    "operatorname": _Reader.operator,
    "sqrt": _Reader.root,
    "not": _Reader.negated,
    "left": _Reader.fenced,
    "begin": _Reader.grid,
}
"""What each command is: a part, nothing, or what reads its arguments; a later entry replaces an earlier one."""
