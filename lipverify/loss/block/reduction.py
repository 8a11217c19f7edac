"""Choose the reduction to a few scalars per token for a problem, or refuse the problem."""

from __future__ import annotations

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.loss.block.product import OnProduct
from lipverify.loss.block.sphere import OnSphere
from lipverify.problem import Problem
from lipverify.problem.composed import LowRank
from lipverify.problem.covariates import ProductOfSpheres, Sphere
from lipverify.problem.laws import Linear

Reduction = OnProduct | OnSphere

SAME = 1e-9
"""Largest difference of two equal projectors: bases are orthonormal to 1e-10."""


def reduction_of(problem: Problem) -> tuple[Reduction, float]:
    """The reduction of a problem, and the constant L of its law f(x) = L a^T B^T x.

    Raises
    ------
    InvalidInput
        If the law is not of this form, or the covariates are neither uniform on the sphere nor a product of spheres
        along the columns of the same B.
    """
    law, covariates = problem.law, problem.covariates
    if not isinstance(law, LowRank) or not isinstance(law.ridge, Linear):
        raise InvalidInput(f"law = {law.name}: the reduction needs f(x) = a^T B^T x; use LowRank(B).")
    B = np.array(law.B)
    d, k = B.shape
    if isinstance(covariates, Sphere):
        return OnSphere(d, k), law.ridge.L
    if not isinstance(covariates, ProductOfSpheres):
        raise InvalidInput(
            f"covariates = {covariates.name}: the reduction needs Sphere() or ProductOfSpheres(B); "
            "use method='montecarlo' with M."
        )
    other = np.array(covariates.B)
    if other.shape != B.shape or float(np.max(np.abs(B @ B.T - other @ other.T))) > SAME:
        raise InvalidInput("B of the law and B of the covariates span different spaces; the reduction needs one.")
    return OnProduct(d, k, covariates.c_u, covariates.c_v), law.ridge.L
