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

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.loss import loss_terms
from lipverify.optimum.window.local import HALF_WIDTH, NODES, LocalLoss
from lipverify.optimum.window.search import Search, first_guess
from lipverify.problem import Problem
from lipverify.problem.problem import require_isotropic

Where = Literal["interior", "zero", "infinity"]

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
        w* to better than 1e-8 in log w unless the loss is flat to rounding; the loss and both terms there,
        with their errors.

    Raises
    ------
    InvalidInput
        If the problem is not isotropic, or the law is constant and sigma = 0, where the loss is zero everywhere.
    OutOfReach
        If the minimum cannot be located.

    Source: Collins et al., slides, Theorem 2 (the minimiser is w_KQ I).

    >>> from lipverify.laws import Affine
    >>> optimum = optimal_window(Problem(d=3, n=1000, law=Affine(L=1.0), sigma=1.0))
    >>> round(optimum.w, 6), optimum.where
    (6.055341, 'interior')
    """
    require_isotropic(problem, "optimal_window")
    if problem.law.constant and problem.sigma == 0:
        what = "L = 0" if hasattr(problem.law, "L") else f"law = {problem.law!r} is constant"
        raise InvalidInput(f"{what} and sigma = 0: the loss is zero at every window; make one of them positive.")
    if problem.law.constant or problem.n == 1:
        return _at_the_end(problem, 0.0, "zero")
    search = Search(problem)
    x = search.global_minimum(first_guess(problem))
    if math.isinf(x):
        return _at_the_end(problem, math.inf, "infinity")
    return _polish(problem, search.closer(x))


def _polish(problem: Problem, x: float) -> Optimum:
    """The minimum of the loss near x, by polynomials through exact values; moves on if it is not inside."""
    for _ in range(MOST_MOVES):
        local = LocalLoss.at(problem, x)
        root = local.minimum()
        if root is not None:
            w = math.exp(x + HALF_WIDTH * root)
            bias, noise = float(local.bias(root)), float(local.noise(root))
            return Optimum(
                problem=problem,
                w=w,
                loss=bias + noise,
                bias=bias,
                noise=noise,
                w_error=w * HALF_WIDTH * local.minimum_error(root),
                loss_error=local.error,
                where="interior",
            )
        x += HALF_WIDTH * float(NODES[np.argmin(local.total(NODES))]) * 1.8
    raise OutOfReach(f"no minimum was found near w = {math.exp(x):.6g} for {problem!r}.")


def _at_the_end(problem: Problem, w: float, where: Where) -> Optimum:
    """The optimum record at w = 0 or infinity; there the terms are those of the nearest neighbour."""
    far = math.exp(Search(problem).far)
    terms = loss_terms(problem, np.array([far, far / 100] if math.isinf(w) else [w]))
    return Optimum(
        problem=problem,
        w=w,
        loss=float(terms.total[0]),
        bias=float(terms.bias[0]),
        noise=float(terms.noise[0]),
        w_error=0.0,
        loss_error=float(terms.total_error[0]) + float(np.ptp(terms.total)),
        where=where,
    )
