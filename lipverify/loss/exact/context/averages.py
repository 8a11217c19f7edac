r"""Averages over one token at many w and many u at once.

Token nodes depend on u. For u <= 1 the same nodes serve every u by a power series in lambda g = e^{u-s},

    psi_k(u - s) = sum_j (-1)^j (lambda g)^{j+k} / j!,    1 - psi_0 = sum_j (-1)^j (lambda g)^{j+1} / (j+1)!:

its moments E[g^j h] are computed once per w.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.context.tokens import Kernel, Places, TokenNodes, kernel, token_breaks, token_nodes
from lipverify.loss.exact.quadrature import gauss_rule, smooth_rule
from lipverify.loss.work import spend

TokenFunction = Callable[[TokenNodes], Floats]

SERIES_BELOW = 1.0
"""Largest u for the series: up to there the alternating sum loses a factor of at most e^{2e} = 230 to cancellation."""
SERIES_TAIL = 2.5
"""If no u is larger, the series serves all: it loses a factor e^{2 lambda}, but phi^n is below e^{-3 lambda}."""
TOKEN = 60.0
"""Nanoseconds per node of a token."""


@dataclass(frozen=True)
class Points:
    """Points u = log(lambda), each with one of a few w: `w` is (w,), `row` (ascending) and `u` are (point,)."""

    d: int
    w: Floats
    row: NDArray[np.intp]
    u: Floats

    @classmethod
    def grid(cls, d: int, w: Floats, u: Floats) -> Points:
        """Points with the same number of u for each w: u of shape (w, point)."""
        return cls(d, w, np.repeat(np.arange(w.size), u.shape[1]), u.ravel())


class Averages:
    """Averages over one token at each of the `points`, by rules of a given order, split at the angles `meetings`.

    The averaged function may be a power of the angle at 0 or at the meetings; if it is `smooth`, fewer nodes suffice.
    The points `direct` have their own token nodes: `places` are first the `anchors`, u = 1 for each w, then these.
    """

    def __init__(self, points: Points, order: int, meetings: tuple[float, ...] = (), smooth: bool = False) -> None:
        self.points, self.order, self.anchors = points, order, points.w.size
        self.direct = points.u > (SERIES_TAIL if np.max(points.u) <= SERIES_TAIL else SERIES_BELOW)
        self.places, self.breaks = _anchors(points.d, tuple(points.w))
        if self.direct.any():
            direct = Places(points.d, points.w[points.row[self.direct]], points.u[self.direct])
            w, u = (np.concatenate(part) for part in ((self.places.w, direct.w), (self.places.u, direct.u)))
            self.places = Places(points.d, w, u)
            self.breaks = np.concatenate([self.breaks, token_breaks(direct)])
        splits = self.breaks
        if meetings:
            s = 2 * self.places.w[:, None] * np.sin(np.array(meetings) / 2) ** 2
            inside = np.clip(s, splits[:, :1], splits[:, -1:])
            splits = np.sort(np.concatenate([splits, inside], axis=1), axis=1)
        self.nodes = token_nodes(self.places, splits, order, smooth_rule if smooth else gauss_rule)
        spend(self.nodes.near.size, TOKEN, "averages over a token")
        self.terms = series_terms(float(np.max(points.u[~self.direct], initial=-np.inf)))
        self._powers: dict[Kernel, list[Floats]] = {}

    def mean(self, k: Kernel, h: TokenFunction | None = None) -> Floats:
        """E[psi_k(u - S) h(S)] at every point."""
        nodes, first = self.nodes, self.anchors
        weight = nodes.weight if h is None else nodes.weight * h(nodes)
        powers = self._anchor_powers[_lowest_power(k) :][: self.terms]
        series = self.expand(k, np.einsum("jwi,wi->jw", powers, weight[:first]))
        direct = np.einsum("pi,pi->p", kernel(k, nodes.y[first:]), weight[first:])
        return self.gather(series, direct)

    def means(self, k: Kernel, hs: Iterable[Floats]) -> Floats:
        """E[psi_k(u - S) h] for several h, each given at the nodes: shape (h, point)."""
        nodes, first = self.nodes, self.anchors
        powers = self._anchor_powers[_lowest_power(k) :][: self.terms] * nodes.weight[:first]
        weight = kernel(k, nodes.y[first:]) * nodes.weight[first:]
        at_anchors, direct = [], []
        for h in hs:
            spend(h.size, 3.0, "moments of a smooth link")
            at_anchors.append(h[:first].copy())
            direct.append(np.einsum("pi,pi->p", weight, h[first:]))
        # (w, j, node) times (w, node, h), one w after the other
        moments = np.swapaxes(powers, 0, 1) @ np.stack(at_anchors, axis=-1)
        series = self.expand(k, np.swapaxes(moments, 0, 1))
        return self.gather(series.T, np.stack(direct))

    def log_phi(self) -> Floats:
        """log phi(u) = log E psi_0(u - S), from 1 - phi where u <= w and from phi beyond."""
        points, first = self.points, self.anchors
        falling = self.expand(
            "complement", np.einsum("jwi,wi->jw", self._anchor_powers[1:][: self.terms], self.nodes.weight[:first])
        )
        result = np.empty_like(points.u)
        # rounding may carry a probability past one, and phi may underflow
        with np.errstate(divide="ignore"):
            result[~self.direct] = np.log1p(-np.minimum(falling, 1.0))
            if self.direct.any():
                places = self.places[first:]
                near = places.u <= places.w
                logs = np.empty_like(places.u)
                logs[near] = np.log1p(-np.minimum(self._direct_mean("complement", near), 1.0))
                logs[~near] = np.log(self._direct_mean(0, ~near))
                result[self.direct] = logs
        return result

    def _direct_mean(self, k: Literal[0, "complement"], which: NDArray[np.bool_]) -> Floats:
        """E psi_0, or E (1 - psi_0), at some of the direct points: the sum over the nodes plus the part beyond them.

        There psi_0 is constant to far less than rounding, or negligible.
        """
        places, breaks = self.places[self.anchors :][which], self.breaks[self.anchors :][which]
        nodes, half_m = self.nodes, (places.d - 1) / 2
        inner = np.einsum("pi,pi->p", kernel(k, nodes.y[self.anchors :][which]), nodes.weight[self.anchors :][which])
        # by symmetry of the sphere, the share beyond s equals the share within 2w - s
        end = breaks[:, 0] if k == "complement" else breaks[:, -1]
        least = end if k == "complement" else 2 * places.w - end
        return inner + betainc(half_m, half_m, least / (2 * places.w)) * kernel(k, places.u - end)

    def expand(self, k: Kernel, moments: Floats) -> Floats:
        """The series with moments E[g^j h], shape (j, w, ...), at the points that are not direct: (point, ...)."""
        parts = [powers @ moments[:, i] for i, powers in enumerate(self._series_powers(k))]
        return np.concatenate(parts)

    def gather(self, series: Floats, direct: Floats) -> Floats:
        """Merge values (..., point) at the points of the series with values at the direct points."""
        result = np.empty((*direct.shape[:-1], self.points.u.size))
        result[..., ~self.direct], result[..., self.direct] = series, direct
        return result

    @cached_property
    def _anchor_powers(self) -> Floats:
        """(e g)^j at the nodes of the anchors, for every power in a series: shape (j, w, node)."""
        return np.exp(np.multiply.outer(np.arange(self.terms + 2), self.nodes.y[: self.anchors]))

    def _series_powers(self, k: Kernel) -> list[Floats]:
        """The powers of lambda times their coefficients: shape (point, j); computed once per kernel."""
        if k not in self._powers:
            lowest = _lowest_power(k)
            skipped = 1 if k == "complement" else 0
            signs = np.array([(-1.0) ** j / math.factorial(j + skipped) for j in range(self.terms)])
            ends = np.searchsorted(self.points.row[~self.direct], np.arange(1, self.anchors))
            self._powers[k] = np.split(self._lambda_powers[:, lowest : lowest + self.terms] * signs, ends)
        return self._powers[k]

    @cached_property
    def _lambda_powers(self) -> Floats:
        """(lambda / e)^j at the points that are not direct: shape (point, j)."""
        return np.exp(np.multiply.outer(self.points.u[~self.direct] - SERIES_BELOW, np.arange(self.terms + 2)))


@lru_cache(maxsize=512)
def _anchors(d: int, w: tuple[float, ...]) -> tuple[Places, Floats]:
    """The places u = 1 with their breaks, which are the same for every order and every n."""
    places = Places(d, np.array(w), np.full(len(w), SERIES_BELOW))
    return places, token_breaks(places)


def _lowest_power(k: Kernel) -> int:
    return 1 if k == "complement" else k


def series_terms(u: float) -> int:
    """Number of terms of the series of exp(-e^u) down to rounding; 27 at u = 1."""
    x, term, count = math.exp(u), 1.0, 1
    while term > 1e-17:
        term *= x / count
        count += 1
    return count


def moments(k: int, y: Floats, weight: Floats, count: int) -> Floats:
    """E[g^{j+k} h], g = e^y, for every term j of a series: (term, ...), computed one by one to save memory."""
    g = np.exp(y)
    power, terms = weight * g**k, []
    for _ in range(count):
        terms.append(power.sum(axis=-1))
        power *= g
    return np.stack(terms)
