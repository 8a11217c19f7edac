r"""The optimal window w* = argmin_w B(w) + N(w), w >= 0.

Three steps: a descent on rough values brackets the minimum; a scan below and above it shows that no
other window does better; a polynomial through exact values in log w gives the root of the
derivative to many more digits than values near a flat minimum could by themselves.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec
import numpy as np
from numpy.polynomial import Chebyshev

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.loss.exact.terms import exact_terms
from lipverify.optimum.search import Search, first_guess
from lipverify.problem import Problem

Where = Literal["interior", "zero", "infinity"]

NODES, HALF_WIDTH = np.cos(np.pi * (np.arange(9) + 0.5) / 9), 0.15
"""The polynomial through exact values: degree 8 on log w* +- 0.15, at Chebyshev nodes."""
MOST_MOVES = 60


class Optimum(msgspec.Struct, frozen=True, kw_only=True):
    """The window that minimises the loss, and the loss there.

    `w_error` bounds the error of w; `loss_error` that of the loss. `where` says whether the
    minimum is inside, at w = 0 or approached as w grows without bound (then w is infinite and the
    loss is that of the nearest neighbour).
    """

    problem: Problem
    w: float
    loss: float
    bias: float
    noise: float
    w_error: float
    loss_error: float
    where: Where


def optimal_window(problem: Problem) -> Optimum:
    r"""The global minimiser w* of the exact loss; it depends on L and sigma through L/sigma only.

    Parameters
    ----------
    problem
        Any problem whose law the exact method knows.

    Returns
    -------
    Optimum
        w* to about 1e-9 in log w, the loss and both terms there, each with its error.

    Raises
    ------
    InvalidInput
        If L = 0 and sigma = 0, where the loss is zero at every window.
    OutOfReach
        If the minimum cannot be located.

    Source: Collins et al., slides, Theorem 2 (the minimiser is w_KQ I).

    >>> from lipverify.laws import Affine
    >>> optimum = optimal_window(Problem(d=3, n=1000, law=Affine(L=1.0), sigma=1.0))
    >>> round(optimum.w, 6), optimum.where
    (6.055341, 'interior')
    """
    if problem.law.constant and problem.sigma == 0:
        raise InvalidInput(f"law = {problem.law!r} is constant and sigma = 0: the loss is zero at every window.")
    if problem.law.constant or problem.n == 1:
        return _at(problem, 0.0, "zero", 0.0)
    x = Search(problem).global_minimum(first_guess(problem))
    if math.isinf(x):
        return _at(problem, math.inf, "infinity", 0.0)
    w, error = _polish(problem, x)
    return _at(problem, w, "interior", error)


def _polish(problem: Problem, x: float) -> tuple[float, float]:
    """w* and its error: the root of the derivative of a polynomial through exact values in log w.

    The error is the distance to the root for the polynomial of one degree less, plus what the
    errors of the values can do to a derivative.
    """
    for _ in range(MOST_MOVES):
        terms = exact_terms(problem, np.exp(x + HALF_WIDTH * NODES))
        scale = terms.total.min()
        fit = Chebyshev.fit(NODES, terms.total / scale - 1, deg=NODES.size - 1, domain=[-1, 1])
        root = _minimum(fit)
        if root is not None:
            shorter = _minimum(fit.truncate(NODES.size - 1))
            noise = NODES.size * float(np.max(terms.total_error)) / scale / float(fit.deriv(2)(root))
            gap = math.inf if shorter is None else abs(shorter - root)
            w = math.exp(x + HALF_WIDTH * root)
            return w, float(w * HALF_WIDTH * (gap + noise))
        # no minimum inside: move towards the lower end
        x += HALF_WIDTH * float(NODES[np.argmin(terms.total)]) * 1.8
    raise OutOfReach(f"no minimum was found near w = {math.exp(x):.6g} for {problem!r}.")


def _minimum(fit: Chebyshev) -> float | None:
    """The root of the derivative in [-1, 1] where the polynomial is lowest, if there is a minimum."""
    roots = fit.deriv().roots()
    real = roots[(np.abs(roots.imag) < 1e-9) & (np.abs(roots.real) <= 1)].real
    minima = [float(root) for root in real if fit.deriv(2)(root) > 0]
    return min(minima, key=fit, default=None)


def _at(problem: Problem, w: float, where: Where, w_error: float) -> Optimum:
    """The optimum record at w; at infinity the terms are those of the nearest neighbour."""
    far = math.exp(Search(problem).far)
    terms = exact_terms(problem, np.array([far, far / 100] if math.isinf(w) else [w]))
    limit = float(np.ptp(terms.total))
    return Optimum(
        problem=problem,
        w=w,
        loss=float(terms.total[0]),
        bias=float(terms.bias[0]),
        noise=float(terms.noise[0]),
        w_error=w_error,
        loss_error=float(terms.total_error[0]) + limit,
        where=where,
    )
