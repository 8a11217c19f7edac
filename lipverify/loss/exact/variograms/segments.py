r"""The variogram of a link that is constant, or linear and continuous, between its kinks, as a single integral.

A link with jumps J_i at z = cos(alpha_i) that is constant elsewhere has, with p = d - 2,

    V'(theta) = S_p(theta) / pi,    S_p = sum_{i,j} J_i J_j (1 - rho_ij^2)_+^{p/2},

where rho_ij is the distance from the origin, in the plane of x and x', of the intersection of the lines
<q, x> = cos(alpha_i) and <q, x'> = cos(alpha_j):

    (1 - rho^2) sin^2(theta) = 4 sin((theta + a)/2) sin((theta - a)/2) sin((b + theta)/2) sin((b - theta)/2)

for a = alpha_i - alpha_j and b = alpha_i + alpha_j. For a continuous link in dimension d, dK/dt is 1/d of the
covariance of its derivative in dimension d + 2. So a link with slopes m that jump by J_i has, with p = d,

    V(theta) = 2/d ((1 - cos theta) E_{d+2} m^2 - 1/(2 pi) int_0^theta (cos s - cos theta) S_p(s) ds).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.sphere import versine
from lipverify.loss.exact.quadrature import chebyshev_points, gauss_rule, on_panels
from lipverify.loss.exact.variograms.planes import Link
from lipverify.loss.work import spend

ROUNDING = 8 * EPS
"""Largest deviation of a straight piece from its line, relative to the largest value of the link."""
TOGETHER = 256
"""Number of angles at a time, so that arrays fit in a processor's cache."""
PAIR = 12.0
"""Nanoseconds per pair of jumps and angle."""


@dataclass(frozen=True)
class Segments:
    """V from jumps of the link at z = cos(alpha), or of its slope, whose mean square is `slope_square`."""

    d: int
    alpha: tuple[float, ...]
    jumps: tuple[float, ...]
    meetings: tuple[float, ...]
    slope_square: float | None

    @property
    def power(self) -> int:
        """Exponent of V at 0: 1 for a link that jumps, 2 for a continuous one."""
        return 1 if self.slope_square is None else 2

    def at(self, theta: Floats, order: int) -> Floats:
        """V at every angle of a flat array, by rules of one order between the angles at which jumps meet."""
        edges = np.array([0.0, *self.meetings, math.pi])
        s, whole = on_panels(edges, gauss_rule(order))
        whole *= self._sum(s)
        blocks = (theta[i : i + TOGETHER] for i in range(0, theta.size, TOGETHER))
        return np.concatenate([np.empty(0), *(self._block(block, edges, s, whole, order) for block in blocks)])

    def _block(self, theta: Floats, edges: Floats, s: Floats, whole: Floats, order: int) -> Floats:
        """V at a few angles: the sum over whole panels between `edges`, plus the part of the last panel."""
        count = np.searchsorted((edges[:-1] + edges[1:]) / 2, theta)
        x, gauss = gauss_rule(order)
        rest = (theta - edges[count])[:, None]
        t = edges[count][:, None] + rest * x
        part = rest * gauss * self._sum(t)
        before = np.where(np.arange(len(s)) < count[:, None], 1.0, 0.0)
        if self.slope_square is None:
            return (before @ whole.sum(axis=1) + part.sum(axis=1)) / math.pi
        lever = 2 * np.sin((theta[:, None] + t) / 2) * np.sin((theta[:, None] - t) / 2)
        # cos s - cos theta over whole panels, computed as (1 - cos theta) - (1 - cos s)
        bent = before @ whole.sum(axis=1) * versine(theta) - before @ (whole * versine(s)).sum(axis=1)
        bent += (part * lever).sum(axis=1)
        return 2 / self.d * (versine(theta) * self.slope_square - bent / (2 * math.pi))

    def _sum(self, s: Floats) -> Floats:
        """S_p, with p = d - 2 for a link that jumps and p = d for a continuous one."""
        p = self.d - (2 if self.slope_square is None else 0)
        sine, cosine, total = np.sin(s / 2), np.cos(s / 2), np.zeros_like(s)
        spend(s.size * len(self.alpha) ** 2 / 2, PAIR, "the variogram of the link")
        for i, (alpha, jump) in enumerate(zip(self.alpha, self.jumps, strict=True)):
            for beta, second_jump in zip(self.alpha[: i + 1], self.jumps[: i + 1], strict=True):
                apart, together = (alpha - beta) / 2, (alpha + beta) / 2
                # products of sines of sums and differences; over sin^2(s) = (2 sine cosine)^2
                near = (sine * math.cos(apart)) ** 2 - (cosine * math.sin(apart)) ** 2
                far = (cosine * math.sin(together)) ** 2 - (sine * math.cos(together)) ** 2
                base = near * far / (sine * cosine) ** 2
                count = 1 if beta == alpha else 2
                total += count * jump * second_jump * np.where(base > 0, np.maximum(base, 0.0) ** (p / 2), 0.0)
        return total


def segments(d: int, link: Link, kinks: tuple[float, ...], meetings: tuple[float, ...]) -> Segments | None:
    """The segments of a link that is linear between its kinks (constant if it jumps); None for other links."""
    ends = np.array([-1.0, *kinks, 1.0])
    half_widths = np.diff(ends) / 2
    if 2 * np.min(half_widths) < 1e-2:  # between closer kinks the slope has fewer digits than means over planes
        return None
    x = chebyshev_points(64)
    z = (ends[:-1] + half_widths)[:, None] + half_widths[:, None] * x
    values = np.reshape(np.asarray(link(z.ravel()), dtype=float) + np.zeros(z.size), z.shape)
    middles, rises = values.mean(axis=1), 2 * (values * x).mean(axis=1)
    rounding = ROUNDING * float(np.max(np.abs(values)))
    if np.max(np.abs(values - middles[:, None] - rises[:, None] * x)) > rounding:
        return None
    alpha, jumps = tuple(np.arccos(kinks).tolist()), np.diff(middles) - rises[1:] - rises[:-1]
    if np.max(np.abs(rises)) <= rounding:
        steps = np.diff(middles)
        known = _known(steps, 2 * rounding, (1 - np.array(kinks) ** 2) ** ((d - 2) / 2))
        return Segments(d, alpha, tuple(steps.tolist()), meetings, None) if known else None
    if np.max(np.abs(jumps)) > rounding:
        return None
    slopes, shares = rises / half_widths, _shares(d + 2, ends)
    bends, off = np.diff(slopes), rounding / np.min(half_widths)
    if not (_known(slopes, off, shares) and _known(bends, 2 * off, (1 - np.array(kinks) ** 2) ** (d / 2))):
        return None
    return Segments(d, alpha, tuple(bends.tolist()), meetings, float(slopes**2 @ shares))


def _known(sizes: Floats, off: float, weights: Floats) -> bool:
    """True if a sum of weighted squares is known to a third of the table's error, given the error `off` of each size.

    In high dimensions rounding where most of the sphere is may exceed everything that happens elsewhere.
    """
    return bool(weights @ (2 * np.abs(sizes) * off + off**2) <= 1e-12 * (weights @ sizes**2))


def _shares(d: int, ends: Floats) -> Floats:
    """The shares of S^{d-1} on which a coordinate is between neighbouring ends."""
    half = (d - 1) / 2
    below, above = betainc(half, half, (1 + ends) / 2), betainc(half, half, (1 - ends) / 2)
    return np.where(ends[:-1] >= 0, above[:-1] - above[1:], below[1:] - below[:-1])
