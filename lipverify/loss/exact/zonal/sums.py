"""The integrands in u = log(lambda), harmonic by harmonic.

A_k[h] = E[lambda^k g^k h e^{-lambda g}] over one token, with g = e^{-s}.

The averages are by the double exponential rule in the angle theta from the query. With s = w (1 - cos theta), lambda g
= e^{u-s} and weight sin^{d-2}(theta), the rule is applied on panels that end at the ends of the sphere, at the step of
exp(-lambda g) at s = u, and at the ends of its tails. The even nodes are a rule with twice the step, and so are the odd
nodes; the difference of these halves estimates the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.harmonics import Spectrum, deficits
from lipverify.foundation.sphere import half_beta
from lipverify.loss.work import spend

REACH = 3.15
"""The x beyond which tanh(pi/2 sinh x) is 1 to rounding."""
SHOULDER = 5.0
"""Below s = u - 5 the factor exp(-e^{u-s}) is at most exp(-e^5) = 1e-64: such tokens contribute only to 1 - phi."""
PANELS = 6
"""Number of panels over a token's deficit."""


@dataclass(frozen=True)
class Nodes:
    """Rules, one for each step: arrays (half, rule, node), where each half of the nodes is itself a rule."""

    near: Floats  # 1 - t
    s: Floats  # deficits w near
    weight: Floats  # with the density
    live: slice  # the nodes at which the factor g e^{-lambda g} is not negligible


def nodes(d: int, w: float, steps: Floats, degrees: int = 0) -> Nodes:
    """The rules for kernels with their step at s = u, u in `steps`; one rule is used for every u <= 1."""
    edges, size = panels_of(d, w, steps, degrees)
    theta, weight = _panels(edges, size)
    near = 2 * np.sin(theta / 2) ** 2
    density = np.abs(np.sin(theta)) ** (d - 2) / half_beta(d - 1)
    return Nodes(near, w * near, weight * density, slice(size, (PANELS - 1) * size))


def panels_of(d: int, w: float, steps: Floats, degrees: float) -> tuple[Floats, int]:
    """The edges of panels for each step, as angles, and the number of nodes of a panel.

    They end where e^{-s} s^{(d-3)/2} has fallen by e^-46 on either side. All except the outermost, where e^{-s} is
    below e^-16, resolve harmonics up to `degrees`: 3 nodes of each half per radian of phase l theta.
    """
    half_m = (d - 1) / 2
    spread = 46 + 2 * half_m + 12 * math.sqrt(half_m)
    stops = steps[:, None] + np.array([-SHOULDER, 0.0, SHOULDER, 16.0, spread])
    ends = np.ones((steps.size, 1)) * [[0.0, 2 * w]]
    s = np.clip(np.hstack([ends[:, :1], stops, ends[:, 1:]]), 0.0, 2 * w)
    edges = 2 * np.arctan2(np.sqrt(s), np.sqrt(2 * w - s))
    widest = float(np.max(np.diff(edges)[:, 1:4]))
    return edges, 112 + int(30 * math.sqrt(half_m) + 3 * degrees * widest)


def _panels(edges: Floats, size: int) -> tuple[Floats, Floats]:
    """Nodes and weights (half, rule, node) between the edges (rule, edge): middle + half tanh(pi/2 sinh x)."""
    step = REACH / size
    # even and odd nodes of one fine rule: each half is a rule with twice the step
    x = (-REACH + step * (np.arange(2 * size) + 0.5)).reshape(size, 2).T[:, None, None, :]
    argument = np.pi / 2 * np.sinh(x)
    low, width = edges[:, :-1, None], np.diff(edges)[..., None]
    # 1 -+ tanh without cancellation: distances from both ends
    theta = np.where(x < 0, low + width / (1 + np.exp(-2 * argument)), low + width - width / (1 + np.exp(2 * argument)))
    weight = width * step * (np.pi / 2) * np.cosh(x) / np.cosh(argument) ** 2
    flat = (2, edges.shape[0], PANELS * size)
    return theta.reshape(flat), weight.reshape(flat)


def both(halves: Floats) -> Floats:
    """The fine value, the mean of the averages by both halves of the nodes, and the coarse value of one half."""
    return np.stack([halves.mean(axis=0), halves[0]])


SERIES_BELOW, SHARED_BELOW = 0.0, 1.0
"""Up to the first u kernels are power series in lambda, which lose a factor e^2; up to the second, u share a rule."""
TOGETHER = 16
"""Number of harmonics averaged in one product of matrices, and of rules at a time."""
SILENT = 1e-17
"""Averages over a harmonic below this share are rounding errors; all later ones are left out."""
HARMONIC = 5.0
"""Nanoseconds per harmonic and node, and per four points that share the node."""


class Sums(NamedTuple):
    """Integrands at given u, shape (2, u): by the whole rule over tokens, and by half of its nodes."""

    log_phi: Floats
    square: Floats  # A_2[1]
    variogram: Floats  # A_2[V]
    pairs: Floats  # sum_l k_l A_1[D_l]^2
    variogram_error: Floats  # bounds: errors of the coefficients, and harmonics beyond the last
    pairs_error: Floats


def sums(spectrum: Spectrum, w: float, u: Floats) -> Sums:
    """The integrands at every u, in increasing order."""
    blocks = _blocks(u, spectrum.k.size)
    rules = (nodes(spectrum.d, w, np.maximum(block[:, -1], SHARED_BELOW), spectrum.k.size) for block in blocks)
    parts = [_block(spectrum, rule, block) for rule, block in zip(rules, blocks, strict=True)]
    return Sums(*np.concatenate(parts, axis=2))


def _blocks(u: Floats, harmonics: int) -> list[Floats]:
    """Blocks of points (rule, point) to process at a time."""
    series, shared, single = np.split(u, np.searchsorted(u, [SERIES_BELOW, SHARED_BELOW], side="right"))
    # the number of nodes of a rule grows with the number of harmonics that it resolves
    points = max(8, 512 // (1 + harmonics // 100))
    split = [series, *np.array_split(shared, 1 + shared.size // points)]
    blocks = [part[None, :] for part in split if part.size]
    return blocks + [single[i : i + TOGETHER, None] for i in range(0, single.size, TOGETHER)]


def count_of(d: int, w: float, u: Floats, harmonics: int) -> tuple[float, float]:
    """Cost of a harmonic at all points u, in nodes, and size of the largest array."""
    count = largest = 0.0
    for block in _blocks(u, harmonics):
        live = 2 * (PANELS - 2) * panels_of(d, w, np.maximum(block[:, -1], SHARED_BELOW), harmonics)[1]
        points = POWERS if _by_series(block) else block.shape[1]
        count += len(block) * live * (1 + points / 4)
        largest = max(largest, float(len(block) * points * live))
    return count, largest


@dataclass(frozen=True)
class Kernel:
    """A function of u - s at points u and nodes s, times the weights: (half, rule, row, node), after a (point, row)."""

    rows: Floats
    matrix: Floats | None = None

    def __call__(self, values: Floats) -> Floats:
        """Averages of values (half, rule, column, node): (half, rule, point, column)."""
        averages = self.rows @ values.swapaxes(-1, -2)
        return np.asarray(averages if self.matrix is None else self.matrix @ averages)

    def of(self, values: Floats) -> Floats:
        """Averages of values (half, rule, node): (half, rule, point)."""
        return self(values[..., None, :])[..., 0]


POWERS = 21
"""Number of powers of g behind the kernels' series: lambda <= 1, and 1 / 20! is below rounding."""


def _by_series(u: Floats) -> bool:
    """True if the kernels at points u (rule, point) are series: if all u are small, and more than the powers."""
    return u.shape[1] > POWERS and bool(np.all(u <= SERIES_BELOW))


def _powers(rule: Nodes, u: Floats) -> tuple[Floats, Floats]:
    """Powers of g from the first, times the weights, and (-lambda)^j / j! from j = 0, for a block of small u."""
    j = np.arange(1, POWERS + 1)
    factors = np.cumprod(np.concatenate([np.ones((u.size, 1)), -np.exp(u[0])[:, None] / j], axis=1), axis=1)
    return np.exp(-j[:, None] * rule.s[:, :, None, :]) * rule.weight[:, :, None, :], factors


def _kernels(rule: Nodes, u: Floats) -> tuple[Kernel, Kernel]:
    """lambda^k g^k e^{-lambda g} for k = 1 and 2 at points u (rule, point) and the live nodes."""
    if _by_series(u):
        (rows, factors), growth = _powers(rule, u), np.exp(u[0])[:, None]
        nothing = np.zeros((u.size, 1))
        first = np.concatenate([growth * factors[:, : POWERS - 1], nothing], axis=1)
        second = np.concatenate([nothing, growth**2 * factors[:, : POWERS - 1]], axis=1)
        rows = np.ascontiguousarray(rows[..., rule.live])
        return Kernel(rows, first), Kernel(rows, second)
    y = np.minimum(u[:, :, None] - rule.s[:, :, None, rule.live], 350)  # e^{2 y} is a double
    growth = np.exp(y)
    single = growth * (np.exp(-growth) * rule.weight[:, :, None, rule.live])
    return Kernel(single), Kernel(growth * single)


def log_phi(rule: Nodes, u: Floats) -> Floats:
    """log E e^{-lambda g} for u (rule, point): (2, rule, point)."""
    if _by_series(u):
        powers, factors = _powers(rule, u)
        return np.asarray(np.log1p(both(powers.sum(axis=-1) @ factors[:, 1:].T)))
    growth = np.exp(np.minimum(u[:, :, None] - rule.s[:, :, None, :], 700))
    falling = both(_average(-np.expm1(-growth), rule.weight))
    if np.all(falling < 0.9):  # beyond it phi is the smaller number
        return np.asarray(np.log1p(-falling))
    rest = both(_average(np.exp(-growth), rule.weight))
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(falling < 0.9, np.log1p(-np.minimum(falling, 0.9)), np.log(rest)))


def _average(values: Floats, weight: Floats) -> Floats:
    """Sums over nodes: (half, rule, point, node) with (half, rule, node) gives (half, rule, point)."""
    return np.asarray(values @ weight[..., None])[..., 0]


def _block(spectrum: Spectrum, rule: Nodes, u: Floats) -> Floats:
    """The fields of `Sums` at points u (rule, point)."""
    near = np.ascontiguousarray(rule.near[..., rule.live])
    first, second = _kernels(rule, u)
    mean, square = (both(kernel.of(np.ones_like(near))) for kernel in (first, second))
    pairs, increments, last, tail = _harmonics(spectrum, near, (first, second), mean)
    variogram, variogram_error = (both(2 * second.of(part)) for part in increments)
    # beyond the last harmonic, averages of P_l are at most those of the last one: A_1[D_l] -> A_1[1]
    pairs[0] += tail * mean**2
    pairs[1] += tail * (2 * mean * last[0] + last[0] ** 2) + 4 * spectrum.tail_error * mean**2
    variogram += 2 * tail * square
    variogram_error += 2 * tail * last[1] + 4 * spectrum.tail_error * square
    columns = (log_phi(rule, u), square, variogram, pairs[0], variogram_error, pairs[1])
    return np.stack([column.reshape(2, -1) for column in columns])


def _harmonics(
    spectrum: Spectrum, near: Floats, kernels: tuple[Kernel, Kernel], mean: Floats
) -> tuple[Floats, Floats, tuple[Floats, Floats], float]:
    """The pair sums and V / 2 at the nodes, for k and its errors; the last |A_1[P_l]| and |A_2[P_l]|; the tail."""
    first, second = kernels
    pairs, increments = np.zeros((2, *mean.shape)), np.zeros((2, *near.shape))
    remains, count, every = np.stack([mean, mean], axis=-1), spectrum.k.size, deficits(spectrum.d, near)
    matters = (spectrum.k > 0) | (spectrum.error > 0) | (np.arange(count) == count - 1)
    for start in range(0, count, TOGETHER):
        degrees, some = slice(start, start + TOGETHER), matters[start : start + TOGETHER]
        spend(some.size * near.size * (1 + first.rows.shape[2] / 4), HARMONIC, "harmonics")
        upcoming = list(islice(every, some.size))
        if not some.any():
            continue
        deficit = np.stack([term for term, used in zip(upcoming, some, strict=True) if used], axis=-2)
        average = both(first(deficit))
        for row, coefficients in enumerate((spectrum.k[degrees][some], spectrum.error[degrees][some])):
            pairs[row] += average**2 @ coefficients
            increments[row] += coefficients @ deficit
        remains = np.concatenate([remains, np.abs(mean[..., None] - average)], axis=-1)[..., -4:]
        ends = start + TOGETHER >= count
        if ends or np.all(remains[..., -2:] <= SILENT * mean[..., None]):
            squares = np.abs(both(second.of(1 - deficit[..., -1, :])))
            if ends or np.all(squares <= SILENT * mean):
                break
    tail = spectrum.tail + float(np.sum(spectrum.k[start + TOGETHER :]))
    return pairs, increments, (np.max(remains, axis=-1), squares), tail
