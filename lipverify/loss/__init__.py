"""Bias and noise at a given window, by methods that share only the problem."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.loss.terms import LossTerms
from lipverify.problem import Problem
from lipverify.problem.law import RidgeLaw
from lipverify.problem.problem import require_isotropic

METHODS = ("exact", "montecarlo", "asymptotic", "certified")
ROUTES = ("ridge", "zonal")

__all__ = ["METHODS", "ROUTES", "LossTerms", "loss_terms"]


def loss_terms(problem: Problem, w: Any, method: str = "exact", **options: Any) -> LossTerms:
    r"""Bias B(w) and noise N(w) of the loss of softmax attention with M = w I.

        B(w) = E (sum_i a_i f(x_i) - f(x))^2,    N(w) = sigma^2 E sum_i a_i^2,

    a_i proportional to exp(w <x_i, x>); the loss is their sum (source: Collins et al., slides,
    "Decomposition"; w here is the scale of M, so a Gaussian exp(-w |x_i - x|^2) has half this w).

    Parameters
    ----------
    problem
        Dimension, context length, law of the task and noise level.
    w
        One window or an array of them, finite and >= 0; the arrays of the result have its shape.
    method
        "exact": quadrature whose cost does not depend on n, for any isotropic law.
        "montecarlo": sampling of tokens and tasks, for any covariates and any law that can be drawn.
        "asymptotic": the leading terms, derived by SymPy, with the range where they hold.
        "certified": balls that are proved to contain the values, with 20 digits.
    **options
        For "exact": `route`, "ridge" or "zonal": two quadratures that share nothing. By default the first for
        ridge laws, and the second beyond its reach and for laws given by their covariance.
        For "certified": `digits`; see `lipverify.loss.certified.certified_terms`.
        For "montecarlo": `contexts` or `rtol`, `M`, `attention`, `backend`, `seed` and others; see
        `lipverify.loss.montecarlo.montecarlo_terms`.

    Returns
    -------
    LossTerms
        `bias`, `noise`, `total` and their errors, in units of y squared.

    Raises
    ------
    InvalidInput
        If `w`, `method` or an option breaks its rule.
    OutOfReach
        If the method cannot reach the accuracy that was asked for.

    >>> from lipverify.laws import ReLU
    >>> terms = loss_terms(Problem(d=5, n=100, law=ReLU(L=1.0), sigma=1.0), w=[0.0, 5.0])
    >>> terms.noise.round(6).tolist()
    [0.01, 0.056844]
    """
    windows = _windows(w)
    if not isinstance(problem, Problem):
        raise InvalidInput(f"problem = {problem!r} is not a Problem; build one with Problem(d=..., n=..., law=...).")
    if method not in METHODS:
        raise InvalidInput(f"method = {method!r} is not known; choose one of: {', '.join(METHODS)}.")
    if method != "montecarlo":
        require_isotropic(problem, f"method={method!r}")
    return _method(problem, method, options)(problem, windows, **options)


def _method(problem: Problem, method: str, options: dict[str, Any]) -> Callable[..., LossTerms]:
    """The function behind a method, imported when it is first asked for; takes the route out of the options."""
    if method == "exact":
        route = options.pop("route", None)
        if route is not None and route not in ROUTES:
            raise InvalidInput(f"route = {route!r} is not known; choose one of: {', '.join(ROUTES)}.")
        _refuse(options, method, "route")
        return _route(problem, route)
    if method == "certified":
        from lipverify.loss.certified import certified_terms

        _refuse({name: value for name, value in options.items() if name != "digits"}, method, "digits")
        return certified_terms
    if method == "asymptotic":
        from lipverify.loss.asymptotic import asymptotic_terms

        _refuse(options, method, "")
        return asymptotic_terms
    from lipverify.loss.montecarlo import montecarlo_terms

    known = [name for name, how in signature(montecarlo_terms).parameters.items() if how.kind == how.KEYWORD_ONLY]
    _refuse({name: value for name, value in options.items() if name not in known}, method, ", ".join(known))
    return montecarlo_terms


def _route(problem: Problem, route: str | None) -> Callable[..., LossTerms]:
    """The route asked for; by default that of ridge laws where it applies, and the other beyond its reach."""
    from lipverify.loss.exact import exact_terms
    from lipverify.loss.zonal import zonal_terms

    def either(problem: Problem, w: Any) -> LossTerms:
        try:
            return exact_terms(problem, w)
        except OutOfReach:
            return zonal_terms(problem, w)

    if route is None:
        return either if isinstance(problem.law, RidgeLaw) else zonal_terms
    return zonal_terms if route == "zonal" else exact_terms


def _refuse(options: dict[str, Any], method: str, known: str) -> None:
    """Refuse an option that the method does not have."""
    for name in options:
        has = f"it has {known}" if known else "it has none"
        raise InvalidInput(f"{name} is not an option of the {method} method; {has}.")


def _windows(w: Any) -> Any:
    """The windows as an array of doubles, refused unless finite and >= 0."""
    try:
        windows = np.asarray(w, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"w = {w!r}: windows must be real numbers.") from None
    bad = windows[~(np.isfinite(windows) & (windows >= 0))]
    if bad.size:
        raise InvalidInput(f"w = {bad.flat[0]}: a window must be finite and >= 0.")
    return windows
