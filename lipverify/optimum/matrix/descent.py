"""One descent on the loss over M from a start to a stationary point, by L-BFGS or by spectral projected gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from scipy.optimize import minimize

from lipverify.foundation.arrays import Floats
from lipverify.optimum.matrix.constraints import Constraint

Objective = Callable[[Floats], tuple[float, Floats]]
Projection = Callable[[Floats], Floats]

LEAST_LENGTH, MOST_LENGTH = 1e-10, 1e10
"""Range of the step length of a spectral gradient: curvatures may be rounding errors."""


def stationarity(x: Floats, gradient: Floats, project: Projection) -> float:
    """The largest entry of P(x - gradient) - x: zero exactly where x is stationary on the set."""
    return float(np.max(np.abs(project(x - gradient) - x)))


def projected_gradient(
    objective: Objective, project: Projection, start: Floats, tolerance: float, most_steps: int
) -> Floats:
    """A stationary point of a smooth function on a convex set, whose Euclidean projection is `project`.

    Each step goes towards P(x - lambda g), with lambda = <s, s> / <s, y> from the last change s of x and y of the
    gradient, and is shortened until a non-monotone sufficient decrease holds. The caller tests the result's
    stationarity.

    Source: Birgin, Martinez and Raydan, SIAM J. Optim. 10 (2000) 1196-1211, algorithm SPG2.

    >>> bowl = lambda x: (float(np.sum((x - 3) ** 2)), 2 * (x - 3))
    >>> projected_gradient(bowl, lambda x: np.minimum(x, [1.0, 5.0]), np.zeros(2), 1e-12, 100).tolist()
    [1.0, 3.0]
    """
    x = project(start)
    value, gradient = objective(x)
    history, length = [value], 1 / max(stationarity(x, gradient, project), LEAST_LENGTH)
    for _ in repeat(None, most_steps):
        if stationarity(x, gradient, project) <= tolerance:
            break
        iterate = _decrease(objective, x, project(x - length * gradient) - x, gradient, history)
        if iterate is None:
            break  # the values are flat to rounding
        s, y = iterate[0] - x, iterate[2] - gradient
        x, value, gradient = iterate
        history = [*history, value][-10:]
        curvature = float(np.sum(s * y))
        spectral = float(np.sum(s * s)) / curvature if curvature > 0 else MOST_LENGTH
        length = min(max(spectral, LEAST_LENGTH), MOST_LENGTH)
    return x


def _decrease(
    objective: Objective, x: Floats, direction: Floats, gradient: Floats, history: list[float]
) -> tuple[Floats, float, Floats] | None:
    """The first point on the direction with a sufficient decrease, its value and gradient; None if there is none."""
    slope, step, highest, last = float(np.sum(gradient * direction)), 1.0, max(history), history[-1]
    while step > 1e-12:
        candidate = x + step * direction
        value, slopes = objective(candidate)
        if value <= highest + 1e-4 * step * slope:
            return candidate, value, slopes
        # the minimum of the parabola through both values and the slope
        excess = value - last - step * slope
        step *= min(max(-slope * step / (2 * excess), 0.1), 0.5) if excess > 0 else 0.1
    return None


TOLERANCE, ACCEPTED = 1e-8, 1e-6
"""Stationarity at which a descent stops, near the square root of a value's rounding, and the largest accepted."""
MOST_STEPS = 2000  # of a descent


@dataclass(frozen=True, eq=False)
class Units:
    """Units of matrices and losses, in which tolerances have no dimension: M = unit W Z W, W symmetric.

    W whitens the covariates, so that a long axis of their covariance does not slow the descent. It is the identity for
    a set that is no linear space: a projection gives the nearest point in M and not in Z.
    """

    matrix: float
    whitening: Floats
    loss: float

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


def descend(
    objective: Objective, constraint: Constraint, start: Floats, units: Units, hessian: Floats | None = None
) -> End:
    """Minimise from `start`: by L-BFGS if the constraint is a linear space, by projected gradients otherwise.

    With a Hessian in Z near the minimiser, (d^2, d^2), first by Newton's method, as far as a step lowers the gradient.
    """

    def scaled(Z: Floats) -> tuple[float, Floats]:
        loss, gradient = objective(units.to_matrix(Z))
        return loss / units.loss, units.to_matrix(gradient) / units.loss

    def project(Z: Floats) -> Floats:
        return units.from_matrix(constraint.project(units.to_matrix(Z)))

    Z = units.from_matrix(constraint.project(start))
    if hessian is not None:
        Z = _newton(lambda Z: project(scaled(Z)[1]), Z, hessian)
    if constraint.linear:
        Z, loss, gradient = _quasi_newton(scaled, project, Z)
    else:
        Z = projected_gradient(scaled, project, Z, TOLERANCE, MOST_STEPS)
        loss, gradient = scaled(Z)
    return End(M=units.to_matrix(Z), loss=loss * units.loss, stationarity=stationarity(Z, gradient, project))


def _newton(slope: Callable[[Floats], Floats], Z: Floats, hessian: Floats) -> Floats:
    """A zero of the gradient by Newton's method with one Hessian; the last point before a step that does not help."""
    gradient = slope(Z)
    while (off := float(np.max(np.abs(gradient)))) > TOLERANCE:
        further = Z - np.linalg.lstsq(hessian, gradient.ravel(), rcond=1e-9)[0].reshape(Z.shape)  # no flat directions
        gradient = slope(further)
        if not float(np.max(np.abs(gradient))) < off / 2:  # usually a hundredth
            break
        Z = further
    return Z


def _quasi_newton(objective: Objective, project: Projection, start: Floats) -> tuple[Floats, float, Floats]:
    """The end of L-BFGS on Z -> objective(P Z), P linear and symmetric, with the value there and its gradient."""

    def flat(z: Floats) -> tuple[float, Floats]:
        value, gradient = objective(project(z.reshape(start.shape)))
        return value, project(gradient).ravel()

    options = {"ftol": 0.0, "gtol": TOLERANCE, "maxcor": 20, "maxiter": MOST_STEPS, "maxfun": 2 * MOST_STEPS}
    end = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return project(end.x.reshape(start.shape)), float(end.fun), end.jac.reshape(start.shape)
