"""The low-rank problem of Theorem 4, from plain values."""

from __future__ import annotations

from typing import Literal

from lipverify.problem.composed import LowRank
from lipverify.problem.covariates import ProductOfSpheres, Sphere, axes
from lipverify.problem.problem import Problem


def low_rank_problem(covariates: Literal["sphere", "product"], d: int, k: int, n: float, sigma: float) -> Problem:
    """f(x) = a^T B^T x, a uniform on S^{k-1} and B the first k axes, on the sphere or a product of unit spheres.

    The choice of B is no restriction: covariates and law are invariant under rotations. Other radii of the product
    only change the units of M and sigma.

    Source: Collins et al., slides, Theorem 4.

    >>> low_rank_problem("product", 3, 2, 20, 0.0).covariates.c_u
    1.0
    """
    B = axes(d, k)
    return Problem(
        d=d, n=n, law=LowRank(B), sigma=sigma, covariates=Sphere() if covariates == "sphere" else ProductOfSpheres(B)
    )
