r"""Estimate the cost of an exact loss before it begins, from the numbers of its quadrature nodes.

Most of a long loss is the table of a link's variogram. Its cost is the number of angles times the number of nodes on
circles for each, which is proportional to the square of the order that the link needs; a pilot at a few nodes finds
that order. The cost of one w follows from the relevant range of u, and for the zonal route from harmonics and points.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats, Reals
from lipverify.foundation.validation import chosen, numbers
from lipverify.loss.exact.biases.parts import MOST_MEETINGS
from lipverify.loss.exact.biases.smooth import ENTRY, SIZES
from lipverify.loss.exact.biases.terms import MOST_WINDOWS
from lipverify.loss.exact.context.averages import SERIES_BELOW, SERIES_TAIL, TOKEN
from lipverify.loss.exact.context.between import PAIR
from lipverify.loss.exact.context.contexts import ORDERS, PANEL, Contexts
from lipverify.loss.exact.context.others import ABOVE, BELOW, OTHER, Q_SHARE, STEP, width_of
from lipverify.loss.exact.quadrature import (
    MOST_PANELS,
    PARTS,
    TABLE,
    Grading,
    LogGrading,
    chebyshev_points,
    to_coefficients,
)
from lipverify.loss.exact.sight import sight_of
from lipverify.loss.exact.table import groups
from lipverify.loss.exact.variograms.pieces import SIZE
from lipverify.loss.exact.variograms.planes import Planes, meetings_of
from lipverify.loss.exact.variograms.products import TURN
from lipverify.loss.exact.variograms.roots import NEAR, has_roots, rough_ends, steep_places
from lipverify.loss.exact.variograms.segments import PAIR as JUMPS
from lipverify.loss.exact.variograms.segments import segments
from lipverify.loss.exact.variograms.table import CHECKS, SETTLED_ROOT, STRAIGHT_ORDERS, orders_of, root_edges
from lipverify.loss.exact.zonal.projection import COEFFICIENT
from lipverify.loss.exact.zonal.sums import HARMONIC
from lipverify.loss.exact.zonal.terms import FLAT as UNIFORM
from lipverify.loss.exact.zonal.terms import counts_of
from lipverify.loss.terms import Route
from lipverify.loss.work import GIB, NANO, Cost, price_of, running
from lipverify.problem import Problem
from lipverify.problem.law import Law, by_law, summands
from lipverify.problem.laws import Cosine
from lipverify.problem.own import Ridge, jumps_of
from lipverify.problem.problem import require_isotropic

TRACING = 0.1
"""Seconds for searching a user's function for kinks, jumps and narrow features."""
FEW = 4
"""Number of angles at which the pilot determines the order of a table."""
SETTLED, EASIER = 1e-12, 4.0
"""Largest relative difference of means over a few nodes; for a link with roots, the factor by which it may exceed that
of means over all nodes, which average out."""
SPLIT, SPLIT_ROOT = 3.5, 1.5
"""Number of pieces of a finished table for each piece at the start, for links with kinks and with roots."""
USED = 2
"""Number of `ORDERS`, from the first, that a loss usually takes."""
BREAKS = 8
"""Number of intervals of a rule over one token."""
FITS, PAIRS, CROSSING = 12, 1500, 5
"""For the mean products of two increments: polynomials for each angle at which the variogram is not smooth (plus one),
pairs of tokens for each polynomial, and panels of a turn that crosses such an angle."""
CLEAR = 4.0
"""A count that exceeds the limit by this factor is refused without a check; the count is right within this factor."""
CROSSED, PANELS_NODES = 20.0, 100
"""Largest number of panels that the argument of Q crosses for a pair of tokens, and a node's price in pairs."""
COPIES = 8
"""Number of arrays of the largest size that exist at the same time."""
DOUBLE = 8
"""Bytes of a double."""

NOTHING = Cost(seconds=0.0, memory=0.0, stage="nothing")

Stages = dict[str, float]


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
        chosen("route", route, ("ridge", "zonal"))
    costs = [plan_of(problem.replace(law=law), values, route) for _, law in summands(problem.law)]
    largest = max(costs, key=lambda cost: cost.seconds)
    return Cost(
        seconds=sum(cost.seconds for cost in costs), memory=max(cost.memory for cost in costs), stage=largest.stage
    )


def plan_of(problem: Problem, w: Floats, route: Route | None = None) -> Cost:
    """The cost at all w of the requested route, or of the routes that the table tries first."""
    replacement, _ = sight_of(problem.law).shown(problem.d)
    if replacement != problem.law:
        return plan_of(problem.replace(law=replacement), w, route)
    if route is not None:
        return cost_of(problem, w, route, known(problem, route))
    costs = [_first_cost(problem, w[which], row.routes) for row, which in groups(replacement, problem.d, w)]
    stage = max(costs, key=lambda cost: cost.seconds, default=NOTHING).stage
    seconds, memory = (sum(cost.seconds for cost in costs), max((cost.memory for cost in costs), default=0.0))
    return Cost(seconds=seconds, memory=memory, stage=stage)


def _first_cost(problem: Problem, w: Floats, routes: tuple[str, ...]) -> Cost:
    """The cost of the first route, or of the second if counts rule out the first or it exceeds the budget."""
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
    """Register a loss that is about to begin; refuse it if the budget does not allow it."""
    meter = running()
    if meter is not None:
        law = f"the exact loss of the {problem.law.name} law in d = {problem.d}"
        meter.begin(cost, f"{law} by route={route!r}" if route else law)
        meter.begun.add((problem.law, problem.d, route))


def known(problem: Problem, route: str) -> bool:
    """True if the tables of a law exist or have been counted in this budget, which counts them once."""
    meter = running()
    return meter is not None and (problem.law, problem.d, route) in meter.begun


def affordable(cost: Cost) -> bool:
    """True if the budget allows this cost."""
    meter = running()
    return meter is None or (meter.done + cost.seconds <= meter.seconds and cost.memory <= meter.memory)


def cost_of(problem: Problem, w: Floats, route: str, tabulated: bool = False) -> Cost:
    """The cost of all w by a route, without the tables of the law if these exist.

    Raises
    ------
    OutOfReach
        If counts show that the route does not reach a w.
    """
    table, memory = table_of(problem.law, problem.d, route)
    stages = {} if tabulated else dict(table)
    some = w[(w > UNIFORM) & (problem.n > 1)]
    more, space = _windows(problem, some.tobytes(), route)
    for stage, seconds in more.items():
        stages[stage] = stages.get(stage, 0.0) + seconds
    memory = max(memory, space * (min(MOST_WINDOWS, some.size) if route == "ridge" else 1))
    stage = max(stages, key=lambda stage_name: stages[stage_name], default="nothing")
    return Cost(seconds=sum(stages.values()), memory=memory / GIB, stage=stage)


def _panels(grading: Grading, low: float, high: float, width: float) -> float:
    """The approximate number of panels of a table; refuse a number that is clearly too large, as the table would."""
    ends = grading.v(np.array([low, high]))
    count = float(ends[1] - ends[0]) / width + 1
    return count if count < CLEAR * MOST_PANELS else float(grading.panels(low, high, width).size)


@lru_cache(maxsize=256)
def table_of(law: Law, d: int, route: str) -> tuple[Stages, float]:
    """Seconds by stage for the tables of a law in one dimension, which are made once, and their bytes."""
    sight = sight_of(law)
    if route == "zonal" or not sight.averaged:
        return ({"tracing": TRACING} if sight.traced else {}), 0.0
    return _tables(law, d)


@by_law
def _tables(law: Law, d: int) -> tuple[Stages, float]:
    """Seconds and bytes of the tables of the ridge route, registered by the class of the law."""
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
        # a longer link does not settle between the last two tables
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
    """Cost of the tables of rising size, up to one size above the first that resolves `length` coefficients."""
    used = [size for size, before in zip(SIZES, (0, 0, *SIZES), strict=False) if before < length]
    seconds = sum(size**3 for size in used) * (ENTRY + price) * NANO
    return {"the table of a smooth link": seconds}, COPIES * DOUBLE * float(used[-1]) ** 3


def _length(law: Ridge) -> int:
    """Number of Chebyshev coefficients of a link up to the last one above rounding."""
    size = SIZES[-1]
    sizes = np.abs(to_coefficients(size) @ np.asarray(law.links(chebyshev_points(size), np)[0], dtype=float))
    return int(np.max(np.flatnonzero(sizes > SETTLED * np.max(sizes)), initial=0)) + 1


def _variogram(law: Ridge, d: int, kinks: tuple[float, ...]) -> float:
    """Seconds for the table of a variogram: the search for an order, the pieces, and the values that test them."""
    planes, meetings = Planes(d, lambda z: law.links(z, np)[0], kinks), meetings_of(kinks)
    if segments(d, planes.link, kinks, meetings) is not None:
        places = (len(meetings) + 1) * STRAIGHT_ORDERS[1] * (1 + SIZE + 3 * len(CHECKS))
        return places * len(kinks) ** 2 / 2 * JUMPS * NANO
    rooted = has_roots(law.link, kinks, NEAR)
    edges = root_edges(meetings) if rooted else [0.0, *meetings, math.pi]
    planes = replace(planes, roots=rooted)
    power = 1 if jumps_of(law) and not rooted else 2
    orders = orders_of(law.link, kinks, rooted)
    middles = np.array([(low + high) / 2 for low, high in pairwise(edges)])
    few = middles[np.linspace(0, middles.size - 1, min(FEW, middles.size)).astype(int)]
    finer, nodes = planes.pilot(few, orders, power, EASIER * SETTLED_ROOT if rooted else SETTLED)
    pieces, split = len(edges) - 1, SPLIT_ROOT if rooted else SPLIT
    tried = sum(order**2 for order in orders if order <= finer) * pieces * len(CHECKS[::2])
    order = orders[max(orders.index(finer) - 1, 0)]
    angles = order**2 * SIZE * (split * pieces + 2 * (not rooted)) + finer**2 * split * pieces * len(CHECKS)
    return (tried + angles) * nodes * planes.price * NANO


@lru_cache(maxsize=256)
def _windows(problem: Problem, windows: bytes, route: str) -> tuple[Stages, float]:
    """Seconds by stage for all w, and bytes for the largest; cached: asked as a whole, then by the route."""
    w, stages, memory = np.frombuffer(windows), Stages(), 0.0
    if route == "ridge":
        contexts = Contexts.at(problem.d, float(problem.n), w)
        costs = [_ridge_window(problem, *contexts.row(i)[2:]) for i in range(w.size)]
    else:
        costs = [_zonal_window(problem, window) for window in w.tolist()]
    for more, space in costs:
        memory = max(memory, space)
        for stage, seconds in more.items():
            stages[stage] = stages.get(stage, 0.0) + seconds
    return stages, memory


def _ridge_window(problem: Problem, w: float, low: float, high: float) -> tuple[Stages, float]:
    """Seconds by stage for one w by the ridge route, and bytes."""
    d, sight = problem.d, sight_of(problem.law)
    grading = Grading(d, np.array(w))
    v = grading.v(np.array([low, min(max(SERIES_BELOW, low), high), high]))
    width = max(float(v[2] - v[0]), 1e-9)
    direct = float(v[2] - v[1]) / width if high > SERIES_TAIL else 0.0
    panels = max(6, math.ceil(width / PANEL))
    meetings = sight.meetings
    by_angles = meetings > MOST_MEETINGS or sight.by_angles
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
    """Seconds by stage for one w by the zonal route, and bytes."""
    harmonics, nodes, largest = counts_of(problem, w)
    links = max(sight_of(problem.law).links, 1)
    spectrum = harmonics * (2000 + 13 * harmonics) * COEFFICIENT * links * NANO
    return {"harmonics": harmonics * nodes * HARMONIC * NANO, "the spectrum of the law": spectrum}, (
        COPIES * DOUBLE * (largest + 30 * harmonics)
    )
