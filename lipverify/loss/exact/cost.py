r"""What an exact loss will take, from counts of nodes that are known before it begins.

Most of a long loss is the table of the variogram of a link: of so many angles, and nodes on circles for each, of which
the number goes with the square of the order that the link asks for. The order is looked for at a few nodes. What a
window takes follows from the range of u that matters there, and of the zonal route from the harmonics and points.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import chosen, numbers
from lipverify.loss.exact.biases.parts import MOST_MEETINGS
from lipverify.loss.exact.biases.smooth import ENTRY, SIZES
from lipverify.loss.exact.biases.terms import MOST_WINDOWS
from lipverify.loss.exact.context.averages import SERIES_BELOW, SERIES_TAIL, TOKEN
from lipverify.loss.exact.context.between import PAIR
from lipverify.loss.exact.context.contexts import ORDERS, PANEL, Contexts
from lipverify.loss.exact.context.others import ABOVE, BELOW, OTHER, Q_SHARE, STEP, width_of
from lipverify.loss.exact.quadrature.graded import MOST_PANELS, PARTS, TABLE, Grading, LogGrading
from lipverify.loss.exact.quadrature.rules import chebyshev_points, to_coefficients
from lipverify.loss.exact.sight import sight_of
from lipverify.loss.exact.table import groups
from lipverify.loss.exact.variograms.pieces import SIZE
from lipverify.loss.exact.variograms.planes import Planes, meetings_of
from lipverify.loss.exact.variograms.roots import NEAR, has_roots, rough_ends, steep_places
from lipverify.loss.exact.variograms.segments import PAIR as JUMPS
from lipverify.loss.exact.variograms.segments import segments
from lipverify.loss.exact.variograms.table import CHECKS, SETTLED_ROOT, STRAIGHT_ORDERS, orders_of, root_edges
from lipverify.loss.exact.variograms.turns import TURN
from lipverify.loss.exact.zonal.projection import COEFFICIENT
from lipverify.loss.exact.zonal.sums import HARMONIC
from lipverify.loss.exact.zonal.terms import FLAT as UNIFORM
from lipverify.loss.exact.zonal.terms import counts_of
from lipverify.loss.work import GIB, NANO, Cost, price_of, running
from lipverify.problem import Problem
from lipverify.problem.law import Law, by_law, summands
from lipverify.problem.laws import Cosine
from lipverify.problem.own import Ridge
from lipverify.problem.problem import require_isotropic

TRACING = 0.1
"""Seconds in which a function of one's own is looked at: for kinks, jumps and narrow features."""
FEW = 4
"""Angles at which the order of a table is looked for."""
SETTLED, EASIER = 1e-12, 4.0
"""By how much means over a few nodes may differ, relative, and how much more than means over all of a link with roots:
these average out."""
SPLIT, SPLIT_ROOT = 3.5, 1.5
"""So many pieces there are in the end, for each that a table begins with: with kinks, and with roots."""
USED = 2
"""Orders of rules over tokens that a loss takes, of `ORDERS`."""
BREAKS = 8
"""Intervals of a rule over one token."""
FITS, PAIRS, CROSSING = 12, 1500, 5
"""Polynomials for what two tokens have in common, for each angle at which the variogram is not smooth and one more, and
the pairs of tokens behind each, and the panels of a turn that crosses such an angle."""
CLEAR = 4.0
"""A count is taken for too large if it is beyond the limit by this factor: it is about right."""
CROSSED, PANELS_NODES = 20.0, 100
"""Panels that the argument of Q crosses at most for a pair of tokens, and the price of a node on one, in pairs."""
COPIES = 8
"""Arrays of a size that are there at a time."""
DOUBLE = 8

NOTHING = Cost(seconds=0.0, memory=0.0, stage="nothing")

Stages = dict[str, float]


def loss_cost(problem: Problem, w: Any, *, route: str | None = None) -> Cost:
    """What the exact losses at windows `w` would take, before any begins: counted, so the same on every machine.

    Seconds are those of a nominal processor, see `lipverify.budget`, and are right within a small factor where they
    are more than one. For links with kinks they cost a few per cent of the loss, once for a law and a dimension.

    Parameters
    ----------
    problem
        An isotropic problem.
    w
        One w or an array of them, >= 0.
    route
        "ridge" or "zonal"; the usual one by default.

    Returns
    -------
    Cost
        Seconds, memory, and what takes most of the time.

    Raises
    ------
    InvalidInput
        If `w` or `route` break their rule, or the problem is not isotropic.
    OutOfReach
        If no route reaches these windows.

    >>> from lipverify.laws import ReLU
    >>> loss_cost(Problem(d=5, n=100, law=ReLU()), 5.0).seconds < 1
    True
    """
    values = np.ravel(numbers("w", w, "w", least=0))
    require_isotropic(problem, "loss_cost")
    if route is not None:
        chosen("route", route, ("ridge", "zonal"))
    costs = [plan_of(problem.replace(law=law), values, route) for _, law in summands(problem.law)]
    largest = max(costs, key=lambda cost: cost.seconds)
    return Cost(
        seconds=sum(cost.seconds for cost in costs), memory=max(cost.memory for cost in costs), stage=largest.stage
    )


def plan_of(problem: Problem, w: Floats, route: str | None = None) -> Cost:
    """What the route that is asked for, or those that are tried first, would take at all windows."""
    shown, _ = sight_of(problem.law).shown(problem.d)
    if shown != problem.law:
        return plan_of(problem.replace(law=shown), w, route)
    if route is not None:
        return cost_of(problem, w, route, known(problem, route))
    costs = [_first_cost(problem, w[which], row.routes) for row, which in groups(shown, problem.d, w)]
    stage = max(costs, key=lambda cost: cost.seconds, default=NOTHING).stage
    seconds, memory = (sum(cost.seconds for cost in costs), max((cost.memory for cost in costs), default=0.0))
    return Cost(seconds=seconds, memory=memory, stage=stage)


def _first_cost(problem: Problem, w: Floats, routes: tuple[str, ...]) -> Cost:
    """What the first route takes, or the second where counts tell that the first does not reach or costs too much."""
    costs, reasons = [], []
    for route in routes:
        try:
            costs.append(cost_of(problem, w, route, known(problem, route)))
        except OutOfReach as refusal:
            if len(routes) == 1:
                raise
            reasons.append(f"{route}: {refusal}")
            continue
        if affordable(costs[-1]):
            return costs[-1]
    if not costs:
        raise OutOfReach(f"neither route reaches this. {' '.join(reasons)}")
    return costs[0]


def begin(problem: Problem, cost: Cost, route: str = "") -> None:
    """Take notice of a loss that is about to begin; refused if the budget does not allow it."""
    meter = running()
    if meter is not None:
        law = f"the exact loss of the {problem.law.name} law in d = {problem.d}"
        meter.begin(cost, f"{law} by route={route!r}" if route else law)
        meter.begun.add((problem.law, problem.d, route))


def known(problem: Problem, route: str) -> bool:
    """Whether the tables of a law are there, or have been counted: within one budget that is done once."""
    meter = running()
    return meter is not None and (problem.law, problem.d, route) in meter.begun


def affordable(cost: Cost) -> bool:
    """Whether the budget allows it."""
    meter = running()
    return meter is None or (meter.done + cost.seconds <= meter.seconds and cost.memory <= meter.memory)


def cost_of(problem: Problem, w: Floats, route: str, tabulated: bool = False) -> Cost:
    """The cost of all windows by a route, without the tables of the law if these are known.

    Raises
    ------
    OutOfReach
        If the route does not reach them, as far as counts tell.
    """
    table, memory = table_of(problem.law, problem.d, route)
    stages = {} if tabulated else dict(table)
    some = w[(w > UNIFORM) & (problem.n > 1)]
    of_window = _ridge_window if route == "ridge" else _zonal_window
    for at in some:
        more, space = of_window(problem, float(at))
        memory = max(memory, space * (min(MOST_WINDOWS, some.size) if route == "ridge" else 1))
        for stage, seconds in more.items():
            stages[stage] = stages.get(stage, 0.0) + seconds
    stage = max(stages, key=lambda each: stages[each], default="nothing")
    return Cost(seconds=sum(stages.values()), memory=memory / GIB, stage=stage)


def _panels(grading: Grading, low: float, high: float, width: float) -> float:
    """About how many panels a table has; refused as the table itself if it is clear that there are too many."""
    ends = grading.v(np.array([low, high]))
    count = float(ends[1] - ends[0]) / width + 1
    return count if count < CLEAR * MOST_PANELS else float(grading.panels(low, high, width).size)


@lru_cache(maxsize=256)
def table_of(law: Law, d: int, route: str) -> tuple[Stages, float]:
    """Seconds for what is tabulated once for a law in a dimension, by stage, and bytes."""
    seen = sight_of(law)
    if route == "zonal" or not seen.averaged:
        return ({"tracing": TRACING} if seen.traced else {}), 0.0
    return _tables(law, d)


@by_law
def _tables(law: Law, d: int) -> tuple[Stages, float]:
    """The same of the ridge route, by the class of the law."""
    return {"tables of the law": TRACING}, 0.0


@_tables.register(Cosine)
def _cosine_tables(law: Cosine, d: int) -> tuple[Stages, float]:
    return _smooth_table(math.ceil(law.L) + 16, 2 * price_of(np.sin))


@_tables.register(Ridge)
def _link_tables(law: Ridge, d: int) -> tuple[Stages, float]:
    ends = rough_ends(law.link, law.kink_points)
    stages: Stages = {"tracing": TRACING}
    memory = 0.0
    kinks = tuple(sorted(law.kink_points + ends))
    if not kinks and (sight_of(law).narrow is None or not steep_places(law.link)):
        length = _length(law)
        more, memory = _smooth_table(length, 2 * price_of(law.link))
        stages |= more
        # the last two tables do not agree on a longer one
        kinks = steep_places(law.link) if length > SIZES[-2] else ()
    elif not kinks:
        kinks = steep_places(law.link)
    if kinks:
        stages["the variogram of the link"] = _variogram(law, d, kinks)
        meetings = len(meetings_of(kinks))
        if meetings <= MOST_MEETINGS and d > 2:
            panels = CROSSING if meetings else 1
            stages["means over pairs of tokens"] = FITS * (meetings + 1) * PAIRS * 60 * panels * TURN * NANO / 2
    return stages, memory


def _smooth_table(length: int, price: float) -> tuple[Stages, float]:
    """The tables of all sizes up to the one after that which holds a link of so many coefficients."""
    used = [size for size, before in zip(SIZES, (0, 0, *SIZES), strict=False) if before < length]
    seconds = sum(size**3 for size in used) * (ENTRY + price) * NANO
    return {"the table of a smooth link": seconds}, COPIES * DOUBLE * float(used[-1]) ** 3


def _length(law: Ridge) -> int:
    """Chebyshev coefficients of a link, as many as count."""
    size = SIZES[-1]
    sizes = np.abs(to_coefficients(size) @ np.asarray(law.links(chebyshev_points(size), np)[0], dtype=float))
    return int(np.max(np.flatnonzero(sizes > SETTLED * np.max(sizes)), initial=0)) + 1


def _variogram(law: Ridge, d: int, kinks: tuple[float, ...]) -> float:
    """Seconds for the table of a variogram: the search for an order, the pieces, and what they are compared with."""
    planes, meetings = Planes(d, lambda z: law.links(z, np)[0], kinks), meetings_of(kinks)
    if segments(d, planes.link, kinks, meetings) is not None:
        places = (len(meetings) + 1) * STRAIGHT_ORDERS[1] * (1 + SIZE + 3 * len(CHECKS))
        return places * len(kinks) ** 2 / 2 * JUMPS * NANO
    rooted = has_roots(law.link, kinks, NEAR)
    edges = root_edges(meetings) if rooted else [0.0, *meetings, math.pi]
    planes = replace(planes, roots=rooted)
    power = 1 if law.jump_points and not rooted else 2
    orders = orders_of(law.link, kinks, rooted)
    middles = np.array([(low + high) / 2 for low, high in pairwise(edges)])
    few = middles[np.linspace(0, middles.size - 1, min(FEW, middles.size)).astype(int)]
    finer, nodes = planes.pilot(few, orders, power, EASIER * SETTLED_ROOT if rooted else SETTLED)
    pieces, split = len(edges) - 1, SPLIT_ROOT if rooted else SPLIT
    tried = sum(order**2 for order in orders if order <= finer) * pieces * len(CHECKS[::2])
    order = orders[max(orders.index(finer) - 1, 0)]
    angles = order**2 * SIZE * (split * pieces + 2 * (not rooted)) + finer**2 * split * pieces * len(CHECKS)
    return (tried + angles) * nodes * planes.price * NANO


def _ridge_window(problem: Problem, w: float) -> tuple[Stages, float]:
    """Seconds for one window by the ridge route, by stage, and bytes."""
    d, seen = problem.d, sight_of(problem.law)
    contexts = Contexts.at(d, float(problem.n), np.array([w]))
    low, high = float(contexts.low[0]), float(contexts.high[0])
    grading = Grading(d, np.array(w))
    v = grading.v(np.array([low, min(max(SERIES_BELOW, low), high), high]))
    width = max(float(v[2] - v[0]), 1e-9)
    direct = float(v[2] - v[1]) / width if high > SERIES_TAIL else 0.0
    panels = max(6, math.ceil(width / PANEL))
    meetings = seen.meetings
    by_angles = meetings > MOST_MEETINGS or seen.by_angles
    stages: Stages = {"averages over a token": 0.0}
    orders = ORDERS[:USED]
    for order in orders:
        points = panels * order * 2 / math.pi * direct + 1
        stages["averages over a token"] += points * BREAKS * order * TOKEN * NANO
    memory = COPIES * DOUBLE * panels * orders[-1] * (direct + 0.01) * BREAKS * orders[-1]
    if not by_angles and high <= SERIES_TAIL and not meetings:
        return stages, memory
    top = min(high + ABOVE, 2 * w + 5)
    tables = _panels(LogGrading(d, np.array(w), Q_SHARE), -1.0, top, 1.0)
    stages["tables of what other tokens do"] = 2 * tables * TABLE * (ABOVE + BELOW) / STEP * OTHER * NANO
    memory = max(memory, COPIES * DOUBLE * tables * PARTS * 6.0)
    deficits = _panels(grading, -math.log(2), min(max(high, 1.0), 2 * w), width_of(d, w)) if by_angles else tables / 3
    for some in orders:
        if by_angles:
            order = some // 3 + 3
            pairs = (14 + math.log2(1 + w)) * order * (min(deficits, CROSSED) + 6) * order
            count = pairs * (min(deficits, CROSSED) / 4 * order + 2 * (order + 6)) / 4 + PANELS_NODES * deficits * order
        else:
            order = some // 2 + 4
            count = (3 * deficits + 4) * order * (5 + 3 * meetings) * order
        stages["the angle between two tokens"] = stages.get("the angle between two tokens", 0.0) + count * PAIR * NANO
    return stages, memory


def _zonal_window(problem: Problem, w: float) -> tuple[Stages, float]:
    """Seconds for one window by the zonal route, by stage, and bytes."""
    harmonics, nodes, largest = counts_of(problem, w)
    links = max(sight_of(problem.law).links, 1)
    spectrum = harmonics * (2000 + 13 * harmonics) * COEFFICIENT * links * NANO
    return {"harmonics": harmonics * nodes * HARMONIC * NANO, "the spectrum of the law": spectrum}, (
        COPIES * DOUBLE * (largest + 30 * harmonics)
    )
