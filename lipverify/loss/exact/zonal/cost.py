"""The cost of the zonal route, from its counts; the route itself shares nothing with the ridge route."""

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
    counts, links = list[Counts](), max(sight_of(problem.law).links, 1)
    for window in w.tolist():
        harmonics, nodes, largest = counts_of(problem, window)
        spectrum = harmonics * (2000 + 13 * harmonics) * COEFFICIENT * links * NANO
        stages = {"harmonics": harmonics * nodes * HARMONIC * NANO, "the spectrum of the law": spectrum}
        counts.append((stages, COPIES * DOUBLE * (largest + 30 * harmonics)))
    return counts
