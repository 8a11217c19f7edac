"""The cost of an exact loss, estimated before it begins from the counts of its route."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats, Reals
from lipverify.foundation.validation import chosen, numbers
from lipverify.loss.exact.sight import sight_of
from lipverify.loss.exact.table import ROUTES, groups
from lipverify.loss.exact.zonal.terms import FLAT
from lipverify.loss.terms import Route
from lipverify.loss.work import GIB, Cost, Counts, running
from lipverify.problem import Problem
from lipverify.problem.law import summands
from lipverify.problem.problem import require_isotropic


def loss_cost(problem: Problem, w: Reals, *, route: Route | None = None) -> Cost:
    """The cost of the exact losses at `w`, estimated from counts before any begins; the same on every machine.

    Seconds are those of a nominal processor, see `lipverify.budget`, and are right within a small factor if they exceed
    one. For links with kinks the estimate itself takes a few per cent of the loss, once for a law and a dimension.

    Parameters
    ----------
    problem
        An isotropic problem.
    w
        One w or an array of them, >= 0.
    route
        "ridge" or "zonal"; by default that of the route table.

    Returns
    -------
    Cost
        Seconds, memory, and the stage that takes most of the time.

    Raises
    ------
    InvalidInput
        If `w` or `route` breaks its rule, or the problem is not isotropic.
    OutOfReach
        If no route reaches these w.

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> loss_cost(Problem(d=5, n=100, law=ReLU()), 5.0).seconds < 1
    True
    """
    values = np.ravel(numbers("w", w, "w", least=0))
    require_isotropic(problem, "loss_cost")
    if route is not None:
        chosen("route", route, ROUTES)
    return _together([plan_of(problem.replace(law=law), values, route) for _, law in summands(problem.law)])


def plan_of(problem: Problem, w: Floats, route: Route | None = None) -> Cost:
    """The cost at all w of the requested route, or of the routes that the table tries first."""
    law, _ = sight_of(problem.law).shown
    problem = problem.replace(law=law)
    if route is not None:
        return cost_of(problem, w, route)
    return _together([_first_cost(problem, w[which], row.routes) for row, which in groups(law, problem.d, w)])


def _together(costs: list[Cost]) -> Cost:
    """The cost of losses one after the other."""
    seconds, memory = (sum(cost.seconds for cost in costs), max((cost.memory for cost in costs), default=0.0))
    stage = max(costs, key=lambda cost: cost.seconds).stage if costs else "nothing"
    return Cost(seconds=seconds, memory=memory, stage=stage)


def _first_cost(problem: Problem, w: Floats, routes: tuple[str, ...]) -> Cost:
    """The cost of the first route, or of the second if counts rule out the first or it exceeds the budget."""
    costs, reasons, meter = list[Cost](), [], running()
    for route in routes:
        try:
            cost = cost_of(problem, w, route)
        except OutOfReach as refusal:
            if len(routes) == 1:
                raise
            reasons.append(f"{route}: {refusal}")
            continue
        costs.append(cost)
        if meter is None or (meter.done + cost.seconds <= meter.seconds and cost.memory <= meter.memory):
            return cost
    if not costs:
        raise OutOfReach(f"neither route reaches this. {' '.join(reasons)}")
    return costs[0]


def begin(problem: Problem, cost: Cost, route: str = "") -> None:
    """Register a loss that is about to begin; refuse it if the budget does not allow it."""
    meter = running()
    if meter is not None:
        law = f"the exact loss of the {problem.law.name} law in d = {problem.d}"
        meter.begin(cost, f"{law} by route={route!r}" if route else law)
        meter.begun.add((problem.law, problem.d, route))


def cost_of(problem: Problem, w: Floats, route: str) -> Cost:
    """The cost of all w by a route; a budget counts the tables of a law once. It refuses a w that counts rule out."""
    algorithm, meter = ROUTES[route], running()
    table, memory = algorithm.tables(problem.law, problem.d)
    some = w[(w > FLAT) & (problem.n > 1)]
    more, space = _windows(problem, some.tobytes(), route)
    tabulated = meter is not None and (problem.law, problem.d, route) in meter.begun
    stages, _ = _sum([(more, 0.0)] if tabulated else [(table, 0.0), (more, 0.0)])
    memory = max(memory, space * min(algorithm.at_once, some.size))
    stage = max(stages, key=lambda stage_name: stages[stage_name], default="nothing")
    return Cost(seconds=sum(stages.values()), memory=memory / GIB, stage=stage)


@lru_cache(maxsize=256)
def _windows(problem: Problem, windows: bytes, route: str) -> Counts:
    """Seconds by stage for all w, and bytes for the largest; cached: asked as a whole, then by the route."""
    return _sum(ROUTES[route].windows(problem, np.frombuffer(windows)))


def _sum(counts: list[Counts]) -> Counts:
    """The sum of the seconds of each stage, and the largest number of bytes."""
    stages = dict[str, float]()
    for more, _ in counts:
        for stage, seconds in more.items():
            stages[stage] = stages.get(stage, 0.0) + seconds
    return stages, max((space for _, space in counts), default=0.0)
