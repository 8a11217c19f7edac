"""What would decide an open claim: the cell, the error that it needs, and the cheapest next step with its cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import structs

from lipverify.claims.claim import CellPlan, Claim, ControlPlan, Evidence, Measurement
from lipverify.claims.figure import Figure
from lipverify.claims.growing import growth_along
from lipverify.claims.ledger import Cell, Record, Step, What
from lipverify.claims.measured import Point, Ray
from lipverify.claims.measurement import Outcome
from lipverify.claims.ran import Ran
from lipverify.claims.verdict import Allowed, Interval
from lipverify.errors import OutOfReach

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "balls": ("certified", {}),
    "route ridge": ("exact", {"route": "ridge"}),
    "route zonal": ("exact", {"route": "zonal"}),
}
"""Other ways to the losses that a function asks the exact method for; routes share no quadrature."""
SLACK = 1.3
"""Intervals narrow like the root of what is drawn, a little less where their bounds still count."""
MOST_POINTS = 27
"""Points on a ray: as many as the profile `full` has; more would lie where rounding is."""
LEAST_SECONDS = 0.01
"""What no measurement is predicted to take less than."""


def needed(interval: Interval, allowed: Allowed) -> float:
    """The error at which the middle of an interval would be on one side of every edge that it crosses; 0 on an edge.

    >>> needed(Interval(0.5, 1.5), Allowed(high=1.25))
    0.25
    """
    low, high = interval.ends
    middle = (low + high) / 2
    crossed = [abs(middle - edge) for edge in allowed.ends if low <= edge <= high]
    return min(crossed, default=math.inf)


def step_of(claim: Claim, cells: Sequence[Cell], outcomes: Mapping[str, Outcome]) -> Step | None:
    """The step for the cell that needs most; None where no cell is open, or nothing is known that would do."""
    steps = [
        _step(plan, cell, place, outcomes) for place, (plan, cell) in enumerate(zip(claim.cells, cells, strict=True))
    ]
    return max((each for each in steps if each is not None), key=lambda step: (step.times, step.seconds), default=None)


def is_open(cell: Cell) -> bool:
    """True if more evidence could decide the cell: its own interval is too wide, or that of its control."""
    return cell.verdict == "inconclusive" and not cell.uncontrolled


def _step(plan: CellPlan, cell: Cell, place: int, outcomes: Mapping[str, Outcome]) -> Step | None:
    """The cheapest step for one cell."""
    if not is_open(cell):
        return None
    interval, allowed = (
        (cell.interval, cell.allowed) if cell.alone == "inconclusive" else (cell.control.interval, cell.control.allowed)
    )
    low, high = interval.ends
    error, wanted = (high - low) / 2, needed(interval, allowed)
    if wanted == 0:
        return None
    known = math.isfinite(error) and math.isfinite(wanted)
    cost = max(sum(outcomes[each.address].seconds for each in _all(plan.measurement)), LEAST_SECONDS)
    options = _options(plan.measurement)
    what: What = "contexts"
    if "contexts" in options and known:
        times: float = max(math.ceil(SLACK * (error / wanted) ** 2), 2)
        seconds = cost * times
    elif ray := _ray(plan.measurement):
        if ray.points >= MOST_POINTS or any(each.needs for each in plan.measurement.needs):
            return None
        what, times, seconds = "points", MOST_POINTS / ray.points, cost * MOST_POINTS / ray.points
    elif any("bounded" in (outcomes[each.address].ran or Ran()).made for each in _all(plan.measurement)):
        what, times, seconds = "method", 1.0, cost * len(METHODS)
    else:
        return None
    return Step(
        cell=place,
        error=error if known else None,
        needed=wanted if known else None,
        what=what,
        times=times,
        seconds=float(f"{seconds:.2g}"),
    )


def wants(record: Record) -> str:
    """What would decide a record that is open, and in which of several open cells; empty where nothing is known."""
    if record.step is None:
        return ""
    cell = record.cells[record.step.cell]
    several = sum(map(is_open, record.cells)) > 1
    where = ", ".join(f"{name} = {value}" for name, value in cell.where.items()) if several else ""
    return f"{f'at {where} it ' if where else ''}{in_words(record.step)}"


def in_words(step: Step) -> str:
    """The step in a few words.

    >>> in_words(Step(cell=0, error=0.12, needed=0.02, what="contexts", times=47.0, seconds=720.0))
    'needs an error of 0.02: 47 times the contexts, about 12 min'
    """
    said = {
        "contexts": f"{step.times:g} times the contexts",
        "points": f"{MOST_POINTS} points on the ray",
        "method": f"another method ({', '.join(METHODS)})",
    }[step.what]
    wants = f"needs an error of {step.needed:.2g}: " if step.needed is not None else ""
    return f"{wants}{said}, about {duration(step.seconds)}"


def duration(seconds: float) -> str:
    """A time as one says it.

    >>> duration(3.2), duration(720), duration(1e5)
    ('3 s', '12 min', '28 h')
    """
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} s"


class Otherwise(msgspec.Struct, frozen=True):
    """A function by another method: the losses that it asks the exact method for come from that one.

    >>> str(Otherwise("balls", str))
    "<class 'str'> by balls"
    """

    by: str
    function: Callable[..., Any]

    def __str__(self) -> str:
        return f"{self.function} by {self.by}"

    @property
    def __name__(self) -> str:
        """What addresses call it."""
        return str(self)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run it.

        Raises
        ------
        OutOfReach
            If it asks for no such loss, so that it would be the same again.
        """
        from lipverify.loss.methods import instead_of_exact

        method, options = METHODS[self.by]
        with instead_of_exact(method, **options) as other:
            result = self.function(*arguments, **named)
        if not other.used:
            nothing = "the function asks lipverify for no exact loss, so there is no other way to it."
            chosen = f"the function chooses route={other.kept!r}; without it this way can be taken."
            raise OutOfReach(f"{self.by}: {chosen if other.kept else nothing}")
        return result


def stepped(claim: Claim, record: Record, by: str = "") -> Claim:
    """The claim with its step taken in every cell that is open; `by` is the other method, where the step is one."""
    step = record.step
    assert step is not None

    def changed(measurement: Measurement) -> Measurement:
        if step.what == "contexts":
            return more_contexts(measurement, step.times)
        return more_points(measurement) if step.what == "points" else otherwise(measurement, by)

    def plan(one: CellPlan) -> CellPlan:
        method = METHODS[by][0] if by else one.method
        return replace(
            one,
            measurement=changed(one.measurement),
            method=method,
            false=_control(one.false, changed),
            true=_control(one.true, changed),
        )

    old = claim.evidence
    cells = tuple(plan(one) if is_open(cell) else one for one, cell in zip(old.cells, record.cells, strict=True))
    renamed = {one.measurement.address: new.measurement.address for one, new in zip(old.cells, cells, strict=True)}
    draw = old.figure

    def figure(results: dict[str, Any]) -> tuple[Figure, ...]:
        """The figure of the claim, drawn from what was measured in place of its own measurements."""
        return draw({**results, **{was: results[now] for was, now in renamed.items()}}) if draw is not None else ()

    evidence: Evidence = replace(old, cells=cells, figure=figure if draw is not None else None)
    return replace(claim, plan=lambda: evidence)


def _control(control: ControlPlan, changed: Callable[[Measurement], Measurement]) -> ControlPlan:
    return control if control.measurement is None else replace(control, measurement=changed(control.measurement))


def more_contexts(measurement: Measurement, times: float) -> Measurement:
    """The measurement, and what it needs, with so many times the contexts."""

    def more(argument: Any) -> Any:
        if isinstance(argument, Point) and "contexts" in argument.options:
            contexts = math.ceil(argument.options["contexts"] * times)
            return structs.replace(argument, options={**argument.options, "contexts": contexts})
        return argument

    arguments, needs = (
        tuple(map(more, measurement.arguments)),
        tuple(more_contexts(each, times) for each in measurement.needs),
    )
    return Measurement(measurement.function, arguments, needs)


def more_points(measurement: Measurement) -> Measurement:
    """The growth along a ray on as many points as there may be."""
    ray = _ray(measurement)
    assert ray is not None
    fuller = structs.replace(ray, points=MOST_POINTS)
    first = measurement.needs[0]

    def at(s: float) -> Measurement:
        function, point = first.arguments
        return Measurement(first.function, (function, structs.replace(point, where={**point.where, ray.along: s})))

    arguments = tuple(fuller if isinstance(each, Ray) else each for each in measurement.arguments)
    return Measurement(growth_along, arguments, tuple(at(s) for s in fuller.ladder))


def otherwise(measurement: Measurement, by: str) -> Measurement:
    """The measurement by another method, and what it needs as it was."""
    function, *rest = measurement.arguments
    return Measurement(measurement.function, (Otherwise(by, function), *rest), measurement.needs)


def _all(measurement: Measurement) -> Iterator[Measurement]:
    """The measurement and what it needs, each once."""
    yield from {each.address: each for each in measurement.with_needs()}.values()


def _options(measurement: Measurement) -> set[str]:
    """What the functions behind a measurement are given beside coordinates."""
    points = (each for one in _all(measurement) for each in one.arguments if isinstance(each, Point))
    return {name for point in points for name in point.options}


def _ray(measurement: Measurement) -> Ray | None:
    return next((each for each in measurement.arguments if isinstance(each, Ray)), None)
