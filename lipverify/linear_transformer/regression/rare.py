"""Contexts too rare for a plain sample, with their shares of the law, by multilevel splitting.

Contexts are ordered by their size, the squared Frobenius norm of the rescaled moments: a polynomial explodes on large
ones. The largest tenth of a population sets a level, is copied tenfold and moved by steps that leave the law above that
level as it is; so decade k has the law of the contexts whose size is exceeded with probability 10^-k, its part below
the next level is a stratum, and the mean is sum_k P(stratum k) E [. | stratum k]. A context is a function of standard
normals z; a step moves them to sqrt(1 - b^2) z + b z' with fresh z', and is rejected below the level.

`lipverify.prompts.risk` draws rare prompts for a mean, with weights. Here the contexts are needed themselves: training
learns them, and claims speak of the share of them on which a model fails.

Source: Kahn and Harris 1951 (splitting); Au and Beck, Probabilistic Engineering Mechanics 16 (2001) 263-277 (levels
that the population sets); Neal, arXiv:physics/9807036 (1998) section 3 (the step). Whole: own composition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from lipverify.foundation.arrays import Floats
from lipverify.foundation.streams import generator
from lipverify.foundation.validation import whole
from lipverify.linear_transformer.regression.contexts import Contexts
from lipverify.linear_transformer.regression.thinned import GROUP, Thinned, sizes, thinned
from lipverify.problem.prompts import Prompts

POPULATION = 4096
"""Contexts of a decade. A tenth of them are copied to make the next decade."""
FIRST = 3
"""Contexts of the decades before this one come from a plain sample, which contains enough of them."""
LAST = 15
"""The deepest decade available."""
FALL = 2.0
"""Ratio of the shares in training of successive decades; their probabilities have the ratio 10."""

Size = Callable[[Contexts], Floats]


class Decade(NamedTuple):
    """Contexts whose size exceeds `level`, as one in 10^number does (level 0 for number 0), and their sizes."""

    number: int
    level: float
    contexts: Contexts
    size: Floats


def decades(
    regression: Prompts,
    count: int,
    seed: int,
    stream: str,
    size: Size | None = None,
    population: int = POPULATION,
) -> Iterator[Decade]:
    """Generate decade 0, 1, ..., `count` - 1 of an address.

    Parameters
    ----------
    regression, seed, stream
        As for `draw_contexts`.
    count
        How many decades; at most `LAST` + 1.
    size
        The function that orders contexts; by default the size of the moments.
    population
        Contexts of each decade. The probability of decade k has a relative error of about 3 sqrt(k / population), and
        its contexts have population / 10 ancestors.

    Returns
    -------
    Iterator[Decade]
        `number`, `level`, `contexts` and `size` of each decade.

    Raises
    ------
    InvalidInput
        If `count` is not an integer from 1 to `LAST` + 1, or `population` none of at least 100.

    Examples
    --------
    >>> from lipverify.problem.noise import UniformNoise
    >>> found = list(decades(Prompts(d=2, n=4, sigma=UniformNoise(1.0)), 3, seed=0, stream="a"))
    >>> [each.number for each in found], found[0].level < found[1].level < found[2].level
    ([0, 1, 2], True)
    """
    whole("count", count, least=1, what="the number of decades", most=LAST + 1)
    tenth = whole("population", population, least=100) // 10
    measured = size or (lambda contexts: sizes(contexts, regression))
    random = generator(seed, f"{stream}/rare", 0)
    normals = random.standard_normal((population, (int(regression.n) + 1) * (regression.d + 1)))
    contexts, level = _contexts(regression, normals), 0.0
    of_each = measured(contexts)
    for number in range(count):
        if number:
            best = np.argsort(-of_each, kind="stable")[: tenth + 1]
            level = float(of_each[best[-1]])
            normals = np.resize(normals[best[:-1]], normals.shape)
            normals = _moved(regression, measured, normals, level, generator(seed, f"{stream}/rare", number))
            contexts = _contexts(regression, normals)
            of_each = measured(contexts)
        yield Decade(number, level, contexts, of_each)


def with_rare(regression: Prompts, count: int, rare: int, seed: int, stream: str) -> Thinned:
    """`thinned` contexts, with the largest replaced by equal numbers of each decade up to `rare`, and their shares.

    The decades from `FIRST` on have the total share 10^-FIRST, their probability. Among them each has the share `1 /
    FALL` of the one before, instead of a tenth: at their true probabilities training would never remove a loss of 10^6
    on one context in 10^9.
    """
    tail = list(decades(regression, rare + 1, seed, stream, population=POPULATION))
    plain = thinned(regression, count, seed, stream)
    below = sizes(plain.contexts, regression) < tail[FIRST].level
    parts = [(plain.contexts, below, plain.share / plain.share[below].sum() * (1 - 10.0**-FIRST))]
    for decade, above in zip(tail[FIRST:], [*tail[FIRST + 1 :], None], strict=True):
        kept = np.ones(POPULATION, dtype=bool) if above is None else decade.size < above.level
        kept &= np.cumsum(kept) <= max(count // 16, GROUP // 16)
        rarer = 10.0**-FIRST * FALL ** (FIRST - decade.number)
        counted = rarer * (1 if above is None else 1 - 1 / FALL)
        parts.append((decade.contexts, kept, np.full(POPULATION, counted / kept.sum())))
    columns = ((drawn.gram[kept], drawn.task[kept], drawn.sigma[kept], share[kept]) for drawn, kept, share in parts)
    gram, task, sigma, share = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Thinned(Contexts(gram, task, sigma, int(regression.n)), share)


def _contexts(regression: Prompts, normals: Floats) -> Contexts:
    """Contexts as functions of standard normals: those of the tokens, those of the task, and one for sigma."""
    d, n = regression.d, int(regression.n)
    tokens = normals[:, : n * (d + 1)].reshape(-1, n, d + 1).copy()
    task = normals[:, n * (d + 1) : -1]
    sigma = regression.noise.draw(np.minimum(ndtr(normals[:, -1]), 1 - 2.0**-53))  # at 1 a quantile may be infinite
    tokens[..., d] = (tokens[..., :d] @ task[:, :, None])[..., 0] + sigma[:, None] * tokens[..., d]
    return Contexts(tokens.swapaxes(1, 2) @ tokens, task, sigma, n)


def _moved(regression: Prompts, size: Size, normals: Floats, level: float, random: np.random.Generator) -> Floats:
    """Move the normals above the level, in place; an acceptance of two in five decorrelates best."""
    length, parts = 0.5, np.array_split(normals, -(-len(normals) // 256))  # whose normals fit into the cache of a core
    for _ in range(20):
        accepted = 0
        for part in parts:
            there = random.standard_normal(part.shape)
            there *= length
            there += np.sqrt(1 - length**2) * part
            made = size(_contexts(regression, there)) > level
            part[made] = there[made]
            accepted += int(np.count_nonzero(made))
        length = min(0.95, length * (1.2 if accepted > 0.4 * len(normals) else 0.8))
    return normals
