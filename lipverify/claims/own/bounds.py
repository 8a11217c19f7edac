"""What a bound claims: the cells, and the range that the claim and its control allow in each; refused where broken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from lipverify.claims.expression import expression, number_at
from lipverify.claims.ledger import Scalar
from lipverify.claims.own.fault import Fault
from lipverify.claims.own.statement import require
from lipverify.claims.verdict import Allowed
from lipverify.errors import InvalidInput

SIDES = ("low", "high")


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The cells, and the bounds of the claim and of its twin."""

    points: tuple[dict[str, Scalar], ...]
    claimed: dict[str, sympy.Expr]
    control: dict[str, sympy.Expr]

    def __post_init__(self) -> None:
        for k, point in enumerate(self.points):
            claimed, control = self.allowed("claimed", point).ends, self.allowed("control", point).ends
            if not claimed[0] < claimed[1]:
                rule = "an interval with an error fits between low and high only where low < high"
                raise Fault(f"low = {claimed[0]:g} and high = {claimed[1]:g} at {_said_at(point)}: {rule}.", "low")
            if not control[0] <= control[1]:
                raise Fault(f"control = {control}: its low is above its high at {_said_at(point)}.", "control")
            if control[0] <= claimed[0] and claimed[1] <= control[1]:
                raise Fault(
                    f"control cannot be refuted where the claim holds: in cell {k + 1}, {_said_at(point)}, it allows "
                    "whatever the claim allows; a control is a bound that the truth breaks.",
                    "control",
                )

    def allowed(self, name: str, point: Mapping[str, Scalar]) -> Allowed:
        """The range that the claim or its control allows in a cell."""
        bounds: dict[str, sympy.Expr] = getattr(self, name)
        try:
            ends = {
                side: number_at(bound, point, "control" if name == "control" else side)
                for side, bound in bounds.items()
            }
        except InvalidInput as error:
            raise Fault(str(error), "control" if name == "control" else str(error).split()[0]) from None
        return Allowed(low=ends.get("low"), high=ends.get("high"))


def bounds_of(cells: Any, low: Any, high: Any, control: Any) -> Bounds:
    """The bounds in the cells, from what is declared."""
    points = _points(cells)
    symbols = tuple(name for name in points[0] if not any(isinstance(point[name], str) for point in points))
    require("control", control)
    return Bounds(
        points=points,
        claimed=_sides({"low": low, "high": high}, symbols),
        control=_sides(_twin(control, low, high), symbols, "control"),
    )


def _said_at(point: Mapping[str, Scalar]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items())


def _points(cells: Any) -> tuple[dict[str, Scalar], ...]:
    """The cells, refused unless they are different points with the same coordinates."""
    rule = "cells are a list of coordinates by name, such as [dict(d=3, n=100, w=5.0)]"
    if not isinstance(cells, list | tuple):
        raise Fault(f"cells = {cells!r}: {rule}.", "cells")
    if not cells:
        raise Fault(f"cells = {cells!r}: there is no cell, so nothing could refute the claim; {rule}.", "cells")
    for k, cell in enumerate(cells):
        if not isinstance(cell, Mapping) or not cell or not all(isinstance(name, str) for name in cell):
            raise Fault(f"cell {k + 1} = {cell!r}: {rule}.", "cells", k)
        if set(cell) != set(cells[0]):
            raise Fault(f"cell {k + 1} = {cell!r}: its coordinates are not those of the first cell.", "cells", k)
        if not all(_is_coordinate(value) for value in cell.values()):
            raise Fault(f"cell {k + 1} = {cell!r}: a coordinate is a finite number or text.", "cells", k)
        if cell in cells[:k]:
            raise Fault(f"cell {k + 1} = {cell!r}: it is there twice.", "cells", k)
    return tuple({name: cell[name] for name in cells[0]} for cell in cells)


def _is_coordinate(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    )


def _sides(given: Mapping[str, Any], symbols: Sequence[str], keyword: str = "") -> dict[str, sympy.Expr]:
    """The bounds that are given, as expressions in the coordinates."""
    found = {}
    for side, text in given.items():
        if text is None:
            continue
        if isinstance(text, bool) or not isinstance(text, str | int | float | sympy.Expr):
            raise Fault(
                f"{keyword or side} = {text!r}: a bound is an expression in {', '.join(symbols)}.", keyword or side
            )
        try:
            found[side] = expression(str(text), symbols, keyword or side)
        except InvalidInput as error:
            raise Fault(str(error), keyword or side) from None
    if not found:
        raise Fault("no bound: give low, high or both, as expressions in the coordinates of the cells.")
    return found


def _twin(control: Any, low: Any, high: Any) -> dict[str, Any]:
    """The bounds of the control: one expression stands in place of the only bound that is given."""
    if isinstance(control, Mapping):
        if not control or set(control) - set(SIDES):
            raise Fault(f"control = {control!r}: it is dict(low=...), dict(high=...) or both.", "control")
        return dict(control)
    if low is not None and high is not None:
        raise Fault(
            f"control = {control!r}: which bound is it? Write dict(low=...), dict(high=...) or both.", "control"
        )
    return {"low" if low is not None else "high": control}
