"""The two routes, and the table that chooses one for each law and w."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.ridge.cost import ridge_tables, ridge_windows
from lipverify.loss.exact.ridge.terms import MOST_WINDOWS, ridge_terms, rough_ridge_terms
from lipverify.loss.exact.sight import Sight, sight_of
from lipverify.loss.exact.zonal.cost import zonal_tables, zonal_windows
from lipverify.loss.exact.zonal.terms import rough_zonal_terms, zonal_terms
from lipverify.loss.work import Counts
from lipverify.problem import Problem
from lipverify.problem.law import Law


@dataclass(frozen=True)
class Algorithm:
    """The algorithm of a route, and its cost."""

    terms: Callable[[Problem, Floats], Iterable[Floats]]  # bias, noise, and the errors of both, at every w
    rough: Callable[[Problem, Floats, int], tuple[Floats, Floats]]  # noise and bias at the first of some w > 0
    tables: Callable[[Law, int], Counts]  # the cost of the tables of a law in one dimension
    windows: Callable[[Problem, Floats], list[Counts]]  # the cost of every w > 0
    at_once: int = 1  # the number of w in memory together


ROUTES = {
    "ridge": Algorithm(ridge_terms, rough_ridge_terms, ridge_tables, ridge_windows, MOST_WINDOWS),
    "zonal": Algorithm(zonal_terms, rough_zonal_terms, zonal_tables, zonal_windows),
}


@dataclass(frozen=True)
class Row:
    """A row of the route table."""

    holds: Callable[[Sight, int], object]  # its condition, by the law's sight and the dimension
    routes: tuple[str, ...]  # to try first, and a second one, if any, for problems that the first refuses
    compared: bool = False  # the second is also tried when the first has a large error; the smaller error wins
    alone: bool = False  # every w is computed separately, so that a refusal at one does not affect the others
    up_to: float = math.inf  # the largest w of the row; for larger w the next rows apply


# the first row whose condition holds applies
TABLE = (
    # The quadrature of the harmonics adapts to the link and resolves arbitrarily narrow features. The variogram is not
    # smooth at the differences of close kinks, and its table would take minutes.
    Row(lambda law, d: law.narrow is not None or law.close, ("zonal", "ridge"), alone=True),
    # Only the spectrum of the law is known.
    Row(lambda law, d: not law.averaged, ("zonal",)),
    # The averages over tasks are exact up to rounding, so a comparison with the second route gains nothing.
    Row(lambda law, d: law.coded, ("ridge", "zonal")),
    # Up to w = 1e-3 a few dozen harmonics suffice. The ridge route's table of averages over the other tokens would need
    # more panels than fit into memory.
    Row(lambda law, d: law.kinks and law.rooted, ("zonal", "ridge"), alone=True, up_to=1e-3),
    # The variogram of several kinks with roots takes seconds; the few hundred harmonics that w up to 50 needs take a
    # tenth of that. Beyond d = 6 rounding swamps the coefficients, because a degree has too many harmonics. On the
    # circle the variogram is a single integral.
    Row(
        lambda law, d: law.kinks and law.rooted and law.meetings >= 2 and 2 < d <= 6,
        ("zonal", "ridge"),
        compared=True,
        alone=True,
        up_to=50.0,
    ),
    # The table of the variogram is computed once for a law, and every w then has the same cost.
    Row(lambda law, d: True, ("ridge", "zonal"), compared=True),
)


def rows_of(law: Law, d: int) -> list[Row]:
    """The rows that apply to a law, in ascending order of w; the last one has no upper limit."""
    rows, sight = [], sight_of(law)
    for row in TABLE:
        if row.holds(sight, d):
            rows.append(row)
            if row.up_to == math.inf:
                break
    return rows


def groups(law: Law, d: int, w: Floats) -> list[tuple[Row, NDArray[np.intp]]]:
    """The rows that apply to given w, each with the indices of its w."""
    matches, remaining = [], np.full(w.shape, True)
    for row in rows_of(law, d):
        matching = remaining & (w <= row.up_to)
        if matching.any():
            matches.append((row, np.flatnonzero(matching)))
        remaining &= ~matching
    return matches


def has_averages(law: Law) -> bool:
    """True if the ridge route can compute a law: from its links, its covariance or its variogram."""
    return sight_of(law).averaged
