r"""The cost of the ridge route, from the numbers of its quadrature nodes.

Most of a long loss is the table of a link's variogram. Its cost is the number of angles times the number of nodes on
circles for each, which is proportional to the square of the order that the link needs; a pilot at a few nodes finds
that order. The cost of one w follows from the relevant range of u.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.context.averages import SERIES_BELOW, SERIES_TAIL, TOKEN
from lipverify.loss.exact.context.between import PAIR
from lipverify.loss.exact.context.contexts import ORDERS, PANEL, Context, Contexts
from lipverify.loss.exact.context.others import ABOVE, OTHER, Q_SHARE, STEP, below_of, width_of
from lipverify.loss.exact.context.short import SMALL
from lipverify.loss.exact.quadrature import (
    MOST_PANELS,
    PARTS,
    TABLE,
    Grading,
    LogGrading,
)
from lipverify.loss.exact.ridge.pairs import PAIR as PAIR_OF_RELU
from lipverify.loss.exact.ridge.parts import length_of, sizes_for, spectrum_beyond_tables
from lipverify.loss.exact.ridge.smooth import ENTRY, SIZES
from lipverify.loss.exact.sight import sight_of
from lipverify.loss.exact.variograms.pieces import SIZE
from lipverify.loss.exact.variograms.planes import Planes, meetings_of
from lipverify.loss.exact.variograms.roots import NEAR, has_roots, rough_ends, steep_places
from lipverify.loss.exact.variograms.segments import PAIR as JUMPS
from lipverify.loss.exact.variograms.segments import segments
from lipverify.loss.exact.variograms.slopes import derivative, is_calm
from lipverify.loss.exact.variograms.table import CHECKS, SETTLED_ROOT, STRAIGHT_ORDERS, orders_of, root_edges
from lipverify.loss.work import COPIES, DOUBLE, NANO, TRACING, Counts, price_of
from lipverify.problem import Problem
from lipverify.problem.law import Law, RidgeLaw, by_law
from lipverify.problem.laws import Cosine, ReLU
from lipverify.problem.own import Ridge, jumps_of

SETTLED = 1e-12
"""Largest relative difference of means over a few nodes."""
BREAKS = 8
"""Number of intervals of a rule over one token."""
HARMONIC = 1e5
"""Nanoseconds for one harmonic at all angles of a table."""
BRIEF: Counts = ({"tables of the law": TRACING}, 0.0)
"""The cost of tables that take little time."""

Seconds = Callable[[Context, float, int], float]
"""(context, panels of the tables of what other tokens do, order) -> seconds for pairs of tokens."""


Plan = tuple[Counts, Seconds | None]
"""The cost of the tables of a law, and that of pairs where windows hold few tokens, unless averages over one do."""


def ridge_tables(law: Law, d: int) -> Counts:
    """Seconds by stage for the tables of a law, and their bytes."""
    return _plan(law, d)[0]


def ridge_windows(problem: Problem, w: Floats) -> list[Counts]:
    """Seconds by stage, and bytes, at every w > 0."""
    contexts = Contexts.at(problem.d, float(problem.n), w)
    return [_window(problem.law, contexts.row(i)) for i in range(w.size)]


def _by_angles(context: Context, tables: float, order: int) -> float:
    """Seconds for a table of the density of the angle between two tokens."""
    d, _, w, _, high = context
    order = order // 3 + 3
    panels = _panels(Grading(d, w), -math.log(2), min(max(high, 1.0), 2 * w), width_of(d, w))
    crossed = min(panels, 20.0)  # by the argument of Q for a pair of tokens
    pairs = (14 + math.log2(1 + w)) * order * (crossed + 6) * order
    return (pairs * (crossed / 4 * order + 2 * (order + 6)) / 4 + 100 * panels * order) * PAIR * NANO


def _by_pairs(context: Context, tables: float, order: int) -> float:
    """Seconds for an integral over two tokens."""
    order = order // 2 + 4
    return (tables + 4) * order * 5 * order * PAIR_OF_RELU * NANO


@by_law
def _plan(law: Law, d: int) -> Plan:
    """The plan of a law in one dimension, registered by its class; the default is for a law given by its covariance."""
    return BRIEF, _by_angles


_plan.register(RidgeLaw)(lambda law, d: (BRIEF, _by_angles if law.kink_points else None))
_plan.register(ReLU)(lambda law, d: (BRIEF, _by_pairs))
_plan.register(Cosine)(lambda law, d: (_smooth_table(math.ceil(law.L) + 16, 2 * price_of(np.sin)), None))


@_plan.register(Ridge)
@lru_cache(maxsize=256)  # a pilot takes time
def _link_plan(law: Ridge, d: int) -> Plan:
    stages, memory = {"tracing": TRACING}, 0.0
    kinks = tuple(sorted(law.kink_points + rough_ends(law.link, law.kink_points)))
    if not kinks and (spectrum := spectrum_beyond_tables(law, d)) is not None:
        return ({**stages, "the variogram of the link": spectrum.k.size * HARMONIC * NANO}, memory), _by_angles
    if not kinks and (sight_of(law).narrow is None or not steep_places(law.link)):
        length = length_of(law)
        more, memory = _smooth_table(length, 2 * price_of(law.link), sizes_for(law))
        stages |= more
        # a longer link does not settle between the last two tables
        kinks = steep_places(law.link) if length > SIZES[-2] else ()
    elif not kinks:
        kinks = steep_places(law.link)
    if kinks:
        stages["the variogram of the link"] = _variogram(law, d, kinks)
    return (stages, memory), _by_angles if kinks else None


def _smooth_table(length: int, price: float, sizes: tuple[int, ...] = SIZES) -> Counts:
    """Cost of the tables of rising size, up to one size above the first that resolves `length` coefficients."""
    used = [size for size, before in zip(sizes, (0, 0, *sizes), strict=False) if before < length]
    seconds = sum(size**3 for size in used) * (ENTRY + price) * NANO
    return {"the table of a smooth link": seconds}, COPIES * DOUBLE * float(used[-1]) ** 3


def _variogram(law: Ridge, d: int, kinks: tuple[float, ...]) -> float:
    """Seconds for the table of a variogram: the search for an order, the pieces, and the values that test them."""
    planes, meetings = Planes(d, lambda z: law.links(z, np)[0], kinks), meetings_of(kinks)
    if segments(d, planes.link, kinks, meetings) is not None:
        places = (len(meetings) + 1) * STRAIGHT_ORDERS[1] * (1 + SIZE + 3 * len(CHECKS))
        return places * len(kinks) ** 2 / 2 * JUMPS * NANO
    rooted = has_roots(law.link, kinks, NEAR)
    if rooted and not jumps_of(law) and is_calm(law.link, kinks):
        planes = Planes(d + 2, derivative(law.link, kinks, 20), kinks)
    edges = root_edges(meetings) if rooted else [0.0, *meetings, math.pi]
    planes = replace(planes, roots=rooted)
    power = 1 if jumps_of(law) and not rooted else 2
    orders = orders_of(law.link, kinks, rooted)
    middles = np.array([(low + high) / 2 for low, high in pairwise(edges)])
    few = middles[np.linspace(0, middles.size - 1, min(4, middles.size)).astype(int)]
    # means over all nodes average out
    finer, nodes = planes.pilot(few, orders, power, 4 * SETTLED_ROOT if rooted else SETTLED)
    pieces, split = len(edges) - 1, 1.5 if rooted else 3.5  # of the finished table for each piece at the start
    tried = sum(order**2 for order in orders if order <= finer) * pieces * len(CHECKS[::2])
    order = orders[max(orders.index(finer) - 1, 0)]
    angles = order**2 * SIZE * (split * pieces + 2 * (not rooted)) + finer**2 * split * pieces * len(CHECKS)
    return (tried + angles) * nodes * planes.price * NANO


def _window(law: Law, context: Context) -> Counts:
    """Seconds by stage for one w, and bytes."""
    d, n, w, low, high = context
    grading = Grading(d, w)
    v = grading.v(np.array([low, min(max(SERIES_BELOW, low), high), high]))
    width = max(float(v[2] - v[0]), 1e-9)
    direct = float(v[2] - v[1]) / width if high > SERIES_TAIL else 0.0
    panels = max(6, math.ceil(width / PANEL))
    stages, orders = {"averages over a token": 0.0}, ORDERS[:2]  # that a loss usually takes
    for order in orders:
        points = panels * order * 2 / math.pi * direct + 1
        stages["averages over a token"] += points * BREAKS * order * TOKEN * NANO
    memory = COPIES * DOUBLE * panels * orders[-1] * (direct + 0.01) * BREAKS * orders[-1]
    _, pairs = _plan(law, d)
    if pairs is None or (high <= SERIES_TAIL and d <= SMALL):  # a short series of powers of lambda
        return stages, memory
    tables = _panels(LogGrading(d, w, Q_SHARE), -1.0, min(high + ABOVE, 2 * w + 5), 1.0)
    stages["tables of what other tokens do"] = 2 * tables * TABLE * (ABOVE + below_of(n)) / STEP * OTHER * NANO
    stages["the angle between two tokens"] = sum(pairs(context, tables, order) for order in orders)
    return stages, max(memory, COPIES * DOUBLE * tables * PARTS * 6.0)


def _panels(grading: Grading, low: float, high: float, width: float) -> float:
    """The approximate number of panels of a table, within a factor of 4; refuse one that the table would refuse."""
    ends = grading.v(np.array([low, high]))
    count = float(ends[1] - ends[0]) / width + 1
    return count if count < 4 * MOST_PANELS else float(grading.panels(low, high, width).size)
