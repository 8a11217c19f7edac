r"""A confidence interval for the mean of bounded samples, valid at every sample size.

Bet against each candidate mean m: the capital prod_i (1 + lambda_i (x_i - m)), with lambda_i chosen from
earlier samples only, is a nonnegative martingale when m is the mean, so it exceeds 2 / (1 - level) with
probability at most (1 - level) / 2 (Ville), at any time. The interval keeps the m that neither the bet
upwards nor the bet downwards has made that rich. Source: Waudby-Smith and Ramdas, "Estimating means of
bounded random variables by betting", JRSS B 86 (2024), section 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BISECTIONS = 50
LARGEST_BET = 0.5
"""Share of the largest bet that cannot lose more than the capital."""


def betting_interval(samples: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """(low, high) for the mean of samples in [0, 1], along the first axis; other axes are separate means.

    Validity: independent samples with one mean, any distribution on [0, 1], any (also a data-dependent)
    sample size. For a skewed distribution it holds where mean +- 1.96 standard errors does not.

    >>> low, high = betting_interval(np.linspace(0, 1, 1001)[:, None] * 0 + 0.25)
    >>> bool(low[0] < 0.25 < high[0])
    True
    """
    bets = _bets(samples, level)
    threshold = np.log(2 / (1 - level))
    mean = samples.mean(axis=0)
    low = _edge(samples, bets, threshold, np.zeros_like(mean), mean, sign=1.0)
    high = _edge(samples, bets, threshold, np.ones_like(mean), mean, sign=-1.0)
    return low, high


def _bets(samples: Floats, level: float) -> Floats:
    """lambda_i = sqrt(2 log(2/(1-level)) / (N v_{i-1})), v the running variance of what came before."""
    count = np.arange(1, len(samples) + 1).reshape(-1, *[1] * (samples.ndim - 1))
    running = (0.5 + np.cumsum(samples, axis=0)) / (count + 1)
    variance = (0.25 + np.cumsum((samples - running) ** 2, axis=0)) / (count + 1)
    before = np.concatenate([np.full_like(variance[:1], 0.25), variance[:-1]])
    return np.sqrt(2 * np.log(2 / (1 - level)) / (len(samples) * before))


def _edge(samples: Floats, bets: Floats, threshold: float, outside: Floats, inside: Floats, sign: float) -> Floats:
    """Where the capital of the bet that the mean lies on the inside of m reaches the threshold."""
    for _ in range(BISECTIONS):
        m = 0.5 * (outside + inside)
        room = m if sign > 0 else 1 - m
        bet = np.minimum(bets, LARGEST_BET / np.maximum(room, 1e-300))
        rich = np.sum(np.log1p(sign * bet * (samples - m)), axis=0) >= threshold
        outside, inside = np.where(rich, m, outside), np.where(rich, inside, m)
    return outside
