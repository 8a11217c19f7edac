"""The search region of a claim: the range of each coordinate, from its name, the declared values and the assumptions.

| coordinate | drawn |
|---|---|
| d | 2 to 12 half of the time, else integers to 50 or to the largest declared value |
| n | 2 to 20 half of the time, else log-uniform to 1e6 or to the largest declared value |
| w | sometimes 0, else log-uniform to 1000 or to the largest declared value |
| L, sigma | log-uniform from a tenth of the least declared value to ten times the largest; 0 if it is declared |
| law, if the values are names of laws | named laws, kinks, jumps, covariances, their sums, as text |
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
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hypothesis import strategies as st

from lipverify.claims.evidence.ranges import Bound, bounds
from lipverify.claims.language.family import Point
from lipverify.claims.language.form import Form
from lipverify.claims.ledger.symbols import LETTERS
from lipverify.claims.plan.cells import grid
from lipverify.claims.plan.profile import Profile
from lipverify.errors import InvalidInput
from lipverify.foundation.latex import plain
from lipverify.problem.written import covariates_named, law_named
from lipverify.strategies import dimensions

LARGEST_D, LARGEST_N, LARGEST_W = 50, 1000000, 1e3
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


class Natural(NamedTuple):
    """The range of a number that the library knows: its least value, its kind, and the ends around declared ones."""

    least: int
    whole: bool
    ends: Callable[[float, float], tuple[float, float]]


NATURAL = {
    "d": Natural(2, True, lambda low, high: (2, max(LARGEST_D, high))),
    "n": Natural(1, True, lambda low, high: (min(2, low), max(LARGEST_N, high))),
    "w": Natural(0, False, lambda low, high: (0.0, max(LARGEST_W, high))),
    "L": Natural(0, False, lambda low, high: (low / SPREAD, high * SPREAD)),
    "sigma": Natural(0, False, lambda low, high: (low / SPREAD, high * SPREAD)),
}
"""The numbers that have a natural range."""
MEANT: Mapping[str, Callable[[str], object]] = {
    "law": law_named,
    "covariates": lambda text: covariates_named(text, LARGEST_D),
}
"""What a text means as the value of a coordinate; covariates in a dimension that is large enough for all of them."""


class Assumed(NamedTuple):
    """The assumptions about one coordinate: bounds, listed values, and for a law that slopes are <= 1."""

    bounds: tuple[Bound, ...] = ()
    values: tuple[Any, ...] = ()
    lipschitz: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The largest lower and the least upper bound; infinite without one."""
        low = (bound.end for bound in self.bounds if bound.relation in (">=", ">", "="))
        high = (bound.end for bound in self.bounds if bound.relation in ("<=", "<", "="))
        return max(low, default=-math.inf), min(high, default=math.inf)

    @property
    def bounded(self) -> bool:
        return not any(map(math.isinf, self.ends))

    @property
    def is_range(self) -> bool:
        """True if they say which values the coordinate takes."""
        return bool(self.values) or self.lipschitz or self.bounded

    def allows(self, value: Any) -> bool:
        return all(bound.within(value) for bound in self.bounds)


@dataclass(frozen=True)
class Axis:
    """A coordinate or several coupled ones: how values are drawn, and the range in words."""

    names: tuple[str, ...]
    strategy: st.SearchStrategy[Any]
    """Draws a tuple of values, one for each name."""
    words: str
    meaning: Mapping[tuple[Any, ...], Mapping[str, str]] = field(default_factory=dict)
    """The meanings of symbols for each tuple of values."""


def axes_of(form: Form, over: Mapping[Any, Any], assumed: Mapping[str, Assumed], profile: Profile) -> list[Axis]:
    """The axes of a form's free coordinates: those `over` of its claim and those of the form itself."""
    frozen = {name for control in (form.false, form.true) if isinstance(control, dict) for name in control}
    stated = {name for name, each in assumed.items() if each.is_range}
    axes: list[Axis] = []
    for key, values in itertools.chain((over or {}).items(), (form.over or {}).items()):
        names = key if isinstance(key, tuple) else (key,)
        declared = {tuple(point.where.values()): point.meaning for point in grid({key: values}, profile)}
        columns = dict(zip(names, (list(dict.fromkeys(column)) for column in zip(*declared, strict=True)), strict=True))
        as_declared = any(declared.values()) or bool(frozen & set(names))
        apart = len(names) == 1 or all(is_known(name, columns[name]) for name in names)
        if (as_declared or not apart) and not stated & set(names):
            axes.append(_declared(names, declared))
        else:
            axes += [_axis(name, known, assumed.get(name, Assumed())) for name, known in columns.items()]
    return axes


def points_of(axes: Sequence[Axis]) -> st.SearchStrategy[Point]:
    """A strategy that draws the points of the axes."""
    return st.tuples(*(axis.strategy for axis in axes)).map(lambda drawn: _point(axes, drawn))


def assumptions(texts: Iterable[str]) -> dict[str, Assumed]:
    r"""The assumptions about single coordinates, from texts that state nothing else.

    >>> found = assumptions(["n >= 100", r"$0 < p \leq 1$", "k in {1, 3}", "the tokens are independent"])
    >>> found["n"].ends, found["p"].ends, found["k"].values
    ((100.0, inf), (0.0, 1.0), (1, 3))
    """
    found: dict[str, Assumed] = {}
    lists = re.compile(r"\$?([A-Za-z_]\w*) \\?in \\?\{(.+?)\\?\}\$?")
    typed = {"≥": ">=", "≤": "<=", **LETTERS}
    for text in texts:
        written = "".join(typed.get(character, character) for character in plain(text))
        if conditions := bounds(re.sub(r"\s*([<>]=?)\s*", r" \1 ", written).strip()):
            before = found.get(conditions[0].name, Assumed())
            found[conditions[0].name] = before._replace(bounds=(*before.bounds, *conditions))
        elif listed := lists.fullmatch(text.strip()):  # not `written`: the plain text of a formula has no braces
            values = tuple(_value(value.strip()) for value in listed[2].split(","))
            found[listed[1]] = found.get(listed[1], Assumed())._replace(values=values)
        elif written in ("law is 1-Lipschitz", "the law is 1-Lipschitz"):
            found["law"] = found.get("law", Assumed())._replace(lipschitz=True)
    return found


def _value(text: str) -> Any:
    """A number as written, integer or not, or else the text."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def is_known(name: str, values: Sequence[Any]) -> bool:
    """True if a coordinate is known to the library, by its name and its values, and so has a natural range."""
    if name in MEANT:
        return _are(MEANT[name], values)
    natural = NATURAL.get(name)
    return natural is not None and all(
        isinstance(value, int | float) and value >= natural.least and (not natural.whole or float(value).is_integer())
        for value in values
    )


def _are(meant: Callable[[str], object], known: Sequence[Any]) -> bool:
    """True if each value is a text that `meant` can interpret."""
    try:
        return all(isinstance(text, str) and meant(text) is not None for text in known)
    except InvalidInput:
        return False


def _point(axes: Sequence[Axis], drawn: Sequence[tuple[Any, ...]]) -> Point:
    where: dict[str, Any] = {}
    meaning: dict[str, str] = {}
    for axis, values in zip(axes, drawn, strict=True):
        where |= dict(zip(axis.names, values, strict=True))
        meaning |= axis.meaning.get(values, {})
    return Point(where, meaning)


def _declared(names: tuple[str, ...], declared: Mapping[tuple[Any, ...], Mapping[str, str]]) -> Axis:
    """An axis of exactly the declared values."""
    values = [", ".join(map(_number, point)) for point in declared]
    together, values = (
        (f"({', '.join(names)})", [f"({value})" for value in values]) if len(names) > 1 else (names[0], values)
    )
    *most, last = values
    words = f"{together} = {', '.join(most)} or {last}" if most else f"{together} = {last}"
    return Axis(names, st.sampled_from(list(declared)), words, declared)


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _axis(name: str, declared: Sequence[Any], assumed: Assumed) -> Axis:
    """An axis of one coordinate with its range."""
    texts = any(isinstance(value, str) for value in declared)
    if assumed.values or (texts and not is_known(name, declared)):
        values = assumed.values or declared
        kept = [value for value in values if isinstance(value, str) or assumed.allows(value)]
        return _declared((name,), {(value,): {} for value in kept or values})
    if texts:
        strategy = written_laws(assumed.lipschitz) if name == "law" else written_covariates()
        words = f"{name} = {'any with slopes up to 1' if assumed.lipschitz else 'any that can be written out'}"
        return Axis((name,), st.tuples(strategy), words)
    return _numbers(name, declared, assumed)


def _numbers(name: str, declared: Sequence[Any], assumed: Assumed) -> Axis:
    """An axis of numbers between two ends, both included."""
    natural = NATURAL[name] if is_known(name, declared) else None
    low, high = assumed.ends if assumed.bounded else (min(declared), max(declared))
    whole = natural.whole if natural else all(isinstance(value, int) for value in declared) and low % 1 == high % 1 == 0
    if natural and not assumed.bounded:
        low, high = natural.ends(low, high)
    low, high = max(low, assumed.ends[0]), min(high, assumed.ends[1])
    if whole:
        low, high = math.ceil(low), math.floor(high)
    if low > high:
        raise InvalidInput(f"{name}: the assumptions exclude every value between {low:g} and {high:g}.")
    if low == high:
        return _declared((name,), {(low,): {}})
    strategy = _drawn(name if natural else "", low, high, whole).filter(assumed.allows)
    return Axis((name,), st.tuples(strategy), f"{name} = {_number(low)} to {_number(high)}")


def _drawn(known: str, low: float, high: float, whole: bool) -> st.SearchStrategy[Any]:
    """Numbers between two ends, more densely where exceptions to a statement about a `known` coordinate are."""
    if known == "d":
        wide = dimensions(int(low), int(high))
        return st.one_of(dimensions(int(low), FEW_D), wide) if low < FEW_D < high else wide
    if known == "n":
        few = [st.integers(int(low), int(min(high, FEW)))] if low < FEW else []
        return st.one_of(*few, *([decades(max(low, FEW), high).map(round)] if high > FEW else []))
    if whole:
        return st.integers(int(low), int(high))
    if low > 0 and high >= SPREAD * low:
        return decades(low, high)
    if low == 0:
        least = LEAST_W if known == "w" and high > LEAST_W else high / SPREAD**3
        return st.one_of(st.just(0.0), decades(least, high), _evenly(low, high))
    return _evenly(low, high)


def _evenly(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers on an even grid of `STEPS`, both ends included; shrinks to the lower one."""
    digits = DIGITS + max(0, math.floor(math.log10(max(abs(low), abs(high)) / (high - low))))
    return st.integers(0, STEPS).map(lambda i: min(max(_short(low + (high - low) * i / STEPS, digits), low), high))


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
    return float(f"{value:.{digits}g}")


def written_covariates() -> st.SearchStrategy[str]:
    """Covariates as text. Shrinks to "sphere"."""
    number = decades(0.1, 10.0, digits=2).map(lambda x: f"{x:g}")
    variances = st.lists(number, min_size=1, max_size=3).map(", ".join)
    words = st.sampled_from(["ellipsoid", "gaussian"])
    return st.one_of(st.just("sphere"), st.builds(lambda word, some: f"{word}({some})", words, variances))


def written_laws(lipschitz: bool = False) -> st.SearchStrategy[str]:
    """Laws as text; with `lipschitz` only functions with slopes up to 1. Shrinks to "affine"."""
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
        kinks.map(lambda text: f"steps({text})"),
        coefficients.map(lambda k: f"zonal({k})"),
        coefficients.map(lambda c: f"series({c})"),
    )
    scaled = st.one_of(single, st.builds(lambda c, law: f"{c}*{law}", number, single))
    return st.one_of(single, scaled, st.builds(lambda first, second: f"{first} + {second}", scaled, scaled))
