"""A small weighted sample of contexts in place of a large one: all of the worst of a pool, and a thinned rest.

A model fails where the rescaled moments have a large Frobenius norm. In each group of the pool all of these contexts
are kept, and the rest are thinned and get larger shares, so that averages stay unbiased.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.samples import SampledMean, in_units
from lipverify.linear_transformer.families import Omega
from lipverify.linear_transformer.regression.contexts import Contexts, draw_contexts
from lipverify.problem.prompts import Prompts

GROUP = 1024
"""Number of contexts that are selected together."""
POOL = 16
"""Number of drawn contexts for each selected one."""


class Thinned(NamedTuple):
    """Contexts and their shares in averages, (contexts,), which sum to 1; contexts of the tail have the smallest."""

    contexts: Contexts
    share: Floats


def thinned(regression: Prompts, count: int, seed: int, stream: str) -> Thinned:
    """Contexts selected from sixteen times as many, with the worst of them all, and their shares in a mean.

    Parameters
    ----------
    regression, seed, stream
        As for `draw_contexts`.
    count
        Their number, a multiple of 1024.

    Returns
    -------
    contexts, share
        The contexts, and the share of each, which `evaluation` takes.

    Raises
    ------
    InvalidInput
        If `count` is not a positive multiple of 1024.

    Examples
    --------
    >>> from lipverify.problem.noise import UniformNoise
    >>> few = thinned(Prompts(d=3, n=20, sigma=UniformNoise(1.0)), 1024, seed=0, stream="a")
    >>> len(few.contexts), round(float(few.share.sum()), 12)
    (1024, 1.0)
    """
    if count < GROUP or count % GROUP:
        raise InvalidInput(f"contexts = {count}: samples to train on are positive multiples of {GROUP}.")
    groups = [_group(regression, seed, f"{stream}/{group}") for group in range(count // GROUP)]
    gram, task, sigma, share = (np.concatenate(parts) for parts in zip(*groups, strict=True))
    return Thinned(Contexts(gram, task, sigma, int(regression.n)), share / len(groups))


def sizes(contexts: Contexts, regression: Prompts) -> Floats:
    x, y = Omega(regression).scale
    D = np.asarray([x**-2] * regression.d + [y**-2])
    squares = contexts.gram.reshape(len(contexts), -1)
    return np.concatenate([squares[k : k + GROUP] ** 2 @ np.outer(D, D).ravel() for k in range(0, len(squares), GROUP)])


def thinned_mean(values: Floats, share: Floats) -> SampledMean:
    """The mean of values, (contexts,), weighted by `share`, with the errors of the pool and of the thinning.

    With N contexts in the pool, of which M were thinned to k, and the variances V of all and S of the thinned,

        se^2 = V/N + (M/N)^2 (1 - k/M) S/k,

    and the doubt is that of both variances, each by its part in the sum.
    """
    least = share.min()
    thinned_out = share > least
    size = 1 / float(least)
    mean = float(share @ values)
    if not math.isfinite(mean):
        return SampledMean(value=mean, standard_error=math.inf, doubt=math.inf)
    centred, unit = in_units(values - mean)
    square = centred**2
    second = float(share @ square)
    if second == 0:
        return SampledMean(value=mean, standard_error=0.0, doubt=0.0)
    rest = centred[thinned_out] if thinned_out.any() else centred
    remaining = (size - (len(share) - np.count_nonzero(thinned_out))) / size
    thinning = remaining**2 * (1 - len(rest) / (remaining * size)) if remaining > 0 else 0.0
    of_rest = (rest - rest.mean()) ** 2
    rest_second, rest_spread = float(of_rest.mean()), float(of_rest.var())
    parts = (second / size, thinning * rest_second / (len(rest) - 1))
    # the variance of the pool is a mean too: estimated over the pool, and from the thinned contexts
    of_pool = (float(share @ square**2) / second**2 - 1) / size + thinning * rest_spread / len(rest) / second**2
    doubts = (math.sqrt(max(of_pool, 0.0)), math.sqrt(rest_spread / len(rest)) / (rest_second or 1.0))
    variance = sum(parts)
    doubt = sum(part * part_doubt for part, part_doubt in zip(parts, doubts, strict=True)) / variance
    return SampledMean(value=mean, standard_error=unit * math.sqrt(variance), doubt=doubt)


def _group(regression: Prompts, seed: int, stream: str) -> tuple[Floats, Floats, Floats, Floats]:
    """(moments, tasks, noise levels, shares) of `GROUP` contexts selected from `POOL` times as many."""
    drawn = draw_contexts(regression, POOL * GROUP, seed, stream)
    order = np.argsort(-sizes(drawn, regression), kind="stable")
    worst = 3 * GROUP // 8
    # the rest in the order of drawing, so that the first of them are a plain sample
    chosen = np.concatenate([order[:worst], np.sort(order[worst:])[: GROUP - worst]])
    weight = (POOL * GROUP - worst) / (GROUP - worst)
    share = np.concatenate([np.ones(worst), np.full(GROUP - worst, weight)]) / (POOL * GROUP)
    return drawn.gram[chosen], drawn.task[chosen], drawn.sigma[chosen], share
