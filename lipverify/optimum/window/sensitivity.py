"""Exact derivatives of the optimum with respect to n, L and sigma, without differences between optima.

At the minimum dL/dx = 0 with x = log w. So along any parameter p, with y = log p,

    dlog w* / dy = - (d^2 L / dx dy) / (d^2 L / dx^2),

and B ~ L^2, N ~ sigma^2, while n is an exponent of the Laplace representation and may vary continuously.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
from numpy.polynomial import Chebyshev

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.noted import makes
from lipverify.foundation.showing import Shown
from lipverify.foundation.validation import instance
from lipverify.loss.exact import has_averages, length_slopes
from lipverify.optimum.window.local import HALF_WIDTH, NODES, LocalLoss, shorter, through
from lipverify.optimum.window.minimiser import Optimum
from lipverify.problem.law import proportional


class Sensitivity(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """Elasticities d log w* / d log p of the optimal w, for p = n, L, sigma.

    Attributes
    ----------
    window_n, window_L, window_sigma
        d log w* / d log p for p = n, L, sigma; no unit. That for L is None unless the law is proportional to L.
    window_error
        Bound on their errors, relative to the curvature of the loss.

    Examples
    --------
    >>> from lipverify import Problem, optimal_window, sensitivity
    >>> from lipverify.laws import Affine
    >>> moves = sensitivity(optimal_window(Problem(d=3, n=100, law=Affine())))
    >>> moves.window_n > 0, moves.window_sigma < 0  # longer contexts narrow the window, noise widens it
    (True, True)
    """

    window_n: float
    window_L: float | None
    window_sigma: float
    window_error: float

    def _title(self) -> str:
        return "elasticities of w*"

    def _columns(self) -> dict[str, Any]:
        return {name: math.nan if value is None else value for name, value in msgspec.structs.asdict(self).items()}


@makes("bounded", "exact")
def sensitivity(optimum: Optimum) -> Sensitivity:
    """The elasticities of an optimum with respect to n, L and sigma.

    Parameters
    ----------
    optimum
        A result of `optimal_window` with w > 0, for a law with links, a covariance or a variogram.

    Returns
    -------
    Sensitivity
        The elasticities, with a bound on their errors.

    Raises
    ------
    InvalidInput
        If the minimum is at 0, the law is a sum, or only its spectrum is known.
    OutOfReach
        If the loss is so flat around w* that its curvature is lost in rounding.

    Examples
    --------
    >>> from lipverify import Problem, optimal_window
    >>> from lipverify.laws import Affine
    >>> moves = sensitivity(optimal_window(Problem(d=3, n=1e30, law=Affine(), sigma=1.0)))
    >>> round(moves.window_n, 6)  # 2 / (m + 4), m = 2
    0.333333
    """
    instance("optimum", optimum, Optimum, "optimal_window finds one")
    if optimum.where != "interior":
        raise InvalidInput(f"where = {optimum.where!r}: only a minimum at w > 0 has derivatives.")
    if not has_averages(optimum.problem.law):
        rule = "sums and laws known by their spectrum have no derivatives here; take optima at two n"
        raise InvalidInput(f"law = {optimum.problem.law!r}: {rule}.")
    x, law = math.log(optimum.w), optimum.problem.law
    local = LocalLoss.at(optimum.problem, x)
    if local.total.deriv(2)(0.0) <= NODES.size**2 * local.error:
        raise OutOfReach(f"the loss is flat around w = {optimum.w:.3g} to rounding; compare optima of two problems.")
    noise_n, bias_n = length_slopes(optimum.problem, np.exp(x + HALF_WIDTH * NODES))
    by_n, by_sigma, by_amplitude = through(noise_n + bias_n), 2 * local.noise, 2 * local.bias
    window_n, window_sigma, window_L = (_moves(local, slope) for slope in (by_n, by_sigma, by_amplitude))
    return Sensitivity(
        window_n=window_n[0],
        window_L=window_L[0] if proportional(law) else None,
        window_sigma=window_sigma[0],
        window_error=max(error for _, error in (window_n, window_sigma, window_L)),
    )


def _moves(local: LocalLoss, slope: Chebyshev) -> tuple[float, float]:
    """-(d^2 L / dx dy) / (d^2 L / dx^2) at the centre, given dL/dy, and its error."""

    def ratio(of_slope: Chebyshev, of_loss: Chebyshev) -> float:
        return -HALF_WIDTH * float(of_slope.deriv()(0.0)) / float(of_loss.deriv(2)(0.0))

    value = ratio(slope, local.total)
    rounding = NODES.size**2 * local.error / float(local.total.deriv(2)(0.0))
    return value, abs(value - ratio(shorter(slope), shorter(local.total))) + rounding * (1 + abs(value))
