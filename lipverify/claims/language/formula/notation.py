r"""How a formula is printed: LaTeX with built fractions, LaTeX on one line, and plain text; always as it was written.

Brackets stand where the tree needs them and nowhere else; nothing is multiplied out, cancelled or put in another order.
"""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from enum import IntEnum
from typing import ClassVar, NamedTuple, final

from lipverify.claims.language.formula.grammar import GREEK, LETTERS, literal_parts, source


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
        r"""Greek by its command, a word upright, and what follows the first letters as a subscript."""
        if name == "e":
            return r"\mathrm{e}"
        head, *scripts = (_letter(word) for word in re.findall(r"[^\W\d_]+|\d+", name))
        return head + (f"_{{{','.join(scripts)}}}" if scripts else "")

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


def _letter(word: str) -> str:
    """One word of a name."""
    name = LETTERS.get(word, word)
    if name in GREEK:
        return "\\lambda" if name == "lamda" else f"\\{name}"
    return word if len(word) == 1 or word.isdigit() else rf"\mathrm{{{word}}}"
