"""Contexts of noisy linear regression, represented by second moments, which are all that a linear transformer uses.

With z_i = (x_i, eps_i) the moments of the tokens e_i = (x_i, y_i), y_i = <w*, x_i> + sigma eps_i, are

    G = sum_i e_i e_i^T = C W C^T,    W = sum_i z_i z_i^T,    C = [[I, 0], [w*^T, sigma]],

and W has Wishart's law with n degrees of freedom, drawn as T T^T with Bartlett's triangle T: no token is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.streams import generator
from lipverify.foundation.validation import a_seed, instance, whole
from lipverify.problem.noise import NoiseLaw

CHUNK = 1024
"""Contexts that share an address of the random stream."""


@dataclass(frozen=True)
class Regression:
    """Noisy linear regression in context: n tokens with covariates in R^d, and the law of the noise level.

    Tokens and query have x ~ N(0, I), the task is w* ~ N(0, I), labels are y_i = <w*, x_i> + sigma eps_i with eps_i ~
    N(0, 1), all independent; sigma is drawn once a context. The query has no noise. Losses carry the paper's factor
    1/2, so that the prediction 0 has the loss 1/2 E <w*, x>^2 = d/2; mean squared errors, and the risks of `Prompts`,
    have d. Other covariances, at one noise level, are in `Prompts`; by A -> Lambda^{1/2} A Lambda^{1/2} covariates N(0,
    Lambda) with tasks N(0, Lambda^{-1}) are those here.

    Parameters
    ----------
    d, n
        Dimension of the covariates and tokens in the context, integers >= 1.
    noise
        The law of sigma.

    Raises
    ------
    InvalidInput
        If a value breaks its rule.

    Source: Vladymyrov et al., section 3.

    Examples
    --------
    >>> from lipverify.problem.noise import UniformNoise
    >>> drawn = draw_contexts(Regression(10, 20, UniformNoise(1.0)), 20_000, seed=0, stream="norms")
    >>> round(float(np.mean(np.sum(drawn.task**2, axis=1)) / 2), 1)  # 1/2 E (0 - <w*, x>)^2 = d/2
    5.0
    """

    d: int
    n: int
    noise: NoiseLaw

    def __post_init__(self) -> None:
        whole("d", self.d, least=1)
        whole("n", self.n, least=1)
        if not isinstance(self.noise, NoiseLaw):
            raise InvalidInput(f"noise = {self.noise!r}: give a noise law, such as UniformNoise(3.0).")


def require_regression(regression: Any) -> None:
    """Refuse an object that is not a `Regression`."""
    instance("regression", regression, Regression, "build one with Regression(d=..., n=..., noise=UniformNoise(1.0))")


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


def draw_contexts(regression: Regression, count: int, seed: int, stream: str) -> Contexts:
    """`count` independent contexts; context number j is a function of (regression, seed, stream, j).

    Parameters
    ----------
    regression
        d, n and the law of the noise.
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
        If `regression` is not a `Regression`, `count` is not an integer >= 1, or `seed` is not a seed.

    Examples
    --------
    >>> from lipverify.problem.noise import UniformNoise
    >>> few = draw_contexts(Regression(3, 20, UniformNoise(1.0)), 5, seed=0, stream="a")
    >>> few.gram.shape, few.task.shape, few.sigma.shape
    ((5, 4, 4), (5, 3), (5,))
    """
    require_regression(regression)
    count, seed = whole("contexts", count, least=1), a_seed(seed)
    chunks = [_chunk(regression, seed, stream, chunk) for chunk in range(-(-count // CHUNK))]
    gram, task, sigma = (np.concatenate(parts)[:count] for parts in zip(*chunks, strict=True))
    return Contexts(gram, task, sigma, regression.n)


def _chunk(regression: Regression, seed: int, stream: str, chunk: int) -> tuple[Floats, Floats, Floats]:
    """(G = C W C^T, w*, sigma) of one chunk."""
    d, n = regression.d, regression.n
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
    root[:, along, along] = np.sqrt(random.chisquare(n - along, (CHUNK, size)))
    return root
