"""Contexts of noisy linear regression, represented by second moments, which are all that a linear transformer uses.

With z_i = (x_i, eps_i) the moments of the tokens e_i = (x_i, y_i), y_i = <w*, x_i> + sigma eps_i, are

    G = sum_i e_i e_i^T = C W C^T,    W = sum_i z_i z_i^T,    C = [[I, 0], [w*^T, sigma]],

and W has Wishart's law with n degrees of freedom, drawn as T T^T with Bartlett's triangle T: no token is drawn, so that
they cost the same for every n. Their users are the training and the evaluation of linear transformers.

Source: Vladymyrov et al., section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.quoting import shown
from lipverify.foundation.streams import generator
from lipverify.foundation.validation import a_seed, whole
from lipverify.problem.prompts import Prompts, require_prompts
from lipverify.problem.vectors import Coordinates

CHUNK = 1024
"""Contexts that share an address of the random stream."""


def require_regression(regression: Any) -> None:
    """Refuse other laws of prompts than N(0, I) for covariates and tasks."""
    require_prompts(regression)
    if not regression.covariates == regression.tasks == Coordinates() or regression.query is not None:
        raise InvalidInput(
            f"{shown(regression)}: second moments have x, w ~ N(0, I); use lipverify.prompts.risk for other laws."
        )


@dataclass(frozen=True, eq=False)
class Contexts:
    """Sampled contexts; compared by identity.

    Attributes
    ----------
    gram
        (contexts, d + 1, d + 1): sum over tokens of e e^T with e = (x, y).
    task, sigma, n
        w*, (contexts, d); the noise level of each, (contexts,); tokens in a context.
    """

    gram: Floats
    task: Floats
    sigma: Floats
    n: int

    def __len__(self) -> int:
        return len(self.sigma)

    @property
    def covariance(self) -> Floats:
        """Sigma = sum x x^T, (contexts, d, d)."""
        return self.gram[:, :-1, :-1]

    @property
    def alpha(self) -> Floats:
        """alpha = sum y x, (contexts, d)."""
        return self.gram[:, :-1, -1]

    @property
    def energy(self) -> Floats:
        """lambda = sum y^2, (contexts,)."""
        return self.gram[:, -1, -1]


def draw_contexts(regression: Prompts, count: int, seed: int, stream: str) -> Contexts:
    """`count` independent contexts; context number j is a function of (regression, seed, stream, j).

    Parameters
    ----------
    regression
        Prompts with covariates and tasks N(0, I): x ~ N(0, Lambda) with w ~ N(0, Lambda^-1) are the same problem.
    count
        How many, >= 1.
    seed, stream
        Address of the random numbers.

    Returns
    -------
    Contexts
        Moments (count, d + 1, d + 1), tasks (count, d) and noise levels (count,).

    Raises
    ------
    InvalidInput
        If `regression` are no such `Prompts`, `count` is not an integer >= 1, or `seed` is not a seed.

    Examples
    --------
    >>> few = draw_contexts(Prompts(d=3, n=20, sigma=1.0), 5, seed=0, stream="a")
    >>> few.gram.shape, few.task.shape, few.sigma.shape
    ((5, 4, 4), (5, 3), (5,))
    """
    require_regression(regression)
    count, seed = whole("contexts", count, least=1), a_seed(seed)
    chunks = [_chunk(regression, seed, stream, chunk) for chunk in range(-(-count // CHUNK))]
    gram, task, sigma = (np.concatenate(parts)[:count] for parts in zip(*chunks, strict=True))
    return Contexts(gram, task, sigma, int(regression.n))


def _chunk(regression: Prompts, seed: int, stream: str, chunk: int) -> tuple[Floats, Floats, Floats]:
    """(G = C W C^T, w*, sigma) of one chunk."""
    d, n = regression.d, int(regression.n)
    random = generator(seed, stream, chunk)
    sigma = regression.noise.draw(random.random(CHUNK))
    task = random.standard_normal((CHUNK, d))
    mixing = np.zeros((CHUNK, d + 1, d + 1))
    mixing[:, :d, :d], mixing[:, d, :d], mixing[:, d, d] = np.eye(d), task, sigma
    tokens = mixing @ wishart_root(random, d + 1, n)
    return np.asarray(tokens @ tokens.swapaxes(1, 2)), task, sigma


def wishart_root(random: np.random.Generator, size: int, n: int) -> Floats:
    """T such that T T^T has Wishart's law: Bartlett's triangle, or the tokens themselves if there are too few."""
    if n < size:
        return random.standard_normal((CHUNK, size, n))
    root = np.zeros((CHUNK, size, size))
    below = np.tril_indices(size, -1)
    root[:, below[0], below[1]] = random.standard_normal((CHUNK, len(below[0])))
    along = np.arange(size)
    root[:, along, along] = np.sqrt(random.chisquare(float(n) - along, (CHUNK, size)))
    return root
