"""A minimiser with its errors, raw and averaged over the symmetry group of the problem."""

from __future__ import annotations

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.batches import jackknife, largest_deviation
from lipverify.optimum.matrix.constraints import Constraint
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
        """The same errors about another minimiser."""
        return msgspec.structs.replace(self, M=group.average(M) if self.averaged else M, M_raw=M)
