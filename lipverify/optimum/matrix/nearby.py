"""Minimise losses that differ little from one with a known minimiser, by quasi-Newton steps from that minimiser.

The Hessian at the known minimiser is computed from differences of gradients, one for each direction in which the set is
flat. Each loss starts from it and updates it after each step (Broyden, Fletcher, Goldfarb and Shanno), so that a few
evaluations suffice where a new descent takes ten. A result counts only if it is stationary on the whole set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.optimum.matrix.constraints import Constraint
from lipverify.optimum.matrix.descent import ACCEPTED, End, Objective, Units, left_undone

STEP = 1e-4
"""Step of the differences, in units of the minimiser; their truncation error only costs an extra Newton step."""
SLOWEST = 0.5
"""A step that leaves a larger share of the gradient than this counts as failed: a Newton step leaves much less."""
IN_SPACE = 0.5
"""Projections on a linear space have the eigenvalues 0 and 1."""


@dataclass(frozen=True, eq=False)
class Nearby:
    """The directions in which a set is flat at M: an orthonormal `basis`, (D, d * d), and inverse Hessian, (D, D)."""

    M: Floats
    constraint: Constraint
    units: Units
    basis: Floats
    inverse: Floats

    @classmethod
    def of(cls, objective: Objective, constraint: Constraint, M: Floats, units: Units) -> Nearby | None:
        """The model at M, a minimiser of the objective; None if the set or the loss has a corner or a valley at M."""
        units = units if constraint.linear else units.plain()
        basis = _basis(constraint, M)
        if basis is None:
            return None
        here = cls(M, constraint, units, basis, np.eye(len(basis)))
        if len(basis) == 0:
            return here
        gradients = [here.slopes(objective(here.at(STEP * e))[1]) for e in np.eye(len(basis))]
        hessian = (np.asarray(gradients) - here.slopes(objective(M)[1])) / STEP
        values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
        return replace(here, inverse=vectors / values @ vectors.T) if values[0] > STEP * values[-1] else None

    def at(self, z: Floats) -> Floats:
        """The matrix M + z in the coordinates of the basis, z of shape (D,)."""
        return self.M + self.units.to_matrix((z @ self.basis).reshape(self.M.shape))

    def slopes(self, gradient: Floats) -> Floats:
        """The slopes along the basis, (D,), of an objective with this gradient in M."""
        return self.basis @ self.units.to_matrix(gradient).ravel() / self.units.loss

    def end(self, objective: Objective, first: tuple[float, Floats]) -> End | None:
        """The minimiser of an objective with `first` as value and gradient at M; None if steps fail.

        The last step starts where the gradient is small enough, so its result is not evaluated again.
        """
        z, inverse, (value, gradient) = np.zeros(len(self.basis)), self.inverse, first
        slopes = self.slopes(gradient)
        while np.max(np.abs(slopes @ self.basis), initial=0.0) > ACCEPTED:
            step = -inverse @ slopes
            z = z + step
            value, gradient = objective(self.at(z))
            before, slopes = slopes, self.slopes(gradient)
            if not np.linalg.norm(slopes) <= SLOWEST * np.linalg.norm(before):
                return None
            inverse = updated(inverse, step, slopes - before)
        left = left_undone(self.constraint, self.units, self.at(z), gradient)
        return End(M=self.at(z - inverse @ slopes), loss=value, stationarity=left) if left <= ACCEPTED else None


def updated(inverse: Floats, s: Floats, y: Floats) -> Floats:
    """The inverse Hessian nearest to `inverse` that gives the step s for the change y of the slopes.

    >>> updated(np.eye(2), np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    curvature = float(s @ y)
    if not curvature > 0:
        return inverse
    left = np.eye(len(s)) - np.outer(s, y) / curvature
    return np.asarray(left @ inverse @ left.T + np.outer(s, s) / curvature)


def _basis(constraint: Constraint, M: Floats) -> Floats | None:
    """A basis of the directions in which the set is flat at M; None if its boundary is curved there."""
    directions = np.eye(M.size).reshape(-1, *M.shape)
    along = [flat for each in directions if (flat := constraint.flat(M, each)) is not None]
    if len(along) < len(directions):
        return None
    values, vectors = np.linalg.eigh(np.reshape(along, (M.size, M.size)))
    return np.asarray(vectors[:, values > IN_SPACE].T)
