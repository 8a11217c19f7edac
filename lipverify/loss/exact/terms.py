r"""Noise and bias by quadrature, and how far they can be wrong.

    N(w) = sigma^2 n int E[psi_2] phi^{n-1} du
    B(w) = n int E[psi_2 variogram] phi^{n-1} du + n (n-1) int pair phi^{n-2} du

Both are computed twice, with rules of different order that share no node. The finer value is the
answer; their difference plus a bound on rounding is its error. If the difference is not small,
the order is raised, and if that does not help the error says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from lipverify.loss.exact.context import Averages, context_nodes, log_phi, log_power, scan
from lipverify.loss.exact.ridge import parts_of
from lipverify.loss.exact.tokens import Floats, Token
from lipverify.loss.terms import LossTerms
from lipverify.problem import Problem
from lipverify.problem.law import as_ridge

ORDERS = (28, 40, 56, 80)
ROUGH_ORDER = 12
TOLERANCE = 1e-11
ROUNDING = 64 * float(np.finfo(float).eps)
"""Rounding of a sum of products of a few hundred positive terms, relative."""


@dataclass(frozen=True)
class Values:
    """Noise over sigma^2 and bias over the amplitude variance."""

    noise: float
    bias: float

    def distance(self, other: Values) -> Values:
        """The absolute difference in each."""
        return Values(abs(self.noise - other.noise), abs(self.bias - other.bias))


def exact_terms(problem: Problem, w: Floats) -> LossTerms:
    """Loss terms at every window in `w` (an array of finite values >= 0).

    Errors are bounds: the difference between two rules plus rounding. Validity: every d >= 2,
    1 <= n <= 1e30 and finite w >= 0 for the affine and ReLU laws; relative error about 1e-12, more
    where u = log(lambda) is large because its own rounding, eps * w, then enters.

    Source: MATH of this project, sections 2 and 4; the loss is equation (ICL) of Collins et al.
    """
    values = [_one_window(problem, float(window)) for window in np.ravel(w)]
    noise, bias, noise_error, bias_error = (np.reshape(column, np.shape(w)) for column in zip(*values, strict=True))
    return LossTerms(
        problem=problem,
        method="exact",
        w=w,
        noise=noise,
        bias=bias,
        noise_error=noise_error,
        bias_error=bias_error,
    )


def _one_window(problem: Problem, w: float) -> tuple[float, float, float, float]:
    """(noise, bias, noise error, bias error) at one window."""
    value, error = _uniform(problem) if w == 0 or problem.n == 1 else _refine(problem, w)
    noise_scale, bias_scale = problem.sigma**2, as_ridge(problem.law, "quadrature").amplitude_variance
    return (
        noise_scale * value.noise,
        bias_scale * value.bias,
        noise_scale * error.noise,
        bias_scale * error.bias,
    )


def _refine(problem: Problem, w: float) -> tuple[Values, Values]:
    """Raise the order until two successive rules agree; the value and its error."""
    token, n = Token(problem.d, w), float(problem.n)
    support = scan(token, n)
    rules = (_quadrature(problem, token, support, order) for order in ORDERS)
    value = next(rules)
    for finer in rules:
        gap, value = finer.distance(value), finer
        if gap.noise <= TOLERANCE * value.noise and gap.bias <= TOLERANCE * value.bias:
            break
    rounding = _rounding(problem.d, support)
    return value, Values(gap.noise + rounding * value.noise, gap.bias + rounding * value.bias)


def rough_terms(problem: Problem, w: float) -> tuple[float, float]:
    """(noise, bias) to four digits or so, by a single rule of low order: to find a minimum by."""
    if w == 0 or problem.n == 1:
        value, _ = _uniform(problem)
    else:
        token = Token(problem.d, w)
        value = _quadrature(problem, token, scan(token, float(problem.n)), ROUGH_ORDER)
    return problem.sigma**2 * value.noise, as_ridge(problem.law, "quadrature").amplitude_variance * value.bias


def _quadrature(problem: Problem, token: Token, support: tuple[float, float], order: int) -> Values:
    """Both terms by rules of one order."""
    n = float(problem.n)
    u, weight = context_nodes(token, support, order)
    averages, phi = Averages(token, u, order), log_phi(token, u, order)
    single = n * weight * np.exp(log_power(phi, n - 1))
    double = n * (n - 1) * weight * np.exp(log_power(phi, n - 2))
    noise = single @ averages.mean(2)
    bias = 0.0
    for share, part in parts_of(problem.law):
        diagonal = averages.mean(2, partial(part.variogram, token))
        bias += share * float(single @ diagonal + double @ part.pair(averages))
    return Values(float(noise), bias)


def _uniform(problem: Problem) -> tuple[Values, Values]:
    """W = 0 or n = 1: all weights are 1/n, so N = sigma^2/n and B = (1 + 1/n) Var f(x)."""
    n = float(problem.n)
    variance = sum(share * part.variance(problem.d) for share, part in parts_of(problem.law))
    value = Values(1 / n, (1 + 1 / n) * variance)
    return value, Values(ROUNDING * value.noise, ROUNDING * value.bias)


def _rounding(d: int, support: tuple[float, float]) -> float:
    """Relative rounding: of sums, of the power (d-3)/2 of the density, and of u itself."""
    eps = float(np.finfo(float).eps)
    return ROUNDING + eps * d + eps * max(abs(end) for end in support)
