"""Samples of the two terms from softmax sums, with their bounds.

    noise:  sum_i a_i^2 = S(2w) / S(w)^2,
    bias:   sum_k (sum_i a_i (f_k(x_i) - f_k(x)))^2 = sum_k (T_k(w) / S(w))^2.

For f(x) = <q, x> with q uniform, the average over q and over the directions of the tokens orthogonal to the query is
|sum_i a_i x_i - x|^2 / d averaged given the t_i = <x_i, x>:

    d bias = (sum_i a_i (1 - t_i))^2 + sum_i a_i^2 (1 - t_i^2) = (T_1(w) / S(w))^2 + T_2(2w) / S(w)^2.

Bounds on samples hold except with negligible probability. They are much tighter than the extremes over all contexts.
The g_i = e^{-w (1 - t_i)} are independent given the query. The bounded quantities are quotients of sums over them, and
exceed c only if another sum is positive:

    sum_i a_i (1 - t_i) > c    =>  sum_i g_i (1 - t_i - c) > 0,
    sum_i a_i^2 > c            =>  sum_i (g_i^2 - 2 a c g_i) + c a^2 > 0   for any a,

as S^2 >= 2 a S - a^2 for S = sum_i g_i. Chernoff's inequality bounds the probability of either by (E e^{lambda Y})^n,
where Y is the term of one token plus, in the second case, c a^2 / n. And the sum of squares is below c only if, for an
interval [a, b] that contains S,

    sum_i a_i^2 < c            =>  sum_i (c (a + b) g_i - g_i^2) - c a b > 0,

as S^2 <= (a + b) S - a b there. Bias samples follow from the first: with |f(x) - f(x')| <= L |x - x'|, by Jensen,

    (sum_i a_i f(x_i) - f(x))^2 <= L^2 sum_i a_i |x_i - x|^2 = 2 L^2 sum_i a_i (1 - t_i),

and likewise, for f(x) = h(<q, x>) and c = <q, x>,

    |sum_i a_i f(x_i) - f(x)| <= L sum_i a_i |<q, x_i> - c| <= L sum_i a_i r_i,    r_i^2 = (1 - t_i)^2 + s_i^2.

For betting intervals the probability is so small that its effect on the mean of samples is below rounding.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from lipverify.foundation.arrays import Array, Floats, to_device
from lipverify.loss.montecarlo.backend import NUMPY, Backend
from lipverify.loss.montecarlo.windows import Grid, Sums, Workspace
from lipverify.problem import Problem
from lipverify.problem.composed import LowRank, Transformed
from lipverify.problem.law import Bound, FunctionLaw, as_functions, by_law

INTERVALS = 4
"""Number of intervals of S for the smallest sum of squares."""
MANY = 64
"""Values of w above which bounds are taken at so many others: each takes milliseconds, as much as many contexts."""


@lru_cache(maxsize=256)
def largest_spread(d: int, n: int, w: float, log_chance: float | None = None) -> float:
    """c with P(sum_i a_i (1 - t_i) > c) <= e^-log_chance, by default negligible; 2 is the largest possible value."""
    (near, mass, g), allowed = _weighted(d, w), _wanted(n, log_chance)
    if mass @ g * n < 1:  # w so large that a window holds no token
        return 2.0

    def rare(c: float) -> bool:
        return _is_rare(g * (near - c), mass, n, allowed)

    return _beyond(rare, float(mass @ (g * near) / (mass @ g)), 2.0)


@lru_cache(maxsize=256)
def largest_distance(d: int, n: int, w: float, log_chance: float) -> float:
    """c with P(sum_i a_i r_i > c) <= e^-log_chance; 2 is the largest possible value."""
    near, mass, g = _weighted(d, w)
    if mass @ g * n < 1:
        return 2.0
    x, gauss = np.polynomial.legendre.leggauss(6)
    # s_i over its largest value is a coordinate of a uniform point on S^{d-2}: the cosine of an angle about pi/2
    angle = math.pi / 2 - min(math.pi / 2, 8 / math.sqrt(d)) * (1 + x) / 2 if d > 2 else np.zeros(6)
    shares = gauss * (np.sin(angle) ** (d - 3) if d > 2 else 1.0)
    squares = (near * (2 - near))[:, None] * np.cos(angle) ** 2 + near[:, None] ** 2
    r, mass = np.sqrt(squares).ravel(), np.outer(mass, shares / shares.sum()).ravel()
    g = np.repeat(g, x.size)
    return _beyond(lambda c: _is_rare(g * (r - c), mass, n, -log_chance), float(mass @ (g * r) / (mass @ g)), 2.0)


@lru_cache(maxsize=256)
def largest_noise(d: int, n: int, w: float, log_chance: float | None = None) -> float:
    """c with P(sum_i a_i^2 > c) <= e^-log_chance, by default negligible; 1 is the largest possible value."""
    (_, mass, g), allowed = _weighted(d, w), _wanted(n, log_chance)
    mean = float(mass @ g)
    if mean * n < 1:
        return 1.0

    def rare(c: float) -> bool:
        anchors = (share * n * mean for share in (0.2, 0.4, 0.6, 0.8, 0.95))  # few near tokens have the largest squares
        return any(_is_rare(g * g - 2 * a * c * g + c * a * a / n, mass, n, allowed) for a in anchors)

    return _beyond(rare, float(mass @ (g * g)) / (n * mean**2), 1.0)


@lru_cache(maxsize=256)
def smallest_noise(d: int, n: int, w: float, log_chance: float | None = None) -> float:
    """c with P(sum_i a_i^2 < c) <= e^-log_chance, by default negligible; 1/n is the smallest possible value."""
    _, mass, g = _weighted(d, w)
    mean = float(mass @ g)
    if mean * n < 1:
        return 1 / n
    allowed = _wanted(n, log_chance) - math.log(INTERVALS + 2)
    most = _beyond(lambda S: _is_rare(g - S, mass, n, allowed), mean, 1.0)
    least = _beyond(lambda S: _is_rare(S - g, mass, n, allowed), mean, max(float(g.min()), 1e-300))
    ends = n * np.geomspace(least, most, INTERVALS + 1)

    def rare(c: float) -> bool:
        return all(_is_rare(c * ((a + b) * g - a * b / n) - g * g, mass, n, allowed) for a, b in pairwise(ends))

    return _beyond(rare, float(mass @ (g * g)) / (n * mean**2), 1 / n)


def _weighted(d: int, w: float) -> tuple[Floats, Floats, Floats]:
    """Nodes 1 - t of a token by Gauss rules in the angle, their shares, and e^{-w (1 - t)}."""
    x, gauss = np.polynomial.legendre.leggauss(10)
    crowd = math.pi / 2 + np.linspace(-12, 12, 9) / math.sqrt(d)  # around the equator, where the tokens are
    cap = math.pi * 2.0 ** -np.arange(32.0)
    cap = cap[cap > 0.05 / math.sqrt(1 + w)]  # below this the weight is constant
    edges = np.unique([0.0, *cap, *crowd[(crowd > 0) & (crowd < math.pi)]])
    half = np.diff(edges)[:, None] / 2
    theta = (edges[:-1, None] + half * (1 + x)).ravel()
    mass = (half * gauss).ravel() * np.sin(theta) ** (d - 2)
    near = 2 * np.sin(theta / 2) ** 2
    return near, mass / np.sum(mass), np.exp(-min(w, 1e300) * near)


def _is_rare(Y: Floats, mass: Floats, n: int, allowed: float) -> bool:
    """True if Chernoff's bound on P(sum of n independent Y > 0) is e^allowed at most, at some rate."""
    if mass @ Y >= 0:
        return False
    Y, mass = Y[mass > 0], mass[mass > 0]  # in high dimensions the shares near the poles underflow to 0
    # a bound holds at every rate, and between two of these at most 5 % of its logarithm is lost; the best ones are
    # beyond 1/n and below the logarithm of the wanted probability, in units of the largest Y
    powers = np.exp(np.arange(-math.log(n), 4.5, 0.4))[:, None] * (Y / np.max(Y))
    top = powers.max(axis=1)
    return n * float(np.min(top + np.log(np.exp(powers - top[:, None]) @ mass))) <= allowed


def _wanted(n: int, log_chance: float | None) -> float:
    """The logarithm of the allowed probability, by default 1e-16 / n: a sum of squared weights is at least 1/n."""
    return -(37.0 + math.log(n) if log_chance is None else log_chance)


def _beyond(rare: Callable[[float], bool], mean: float, end: float) -> float:
    """The c nearest to `mean`, or slightly further, that is rare enough."""
    inside, outside = math.log(mean), math.log(end)
    while abs(outside - inside) > 0.01:
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if rare(math.exp(middle)) else (middle, outside)
    return math.exp(outside)


Bounds = tuple[Floats, Floats]


@dataclass(frozen=True)
class Divisible(ABC):
    """A sampler of a problem at an address, which can draw a part of a chunk, to need less memory."""

    problem: Problem
    _: KW_ONLY
    seed: int = 0
    stream: str = ""
    backend: Backend = NUMPY
    workspace: Workspace = field(default_factory=Workspace, repr=False, compare=False)
    contexts_a_sample = 1

    @property
    def xp(self) -> Any:
        """The array namespace of the backend."""
        return self.backend.xp

    def on_device(self, array: Array) -> Array:
        """The array, on the device of the backend."""
        return to_device(array, self.backend.xp, self.backend.device)

    @property
    @abstractmethod
    def size(self) -> int:
        """Samples in a chunk."""

    @property
    def at_once(self) -> int:
        """Samples of a call, unless memory is short."""
        return self.size

    def chunks(self, first: int, count: int) -> tuple[range, slice]:
        """The chunks that hold the samples `first`, ..., `first + count - 1`, and the place of these among theirs."""
        index, start = divmod(first, self.size)
        return range(index, -(-(first + count) // self.size)), slice(start, start + count)

    @abstractmethod
    def rows(self, first: int, count: int) -> Array:
        """The samples `first`, ..., `first + count - 1`, (count, columns).

        A sample is the same to the last bit, whichever other samples are drawn with it.
        """

    def chunk(self, index: int) -> Array:
        """Noise samples at every window and then bias samples, (size, 2 windows)."""
        return self.rows(index * self.size, self.size)


ROUNDED = 1e-12
"""A bound on the relative rounding of weights and of the bounds of their squares."""


def drawn(sums: Sums, grid: Grid, xp: Any, averaged: bool = False) -> Array:
    """Noise and then bias samples, (C, 2 windows).

    The values are f_k(x_i) - f_k(x), or 1 - t and 1 - t^2 for a linear task with averaged direction.
    """
    single, twice = rungs(sums, grid, xp)
    S = single[:, :, 0]
    if averaged:
        bias = (single[:, :, 1] / S) ** 2 + twice[:, :, 2] / S**2
    else:
        bias = sum((single[:, :, k] / S) ** 2 for k in range(1, single.shape[-1]))
    return xp.concat([twice[:, :, 0] / S**2, bias], axis=1)


def largest_bias(problem: Problem) -> float:
    """A bound on a bias sample, since the prediction lies between the extremes of each component; infinity if none."""
    with np.errstate(invalid="ignore", over="ignore"):
        bound = spread_squared(_bounds(as_functions(problem.law, "Monte Carlo"), problem))
    return math.inf if math.isnan(bound) else bound


def spread_squared(bounds: Iterable[Bound]) -> float:
    """A bound on sum_k (max f_k - min f_k)^2."""
    return float(sum(bound.extent**2 for bound in bounds))


@by_law
def _bounds(law: FunctionLaw, problem: Problem) -> tuple[Bound, ...]:
    return law.bounds(problem.covariates.radius)


@_bounds.register(Transformed, LowRank)
def _of_map(law: Transformed, problem: Problem) -> tuple[Bound, ...]:
    A, radius = problem.covariates.stretch(problem.d), problem.covariates.radius
    if A is None or not math.isfinite(radius):
        return law.bounds(radius)
    return law.ridge.bounds(float(np.linalg.norm(np.array(law.B).T @ A, 2)))  # |B^T A u| <= |B^T A|


def sphere_bounds(
    problem: Problem, w: Floats, components: Sequence[Bound], log_chance: float, slope: float = math.inf
) -> Bounds:
    """The bounds for tokens on the sphere and scores w t, each left with probability e^-log_chance at most.

    `slope` is a Lipschitz constant of all components together in <q, x>, for a ridge law.
    """
    bias = sum((f.extent**2 for f in components), np.zeros_like(w))
    if slope < math.inf and w.size <= MANY:  # sum_i a_i r_i need not fall as w grows
        bias = np.minimum(bias, (slope * at_each(largest_distance, problem, w, log_chance, 2.0)) ** 2)
    elif slope < math.inf or any(f.slope < math.inf for f in components):
        distance = 2 * at_each(largest_spread, problem, w, log_chance, 2.0)  # sum_i a_i |x_i - x|^2
        each = sum((np.minimum(f.extent**2, f.slope**2 * distance) for f in components), np.zeros_like(w))
        bias = np.minimum(each, slope**2 * distance) if slope < math.inf else each
    low, high = softmax_bounds(problem, w, bias, log_chance)
    least = at_each(smallest_noise, problem, w, log_chance, 0.0)
    low[: w.size] = np.maximum(low[: w.size], (1 - ROUNDED) * least)
    return low, high


def at_each(
    bound: Callable[[int, int, float, float], float], problem: Problem, w: Floats, log_chance: float, end: float
) -> Floats:
    """A bound from tails at each w; its end if the probability is zero.

    For fixed tokens sum_i a_i (1 - t_i) falls as w grows, and sum_i a_i^2 grows. So a bound at a smaller w holds for
    the first, and for the second from below; one from above holds at a larger w.
    """
    if log_chance == math.inf:
        return np.full_like(w, end)
    at = w
    if w.size > MANY:
        nodes = np.sort(w)[np.linspace(0, w.size - 1, MANY).astype(int)]
        at = nodes[np.searchsorted(nodes, w) if bound is largest_noise else np.searchsorted(nodes, w, "right") - 1]
    return np.array([bound(problem.d, int(problem.n), float(window), log_chance) for window in at])


def softmax_bounds(problem: Problem, reach: Floats, largest_bias: float | Floats, log_chance: float) -> Bounds:
    """(low, high) for noise samples where |score| <= reach, and for bias samples in [0, largest_bias].

    Cauchy: sum_i a_i^2 >= 1/n. Two weights differ by a factor e^{2 reach} at most, so by Kantorovich's inequality
    sum_i a_i^2 <= min(1, cosh(reach)^2 / n): at reach 0 and at n = 1 the noise is not random. On an ellipsoid scores
    are those of the sphere times at most `reach`. Since sum_i a_i^2 grows with that factor, the bound from tails for
    the sphere at w = reach applies.

    >>> from lipverify.laws import Affine
    >>> low, high = softmax_bounds(Problem(d=3, n=4, law=Affine()), np.array([0.0, 9.0]), 4.0, math.inf)
    >>> low.tolist(), high.tolist()
    ([0.25, 0.25, 0.0, 0.0], [0.25, 1.0, 4.0, 4.0])
    """
    n = float(problem.n)
    noise = np.minimum(1.0, np.cosh(np.minimum(reach, 100.0)) ** 2 / n)  # beyond 100 it is 1 for every n that fits
    if problem.covariates.elliptic and math.isfinite(problem.covariates.radius):
        noise = np.minimum(noise, at_each(largest_noise, problem, reach, log_chance, 1.0))
    low = np.concatenate([np.full_like(reach, 1 / n), np.zeros_like(reach)])
    return low, np.concatenate([noise, largest_bias + np.zeros_like(reach)])


def rungs(sums: Sums, grid: Grid, xp: Any) -> tuple[Array, Array]:
    """The sums at every w of the grid, and at 2 w."""
    levels = to_device(grid.at, xp, getattr(sums.largest, "device", None))
    return xp.take(sums.at_levels, levels, axis=1), xp.take(sums.at_levels, levels + 1, axis=1)
