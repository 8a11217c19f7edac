"""`scaling_claim`: an exponent along a ray, declared over the function that measures the quantity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import sympy

from lipverify.claims.claim import Claim, CrossPlan, Task, side_by_side
from lipverify.claims.ledger import Source
from lipverify.claims.own.drawings import exponents_found, slopes_figure
from lipverify.claims.own.powers import Powers, dimensions_of, points_of, power_of, ray_of, side_named
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
from lipverify.claims.own.values import Point, growth_along, value_at
from lipverify.claims.scaling import Side, scaling_cell
from lipverify.claims.verdict import Verdict
from lipverify.scaling import DEFAULT_ERROR, Growth

if TYPE_CHECKING:
    from lipverify.claims.registry import Profile

F = TypeVar("F", bound=Callable[..., Any])
SYMBOL = {"lower": "Ω", "upper": "O", "theta": "Θ"}


def scaling_claim(
    *,
    id: str | None = None,
    title: str | None = None,
    statement: str | None = None,
    source: Source | tuple[str, str, str] | None = None,
    quantity: str | None = None,
    side: Side | None = None,
    claimed: str | float | None = None,
    control: str | float | None = None,
    d: Sequence[int] = (),
    along: str = "n",
    start: float = 1e4,
    stop: float = 1e30,
    points: int | None = None,
    error: float | None = None,
    method: str = "own",
    cross_check: Callable[..., Any] | None = None,
    cross_at: Sequence[float] = (),
    expected: Verdict | None = None,
    assumes: Sequence[str] = (),
    corrected: str = "",
) -> Callable[[F], F]:
    r"""Declare that a positive quantity grows like a power of n (or of whatever grows), in each dimension.

    It stands over a function in a claims file. The function is called by name with `d`, with what grows, and with
    `seed`, `contexts` and `backend` if it takes them; it returns (value, error), or a value alone.

    Parameters
    ----------
    id
        `family.name`, and then whatever tells readings of one statement apart, joined by "/".
    title, statement
        What is claimed, in words and in LaTeX.
    source
        (paper, place, what is printed there); the last may hold `$LaTeX$`.
    quantity
        What the function measures, such as "w*".
    side
        "lower" for Ω, "upper" for O, "theta" for Θ.
    claimed, control
        The exponent, and that of a falsified twin which must come out refuted on the same evidence: expressions in d.
    d
        Dimensions, integers >= 2; the claim is refuted if it is at any of them.
    along, start, stop, points
        What grows, from where to where (two decades at least), on how many points (one a decade by default). If it is
        n, the points are whole numbers.
    error
        Relative error of values that come alone; 1e-12 by default, as `lipverify.growth` takes them.
    method
        How the function measures: "exact", "montecarlo", or any other word.
    cross_check, cross_at
        Another function of the file, of the same arguments, which must agree at these points of the ray (its start by
        default), or the claim is not decided.
    expected
        The recorded verdict, which the run is compared with; left out as long as the claim is new.
    assumes
        Assumptions, as texts.
    corrected
        What holds in place of what is printed, if it is known.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.

    >>> @scaling_claim(
    ...     id="mine.root", title="A root", statement=r"q = \Theta(n^{1/d})", source=("Notes", "p. 1", "a root"),
    ...     quantity="q", side="theta", claimed="1/d", control="1/(d + 1)", d=(2, 3),
    ... )
    ... def root(d, n):
    ...     return n ** (1 / d) + 1
    >>> root(d=2, n=4.0)
    3.0
    """
    stated = stated_by(
        id=id, title=title, statement=statement, source=source, quantity=quantity, expected=expected,
        assumes=assumes, corrected=corrected, method=method, line=caller_line(),
    )  # fmt: skip
    powers = Powers(
        side=side_named(side),
        claimed=power_of("claimed", claimed),
        control=power_of("control", control),
        dimensions=dimensions_of(d),
        ray=ray_of(along, start, stop, points),
    )
    relative = DEFAULT_ERROR if error is None else relative_error(error)
    other = None if cross_check is None else measured_by(cross_check, ("d", along), "cross_check")
    at = points_of(cross_at or (start,))

    def decorate(function: F) -> F:
        measured = measured_by(function, ("d", along))
        declare(function, ScalingDeclaration(stated, powers, measured, relative, other, at))
        return function

    return decorate


@dataclass(frozen=True)
class ScalingDeclaration(Declaration):
    """An exponent, with the function that measures."""

    statement: Statement
    powers: Powers
    measured: Measured
    error: float | None
    other: Measured | None
    cross_at: tuple[float, ...]

    def claim(self, profile: Profile) -> Claim:
        """A cell for each dimension; its growth needs a value at each point of the ray."""
        stated, powers = self.statement, self.powers
        tasks = {d: self._growth(d, profile) for d in powers.dimensions}
        quantity = f"limit exponent of {stated.quantity} in {powers.ray.along}"
        return stated.claim(
            claimed=self._said(powers.claimed),
            control=self._said(powers.control),
            cells=tuple(
                replace(
                    scaling_cell(task, _itself, quantity, powers.side, powers.claimed, powers.control, d),
                    method=stated.method,
                )
                for d, task in tasks.items()
            ),
            cross_checks=() if self.other is None else tuple(self._cross_checks(self.other, profile)),
            figures=lambda results: (
                slopes_figure(
                    _growths(tasks, results),
                    powers.claimed,
                    powers.control,
                    powers.side,
                    powers.ray.along,
                    stated.quantity,
                ),
            ),
            finding=lambda results: exponents_found(_growths(tasks, results), stated.quantity),
        )

    def _said(self, power: sympy.Expr) -> str:
        return f"{self.statement.quantity} = {SYMBOL[self.powers.side]}({self.powers.ray.along}^({power}))"

    def _value(self, measured: Measured, d: int, s: float, profile: Profile) -> Task:
        point = Point({"d": d, self.powers.ray.along: s}, measured.options(profile), self.error)
        return Task(value_at, (measured.found(), point))

    def _growth(self, d: int, profile: Profile) -> Task:
        ray, measured = self.powers.ray, self.measured
        arguments = (measured.found(), ray, d, measured.options(profile), self.error)
        return Task(growth_along, arguments, tuple(self._value(measured, d, s, profile) for s in ray.ladder))

    def _cross_checks(self, other: Measured, profile: Profile) -> list[CrossPlan]:
        return [
            CrossPlan(
                where={"d": d, self.powers.ray.along: s},
                quantity=self.statement.quantity,
                methods=(self.statement.method, other.found().name),
                tasks=(self._value(self.measured, d, s, profile), self._value(other, d, s, profile)),
                read=side_by_side,
            )
            for d in self.powers.dimensions
            for s in self.cross_at
        ]


def _itself(growth: Growth) -> Growth:
    return growth


def _growths(tasks: dict[int, Task], results: dict[str, Any]) -> dict[int, Growth]:
    return {d: results[task.address] for d, task in tasks.items()}
