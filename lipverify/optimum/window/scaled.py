"""The w and the factor c that together minimise the loss of c times the prediction (see `lipverify.loss.scaled`)."""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.polynomial import Chebyshev

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import number
from lipverify.loss.scaled import scaled_loss
from lipverify.optimum.window.local import HALF_WIDTH, NODES, SAFETY, minima, shorter, through
from lipverify.optimum.window.minimiser import MOST_MOVES, optimal_window
from lipverify.problem import Problem
from lipverify.problem.problem import require_problem

WALK = np.exp2(np.arange(-7, 3))
"""Multiples of w that the search compares: without an offset the minimum lies far below w*."""


class ScaledOptimum(msgspec.Struct, frozen=True, kw_only=True):
    """The minimiser (w, c) of L(w, c) and the loss there. Errors are bounds.

    Attributes
    ----------
    w, w_error
        The optimal w and a bound on its error.
    excess, excess_error
        c - 1, which keeps the digits that c loses, and a bound on its error.
    loss, loss_error
        The loss there, in units of y squared, and a bound on its error.
    """

    w: float
    w_error: float
    excess: float
    excess_error: float
    loss: float
    loss_error: float


@makes("bounded", "exact")
def optimal_scale(problem: Problem, offset_variance: float = 0.0) -> ScaledOptimum:
    r"""Minimise E (c sum_i a_i y_i - f(x))^2 over w and the factor c together.

    Parameters
    ----------
    problem
        Isotropic, with a ridge law of mean zero (`Affine`, `ReLU`).
    offset_variance
        The variance of the offset b of f, >= 0: L^2 / 3 in the class of the slides.

    Returns
    -------
    ScaledOptimum
        The local minimum reached downhill from the w* of c = 1.

    Raises
    ------
    InvalidInput
        If a value breaks its rule.
    OutOfReach
        If there is no minimum at a finite w > 0.

    Source: Collins et al., slides, where c, the last entry of W_V, is 1 "for simplicity".

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> found = optimal_scale(Problem(d=3, n=10**6, law=Affine()), offset_variance=1 / 3)
    >>> round(found.w, 2), round(found.excess, 6)
    (55.28, 0.004354)
    """
    require_problem(problem)
    number("offset_variance", offset_variance, "a variance", least=0)
    w = optimal_window(problem).w
    for move in range(MOST_MOVES):
        values = scaled_loss(problem, w * np.exp(HALF_WIDTH * NODES), offset_variance)
        fit = through(values.least)
        root = min(minima(fit), key=fit, default=None)
        if root is not None:
            off = _root_error(fit, root, 3 * float(np.max(values.least_error)))
            excess, w = through(values.excess), w * math.exp(HALF_WIDTH * root)
            drift = abs(float(excess.deriv()(root))) * off
            return ScaledOptimum(
                w=w, w_error=w * HALF_WIDTH * off, excess=float(excess(root)),
                excess_error=_between(excess, values.excess_error) + drift, loss=float(fit(root)),
                loss_error=_between(fit, values.least_error),
            )  # fmt: skip
        # the minimum is usually next to w*, but may be far away
        downhill = math.exp(1.8 * HALF_WIDTH * float(NODES[np.argmin(values.least)]))
        w = w * downhill if move else _walk(problem, offset_variance, w)
    raise OutOfReach(f"no minimum over w and c was found near w = {w:.6g} for {problem!r}; optimal_window has c = 1.")


def _walk(problem: Problem, offset_variance: float, w: float) -> float:
    """Walk downhill from w to within a factor of two of a minimum."""
    for _ in range(MOST_MOVES):
        step = float(WALK[np.argmin(scaled_loss(problem, w * WALK, offset_variance).least)])
        w *= step
        if step not in (WALK[0], WALK[-1]):
            return w
    raise OutOfReach(f"the loss at the best c still falls at w = {w:.6g}, for {problem!r}; optimal_window has c = 1.")


def _root_error(fit: Chebyshev, root: float, error: float) -> float:
    """The error of the polynomial's minimum, from its difference to one degree less and the errors of the values."""
    coarse = shorter(fit)
    left_out = abs(min(minima(coarse), key=coarse, default=math.inf) - root)
    return left_out + NODES.size * error / float(fit.deriv(2)(root))


def _between(fit: Chebyshev, errors: Floats) -> float:
    """The error of a polynomial through values: its truncation error plus three times the errors of the values."""
    return SAFETY * abs(float(fit.coef[-1])) + 3 * float(np.max(errors))
