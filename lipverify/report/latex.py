r"""LaTeX mathematics to Typst mathematics, for the part of LaTeX that statements are written in.

What is emitted is built from a fixed vocabulary: a character of the source reaches the output only
as a letter, a digit, an escape `\u{...}` or inside a quoted string, so no formula can carry Typst
code. What is not understood is refused, never guessed: the report then shows the source as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lipverify.report.symbols import DECORATIONS, FENCES, NEGATED, SIZES, SWITCHES, UPRIGHT
from lipverify.report.vocabulary import (
    UnreadableError,
    bracketed,
    character,
    escaped,
    fence,
    joined,
    multiplies,
    operator,
    quoted,
    simple,
    slashed,
    table,
)

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_RUN_ON = re.compile(r"[^\W_]{40}")
_DEEPEST = 30
_FRACTIONS = ("\\frac", "\\tfrac", "\\dfrac", "\\cfrac", "\\nicefrac", "\\sfrac")
_FIRST_POWER = re.compile(r"((?:\\Omega|\\Theta|\\omega|\\mathcal\{O\}|\bo)\\left\(\\?[A-Za-z]+)\^\{1\}")
"""A first power as a claim of exponents writes it; elsewhere a raised 1 may be an index."""


def tidy(formula: str) -> str:
    r"""A formula without the first powers of an order of growth.

    >>> print(tidy(r"B = \Omega\left(n^{1}\right)"), tidy("w^{1}"))
    B = \Omega\left(n\right) w^{1}
    """
    return _FIRST_POWER.sub(r"\1", formula)


def typst_math(formula: str) -> str:
    r"""The Typst source of a LaTeX formula given without its dollar signs.

    Raises `UnreadableError`, with the offending part, on anything outside the vocabulary.

    >>> typst_math(r"\frac{a}{b}")
    'frac(a, b)'
    >>> typst_math(r"w^{1/d} #x")
    Traceback (most recent call last):
        ...
    lipverify.report.vocabulary.UnreadableError: '#' has no meaning here
    """
    if _RUN_ON.search(formula):
        raise UnreadableError("a word that no line can hold")
    source = _Parser(_TOKEN.findall(tidy(formula))).sequence(stop=())
    if not source.strip():
        raise UnreadableError("an empty formula")
    return source


class _Parser:
    """One pass from left to right; every method returns Typst source."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._script = 0
        """How many scripts deep the parser is; in a script a fraction is set on one line, with a slash."""

    def sequence(self, stop: tuple[str, ...]) -> str:
        """Everything up to one of the tokens in `stop`, which is left unread."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableError("nested too deeply")
        parts: list[str] = []
        slashes: list[int] = []
        while (token := self._peek()) is not None and token not in stop:
            divided = self._script and token in _FRACTIONS
            parts.append(self._scripts(self._atom()))
            if divided:
                slashes.append(len(parts) - 1)
        if stop and token is None:
            raise UnreadableError(f"{stop[0]!r} is missing")
        self._depth -= 1
        for place in slashes:
            if any(multiplies(part) for part in (*parts[max(place - 1, 0) : place], *parts[place + 1 : place + 2])):
                parts[place] = bracketed(parts[place])
        return joined(parts)

    def _peek(self) -> str | None:
        while self._at < len(self._tokens) and self._tokens[self._at].isspace():
            self._at += 1
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> str:
        token = self._peek()
        if token is None:
            raise UnreadableError("the formula breaks off")
        self._at += 1
        return token

    def _expect(self, token: str) -> None:
        if self._next() != token:
            raise UnreadableError(f"{token!r} is missing")

    def _scripts(self, base: str) -> str:
        """`base` with the sub- and superscripts and primes that follow it."""
        below, above, primes = "", "", ""
        while (token := self._peek()) in {"^", "_", "'", "’", "\\limits", "\\nolimits"}:
            self._next()
            if token == "^" and not above:
                above = self._script_of()
            elif token == "_" and not below:
                below = self._script_of()
            elif token in {"'", "’"}:
                primes += escaped("′") + " "
            elif token in {"^", "_"}:
                raise UnreadableError(f"two {token!r} on one base")
        top = f"{primes}{above}".strip()
        scripts = [f", {side}: {part}" for side, part in (("t", top), ("b", below)) if part]
        return f"attach({base or quoted('')}{''.join(scripts)})" if scripts else base

    def _script_of(self) -> str:
        """The argument of `^` or `_`."""
        self._script += 1
        source = self._argument()
        self._script -= 1
        return source

    def _argument(self) -> str:
        """One braced group or one token, as LaTeX takes an argument; never empty."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableError("nested too deeply")
        token = self._peek() or ""
        if len(token) > 1 and token[0].isdigit():
            self._tokens[self._at : self._at + 1] = [token[0], *_TOKEN.findall(token[1:])]
        source = self._atom() or quoted("")
        self._depth -= 1
        return source

    def _atom(self) -> str:
        token = self._next()
        if token.startswith("\\") and len(token) > 1:
            return self._command(token[1:])
        if token == "{":
            inside = self.sequence(stop=("}",))
            self._expect("}")
            return inside
        if token in {"^", "_", "'"}:
            self._at -= 1
            return quoted("")
        if token in set('}&#$%@\\"`'):
            raise UnreadableError(f"{token!r} has no meaning here")
        if token == "~":
            return "space"
        return character(token)

    def _command(self, name: str) -> str:
        readers: dict[str, Callable[[], str]] = {
            "frac": self._fraction,
            "tfrac": self._fraction,
            "dfrac": self._fraction,
            "cfrac": self._fraction,
            "nicefrac": self._fraction,
            "sfrac": self._fraction,
            "binom": self._binomial,
            "dbinom": self._binomial,
            "tbinom": self._binomial,
            "sqrt": self._root,
            "left": self._fenced,
            "begin": self._environment,
            "mathbf": lambda: f"upright(bold({self._argument()}))",
            "operatorname": lambda: operator(self._words()),
            "operatorname*": lambda: f"limits({operator(self._words())})",
            "overset": self._stacked,
            "stackrel": self._stacked,
            "underset": self._stacked_below,
            "xrightarrow": lambda: f"attach(limits({escaped('→')}), t: {self._argument()})",
            "substack": self._argument,
            "pmod": lambda: f"space {bracketed(joined([operator('mod'), 'space', self._argument()]))}",
            "bmod": lambda: f"space {operator('mod')} space",
            "not": self._negated,
            "\\": lambda: "\\ ",
        }
        if name in SWITCHES:
            return self._switched(SWITCHES[name])
        if name in readers:
            return readers[name]()
        if name in SIZES:
            return f"lr({self._fence()}, size: #{SIZES[name]}em)"
        if name in UPRIGHT:
            words = self._words()
            if name == "mathrm" and words.isalpha() and words.isascii():
                return f"upright({words})" if len(words) == 1 else operator(words)
            return quoted(words)
        if name in DECORATIONS:
            return f"{DECORATIONS[name]}({self._argument()})"
        return simple(name)

    def _binomial(self) -> str:
        return f"binom({self._argument()}, {self._argument()})"

    def _switched(self, style: str) -> str:
        r"""The rest of a group after `\rm` and its kin; adjacent letters stand close, as in a word."""
        rest = self.sequence(stop=("}",)) if "}" in self._tokens[self._at :] else self.sequence(stop=())
        letters = rest.replace(" ", "")
        if style == "upright" and len(letters) > 1 and letters.isalpha() and letters.isascii():
            return operator(letters)
        return f"{style}({rest})"

    def _negated(self) -> str:
        token = self._next()
        sign = NEGATED.get(token)
        if sign is None:
            raise UnreadableError(f"\\not before {token!r} is not known")
        return escaped(sign)

    def _fraction(self) -> str:
        over, under = self._argument(), self._argument()
        return slashed(over, under) if self._script else f"frac({over}, {under})"

    def _root(self) -> str:
        if self._peek() != "[":
            return f"sqrt({self._argument()})"
        self._next()
        index = self.sequence(stop=("]",))
        self._expect("]")
        return f"root({index or quoted('')}, {self._argument()})"

    def _stacked(self) -> str:
        above = self._argument()
        return f"attach(limits({self._argument()}), t: {above})"

    def _stacked_below(self) -> str:
        below = self._argument()
        return f"attach(limits({self._argument()}), b: {below})"

    def _fenced(self) -> str:
        r"""`\left( ... \right)`, with `.` for an absent side and `\middle|` inside."""
        parts = [self._fence(), self.sequence(stop=("\\right", "\\middle"))]
        while self._next() == "\\middle":
            parts += [f"mid({self._fence()})", self.sequence(stop=("\\right", "\\middle"))]
        parts.append(self._fence())
        return f"lr({' '.join(part for part in parts if part)})"

    def _fence(self) -> str:
        token = self._next()
        if token == ".":
            return ""
        name = token[1:]
        if token.startswith("\\") and name in FENCES:
            return fence(FENCES[name])
        if token in set("()[]|/<>"):
            return fence({"<": "⟨", ">": "⟩"}.get(token, token))
        raise UnreadableError(f"{token!r} is not a bracket")

    def _words(self) -> str:
        r"""The braced argument of `\text` and its kin, spaces kept."""
        self._expect("{")
        start, depth = self._at, 1
        while depth and self._at < len(self._tokens):
            depth += {"{": 1, "}": -1}.get(self._tokens[self._at], 0)
            self._at += 1
        words = "".join(self._tokens[start : self._at - 1])
        words = words.replace(r"\ ", " ").replace(r"\,", " ").replace("~", " ")
        if depth or set(words) & set("\\{}$#%&"):
            raise UnreadableError(f"{words!r} is not plain words")
        return words

    def _environment(self) -> str:
        name = self._words()
        if name == "array":
            self._words()
        rows: list[list[str]] = []
        row = [""]
        while (token := self._peek()) != "\\end":
            if token is None:
                raise UnreadableError(f"\\end{{{name}}} is missing")
            if token in {"&", "\\\\"}:
                self._next()
                if token == "&":
                    row.append("")
                else:
                    rows, row = [*rows, row], [""]
            else:
                row[-1] = self.sequence(stop=("&", "\\\\", "\\end"))
        self._next()
        if self._words() != name:
            raise UnreadableError(f"\\end{{{name}}} is missing")
        return table(name, [*rows, row] if row != [""] else rows)
