r"""The reader of LaTeX formulas. Nothing is guessed: an unknown command is refused with its position in the text.

A regular expression finds the tokens. pylatexenc finds the same and groups, but neither scripts nor what stands between
`\left` and `\right`; to adapt its nodes took more lines than to read tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import NoReturn

from lipverify.foundation.latex import symbols
from lipverify.foundation.latex.tree import SPACE, Part, UnreadableError, row

FORMULA = re.compile(r"(?<!\\)\$(.+?)(?<!\\)\$", re.DOTALL)
"""A formula within a text, between dollar signs."""
_REMEMBERED = 1 << 13
"""Number of formulas in the cache: a report has some thousands, most of them repeated."""
_DEEPEST = 30
"""The deepest nesting of rows; the Typst compiler follows about twice this depth."""
_NEAR = 12
"""Characters on either side of a fault that a message shows."""
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WORDS = re.compile(r"\{((?:[^\\{}$#%&]|\\[ ,])*)\}|([^\\{}$#%&])")
"""An argument of plain words, in braces or of one letter."""
_OUTSIDE = re.compile(r"\\text\{([^{}$\\]*\s\S[^{}$\\]*)\}|\\(?:[A-Za-z]+|.)|[{}]", re.DOTALL)
_NESTS = {"{": 1, r"\begin": 1, "}": -1, r"\end": -1}
"""How a token changes the depth of braces and environments."""


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    r"""A text as words (False) and formulas (True), in order; `\$` in words is a dollar sign.

    >>> list(pieces(r"at most $n^2$ for \$5"))
    [(False, 'at most '), (True, 'n^2'), (False, ' for $5')]
    """
    for position, piece in enumerate(FORMULA.split(text)):
        if position % 2:
            yield True, piece
        elif piece:
            yield False, piece.replace(r"\$", "$")


@lru_cache(_REMEMBERED)
def read(latex: str) -> Part:
    r"""The tree of a formula, given without dollar signs.

    Raises
    ------
    UnreadableError
        If it contains an unknown part or is incomplete, with the position.

    >>> [part.kind for part in read(r"x^2 \leq a").parts]
    ['scripts', 'space', 'sign', 'space', 'sign']
    >>> read(r"a + \foo b")
    Traceback (most recent call last):
        ...
    lipverify.foundation.latex.tree.UnreadableError: \foo is not known: character 5 of the formula, at '\foo b'
    """
    reader = _Reader(latex)
    formula = reader.row()
    if reader.next_token:
        reader.refuse("unexpected closing brace")
    if all(part and part.kind == "space" for part in formula.parts):
        refuse(latex, 0, "an empty formula")
    return formula


def outside_words(latex: str) -> list[tuple[bool, str]]:
    r"""The pieces of a statement: words (True) in `\text{...}` outside of braces that contain a space, and formulas.

    >>> outside_words(r"a \leq b \text{ for every } c_{\text{of it}}")
    [(False, 'a \\leq b '), (True, ' for every '), (False, ' c_{\\text{of it}}')]
    """
    parts: list[tuple[bool, str]] = []
    start = depth = 0
    for match in _OUTSIDE.finditer(latex):
        depth += _NESTS.get(match[0], 0)
        if match[1] and not depth:
            parts += [(False, latex[start : match.start()]), (True, match[1])]
            start = match.end()
    return [*parts, (False, latex[start:])]


def refuse(latex: str, position: int, reason: str) -> NoReturn:
    """Raise the error of a formula with a fault at this position."""
    near = latex[position : position + _NEAR]
    where = f"at {near!r}" if near else f"after {latex[-_NEAR:]!r}"
    raise UnreadableError(f"{reason}: character {position + 1} of the formula, {where}".replace("\\\\", "\\"))


class _Reader:
    """The tokens of a formula, read from left to right."""

    def __init__(self, latex: str) -> None:
        self._latex = latex
        self._tokens = [(token.start(), token[0]) for token in _TOKEN.finditer(latex)]
        self._at = self._depth = 0

    @property
    def next_token(self) -> str:
        """The next token, which is not consumed; empty at the end."""
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    @property
    def _position(self) -> int:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else len(self._latex)

    def refuse(self, reason: str) -> NoReturn:
        """Refuse the next token."""
        refuse(self._latex, self._position, reason)

    def _skip(self) -> None:
        """Skip the spaces that LaTeX does not print."""
        while self.next_token.isspace():
            self._at += 1

    def _next(self) -> str:
        self._skip()
        if self.next_token in ("", "}"):
            self.refuse("the formula breaks off")
        self._at += 1
        return self._tokens[self._at - 1][1]

    def row(self, *stop: str) -> Part:
        """The parts up to a closing brace or one of these tokens, which is not consumed; or up to the end."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self.refuse("it is nested too deeply")
        parts: list[Part] = []
        while (text := self.next_token) and text not in ("}", *stop):
            if text.isspace():
                self._at += 1
                parts.append(SPACE)
            elif part := self._scripted(self._number() if text.isdecimal() else self._atom()):
                parts.append(part)
        self._depth -= 1
        return row(*parts)

    def _number(self) -> Part:
        """A number with its decimals. An argument without braces is one digit, which is why each is a token."""
        number = _NUMBER.match(self._latex, self._position)
        assert number
        self._at += len(number[0])
        return Part("sign", number[0])

    def _scripted(self, base: Part | None) -> Part | None:
        """A base with the scripts and primes that follow it."""
        scripts: dict[str, Part] = {}
        primes, after = "", self._at
        while True:
            self._skip()
            text = self.next_token
            if text not in ("'", "’", "^", "_", r"\limits", r"\nolimits"):
                break
            if text in scripts:
                self.refuse(f"two {text!r} on one base")
            self._at += 1
            primes += "'" * (text in ("'", "’"))
            if text in ("^", "_"):
                self._skip()
                scripts[text] = self._atom() or row()
            after = self._at
        self._at = after  # a space after the last script belongs to the row
        parts = (base, scripts.get("_"), scripts.get("^"))
        return Part("scripts", primes, parts) if scripts or primes else base

    def _atom(self) -> Part | None:
        """One part without its scripts; None for a command that prints nothing, and before a script without a base."""
        text = self._next()
        if text[0] == "\\" and text != "\\":
            if text[1:] not in _MEANINGS:
                self._back(f"{text} is not known")
            return _MEANINGS[text[1:]](self, text[1:])
        if text == "{":
            group = self.row()
            self._close("}")
            return group
        if text in ("^", "_", "'"):
            self._at -= 1
            return None
        if text in set('&#$%@\\"`') or not text.isprintable():
            self._back(f"{text!r} {'has no meaning here' if text.isprintable() else 'cannot be printed'}")
        return Part("space", " ") if text == "~" else Part("sign", text)

    def _close(self, bracket: str) -> None:
        if self.next_token != bracket:
            self.refuse(f"End of input, expecting {bracket!r}")
        self._at += 1

    def _back(self, reason: str) -> NoReturn:
        """Refuse the token before."""
        self._at -= 1
        self.refuse(reason)

    def argument(self, name: str, begin: int | None = None) -> Part:
        """The argument of a command, which is the token before or begins at another: a group, or one sign."""
        command = self._tokens[self._at - 1 if begin is None else begin][0]
        self._skip()
        text = self.next_token
        if text in ("", "}", "^", "_", "'", "&"):
            refuse(self._latex, command, f"{'' if text else 'End of input: '}\\{name} lacks an argument")
        if text[1:] in symbols.ARGUMENTS:
            self.refuse(f"{text} with its argument must stand in braces here")
        atom = self._atom()
        return atom if atom and text == "{" else row(*filter(None, [atom]))

    def command(self, name: str) -> Part:
        """A command with one argument or two."""
        begin = self._at - 1
        arguments = [self.argument(name, begin) for _ in range(1 + (name in symbols.PAIRS))]
        return Part("command", {"stackrel": "overset"}.get(name, name), tuple(arguments))

    def words(self, name: str) -> str:
        """The argument of a command, which must be plain words, spaces kept."""
        self._skip()
        match = _WORDS.match(self._latex, self._position)
        if not match or not match[0].isprintable():
            self.refuse(f"the argument of \\{name} is not plain words")
        while self._position < match.end():
            self._at += 1
        return re.sub(r"\\[ ,]|~", " ", match[1] or match[2] or "")

    def upright(self, name: str) -> Part:
        """Plain words, or a formula in upright letters."""
        before = self._at
        try:
            return Part("upright", self.words(name))
        except UnreadableError:
            self._at = before
            return self.command(name)

    def label(self, name: str) -> None:
        """A label is not printed."""
        self.words(name)

    def operator(self, name: str) -> Part:
        r"""`\operatorname{rank}`, or with a star for an operator with limits."""
        self._skip()
        star = self.next_token == "*"
        self._at += star
        return Part("limits" if star else "operator", self.words(name))

    def root(self, name: str) -> Part:
        r"""`\sqrt{x}` or `\sqrt[index]{x}`."""
        self._skip()
        if self.next_token != "[":
            return self.command(name)
        self._at += 1
        index = self.row("]")
        self._close("]")
        return Part("command", "root", (index, self.argument(name)))

    def modulo(self, name: str) -> Part:
        r"""`\pmod{m}` is the word in brackets."""
        fences = Part("fence", "("), Part("fence", ")")
        within = row(Part("operator", "mod"), Part("space", " "), self.argument(name))
        return row(Part("space", " "), Part("fenced", "", (fences[0], within, fences[1])))

    def switched(self, name: str) -> Part:
        r"""The rest of a group after `\rm` and its kin; letters alone are words."""
        command, rest = symbols.SWITCHES[name], self.row()
        letters = "".join(part.name for part in rest.parts if part and part.kind == "sign")
        alone = all(part and part.kind in ("sign", "space") for part in rest.parts)
        words = command == "mathrm" and alone and letters.isalpha() and letters.isascii()
        return Part("upright", letters) if words else Part("command", command, (rest,))

    def negated(self, name: str) -> Part:
        r"""`\not` before a relation."""
        text = self._next()
        sign = symbols.CHARACTERS.get(text[1:], text) if text[0] == "\\" else text
        if sign not in symbols.NEGATED:
            self._back(f"\\not before {text!r} is not known")
        return Part("sign", symbols.NEGATED[sign])

    def fenced(self, name: str) -> Part:
        r"""`\left( ... \right)`, with `.` for an absent side and `\middle|` inside."""
        parts = [self.fence()]
        closing = ""
        while closing != r"\right":
            parts.append(self.row(r"\right", r"\middle"))
            if self.next_token in ("", "}"):
                self.refuse(r"'\right' is missing")
            closing = self._next()
            parts.append(self.fence())
        return Part("fenced", "", tuple(parts))

    def fence(self) -> Part:
        """A bracket, or a dot for an absent one."""
        text = self._next()
        known = symbols.FENCES.get(text[1:]) if text[0] == "\\" else _BRACKETS.get(text)
        if known is None:
            self._back(f"{text!r} is not a bracket")
        return Part("fence", known)

    def grid(self, name: str) -> Part:
        """The lines of an environment."""
        begin, kind = self._tokens[self._at - 1][0], self.words(name)
        if kind not in (*symbols.STACKS, *symbols.MATRICES, "cases"):
            refuse(self._latex, begin, f"the environment {kind!r} is not known")
        if kind == "array":
            self.words(name)  # the alignment of its columns
        lines, cells, closing = list[Part](), list[Part](), ""
        while closing != r"\end":
            cells.append(self.row("&", r"\\", r"\end"))
            closing = self._next()
            empty = closing == r"\end" and len(cells) == 1 and all(part == SPACE for part in cells[0].parts)
            if closing != "&" and not empty:
                lines.append(row(*cells))
                cells = []
        if self.words("end") != kind:
            self.refuse(f"the environment {kind!r} is not ended")
        return Part("grid", kind, tuple(lines))


_BRACKETS = {text: text for text in "()[]|/"} | {"<": "⟨", ">": "⟩", ".": ""}
Meaning = Callable[[_Reader, str], Part | None]
_KINDS: tuple[tuple[Collection[str], Meaning], ...] = (
    (symbols.SILENT, lambda _, name: None),
    (symbols.SPACES, lambda _, name: Part("space", name)),
    (symbols.OPERATORS, lambda _, name: Part("function", name)),
    (symbols.NAMED, lambda _, name: Part("operator", symbols.NAMED[name])),
    (symbols.BELOW, lambda _, name: Part("limits", symbols.BELOW[name])),
    (symbols.CHARACTERS, lambda _, name: Part("sign", symbols.CHARACTERS[name]) if symbols.CHARACTERS[name] else None),
    (symbols.SIZES, lambda reader, name: Part("sized", name, (reader.fence(),))),
    (symbols.UPRIGHT, lambda reader, name: Part("text", reader.words(name))),
    (symbols.SWITCHES, _Reader.switched),
    ({*symbols.DECORATIONS, *symbols.PAIRS}, _Reader.command),
    (["xrightarrow"], lambda reader, name: Part("command", "overset", (reader.argument(name), row(Part("sign", "→"))))),
    (["bmod"], lambda *_: row(Part("space", " "), Part("operator", "mod"), Part("space", " "))),
    (["label"], _Reader.label),
    (["mathrm"], _Reader.upright),
    (["substack"], _Reader.argument),
    (["pmod"], _Reader.modulo),
    (["operatorname"], _Reader.operator),
    (["sqrt"], _Reader.root),
    (["not"], _Reader.negated),
    (["left"], _Reader.fenced),
    (["begin"], _Reader.grid),
)
_MEANINGS: dict[str, Meaning] = {name: meaning for names, meaning in _KINDS for name in names}
"""What each command is; a later entry replaces an earlier one."""
