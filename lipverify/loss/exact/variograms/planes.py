r"""Values of the variogram V(theta) = E_f (f(x) - f(x'))^2 of a link that is analytic between its kinks and jumps.

With x, x' at angle theta, q has two coordinates in their plane, at distance rho from its origin and angle phi from the
bisector of x and x', so that

    V(theta) = E_rho 1/pi int_0^pi (h(rho cos(phi - theta/2)) - h(rho cos(phi + theta/2)))^2 dphi,

where rho^2 is a beta variable of parameters 1, (d-2)/2, and rho = 1 for d = 2. One coordinate crosses a kink c at
phi = |alpha +- theta/2|, cos(alpha) = c / rho; both cross kinks c and c' together if
rho^2 sin^2(theta) = c^2 + c'^2 - 2 c c' cos(theta). Between these points the integrand is analytic, and V is analytic
between the angles at which the circles of two kinks meet on the sphere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import sine_and_cosine
from lipverify.loss.exact.quadrature import CONCENTRATION, LARGE, gauss_rule, root_rule, smooth_rule
from lipverify.loss.work import NANO, counted, price_of, spend

Link = Callable[[Floats], Floats]
Rule = tuple[Floats, Floats]

GRADE = 16.0
"""Factor by which intervals grow away from a root; each uses the rule for roots."""
THIRDS = tuple(np.linspace(0, math.pi, 4).tolist())
"""Ends of intervals of half a circle, so that a rule for roots resolves a wave of a dozen radians too."""
SLIVER = 1e-15
"""Intervals shorter than this are skipped."""
PILOTS = 60
"""Number of nodes in a shell at which the pilot determines the necessary order."""


@dataclass(frozen=True)
class Planes:
    """The variogram of a link in dimension d, with ascending kinks and jumps, as averages over planes."""

    d: int
    link: Link
    kinks: tuple[float, ...]
    roots: bool = False  # rules that resolve |z - c|^s at a kink c

    @property
    def price(self) -> float:
        """Nanoseconds per node on the circle."""
        return 36 + 2 * price_of(self.link)

    def at(self, theta: Floats, order: int) -> Floats:
        """V at every angle of a flat array, by rules of one order."""
        outer, inner = self._rules(order)
        if self.d == 2:
            return self._circle(theta, np.ones_like(theta), None, inner)
        return np.asarray(sum(self._shell(theta, *shell, outer, inner) for shell in self._shells))

    def pilot(self, theta: Floats, orders: tuple[int, ...], power: int, settled: float) -> tuple[int, float]:
        """For the cost of `at`: the order that settles at a few nodes, and nodes per angle over the order squared."""
        ones, rows = np.ones_like(theta), np.arange(theta.size)
        places: list[tuple[Any, ...]] = [(rows, ones, 1.0, theta, ones, None)]
        if self.d > 2:
            places = []
            for low, end in self._shells:
                row, tau, weight = self._over_tau(theta, low, end, self._rules(orders[0])[0])
                some = np.argsort(weight)[:: -max(1, weight.size // PILOTS)][:PILOTS]
                share, tau = row.size / (theta.size * orders[0]), tau[some]
                if tau.size:  # a shell between kinks that almost coincide has no nodes
                    places.append((row[some], weight[some], share, theta[row[some]], np.hypot(tau, low), (low, tau)))
        former = np.full(theta.shape, np.inf)
        for order in orders:
            values, nodes = np.zeros_like(theta), 0.0
            for row, weight, share, angles, rho, base in places:
                with counted() as meter:
                    circles = self._circle(angles, rho, base, self._rules(order)[1])
                values += np.bincount(row, weight * circles, theta.size)
                nodes += share * meter.done / (NANO * self.price * row.size * order)
            values /= np.sin(theta / 2) ** power
            size = np.abs(values) if self.roots else np.max(np.abs(values))
            if np.all(np.abs(values - former) <= settled * size):
                break
            former = values
        return order, nodes / (order if self.d == 2 else 1)

    @property
    def _shells(self) -> list[tuple[float, float]]:
        """Ranges of rho between the kinks."""
        return list(pairwise([*sorted({0.0, *(abs(c) for c in self.kinks if abs(c) < 1)}), 1.0]))

    def _rules(self, order: int) -> tuple[Rule, Rule]:
        """The rules over rho, with singular ends of intervals, and over phi, with analytic ends."""
        if self.roots:
            return (root_rule(order),) * 2
        # four times the order for d = 2, where the integral over one angle is cheap: rounding errors average out
        return gauss_rule(order), smooth_rule(4 * order if self.d == 2 else order)

    def _shell(self, theta: Floats, base: float, end: float, outer: Rule, over_phi: Rule) -> Floats:
        """The part with base < rho < end, over tau = (rho^2 - base^2)^{1/2}, in which it is analytic at the base."""
        row, tau, weight = self._over_tau(theta, base, end, outer)
        rho, inner = np.hypot(tau, base), np.empty_like(tau)
        step = max(1, 60_000 // len(over_phi[0]))  # values of the link that fit in a processor's cache
        for i in range(0, tau.size, step):
            some = slice(i, i + step)
            inner[some] = self._circle(theta[row[some]], rho[some], (base, tau[some]), over_phi)
        scale = (self.d - 2) * math.sqrt((1 - base) * (1 + base))
        return np.asarray(scale * np.bincount(row, weight * inner, minlength=theta.size))

    def _over_tau(self, theta: Floats, base: float, end: float, outer: Rule) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Nodes and weights of a shell: index of the angle, tau, weight."""
        top, last = math.sqrt((1 - base) * (1 + base)), math.sqrt((end - base) * (end + base))
        splits = [np.full((theta.size, 2), [0.0, last]), np.clip(self._crossings(theta, base), 0, last)]
        if self.d > LARGE:
            near = np.array(CONCENTRATION)[:, None] / math.sqrt(self.d)
            scale = np.sqrt(np.maximum(near**2 - base**2, 0.0)) if base == 0 else near**2 / 2
            splits.append(np.broadcast_to(np.minimum(scale.T, last), (theta.size, near.size)))
        if self.roots:
            grades = base * np.tan(theta / 2)[:, None] * GRADE ** np.arange(1, 12, 2)
            splits.append(np.clip(np.where(theta[:, None] < 1, grades, last), 0, last))
        # tau = top sin(omega) removes the singularity at rho = 1, near which there may be a split
        edges = np.arcsin(np.minimum(np.sort(np.concatenate(splits, axis=1), axis=1) / top, 1.0))
        row, piece = np.nonzero(np.diff(edges, axis=1) > SLIVER)
        low, width = edges[row, piece, None], np.diff(edges, axis=1)[row, piece, None]
        x, gauss = outer
        omega = low + width * x
        weight = width * gauss * np.sin(omega) * (top * np.cos(omega)) ** (self.d - 3)
        relevant = weight > 1e-19 * np.max(weight, initial=0.0)
        return np.repeat(row, len(x))[relevant.ravel()], top * np.sin(omega[relevant]), weight[relevant]

    def _crossings(self, theta: Floats, base: float) -> Floats:
        """The tau at which both coordinates are at kinks: (theta, pair of kinks)."""
        columns = [np.empty((theta.size, 0))]
        for kink, second in combinations_with_replacement(self.kinks, 2):
            if kink == second and abs(kink) == base:
                columns.append(base * np.tan(theta / 2)[:, None])
                continue
            squares = (kink - second) ** 2 + 4 * kink * second * np.sin(theta / 2) ** 2
            rho = np.sqrt(squares) / np.sin(theta)
            columns.append(np.sqrt(np.maximum((rho - base) * (rho + base), 0.0))[:, None])
        return np.concatenate(columns, axis=1)

    def _circle(self, theta: Floats, rho: Floats, base: tuple[float, Floats] | None, rule: Rule) -> Floats:
        """The mean over phi at every (theta, rho), given the tau of one base."""
        half = theta / 2
        splits = [np.full_like(rho, end) for end in (THIRDS if self.roots else (0.0, math.pi))]
        # away from the other crossing of a kink, at a distance theta, and from its mirror image, at pi - theta
        reaches = (-theta, math.pi - theta)
        count = math.log(math.pi / max(np.min(np.abs(reaches)), SLIVER), GRADE) if self.roots else 0
        for c in self.kinks:
            # sin(alpha) from tau, where rho is near |c|
            square = (rho - abs(c)) * (rho + abs(c)) if base is None or abs(c) != base[0] else base[1] ** 2
            alpha = np.arctan2(np.sqrt(np.maximum(square, 0.0)), c)
            for crossing, side in ((alpha - half, 1), (alpha + half, -1)):
                grades = [side * reach * GRADE**k for k in range(1, math.ceil(count)) for reach in reaches]
                for grade in (0 * theta, *grades):
                    near = np.abs(crossing + grade)
                    splits.append(np.clip(np.minimum(near, 2 * math.pi - near), 0, math.pi))
        phi = np.sort(np.stack(splits), axis=0)
        x, gauss = rule
        ends = np.array([-1.0, *self.kinks, 1.0])
        floors, ceilings = np.nextafter(ends[:-1], 2), np.nextafter(ends[1:], -2)
        floors[0], ceilings[-1] = -1.0, 1.0
        total = np.zeros_like(rho)
        for low, high in pairwise(phi):
            kept = np.flatnonzero(high - low > SLIVER)
            if not kept.size:
                continue
            width, r, h = (high - low)[kept], rho[kept], half[kept]
            spend(kept.size * x.size, self.price, "the variogram of the link")
            nodes, middle = low[kept, None] + width[:, None] * x, (low + high)[kept] / 2
            # rho cos(phi -+ half), in the piece of the link that contains the middle of the interval
            sine, cosine = sine_and_cosine(nodes)
            level = (r * np.cos(h))[:, None] * cosine
            turned = (r * np.sin(h))[:, None] * sine
            pieces, places = [], []
            for sign in (1, -1):
                pieces.append(np.searchsorted(self.kinks, r * np.cos(middle - sign * h)))
                places.append(np.clip(level + sign * turned, floors[pieces[-1], None], ceilings[pieces[-1], None]))
            rise = self.link(places[0]) - self.link(places[1])
            # rounding of the points is a large share of their distance, which is known more accurately
            apart = places[0] - places[1]
            known = (apart != 0) & (pieces[0] == pieces[1])[:, None]
            rise *= np.divide(2 * turned, apart, out=np.ones_like(apart), where=known)
            total[kept] += width * (rise**2 @ gauss)
        return total / math.pi


def meetings_of(kinks: tuple[float, ...]) -> tuple[float, ...]:
    """The angles theta in (0, pi) at which the circles of two kinks meet, where V is not smooth."""
    angles = np.arccos(kinks)
    together = np.add.outer(angles, angles).ravel()
    meetings = np.concatenate([np.abs(np.subtract.outer(angles, angles)).ravel(), together, 2 * np.pi - together])
    meetings = np.unique(meetings[(meetings > 1e-9) & (meetings < np.pi - 1e-9)])
    # equal ones differ by rounding; none is moved, because V may bend by the square of a jump there
    return tuple(meetings[np.diff(meetings, prepend=0.0) > 1e-12].tolist())
