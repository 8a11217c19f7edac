r"""Problems that are isotropic after a linear change of coordinates x = A u, with a matrix M that matches it.

With u uniform on the sphere or N(0, I), scores w x_i^T M x are w u_i^T (A^T M A) u, and f(x) = g(B^T x) is
g((A^T B)^T u).
If A^T M A = c I and A^T B is orthogonal, the loss is that of g in u at the window c w.

Source: Collins et al., slides, Lemma 1, where A = Sigma^{1/2}, B = Sigma^{-1/2} and M = w Sigma^{-1}.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.quoting import shown
from lipverify.problem.composed import LowRank, Transformed
from lipverify.problem.covariates import Gaussian, Sphere
from lipverify.problem.law import Law, by_law
from lipverify.problem.laws import Affine, Linear, Quadratic, ReLU
from lipverify.problem.matrices import ORTHONORMAL, rows
from lipverify.problem.problem import Problem, require_problem


class IsotropicForm(NamedTuple):
    """The isotropic problem, the factor c of its w, and the largest relative deviation `off` of the matrices from exact
    ones.
    """

    problem: Problem
    factor: float
    off: float


def isotropic_form(problem: Problem, M: Any = None) -> IsotropicForm:
    """The isotropic problem whose loss at c w is that of a problem, with covariates on an ellipsoid or normal ones, for
    scores w x_i^T M x; refused if there is none to ten digits.
    """
    require_problem(problem)
    d = problem.d
    matrix = np.eye(d) if M is None else np.array(rows("M", M))
    if matrix.shape != (d, d):
        raise InvalidInput(f"M = {shown(M)}: it must be a {d} x {d} matrix of finite real numbers.")
    A = problem.covariates.stretch(d)
    if A is None:
        raise InvalidInput(_refusal(problem, "its covariates are neither an ellipsoid nor normal"))
    scores = A.T @ matrix @ A
    factor = float(np.trace(scores)) / d
    off = float(np.max(np.abs(scores - factor * np.eye(d))) / abs(factor)) if factor else np.inf
    if not (factor > 0 and off <= ORTHONORMAL):
        raise InvalidInput(_refusal(problem, "A^T M A is no positive multiple of I, where x = A u"))
    law, unorthogonal = _in_u(problem.law, A)
    if not unorthogonal <= ORTHONORMAL:
        raise InvalidInput(_refusal(problem, "f is not isotropic in u, where x = A u"))
    covariates = Gaussian(np.ones(d)) if isinstance(problem.covariates, Gaussian) else Sphere()
    return IsotropicForm(problem.replace(law=law, covariates=covariates), factor, max(off, unorthogonal))


@by_law
def _in_u(law: Law, A: Floats) -> tuple[Law, float]:
    """The law in u, and its deviation from isotropy."""
    if not law.isotropic:
        return law, np.inf
    radius = math.sqrt(np.trace(A.T @ A) / len(A))
    scaled = stretched(law, radius) if abs(radius - 1) > ORTHONORMAL else None
    square = 1.0 if scaled is None else radius**2
    return scaled or law, float(np.max(np.abs(A.T @ A / square - np.eye(len(A)))))


@by_law
def stretched(law: Law, radius: float) -> Law | None:
    """The law of f(radius x), if it is one of the same class."""
    return None


stretched.register(Affine, Linear, ReLU)(lambda law, radius: replace(law, L=radius * law.L))
stretched.register(Quadratic)(lambda law, radius: replace(law, L=radius**2 * law.L))


@_in_u.register(Transformed, LowRank)
def _transformed_in_u(law: Transformed, A: Floats) -> tuple[Law, float]:
    product = A.T @ np.array(law.B)
    if product.shape != A.shape:
        return law, np.inf
    return law.ridge, float(np.max(np.abs(product.T @ product - np.eye(len(A)))))


def _refusal(problem: Problem, why: str) -> str:
    return (
        f"law = {problem.law.name}, covariates = {problem.covariates.name}: {why}, so that the exact method has no "
        "reduction; use method='montecarlo', lipverify.optimum.empirical_window or lipverify.optimal_matrix."
    )
