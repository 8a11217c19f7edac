"""Descents on one sampled loss from several starts, and leave-one-batch-out descents for the jackknife errors.

`settled` tests whether the data determine which part of a ball's boundary the minimiser lies on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.batches import jackknife, mean_interval
from lipverify.optimum.matrix.constraints import TOUCHING, Constraint, SpectralBall
from lipverify.optimum.matrix.descent import ACCEPTED, End, Units, descend
from lipverify.optimum.matrix.estimate import Ends, Estimate
from lipverify.optimum.matrix.sampled import BATCHES, NONE, SampledLoss
from lipverify.problem.symmetry import Symmetry

CLEAR = 2.0
"""In half-widths of 95 % intervals: four standard errors and more."""


def settled(loss: SampledLoss, constraint: Constraint, best: End, left_out: list[End]) -> bool:
    """True if the data determine which singular values are at the bound, so that the jackknife may be used.

    At a minimiser M over ||B^T M B||_2 <= C with gradient G, let u_j, v_j be the singular vectors of B^T M B to the
    singular values that are C. There -u_i^T B^T G B v_j is a matrix of multipliers, symmetric and >= 0. If all of them
    are clearly positive and all other singular values clearly below C, the minimiser moves smoothly with the data.
    Otherwise the bound is active for some data only, and a jackknife, which sees small changes of the data, reports too
    little.
    """
    if not isinstance(constraint, SpectralBall):
        return True
    B = constraint.basis(len(best.M))
    U, values, Vt = np.linalg.svd(B.T @ best.M @ B)
    at_bound = values >= constraint.C * (1 - TOUCHING)
    replicates = np.array([np.linalg.svd(B.T @ end.M @ B, compute_uv=False) for end in left_out])
    _, errors = jackknife(values, replicates)
    below = bool(np.all(values + CLEAR * errors < constraint.C, where=~at_bound))
    gradients = B.T @ loss.gradients_of_batches(best.M) @ B
    return below and _all_positive(-U[:, at_bound].T @ gradients @ Vt[at_bound].T)


def _all_positive(multipliers: Floats) -> bool:
    """True if a symmetric matrix, given by independent estimates (m, k, k), is clearly positive definite."""
    symmetric = (multipliers + multipliers.transpose(0, 2, 1)) / 2
    _, directions = np.linalg.eigh(symmetric.mean(axis=0))
    along = np.einsum("ik,bij,jk->kb", directions, symmetric, directions)
    return all(mean > CLEAR * error for mean, error in map(mean_interval, along))


@dataclass(frozen=True, eq=False)
class Descents:
    """Descents on a loss over a set; `report` is called after each."""

    loss: SampledLoss
    constraint: Constraint
    units: Units
    report: Callable[[], None]

    def end(self, start: Floats, without: int = NONE, hessian: Floats | None = None) -> End:
        """The end of the descent from `start`, on all batches or all but one."""
        reached = descend(partial(self.loss, without=without), self.constraint, start, self.units, hessian)
        self.report()
        return reached

    def left_out(self, whole: End) -> list[End]:
        """The minimisers without one batch, each started at the minimiser of all batches."""
        ends = [self.end(whole.M, batch, hessian) for batch, hessian in enumerate(self._hessians(whole.M))]
        worst = max(end.stationarity for end in ends)
        if not worst <= ACCEPTED:
            raise OutOfReach(
                f"without one of {BATCHES} batches a descent ended with a scaled gradient of {worst:.1g}, more than "
                f"{ACCEPTED:g}: the loss is too flat near |M| = {np.linalg.norm(whole.M, 2):.3g}; draw more contexts."
            )
        return ends

    def _hessians(self, M: Floats) -> Sequence[Floats | None]:
        """For each batch the Hessian in Z at M of the loss without it, by differences of gradients, to some 1e-6.

        Only where this pays: it takes d^2 evaluations of the loss, and saves each descent four.
        """
        d = len(M)
        if not self.constraint.linear or d**2 > 4 * BATCHES:
            return [None] * BATCHES
        h, axes = 1e-6, map(self.constraint.project, np.eye(d**2).reshape(-1, d, d))
        places = [M, *(M + self.units.to_matrix(h * E) for E in axes)]
        here, *moved = (self.units.to_matrix(self.loss.gradients_of_batches(place)) for place in places)
        change = (np.stack(moved) - here) / (h * self.units.loss)
        without = [np.delete(change, batch, axis=1).mean(axis=1) for batch in range(BATCHES)]
        return [np.reshape([self.constraint.project(row) for row in H], (d**2, d**2)) for H in without]

    def estimated(self, ends: Ends, group: Symmetry) -> tuple[Estimate, float, float]:
        """The minimiser with its errors, the smallest loss and its error."""
        best, left_out = ends.best, self.left_out(ends.best)
        # the ends differ by the descents' residual errors, and the jackknife's bias correction multiplies these
        slack = BATCHES * (ends.spread + self.units.resolution)
        if settled(self.loss, self.constraint, best, left_out):
            estimate = Estimate.of(best.M, [end.M for end in left_out], group, self.constraint, slack)
        else:
            estimate = self._relaxed(best, group, slack).about(best.M, group)
        loss, error = jackknife(best.loss, [end.loss for end in left_out])
        return estimate, float(loss), float(error)

    def _relaxed(self, best: End, group: Symmetry, slack: Floats) -> Estimate:
        """The nearest minimiser without the bound; its errors are at least those of the bounded minimiser."""
        free = replace(self, constraint=self.constraint.relaxed)
        whole = free.end(best.M)
        if not whole.converged:
            raise OutOfReach(
                f"constraint = {self.constraint!r}: the draws do not settle whether the bound is active, and "
                "without it there is no minimum; use another C, or draw more contexts."
            )
        return Estimate.of(whole.M, [end.M for end in free.left_out(whole)], group, free.constraint, slack)
