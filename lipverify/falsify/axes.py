"""The search region of a claim: the range of each coordinate, from its name, the declared values and the assumptions.

| coordinate | drawn |
|---|---|
| d | 2 to 12 half of the time, else integers to 50 or to the largest declared value |
| n | 2 to 20 half of the time, else log-uniform to 1e6 or to the largest declared value |
| w | sometimes 0, else log-uniform to 1000 or to the largest declared value |
| L, sigma | log-uniform from a tenth of the least declared value to ten times the largest; 0 if it is declared |
| law, if the values are names of laws | named laws, kinks, jumps, networks, covariances, their sums, as text |
| covariates, likewise | the sphere, ellipsoids and normal covariates of one to three variances, as text |
| any other number | from the least to the largest declared value; integers stay integers |
| text, values that define symbols, coordinates of a control, and those that `over` couples | as declared |

A name in the upper half has its natural range, because a statement about d without further conditions is meant for
every d. The range of any other coordinate follows from its declared values or from an assumption of the claim:
"n >= 100" is a bound, "0 <= p <= 1" is the range, "n in {50, 60}" lists the values, and "law is 1-Lipschitz" draws
functions with slopes up to 1. Everything shrinks to the simplest values; numbers have three digits.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import strategies as st

from lipverify.claims.language.family import Point
from lipverify.claims.language.form import Form
from lipverify.claims.ledger.symbols import LETTERS
from lipverify.claims.plan.cells import grid
from lipverify.claims.plan.profile import Profile
from lipverify.errors import InvalidInput
from lipverify.foundation.latex import plain
from lipverify.problem.covariates import Covariates
from lipverify.problem.written import covariates_named, law_named
from lipverify.strategies import dimensions

LARGEST_D, LARGEST_N, LARGEST_W = 50, 1e6, 1e3
"""Ends of the ranges of d, n and w where neither the claim nor the user states others."""
SPREAD = 10.0
"""Factor by which the range of any other coordinate is extended, and ratio of its ends from which it is searched by
decades."""
FEW, FEW_D, LEAST_W = 20, 12, 1e-3
"""Half of the draws of n and d are at most the first and the second, where exceptions are more frequent; w > 0 is at
least the third."""
STEPS_A_DECADE, STEPS = 100, 1000
"""Points of a logarithmic grid and of an even one: a grid shrinks to a short number."""
DIGITS = 3
"""Significant digits of a drawn number, so that a counterexample is short."""
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
ASSUMED = re.compile(rf"(?:({NUMBER}) (<=?) )?([A-Za-z_]\w*)(?: ([<>]=?) ({NUMBER}))?")
"""An assumption that bounds a coordinate, such as "n >= 100" or "0 < p <= 0.5"."""

LISTED = re.compile(r"\$?([A-Za-z_]\w*) \\?in \\?\{(.+?)\\?\}\$?")
"""An assumption that lists values, such as "n in {50, 60}"; the plain text of a formula has no braces."""
LIPSCHITZ = re.compile(r"(?:the )?law is 1-Lipschitz")
_TYPED = {"≥": ">=", "≤": "<=", **LETTERS}
"""ASCII forms of relations and Greek letters."""

Bounds = Mapping[str, Sequence[tuple[str, float]]]
"""Relations that a coordinate must satisfy, such as [(">=", 100)]."""


class Assumed(NamedTuple):
    """The assumptions of a claim that concern single coordinates.

    Attributes
    ----------
    bounds
        Relations that a coordinate must satisfy.
    ranges
        Ranges to draw from: (low, high) for coordinates bounded on both sides, lists of values, "lipschitz" for a law.
    """

    bounds: Bounds
    ranges: Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A coordinate or several coupled ones: how values are drawn, the range in words, and a membership test."""

    names: tuple[str, ...]
    strategy: st.SearchStrategy[Any]
    """Draws a tuple of values, one for each name."""
    words: str
    holds: Callable[[tuple[Any, ...]], bool]
    meaning: Mapping[tuple[Any, ...], Mapping[str, str]]
    """The meanings of symbols for each tuple of values."""


def axes_of(form: Form, over: Mapping[Any, Any], assumed: Assumed, profile: Profile) -> list[Axis]:
    """The axes of a form's free coordinates: those of its claim and those of the form itself.

    Parameters
    ----------
    form, over
        The form, and the free coordinates of its claim.
    assumed
        The assumptions about coordinates, from `assumptions`.
    """
    bounds, given = assumed
    frozen = {name for control in (form.false, form.true) if isinstance(control, dict) for name in control}
    axes: list[Axis] = []
    for key, values in itertools.chain((over or {}).items(), (form.over or {}).items()):
        names = key if isinstance(key, tuple) else (key,)
        declared = {tuple(point.where.values()): point.meaning for point in grid({key: values}, profile)}
        columns = dict(zip(names, (list(dict.fromkeys(column)) for column in zip(*declared, strict=True)), strict=True))
        as_declared = any(declared.values()) or bool(frozen & set(names))
        apart = len(names) == 1 or all(is_known(name, columns[name]) for name in names)
        if (as_declared or not apart) and not set(names) & set(given):
            axes.append(_declared(names, declared))
        else:
            for name, known in columns.items():
                axes.append(_axis(name, known, given.get(name), bounds.get(name, ())))
    return axes


def points_of(axes: Sequence[Axis]) -> st.SearchStrategy[Point]:
    """A strategy that draws the points of the axes."""
    return st.tuples(*(axis.strategy for axis in axes)).map(lambda drawn: _point(axes, drawn))


def lies_in(axes: Sequence[Axis], point: Point) -> bool:
    """True if a point could be drawn; a stored counterexample may lie outside the present region."""
    names = {name for axis in axes for name in axis.names}
    return names == set(point.where) and all(
        axis.holds(tuple(point.where[name] for name in axis.names)) for axis in axes
    )


def assumptions(texts: Iterable[str]) -> Assumed:
    r"""The assumptions about single coordinates, from texts that state nothing else.

    >>> found = assumptions(["n >= 100", r"$0 < p \leq 1$", "k in {1, 3}", "the tokens are independent"])
    >>> found.bounds
    {'n': [('>=', 100)], 'p': [('>', 0), ('<=', 1)]}
    >>> found.ranges
    {'k': [1, 3], 'p': (0, 1)}
    """
    relations_of: dict[str, list[tuple[str, float]]] = {}
    ranges: dict[str, Any] = {}
    for text in texts:
        written = "".join(_TYPED.get(character, character) for character in plain(text))
        match = ASSUMED.fullmatch(re.sub(r"\s*([<>]=?)\s*", r" \1 ", written).strip())
        if match:
            low, below, name, sign, bound = match.groups()
            relations = [(below.replace("<", ">"), _value(low))] if low else []
            relations_of.setdefault(name, []).extend([*relations, *([(sign, _value(bound))] if sign else [])])
        elif listed := LISTED.fullmatch(text.strip()):
            ranges[listed[1]] = [_value(value.strip()) for value in listed[2].split(",")]
        elif LIPSCHITZ.fullmatch(written):
            ranges["law"] = "lipschitz"
    bounds = {name: relations for name, relations in relations_of.items() if relations}
    for name, relations in bounds.items():
        low = [bound for sign, bound in relations if sign in (">", ">=")]
        high = [bound for sign, bound in relations if sign in ("<", "<=")]
        if low and high:
            ranges[name] = (max(low), min(high))
    return Assumed(bounds, ranges)


def _value(text: str) -> Any:
    """A number as written, integer or not, or else the text."""
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(NUMBER, text) else text


def is_known(name: str, values: Sequence[Any]) -> bool:
    """True if a coordinate is known to the library, by its name and its values, and so has a natural range.

    >>> is_known("d", [2, 3]), is_known("d", [0.5]), is_known("p", [0.5]), is_known("law", ["relu", "affine"])
    (True, False, False, True)
    """
    if name == "law":
        return _are(law_named, values)
    if name == "covariates":
        return _are(_covariates, values)
    least = {"d": 2, "n": 1, "w": 0, "L": 0, "sigma": 0}.get(name)
    numbers = all(isinstance(value, int | float) for value in values)
    return least is not None and numbers and all(
        value >= least and (name not in ("d", "n") or float(value).is_integer()) for value in values
    )  # fmt: skip


def _point(axes: Sequence[Axis], drawn: Sequence[tuple[Any, ...]]) -> Point:
    where: dict[str, Any] = {}
    meaning: dict[str, str] = {}
    for axis, values in zip(axes, drawn, strict=True):
        where |= dict(zip(axis.names, values, strict=True))
        meaning |= axis.meaning.get(values, {})
    return Point(where, meaning)


def _declared(names: tuple[str, ...], declared: Mapping[tuple[Any, ...], Mapping[str, str]]) -> Axis:
    """An axis of exactly the declared values."""
    points = list(declared)
    values = [", ".join(map(_number, point)) for point in points]
    together = f"({', '.join(names)})" if len(names) > 1 else names[0]
    description = f"{together} = {_listed([f'({value})' for value in values] if len(names) > 1 else values)}"
    return Axis(names, st.sampled_from(points), description, declared.__contains__, declared)


def _axis(name: str, declared: Sequence[Any], given: Any, relations: Sequence[tuple[str, float]]) -> Axis:
    """An axis of one coordinate with its range."""

    def kept(value: Any) -> bool:
        """True if a value satisfies the assumed relations."""
        return all(RELATIONS[sign](value, bound) for sign, bound in relations)

    def listed(values: Sequence[Any]) -> Axis:
        known = [value for value in values if isinstance(value, str) or kept(value)] or list(values)
        return _declared((name,), {(value,): {} for value in known})

    texts = any(isinstance(value, str) for value in declared)
    if texts and is_known(name, declared) and given in (None, "lipschitz"):
        strategy = written_laws(given == "lipschitz") if name == "law" else written_covariates()
        meant = law_named if name == "law" else _covariates
        text = f"{name} = {'any that can be written out' if given is None else 'any with slopes up to 1'}"
        return Axis((name,), _single(strategy), text, lambda values: _are(meant, values), {})
    if texts or isinstance(given, list) or (isinstance(given, tuple) and len(given) != 2):
        return listed(declared if given is None else given)
    low, high, whole = _ends(name, declared, given)
    low = max([low, *(bound for sign, bound in relations if sign in (">", ">="))])
    high = min([high, *(bound for sign, bound in relations if sign in ("<", "<="))])
    if whole:
        low, high = math.ceil(low), math.floor(high)
    if low > high:
        raise InvalidInput(f"{name}: the assumptions exclude every value between {low:g} and {high:g}.")
    if low == high:
        return listed([low])
    numbers = _single(_numbers(name, low, high, whole, is_known(name, declared)).filter(kept))

    def holds(values: tuple[Any, ...]) -> bool:
        [value] = values
        number = isinstance(value, int | float) and low <= value <= high and kept(value)
        return number and (not whole or float(value).is_integer())

    return Axis((name,), numbers, f"{name} = {_number(low)} to {_number(high)}", holds, {})


RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


def _ends(name: str, declared: Sequence[Any], given: Any) -> tuple[float, float, bool]:
    """The least and the largest number of a coordinate, and whether it takes only integers."""
    known = is_known(name, declared)
    low, high = min(given or declared), max(given or declared)
    ends = (low, high) if given is not None else declared
    whole = name in ("d", "n") if known else all(isinstance(value, int) for value in (*declared, *ends))
    if given is not None or not known:
        return low, high, whole
    if name == "d":
        return 2, max(LARGEST_D, int(high)), whole
    if name == "n":
        return min(2, int(low)), max(int(LARGEST_N), int(high)), whole
    return (0.0, max(LARGEST_W, high), whole) if name == "w" else (low / SPREAD, high * SPREAD, whole)


def _numbers(name: str, low: float, high: float, whole: bool, known: bool) -> st.SearchStrategy[Any]:
    """Numbers between the ends, both included."""
    if name == "d" and known:
        wide = dimensions(int(low), int(high))
        return st.one_of(dimensions(int(low), FEW_D), wide) if low < FEW_D < high else wide
    if name == "n" and known:
        spread = decades(max(low, FEW), high).map(round) if high > FEW else None
        few = st.integers(int(low), int(min(high, FEW))) if low < FEW else None
        return st.one_of(*(strategy for strategy in (few, spread) if strategy is not None))
    if whole:
        return st.integers(int(low), int(high))
    if low > 0 and high >= SPREAD * low:
        return decades(low, high)
    if low == 0:
        least = LEAST_W if name == "w" and known and high > LEAST_W else high / SPREAD**3
        return st.one_of(st.just(0.0), decades(least, high), _evenly(low, high))
    return _evenly(low, high)


def _evenly(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers on an even grid of `STEPS`, both ends included; shrinks to the lower one.

    >>> from hypothesis import find
    >>> find(_evenly(0.2, 0.8), lambda p: p > 0.5)
    0.501
    """
    digits = DIGITS + max(0, math.floor(math.log10(max(abs(low), abs(high)) / (high - low))))
    return st.integers(0, STEPS).map(lambda i: min(max(_short(low + (high - low) * i / STEPS, digits), low), high))


def _single(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(strategy)


def _listed(values: Sequence[Any]) -> str:
    """A list of values in words.

    >>> _listed([2, 3, 0.5]), _listed(["yes"])
    ('2, 3 or 0.5', 'yes')
    """
    *most, last = map(_number, values)
    return f"{', '.join(most)} or {last}" if most else last


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def decades(low: float, high: float, digits: int = DIGITS) -> st.SearchStrategy[float]:
    """Numbers on a logarithmic grid of `STEPS_A_DECADE`, both ends included; shrinks to 1 if the grid contains it.

    The strategy draws integers, because Hypothesis climbs towards a target by steps of integers but not of floats.

    >>> from hypothesis import find
    >>> find(decades(0.01, 100.0), lambda x: x > 3), find(decades(0.3, 0.5), lambda x: x > 0.45)
    (3.02, 0.5)
    """
    first, last = math.ceil(STEPS_A_DECADE * math.log10(low)), math.floor(STEPS_A_DECADE * math.log10(high))

    def number(i: int) -> float:
        if first <= i <= last:
            return min(max(_short(10.0 ** (i / STEPS_A_DECADE), digits), low), high)
        return low if i < first else high

    return st.integers(first - 1, last + 1).map(number)


def _short(value: float, digits: int = DIGITS) -> float:
    """The value rounded to a few digits."""
    return float(f"{value:.{digits}g}")


def _are(meant: Callable[[str], object], known: Sequence[Any]) -> bool:
    """True if each value is a text that `meant` can interpret."""
    try:
        return all(isinstance(text, str) and meant(text) is not None for text in known)
    except InvalidInput:
        return False


def _covariates(text: str) -> Covariates:
    """Covariates from text, in a dimension large enough for all of them."""
    return covariates_named(text, LARGEST_D)


def written_covariates() -> st.SearchStrategy[str]:
    """Covariates as text. Shrinks to "sphere".

    >>> from hypothesis import find
    >>> find(written_covariates(), lambda x: "gaussian" in x)
    'gaussian(1)'
    """
    number = decades(0.1, 10.0, digits=2).map(lambda x: f"{x:g}")
    variances = st.lists(number, min_size=1, max_size=3).map(", ".join)
    words = st.sampled_from(["ellipsoid", "gaussian"])
    return st.one_of(st.just("sphere"), st.builds(lambda word, some: f"{word}({some})", words, variances))


def written_laws(lipschitz: bool = False) -> st.SearchStrategy[str]:
    """Laws as text; with `lipschitz` only functions with slopes up to 1. Shrinks to "affine".

    >>> from hypothesis import find
    >>> find(written_laws(), lambda law: "+" in law)
    'affine + affine'
    """
    number = decades(0.1, 10.0, digits=2).map(lambda x: f"{x:g}")
    kink = st.integers(-19, 19).map(lambda i: f"{i / 20:g}")
    kinks = st.lists(kink, min_size=1, max_size=3, unique=True).map(lambda drawn: ", ".join(sorted(drawn, key=float)))
    weight = st.one_of(st.just("0"), number)
    steep = [st.builds(lambda j: f"power({j})", st.integers(1, 6)), number.map(lambda k: f"wave({k})")]
    smooth = [
        st.sampled_from(["affine", "relu", "quadratic", "cosine"]),
        *steep,
        kinks.map(lambda text: f"kinked({text})"),
    ]
    if lipschitz:
        return st.one_of(*smooth)
    coefficients = st.lists(weight, max_size=5).flatmap(lambda below: number.map(lambda k: ", ".join(["0", *below, k])))
    single = st.one_of(
        *smooth,
        number.map(lambda L: f"cosine({L})"),
        number.map(lambda bias: f"network({bias})"),
        kinks.map(lambda text: f"steps({text})"),
        coefficients.map(lambda k: f"zonal({k})"),
        coefficients.map(lambda c: f"series({c})"),
    )
    scaled = st.one_of(single, st.builds(lambda c, law: f"{c}*{law}", number, single))
    return st.one_of(single, scaled, st.builds(lambda first, second: f"{first} + {second}", scaled, scaled))
