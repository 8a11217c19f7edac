r"""The integrands in u = log(lambda), harmonic by harmonic.

A_k[h] = E[lambda^k g^k h e^{-lambda g}] over one token, with g = e^{-s}.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import islice

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.zonal.harmonics import Spectrum, deficits
from lipverify.loss.exact.zonal.tokens import PANELS, Nodes, both, nodes, panels_of
from lipverify.loss.work import spend

SHARED_BELOW = 1.0
"""Up to this u all points share one rule over tokens."""
BLOCK, SHARED_BLOCK = 16, 512
"""Number of rules at a time, and of points that share a rule at a time."""
TOGETHER = 16
"""Number of harmonics that are averaged in one product of matrices."""
LARGE = 700.0
"""Range of exponents: e^709 is the largest double."""
MOSTLY = 0.9
"""Largest 1 - phi from which log phi is computed; beyond it phi is the smaller number."""
SILENT = 1e-17
"""Averages over a harmonic below this share are rounding errors; all later ones are left out."""
HARMONIC = 5.0
"""Nanoseconds per harmonic and node, and per four points that share the node."""


@dataclass(frozen=True)
class Sums:
    """Integrands at given u, shape (2, u): by the whole rule over tokens, and by half of its nodes."""

    log_phi: Floats
    square: Floats  # A_2[1]
    mean: Floats  # A_1[1]
    variogram: Floats  # A_2[V]
    pairs: Floats  # sum_l k_l A_1[D_l]^2
    variogram_error: Floats  # bounds: errors of the coefficients, and harmonics beyond the last
    pairs_error: Floats


def sums(spectrum: Spectrum, w: float, u: Floats) -> Sums:
    """The integrands at every u, in increasing order."""
    blocks = _blocks(u, spectrum.k.size)
    rules = (nodes(spectrum.d, w, np.maximum(block[:, -1], SHARED_BELOW), spectrum.k.size) for block in blocks)
    parts = [_block(spectrum, rule, block) for rule, block in zip(rules, blocks, strict=True)]
    columns = ([getattr(part, field.name) for part in parts] for field in fields(Sums))
    return Sums(*(np.concatenate(column, axis=1) for column in columns))


def _blocks(u: Floats, harmonics: int) -> list[Floats]:
    """Blocks of points (rule, point) to process at a time."""
    shared, single = u[u <= SHARED_BELOW], u[u > SHARED_BELOW]
    # the number of nodes of a rule grows with the number of harmonics that it resolves
    points = max(8, SHARED_BLOCK // (1 + harmonics // 100))
    blocks = [part[None, :] for part in np.array_split(shared, 1 + shared.size // points) if part.size]
    return blocks + [single[i : i + BLOCK, None] for i in range(0, single.size, BLOCK)]


def count_of(d: int, w: float, u: Floats, harmonics: int) -> tuple[float, float]:
    """Cost of a harmonic at all points u, in nodes, and size of the largest array."""
    count = largest = 0.0
    for block in _blocks(u, harmonics):
        live = 2 * (PANELS - 2) * panels_of(d, w, np.maximum(block[:, -1], SHARED_BELOW), harmonics)[1]
        count += len(block) * live * (1 + block.shape[1] / 4)
        largest = max(largest, float(block.size * live))
    return count, largest


def log_phi(rule: Nodes, u: Floats) -> Floats:
    """log E e^{-lambda g} for u (rule, point): (2, rule, point)."""
    growth = np.exp(np.minimum(u[:, :, None] - rule.s[:, :, None, :], LARGE))
    falling = both(_average(-np.expm1(-growth), rule.weight))
    if np.all(falling < MOSTLY):
        return np.asarray(np.log1p(-falling))
    rest = both(_average(np.exp(-growth), rule.weight))
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(falling < MOSTLY, np.log1p(-np.minimum(falling, MOSTLY)), np.log(rest)))


def _average(values: Floats, weight: Floats) -> Floats:
    """Sums over nodes: (half, rule, point, node) with (half, rule, node) gives (half, rule, point)."""
    return np.asarray(values @ weight[..., None])[..., 0]


def _block(spectrum: Spectrum, rule: Nodes, u: Floats) -> Sums:
    """The integrands at points u (rule, point)."""
    near, weight = (np.ascontiguousarray(array[..., rule.live]) for array in (rule.near, rule.weight))
    y = np.minimum(u[:, :, None] - rule.s[:, :, None, rule.live], LARGE / 2)
    growth = np.exp(y)
    first = growth * (np.exp(-growth) * weight[:, :, None, :])
    second = growth * first
    mean, square = both(first.sum(axis=-1)), both(second.sum(axis=-1))
    pairs, increments, last, tail = _harmonics(spectrum, near, (first, second), mean)
    variogram = both(2 * _average(second, increments[0]))
    variogram_error = both(2 * _average(second, increments[1]))
    # beyond the last harmonic, averages of P_l are at most those of the last one: A_1[D_l] -> A_1[1]
    pairs[0] += tail * mean**2
    pairs[1] += tail * (2 * mean * last[0] + last[0] ** 2) + 4 * spectrum.tail_error * mean**2
    variogram += 2 * tail * square
    variogram_error += 2 * tail * last[1] + 4 * spectrum.tail_error * square
    columns = (log_phi(rule, u), square, mean, variogram, pairs[0], variogram_error, pairs[1])
    return Sums(*(column.reshape(2, -1) for column in columns))


def _harmonics(
    spectrum: Spectrum, near: Floats, kernels: tuple[Floats, Floats], mean: Floats
) -> tuple[Floats, Floats, tuple[Floats, Floats], float]:
    """The pair sums and V / 2 at the nodes, for k and its errors; the last |A_1[P_l]| and |A_2[P_l]|; the tail."""
    first, second = kernels
    pairs, increments = np.zeros((2, *mean.shape)), np.zeros((2, *near.shape))
    remains, count, every = np.stack([mean, mean], axis=-1), spectrum.k.size, deficits(spectrum.d, near)
    matters = (spectrum.k > 0) | (spectrum.error > 0) | (np.arange(count) == count - 1)
    for start in range(0, count, TOGETHER):
        degrees, some = slice(start, start + TOGETHER), matters[start : start + TOGETHER]
        spend(some.size * near.size * (1 + first.shape[2] / 4), HARMONIC, "harmonics")
        upcoming = list(islice(every, some.size))
        if not some.any():
            continue
        deficit = np.stack([each for each, used in zip(upcoming, some, strict=True) if used], axis=-2)
        average = both(first @ deficit.swapaxes(-1, -2))
        for row, coefficients in enumerate((spectrum.k[degrees][some], spectrum.error[degrees][some])):
            pairs[row] += average**2 @ coefficients
            increments[row] += coefficients @ deficit
        remains = np.concatenate([remains, np.abs(mean[..., None] - average)], axis=-1)[..., -4:]
        ends = start + TOGETHER >= count
        if ends or np.all(remains[..., -2:] <= SILENT * mean[..., None]):
            squares = np.abs(both(_average(second, 1 - deficit[..., -1, :])))
            if ends or np.all(squares <= SILENT * mean):
                break
    tail = spectrum.tail + float(np.sum(spectrum.k[start + TOGETHER :]))
    return pairs, increments, (np.max(remains, axis=-1), squares), tail
