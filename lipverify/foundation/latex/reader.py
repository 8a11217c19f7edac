r"""The reader of LaTeX formulas: pylatexenc finds commands, groups and arguments, and this module builds a tree.

The tree has few kinds of parts, and each writer (`typst`, `plain`, `source`) defines how it writes each of them.
Nothing is guessed: a command outside of the tables in `symbols` is refused with its position in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, NoReturn, cast

import msgspec

from lipverify.foundation.latex import symbols

FORMULA = re.compile(r"(?<!\\)\$(.+?)(?<!\\)\$", re.DOTALL)
"""A formula within a text, between dollar signs."""
_REMEMBERED = 1 << 13
"""Number of formulas in the cache: a report has some thousands, most of them repeated."""
_DEEPEST = 30
"""The deepest nesting of groups and arguments; the Typst compiler follows about twice this depth."""
_NEAR = 12
"""Characters on either side of a fault that a message shows."""
_TOKEN = re.compile(r"\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_ORDERS = frozenset("OΩΘω")


class UnreadableError(ValueError):
    """A formula with an unreadable part; the message says which part, and where it is."""


class Sign(msgspec.Struct, frozen=True):
    """A letter, a number, or one other character."""

    text: str


class Space(msgspec.Struct, frozen=True):
    """A space by the name of its command; by no name it is one that LaTeX does not print."""

    command: str


class Words(msgspec.Struct, frozen=True):
    r"""Words set upright, with the command that does so: `\text{for every}`, `\mathrm{low}`."""

    text: str
    command: str


class Named(msgspec.Struct, frozen=True):
    r"""An operator by its name: `log` of the command `log`, or any words of `operatorname` or `operatorname*`."""

    text: str
    command: str


class Row(msgspec.Struct, frozen=True):
    """Parts in a row: a formula, or the content of braces."""

    parts: tuple[Node, ...]


class Scripts(msgspec.Struct, frozen=True):
    """A base, which may be absent, with a subscript, primes and a superscript."""

    base: Node | None
    below: Node | None
    primes: int
    above: Node | None


class Fraction(msgspec.Struct, frozen=True):
    """A fraction or a binomial coefficient, by its command."""

    command: str
    over: Node
    under: Node


class Root(msgspec.Struct, frozen=True):
    """A root; the square root has no index."""

    inside: Node
    index: Node | None


class Styled(msgspec.Struct, frozen=True):
    r"""A part in another alphabet, or with a sign above or below it: `\mathbf{M}`, `\hat{w}`."""

    command: str
    inside: Node


class Fenced(msgspec.Struct, frozen=True):
    r"""Parts between brackets that grow with them; `fences` has one more, an absent one is empty."""

    fences: tuple[str, ...]
    parts: tuple[Row, ...]


class Sized(msgspec.Struct, frozen=True):
    r"""A bracket of the size that its command gives: `\bigl(`."""

    command: str
    fence: str


class Stacked(msgspec.Struct, frozen=True):
    """A base with something small above or below it."""

    base: Node
    above: Node | None
    below: Node | None


class Grid(msgspec.Struct, frozen=True):
    """The rows of an environment, cell by cell."""

    name: str
    rows: tuple[tuple[Row, ...], ...]


Node = Sign | Space | Words | Named | Row | Scripts | Fraction | Root | Styled | Fenced | Sized | Stacked | Grid


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
def read(latex: str) -> Row:
    r"""The tree of a formula, given without dollar signs.

    Raises
    ------
    UnreadableError
        If it contains an unknown part or is incomplete, with the position.

    >>> read("x^2").parts
    (Scripts(base=Sign(text='x'), below=None, primes=0, above=Sign(text='2')),)
    >>> read(r"a + \foo b")
    Traceback (most recent call last):
        ...
    lipverify.foundation.latex.reader.UnreadableError: \foo is not known: character 5 of the formula, at '\foo b'
    """
    parts = _Group(latex, _nodes(latex), 0, len(latex)).all()
    if all(isinstance(part, Space) for part in parts):
        refuse(latex, 0, "an empty formula")
    return Row(parts)


def outside_words(latex: str) -> list[tuple[bool, str]]:
    r"""The pieces of a statement: words (True) in `\text{...}` outside of braces that contain a space, and formulas.

    Raises
    ------
    UnreadableError
        If braces or arguments are not complete.

    >>> outside_words(r"a \leq b \text{ for every } c_{\text{of it}}")
    [(False, 'a \\leq b '), (True, ' for every '), (False, ' c_{\\text{of it}}')]
    """
    parts: list[tuple[bool, str]] = []
    start = 0
    for node in _nodes(latex):
        words = latex[node.pos + len(r"\text{") : node.pos + node.len - 1]
        if getattr(node, "macroname", "") == "text" and re.search(r"\s\S", words) and not set(words) & set("{}$\\"):
            parts += [(False, latex[start : node.pos]), (True, words)]
            start = node.pos + node.len
    return [*parts, (False, latex[start:])]


@lru_cache(_REMEMBERED)
def _nodes(latex: str) -> Sequence[Any]:
    """The nodes that pylatexenc finds: text, commands with their arguments, groups, environments."""
    from pylatexenc.latexwalker import LatexWalker, LatexWalkerError

    walker = LatexWalker(latex, latex_context=_vocabulary(), tolerant_parsing=False)
    try:
        nodes, *_ = walker.get_latex_nodes(parsing_state=walker.make_parsing_state(in_math_mode=True))
    except LatexWalkerError as error:
        refuse(latex, getattr(error, "pos", None) or 0, str(getattr(error, "msg", "it breaks off")).rstrip(".!"))
    except RecursionError:
        refuse(latex, 0, "it is nested too deeply")
    return nodes


def inside(node: Node) -> Iterator[Node]:
    """The parts of a part."""
    values: list[Any] = list(msgspec.structs.astuple(node))
    while values:
        value = values.pop(0)
        if isinstance(value, tuple):
            values = [*value, *values]
        elif isinstance(value, msgspec.Struct):
            yield cast(Node, value)


def refuse(latex: str, position: int, reason: str) -> NoReturn:
    """Raise the error of a formula with a fault at this position."""
    near = latex[position : position + _NEAR]
    where = f"at {near!r}" if near else f"after {latex[-_NEAR:]!r}"
    raise UnreadableError(f"{reason}: character {position + 1} of the formula, {where}".replace("\\\\", "\\"))


@cache
def _vocabulary() -> Any:
    """The context for pylatexenc: the number of arguments of each command."""
    from pylatexenc.macrospec import EnvironmentSpec, LatexContextDb, MacroSpec

    known = LatexContextDb()
    known.add_context_category(
        "formulas",
        macros=[MacroSpec(name, arguments) for name, arguments in symbols.ARGUMENTS.items()],
        environments=[EnvironmentSpec("array", "{")],
    )
    known.set_unknown_macro_spec(MacroSpec(""))
    known.set_unknown_environment_spec(EnvironmentSpec(""))
    return known


class _Item(NamedTuple):
    """One character, number, command or group, and its position."""

    position: int
    text: str
    """A command with its backslash; empty for a group."""
    node: Any = None


class _Group:
    """The content of one group, read from left to right."""

    def __init__(self, latex: str, nodes: Sequence[Any], depth: int, end: int) -> None:
        self._latex, self._depth, self._end = latex, depth, end
        self._items = list(self._items_of(nodes))
        self._at = 0
        if depth > _DEEPEST:
            self._refuse("it is nested too deeply")

    def _items_of(self, nodes: Sequence[Any]) -> Iterator[_Item]:
        for node in filter(None, nodes):
            kind = type(node).__name__
            if kind == "LatexCharsNode":
                yield from (_Item(node.pos + token.start(), token[0]) for token in _TOKEN.finditer(node.chars))
            elif kind == "LatexMacroNode":
                yield _Item(node.pos, f"\\{node.macroname}", node)
                if node.macro_post_space and node.macroname not in symbols.ARGUMENTS:
                    yield _Item(node.pos, " ")
            elif kind in ("LatexGroupNode", "LatexEnvironmentNode"):
                yield _Item(node.pos, "", node)
            else:
                refuse(self._latex, node.pos, f"{self._latex[node.pos]!r} has no meaning here")

    def _refuse(self, reason: str) -> NoReturn:
        """True at the given item, or at the end of the group."""
        refuse(self._latex, self._items[self._at].position if self._at < len(self._items) else self._end, reason)

    def _peek(self) -> str | None:
        """The text of the next item, or None at the end."""
        return self._items[self._at].text if self._at < len(self._items) else None

    def _skip(self) -> None:
        """Skip the spaces that LaTeX does not print."""
        while (text := self._peek()) is not None and text.isspace():
            self._at += 1

    def _next(self) -> _Item:
        self._skip()
        if self._at == len(self._items):
            self._refuse("the formula breaks off")
        self._at += 1
        return self._items[self._at - 1]

    def all(self) -> tuple[Node, ...]:
        """The parts up to the end of the group."""
        return self.until(())

    def until(self, stop: Sequence[str]) -> tuple[Node, ...]:
        """The parts up to one of these signs, which is not consumed; up to the end of the group if there is none."""
        parts: list[Node] = []
        while (text := self._peek()) is not None and text not in stop:
            if text.isspace():
                self._at += 1
                parts.append(Space(""))
                continue
            part = self._scripted(self._atom())
            if isinstance(part, Fenced) and parts and _is_order(parts[-1]):
                part = _without_first_power(part)
            if part is not None:
                parts.append(part)
        return tuple(parts)

    def _scripted(self, base: Node | None) -> Node | None:
        """A base with the scripts and primes that follow it."""
        scripts: dict[str, Node] = {}
        primes, after = 0, self._at
        while True:
            self._skip()
            text = self._peek()
            if text in ("'", "’"):
                self._at, primes = self._at + 1, primes + 1
            elif text in ("\\limits", "\\nolimits"):
                self._at += 1
            elif text in ("^", "_"):
                if text in scripts:
                    self._refuse(f"two {text!r} on one base")
                self._at += 1
                scripts[text] = self._script()
            else:
                break
            after = self._at
        self._at = after  # a space after the last script belongs to the row
        return Scripts(base, scripts.get("_"), primes, scripts.get("^")) if scripts or primes else base

    def _script(self) -> Node:
        """The argument of `^` or `_`: a group or one sign; of a number, its first digit."""
        self._skip()
        text = self._peek() or ""
        if len(text) > 1 and text[0].isdigit():
            position, rest = self._items[self._at].position, text[1:]
            self._items[self._at : self._at + 1] = [
                _Item(position, text[0]),
                *(_Item(position + 1 + token.start(), token[0]) for token in _TOKEN.finditer(rest)),
            ]
        return self._atom() or Row(())

    def _atom(self) -> Node | None:
        """One part without its scripts; None for a command that prints nothing."""
        position, text, node = self._next()
        if text.startswith("\\"):
            return self._command(text[1:], position, node)
        if node is not None:
            return self._grid(node) if type(node).__name__ == "LatexEnvironmentNode" else self._row(node)
        if text in ("^", "_", "'"):
            self._at -= 1
            return None
        if text == "~":
            return Space(" ")
        if text in set('}&#$%@\\"`') or not text.isprintable():
            self._at -= 1
            self._refuse(f"{text!r} has no meaning here" if text.isprintable() else f"{text!r} cannot be printed")
        return Sign(text)

    def _row(self, node: Any) -> Row:
        """The content of a group or of an argument without braces."""
        braced = type(node).__name__ == "LatexGroupNode"
        end = node.pos + node.len - braced
        return Row(_Group(self._latex, node.nodelist if braced else [node], self._depth + 1, end).all())

    def _command(self, name: str, position: int, node: Any) -> Node | None:
        if name in symbols.ARGUMENTS and node.nodeargd is None:
            refuse(self._latex, position, f"\\{name} with its argument must stand in braces here")
        arguments = list(node.nodeargd.argnlist) if node.nodeargd else []
        if name in symbols.SILENT or name == "label":
            return None
        if name in symbols.SPACES:
            return Space(name)
        if name in symbols.OPERATORS:
            return Named(name, name)
        if name in symbols.NAMED:
            return Named(symbols.NAMED[name], "operatorname")
        if name in symbols.BELOW:
            return Named(symbols.BELOW[name], "operatorname*")
        if name in symbols.CHARACTERS:
            return Sign(symbols.CHARACTERS[name]) if symbols.CHARACTERS[name] else None
        if name in symbols.SWITCHES:
            return self._switched(symbols.SWITCHES[name])
        if name in symbols.UPRIGHT:
            return self._words(name, arguments[0])
        if name in symbols.DECORATIONS or name == "mathbf":
            return Styled(name, self._row(arguments[0]))
        if name in symbols.FRACTIONS or name in symbols.BINOMIALS:
            return Fraction(name, self._row(arguments[0]), self._row(arguments[1]))
        if name in symbols.STACKED:
            small, base = map(self._row, arguments)
            return Stacked(
                base, **{side: small if side == symbols.STACKED[name] else None for side in ("above", "below")}
            )
        if name in symbols.SIZES:
            return Sized(name, self._fence())
        readers: dict[str, Callable[[], Node]] = {
            "sqrt": lambda: Root(self._row(arguments[1]), None if arguments[0] is None else self._row(arguments[0])),
            "left": self._fenced,
            "operatorname": lambda: Named(self._plain(arguments[1]), "operatorname*" if arguments[0] else name),
            "xrightarrow": lambda: Stacked(Sign("→"), self._row(arguments[0]), None),
            "substack": lambda: self._row(arguments[0]),
            "bmod": lambda: Row((Space(" "), _MOD, Space(" "))),
            "pmod": lambda: Row((Space(" "), Fenced(("(", ")"), (Row((_MOD, Space(" "), self._row(arguments[0]))),)))),
            "not": self._negated,
        }
        if name not in readers:
            refuse(self._latex, position, f"\\{name} is not known")
        return readers[name]()

    def _switched(self, command: str) -> Node:
        r"""The rest of a group after `\rm` and its kin; letters alone are words."""
        rest = self.all()
        letters = "".join(part.text for part in rest if isinstance(part, Sign))
        alone = all(isinstance(part, Sign | Space) for part in rest) and letters.isalpha() and letters.isascii()
        return Words(letters, command) if command == "mathrm" and alone else Styled(command, Row(rest))

    def _words(self, command: str, argument: Any) -> Node:
        r"""The argument of `\text` and its kin; one of `\mathrm` may be a formula."""
        try:
            return Words(self._plain(argument), command)
        except UnreadableError:
            if command != "mathrm":
                raise
        return Styled(command, self._row(argument))

    def _plain(self, argument: Any) -> str:
        """The words of an argument, spaces kept."""
        words = self._latex[argument.pos : argument.pos + argument.len]
        words = words[1:-1] if type(argument).__name__ == "LatexGroupNode" else words
        words = words.replace(r"\ ", " ").replace(r"\,", " ").replace("~", " ")
        if set(words) & set("\\{}$#%&") or not words.isprintable():
            refuse(self._latex, argument.pos, f"{words!r} is not plain words")
        return words

    def _negated(self) -> Node:
        part = self._atom()
        if not isinstance(part, Sign) or part.text not in symbols.NEGATED:
            self._at -= 1
            self._refuse(f"\\not before {self._peek()!r} is not known")
        return Sign(symbols.NEGATED[part.text])

    def _fenced(self) -> Node:
        r"""`\left( ... \right)`, with `.` for an absent side and `\middle|` inside."""
        fences = [self._fence()]
        parts: list[Row] = []
        while len(fences) == len(parts) + 1:
            parts.append(Row(self.until(("\\right", "\\middle"))))
            if self._peek() is None:
                self._refuse("'\\right' is missing")
            closing = self._next().text == "\\right"
            fences.append(self._fence())
            if closing:
                return Fenced(tuple(fences), tuple(parts))
        raise AssertionError("a bracket follows every part")

    def _fence(self) -> str:
        """A bracket; empty for an absent one."""
        text = self._next().text
        if text == ".":
            return ""
        if text.startswith("\\") and text[1:] in symbols.FENCES:
            return symbols.FENCES[text[1:]]
        if text in tuple("()[]|/<>"):
            return {"<": "⟨", ">": "⟩"}.get(text, text)
        self._at -= 1
        self._refuse(f"{text or '{'!r} is not a bracket")

    def _grid(self, node: Any) -> Node:
        """The rows of an environment."""
        name = node.environmentname
        if name not in (*symbols.STACKS, *symbols.MATRICES, "cases"):
            refuse(self._latex, node.pos, f"the environment {name!r} is not known")
        group = _Group(self._latex, node.nodelist, self._depth + 1, node.pos + node.len)
        rows: list[tuple[Row, ...]] = []
        row: list[Row] = []
        while True:
            row.append(Row(group.until(("&", "\\\\"))))
            if group._peek() is None:
                break
            if group._next().text == "\\\\":
                rows.append(tuple(row))
                row = []
        empty = len(row) == 1 and all(isinstance(part, Space) for part in row[0].parts)
        return Grid(name, tuple(rows if empty else [*rows, tuple(row)]))


_MOD = Named("mod", "operatorname")


def _is_order(part: Node) -> bool:
    r"""True if a part is a sign of an order of growth, such as Ω or `\mathcal{O}`."""
    inside = part.inside if isinstance(part, Styled) and part.command == "mathcal" else part
    inside = inside.parts[0] if isinstance(inside, Row) and len(inside.parts) == 1 else inside
    return isinstance(inside, Sign) and inside.text in _ORDERS


def _without_first_power(fenced: Fenced) -> Fenced:
    r"""An order of growth without a first power at its start, as a claim of exponents writes it.

    >>> read(r"\Omega\left(n^{1}\right)") == read(r"\Omega\left(n\right)")
    True
    """
    first, *rest = fenced.parts[0].parts or (None,)
    if (
        isinstance(first, Scripts)
        and first.base
        and first.above == Row((Sign("1"),))
        and not (first.below or first.primes)
    ):
        return Fenced(fenced.fences, (Row((first.base, *rest)), *fenced.parts[1:]))
    return fenced
