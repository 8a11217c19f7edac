r"""Sampling with two numbers per token on an ellipsoid and for normal covariates, any M and any f(x) = h(<q, x>).

Let x = A u, where the law of u is invariant under rotations. A token x_i = A u_i has the score w <k, u_i> with the key
k = A^T M x, and f sees <p, u_i> with p = A^T q. Only two coordinates of u_i enter, t_i along k and s_i along the part
of p orthogonal to k: with c = <k, p> / |k| |p|,

    score_i = w |k| t_i,    <q, x_i> = |p| (c t_i + sqrt(1 - c^2) s_i),

and (t_i, s_i) is drawn as for the sphere, or is a pair of standard normals. For linear tasks f(x) = <B q, x> the
average is also over the direction q, uniform on S^{k-1}, and over the part of u_i orthogonal to the key: with G = B^T A
and tau = sum_i a_i t_i the mean of the squared error is 1/k times

    |tau G k/|k| - B^T x|^2 + sum_i a_i^2 v_i (|G|_F^2 - |G k/|k||^2),

v_i = (1 - t_i^2) / (d - 1), or 1 for normal covariates. A ReLU law is half of the linear law plus half of |z|.

On an ellipsoid the noise given the query equals that of the sphere at w |k|. It grows with |k|, because stretching all
scores increases sum_i a_i^2. If a method for the noise on the sphere is given, as `loss_terms` does, only queries are
drawn for the noise, and samples lie between its values at the smallest and the largest |k|. These bounds are far
tighter than 1/n and 1, so the betting interval is much narrower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.streams import generator, standard_normals
from lipverify.loss.montecarlo.reduced import TOKENS, normal_pairs, projected, split
from lipverify.loss.montecarlo.samples import Divisible, largest_bias, rungs, softmax_bounds
from lipverify.loss.montecarlo.windows import Grid, Sums, joined, softmax_sums
from lipverify.problem.composed import ridge_form
from lipverify.problem.covariates import Gaussian
from lipverify.problem.law import RidgeLaw, as_functions, as_ridge

SphereNoise = Callable[[int, int | float, Floats], tuple[Floats, Floats]]
"""(d, n, w) -> the noise over sigma^2 on the sphere, and its error."""
NOISE_QUERIES = 4
"""Queries a context over which the noise is averaged, its own included; one costs less than a few tokens."""
TINY = float(np.finfo(float).tiny)
"""The least normal double, a divisor where a length is 0."""


@dataclass(frozen=True)
class NoiseOfKey:
    """The noise over sigma^2 on the sphere for scores v t: its logarithm as a polynomial in log(1 + v).

    `off` bounds its relative error: the error of the method that computes it, plus twice the sum of the upper half of
    the coefficients, which fall faster than geometrically.
    """

    polynomial: chebyshev.Chebyshev
    off: float

    def at(self, v: Floats) -> Floats:
        """The noise over sigma^2 for scores v t; outside the polynomial's range, the value at its end."""
        return np.asarray(np.exp(self.polynomial(np.clip(np.log1p(v), *self.polynomial.domain))))


@lru_cache(maxsize=16)
def noise_of_key(known: SphereNoise, d: int, n: int | float, least: float, largest: float) -> NoiseOfKey:
    """The noise for v from `least` to `largest`."""
    low, high = np.log1p(least), np.log1p(largest)
    domain = (low, max(high, low + 1e-3))
    for degree in (16, 32, 64):
        nodes = chebyshev.chebpts1(degree + 1)
        noise, error = known(d, n, np.expm1(domain[0] + (domain[1] - domain[0]) * (nodes + 1) / 2))
        fit = chebyshev.chebfit(nodes, np.log(noise), degree)
        off = float(2 * np.sum(np.abs(fit[degree // 2 + 1 :])) + np.max(error / noise))
        if off <= 1e-6:  # far below any sampling error
            break
    if not off <= 1e-3:
        raise OutOfReach(
            f"v from {least:.2g} to {largest:.2g}: the noise varies too much for a polynomial of degree {degree}."
        )
    return NoiseOfKey(chebyshev.Chebyshev(fit, domain=domain), off)


@dataclass(frozen=True)
class Elliptic(Divisible):
    """A sampler on the sphere, an ellipsoid or for normal covariates: scores w x_i^T M x; M = None for the identity."""

    grid: Grid
    M: Floats | None = None
    known: SphereNoise | None = None

    @property
    def size(self) -> int:
        """Samples in a chunk."""
        return max(1, TOKENS // int(self.problem.n))

    @property
    def tokens(self) -> int:
        """Tokens of a call."""
        return self.backend.tokens_at_once(TOKENS, 3 * self.grid.rungs.count(0) + 4 * len(self.ridge.bounds()) + 12)

    @property
    def at_once(self) -> int:
        """Samples of a call: a chunk, and on a device whole chunks."""
        return max(1, self.tokens // (int(self.problem.n) * self.size)) * self.size

    @cached_property
    def form(self) -> tuple[RidgeLaw, Floats]:
        """The law of the link, and B; the identity if the law is a ridge law."""
        law, d = self.problem.law, self.problem.d
        return ridge_form(law, d) or (as_ridge(law, "reduced sampling"), np.eye(d))

    @property
    def ridge(self) -> RidgeLaw:
        """The law of the link."""
        return self.form[0]

    @property
    def unit(self) -> float:
        """The factor from a bias sample to units of y squared."""
        return self.ridge.amplitude_variance

    @property
    def linear_share(self) -> float:
        """The share of the linear link, which is averaged in closed form."""
        return split(self.ridge).linear

    @property
    def largest_bias(self) -> float:
        """A bound on a bias sample: |z| <= |G|."""
        reach = math.inf if self.normal else float(np.linalg.norm(self.sight, 2))
        if self.linear_share:
            square = 0.0 if self.linear_share == 1 else reach**2
            return self.linear_share * (2 * reach) ** 2 / len(self.sight) + (1 - self.linear_share) * square
        return largest_bias(self.problem)

    @cached_property
    def sight(self) -> Floats:
        """G."""
        return self.form[1].T @ self.stretch

    @cached_property
    def stretch(self) -> Floats:
        """A."""
        A = self.problem.covariates.stretch(self.problem.d)
        assert A is not None
        return A

    @cached_property
    def key_map(self) -> Floats:
        """A^T M, which maps a query to its key."""
        return self.stretch.T if self.M is None else self.stretch.T @ self.M

    @property
    def normal(self) -> bool:
        """True if covariates are normal."""
        return isinstance(self.problem.covariates, Gaussian)

    @cached_property
    def keys(self) -> tuple[float, float]:
        """The smallest and the largest |k| on an ellipsoid."""
        sizes = np.linalg.svd(self.key_map @ self.stretch, compute_uv=False)
        return float(sizes[-1]), float(sizes[0])

    @property
    def helped(self) -> NDArray[np.bool_]:
        """The w at which the noise is computed, not sampled: neither 0 nor so large that one token has all weight."""
        # above 3 n few tokens have most of the weight: sampling the noise is cheap, the exact method expensive
        w, n = self.grid.windows, float(self.problem.n)
        return (w > 0) & (w * self.keys[1] <= 3.0 * n) & (n > 1)

    @cached_property
    def noise(self) -> NoiseOfKey | None:
        """The noise given a key; None if it is sampled, for lack of a method or for normal covariates."""
        if self.known is None or self.normal or not np.any(self.helped):
            return None
        w, (least, largest) = self.grid.windows[self.helped], self.keys
        ends = float(w.min()) * least, float(w.max()) * largest
        try:
            return noise_of_key(self.known, self.problem.d, self.problem.n, *ends)
        except OutOfReach:
            return None

    @property
    def off(self) -> Floats:
        """The error to add to the half-width of every column."""
        w = self.grid.windows
        noise = 0 * w
        if self.noise is not None:
            noise = np.where(self.helped, self.noise.off * self.noise.at(w * self.keys[1]), 0.0)
        return np.concatenate([noise, 0 * w])

    def bounds(self, log_chance: float = math.inf) -> tuple[Floats, Floats]:
        """(low, high) of each column."""
        w, (least, largest) = self.grid.windows, self.keys
        reach = np.where(w > 0, np.inf, 0.0) if self.normal else w * largest
        low, high = softmax_bounds(self.problem, reach, self.largest_bias, log_chance)
        if self.noise is not None:
            one_size = largest - least <= 1e-12 * largest  # within the rounding of the matrices
            for bound, key, sign in ((low, largest if one_size else least, -1), (high, largest, 1)):
                slack = 1 + sign * (0.0 if one_size else 2 * self.noise.off)
                bound[: w.size] = np.where(self.helped, slack * self.noise.at(w * key), bound[: w.size])
        return low, high

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """The bounds, computed once."""
        return self.bounds()

    def rows(self, first: int, count: int) -> Array:
        """Samples of some contexts; queries and tasks are drawn for whole chunks."""
        chunks, part = self.chunks(first, count)
        queries, tasks = (np.concatenate(drawn) for drawn in zip(*map(self._outer, chunks), strict=True))
        keys = queries @ self.key_map.T
        lengths = np.linalg.norm(keys, axis=-1)
        samples = self._samples(chunks, part, queries[:, 0], keys[:, 0], lengths[:, 0], tasks)
        if self.noise is not None:
            w, (low, high) = self.grid.windows, self.ends
            at_queries = self.noise.at(w * lengths[part, :, None]).mean(axis=1)
            known = self.on_device(np.clip(at_queries, low[: w.size], high[: w.size]))
            noise = self.xp.where(self.on_device(self.helped), known, samples[:, : w.size])
            samples = self.xp.concat([noise, samples[:, w.size :]], axis=1)
        return samples

    def _samples(self, chunks: range, part: slice, query: Floats, key: Floats, length: Floats, task: Floats) -> Array:
        """Samples of a part of chunks, whose contexts have these queries, keys k with lengths, and directions B q."""
        xp, d, k, links = self.xp, self.problem.d, len(self.sight), split(self.ridge).links
        sights, start = task @ self.stretch, np.eye(d)[0]
        size = np.linalg.norm(sights, axis=-1)
        along = np.where(length[:, None] > 0, key / np.maximum(length, TINY)[:, None], start)
        c = np.clip(np.sum(along * sights, axis=-1) / np.maximum(size, TINY), -1.0, 1.0)
        projected = along @ self.sight.T
        rest = (np.sum(self.sight**2) - np.sum(projected * projected, axis=-1)) / (1 if self.normal else d - 1)
        z0, target = np.sum(task * query, axis=-1), query @ self.form[1]
        size, c, rest, z0, projected, target = (
            self.on_device(array[part, None]) for array in (size, c, rest, z0, projected, target)
        )

        def values(t: Array, s: Array) -> list[Array]:
            linear = [1 - t, 0 * t + 1 if self.normal else 1 - t * t] if self.linear_share else []
            z = size * (c * t + xp.sqrt(1 - c * c) * s)
            return linear + [value - offset for value, offset in zip(links(z, xp), links(z0, xp), strict=True)]

        single, twice = rungs(self._sums(chunks, part, length, values), self.grid, xp)
        S, first = single[:, :, 0], 3 if self.linear_share else 1
        bias = (1 - self.linear_share) * xp.sum((single[:, :, first:] / S[:, :, None]) ** 2, axis=-1)
        if self.linear_share:
            away = (1 - single[:, :, 1] / S)[:, :, None] * projected - target
            squares = xp.sum(away * away, axis=-1) + rest * twice[:, :, 2] / S**2
            bias = bias + self.linear_share / k * squares
        return xp.concat([twice[:, :, 0] / S**2, bias], axis=1)

    def _sums(self, chunks: range, part: slice, length: Floats, values: Callable[[Array, Array], list[Array]]) -> Sums:
        """The sums over the tokens of the functions `values` of their coordinates."""
        sizes = self.on_device(length[part, None])

        def of(pairs: Array) -> Sums:
            moved = self.on_device(pairs)
            u, v = moved[..., 0], moved[..., 1]
            t, s = normal_pairs(u, v, self.xp) if self.normal else projected(u, v, self.problem.d, self.xp)
            return softmax_sums(sizes * t, values(t, s), self.grid, self.xp, self.workspace)

        return joined(map(of, self._draws(chunks, part)), self.grid, self.xp)

    def _outer(self, index: int) -> tuple[Floats, Floats]:
        """Draw the queries (size, NOISE_QUERIES, d), of which the first is the context's own, and the tasks."""
        d, law = self.problem.d, as_functions(self.problem.law, "reduced sampling")
        points = generator(self.seed, f"{self.stream}/queries", index)
        queries = self.problem.covariates.points(standard_normals(points, (self.size, NOISE_QUERIES, d)), np)
        return queries, law.draw(generator(self.seed, f"{self.stream}/tasks", index), self.size, d)

    def _draws(self, chunks: range, part: slice) -> Iterator[Array]:
        """Uniforms (u, v) of the tokens, in blocks (contexts, tokens, 2): a single one, or blocks of one context."""
        n = int(self.problem.n)
        drawn, cut = (slice(0, self.size), part) if len(chunks) > 1 else (part, slice(None))
        for first in range(0, n, self.tokens):
            shape, place = (drawn.stop - drawn.start, min(self.tokens, n - first), 2), 2 * (drawn.start * n + first)
            yield self.backend.uniforms(self.seed, self.stream, chunks, shape, place)[cut, ...]
