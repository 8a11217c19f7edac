r"""Exact loss terms: deterministic quadrature whose cost does not depend on n, by two routes that share nothing.

ridge    laws f(x) = h(<q, x>), by their links
zonal    every isotropic law, by its covariance, harmonic by harmonic
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import chosen
from lipverify.loss.exact.ridge import ridge_terms
from lipverify.loss.exact.zonal import zonal_terms
from lipverify.loss.terms import LossTerms
from lipverify.problem import Problem
from lipverify.problem.law import RidgeLaw

SMALLEST, LARGEST = 1e-300, 1e300
"""Below the first the terms are those of w = 0, to far less than rounding: they are analytic in w, at 0 too."""
ROUTES = {"ridge": ridge_terms, "zonal": zonal_terms}

__all__ = ["ROUTES", "exact_terms", "ridge_terms", "zonal_terms"]


def exact_terms(problem: Problem, w: Floats, *, route: str | None = None) -> LossTerms:
    """Loss terms at every value in `w` (an array of finite values >= 0).

    `route` is "ridge" or "zonal"; by default the first for ridge laws, and the second beyond its reach and for laws
    given by their covariance.

    Raises
    ------
    InvalidInput
        If there is no such route.
    OutOfReach
        If the route cannot reach an error that means something, or w is beyond `LARGEST`.
    """
    if np.any(w > LARGEST):
        raise OutOfReach(f"w = {w.max():g}: at most {LARGEST:g}, for 2 w must be a double; use method='montecarlo'.")
    return replace(_terms(problem, np.where(w < SMALLEST, 0.0, w), route), w=w)


def _terms(problem: Problem, w: Floats, route: str | None) -> LossTerms:
    """By the route that is asked for, or that reaches it."""
    if route is not None:
        return ROUTES[chosen("route", route, ROUTES)](problem, w)
    if isinstance(problem.law, RidgeLaw):
        try:
            return ridge_terms(problem, w)
        except OutOfReach as refusal:
            ridge = refusal
        try:
            return zonal_terms(problem, w)
        except OutOfReach as zonal:
            raise OutOfReach(f"neither route reaches this. ridge: {ridge} zonal: {zonal}") from None
    return zonal_terms(problem, w)
