"""One descent on the loss over M, from one start to a stationary point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from lipverify.foundation.arrays import Floats
from lipverify.optimum.matrix.constraints import Constraint
from lipverify.optimum.matrix.projected import projected_gradient, stationarity

Objective = Callable[[Floats], tuple[float, Floats]]

TOLERANCE, ACCEPTED = 1e-8, 1e-6
"""Stationarity at which a descent stops, near the square root of a value's rounding, and the largest accepted."""
MOST_STEPS = 2000


@dataclass(frozen=True, eq=False)
class Units:
    """Units of matrices and losses, in which tolerances have no dimension: M = unit W Z W, W symmetric.

    W whitens the covariates, so that a long axis of their covariance does not slow the descent.
    """

    matrix: float
    whitening: Floats
    loss: float

    def plain(self) -> Units:
        """These units without whitening, for sets whose projection gives the nearest point in M and not in Z."""
        return replace(self, whitening=np.eye(len(self.whitening)))

    def to_matrix(self, Z: Floats) -> Floats:
        """M = unit W Z W."""
        return self.matrix * self.whitening @ Z @ self.whitening

    def from_matrix(self, M: Floats) -> Floats:
        """Z = W^{-1} M W^{-1} / unit."""
        return np.asarray(np.linalg.solve(self.whitening, np.linalg.solve(self.whitening, M.T).T)) / self.matrix

    @property
    def resolution(self) -> float:
        """Change of an entry of M when entries of Z change by the tolerance."""
        return TOLERANCE * self.matrix * float(np.linalg.norm(self.whitening, 2)) ** 2


@dataclass(frozen=True, eq=False)
class End:
    """The end of a descent: M, the loss there, and the stationarity in the units of the descent."""

    M: Floats
    loss: float
    stationarity: float

    @property
    def converged(self) -> bool:
        """True if the end is a stationary point to the accepted tolerance."""
        return self.stationarity <= ACCEPTED


def descend(objective: Objective, constraint: Constraint, start: Floats, units: Units) -> End:
    """Minimise from `start`: by L-BFGS if the constraint is a linear space, by projected gradients otherwise."""
    units = units if constraint.linear else units.plain()

    def scaled(Z: Floats) -> tuple[float, Floats]:
        loss, gradient = objective(units.to_matrix(Z))
        return loss / units.loss, units.to_matrix(gradient) / units.loss

    def project(Z: Floats) -> Floats:
        return units.from_matrix(constraint.project(units.to_matrix(Z)))

    first = units.from_matrix(constraint.project(start))
    Z = (
        _quasi_newton(scaled, constraint.project, first)
        if constraint.linear
        else projected_gradient(scaled, project, first, TOLERANCE, MOST_STEPS)
    )
    M = units.to_matrix(Z)
    loss, gradient = objective(M)
    return End(M=M, loss=loss, stationarity=left_undone(constraint, units, M, gradient))


def left_undone(constraint: Constraint, units: Units, M: Floats, gradient: Floats) -> float:
    """Stationarity of M on the set, in the units of the descent, for an objective with this gradient at M."""

    def project(Z: Floats) -> Floats:
        return units.from_matrix(constraint.project(units.to_matrix(Z)))

    Z, slope = units.from_matrix(M), units.to_matrix(gradient) / units.loss
    return stationarity(Z, slope, constraint.project if constraint.linear else project)


def _quasi_newton(objective: Objective, project: Callable[[Floats], Floats], start: Floats) -> Floats:
    """L-BFGS on Z -> objective(P Z), whose gradient is P times that of the objective, P being linear and symmetric."""

    def flat(z: Floats) -> tuple[float, Floats]:
        value, gradient = objective(project(z.reshape(start.shape)))
        return value, project(gradient).ravel()

    options = {"ftol": 0.0, "gtol": TOLERANCE, "maxcor": 20, "maxiter": MOST_STEPS, "maxfun": 2 * MOST_STEPS}
    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return project(np.asarray(found.x).reshape(start.shape))
