"""The cost of the zonal route, from the numbers of its harmonics and points."""

from __future__ import annotations

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.sight import sight_of
from lipverify.loss.exact.zonal.projection import COEFFICIENT
from lipverify.loss.exact.zonal.sums import HARMONIC
from lipverify.loss.exact.zonal.terms import counts_of
from lipverify.loss.work import COPIES, DOUBLE, NANO, TRACING, Counts
from lipverify.problem import Problem
from lipverify.problem.law import Law


def zonal_tables(law: Law, d: int) -> Counts:
    """Seconds for reading a user's function; there is no table."""
    return ({"tracing": TRACING} if sight_of(law).traced else {}), 0.0


def zonal_windows(problem: Problem, w: Floats) -> list[Counts]:
    """Seconds by stage, and bytes, at every w."""
    return [_window(problem, window) for window in w.tolist()]


def _window(problem: Problem, w: float) -> Counts:
    """Seconds by stage for one w, and bytes."""
    harmonics, nodes, largest = counts_of(problem, w)
    links = max(sight_of(problem.law).links, 1)
    spectrum = harmonics * (2000 + 13 * harmonics) * COEFFICIENT * links * NANO
    return {"harmonics": harmonics * nodes * HARMONIC * NANO, "the spectrum of the law": spectrum}, (
        COPIES * DOUBLE * (largest + 30 * harmonics)
    )
