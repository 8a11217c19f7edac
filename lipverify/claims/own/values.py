"""The tasks of declared claims: one value of a function of one's own, and its growth along a ray."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from lipverify.claims.own.file import FileFunction
from lipverify.errors import InvalidInput
from lipverify.scaling import Growth, growth_of, ladder


class Ray(msgspec.Struct, frozen=True):
    """What grows, from where to where, on how many points; `points` None is one a decade.

    >>> str(Ray("n", 1e4, 1e30))
    'n = 10000 to 1e+30'
    """

    along: str
    start: float
    stop: float
    points: int | None = None

    def __str__(self) -> str:
        points = "" if self.points is None else f" in {self.points} points"
        return f"{self.along} = {self.start:g} to {self.stop:g}{points}"

    @property
    def ladder(self) -> tuple[float, ...]:
        """The points; those of n are whole numbers."""
        rungs = ladder(self.start, self.stop, self.points)
        return tuple(dict.fromkeys(float(round(s)) for s in rungs)) if self.along == "n" else rungs


class Point(msgspec.Struct, frozen=True):
    """Where a function is called: coordinates, what it takes beside them, and the relative error of a bare value.

    >>> str(Point({"d": 3, "n": 1e4}, {"seed": 0}, None))
    'd=3, n=10000.0, seed=0'
    """

    where: dict[str, Any]
    options: dict[str, Any]
    error: float | None

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in (self.where | self.options).items())
        return given if self.error is None else f"{given} within {self.error!r}"


def value_at(function: FileFunction, point: Point) -> tuple[float, float]:
    """(value, error) of a function at one point, refused unless both are finite.

    A value that comes by itself has the declared relative error; where none is declared it is refused.
    """
    error, returned = point.error, function(**point.where, **point.options)
    call = f"{function.name}({', '.join(f'{name}={value}' for name, value in point.where.items())})"
    pair = isinstance(returned, tuple | list | np.ndarray) and np.size(returned) == 2 == len(returned)
    if not pair and error is None:
        way_out = "return (value, error), or declare the relative error: error=1e-10"
        raise InvalidInput(f"{call} returned {returned!r}, a value without an error; {way_out} ({function.place}).")
    parts = tuple(map(_number, returned if pair else (returned, 0.0)))
    value, spread = parts if pair else (parts[0], (error or 0.0) * abs(parts[0]))
    if not (math.isfinite(value) and math.isfinite(spread) and spread >= 0):
        rule = "it must return a finite real number, or (value, error) with an error >= 0"
        raise InvalidInput(f"{call} returned {returned!r}; {rule} ({function.place}).")
    return value, spread


def growth_along(
    function: FileFunction,
    ray: Ray,
    d: int,
    options: Mapping[str, Any],
    error: float | None,
    *values: tuple[float, float],
) -> Growth:
    """The growth of a function's values along a ray; the first arguments name it, the values are its evidence."""
    for s, (value, _) in zip(ray.ladder, values, strict=True):
        if value <= 0:
            place = f"{ray.along}={s:g}, d={d}"
            rule = "what grows like a power is positive"
            raise InvalidInput(f"{function.name} is {value:g} at {place}; {rule} ({function.place}).")
    return growth_of(ray.ladder, [value for value, _ in values], [spread / value for value, spread in values])


def _number(value: Any) -> float:
    """A real number as a float; not-a-number for anything else."""
    if isinstance(value, bool | str | bytes) or np.iscomplexobj(value) or np.ndim(value) != 0:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
