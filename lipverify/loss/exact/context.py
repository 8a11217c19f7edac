r"""One context: n tokens share a query, and the n-fold average becomes one integral.

For S = sum_i e^{-S_i} > 0, 1/S^2 = int_0^inf lambda e^{-lambda S} dlambda. Tokens are independent
given the query, so with u = log(lambda) and phi(u) = 1 - E psi_0(u - S_1),

    E sum_i a_i^2 h_i          = n       int E[psi_2(u - S) h] phi(u)^{n-1} du,
    E sum_{i != j} a_i a_j h_ij = n (n-1) int <h>(u)            phi(u)^{n-2} du,

where <h>(u) averages psi_1(u - S_i) psi_1(u - S_j) h_ij over two independent tokens. n is only an
exponent: n = 1e30 costs what n = 100 costs. Derivation: docs/method.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv

from lipverify.loss.exact.tokens import (
    LOG_DROP,
    Floats,
    Kernel,
    Token,
    gauss_rule,
    kernel,
    token_breaks,
    token_nodes,
)

PANEL = 3.0
FEWEST_PANELS = 6
SERIES_BELOW = 1.0
SERIES_REMAINDER = 1e-17
"""At u = 1 the alternating sum loses a factor of e^{2e} = 230 to cancellation, and no more."""

SCAN_POINTS = 48
SCAN_ORDER = 8
SCAN_ROUNDS = 2


@dataclass(frozen=True)
class Grading:
    """A coordinate v(u) in which integrands over u vary on a scale of one.

    It is u itself up to a `knee` and logarithmic beyond, and mirrored about the middle of [0, 2w]:
    the deficit has density s^{(d-3)/2}, so below u ~ d/2 the exponential of the kernel sets the
    scale, above it the power law does.
    """

    d: int
    w: float

    @property
    def knee(self) -> float:
        """Where the coordinate turns from linear to logarithmic."""
        return max(4.0, self.d / 2)

    def v(self, u: Floats) -> Floats:
        """The coordinate of u."""
        return np.where(u <= self.w, self._half(u), 2 * self._half(self.w) - self._half(2 * self.w - u))

    def u(self, v: Floats) -> Floats:
        """The inverse of `v`."""
        top = self._half(self.w)
        return np.where(v <= top, self._half_inverse(v), 2 * self.w - self._half_inverse(2 * top - v))

    def _half(self, u: Floats | float) -> Floats:
        return np.where(u <= self.knee, u, self.knee * (1 + np.log(np.maximum(u, self.knee) / self.knee)))

    def _half_inverse(self, v: Floats) -> Floats:
        return np.where(v <= self.knee, v, self.knee * np.exp(np.maximum(v, self.knee) / self.knee - 1))


class Averages:
    """Averages over one token, at each of the points `u`, by rules of a given order.

    Token nodes depend on u. Those for u <= 1 can all be the same, and there e^{u-s} is small
    enough for the power series of psi_k: its moments are taken once, whatever the number of u.

    Attributes
    ----------
    direct
        Which u have token nodes of their own.
    places
        Where token nodes stand: 1, and after it the direct u.
    breaks
        Where integrals over s are split, shape (place, break).
    """

    def __init__(self, token: Token, u: Floats, order: int, kernels: tuple[Kernel, ...] = (1, 2)) -> None:
        self.token, self.u, self.order = token, u, order
        self.direct = u > SERIES_BELOW
        self.places = np.concatenate([[SERIES_BELOW], u[self.direct]])
        self.breaks = _series_breaks(token, kernels)
        if self.direct.any():
            self.breaks = np.concatenate([self.breaks, token_breaks(token, self.places[1:], kernels)])
        self.nodes = token_nodes(token, self.places, self.breaks, order)
        self.terms = series_terms(float(np.max(u[~self.direct], initial=-np.inf)))

    def mean(self, k: Kernel, h: Callable[[Floats, Floats], Floats] | None = None) -> Floats:
        """E[psi_k(u - S) h(S, 2w - S)] at every u."""
        nodes = self.nodes
        weight = nodes.weight if h is None else nodes.weight * h(nodes.s, nodes.reflected)
        result = np.empty_like(self.u)
        result[self.direct] = np.einsum("ui,ui->u", kernel(k, nodes.y[1:]), weight[1:])
        result[~self.direct] = self.series(k) @ moments(k, nodes.y[0], weight[0], self.terms)
        return result

    def series(self, k: Kernel) -> Floats:
        """Powers that turn `moments` at the place u = 1 into averages at the other u: (u, term)."""
        j = np.arange(self.terms)
        power = j + (1 if k == "complement" else k)
        signed: Floats = np.exp(np.multiply.outer(self.u[~self.direct] - SERIES_BELOW, power)) * (-1.0) ** j
        return signed


@lru_cache(maxsize=64)
def _series_breaks(token: Token, kernels: tuple[Kernel, ...]) -> Floats:
    """The breaks at the place u = 1, which every rule of every n shares."""
    return token_breaks(token, np.array([SERIES_BELOW]), kernels)


def series_terms(u: float) -> int:
    """How many terms of the series of exp(-e^u) reach rounding; 27 at u = 1."""
    x, term, count = math.exp(u), 1.0, 1
    while term > SERIES_REMAINDER:
        term *= x / count
        count += 1
    return count


def moments(k: Kernel, y: Floats, weight: Floats, count: int) -> Floats:
    """E[g^{j+k} h] / j! for every term j of the power series of psi_k, g = e^y: (term, ...)."""
    first, skipped = (1, 1) if k == "complement" else (k, 0)
    g = np.exp(y)
    power, terms = weight * g**first, []
    for j in range(count):
        terms.append(power.sum(axis=-1) / math.factorial(j + skipped))
        power = power * g
    return np.stack(terms)


def log_phi(token: Token, u: Floats, order: int) -> Floats:
    """Log phi(u) = log E psi_0(u - S), from whichever of phi and 1 - phi is the narrower average."""
    result = np.empty_like(u)
    below = u <= token.w
    if below.any():
        falling = Averages(token, u[below], order, ("complement",)).mean("complement")
        # rounding may carry a probability past one
        with np.errstate(divide="ignore"):
            result[below] = np.log1p(-np.minimum(falling, 1.0))
    if not below.all():
        with np.errstate(divide="ignore"):
            result[~below] = np.log(Averages(token, u[~below], order, (0,)).mean(0))
    return result


def log_power(log_base: Floats, exponent: float) -> Floats:
    """log(base^exponent), with 0^0 = 1."""
    return exponent * log_base if exponent else np.zeros_like(log_base)


def scan(token: Token, n: float) -> tuple[float, float]:
    """The range of u outside which the integrands of all terms have fallen by `LOG_DROP`."""
    grading = Grading(token.d, token.w)
    # n int_{-inf}^{u} lambda^2 g^2 du <= n lambda^2 / 2, against a total of at least 1/n
    low, high = -np.log(n) - LOG_DROP / 2 - 2, _highest(token, n)
    for _ in range(SCAN_ROUNDS):
        ends = grading.v(np.array([low, high]))
        u = grading.u(np.linspace(ends[0], ends[1], SCAN_POINTS))
        averages = Averages(token, u, SCAN_ORDER)
        phi = log_phi(token, u, SCAN_ORDER)
        with np.errstate(divide="ignore"):
            single = np.log(averages.mean(2)) + log_power(phi, n - 1)
            double = 2 * np.log(averages.mean(1)) + log_power(phi, n - 2)
        keep = (single > single.max() - LOG_DROP) | (double > double.max() - LOG_DROP)
        inside = np.flatnonzero(keep)
        low = float(u[max(inside[0] - 1, 0)])
        high = float(u[min(inside[-1] + 1, u.size - 1)])
    return low, high


def _highest(token: Token, n: float) -> float:
    """U beyond which phi^n < e^{-LOG_DROP}, or beyond all deficits.

    1 - phi(u) >= (1 - 1/e) P(S < u), and P(S < u) is an incomplete beta function of u / 2w.
    """
    half_m, share = (token.d - 1) / 2, 2 * LOG_DROP / n
    quantile = betaincinv(half_m, half_m, share) if share < 1 else 1.0
    return float(2 * token.w * quantile) + (0.0 if share < 1 else float(np.log(LOG_DROP)) + 1)


def context_nodes(token: Token, support: tuple[float, float], order: int) -> tuple[Floats, Floats]:
    """Nodes and weights for the integrals over u on `support`."""
    grading = Grading(token.d, token.w)
    low, high = grading.v(np.array(support))
    panels = max(FEWEST_PANELS, int(np.ceil((high - low) / PANEL)))
    breaks = grading.u(np.linspace(low, high, panels + 1))
    x, gauss = gauss_rule(order)
    width = np.diff(breaks)[:, None]
    return (breaks[:-1, None] + width * x).ravel(), (width * gauss).ravel()
