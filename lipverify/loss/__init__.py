"""Bias and noise at a given window, by methods that share only the problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.loss.terms import LossTerms
from lipverify.problem import Problem

METHODS = ("exact", "montecarlo")

__all__ = ["METHODS", "LossTerms", "loss_terms"]


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
        "exact": quadrature whose cost does not depend on n, for the affine and ReLU laws.
        "montecarlo": sampling of tokens and tasks, for any law; see its options below.
    **options
        For "montecarlo": `contexts`, `rtol`, `seed`, `cell`, `xp`, `device`, `progress`; see
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
    if method == "exact":
        if options:
            raise InvalidInput(f"{next(iter(options))} is not an option of the exact method, which has none.")
        from lipverify.loss.exact import exact_terms

        return exact_terms(problem, windows)
    if method == "montecarlo":
        from lipverify.loss.montecarlo import montecarlo_terms

        return montecarlo_terms(problem, windows, **options)
    raise InvalidInput(f"method = {method!r} is not known; choose one of: {', '.join(METHODS)}.")


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
