"""Where a claim is looked at: for each coordinate a strategy, from its name and from the values that are declared.

| coordinate | drawn |
|---|---|
| d | 2 to 12 |
| n | 2 to 20 half of the time, else spread over the decades to 1e6, or to the largest that is declared |
| w | 0 now and then, else spread over the decades to 1000, or to the largest that is declared |
| a law, by its name | named laws, links of one's own, jumps, networks, kernels, sums of them, written out |
| covariates, by their name | the sphere, ellipsoids and normal covariates of one to three variances, written out |
| positive numbers | over the decades from a tenth of the least declared to ten times the largest; 0 where it is |
| whole numbers | from the least declared to twice the largest |
| text, and values that give symbols a meaning | those that are declared |

All of it shrinks to what is simplest, and numbers have three digits. `search=` of a claim says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hypothesis import strategies as st

from lipverify.claims.family import Place, places
from lipverify.claims.forms import Form
from lipverify.claims.profile import Profile
from lipverify.errors import InvalidInput
from lipverify.problem.covariates import Covariates
from lipverify.problem.laws import law_named
from lipverify.problem.written import covariates_named
from lipverify.strategies import dimensions

LARGEST_D, LARGEST_N, LARGEST_W = 12, 1e6, 1e3
SPREAD = 10.0
FEW, LEAST_W = 20, 1e-3
STEPS_A_DECADE, STEPS = 100, 1000
DIGITS = 3


def places_of(
    form: Form, over: Mapping[Any, Any], given: Mapping[str, Any], profile: Profile
) -> st.SearchStrategy[Place]:
    """Points of a form's free coordinates: those of the claim, and its own."""
    declared: dict[str, dict[Any, Mapping[str, str]]] = {}
    for each in (over or None, form.over):
        for name, value, meaning in _declared(each, profile):
            declared.setdefault(name, {})[value] = meaning
    drawn = {name: _coordinate(name, values, given.get(name)) for name, values in declared.items()}

    def place(where: dict[str, Any]) -> Place:
        meaning = {
            symbol: text for name, value in where.items() for symbol, text in declared[name].get(value, {}).items()
        }
        return Place(where, meaning)

    return st.fixed_dictionaries(drawn).map(place)


def _declared(over: Any, profile: Profile) -> Iterator[tuple[str, Any, Mapping[str, str]]]:
    """Each coordinate with each of its values, and what symbols mean there."""
    for name, values in (over or {}).items():
        for place in places({name: values}, profile):
            for each, value in place.where.items():
                yield each, value, place.meaning


def _coordinate(name: str, values: Mapping[Any, Mapping[str, str]], given: Any) -> st.SearchStrategy[Any]:
    """The strategy of one coordinate."""
    known = list(values)
    if any(values.values()):
        return st.sampled_from(known)
    if all(isinstance(value, str) for value in known):
        if given is None or given == "lipschitz":
            if _are(law_named, known):
                return written_laws(given == "lipschitz")
            return written_covariates() if _are(_covariates, known) else st.sampled_from(known)
        return st.sampled_from(list(given))
    numbers = [value for value in known if isinstance(value, int | float)]
    if isinstance(given, list) or (isinstance(given, tuple) and len(given) != 2):
        return st.sampled_from(list(given))
    whole = all(isinstance(value, int) for value in (given or numbers))
    return _numbers(name, min(given or numbers), max(given or numbers), whole, given is not None)


def _numbers(name: str, low: float, high: float, whole: bool, fixed: bool) -> st.SearchStrategy[Any]:
    """Numbers of a coordinate, beyond those that are declared unless the ends are fixed."""
    if name == "d":
        return dimensions(*((int(low), int(high)) if fixed else (2, max(LARGEST_D, int(high)))))
    if name == "n":
        first, last = (low, high) if fixed else (min(2, low), max(LARGEST_N, high))
        if first > FEW:
            return decades(first, last).map(round)
        few = st.integers(int(first), int(min(last, FEW)))
        return few if last <= FEW else st.one_of(few, decades(FEW, last).map(round))
    if name == "w" and low >= 0:
        first, last = (low, high) if fixed else (0.0, max(LARGEST_W, high))
        return decades(first, last) if first > 0 else st.one_of(st.just(0.0), decades(LEAST_W, last))
    if whole:
        return st.integers(int(low), int(high) if fixed else max(2 * int(high), int(low) + 1))
    if low > 0:
        return decades(low, high) if fixed else decades(low / SPREAD, high * SPREAD)
    if low == 0 < high:
        return st.one_of(st.just(0.0), decades(high / SPREAD**2, high if fixed else high * SPREAD))
    room = 0.0 if fixed else (high - low) or abs(high) or 1.0
    first, last = low - room, high + room
    return st.integers(0, STEPS).map(lambda i: _short(first + (last - first) * i / STEPS))


def decades(low: float, high: float, digits: int = DIGITS) -> st.SearchStrategy[float]:
    """Numbers on a grid of `STEPS_A_DECADE`, both ends included; shrinks to 1 where that is between them.

    Whole numbers are drawn, for Hypothesis climbs towards a target by them, and not by fractions.

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
    """The value with few digits."""
    return float(f"{value:.{digits}g}")


def _are(meant: Callable[[str], object], known: list[str]) -> bool:
    """Whether each text has a meaning of this kind."""
    try:
        return bool([meant(text) for text in known])
    except InvalidInput:
        return False


def _covariates(text: str) -> Covariates:
    """In more than one dimension, where all of them are."""
    return covariates_named(text, LARGEST_D)


def written_covariates() -> st.SearchStrategy[str]:
    """Covariates written out. Shrinks to "sphere".

    >>> from hypothesis import find
    >>> find(written_covariates(), lambda x: "gaussian" in x)
    'gaussian(1)'
    """
    number = decades(0.1, 10.0, digits=2).map(lambda x: f"{x:g}")
    variances = st.lists(number, min_size=1, max_size=3).map(", ".join)
    words = st.sampled_from(["ellipsoid", "gaussian"])
    return st.one_of(st.just("sphere"), st.builds(lambda word, some: f"{word}({some})", words, variances))


def written_laws(lipschitz: bool = False) -> st.SearchStrategy[str]:
    """Laws written out; with `lipschitz` those of functions with slopes up to 1. Shrinks to "affine".

    >>> from hypothesis import find
    >>> find(written_laws(), lambda law: "+" in law)
    'affine + affine'
    """
    number = decades(0.1, 10.0, digits=2).map(lambda x: f"{x:g}")
    place = st.integers(-19, 19).map(lambda i: f"{i / 20:g}")
    at = st.lists(place, min_size=1, max_size=3, unique=True).map(lambda some: ", ".join(sorted(some, key=float)))
    weight = st.one_of(st.just("0"), number)
    steep = [st.builds(lambda j: f"power({j})", st.integers(1, 6)), number.map(lambda k: f"wave({k})")]
    smooth = [
        st.sampled_from(["affine", "relu", "quadratic", "cosine"]),
        *steep,
        at.map(lambda some: f"kinked({some})"),
    ]
    if lipschitz:
        return st.one_of(*smooth)
    coefficients = st.lists(weight, max_size=5).flatmap(lambda below: number.map(lambda k: ", ".join(["0", *below, k])))
    single = st.one_of(
        *smooth,
        number.map(lambda L: f"cosine({L})"),
        number.map(lambda bias: f"network({bias})"),
        at.map(lambda some: f"steps({some})"),
        coefficients.map(lambda k: f"zonal({k})"),
        coefficients.map(lambda c: f"series({c})"),
    )
    scaled = st.one_of(single, st.builds(lambda c, law: f"{c}*{law}", number, single))
    return st.one_of(single, scaled, st.builds(lambda one, other: f"{one} + {other}", scaled, scaled))
