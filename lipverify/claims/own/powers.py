"""What an exponent claims: a relation, two exponents, the dimensions and the ray; refused where they break a rule."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any, cast, get_args

import sympy

from lipverify.claims.claim import exponent
from lipverify.claims.expression import number_at
from lipverify.claims.own.fault import Fault
from lipverify.claims.own.statement import require
from lipverify.claims.own.values import Ray
from lipverify.claims.scaling import Side, allowed_exponents
from lipverify.errors import InvalidInput
from lipverify.scaling import FEWEST_POINTS

STRONGER = {"lower": "larger", "upper": "smaller", "theta": "another"}
"""What the exponent of a twin must be, so that something could refute it and support the claim."""


@dataclass(frozen=True, kw_only=True)
class Powers:
    """The exponent claimed and that of its control, in the dimensions and along the ray of the claim."""

    side: Side
    claimed: sympy.Expr
    control: sympy.Expr
    dimensions: tuple[int, ...]
    ray: Ray

    def __post_init__(self) -> None:
        for d in self.dimensions:
            value, twin = (self._at(name, d) for name in ("claimed", "control"))
            if _allows(self.side, twin, value):
                rule = f"a control of a {self.side} bound has {STRONGER[self.side]} exponent"
                raise Fault(
                    f"control = '{self.control}' cannot be refuted where the claim holds: at d = {d} it is {twin:g}, "
                    f"and the claim is {value:g}; {rule}.",
                    "control",
                )

    def _at(self, name: str, d: int) -> float:
        try:
            return number_at(getattr(self, name), {"d": d}, name)
        except InvalidInput as error:
            raise Fault(str(error), name) from None


def _allows(side: Side, twin: float, value: float) -> bool:
    """Whether the twin allows all that the claim allows."""
    wide, narrow = allowed_exponents(side, twin).ends, allowed_exponents(side, value).ends
    return wide[0] <= narrow[0] and narrow[1] <= wide[1]


def side_named(side: Any) -> Side:
    """The relation, if it is one."""
    if side not in get_args(Side):
        choice = '"lower" (Ω), "upper" (O) or "theta" (Θ)'
        raise Fault(f"no side: choose {choice}." if side is None else f"side = {side!r}: choose {choice}.", "side")
    return cast(Side, side)


def power_of(name: str, given: Any) -> sympy.Expr:
    """An expression in d, from text, a number or a SymPy expression."""
    require(name, given)
    if isinstance(given, bool) or not isinstance(given, str | int | float | sympy.Expr):
        raise Fault(f"{name} = {given!r}: an exponent is an expression in d, such as '1/(d + 2)'.", name)
    try:
        return exponent(str(given))
    except InvalidInput as error:
        raise Fault(str(error).replace("exponent", name, 1), name) from None


def dimensions_of(d: Any) -> tuple[int, ...]:
    """The dimensions, as integers."""
    rule = "the dimensions are different integers >= 2, such as (2, 3, 5)"
    try:
        found = tuple(operator.index(each) for each in d if not isinstance(each, bool))
    except TypeError:
        raise Fault(f"d = {d!r}: {rule}.", "d") from None
    if not found:
        raise Fault(f"d = {d!r}: there is no dimension, so nothing could refute the claim; {rule}.", "d")
    if min(found) < 2 or len(set(found)) < len(found):
        raise Fault(f"d = {d!r}: {rule}.", "d")
    return found


def ray_of(along: Any, start: Any, stop: Any, points: Any) -> Ray:
    """The ray, if it is long enough to decide anything."""
    if not isinstance(along, str) or not along.isidentifier() or along == "d":
        raise Fault(f"along = {along!r}: it is the name of what grows, such as 'n', and not d.", "along")
    for name, value in (("start", start), ("stop", stop)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
            raise Fault(f"{name} = {value!r}: the ends of the ray are positive finite numbers.", name)
    if points is not None and (isinstance(points, bool) or not isinstance(points, int)):
        raise Fault(f"points = {points!r}: the number of points is an integer.", "points")
    ray = Ray(along, float(start), float(stop), points)
    try:
        few = len(ray.ladder) < FEWEST_POINTS
    except InvalidInput as error:
        raise Fault(str(error), "points" if str(error).startswith("points") else "stop") from None
    if few:
        raise Fault(f"start = {start:g}: fewer than {FEWEST_POINTS} whole numbers on the ladder to {stop:g}.", "stop")
    return ray


def points_of(cross_at: Any) -> tuple[float, ...]:
    """The points of the ray at which a second method is asked."""
    numbers = isinstance(cross_at, list | tuple) and all(
        isinstance(s, int | float) and not isinstance(s, bool) and math.isfinite(s) and s > 0 for s in cross_at
    )
    if not numbers:
        raise Fault(f"cross_at = {cross_at!r}: it is a list of positive numbers, points of the ray.", "cross_at")
    return tuple(map(float, cross_at))
