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
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from fractions import Fraction
from functools import lru_cache
from numbers import Rational, Real
from typing import Any, ClassVar, NamedTuple

from lipverify.claims.ledger.symbols import GREEK, LETTERS, symbol

Number = Fraction | float
LONGEST = 2000
"""Longest formula, in characters; a longer one is refused before it is parsed."""
NEAR_ONE = Fraction(1, 8)
"""Within this distance of 1 the logarithm uses log1p of the exact distance, which rounding to a float would lose."""


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
        if bits * abs(exponent) <= 4096:  # a larger power is a float, so that a formula cannot exhaust memory
            return base**exponent.numerator
    if isinstance(base, Fraction) and abs(base - 1) < NEAR_ONE:
        return math.exp(exponent * _log(base))
    return math.pow(base, exponent)


def _whole(rounded: Callable[[Number], int]) -> Callable[[Number], Fraction]:
    """Floor or ceil with a tolerance: in floats log(1000)/log(10) is slightly below 3 and must count as 3."""

    def whole(x: Number) -> Fraction:
        near = isinstance(x, float) and abs(x - round(x)) <= 16 * sys.float_info.epsilon * max(1.0, abs(x))
        return Fraction(round(x) if near else rounded(x))

    return whole


def _by_balls(function: Callable[..., Any], *numbers: Number) -> float:
    """The value of a function that Arb has and Python's `math` has not."""
    import flint

    for bits in ARB_BITS:
        with flint.ctx.workprec(bits):
            rationals = (flint.fmpq(*Fraction(number).as_integer_ratio()) for number in numbers)
            value = function(*map(flint.arb, rationals))
            if value.rad() <= abs(value.mid()) * sys.float_info.epsilon / 2:
                return float(value.mid())
    raise ArithmeticError(f"{value} is a pole, or has fewer digits than a double")


def _binomial(n: Number, k: Number) -> Number:
    """The product n (n - 1) ... (n - k + 1) / k! for a small whole k, and the ratio of Gamma functions otherwise."""
    if isinstance(n, Fraction) and n.denominator == 1 and n >= 0:
        k = min(k, n - k)
    if isinstance(k, Fraction) and k.denominator == 1 and k <= LONGEST_PRODUCT:
        factors = (n - i for i in range(int(k)))
        return math.prod(factors, start=Fraction(1)) / math.factorial(int(k)) if k >= 0 else Fraction(0)
    return _by_balls(lambda n, k: (n + 1).gamma() * (k + 1).rgamma() * (n - k + 1).rgamma(), n, k)


ARB_BITS = (128, 512, 2048)
"""Precisions of Arb, tried in turn: a ratio of Gamma functions of the largest doubles loses about 1100 bits."""
LONGEST_PRODUCT = 100
"""Factors of the product, each a fraction of some hundred digits at most."""
FUNCTIONS: dict[str, Callable[..., Number]] = {
    "sqrt": _root,
    "log": _log,
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "erf": math.erf,
    "gamma": math.gamma,
    "zeta": lambda s: _by_balls(lambda s: s.zeta(), s),
    "binomial": _binomial,
    "min": min,
    "max": max,
    "abs": abs,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
}
ARGUMENTS = {
    "min": (2, LONGEST, "two arguments or more"),
    "max": (2, LONGEST, "two arguments or more"),
    "binomial": (2, 2, "two arguments, as in binomial(n, k)"),
}
"""The least and the largest number of arguments of a function that does not take one, and the rule in words."""
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
LONGEST_WORD = 30
"""Longest name or number, in characters: the report cannot break a line inside one."""
LONGEST_CHAIN = 100
"""Most comparisons, sums or products in one chain, because Python's parser and SymPy call themselves for each."""
DEEPEST = 12
"""Deepest nesting of brackets, powers and fractions; the report can typeset this depth."""
_LETTER = f"A-Za-z{''.join(LETTERS).replace('π', '')}"  # the number is written pi
SYMBOL = re.compile(rf"[{_LETTER}][{_LETTER}0-9]*(_[{_LETTER}0-9]+)*_?")
REMEMBERED = 8192
"""Size of the cache of parsed formulas: a run has some thousands of formulas and evaluates each at many points."""


class Unreadable(Exception):
    """The reason why a text is not a formula."""


@lru_cache(maxsize=REMEMBERED)
def tree_of(text: str) -> ast.expr:
    """Parse a formula; `Unreadable` says what is at fault in another text, and how to write it."""
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
    _check(tree, text)
    return tree


@lru_cache(maxsize=REMEMBERED)
def names_of(text: str) -> tuple[str, ...]:
    """Every symbol and constant of a formula, once each, in reading order; raises as `tree_of`."""
    return tuple(dict.fromkeys(name.id for name in _names_in(tree_of(text))))


def _names_in(tree: ast.AST) -> Iterator[ast.Name]:
    if isinstance(tree, ast.Name):
        yield tree
    for operand in _operands(tree):
        yield from _names_in(operand)


def _operands(tree: ast.AST) -> list[ast.expr]:
    """The parts of a tree that have a value, so without the names of functions."""
    match tree:
        case ast.BinOp(left, _, right):
            return [left, right]
        case ast.UnaryOp(_, operand):
            return [operand]
        case ast.Call(_, arguments):
            return arguments
    return []


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


def _check(tree: ast.expr, text: str, depth: int = 0, chain: int = 0) -> None:
    """Refuse syntax that formulas do not have. A chain such as `a + b + c` counts as one level of nesting."""
    if chain > LONGEST_CHAIN or depth > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} deep, or chains more than {LONGEST_CHAIN} terms")
    if fault := _fault(tree, source(text, tree)):
        raise Unreadable(fault)
    for operand in _operands(tree):
        first = isinstance(tree, ast.BinOp) and operand is tree.left
        chained = first and not isinstance(tree.op, ast.Pow)  # type: ignore[attr-defined]
        _check(operand, text, depth + (not chained), chain + first)


def _fault(tree: ast.expr, written: str) -> str:
    """What is wrong with a part, apart from its operands; empty if nothing is."""
    match tree:
        case ast.Constant(value=(int() | float()) as number) if not isinstance(number, bool):
            if (
                not re.fullmatch(r"\d*\.?\d*([eE][+-]?\d+)?", written)
                or len(written) > LONGEST_WORD
                or not math.isfinite(number)
            ):
                return f"{written[:LONGEST_WORD]} is not a decimal number, or is too long or too large"
        case ast.Name(id=name):
            if not SYMBOL.fullmatch(name) or len(name) > LONGEST_WORD:
                return f"{name} is no name of a symbol: letters, digits and single _ between"
            if name in FUNCTIONS and name not in GREEK:
                return f"{name} is a function: write {name}(...)"
        case ast.BinOp(op=sign) | ast.UnaryOp(op=sign) if type(sign) in OPERATORS:
            pass
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            least, most, rule = ARGUMENTS.get(name, (1, 1, "one argument"))
            if not least <= len(arguments) <= most:
                return f"{name} takes {rule}"
        case ast.Call(func=ast.Name(id=name)):
            return f"{name}(...) is none of {', '.join(FUNCTIONS)}; a product is written *"
        case _:
            return f"{written[:LONGEST_WORD]!r} has no place in it"
    return ""


@lru_cache(maxsize=REMEMBERED)
def substituted(text: str, meanings: tuple[tuple[str, str], ...]) -> str:
    """Substitute text for symbols, with brackets where the tree would change without them.

    >>> substituted("1/D + D", (("D", "d - 1"),))
    '1/(d - 1) + (d - 1)'
    """
    meaning = dict(meanings)
    written = text.encode()
    for name in sorted(_names_in(tree_of(text)), key=lambda name: name.col_offset, reverse=True):
        if name.id in meaning:
            before, new, after = written[: name.col_offset], meaning[name.id], written[name.end_col_offset :]
            bare, bracketed = before + new.encode() + after, before + f"({new})".encode() + after
            # a sign after an operator is written in brackets, as 2*(-d), although Python does not need them
            signed = new[0] in "+-" and before.rstrip().endswith((b"+", b"-", b"*", b"/"))
            written = bracketed if signed or ast.dump(ast.parse(bare)) != ast.dump(ast.parse(bracketed)) else bare
    return written.decode()


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


class Notation:
    r"""LaTeX with every fraction on one line, for an exponent or a sentence, and the rules that all notations share."""

    around: ClassVar = {
        "sqrt": r"\sqrt{{{}}}",
        "abs": r"\left|{}\right|",
        "floor": r"\left\lfloor {} \right\rfloor",
        "ceil": r"\left\lceil {} \right\rceil",
        "binomial": r"\binom{{{}}}{{{}}}",
    }
    """Functions printed as brackets or a sign around their arguments."""
    called: ClassVar = {name: rf"\{name}" for name in FUNCTIONS} | {"gamma": r"\Gamma", "erf": r"\operatorname{erf}"}
    """The names of the other functions."""
    dot: ClassVar = r" \cdot "
    ends_as_function: ClassVar = re.compile(r"(?<!\{)(\\mathrm\{\w+\}|\\Gamma|\\zeta)$")
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
                return Printed(self.product(first, second), Rank.PRODUCT)
            case ast.BinOp(op=ast.Div()):
                return self.quotient(tree.left, tree.right, text)
            case ast.BinOp(op=ast.Pow()):
                return Printed(self.part(tree.left, text, Rank.ATOM) + self.exponent(tree.right, text), Rank.FACTOR)
            case ast.Call(func=ast.Name(id=name)):
                inside = [self.part(argument, text, Rank.SUM) for argument in tree.args]
                if name in self.around:
                    return Printed(self.around[name].format(*inside), Rank.ATOM)
                return Printed(self.called[name] + self.brackets(", ".join(inside)), Rank.FACTOR)
        raise ValueError(f"{tree} has no place in a formula")

    def part(self, tree: ast.AST, text: str, least: Rank) -> str:
        """Print a part, with brackets if it binds more weakly than required."""
        written = self.printed(tree, text)
        return written.text if written.rank >= least else self.brackets(written.text)

    def product(self, first: str, second: str) -> str:
        """Factors next to each other, with a dot where they would read as one number, a mixed number or a function."""
        mixed = first[-1].isdigit() and second.startswith(r"\frac")
        applied = self.ends_as_function.search(first) and second.startswith(("(", r"\left("))
        return f"{first}{self.dot if second[0].isdigit() or mixed or applied else ' '}{second}"

    def quotient(self, over: ast.AST, under: ast.AST, text: str) -> Printed:
        """A quotient, on one line."""
        return Printed(f"{self.part(over, text, Rank.PRODUCT)}/{self.part(under, text, Rank.FACTOR)}", Rank.QUOTIENT)

    def number(self, digits: str, exponent: str) -> Printed:
        r"""A number from its digits and its exponent of ten, if any: 1e-3 is 10^{-3}, 2.5e6 is 2.5 \cdot 10^{6}."""
        if not exponent:
            return Printed(digits, Rank.ATOM)
        power = f"10^{{{int(exponent)}}}"
        return Printed(power, Rank.FACTOR) if digits == "1" else Printed(digits + self.dot + power, Rank.PRODUCT)

    def symbol(self, name: str) -> str:
        """A symbol or a constant."""
        return symbol(name)

    def exponent(self, tree: ast.AST, text: str) -> str:
        """An exponent, including the sign of a power before it."""
        return f"^{{{ONE_LINE.printed(tree, text).text}}}"

    def brackets(self, inside: str) -> str:
        """A part in round brackets, as high as their content."""
        return rf"\left({inside}\right)" if re.search(r"\\(frac|binom)", inside) else f"({inside})"


class Built(Notation):
    """LaTeX with built fractions, but on one line within a fraction or an exponent."""

    def quotient(self, over: ast.AST, under: ast.AST, text: str) -> Printed:
        """A quotient with a fraction bar."""
        above, below = (ONE_LINE.printed(side, text).text for side in (over, under))
        return Printed(rf"\frac{{{above}}}{{{below}}}", Rank.FACTOR)


class Plain(Notation):
    """Plain text with Greek letters and a few signs."""

    around: ClassVar = {"floor": "⌊{}⌋", "ceil": "⌈{}⌉"}
    called: ClassVar = {name: name for name in FUNCTIONS} | {"gamma": "Γ", "zeta": "ζ", "sqrt": "√"}
    dot: ClassVar = "·"
    ends_as_function: ClassVar = re.compile(r"([^\W\d]\w+|Γ|ζ)$")

    def number(self, digits: str, exponent: str) -> Printed:
        """A number with the digits of the source."""
        return Printed(f"{digits}e{exponent}", Rank.FACTOR) if exponent else Printed(digits, Rank.ATOM)

    def symbol(self, name: str) -> str:
        """A symbol, with Greek letters as letters."""
        return re.sub(r"[^\W\d_]+", lambda word: GREEK.get(word[0], word[0]), name).rstrip("_")

    def exponent(self, tree: ast.AST, text: str) -> str:
        """An exponent, in brackets if it has more than one part."""
        return f"^{self.part(tree, text, Rank.ATOM)}"


ONE_LINE, BUILT, PLAIN = Notation(), Built(), Plain()


def _sign_first(tree: ast.AST) -> ast.AST:
    """Move the sign of a first factor in front of the whole product: Python parses -a/b as (-a)/b."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult | ast.Div):
        first = _sign_first(tree.left)
        if isinstance(first, ast.UnaryOp):
            return ast.UnaryOp(first.op, ast.BinOp(first.operand, tree.op, tree.right))
    return tree
