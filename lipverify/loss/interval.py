r"""A confidence interval for the mean of bounded samples, valid at every number of samples.

Bet against each candidate mean m: the capital prod_i (1 + lambda_i (x_i - m)), with lambda_i chosen from
earlier samples only, is a nonnegative martingale when m is the mean, so it exceeds 2 / (1 - level) with
probability at most (1 - level) / 2 (Ville). The interval keeps the m that neither the bet upwards nor the
bet downwards has made that rich. Source: Waudby-Smith and Ramdas, "Estimating means of bounded random
variables by betting", JRSS B 86 (2024), section 4.

For samples far smaller than the range the width is about log(2 / (1 - level)) / N ranges and not a
multiple of the standard error: N samples cannot exclude that one in N is as large as the range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput

Floats = NDArray[np.float64]

LARGEST_BET = 0.75
"""Share of the largest bet that cannot lose more than the capital: at 1/2 small means get wider intervals."""
SLACK = 0.01
"""An edge may lie outside of its exact place by this share of its distance to the mean."""
STEPS = 100
ROUNDING = 64 * float(np.finfo(float).eps)
"""Relative error of a sample that a pairwise sum over up to 1e8 tokens may leave, with room."""


def betting_interval(samples: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """(low, high) for the mean of samples in [0, 1], along the first axis; other axes are separate means.

    Validity: independent samples with one mean and any distribution on [0, 1], any number of them that was
    fixed beforehand (the bets are scaled to it; who stops early divides 1 - level over the looks). For a
    skewed distribution it holds where mean +- 1.96 standard errors does not.

    Raises
    ------
    InvalidInput
        If there are no samples, one lies outside of [0, 1] or is not a number, or `level` is not in (0, 1).

    >>> low, high = betting_interval(np.full((1001, 1), 0.25))
    >>> bool(low[0] < 0.25 < high[0])
    True
    """
    _validate(samples, level)
    bets = _bets(samples, level)
    threshold = float(np.log(2 / (1 - level)))
    mean = samples.mean(axis=0)

    def upwards(m: Floats) -> Floats:
        bet = np.minimum(bets, LARGEST_BET / np.maximum(m, np.finfo(float).tiny))
        return np.sum(np.log1p(bet * (samples - m)), axis=0) - threshold

    def downwards(m: Floats) -> Floats:
        bet = np.minimum(bets, LARGEST_BET / np.maximum(1 - m, np.finfo(float).tiny))
        return np.sum(np.log1p(-bet * (samples - m)), axis=0) - threshold

    return _edge(upwards, np.zeros_like(mean), mean), _edge(downwards, np.ones_like(mean), mean)


def _bets(samples: Floats, level: float) -> Floats:
    """lambda_i = sqrt(2 log(2/(1-level)) / (N v_{i-1})), v the running variance of what came before."""
    count = np.arange(1, len(samples) + 1).reshape(-1, *[1] * (samples.ndim - 1))
    running = (0.5 + np.cumsum(samples, axis=0)) / (count + 1)
    variance = (0.25 + np.cumsum((samples - running) ** 2, axis=0)) / (count + 1)
    before = np.concatenate([np.full_like(variance[:1], 0.25), variance[:-1]])
    return np.sqrt(2 * np.log(2 / (1 - level)) / (len(samples) * before))


def _edge(excess: Callable[[Floats], Floats], outside: Floats, mean: Floats) -> Floats:
    """Where `excess`, the logarithm of the capital over its threshold, falls to 0 between `outside` and `mean`.

    False position in Illinois's form, which keeps a bracket; what is returned is its outer end, so
    that stopping early makes the interval wider and never wrong.
    """
    inside = mean
    rich, poor = excess(outside), excess(mean)
    settled = rich <= 0  # not even the end of the range is excluded: it is the edge
    last = np.zeros_like(mean)
    for _ in range(STEPS):
        if np.all(settled | (np.abs(outside - inside) <= SLACK * np.abs(inside - mean))):
            break
        m = (rich * inside - poor * outside) / np.where(settled | (rich == poor), 1.0, rich - poor)
        m = np.where(settled, outside, np.clip(m, np.minimum(inside, outside), np.maximum(inside, outside)))
        value = excess(m)
        excluded = (value > 0) & ~settled
        poor = np.where(excluded, np.where(last > 0, poor / 2, poor), np.where(settled, poor, value))
        rich = np.where(excluded, value, np.where(settled, rich, np.where(last < 0, rich / 2, rich)))
        outside, inside = np.where(excluded, m, outside), np.where(excluded | settled, inside, m)
        last = np.where(excluded, 1.0, -1.0)
    return outside


def _validate(samples: Floats, level: float) -> None:
    if not 0 < level < 1:
        raise InvalidInput(f"level = {level!r}: the level of confidence must lie between 0 and 1.")
    if samples.ndim == 0 or len(samples) == 0:
        raise InvalidInput("samples: an interval needs at least one sample.")
    bad = samples[~((samples >= -ROUNDING) & (samples <= 1 + ROUNDING))]
    if bad.size:
        raise InvalidInput(f"samples: {bad.flat[0]} lies outside of [0, 1]; rescale by the bound.")


def block_means(chunks: Iterable[Floats], size: int) -> Floats:
    """Means of `size` successive samples, along the first axis of chunks that come one by one.

    Independent of where one chunk ends and the next begins; the last samples that do not fill a block are
    left out.

    >>> block_means([np.arange(3.0)[:, None], np.arange(3.0, 7.0)[:, None]], size=2).ravel().tolist()
    [0.5, 2.5, 4.5]
    """
    means: list[Floats] = []
    rest: Floats | None = None
    for chunk in chunks:
        samples = chunk if rest is None else np.concatenate([rest, chunk])
        whole = len(samples) // size * size
        means.append(samples[:whole].reshape(-1, size, *samples.shape[1:]).mean(axis=1))
        rest = samples[whole:]
    return np.concatenate(means)


def bounded_mean(samples: Floats, low: Floats, high: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """(mean, half-width) for each column of samples in [low, high]: mean +- half-width covers the betting interval.

    Where low = high the samples cannot vary, and the half-width is what rounding leaves. That they did not
    vary is no ground for a width of zero.

    Raises
    ------
    InvalidInput
        If a sample lies outside of its bounds by more than rounding.

    >>> mean, half_width = bounded_mean(np.full((1000, 2), 0.5), np.array([0.0, 0.5]), np.array([1.0, 0.5]))
    >>> mean.tolist(), bool(half_width[0] > 1e-3), bool(half_width[1] < 1e-13)
    ([0.5, 0.5], True, True)
    """
    mean = np.array([math.fsum(column) / len(samples) for column in samples.T])
    allowance = ROUNDING * np.maximum(np.abs(low), np.abs(high))
    bad = samples[~((samples >= low - allowance) & (samples <= high + allowance))]
    if bad.size:
        raise InvalidInput(f"samples: {bad[0]} lies outside of its bounds; check the extents of the law.")
    extent = high - low
    unit = np.clip((samples - low) / np.where(extent > 0, extent, 1.0), 0.0, 1.0)
    left, right = betting_interval(unit, level)
    centre = unit.mean(axis=0)
    return mean, extent * np.maximum(right - centre, centre - left) + allowance
