r"""One context: n tokens share a query, and the average over n tokens becomes one integral.

For S = sum_i e^{-S_i} > 0, 1/S^2 = int_0^inf lambda e^{-lambda S} dlambda. Tokens are independent
given the query, so with u = log(lambda) and phi(u) = 1 - E psi_0(u - S_1),

    E sum_i a_i^2 h_i          = n       int E[psi_2(u - S) h] phi(u)^{n-1} du,
    E sum_{i != j} a_i a_j h_ij = n (n-1) int <h>(u)            phi(u)^{n-2} du,

where <h>(u) is the mean of psi_1(u - S_i) psi_1(u - S_j) h_ij over two independent tokens. n is only an exponent:
n = 1e30 costs as much as n = 100 (docs/method.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, gammaln, ive

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import EPS, Floats
from lipverify.loss.exact.context.tokens import LOG_DROP
from lipverify.loss.exact.quadrature import Grading, on_panels, smooth_rule

PANEL = 2.0
"""Panel width of the rule over u, in the graded coordinate."""
FEWEST_PANELS = 6
"""Least number of panels of the rule over u."""
ORDERS = (22, 28, 40, 56, 80)
"""Orders of the rules, tried in turn; no two rules share a node."""
ROUNDING = 64 * EPS
"""Relative rounding of a sum of products of a few hundred positive terms."""
DENSITY_ROUNDING = 9 * EPS
"""Relative rounding of sin(theta) at a node: theta at a break from two roots, a difference, a quotient and arctangent
(11/4 eps); sine and cosine at the node, divided by the cosine of the turn, by addition theorems with a function, a
product and a sum each (3/2 eps, twice); the square of the latter, a sum, a quotient and two products (5/2 eps); and the
tangent of the turn (1/2 eps). The weight of every token contains its power d - 2. An error that all weights share
changes the averages of psi_1 and psi_2 and the deficit of phi alike, and enters the loss at most once."""
STEPS = np.linspace(-3.0, 2.0, 11)
"""The steps of a function that bounds psi_0."""

Factors = Callable[[float, Floats], tuple[Floats, Floats]]
"""A function from n and log phi(u) to the factors of the averages over one token and over two."""


def powers(n: float, log_phi: Floats) -> tuple[Floats, Floats]:
    """The factors n phi^{n-1} and n (n-1) phi^{n-2} of the two integrals."""
    return n * np.exp(log_power(log_phi, n - 1)), n * (n - 1) * np.exp(log_power(log_phi, n - 2))


def log_power(log_base: Floats, exponent: float) -> Floats:
    """log(base^exponent), with 0^0 = 1."""
    return exponent * log_base if exponent else np.zeros_like(log_base)


class Context(NamedTuple):
    """A context of n tokens at one w, with the relevant range of u."""

    d: int
    n: float
    w: float
    low: float
    high: float


@dataclass(frozen=True)
class Contexts:
    """Contexts of n tokens at several w, with the relevant range of u for each."""

    d: int
    n: float
    w: Floats
    low: Floats  # less than a few times e^-LOG_DROP of the integrals lies outside
    high: Floats

    @classmethod
    def at(cls, d: int, n: float, w: Floats) -> Contexts:
        """The contexts at every w, with their ranges."""
        w = np.asarray(w, dtype=np.float64)
        return cls(d, n, w, *_ranges(d, n, w.tobytes()))

    def nodes(self, order: int) -> tuple[Floats, Floats]:
        """Nodes and weights for the integrals over u: shape (w, node)."""
        grading = Grading(self.d, self.w[:, None])
        low, high = grading.v(self.low[:, None]), grading.v(self.high[:, None])
        panels = max(FEWEST_PANELS, int(np.ceil(np.max(high - low) / PANEL)))
        breaks = grading.u(low + (high - low) * np.linspace(0, 1, panels + 1))
        u, weight = on_panels(breaks, smooth_rule(order))
        return u.reshape(self.w.size, -1), weight.reshape(self.w.size, -1)

    def alike(self) -> Iterator[slice]:
        """Slices of w that share one rule: their ranges in the graded coordinate have lengths within 40 %."""
        grading = Grading(self.d, self.w)
        width = np.maximum(grading.v(self.high) - grading.v(self.low), FEWEST_PANELS * PANEL)
        start = 0
        for i in range(1, self.w.size + 1):
            if i == self.w.size or np.ptp(width[start : i + 1]) > 0.4 * np.min(width[start : i + 1]):
                yield slice(start, i)
                start = i

    def __getitem__(self, which: slice | NDArray[np.bool_]) -> Contexts:
        return Contexts(self.d, self.n, self.w[which], self.low[which], self.high[which])

    def row(self, i: int) -> Context:
        """The context at the i-th w."""
        return Context(self.d, self.n, float(self.w[i]), float(self.low[i]), float(self.high[i]))


@lru_cache(maxsize=256)
def _ranges(d: int, n: float, windows: bytes) -> tuple[Floats, Floats]:
    """The ranges in closed form, cached for all laws and noise levels.

    With g = e^{-S}, N exceeds `least_noise` and 1/n. The part of N to the left of u is at most n e^{2u} E g^2 / 2,
    with a factor P(S < u) where that is already small. To the right everything falls like phi^{n-2}, where 1 - phi
    is at least 0.93 P(S < u - 1) or the bound of `_nearer`, and lambda (1 - lambda / 2) E g for lambda <= 1; beyond
    2w it falls like exp(-n e^{u-2w}).
    """
    w = np.frombuffer(windows)
    fallen = -np.expm1(-LOG_DROP / max(n - 2, EPS))
    least, mean = _log_mean(d, w)
    square, half_m = _log_mean(d, 2 * w)[1], (d - 1) / 2
    low = np.maximum(
        -np.logaddexp(0, np.log(n) + mean) - LOG_DROP / 2 - 1, (np.log(2) - 2 * np.log(n) - square - LOG_DROP) / 2
    )
    # the ends beyond which a token's deficit lies with probability e^-LOG_DROP / n^2
    end = 2 * w * betaincinv(half_m, half_m, np.exp(-LOG_DROP - 2 * np.log(n)) / 3)
    low = np.where(end >= d - 1, np.maximum(low, end), low)
    share = fallen / 0.93
    high = 1 + 2 * w * betaincinv(half_m, half_m, share) if share < 1 else 2 * w + np.log(LOG_DROP / n) + 1
    with np.errstate(over="ignore", divide="ignore"):
        twice = 2 * fallen * np.exp(-least)
        many = np.log(twice / (1 + np.sqrt(np.maximum(1 - twice, 0))))
    high = np.minimum(np.minimum(high, 2 * w - end + 5), np.where(twice < 1, many, np.inf))
    some = (high > 0) & (high < 12)
    high[some] = _nearer(d, fallen, w[some], high[some])
    low.setflags(write=False)
    high.setflags(write=False)
    return low, high


def _nearer(d: int, least: float, w: Floats, high: Floats) -> Floats:
    """A u below `high`, if there is one, with 1 - phi >= `least`, from a lower bound by a step function of psi_0."""
    below, steps = np.zeros_like(high), np.diff(-np.expm1(-np.exp(STEPS)), prepend=0.0)
    for _ in range(6):
        middle = (below + high) / 2
        share = np.clip((middle[:, None] - STEPS) / (2 * w[:, None]), 0, 1)
        reached = betainc((d - 1) / 2, (d - 1) / 2, share) @ steps >= least
        below, high = np.where(reached, below, middle), np.where(reached, middle, high)
    return high


def least_noise(d: int, n: float, w: Floats) -> Floats:
    """A lower bound on the noise over sigma^2: n E g^2 / (1 + (n - 1) E g)^2, as phi >= exp(-lambda E g) and g <= 1.

    It is nearly sharp if windows hold many tokens.
    """
    return np.asarray(n * np.exp(_log_mean(d, 2 * w)[0]) / (1 + (n - 1) * np.exp(_log_mean(d, w)[1])) ** 2)


def _log_mean(d: int, w: Floats) -> tuple[Floats, Floats]:
    """Bounds on log E g, E g = Gamma(d/2) (2/w)^{d/2-1} e^{-w} I_{d/2-1}(w); equal unless that over- or underflows."""
    nu = d / 2 - 1
    with np.errstate(divide="ignore"):
        scaled = np.log(ive(nu, w))
    scaled = np.where(np.isnan(scaled), -np.log(2 * np.pi * w) / 2, scaled)
    mean, known = gammaln(d / 2) + nu * np.log(2 / w) + scaled, scaled > -np.inf
    # t = <x_i, x> has mean 0 and is sub-Gaussian with variance 1/d
    few = np.minimum(w, 2 * d)
    return np.where(known, mean, -w), np.where(known, mean, few * (few / (2 * d) - 1))


def rounding_of(contexts: Contexts) -> Floats:
    """Relative rounding error from sums, the power d - 2 of the density, and u itself; it refuses a large one."""
    reach = np.maximum(np.abs(contexts.low), np.abs(contexts.high))
    rounding = ROUNDING + DENSITY_ROUNDING * (contexts.d - 2) + EPS * reach
    if np.any(rounding > 1e-3):
        w = float(contexts.w[np.argmax(rounding)])
        raise OutOfReach(
            f"w = {w:g}, n = {contexts.n:g}: windows hold few tokens, and the rounding of log(lambda) near {w:.0e} "
            f"would be {np.max(rounding):.0e} of the loss; use a smaller w, or a larger n."
        )
    return np.asarray(rounding)
