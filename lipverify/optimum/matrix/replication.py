"""Descents on one sampled loss from several starts, and leave-one-batch-out descents for the jackknife errors.

The losses without a batch differ little from the loss of all; `Nearby` finds their minimisers by quasi-Newton steps.
`settled` tests whether the data determine which part of a ball's boundary the minimiser lies on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.batches import jackknife, mean_interval
from lipverify.optimum.matrix.constraints import TOUCHING, Constraint, SpectralBall
from lipverify.optimum.matrix.descent import (
    ACCEPTED,
    End,
    Objective,
    Units,
    descend,
    left_undone,
    working_units,
)
from lipverify.optimum.matrix.estimate import Ends, Estimate
from lipverify.optimum.matrix.sampled import BATCHES, SampledLoss
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


STEP = 1e-4
"""Step of the differences, in units of the minimiser; their truncation error only costs an extra Newton step."""


@dataclass(frozen=True, eq=False)
class Nearby:
    """The directions in which a set is flat at M: an orthonormal `basis`, (D, d * d), and inverse Hessian, (D, D).

    The Hessian is computed from differences of gradients. Each nearby loss starts from it and updates it after each
    step (Broyden, Fletcher, Goldfarb and Shanno): a few evaluations suffice where a new descent takes ten. A result
    counts only if it is stationary on the whole set.
    """

    M: Floats
    constraint: Constraint
    units: Units
    basis: Floats
    inverse: Floats

    @classmethod
    def of(cls, objective: Objective, constraint: Constraint, M: Floats, units: Units) -> Nearby | None:
        """The model at M, a minimiser of the objective; None if the set or the loss has a corner or a valley at M."""
        units, _ = working_units(constraint, units)
        basis = _basis(constraint, M)
        if basis is None:
            return None
        nearby = cls(M, constraint, units, basis, np.eye(len(basis)))
        if len(basis) == 0:
            return nearby
        gradients = [nearby.slopes(objective(nearby.at(STEP * e))[1]) for e in np.eye(len(basis))]
        hessian = (np.asarray(gradients) - nearby.slopes(objective(M)[1])) / STEP
        values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
        return replace(nearby, inverse=vectors / values @ vectors.T) if values[0] > STEP * values[-1] else None

    def at(self, z: Floats) -> Floats:
        """The matrix M + z in the coordinates of the basis, z of shape (D,)."""
        return self.M + self.units.to_matrix((z @ self.basis).reshape(self.M.shape))

    def slopes(self, gradient: Floats) -> Floats:
        """The slopes along the basis, (D,), of an objective with this gradient in M."""
        return self.basis @ self.units.to_matrix(gradient).ravel() / self.units.loss

    def end(self, objective: Objective, first: tuple[float, Floats]) -> End | None:
        """The minimiser of an objective with `first` as value and gradient at M; None if steps fail."""
        z, inverse, (value, gradient) = np.zeros(len(self.basis)), self.inverse, first
        slopes = self.slopes(gradient)
        while np.max(np.abs(slopes @ self.basis), initial=0.0) > ACCEPTED:
            step = -inverse @ slopes
            z = z + step
            value, gradient = objective(self.at(z))
            before, slopes = slopes, self.slopes(gradient)
            if not np.linalg.norm(slopes) <= np.linalg.norm(before) / 2:
                return None  # a Newton step leaves much less
            inverse = updated(inverse, step, slopes - before)
        # the last step starts where the gradient is small enough, so its result is not evaluated again
        residual = left_undone(self.constraint, self.units, self.at(z), gradient)
        return End(M=self.at(z - inverse @ slopes), loss=value, stationarity=residual) if residual <= ACCEPTED else None


def updated(inverse: Floats, s: Floats, y: Floats) -> Floats:
    """The inverse Hessian nearest to `inverse` that gives the step s for the change y of the slopes."""
    curvature = float(s @ y)
    if not curvature > 0:
        return inverse
    factor = np.eye(len(s)) - np.outer(s, y) / curvature
    return np.asarray(factor @ inverse @ factor.T + np.outer(s, s) / curvature)


def _basis(constraint: Constraint, M: Floats) -> Floats | None:
    """A basis of the directions in which the set is flat at M; None if its boundary is curved there."""
    directions = np.eye(M.size).reshape(-1, *M.shape)
    along = [flat for direction in directions if (flat := constraint.flat(M, direction)) is not None]
    if len(along) < len(directions):
        return None
    values, vectors = np.linalg.eigh(np.reshape(along, (M.size, M.size)))
    return np.asarray(vectors[:, values > 0.5].T)  # a projection has the eigenvalues 0 and 1


@dataclass(frozen=True, eq=False)
class Descents:
    """Descents on a loss over a set; `report` is called after each."""

    loss: SampledLoss
    constraint: Constraint
    units: Units
    report: Callable[[], None]

    def end(self, start: Floats, without: int | None = None) -> End:
        """The end of the descent from `start`, on all batches or all but one."""
        loss = self.loss if without is None else partial(self.loss, without=without)
        reached = descend(loss, self.constraint, start, self.units)
        self.report()
        return reached

    def left_out(self, whole: End) -> list[End]:
        """The minimisers without one batch, each started at the minimiser of all batches."""
        nearby = Nearby.of(self.loss, self.constraint, whole.M, self.units)
        firsts = self.loss.without_each(whole.M)
        ends = [self._end_near(whole, nearby, batch, first) for batch, first in enumerate(firsts)]
        worst = max(end.stationarity for end in ends)
        if not worst <= ACCEPTED:
            raise OutOfReach(
                f"without one of {BATCHES} batches a descent ended with a scaled gradient of {worst:.1g}, more than "
                f"{ACCEPTED:g}: the loss is too flat near |M| = {np.linalg.norm(whole.M, 2):.3g}; draw more contexts."
            )
        return ends

    def _end_near(self, whole: End, nearby: Nearby | None, batch: int, first: tuple[float, Floats]) -> End:
        """The minimiser without a batch: by quasi-Newton steps, or by a descent if they fail."""
        end = nearby.end(partial(self.loss, without=batch), first) if nearby is not None else None
        if end is None:
            return self.end(whole.M, without=batch)
        self.report()
        return end

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
