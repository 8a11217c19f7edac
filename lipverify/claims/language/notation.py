r"""How a formula is printed: LaTeX with built fractions, LaTeX on one line, and plain text; always as it was written.

Brackets stand where the tree needs them and nowhere else; nothing is multiplied out, cancelled or put in another order.
"""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from enum import IntEnum
from typing import ClassVar, NamedTuple, final

from lipverify.claims.language.grammar import literal_parts, source
from lipverify.claims.ledger.symbols import GREEK, symbol


class Rank(IntEnum):
    """How tightly a printed part holds together; where it must hold more tightly it is put in brackets."""

    SUM = 0
    """Also what begins with a sign."""
    QUOTIENT = 1
    """On one line, where a/b is no factor: a/b c might be a/(b c)."""
    PRODUCT = 2
    FACTOR = 3
    """A power; and a function, whose power might be that of its argument."""
    ATOM = 4


class Printed(NamedTuple):
    """A part of a formula as it is printed."""

    text: str
    rank: Rank


SIGNS: dict[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.UAdd: "+", ast.USub: "-"}


class Notation(ABC):
    """What LaTeX and plain text do in the same way."""

    around: ClassVar[dict[str, str]]
    """Functions that are printed as brackets or a sign around their argument."""
    dot: ClassVar[str]
    ends_as_function: ClassVar[re.Pattern[str]]
    """The end of a factor that would look like a function of what is in a bracket after it."""

    def printed(self, tree: ast.AST, text: str) -> Printed:
        """A part of the tree of a text."""
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
        """A part that must hold together this tightly."""
        found = self.printed(tree, text)
        return found.text if found.rank >= least else self.brackets(found.text)

    def quotient(self, over: ast.AST, under: ast.AST, text: str) -> Printed:
        """On one line."""
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
        """An exponent with the sign of a power before it."""

    @abstractmethod
    def brackets(self, inside: str) -> str:
        """A part in round brackets."""

    def _product(self, left: str, right: str) -> str:
        """Factors side by side; with a dot where they would read as one number, a mixed number or a function."""
        mixed = left[-1].isdigit() and right.startswith(r"\frac")
        applied = self.ends_as_function.search(left) and right.startswith(("(", r"\left("))
        return f"{left}{self.dot if right[0].isdigit() or mixed or applied else ' '}{right}"


class OneLine(Notation):
    r"""LaTeX with every fraction on one line, as in an exponent."""

    around: ClassVar = {
        "sqrt": r"\sqrt{{{}}}",
        "abs": r"\left|{}\right|",
        "floor": r"\left\lfloor {} \right\rfloor",
        "ceil": r"\left\lceil {} \right\rceil",
    }
    dot = r" \cdot "
    ends_as_function = re.compile(r"(?<!\{)(\\mathrm\{\w+\}|\\Gamma)$")

    def number(self, digits: str, exponent: str) -> Printed:
        r"""1e-3 as 10^{-3}, 2.5e6 as 2.5 \cdot 10^{6}."""
        if not exponent:
            return Printed(digits, Rank.ATOM)
        power = f"10^{{{int(exponent)}}}"
        return Printed(power, Rank.FACTOR) if digits == "1" else Printed(digits + self.dot + power, Rank.PRODUCT)

    def symbol(self, name: str) -> str:
        """As a page writes it."""
        return symbol(name)

    def function(self, name: str) -> str:
        """By its command."""
        return {"gamma": r"\Gamma"}.get(name, rf"\{name}")

    def exponent(self, tree: ast.AST, text: str) -> str:
        """On one line."""
        return f"^{{{ONE_LINE.printed(tree, text).text}}}"

    def brackets(self, inside: str) -> str:
        """As high as what they enclose."""
        return rf"\left({inside}\right)" if r"\frac" in inside else f"({inside})"


@final
class Built(OneLine):
    """LaTeX with fractions of two lines, but not within one another or in an exponent."""

    def quotient(self, over: ast.AST, under: ast.AST, text: str) -> Printed:
        """With a bar."""
        above, below = (ONE_LINE.printed(side, text).text for side in (over, under))
        return Printed(rf"\frac{{{above}}}{{{below}}}", Rank.FACTOR)


@final
class Plain(Notation):
    """Text with Greek letters and a few signs."""

    around: ClassVar = {"floor": "⌊{}⌋", "ceil": "⌈{}⌉"}
    dot = "·"
    ends_as_function = re.compile(r"([^\W\d]\w+|Γ)$")

    def number(self, digits: str, exponent: str) -> Printed:
        """As written."""
        return Printed(f"{digits}e{exponent}", Rank.FACTOR) if exponent else Printed(digits, Rank.ATOM)

    def symbol(self, name: str) -> str:
        """Greek by its letter."""
        return re.sub(r"[^\W\d_]+", lambda word: GREEK.get(word[0], word[0]), name).rstrip("_")

    def function(self, name: str) -> str:
        """By its name or sign."""
        return {"gamma": "Γ", "sqrt": "√"}.get(name, name)

    def exponent(self, tree: ast.AST, text: str) -> str:
        """In brackets if it is more than one thing."""
        return f"^{self.part(tree, text, Rank.ATOM)}"

    def brackets(self, inside: str) -> str:
        """Round ones."""
        return f"({inside})"


ONE_LINE, BUILT, PLAIN = OneLine(), Built(), Plain()


def _sign_first(tree: ast.AST) -> ast.AST:
    """The sign of a first factor before the whole product: Python reads -a/b as (-a)/b."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult | ast.Div):
        first = _sign_first(tree.left)
        if isinstance(first, ast.UnaryOp):
            return ast.UnaryOp(first.op, ast.BinOp(first.operand, tree.op, tree.right))
    return tree


TOKEN = re.compile(
    r"`[^`]*`|'s\b|[A-Za-z]{2,}(?:-[A-Za-z]{2,})+|\w-part|<\w+, \w+>|<=|>=|->|w\*|\|\.\||\.\.\.|\d+(?:\.\d+)*|\s+"
    r"|[A-Za-z]+\d*(?:_(?:[A-Za-z]+|\d+|\+))?(?:(?<=\b[A-Za-z])'+|(?<=_[a-z])'+)?|."
)
OPERATORS = {"<=": r"\leq ", ">=": r"\geq ", "->": r"\to ", "|.|": r"|\cdot|", "...": r"\ldots ", "w*": "w^{*}"}
OPERATORS |= {sign: sign for sign in "<>=+-/|^_"}
RELATIONS = ("<=", ">=", "<", ">", "=")
NAMES = {"E": r"\mathbb{E}", "oo": r"\infty", "infinity": r"\infty", "sqrt": r"\sqrt"}
NAMES |= {
    name: rf"\{name}" for name in ("sum", "prod", "int", "log", "max", "min", "exp", "cos", "sin", "tanh", *GREEK)
}
CLOSING = {"(": ")", "[": "]", "{": "}"}
ENGLISH = ("and", "as", "at", "each", "else", "for", "is", "of", "or", "to", "where", "with")
"""Words that are no names, whatever is beside them."""


def typeset(text: str) -> str:
    r"""A sentence with its formulas between dollar signs; words of English and code stay what they are.

    >>> print(typeset("For every w >= u: Z_low <= P(w) / c, with J0 (5 E for pairs), and E sum a_i."))
    For every $w\geq u$: $Z_{\mathrm{low}}\leq P(w)/c$, with $J_{0}$ ($5 E$ for pairs), and $\mathbb{E} \sum a_{i}$.
    >>> print(typeset("f is a multiple of z; A stays below (above) b, at most low e^{-lambda g} / sqrt(pi)"))
    $f$ is a multiple of $z$; $A$ stays below (above) $b$, at most $\mathrm{low}\,e^{-\lambda g}/\sqrt{\pi}$
    """
    tokens, done, at = TOKEN.findall(text), "", 0
    while at < len(tokens):
        end = at if tokens[at].isspace() else _end(tokens, at)
        formula = any(_is_name(token) or token in OPERATORS for token in tokens[at:end])
        done += f"${_latex(tokens[at:end])}$" if formula else "".join(tokens[at : max(end, at + 1)])
        at = max(end, at + 1)
    return done


def _end(tokens: list[str], at: int, inside: str = "") -> int:
    """Where the formula that begins here ends; within brackets it has commas, and words where they are called."""
    end = at
    while at < len(tokens):
        token = tokens[at]
        if token in CLOSING:
            called = at > 0 and _is_name(tokens[at - 1]) | tokens[at - 1].isalpha()
            close = _end(tokens, at + 1, "call" if called else "brackets")
            remark = tokens[at - 1].isspace() and set(RELATIONS) & set(tokens[at:close])
            if remark or tokens[close : close + 1] != [CLOSING[token]]:
                break
            at = end = close + 1
        elif token.isspace() or token in OPERATORS or (inside and token == ","):
            at += 1
            end = at if token in ("w*", "|.|", "|") else end
        elif _is_part(tokens, at) or (inside == "call" and token.isalpha()):
            at = end = at + 1
        else:
            break
    return at if inside else end


def _is_part(tokens: list[str], at: int) -> bool:
    """Whether a word or a number belongs to a formula, by what it is or by what is beside it."""
    token = tokens[at]
    before = next((each for each in reversed(tokens[:at]) if not each.isspace()), "")
    after = next((each for each in tokens[at + 1 :] if not each.isspace()), "")
    if token[0].isdigit() or token.startswith("<"):
        return token.count(".") < 2
    if token == "a":
        return not re.fullmatch(r"[A-Za-z]{2,}", after)
    if not token[0].isalpha() or token in ENGLISH or (before, token) == ("the", "sum"):
        return False
    applied = before[:1].isdigit() or token in ("low", "high")
    called = after == "(" == tokens[at + 1]
    return _is_name(token) or called or before in {*OPERATORS} - {"|"} or (applied and _is_name(after))


def _is_name(token: str) -> bool:
    """Whether a token is the name of something: a letter, one with an index or a prime, or a known name."""
    return token in NAMES or bool(re.fullmatch(r"[A-Za-z]'*|[A-Za-z]+(\d+|_\w+|_\+)'*|w\*|\|\.\||<.+>", token))


def _latex(tokens: list[str]) -> str:
    """A formula."""
    out: list[str] = []
    for place, token in enumerate(tokens):
        if token.isspace():
            beside = tokens[place - 1], tokens[place + 1]
            apart = any(each.isalpha() and len(each) > 1 and each not in NAMES for each in beside)
            out.append("" if {*OPERATORS} - {"w*"} & {*beside} else r"\," if apart else " ")
        elif token == "E" and not _applied(tokens, place):
            out.append(token)
        else:
            out.append(OPERATORS.get(token) or _name(token))
    text = re.sub(r"\^-(\\mathrm\{\w+\}|\\?\w+)", r"^{-\1}", "".join(out))
    return re.sub(r"\\sqrt\(([^()]*)\)", r"\\sqrt{\1}", text)


def _applied(tokens: list[str], place: int) -> bool:
    """Whether something follows that an expectation could be of."""
    after = next((each for each in tokens[place + 1 :] if not each.isspace()), "=")
    return after not in OPERATORS or after == "|"


def _name(token: str) -> str:
    """A number, a bracket, or a name with its index."""
    if token.startswith("<"):
        return rf"\langle {', '.join(map(_name, token[1:-1].split(', ')))}\rangle "
    found = re.fullmatch(r"([A-Za-z]+?)(\d+|_\w+|_\+)?('*)", token)
    if not found:
        return token
    head, index, primes = found.groups()
    word = NAMES.get(head, head if len(head) == 1 else rf"\mathrm{{{head}}}")
    below = (index or "").removeprefix("_")
    if len(below) > 1 and not below.isdigit():
        below = NAMES.get(below, rf"\mathrm{{{below}}}")
    return (f"{word}_{{{below}}}" if below else word) + primes
