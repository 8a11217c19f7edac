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
from scipy.special import gammaln, ive

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.loss.exact.terms import exact_terms, rough_terms
from lipverify.problem import Problem
from lipverify.problem.law import as_ridge

Where = Literal["interior", "zero", "infinity"]

STEP = math.log(4.0)
"""Step in log w while a minimum is being looked for."""
STRIDE = 3 * STEP
"""Step in log w towards small windows, where the loss is smooth on the scale of log w."""
SMALL = math.log(1e-3)
ROUGH = 1e-3
"""Rough values differ from exact ones by less than this, relative."""
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
    search = _Search(problem)
    x = search.global_minimum(_first_guess(problem))
    if math.isinf(x):
        return _at(problem, math.inf, "infinity", 0.0)
    w, error = _polish(problem, x)
    return _at(problem, w, "interior", error)


class _Search:
    """Looks for the minimum of the loss in x = log w on rough values, which it remembers."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.known = problem, dict[float, tuple[float, float]]()
        # a nearest token is at 1 - t ~ n^{-2/(d-1)}: w beyond its inverse by 1e6 attends to it alone
        self.far = 2 / (problem.d - 1) * math.log(float(problem.n)) + math.log(1e6)

    def terms(self, x: float) -> tuple[float, float]:
        """Rough (noise, bias) at e^x."""
        if x not in self.known:
            self.known[x] = rough_terms(self.problem, math.exp(x))
        return self.known[x]

    def loss(self, x: float) -> float:
        """The rough loss at e^x."""
        return sum(self.terms(x))

    def descend(self, x: float) -> float:
        """Walk downhill from x in steps of STEP to a point whose neighbours are both higher."""
        while x < self.far:
            here = self.loss(x)
            if self.loss(x + STEP) < here:
                x += STEP
            elif self.loss(x - STEP) < here:
                x -= STEP
            else:
                break
        return x

    def global_minimum(self, x: float) -> float:
        """The local minimum near x unless a rival is lower; infinite if no finite window is."""
        x = self.descend(x)
        above = self.above(x)
        rivals = [*np.arange(x - STRIDE, SMALL, -STRIDE), *above]
        best = min(rivals, key=self.loss, default=x)
        if self.loss(best) < self.loss(x) * (1 - ROUGH):
            return self.global_minimum(best)
        neighbour_competes = (bool(above) and above[-1] > self.far) or x > self.far
        if neighbour_competes and _loss(self.problem, self.far) <= _loss(self.problem, x):
            return math.inf
        return x

    def above(self, x: float) -> list[float]:
        """Windows above x, up to the first whose noise alone excludes all beyond: noise only grows."""
        rivals, rival = [], x + 2 * STEP
        while rival < self.far + STEP and self.terms(rival)[0] <= self.loss(x) * (1 + ROUGH):
            rivals.append(rival)
            rival += STEP
        return rivals


def _loss(problem: Problem, x: float) -> float:
    return float(exact_terms(problem, np.asarray(math.exp(x))).total)


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
    far = math.exp(_Search(problem).far)
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


def _first_guess(problem: Problem) -> float:
    """Log w of the minimum of the loss for n -> infinity at fixed w, capped where tokens run out.

    There N = (sigma^2/n) E g^2 / (E g)^2 and the affine bias is v (E[g (1-t)] / E g)^2 / d, closed forms
    in Bessel functions.
    """
    x = np.linspace(math.log(1e-12), math.log(1e18), 600)
    w, nu = np.exp(x), problem.d / 2 - 1
    with np.errstate(all="ignore"):
        log_g, log_g2 = (np.log(ive(nu, k * w)) - nu * np.log(k * w / 2) for k in (1, 2))
        ratio = np.exp(log_g2 - 2 * log_g - gammaln(nu + 1))
        noise = np.minimum(problem.sigma**2 * ratio / float(problem.n), problem.sigma**2)
        bias = (
            as_ridge(problem.law, "quadrature").amplitude_variance * (1 - ive(nu + 1, w) / ive(nu, w)) ** 2 / problem.d
        )
    total = np.where(np.isfinite(noise + bias), noise + bias, np.inf)
    return float(x[np.argmin(total)])
