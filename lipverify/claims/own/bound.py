"""`bound_claim`: bounds on a value, declared over the function that measures it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import sympy

from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task, side_by_side
from lipverify.claims.ledger import Scalar, Source
from lipverify.claims.own.bounds import SIDES, Bounds, bounds_of
from lipverify.claims.own.drawings import bounds_figure, closest_found
from lipverify.claims.own.statement import (
    Declaration,
    Measured,
    Statement,
    caller_line,
    declare,
    measured_by,
    relative_error,
    stated_by,
)
from lipverify.claims.own.values import Point, value_at
from lipverify.claims.verdict import Interval, Verdict

if TYPE_CHECKING:
    from lipverify.claims.registry import Profile

F = TypeVar("F", bound=Callable[..., Any])
Bound = str | float
SIGN = {"low": "≥", "high": "≤"}


def bound_claim(
    *,
    id: str | None = None,
    title: str | None = None,
    statement: str | None = None,
    source: Source | tuple[str, str, str] | None = None,
    quantity: str | None = None,
    cells: Sequence[Mapping[str, Scalar]] = (),
    low: Bound | None = None,
    high: Bound | None = None,
    control: Bound | Mapping[str, Bound] | None = None,
    error: float | None = None,
    method: str = "own",
    cross_check: Callable[..., Any] | None = None,
    expected: Verdict | None = None,
    assumes: Sequence[str] = (),
    corrected: str = "",
) -> Callable[[F], F]:
    r"""Declare bounds on a value, cell by cell.

    It stands over a function in a claims file. The function is called by name with the coordinates of a cell, and with
    `seed`, `contexts` and `backend` if it takes them; it returns (value, error).

    Parameters
    ----------
    id, title, statement, source, quantity, method, expected, assumes, corrected
        As for `scaling_claim`.
    cells
        Where it is measured: coordinates by name, the same names in each; numbers, or text.
    low, high
        The bounds, one of them or both: expressions in the coordinates.
    control
        The bound of a falsified twin, in place of the one that is given; where both are, `dict(low=..., high=...)`.
        It must come out refuted in every cell.
    error
        Relative error of values that the function returns alone; where none is declared these are refused.
    cross_check
        Another function of the file, of the same coordinates, which must agree in every cell, or the claim is not
        decided.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    >>> @bound_claim(
    ...     id="mine.square", title="A square", statement=r"x^2 \leq x", source=("Notes", "p. 1", "smaller"),
    ...     quantity="x²", cells=[dict(x=0.5), dict(x=0.25)], high="x", control="x / 10", error=1e-15,
    ... )
    ... def square(x):
    ...     return x * x
    >>> square(x=0.5)
    0.25
    """
    stated = stated_by(
        id=id, title=title, statement=statement, source=source, quantity=quantity, expected=expected,
        assumes=assumes, corrected=corrected, method=method, line=caller_line(),
    )  # fmt: skip
    bounds, relative = bounds_of(cells, low, high, control), relative_error(error)
    names = tuple(bounds.points[0])
    other = None if cross_check is None else measured_by(cross_check, names, "cross_check")

    def decorate(function: F) -> F:
        declare(function, BoundDeclaration(stated, bounds, measured_by(function, names), relative, other))
        return function

    return decorate


@dataclass(frozen=True)
class BoundDeclaration(Declaration):
    """Bounds, with the function that measures."""

    statement: Statement
    bounds: Bounds
    measured: Measured
    error: float | None
    other: Measured | None

    def claim(self, profile: Profile) -> Claim:
        """A cell for each point."""
        stated, points = self.statement, self.bounds.points
        tasks = [self._value(self.measured, point, profile) for point in points]

        def values(results: dict[str, Any]) -> list[tuple[float, float]]:
            return [results[task.address] for task in tasks]

        return stated.claim(
            claimed=_said(stated.quantity, self.bounds.claimed),
            control=_said(stated.quantity, self.bounds.control),
            cells=tuple(self._cell(point, task) for point, task in zip(points, tasks, strict=True)),
            cross_checks=() if self.other is None else tuple(self._cross_checks(self.other, profile)),
            figures=lambda results: (bounds_figure(points, values(results), self._drawn(), stated.quantity),),
            finding=lambda results: closest_found(points, values(results), stated.quantity),
        )

    def _value(self, measured: Measured, point: dict[str, Scalar], profile: Profile) -> Task:
        return Task(value_at, (measured.found(), Point(point, measured.options(profile), self.error)))

    def _cell(self, point: dict[str, Scalar], task: Task) -> CellPlan:
        allowed = self.bounds.allowed("claimed", point)
        ends = {"low": allowed.low, "high": allowed.high}
        return CellPlan(
            where=point,
            task=task,
            quantity=self.statement.quantity,
            read=lambda found, _: Reading(Interval.around(*found)),
            claimed=", ".join(f"{SIGN[side]} {end:.6g}" for side, end in ends.items() if end is not None),
            allowed=allowed,
            control=self.bounds.allowed("control", point),
            method=self.statement.method,
        )

    def _drawn(self) -> dict[str, list[float]]:
        """The bounds in every cell, by what the figure calls them."""
        drawn = {}
        for name in ("claimed", "control"):
            for side in SIDES:
                ends = [getattr(self.bounds.allowed(name, point), side) for point in self.bounds.points]
                if None not in ends:
                    drawn[f"{name}: {'at least' if side == 'low' else 'at most'}"] = ends
        return drawn

    def _cross_checks(self, other: Measured, profile: Profile) -> list[CrossPlan]:
        return [
            CrossPlan(
                where=point,
                quantity=self.statement.quantity,
                methods=(self.statement.method, other.found().name),
                tasks=(self._value(self.measured, point, profile), self._value(other, point, profile)),
                read=side_by_side,
            )
            for point in self.bounds.points
        ]


def _said(quantity: str, bounds: Mapping[str, sympy.Expr]) -> str:
    return ", ".join(f"{quantity} {SIGN[side]} {bound}" for side, bound in bounds.items())
