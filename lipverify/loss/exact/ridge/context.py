r"""One context: n tokens share a query, and the n-fold average becomes one integral.

For S = sum_i e^{-S_i} > 0, 1/S^2 = int_0^inf lambda e^{-lambda S} dlambda. Tokens are independent
given the query, so with u = log(lambda) and phi(u) = 1 - E psi_0(u - S_1),

    E sum_i a_i^2 h_i          = n       int E[psi_2(u - S) h] phi(u)^{n-1} du,
    E sum_{i != j} a_i a_j h_ij = n (n-1) int <h>(u)            phi(u)^{n-2} du,

where <h>(u) averages psi_1(u - S_i) psi_1(u - S_j) h_ij over two independent tokens. n is only an
exponent: n = 1e30 costs what n = 100 costs. Derivation: docs/method.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln, ive

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.ridge.averages import Averages, Points
from lipverify.loss.exact.ridge.supports import LOG_DROP
from lipverify.loss.exact.ridge.tokens import smooth_rule

PANEL = 2.0
FEWEST_PANELS = 6
ALIKE = 0.4
"""Ranges that differ by less than this share are served by as many panels as the longest needs."""

SCAN_POINTS = 64
SCAN_ORDER = 8
SCAN_ROUNDS = 1


@dataclass(frozen=True)
class Grading:
    """A coordinate v(u) in which integrands over u vary on a scale of one; `w` and u broadcast.

    It is u itself up to a `knee` and logarithmic beyond, and mirrored about the middle of [0, 2w]:
    the deficit has density s^{(d-3)/2}, so below u ~ d/2 the exponential of the kernel sets the
    scale, above it the power law does.
    """

    d: int
    w: Floats

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
        # each half within its range: far beyond it the inverse overflows
        lower, upper = np.minimum(v, top), np.minimum(2 * top - v, top)
        return np.where(v <= top, self._half_inverse(lower), 2 * self.w - self._half_inverse(upper))

    def _half(self, u: Floats) -> Floats:
        return np.where(u <= self.knee, u, self.knee * (1 + np.log(np.maximum(u, self.knee) / self.knee)))

    def _half_inverse(self, v: Floats) -> Floats:
        return np.where(v <= self.knee, v, self.knee * np.exp(np.maximum(v, self.knee) / self.knee - 1))


def log_power(log_base: Floats, exponent: float) -> Floats:
    """log(base^exponent), with 0^0 = 1."""
    return exponent * log_base if exponent else np.zeros_like(log_base)


@dataclass(frozen=True)
class Contexts:
    """Contexts of n tokens at several windows, with the range of u that matters at each.

    Attributes
    ----------
    low, high
        Outside [low, high] the integrands of all terms have fallen by `LOG_DROP`; shape (w,).
    """

    d: int
    n: float
    w: Floats
    low: Floats
    high: Floats

    @classmethod
    def scan(cls, d: int, n: float, w: Floats) -> Contexts:
        """Find the ranges, by looking at the integrands ever closer; once for all laws and noises at these windows."""
        return _scanned(d, n, np.asarray(w, dtype=np.float64).tobytes())

    def narrower(self) -> Contexts:
        """A tighter range of u: what has not fallen by LOG_DROP on a grid, and one point more on either side."""
        u = self._between(np.linspace(0, 1, SCAN_POINTS))
        of = Averages(Points.grid(self.d, self.w, u), SCAN_ORDER, smooth=True)
        phi = of.log_phi()
        with np.errstate(divide="ignore"):
            single = np.reshape(np.log(of.mean(2)) + log_power(phi, self.n - 1), u.shape)
            double = np.reshape(2 * np.log(of.mean(1)) + log_power(phi, self.n - 2), u.shape)
        keep = (single > single.max(axis=1, keepdims=True) - LOG_DROP) | (
            double > double.max(axis=1, keepdims=True) - LOG_DROP
        )
        first, last = np.argmax(keep, axis=1), SCAN_POINTS - 1 - np.argmax(keep[:, ::-1], axis=1)
        row = np.arange(self.w.size)
        low, high = u[row, np.maximum(first - 1, 0)], u[row, np.minimum(last + 1, SCAN_POINTS - 1)]
        return Contexts(self.d, self.n, self.w, low, high)

    def nodes(self, order: int) -> tuple[Floats, Floats]:
        """Nodes and weights for the integrals over u: shape (w, node)."""
        grading = Grading(self.d, self.w)
        width = grading.v(self.high) - grading.v(self.low)
        panels = max(FEWEST_PANELS, int(np.ceil(np.max(width) / PANEL)))
        breaks = self._between(np.linspace(0, 1, panels + 1))
        x, gauss = smooth_rule(order)
        width = np.diff(breaks, axis=1)[..., None]
        shape = (self.w.size, -1)
        return (breaks[:, :-1, None] + width * x).reshape(shape), (width * gauss).reshape(shape)

    def alike(self) -> Iterator[slice]:
        """Slices of windows that one rule serves: of about the same range in the graded coordinate."""
        grading = Grading(self.d, self.w)
        width = np.maximum(grading.v(self.high) - grading.v(self.low), FEWEST_PANELS * PANEL)
        start = 0
        for i in range(1, self.w.size + 1):
            if i == self.w.size or np.ptp(width[start : i + 1]) > ALIKE * np.min(width[start : i + 1]):
                yield slice(start, i)
                start = i

    def __getitem__(self, which: slice | NDArray[np.bool_]) -> Contexts:
        return Contexts(self.d, self.n, self.w[which], self.low[which], self.high[which])

    def _between(self, share: Floats) -> Floats:
        """Points that divide [low, high] evenly in the graded coordinate: shape (w, share)."""
        grading = Grading(self.d, self.w[:, None])
        low, high = grading.v(self.low[:, None]), grading.v(self.high[:, None])
        return grading.u(low + (high - low) * share)


@lru_cache(maxsize=1024)
def _scanned(d: int, n: float, windows: bytes) -> Contexts:
    """Contexts at a flat array of doubles, given by its bytes."""
    w = np.frombuffer(windows)
    # n int_{-inf}^{u} lambda^2 g^2 du <= n lambda^2 / 2, against a total of at least 1/n
    contexts = Contexts(d, n, w, np.full_like(w, -np.log(n) - LOG_DROP / 2 - 2), _highest(d, n, w))
    for _ in range(SCAN_ROUNDS):
        contexts = contexts.narrower()
    return contexts


def _highest(d: int, n: float, w: Floats) -> Floats:
    """The u beyond which phi^n < e^{-LOG_DROP}, or beyond all deficits.

    1 - phi(u) >= (1 - 1/e) P(S < u), and P(S < u) is an incomplete beta function of u / 2w. For u <= 0
    also 1 - phi(u) >= (1 - 1/e) e^u E g, with E g = Gamma(d/2) (2/w)^{d/2-1} e^{-w} I_{d/2-1}(w).
    """
    half_m, nu, share = (d - 1) / 2, d / 2 - 1, 2 * LOG_DROP / n
    quantile = betaincinv(half_m, half_m, share) if share < 1 else 1.0
    general = 2 * w * quantile + (0.0 if share < 1 else float(np.log(LOG_DROP)) + 1)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # E g may be no double: then nothing is known
        mean_g = gammaln(d / 2) + nu * np.log(2 / w) + np.log(ive(nu, w))
    many_tokens = np.log(share) - mean_g
    return np.where(many_tokens <= 0, np.minimum(many_tokens, general), general)
