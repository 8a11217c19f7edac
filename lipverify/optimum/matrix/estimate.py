"""The best end of several descents, and the minimiser with its errors, raw and averaged over the symmetries."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.batches import jackknife, largest_deviation, mean_interval
from lipverify.optimum.matrix.constraints import Constraint
from lipverify.optimum.matrix.descent import End, Objective, Units
from lipverify.optimum.matrix.sampled import SampledLoss
from lipverify.problem import Problem
from lipverify.problem.symmetry import Symmetry

REJECTED = 1e-6
"""If an asymmetry this large has a smaller probability than this, the symmetric form is rejected and not reported."""


class Estimate(msgspec.Struct, frozen=True):
    """The minimiser with its errors; `M` is the group average of `M_raw` if `averaged`, else `M_raw`."""

    M: Floats
    M_error: Floats
    M_raw: Floats
    M_raw_error: Floats
    averaged: bool
    asymmetry: float
    asymmetry_chance: float

    @classmethod
    def of(
        cls, whole: Floats, left_out: list[Floats], group: Symmetry, constraint: Constraint, slack: Floats
    ) -> Estimate:
        """The estimate from the minimisers on all batches and on all but one; `slack` is added to every error."""
        replicates = np.array(left_out)
        averages = np.array([group.average(M) for M in replicates])
        raw, raw_error = jackknife(whole, replicates)
        average, average_error = jackknife(group.average(whole), averages)
        deviation, deviation_error = jackknife(whole - group.average(whole), replicates - averages)
        asymmetry, chance = largest_deviation(deviation, deviation_error + slack, len(left_out))
        averaged = bool(group.projectors) and chance >= REJECTED
        M, M_error = (average, average_error) if averaged else (raw, raw_error)
        # the set is convex and contains the minimiser, so projecting an estimate does not increase its distance from it
        return cls(
            M=constraint.project(M),
            M_error=M_error + slack,
            M_raw=constraint.project(raw),
            M_raw_error=raw_error + slack,
            averaged=averaged,
            asymmetry=asymmetry,
            asymmetry_chance=chance,
        )

    def about(self, M: Floats, group: Symmetry) -> Estimate:
        """The estimate with another minimiser and the same errors."""
        return msgspec.structs.replace(self, M=group.average(M) if self.averaged else M, M_raw=M)


LEVEL = 1e-12
"""Different ends whose losses differ by less than this share lie in one flat valley."""


@dataclass(frozen=True, eq=False)
class Ends:
    """All ends, the best, the number that agree with it, and the rivals that the draws cannot rank below it."""

    all: tuple[End, ...]
    best: End
    agreeing: int
    rivals: tuple[End, ...]
    spread: Floats
    """The largest difference between agreeing ends, entry by entry."""

    @classmethod
    def of(cls, loss: SampledLoss, ends: list[End], units: Units) -> Ends:
        """Choose the best end: of those that the draws cannot rank below the lowest, the lowest with a trace >= 0.

        If none has one, the lowest.
        """
        lowest = min(ends, key=lambda end: end.loss)
        if not lowest.converged:
            raise OutOfReach(
                f"the descent that reached the lowest loss, {lowest.loss:.6g}, ended with a scaled gradient of "
                f"{lowest.stationarity:.1g} and |M| = {np.linalg.norm(lowest.M, 2):.3g}: the loss may have no minimum; "
                "bound M by constraint=SpectralBall(C=...), or draw more contexts."
            )
        reference = loss.of_batches(lowest.M)

        def tied_with_lowest(end: End) -> bool:
            if _same(end, lowest, units):
                return True
            excess, error = mean_interval(loss.of_batches(end.M) - reference)
            return excess <= error

        tied = [end for end in ends if end.converged and tied_with_lowest(end)]
        best = min(tied, key=lambda end: (float(np.trace(end.M)) < 0, end.loss))
        same = [end for end in tied if _same(end, best, units)]
        rivals = tuple(end for end in tied if end not in same)
        spread = np.ptp([end.M for end in same], axis=0)
        return cls(all=tuple(ends), best=best, agreeing=len(same), rivals=rivals, spread=spread)

    def require_determined(self) -> None:
        """Refuse different ends with equal losses, as two isolated minima of a sampled loss never have."""
        for rival in self.rivals:
            if abs(rival.loss - self.best.loss) <= LEVEL * self.best.loss:
                gap = float(np.max(np.abs(rival.M - self.best.M)))
                raise OutOfReach(
                    f"two descents ended at the same loss, {rival.loss:.9g}, with matrices that differ by {gap:.3g}: "
                    "the loss does not determine M. If covariates lie in a hyperplane, use a smaller d; if scores are "
                    "so large that one token has all the weight, use SpectralBall with a smaller C."
                )


def _same(end: End, second: End, units: Units) -> bool:
    # closer than this ends count as one minimiser; the error covers the distance
    reach = 1e-3 * max(units.matrix, float(np.max(np.abs(second.M))))
    return float(np.max(np.abs(end.M - second.M))) <= reach


def require_bounded(loss: Objective, constraint: Constraint, end: End, problem: Problem) -> None:
    """Refuse an end from which the loss falls, or is flat to rounding, as M grows along a singular direction."""
    U, values, Vt = np.linalg.svd(end.M)
    for u, s, v in zip(U.T, values, Vt, strict=True):
        larger = constraint.project(end.M + 3 * s * np.outer(u, v))
        free = np.linalg.norm(larger - end.M) > s  # the constraint allows a larger M in this direction
        if free and s * problem.covariates.scale**2 >= 1 and loss(larger)[0] <= (1 + LEVEL) * end.loss:
            raise OutOfReach(
                f"the loss does not rise beyond |M| = {values[0]:.3g} (n = {problem.n}, sigma = {problem.sigma:g}): it "
                "has no minimum that the draws can locate; bound M by constraint=SpectralBall(C=...), or draw more."
            )
