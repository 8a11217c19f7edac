"""The growth of a measured quantity along a ray, as a measurement that needs the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lipverify.claims.ledger.record import Ray
from lipverify.claims.plan.measured import Point, calling, number
from lipverify.errors import InvalidInput

if TYPE_CHECKING:
    from lipverify.scaling import Growth  # a claim is planned without a numerical library


def growth_along(
    function: Callable[..., Any], ray: Ray, point: Point, of: str, error: float | None, *values: Any
) -> Growth:
    """The growth of a quantity along a ray, from the values that were measured there.

    Raises
    ------
    InvalidInput
        If a value is not positive: what grows like a power is.
    """
    from lipverify.scaling import growth_of

    found = [number(value, of, error, f"{calling(function, point)} at {ray.along}={s:g}") for s, value in
             zip(ray.ladder, values, strict=True)]  # fmt: skip
    for s, (value, _) in zip(ray.ladder, found, strict=True):
        if value <= 0:
            rule = "what grows like a power is positive"
            raise InvalidInput(f"{calling(function, point)} is {value:g} at {ray.along}={s:g}; {rule}.")
    return growth_of(ray.ladder, [value for value, _ in found], [spread / value for value, spread in found])
