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
from lipverify.problem.own import Ridge

SMALLEST, LARGEST = 1e-300, 1e300
"""Below the first the terms are those of w = 0, to far less than rounding: they are analytic in w, at 0 too."""
BLUNT = 1e-10
"""A relative error beyond which the other route is tried, for a link of one's own."""
WIDE = 300.0
"""Up to this window some 500 harmonics are enough."""
ORDER = {True: ("zonal", "ridge"), False: ("ridge", "zonal")}
ROUTES = {"ridge": ridge_terms, "zonal": zonal_terms}

__all__ = ["ROUTES", "exact_terms", "ridge_terms", "zonal_terms"]


def exact_terms(problem: Problem, w: Floats, *, route: str | None = None) -> LossTerms:
    """Loss terms at every value in `w` (an array of finite values >= 0).

    `route` is "ridge" or "zonal". By default the zonal route serves laws given by their covariance, and links of one's
    own with kinks at small windows, where it is quicker; the ridge route the others. Where one is blunt or does not
    reach, the other is tried, and the better value stands: `reason` of the result says why.

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
    if not isinstance(problem.law, RidgeLaw):
        return zonal_terms(problem, w)
    if not (isinstance(problem.law, Ridge) and problem.law.kink_points):
        return _either(problem, w, "ridge", "zonal")
    # where circles of the sphere that a link's kinks are meet within a window, the ridge route takes long
    parts = [_either(problem, at, *ORDER[at <= WIDE]) for at in np.ravel(w)]
    return _joined(parts, w)


def _either(problem: Problem, w: Floats, first: str, second: str) -> LossTerms:
    """By the first route, or by the second where that does not reach or says little, and the second says more."""
    try:
        terms = ROUTES[first](problem, w)
        share = _blunt(terms)
        if share <= BLUNT or (w.size > 1 and not isinstance(problem.law, Ridge)):
            return terms
        reason = f"{first}: an error of {share:.0e} of the value"
    except OutOfReach as refusal:
        terms, reason = None, f"{first}: {refusal}"
    try:
        other = ROUTES[second](problem, w)
    except OutOfReach as refusal:
        if terms is None:
            raise OutOfReach(f"neither route reaches this. {reason} {second}: {refusal}") from None
        return terms
    if terms is not None and share <= _blunt(other):
        return terms
    return replace(other, reason=f"route {second!r}, since {reason}")


def _blunt(terms: LossTerms) -> float:
    """The largest relative error of a term."""
    errors = np.stack([np.asarray(terms.bias_error), np.asarray(terms.noise_error)])
    values = np.stack([np.asarray(terms.bias), np.asarray(terms.noise)])
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.where(errors > 0, errors / np.abs(values), 0.0), initial=0.0))


def _joined(parts: list[LossTerms], w: Floats) -> LossTerms:
    """Terms at every window in one record, of the shape of w."""
    fields = ("bias", "noise", "bias_error", "noise_error")
    columns = {name: np.reshape([float(getattr(part, name)) for part in parts], np.shape(w)) for name in fields}
    reasons = dict.fromkeys(part.reason for part in parts if part.reason)
    return replace(parts[0], w=w, reason="; ".join(reasons), **columns) if parts else zonal_terms
