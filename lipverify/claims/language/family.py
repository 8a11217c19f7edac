"""The coordinates of a claim: every combination it ranges over, and the values it allows at each.

    over={"law": {"affine": {"beta": "2"}, "relu": {"beta": "3/2"}}, "d": (2, 3, 5), ("n", "L"): [(10, 1), (100, 2)]}

A coordinate named in braces in the id makes one claim for each of its values; the others make cells. A value may define
symbols of the claim's formulas: the reading "intrinsic" of d defines `D` as `d - 1`.

The edges of the allowed range are formulas in the coordinates, functions of them, or numbers.
"""

from __future__ import annotations

import inspect
import math
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from lipverify.claims.language.file import Fault
from lipverify.claims.language.formula import Bound, Formula, FunctionBound
from lipverify.claims.language.formula import bound as edge_of
from lipverify.claims.ledger.symbols import Scalar
from lipverify.claims.ledger.verdict import Allowed
from lipverify.errors import InvalidInput

RULE = 'it is a mapping of names to values, such as {"d": (2, 3), ("n", "w"): [(10, 1.0), (100, 5.0)]}'


@dataclass(frozen=True)
class Point:
    """A point of the family: its coordinates, and the meanings of symbols there."""

    where: dict[str, Scalar] = field(default_factory=dict)
    meaning: dict[str, str] = field(default_factory=dict)

    def joined(self, inner: Point) -> Point:
        """Both points together; the coordinates of the inner point come last."""
        return Point({**self.where, **inner.where}, {**self.meaning, **inner.meaning})

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.where.items()) or "any point"


def is_number(value: Any) -> bool:
    """True if a value is a real number; True and False are not counted as numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def named_in(template: str) -> tuple[str, ...]:
    """The coordinates that an id names in braces.

    >>> named_in("softmax.window-printed/{law}/{side}/{reading}")
    ('law', 'side', 'reading')
    """
    try:
        return tuple(name for _, name, _, _ in string.Formatter().parse(template) if name is not None)
    except ValueError as error:
        raise Fault(f"id = {template!r}: {error}; a coordinate stands in braces, such as {{law}}.", "id") from None


def filled(template: str, where: Mapping[str, Scalar]) -> str:
    """Fill the coordinates' values into the braces of a text.

    >>> filled("mine.window/{law}/sigma-{sigma}", {"law": "tanh", "sigma": 0.5})
    'mine.window/tanh/sigma-0.5'
    """
    return template.format_map(
        {name: value if isinstance(value, str) else f"{value:g}" for name, value in where.items()}
    )


def chosen(value: Any, tail: str, keyword: str) -> Any:
    """The value of a field for one reading: the field itself, or the first value whose pattern matches the id's end.

    >>> chosen({"relu/*": "printed", "*": "stronger"}, "affine/lower", "kind")
    'stronger'
    """
    if not isinstance(value, Mapping):
        return value
    for pattern, choice in value.items():
        if fnmatchcase(tail, pattern):
            return choice
    raise Fault(f"{keyword} = {dict(value)!r}: no pattern matches {tail!r}.", keyword)


Edge = Bound
"""An edge of a range: a formula, or a Python function of the coordinates."""
EdgeName = Literal["low", "high", "equals"]
EDGES: tuple[EdgeName, ...] = ("low", "high", "equals")


@dataclass(frozen=True)
class Range:
    """The values that a claim allows, in terms of the coordinates.

    Attributes
    ----------
    low, high
        The least and the largest allowed value.
    equals, within
        The target value, and the allowed distance from it.
    strict
        True if low and high themselves are excluded.
    """

    low: Edge | None = None
    high: Edge | None = None
    equals: Edge | None = None
    within: Edge | None = None
    strict: bool = False

    def edges(self) -> Iterator[tuple[EdgeName, Edge]]:
        """The edges that are given, with their names."""
        for name in EDGES:
            edge = getattr(self, name)
            if edge is not None:
                yield name, edge

    def formulas(self, point: Point) -> dict[str, str]:
        """All edges at a point as formulas in its coordinates; empty if an edge is a Python function."""
        here = self.meaning(point)
        given = [*here.edges(), *([("within", here.within)] if here.within is not None else [])]
        return (
            {name: edge.text for name, edge in given if isinstance(edge, Formula)}
            if all(isinstance(edge, Formula) for _, edge in given)
            else {}
        )

    def only(self, side: str | None) -> Range:
        """The one-sided range: the low edge for "lower", the high edge for "upper"."""
        if side is None:
            return self
        if side == "lower":
            return Range(low=self.low, strict=self.strict)
        return Range(high=self.high, strict=self.strict)

    def moved(self, edges: Mapping[EdgeName, Edge]) -> Range:
        """The same range with some edges replaced."""
        given: dict[str, Any] = {str(name): edge for name, edge in edges.items()}
        return replace(self, **given)

    def meaning(self, point: Point) -> Range:
        """The same range with the symbols of a reading replaced by their meanings."""
        meant: dict[str, Any] = {name: meant_at(edge, point) for name, edge in self.edges()}
        within = None if self.within is None else meant_at(self.within, point)
        return replace(self, **meant, within=within)

    def allowed(self, point: Point, keyword: str = "") -> Allowed:
        """The allowed range at a point. Raises a `Fault` if an edge has no finite value there."""
        here = self.meaning(point)
        ends = {name: value_of(edge, point, keyword or name) for name, edge in here.edges()}
        slack = 0.0 if here.within is None else value_of(here.within, point, "within")
        if "equals" in ends:
            return Allowed(low=ends["equals"] - slack, high=ends["equals"] + slack)
        low, high = ends.get("low"), ends.get("high")
        if low is not None and high is not None and not low < high:
            rule = "low must be less than high; for one value give equals= in place of both"
            raise Fault(f"low = {low:g} and high = {high:g} at {point}: {rule}.", "low")
        return Allowed(low=low, high=high, open=self.strict)

    def text(self, quantity: str) -> str:
        """The range in plain text.

        >>> Range(low=edge_of("d/2"), strict=True).text("w*")
        'w* > d/2'
        """
        return ", ".join(f"{quantity} {self.sign(name)} {edge}{self._slack(name)}" for name, edge in self.edges())

    def latex(self, quantity: str) -> str:
        """The range in LaTeX."""
        signs = {"≥": r"\geq", "≤": r"\leq"}
        return r", \quad ".join(
            f"{quantity} {signs.get(self.sign(name), self.sign(name))} {edge.latex}"
            + (rf" \pm {self.within.latex}" if name == "equals" and self.within is not None else "")
            for name, edge in self.edges()
        )

    def sign(self, name: EdgeName) -> str:
        """The relation sign between the quantity and an edge."""
        return {"low": ">" if self.strict else "≥", "high": "<" if self.strict else "≤", "equals": "="}[name]

    def _slack(self, name: EdgeName) -> str:
        return f" ± {self.within}" if name == "equals" and self.within is not None else ""


def range_of(
    low: Any = None, high: Any = None, equals: Any = None, within: Any = None, strict: bool = False, keyword: str = ""
) -> Range:
    """Make a range from the declared edges."""
    given = {"low": low, "high": high, "equals": equals, "within": within}
    edges: dict[str, Any] = {name: edge(value, keyword or name) for name, value in given.items() if value is not None}
    if not edges.keys() - {"within"}:
        raise Fault("no bound: give low=, high= or equals=, as formulas in the coordinates.", keyword)
    if "equals" in edges and len(edges.keys() - {"within"}) > 1:
        raise Fault("equals = ... is given with low or high: give either the value or bounds.", keyword or "equals")
    if "within" in edges and "equals" not in edges:
        raise Fault("within = ... is the tolerance of equals = ..., which is not given.", "within")
    return Range(**edges, strict=strict)


def edge(value: Any, keyword: str) -> Edge:
    """Read an edge; a fault names its keyword."""
    try:
        return edge_of(value, name=keyword)
    except InvalidInput as error:
        raise Fault(str(error), keyword) from None


def value_of(edge: Edge, point: Point, keyword: str) -> float:
    """The value of an edge at a point; a fault names its keyword."""
    try:
        value = float(edge.at(point.where))
    except InvalidInput as error:
        raise Fault(f"{keyword}: {error}" if keyword not in str(error) else str(error), keyword) from None
    if not math.isfinite(value):
        raise Fault(f"{keyword} = '{edge}': it is {value} at {point}; a bound is a finite number.", keyword)
    return value


def meant_at(edge: Edge, point: Point) -> Edge:
    """An edge with the symbols of a reading replaced by their meanings."""
    return edge.with_symbols(point.meaning) if isinstance(edge, Formula) else edge


def plus(edge: Edge, amount: float | Edge, times: float = 1.0) -> Edge:
    """An edge plus a number, or plus a multiple of another edge.

    >>> print(plus(edge_of("2/(d + 3)"), -0.04), "and", plus(edge_of("1/w"), edge_of("w/9"), times=3))
    2/(d + 3) - 0.04 and 1/w + 3 (w/9)
    """
    if isinstance(edge, Formula) and isinstance(amount, Formula):
        return Formula(f"{edge.text} + {times:g}*({amount.text})")
    if isinstance(edge, Formula) and not isinstance(amount, Bound):
        return Formula(f"{edge.text} {'-' if amount < 0 else '+'} {abs(amount):g}")
    shift = amount if isinstance(amount, Bound) else Formula(f"{amount:g}")
    return _made(
        f"{edge} + {times:g} ({shift})", lambda where: _at(edge, where) + times * _at(shift, where), edge, shift
    )


def scaled(edge: Edge, factor: float) -> Edge:
    """An edge times a number.

    >>> print(scaled(edge_of("1/w"), 0.9))
    0.9 (1/w)
    """
    if isinstance(edge, Formula):
        return Formula(f"{factor:g}*({edge.text})")
    return _made(f"{factor:g} times {edge}", lambda where: factor * _at(edge, where), edge)


def _at(edge: Edge, where: Mapping[str, Any]) -> float:
    return edge.at({symbol: where[symbol] for symbol in edge.symbols})


def _made(words: str, value: Callable[[Mapping[str, Any]], float], *of: Edge) -> FunctionBound:
    """A function of all coordinates that the given edges depend on."""

    def made(**where: Any) -> float:
        return value(where)

    names = dict.fromkeys(symbol for edge in of for symbol in edge.symbols)
    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    made.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    made.__doc__ = words
    return FunctionBound(made)
