"""Sampling of isotropic problems with two numbers per token in every dimension.

Only t_i = <x_i, x> enters the noise, and only t_i and z_i = <q, x_i> the bias of a ridge law. Let e be the unit
vector along the part of q orthogonal to the query x, and c = <q, x>: then z_i = c t_i + sqrt(1 - c^2) s_i with
s_i = <x_i, e>, and (t_i, s_i) is the projection of a uniform point on a plane. Its density is proportional to
(1 - R^2)^{(d-4)/2}, so that (the plane being R^2)

    R^2 = 1 - u^{2/(d-2)},   (t_i, s_i) = R (cos 2 pi v, sin 2 pi v),   u and v uniform,

with R = 1 for d = 2; and c is the first coordinate of another such pair.

The law of the pairs is invariant under quarter turns of the plane. So the same tokens serve four queries, x, e, -x
and -e, each with its own direction: a *bundle* of four contexts costs one set of draws. Its average is one sample;
bundles are independent.

Addresses: with B = 2 + ceil(n/2), bundle j owns the blocks jB to (j+1)B - 1 of the stream of (seed, stream), four words
each. The first two hold (u, v) of the four directions, the others (u, v) of two tokens each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.streams import key_of
from lipverify.loss.montecarlo.samples import Divisible, at_each, drawn, largest_spread, sphere_bounds
from lipverify.loss.montecarlo.windows import Grid, Sums, joined, softmax_sums
from lipverify.problem.law import Bound, Law, RidgeLaw, as_ridge, by_law
from lipverify.problem.laws import Affine, Cosine, Linear, Quadratic, ReLU

QUERIES = 4
"""Contexts in a bundle."""
TINY = 2.0**-54
"""Half of the smallest positive uniform; it keeps the logarithm of 0 finite."""
TOKENS = 2**15
"""Tokens at a time on a CPU: their arrays fit in a processor's cache."""


def projected(u: Array, v: Array, d: int, xp: Any) -> tuple[Array, Array]:
    """Two orthogonal coordinates of uniform points on S^{d-1}, from uniforms on [0, 1).

    >>> a, b = projected(np.array([0.0]), np.array([0.125]), 5, np)
    >>> (a - b).round(15).item(), (a * a + b * b).round(9).item()
    (0.0, 1.0)
    """
    R = xp.sqrt(-xp.expm1(xp.log(u + TINY) * (2 / (d - 2)))) if d > 2 else 1.0
    h = xp.tan(np.pi * v)  # of the half angle: one vectorised function instead of a sine and a cosine
    square = h * h
    scale = R / (1 + square)
    return scale * (1 - square), 2 * scale * h


def slope_of(law: Law) -> float:
    """A Lipschitz constant of all components of a ridge law together in <q, x>; infinite if none is known."""
    if not isinstance(law, RidgeLaw):
        return math.inf
    # a ReLU law is half of z and half of |z|, which have slope 1 together; a subclass may have other links
    return 1.0 if type(law) in (Affine, Linear, ReLU) else math.sqrt(sum(link.slope**2 for link in law.bounds()))


@dataclass(frozen=True)
class Reduced(Divisible):
    """A sampler of an isotropic problem with a ridge law on a grid of w, a chunk of bundles at a time."""

    grid: Grid
    contexts_a_sample = QUERIES

    @property
    def law(self) -> RidgeLaw:
        """The law, which has links."""
        return as_ridge(self.problem.law, "reduced sampling")

    @property
    def linear(self) -> bool:
        """True if the link is the identity, so that the direction is averaged in closed form."""
        return type(self.law) in (Affine, Linear)  # a subclass may have other links

    @property
    def size(self) -> int:
        """Samples in a chunk."""
        return max(1, self.tokens // int(self.problem.n))

    @property
    def tokens(self) -> int:
        """Tokens of a call, with arrays for four queries."""
        doubles = QUERIES * (3 * self.grid.rungs.count(0) + 4 * len(self.law.bounds()) + 10)
        return self.backend.tokens_at_once(TOKENS, doubles)

    @property
    def unit(self) -> float:
        """The factor from a bias sample to units of y squared."""
        return self.law.amplitude_variance / (self.problem.d if self.linear else 1)

    def bounds(self, log_chance: float = math.inf) -> tuple[Floats, Floats]:
        """(low, high) of each column; the bias is bounded by the bounds of the links.

        For linear tasks the bias of a context is at most sum_i a_i |x_i - x|^2 = 2 (1 - sum_i a_i t_i). The weights
        rise with t, so this is at most 2 (1 - mean t), and its average over x and -x is at most 2. The bias is also at
        most (sum_i a_i (1 - t_i))^2 + sum_i a_i^2.
        """
        w = self.grid.windows
        if not self.linear:
            return sphere_bounds(self.problem, w, self.law.bounds(), log_chance, slope_of(self.law))
        low, high = sphere_bounds(self.problem, w, [Bound(math.sqrt(2), slope=1.0)], log_chance)
        spreads = at_each(largest_spread, self.problem, w, log_chance, 2.0)
        high[w.size :] = np.minimum(high[w.size :], spreads**2 + high[: w.size])
        return low, high

    def rows(self, first: int, count: int) -> Array:
        """The samples of some bundles."""
        directions, stretches = self._draws(first, count)
        c, _ = self._coordinates(directions)

        def sums_of(pairs: Array) -> Sums:
            a, b = self._coordinates(pairs)
            # the coordinates (t, s) of the tokens relative to each of the four queries, and c
            turns = zip((a, b, -a, -b), (b, -a, -b, a), (c[:, turn] for turn in range(QUERIES)), strict=True)
            if self.backend.room:  # in one call, because each operation is a launch
                return self._sums(*map(self.xp.concat, zip(*turns, strict=True)))
            made = [self._sums(*turn) for turn in turns]
            return Sums(self.xp.concat([of.largest for of in made]), self.xp.concat([of.at_levels for of in made]))

        samples = drawn(joined(map(sums_of, stretches), self.grid, self.xp), self.grid, self.xp, averaged=self.linear)
        return sum(samples[turn * count : (turn + 1) * count, :] for turn in range(QUERIES)) / QUERIES

    def _draws(self, first: int, count: int) -> tuple[Array, Iterator[Array]]:
        """Uniforms (u, v) of the directions, (count, 4, 2), and of the tokens, in blocks (count, tokens, 2)."""
        n = int(self.problem.n)
        pairs = 2 * (2 + -(-n // 2))

        def drawn(rows: int, some: int, start: int) -> Array:
            return self.backend.uniforms(self.seed, self.stream, range(1), (rows, some, 2), 2 * (first * pairs + start))

        if n <= self.tokens:
            made = drawn(count, pairs, 0)
            return made[:, :QUERIES], iter([made[:, QUERIES : QUERIES + n]])
        starts = range(0, n, self.tokens)
        return drawn(1, QUERIES, 0), (drawn(1, min(self.tokens, n - start), QUERIES + start) for start in starts)

    def _coordinates(self, pairs: Array) -> tuple[Array, Array]:
        moved = self.on_device(pairs)
        return projected(moved[..., 0], moved[..., 1], self.problem.d, self.xp)

    def _sums(self, t: Array, s: Array, c: Array) -> Sums:
        """Sums for queries of bundles: of 1 - t and 1 - t^2 if directions are averaged, else of h(z) - h(c)."""
        if self.linear:
            return softmax_sums(t, [1 - t, 1 - t * t], self.grid, self.xp, self.workspace)
        z = c[:, None] * t + self.xp.sqrt(1 - c * c)[:, None] * s
        links = zip(self.law.links(z, self.xp), self.law.links(c, self.xp), strict=True)
        return softmax_sums(t, [h - target[:, None] for h, target in links], self.grid, self.xp, self.workspace)


@by_law
def is_compiled(law: Law) -> bool:
    """True if there is compiled code for a law, registered by its class under the law's name."""
    return False


@is_compiled.register(Affine, Linear, ReLU, Cosine, Quadratic)
def _named(law: Law) -> bool:
    return True


@dataclass(frozen=True)
class Fused(Reduced):
    """`Reduced` by compiled code, on a GPU or a processor, which draws, scores and sums without an array of tokens.

    The points are those of `Reduced`, from the same addresses; only the number of bundles per call differs.
    """

    @property
    def size(self) -> int:
        """Samples in a chunk: as many as the tokens of a call allow."""
        results = 2**23 // (2 * len(self.grid.at))  # 64 MiB, and a few times that during reduction
        return max(1, min(2**17, results, self.backend.tokens // int(self.problem.n)))

    def rows(self, first: int, count: int) -> Array:
        """The samples of some bundles."""
        assert self.backend.compiled is not None
        L = float(getattr(self.problem.law, "L", 1.0))
        n, key = int(self.problem.n), key_of(self.seed, self.stream)
        ladders, order = _ladders(self.grid)
        terms = self.backend.compiled(self.problem.law.name, L, self.problem.d, n, ladders, key, first, count)
        return self.xp.concat([self.xp.take(term, self.on_device(order), axis=1) for term in terms], axis=1)


def _ladders(grid: Grid) -> tuple[list[tuple[float, int]], NDArray[np.intp]]:
    """The ladders of a grid as (foot, length), and the column of each w of the grid."""
    feet = [j for j, rung in enumerate(grid.rungs) if rung == 0]
    tops = [*(j - 1 for j in feet[1:]), len(grid.rungs) - 1]
    ladders = [(float(grid.levels[foot]), top - foot) for foot, top in zip(feet, tops, strict=True)]
    tops_before = np.searchsorted(np.array(tops), grid.at)
    return ladders, grid.at - tops_before
