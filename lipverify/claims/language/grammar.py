r"""The grammar of formulas: how they are parsed, evaluated and printed.

The grammar is a subset of Python's. A formula is parsed to a tree and never run as code. It is printed as written, as
LaTeX with built fractions, as one-line LaTeX, or as plain text. Brackets are printed only where the tree needs them;
nothing is multiplied out, cancelled or reordered.

The parser is Python's and not SymPy's for two reasons. Importing SymPy takes longer than reading all claims. And a
formula must be printed as written: even unevaluated, SymPy reads d - 1 as d - 1*1 and 1e-3 as 0.001, and prints 1/3 +
1/6 as 1/6 + 1/3.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from fractions import Fraction
from functools import lru_cache
from numbers import Rational, Real
from typing import Any, ClassVar, NamedTuple, final

from lipverify.claims.ledger.symbols import GREEK, LETTERS, symbol

Number = Fraction | float
EXACT_BITS = 4096
"""Largest exact power, in bits: larger ones are computed as floats, so that a formula cannot exhaust memory."""
NEAR_ONE = Fraction(1, 8)
"""Within this distance of 1 the logarithm uses log1p of the exact distance, which rounding to a float would lose."""
ROUNDINGS = 16 * sys.float_info.epsilon
"""Relative tolerance within which floor and ceil take a float for a whole number."""


def value_of(tree: ast.AST, where: Mapping[str, Any]) -> Number:
    """Evaluate a tree at a point; raises ArithmeticError or ValueError where there is no value."""
    value: Number
    match tree:
        case ast.Constant(value=literal):
            return exact(literal)
        case ast.Name(id=name):
            return CONSTANTS[name] if name in CONSTANTS else exact(where[name])
        case ast.BinOp():
            value = OPERATORS[type(tree.op)](value_of(tree.left, where), value_of(tree.right, where))
        case ast.UnaryOp():
            value = OPERATORS[type(tree.op)](value_of(tree.operand, where))
        case ast.Call(func=ast.Name(id=name)):
            value = FUNCTIONS[name](*(value_of(argument, where) for argument in tree.args))
        case _:
            raise ValueError(f"{tree} has no value")
    if not math.isfinite(value):
        raise OverflowError(f"{value} on the way")
    return value


def exact(number: Any) -> Fraction:
    """Convert a number to a fraction. A float means its shortest decimal, so 0.1 becomes 1/10."""
    if not is_real(number):
        raise ValueError(f"{number!r} is not a number")
    return Fraction(number) if isinstance(number, Rational) else Fraction(repr(float(number)))


def is_real(number: Any) -> bool:
    """True if a value is a real number of any type; True and False are not counted as numbers."""
    return isinstance(number, Real) and not isinstance(number, bool)


def _root(x: Number) -> Number:
    if isinstance(x, Fraction) and x >= 0:
        root = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
        if root**2 == x:
            return root
    return math.sqrt(x)


def _log(x: Number) -> float:
    return math.log1p(x - 1) if isinstance(x, Fraction) and abs(x - 1) < NEAR_ONE else math.log(x)


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        bits = base.numerator.bit_length() + base.denominator.bit_length()
        if bits * abs(exponent) <= EXACT_BITS:
            return base**exponent.numerator
    if isinstance(base, Fraction) and abs(base - 1) < NEAR_ONE:
        return math.exp(exponent * _log(base))
    return math.pow(base, exponent)


def _whole(rounded: Callable[[Number], int]) -> Callable[[Number], Fraction]:
    """Floor or ceil with a tolerance: in floats log(1000)/log(10) is slightly below 3 and must count as 3."""

    def whole(x: Number) -> Fraction:
        near = isinstance(x, float) and abs(x - round(x)) <= ROUNDINGS * max(1.0, abs(x))
        return Fraction(round(x) if near else rounded(x))

    return whole


FUNCTIONS: dict[str, Callable[..., Number]] = {
    "sqrt": _root,
    "log": _log,
    "exp": math.exp,
    "min": min,
    "max": max,
    "gamma": math.gamma,
    "abs": abs,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
}
CONSTANTS = {"pi": math.pi, "e": math.e}
"""Names that a formula knows without a problem."""
OPERATORS: dict[type[ast.AST], Callable[..., Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
LONGEST = 2000
"""Longest formula, in characters; a longer one is refused before it is parsed."""
LONGEST_WORD = 30
"""Longest name or number, in characters: the report cannot break a line inside one."""
LONGEST_CHAIN = 100
"""Most comparisons, sums or products in one chain, because Python's parser and SymPy call themselves for each."""
DEEPEST = 12
"""Deepest nesting of brackets, powers and fractions; the report can typeset this depth."""
_LETTER = f"A-Za-z{''.join(LETTERS).replace('π', '')}"  # the number is written pi
SYMBOL = re.compile(rf"[{_LETTER}][{_LETTER}0-9]*(_[{_LETTER}0-9]+)*_?")
LITERAL = re.compile(r"\d*\.?\d*([eE][+-]?\d+)?")
REMEMBERED = 8192
"""Size of the cache of parsed formulas: a run has some thousands of formulas and evaluates each at many points."""


class Unreadable(Exception):
    """The reason why a text is not a formula."""


@lru_cache(maxsize=REMEMBERED)
def tree_of(text: str) -> ast.expr:
    """Parse a formula.

    Raises
    ------
    Unreadable
        If the text is not a formula; the message shows the part at fault and how to write it.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"it has {len(text)} characters, and a formula {LONGEST} at most")
    if "^" in text:
        raise Unreadable("a power is written **")
    if "#" in text or not text:
        raise Unreadable("a comment is no part of it" if text else "it is empty")
    if re.search(r"\blambda\b", text):
        raise Unreadable("lambda is a word of Python: write lamda or λ")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unreadable("it cannot be read; a product is written *, as in 2*d") from None
    _check(tree, text, 0, 0)
    return tree


@lru_cache(maxsize=REMEMBERED)
def names_of(text: str) -> tuple[str, ...]:
    """Every symbol and constant of a formula, once each, in reading order; raises as `tree_of`."""
    return tuple(dict.fromkeys(name.id for name in _names_in(tree_of(text))))


def _names_in(tree: ast.AST) -> Iterator[ast.Name]:
    """Every symbol and constant of a tree, without the names of functions."""
    if isinstance(tree, ast.Name):
        yield tree
    for child in tree.args if isinstance(tree, ast.Call) else ast.iter_child_nodes(tree):
        yield from _names_in(child)


def source(text: str, tree: ast.expr) -> str:
    """The part of the text that a tree was parsed from."""
    return text.encode()[tree.col_offset : tree.end_col_offset].decode()


def literal_parts(literal: str) -> tuple[str, str]:
    """The digits of a number, with or without a decimal point, and the exponent of ten.

    >>> literal_parts(".5e-3")
    ('0.5', '-3')
    """
    digits, _, exponent = literal.lower().partition("e")
    whole, _, behind = digits.partition(".")
    return f"{whole or 0}.{behind}" if behind else whole, exponent


def _check(tree: ast.AST, text: str, depth: int, chain: int) -> None:
    """Refuse syntax that formulas do not have. A chain such as `a + b + c` counts as one level of nesting."""
    if chain > LONGEST_CHAIN or depth > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} deep, or chains more than {LONGEST_CHAIN} terms")
    match tree:
        case ast.Constant(value=(int() | float()) as number) if not isinstance(number, bool):
            literal = source(text, tree)
            if not LITERAL.fullmatch(literal) or len(literal) > LONGEST_WORD or not math.isfinite(number):
                raise Unreadable(f"{literal[:LONGEST_WORD]} is not a decimal number, or is too long or too large")
        case ast.Name(id=name):
            if not SYMBOL.fullmatch(name) or len(name) > LONGEST_WORD:
                raise Unreadable(f"{name} is no name of a symbol: letters, digits and single _ between")
            if name in FUNCTIONS and name != "gamma":
                raise Unreadable(f"{name} is a function: write {name}(...)")
        case ast.BinOp() if type(tree.op) in OPERATORS:
            chained = not isinstance(tree.op, ast.Pow)
            _check(tree.left, text, depth if chained else depth + 1, chain + 1)
            _check(tree.right, text, depth + 1, chain)
        case ast.UnaryOp() if type(tree.op) in OPERATORS:
            _check(tree.operand, text, depth + 1, chain)
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
            several = name in ("min", "max")
            if (len(tree.args) < 2) if several else (len(tree.args) != 1):
                raise Unreadable(f"{name} takes {'two arguments or more' if several else 'one argument'}")
            for argument in tree.args:
                _check(argument, text, depth + 1, chain)
        case ast.Call(func=ast.Name(id=name)):
            raise Unreadable(f"{name}(...) is none of {', '.join(FUNCTIONS)}; a product is written *")
        case _:
            part = source(text, tree) if isinstance(tree, ast.expr) else type(tree).__name__
            raise Unreadable(f"{part[:LONGEST_WORD]!r} has no place in it")


ANYTHING, SUM, PRODUCT, POWER, ATOM = range(5)
"""Binding strength of a part in Python's notation, from weakest to strongest."""
_HELD: dict[type[ast.AST], int] = {ast.Add: SUM, ast.Sub: SUM, ast.Mult: PRODUCT, ast.Div: PRODUCT, ast.Pow: POWER}


@lru_cache(maxsize=REMEMBERED)
def substituted(text: str, meanings: tuple[tuple[str, str], ...]) -> str:
    """Substitute text for symbols, with brackets where the tree would change without them.

    >>> substituted("1/D + D", (("D", "d - 1"),))
    '1/(d - 1) + (d - 1)'
    """
    meaning = dict(meanings)
    written = text.encode()
    for name, needed in sorted(_places(tree_of(text)), key=lambda position: position[0].col_offset, reverse=True):
        if name.id in meaning:
            before, after = written[: name.col_offset], written[name.end_col_offset :]
            enclosed = before.rstrip().endswith(b"(") and after.lstrip().startswith(b")")
            new = meaning[name.id]
            loose = not enclosed and _held(tree_of(new)) < needed
            written = before + (f"({new})" if loose else new).encode() + after
    return written.decode()


def _places(tree: ast.expr) -> Iterator[tuple[ast.Name, int]]:
    """The positions of symbols, with the binding strength that their replacement needs."""
    if isinstance(tree, ast.Name):
        yield tree, ANYTHING
    for parent in ast.walk(tree):
        children = parent.args if isinstance(parent, ast.Call) else ast.iter_child_nodes(parent)
        yield from ((child, _needed(parent, child)) for child in children if isinstance(child, ast.Name))


def _held(tree: ast.AST) -> int:
    """The binding strength of a part. A sign binds like a sum: `2 * -d` is written 2 * (-d)."""
    if isinstance(tree, ast.BinOp):
        return _HELD[type(tree.op)]
    return SUM if isinstance(tree, ast.UnaryOp) else ATOM


def _needed(parent: ast.AST, child: ast.AST) -> int:
    if isinstance(parent, ast.Call):
        return ANYTHING
    if isinstance(parent, ast.BinOp) and not isinstance(parent.op, ast.Pow):
        return _held(parent) + (child is parent.right)
    return POWER if isinstance(parent, ast.UnaryOp) else ATOM


class Rank(IntEnum):
    """Binding strength of a printed part; a part that binds too weakly for its place gets brackets."""

    SUM = 0
    """A sum, or a part that begins with a sign."""
    QUOTIENT = 1
    """A quotient on one line. It cannot be a factor, because a/b c could be read as a/(b c)."""
    PRODUCT = 2
    FACTOR = 3
    """A power, or a function: its exponent could be taken for its argument's."""
    ATOM = 4


class Printed(NamedTuple):
    """A printed part of a formula, with its binding strength."""

    text: str
    rank: Rank


SIGNS: dict[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.UAdd: "+", ast.USub: "-"}


class Notation(ABC):
    """The printing rules that LaTeX and plain text share."""

    around: ClassVar[dict[str, str]]
    """Functions printed as brackets or a sign around their argument."""
    dot: ClassVar[str]
    ends_as_function: ClassVar[re.Pattern[str]]
    """The end of a factor that would look like a function applied to a bracket after it."""

    def printed(self, tree: ast.AST, text: str) -> Printed:
        """Print a part of a text's tree."""
        tree = _sign_first(tree)
        match tree:
            case ast.Constant():
                return self.number(*literal_parts(source(text, tree)))
            case ast.Name(id=name):
                return Printed(self.symbol(name), Rank.ATOM)
            case ast.UnaryOp():
                return Printed(SIGNS[type(tree.op)] + self.part(tree.operand, text, Rank.QUOTIENT), Rank.SUM)
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                first, second = self.part(tree.left, text, Rank.SUM), self.part(tree.right, text, Rank.QUOTIENT)
                return Printed(f"{first} {SIGNS[type(tree.op)]} {second}", Rank.SUM)
            case ast.BinOp(op=ast.Mult()):
                first, second = self.part(tree.left, text, Rank.PRODUCT), self.part(tree.right, text, Rank.FACTOR)
                return Printed(self._product(first, second), Rank.PRODUCT)
            case ast.BinOp(op=ast.Div()):
                return self.quotient(tree.left, tree.right, text)
            case ast.BinOp(op=ast.Pow()):
                base = self.part(tree.left, text, Rank.ATOM)
                return Printed(base + self.exponent(tree.right, text), Rank.FACTOR)
            case ast.Call(func=ast.Name(id=name)):
                inside = ", ".join(self.part(argument, text, Rank.SUM) for argument in tree.args)
                if name in self.around:
                    return Printed(self.around[name].format(inside), Rank.ATOM)
                return Printed(self.function(name) + self.brackets(inside), Rank.FACTOR)
        raise ValueError(f"{tree} has no place in a formula")

    def part(self, tree: ast.AST, text: str, least: Rank) -> str:
        """Print a part, with brackets if it binds more weakly than required."""
        written = self.printed(tree, text)
        return written.text if written.rank >= least else self.brackets(written.text)

    def quotient(self, over: ast.AST, under: ast.AST, text: str) -> Printed:
        """A quotient, on one line."""
        return Printed(f"{self.part(over, text, Rank.PRODUCT)}/{self.part(under, text, Rank.FACTOR)}", Rank.QUOTIENT)

    @abstractmethod
    def number(self, digits: str, exponent: str) -> Printed:
        """A number from its digits and its exponent of ten, which may be empty."""

    @abstractmethod
    def symbol(self, name: str) -> str:
        """A symbol or a constant."""

    @abstractmethod
    def function(self, name: str) -> str:
        """The name of a function."""

    @abstractmethod
    def exponent(self, tree: ast.AST, text: str) -> str:
        """An exponent, including the sign of a power before it."""

    @abstractmethod
    def brackets(self, inside: str) -> str:
        """A part in round brackets."""

    def _product(self, first: str, second: str) -> str:
        """Factors next to each other, with a dot where they would read as one number, a mixed number or a function."""
        mixed = first[-1].isdigit() and second.startswith(r"\frac")
        applied = self.ends_as_function.search(first) and second.startswith(("(", r"\left("))
        return f"{first}{self.dot if second[0].isdigit() or mixed or applied else ' '}{second}"


class OneLine(Notation):
    r"""LaTeX with every fraction on one line, for an exponent or a sentence."""

    around: ClassVar = {
        "sqrt": r"\sqrt{{{}}}",
        "abs": r"\left|{}\right|",
        "floor": r"\left\lfloor {} \right\rfloor",
        "ceil": r"\left\lceil {} \right\rceil",
    }
    dot = r" \cdot "
    ends_as_function = re.compile(r"(?<!\{)(\\mathrm\{\w+\}|\\Gamma)$")

    def number(self, digits: str, exponent: str) -> Printed:
        r"""A number in LaTeX: 1e-3 as 10^{-3}, 2.5e6 as 2.5 \cdot 10^{6}."""
        if not exponent:
            return Printed(digits, Rank.ATOM)
        power = f"10^{{{int(exponent)}}}"
        return Printed(power, Rank.FACTOR) if digits == "1" else Printed(digits + self.dot + power, Rank.PRODUCT)

    def symbol(self, name: str) -> str:
        """A symbol with Greek letters as commands and its later parts as a subscript."""
        return symbol(name)

    def function(self, name: str) -> str:
        """A function by its LaTeX command."""
        return {"gamma": r"\Gamma"}.get(name, rf"\{name}")

    def exponent(self, tree: ast.AST, text: str) -> str:
        """An exponent, on one line."""
        return f"^{{{ONE_LINE.printed(tree, text).text}}}"

    def brackets(self, inside: str) -> str:
        """Brackets as high as their content."""
        return rf"\left({inside}\right)" if r"\frac" in inside else f"({inside})"


@final
class Built(OneLine):
    """LaTeX with built fractions, but on one line within a fraction or an exponent."""

    def quotient(self, over: ast.AST, under: ast.AST, text: str) -> Printed:
        """A quotient with a fraction bar."""
        above, below = (ONE_LINE.printed(side, text).text for side in (over, under))
        return Printed(rf"\frac{{{above}}}{{{below}}}", Rank.FACTOR)


@final
class Plain(Notation):
    """Plain text with Greek letters and a few signs."""

    around: ClassVar = {"floor": "⌊{}⌋", "ceil": "⌈{}⌉"}
    dot = "·"
    ends_as_function = re.compile(r"([^\W\d]\w+|Γ)$")

    def number(self, digits: str, exponent: str) -> Printed:
        """A number with the digits of the source."""
        return Printed(f"{digits}e{exponent}", Rank.FACTOR) if exponent else Printed(digits, Rank.ATOM)

    def symbol(self, name: str) -> str:
        """A symbol, with Greek letters as letters."""
        return re.sub(r"[^\W\d_]+", lambda word: GREEK.get(word[0], word[0]), name).rstrip("_")

    def function(self, name: str) -> str:
        """A function by its name or sign."""
        return {"gamma": "Γ", "sqrt": "√"}.get(name, name)

    def exponent(self, tree: ast.AST, text: str) -> str:
        """An exponent, in brackets if it has more than one part."""
        return f"^{self.part(tree, text, Rank.ATOM)}"

    def brackets(self, inside: str) -> str:
        """Brackets of one size, because the text is one line high."""
        return f"({inside})"


ONE_LINE, BUILT, PLAIN = OneLine(), Built(), Plain()


def _sign_first(tree: ast.AST) -> ast.AST:
    """Move the sign of a first factor in front of the whole product: Python parses -a/b as (-a)/b."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult | ast.Div):
        first = _sign_first(tree.left)
        if isinstance(first, ast.UnaryOp):
            return ast.UnaryOp(first.op, ast.BinOp(first.operand, tree.op, tree.right))
    return tree


TOKEN = re.compile(
    r"`[^`]*`|'s\b|[A-Za-z]{2,}(?:-[A-Za-z]{2,})+|\w-part|<\w+, \w+>|<=|>=|->|w\*|\|\.\||\.\.\.|\d+(?:\.\d+)*|\s+"
    r"|[A-Za-z]+\d*(?:_(?:[A-Za-z]+|\d+|\+))?(?:(?<=\b[A-Za-z])'+|(?<=_[a-z])'+)?|."
)
TYPESET = {"<=": r"\leq ", ">=": r"\geq ", "->": r"\to ", "|.|": r"|\cdot|", "...": r"\ldots ", "w*": "w^{*}"}
TYPESET |= {sign: sign for sign in "<>=+-/|^_"}
RELATIONS = ("<=", ">=", "<", ">", "=")
NAMES = {"E": r"\mathbb{E}", "oo": r"\infty", "infinity": r"\infty", "sqrt": r"\sqrt"}
NAMES |= {
    name: rf"\{name}" for name in ("sum", "prod", "int", "log", "max", "min", "exp", "cos", "sin", "tanh", *GREEK)
}
CLOSING = {"(": ")", "[": "]", "{": "}"}
ENGLISH = ("and", "as", "at", "each", "else", "for", "is", "of", "or", "to", "where", "with")
"""English words that are never names in a formula, whatever their neighbours are."""


def typeset(text: str) -> str:
    r"""Typeset a sentence: formulas are put between dollar signs, and English words and code stay unchanged.

    Parameters
    ----------
    text
        A sentence in the notation of proofs and claims.

    Returns
    -------
    str
        The sentence, with LaTeX between dollar signs.

    Raises
    ------
    InvalidInput
        If a formula is not closed.

    Examples
    --------
    >>> print(typeset("For every w >= u: Z_low <= P(w) / c, with J0 (5 E for pairs), and E sum a_i."))
    For every $w\geq u$: $Z_{\mathrm{low}}\leq P(w)/c$, with $J_{0}$ ($5 E$ for pairs), and $\mathbb{E} \sum a_{i}$.
    >>> print(typeset("f is a multiple of z; A stays below (above) b, at most low e^{-lambda g} / sqrt(pi)"))
    $f$ is a multiple of $z$; $A$ stays below (above) $b$, at most $\mathrm{low}\,e^{-\lambda g}/\sqrt{\pi}$
    """
    tokens, done, position = TOKEN.findall(text), "", 0
    while position < len(tokens):
        end = position if tokens[position].isspace() else _end(tokens, position)
        formula = any(_is_name(token) or token in TYPESET for token in tokens[position:end])
        done += f"${_latex(tokens[position:end])}$" if formula else "".join(tokens[position : max(end, position + 1)])
        position = max(end, position + 1)
    return done


def _end(tokens: list[str], position: int, inside: str = "") -> int:
    """The end of the formula that begins here. Commas belong to it within brackets, words within function calls."""
    end = position
    while position < len(tokens):
        token = tokens[position]
        if token in CLOSING:
            called = position > 0 and _is_name(tokens[position - 1]) | tokens[position - 1].isalpha()
            close = _end(tokens, position + 1, "call" if called else "brackets")
            remark = tokens[position - 1].isspace() and set(RELATIONS) & set(tokens[position:close])
            if remark or tokens[close : close + 1] != [CLOSING[token]]:
                break
            position = end = close + 1
        elif token.isspace() or token in TYPESET or (inside and token == ","):
            position += 1
            end = position if token in ("w*", "|.|", "|") else end
        elif _is_part(tokens, position) or (inside == "call" and token.isalpha()):
            position = end = position + 1
        else:
            break
    return position if inside else end


def _is_part(tokens: list[str], position: int) -> bool:
    """True if a word or a number belongs to a formula, judged by itself and by its neighbours."""
    token = tokens[position]
    before = next((word for word in reversed(tokens[:position]) if not word.isspace()), "")
    after = next((word for word in tokens[position + 1 :] if not word.isspace()), "")
    if token[0].isdigit() or token.startswith("<"):
        return token.count(".") < 2
    if token == "a":
        return not re.fullmatch(r"[A-Za-z]{2,}", after)
    if not token[0].isalpha() or token in ENGLISH or (before, token) == ("the", "sum"):
        return False
    applied = before[:1].isdigit() or token in ("low", "high")
    called = after == "(" == tokens[position + 1]
    return _is_name(token) or called or before in {*TYPESET} - {"|"} or (applied and _is_name(after))


def _is_name(token: str) -> bool:
    """True if a token is a mathematical name: a letter, a letter with an index or a prime, or a known name."""
    return token in NAMES or bool(re.fullmatch(r"[A-Za-z]'*|[A-Za-z]+(\d+|_\w+|_\+)'*|w\*|\|\.\||<.+>", token))


def _latex(tokens: list[str]) -> str:
    out: list[str] = []
    for position, token in enumerate(tokens):
        if token.isspace():
            neighbours = tokens[position - 1], tokens[position + 1]
            apart = any(
                neighbour.isalpha() and len(neighbour) > 1 and neighbour not in NAMES for neighbour in neighbours
            )
            out.append("" if {*TYPESET} - {"w*"} & {*neighbours} else r"\," if apart else " ")
        elif token == "E" and not _applied(tokens, position):
            out.append(token)
        else:
            out.append(TYPESET.get(token) or _name(token))
    text = re.sub(r"\^-(\\mathrm\{\w+\}|\\?\w+)", r"^{-\1}", "".join(out))
    return re.sub(r"\\sqrt\(([^()]*)\)", r"\\sqrt{\1}", text)


def _applied(tokens: list[str], position: int) -> bool:
    """True if an argument for an expectation follows."""
    after = next((token for token in tokens[position + 1 :] if not token.isspace()), "=")
    return after not in TYPESET or after == "|"


def _name(token: str) -> str:
    """Typeset a number, a bracket, or a name with its index."""
    if token.startswith("<"):
        return rf"\langle {', '.join(map(_name, token[1:-1].split(', ')))}\rangle "
    match = re.fullmatch(r"([A-Za-z]+?)(\d+|_\w+|_\+)?('*)", token)
    if not match:
        return token
    head, index, primes = match.groups()
    word = NAMES.get(head, head if len(head) == 1 else rf"\mathrm{{{head}}}")
    below = (index or "").removeprefix("_")
    if len(below) > 1 and not below.isdigit():
        below = NAMES.get(below, rf"\mathrm{{{below}}}")
    return (f"{word}_{{{below}}}" if below else word) + primes
