"""The next step that would decide an open claim: the cells, the errors they need, and the cheapest step with its cost.

One refuting cell decides a claim, or all cells together if they support it; the cheaper of the two routes is chosen. If
neither is predicted to succeed, there is no step. The verdict of a sampled cell is predicted from the middle of its
interval; no error decides an equality that holds. The verdict of a denser ladder is that of the same values,
interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import structs

from lipverify.claims.evidence.returned import Ran
from lipverify.claims.ledger.figure import Figure
from lipverify.claims.ledger.record import Cell, Ray, Record, Route, Step, Tried, What
from lipverify.claims.ledger.verdict import OTHER_WAY, Allowed, Interval, Verdict, decide
from lipverify.claims.plan.claim import CellPlan, Claim, ControlPlan, Evidence, Measurement
from lipverify.claims.plan.measured import Arguments, growth_along, options_of
from lipverify.claims.run.measurement import Outcome
from lipverify.errors import OutOfReach
from lipverify.loss.methods import instead_of_exact, repeats

if TYPE_CHECKING:
    from lipverify.scaling import Growth

Judge = Callable[[CellPlan, Mapping[str, Any]], Cell]
SURE, HALF_WIDTH = 0.9, 1.96
"""The chance that a step with more contexts decides its cell; the half-width of an interval in standard errors."""
MOST_POINTS = 27
"""Most points on a ray, as in the profile `full`; with more, rounding errors dominate the local slopes."""


def other_methods() -> list[str]:
    """The ways to repeat losses that a function requests from the exact method, with errors that are bounded.

    >>> other_methods()
    ['balls', 'route ridge', 'route zonal']
    """
    return [by for by, (method, _) in repeats().items() if method.bounds]


def needed(interval: Interval, allowed: Allowed) -> float:
    """The error at which the middle of an interval would be clear of every edge that it crosses; 0 on an edge.

    >>> needed(Interval(0.5, 1.5), Allowed(high=1.25))
    0.25
    """
    low, high = interval.ends
    middle = (low + high) / 2
    crossed = [abs(middle - edge) for edge in allowed.ends if low <= edge <= high]
    return min(crossed, default=math.inf)


@dataclass(frozen=True)
class _Move:
    """The step that one open cell needs."""

    index: int
    sides: frozenset[Verdict]
    """Its possible verdicts after the step: that of its middle, or both if its error is infinite."""
    error: float | None
    needed: float | None
    what: What
    times: float
    seconds: Mapping[str, float]
    """The time of each measurement of the cell."""


def step_of(claim: Claim, cells: Sequence[Cell], outcomes: Mapping[str, Outcome], judge: Judge) -> Step | None:
    """The cheaper of two routes: to refute by one cell, or to support by all open cells.

    None if neither is predicted to decide the claim, or no step is known that would narrow a cell. `judge` makes the
    cell of a plan from results that replace its own.
    """
    opened = [index for index, cell in enumerate(cells) if is_open(cell)]

    def moves(chance: float, either: bool) -> list[_Move]:
        found = (_move(claim, index, cells[index], outcomes, judge, chance, either) for index in opened)
        return [move for move in found if move is not None]

    # of several open cells one decides the claim only if it refutes, and all together decide it whatever they show
    routes = [_together("refute", [move]) for move in moves(SURE, len(opened) == 1) if "refuted" in move.sides]
    supporting = [move for move in moves(SURE ** (1 / max(len(opened), 1)), True) if "supported" in move.sides]
    others = [cell for index, cell in enumerate(cells) if index not in {move.index for move in supporting}]
    if supporting and all(cell.verdict == "supported" for cell in others):
        routes.append(_together("support", supporting))
    return min(routes, key=lambda step: step.seconds, default=None)


def _together(route: Route, moves: Sequence[_Move]) -> Step:
    """One step for several cells, as large as the most demanding cell needs; shared measurements are counted once."""
    hardest = max(moves, key=lambda move: (move.times, sum(move.seconds.values())))
    spent: dict[str, float] = {}
    for move in moves:
        for address, seconds in move.seconds.items():
            spent[address] = max(spent.get(address, 0.0), seconds * hardest.times)
    cost = max(sum(spent.values()), 0.01) * (len(other_methods()) if hardest.what == "method" else 1)
    return Step(
        route=route,
        cell=hardest.index,
        cells=tuple(move.index for move in moves),
        error=hardest.error,
        needed=hardest.needed,
        what=hardest.what,
        times=hardest.times,
        seconds=float(f"{cost:.2g}"),
    )


def is_open(cell: Cell) -> bool:
    """True if more evidence could decide the cell: its own interval is too wide, or that of its control."""
    return cell.verdict == "inconclusive" and not cell.uncontrolled


def _move(
    claim: Claim, index: int, cell: Cell, outcomes: Mapping[str, Outcome], judge: Judge, chance: float, either: bool
) -> _Move | None:
    """The cheapest step for one cell; None if no step is known, or the cell would stay open even without error."""
    plan = claim.cells[index]
    every = list(plan.measurement.with_needs())
    bounded = any("bounded" in (outcomes[measurement.address].ran or Ran()).made for measurement in every)
    what = _kind(plan.measurement, bounded)
    same = [tried for tried in claim.tried if tried.cell == index and tried.what == what]
    if what is None or (what != "contexts" and same):
        return None
    times = 1.0
    if what == "points":
        sides, error, wanted = _wanted_of_denser(cell, _denser(plan, outcomes, judge))
        times = MOST_POINTS / len(plan.measurement.needs)
    else:
        sides, error, wanted = _wanted(cell)
    known = math.isfinite(error) and math.isfinite(wanted)
    if what == "contexts":
        wanted = likely(wanted, error, chance, either) if known else math.inf
        times = _contexts(error, wanted, same) if known else math.inf
    if not sides or math.isinf(times):
        return None
    seconds = {measurement.address: outcomes[measurement.address].seconds for measurement in every}
    return _Move(index, sides, error if known else None, wanted if known else None, what, times, seconds)


def _wanted_of_denser(cell: Cell, denser: Cell | None) -> tuple[frozenset[Verdict], float, float]:
    """As `_wanted`, for a cell on a ray and what it is likely to be on a denser ladder."""
    error = _half(cell.interval)
    if denser is None or denser.verdict not in OTHER_WAY:
        return frozenset(), error, math.inf
    return frozenset({denser.verdict}), error, denser.error or math.inf


def _wanted(cell: Cell) -> tuple[frozenset[Verdict], float, float]:
    """The possible verdicts of an open cell with less error; its error or that of its control; the error needed.

    No verdict is possible if the middle is on an edge, or the control is predicted to agree with the claim.
    """
    error, wanted = _half(cell.interval), needed(cell.interval, cell.allowed)
    sides: frozenset[Verdict] = frozenset({"supported", "refuted"})
    if math.isfinite(error):
        equality = cell.allowed.low is not None and cell.allowed.low == cell.allowed.high and 2 * wanted < error
        sides = frozenset({_predicted(cell.interval, cell.allowed)} if wanted > 0 and not equality else ())
    control = cell.control
    judged = cell.alone in OTHER_WAY or sides == {"supported"}  # a refuting cell would need the other control
    if judged and control.verdict == "inconclusive" and math.isfinite(_half(control.interval)):
        narrow = needed(control.interval, control.allowed)
        if narrow == 0 or _predicted(control.interval, control.allowed) != control.expects:
            return frozenset(), error, wanted
        if _half(control.interval) * wanted > error * narrow or not math.isfinite(wanted):
            error, wanted = _half(control.interval), narrow
    return sides, error, wanted


def likely(distance: float, error: float, chance: float = SURE, either: bool = True) -> float:
    """The error that decides a sampled cell with a chance, its middle being at this distance from the edge; 0 if none.

    Both errors are half-widths of 95 % intervals. The true value is normal about the middle, and the next middle about
    the true value, so the distance of the next one has the variance of both. It must exceed its error on the side of
    the middle, or on `either`. Taken at its word, a middle near the edge asks for too much and one away from it for too
    little: of 50 open sampled means 25 then cost more than three times the predicted time.

    >>> [round(likely(distance, 1.0), 2) for distance in (0.1, 0.5, 0.9)]
    [0.06, 0.1, 0.26]
    """
    for narrow in error * np.geomspace(1.0, 1e-3, 200):
        next_one = NormalDist(distance, math.hypot(error, narrow) / HALF_WIDTH)
        if 1 - next_one.cdf(narrow) + either * next_one.cdf(-narrow) >= chance:
            return float(narrow)
    return 0.0


def _predicted(interval: Interval, allowed: Allowed) -> Verdict:
    middle = sum(interval.ends) / 2
    return decide(Interval(middle, middle), allowed)


def _half(interval: Interval) -> float:
    low, high = interval.ends
    return (high - low) / 2


def _contexts(error: float, wanted: float, tried: Sequence[Tried]) -> float:
    """The predicted factor on the number of contexts; infinite if no number of contexts is enough.

    The squared error is a / contexts + b, where b does not depend on contexts, as for the spread of trainings. It is
    unknown before the first step and then follows from the errors before and after that step.
    """
    floor = 0.0
    if tried and tried[-1].error is not None:
        times, before = tried[-1].times, tried[-1].error
        floor = min(max((times * error**2 - before**2) / (times - 1), 0.0), error**2)
    variance = wanted**2 - floor
    return max(math.ceil((error**2 - floor) / variance), 2) if variance > 0 and error**2 > floor else math.inf


def _denser(plan: CellPlan, outcomes: Mapping[str, Outcome], judge: Judge) -> Cell | None:
    """The cell as it is likely to be on a ladder of MOST_POINTS; None if there can be no more points."""
    foreseen = {}
    for measurement in (plan.measurement, plan.false.measurement, plan.true.measurement):
        if measurement is None:
            continue
        ray, growth = measurement.ray, outcomes[measurement.address].result
        nested = any(need.needs for need in measurement.needs)
        if ray is None or ray.points >= MOST_POINTS or growth.rest is not None or nested:
            return None
        foreseen[measurement.address] = _foreseen(growth, structs.replace(ray, points=MOST_POINTS))
    return judge(plan, foreseen)


def _foreseen(growth: Growth, fuller: Ray) -> Growth:
    """The growth of the same values, interpolated in log s by the polynomial through all of them, on a fuller ladder.

    Values that vary faster than the ladder shows differ from the polynomial of one degree less, which is their error.
    """
    from numpy.polynomial import Chebyshev

    from lipverify.scaling import growth_of

    x, s = np.log(growth.s), np.array(fuller.ladder)
    values, fewer = (Chebyshev.fit(x, np.log(growth.values), x.size - k)(np.log(s)) for k in (1, 2))
    errors = np.interp(np.log(s), x, growth.value_errors) + np.abs(values - fewer)
    return growth_of(s, np.exp(values), errors)


def _kind(measurement: Measurement, exact: bool) -> What | None:
    """How to narrow a measurement: more contexts, more points on its ray, or another method if lipverify's ran."""
    if "contexts" in options_of(measurement):
        return "contexts"
    if measurement.ray is not None:
        return "points"
    return "method" if exact else None


def wants(record: Record) -> str:
    """The step that would decide an open record, and its cell if several are open; the steps tried, if none is left."""
    if record.step is None:
        done = dict.fromkeys(_said(step.what, step.times) for step in record.tried)
        unknown = record.verdict == "inconclusive" and not done and any(map(is_open, record.cells))
        unknown &= all(check.agrees for check in record.cross_checks)
        return f"{', '.join(done)} did not decide it" if done else "no step is known to decide it" * unknown
    cell, count = record.cells[record.step.cell], len(record.step.cells)
    several = sum(map(is_open, record.cells)) > 1
    where = ", ".join(f"{name} = {value}" for name, value in cell.where.items()) if several else ""
    words = f"{f'at {where} it ' if where else ''}{in_words(record.step)}"
    if not several:
        return words
    alone = "which is predicted to refute the claim by itself"
    return f"{words}, {alone if record.step.route == 'refute' else f'for {count} open cells'}"


def in_words(step: Step) -> str:
    """A step in a few words.

    >>> in_words(Step(cell=0, error=0.12, needed=0.02, what="contexts", times=47.0, seconds=720.0))
    'needs an error of 0.02: 47 times the contexts, about 12 min'
    """
    wants = f"an error of {step.needed:.2g}: " if step.needed is not None else ""
    return f"needs {wants}{_said(step.what, step.times)}, about {duration(step.seconds)}"


def _said(what: What, times: float) -> str:
    return {
        "contexts": f"{times:g} times the contexts",
        "points": f"{MOST_POINTS} points on the ray",
        "method": f"another method ({', '.join(other_methods())})",
    }[what]


def duration(seconds: float) -> str:
    """A duration in words.

    >>> duration(3.2), duration(720), duration(1e5)
    ('3 s', '12 min', '28 h')
    """
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} s"


class Otherwise(msgspec.Struct, frozen=True):
    """A function whose losses come from another method than the exact one.

    >>> str(Otherwise("balls", str))
    "<class 'str'> by balls"
    """

    by: str
    function: Callable[..., Any]

    def __str__(self) -> str:
        return f"{self.function} by {self.by}"

    @property
    def __name__(self) -> str:
        """The name used in addresses."""
        return str(self)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function with the other method."""
        with instead_of_exact(self.by) as substitute:
            result = self.function(*arguments, **named)
        if not substitute.used:
            nothing = "the function requests no exact loss from lipverify, so no other method applies."
            chosen = f"the function chooses route={substitute.kept!r}; without it this method can be used."
            raise OutOfReach(f"{self.by}: {chosen if substitute.kept else nothing}")
        return result


def stepped(claim: Claim, record: Record, by: str = "") -> Claim:
    """The claim with the step applied to the cells that it names; `by` is the other method, if the step needs one."""
    step = record.step
    assert step is not None

    def changed(measurement: Measurement) -> Measurement:
        what = _kind(measurement, exact=True)
        if what == "contexts":
            return more_contexts(measurement, step.times)
        if what == "points":
            return more_points(measurement)
        return otherwise(measurement, by) if by else measurement

    def plan(cell: CellPlan) -> CellPlan:
        method = repeats()[by][0].name if by else cell.method
        return replace(
            cell,
            measurement=changed(cell.measurement),
            method=method,
            false=_control(cell.false, changed),
            true=_control(cell.true, changed),
        )

    old = claim.evidence
    cells = tuple(plan(cell) if index in step.cells else cell for index, cell in enumerate(old.cells))
    renamed = {cell.measurement.address: new.measurement.address for cell, new in zip(old.cells, cells, strict=True)}
    draw = old.figure

    def figure(results: Mapping[str, Any], cells: Sequence[Cell]) -> tuple[Figure, ...]:
        before = {was: results[now] for was, now in renamed.items()}
        return draw({**results, **before}, cells) if draw is not None else ()

    evidence: Evidence = replace(old, cells=cells, figure=figure if draw is not None else None)
    return replace(claim, plan=lambda: evidence, tried=(*claim.tried, *tried_now(record)))


def tried_now(record: Record) -> tuple[Tried, ...]:
    """The step of a record as a list of tried steps, one a cell."""
    step = record.step
    assert step is not None
    halves = ((index, _half(record.cells[index].interval)) for index in step.cells)
    return tuple(
        Tried(cell=index, what=step.what, times=step.times, error=half if math.isfinite(half) else None)
        for index, half in halves
    )


def _control(control: ControlPlan, changed: Callable[[Measurement], Measurement]) -> ControlPlan:
    return control if control.measurement is None else replace(control, measurement=changed(control.measurement))


def more_contexts(measurement: Measurement, times: float) -> Measurement:
    """The measurement and its needs with the number of contexts multiplied."""
    needs = tuple(more_contexts(need, times) for need in measurement.needs)
    before, after = ([needed for need in group for needed in need.with_needs()] for group in (measurement.needs, needs))
    renamed = {old.address: new.address for old, new in zip(before, after, strict=True)}

    def more(argument: Any) -> Any:
        if not isinstance(argument, Arguments):
            return argument
        options = dict(argument.options)
        if "contexts" in options:
            options["contexts"] = math.ceil(options["contexts"] * times)
        alone = {name: renamed.get(address, address) for name, address in argument.alone.items()}
        return structs.replace(argument, options=options, alone=alone)

    return Measurement(measurement.function, tuple(map(more, measurement.arguments)), needs)


def more_points(measurement: Measurement) -> Measurement:
    """The growth along a ray with the largest allowed number of points."""
    ray = measurement.ray
    assert ray is not None
    fuller = structs.replace(ray, points=MOST_POINTS)
    first = measurement.needs[0]

    def at(s: float) -> Measurement:
        function, point = first.arguments
        return Measurement(first.function, (function, structs.replace(point, where={**point.where, ray.along: s})))

    arguments = tuple(fuller if isinstance(argument, Ray) else argument for argument in measurement.arguments)
    return Measurement(growth_along, arguments, tuple(at(s) for s in fuller.ladder))


def otherwise(measurement: Measurement, by: str) -> Measurement:
    """The measurement by another method, with its needs unchanged."""
    function, *rest = measurement.arguments
    return Measurement(measurement.function, (Otherwise(by, function), *rest), measurement.needs)
