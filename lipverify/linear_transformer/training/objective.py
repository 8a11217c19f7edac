r"""The logarithm of the capped adjusted loss over a fixed sample of contexts, with its gradient.

The prediction is a polynomial of degree 3^L in the data: a fixed sample fits its own rare contexts, and a start
that is large on one of them sees no other. So the loss x of a context counts as x c / (c + x): as it is while it is
small against the cap c, and never more than c. Losses of table entries span twelve decades; their logarithm gives
every descent the same scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput
from lipverify.linear_transformer.collapsed import forward, pullback
from lipverify.linear_transformer.families import Full, Omega
from lipverify.linear_transformer.regression.adjusted import evaluation
from lipverify.linear_transformer.regression.contexts import Contexts, Regression, draw_contexts
from lipverify.linear_transformer.training.native import DEEPEST, Packed
from lipverify.loss.montecarlo.device import to_device, to_host
from lipverify.loss.montecarlo.kernels.compiler import has_compiler

Floats = NDArray[np.float64]
Array = Any
"""An array of any library with the array API."""
Arithmetic = Literal["native", "array"]

GROUP = 1024
"""Contexts of a sample that are chosen together."""
POOL = 16
"""How many are drawn for one that is chosen."""
TAIL = 3 / 8
"""Share of a sample that are the worst of its pool: the worst two in a hundred."""
LARGEST = 1e300
"""A loss that a double still holds with all that leads to it."""
CHUNK = 1024
"""Contexts that the array library works on together, so that they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Contexts to train on.

    Attributes
    ----------
    gram
        Moments, (contexts, d + 1, d + 1).
    goal
        w_ridge at the true variance, (contexts, d).
    share
        What each counts in averages, (contexts,); the sum is 1.
    """

    gram: Array
    goal: Array
    share: Floats

    @cached_property
    def packed(self) -> Packed:
        """The same for the compiled kernel."""
        return Packed(to_host(self.gram), to_host(self.goal), self.share)

    def __len__(self) -> int:
        return int(self.gram.shape[0])


@lru_cache(maxsize=4)
def draw_sample(regression: Regression, count: int, seed: int, cell: str) -> Sample:
    """`count` contexts of an address, among them all of the worst `TAIL` of `POOL` times as many.

    A model fails where the moments are large: the contexts with the largest losses are, for every family, those
    with the largest Frobenius norm of the rescaled moments. Group by group of the pool, those are all kept, and the
    others are thinned and count for more; averages stay without bias, and rare contexts weigh `POOL` times less
    than in a plain sample.

    Raises
    ------
    InvalidInput
        If `count` is not a positive multiple of `GROUP`.

    >>> from lipverify.linear_transformer.regression.noise import UniformNoise
    >>> sample = draw_sample(Regression(3, 20, UniformNoise(1.0)), 1024, seed=0, cell="a")
    >>> sample.gram.shape, round(float(sample.share.sum()), 12)
    ((1024, 4, 4), 1.0)
    """
    if count < GROUP or count % GROUP:
        raise InvalidInput(f"contexts = {count}: samples to train on are positive multiples of {GROUP}.")
    groups = [_group(regression, seed, f"{cell}/{group}") for group in range(count // GROUP)]
    gram, goal, share = (np.concatenate(parts) for parts in zip(*groups, strict=True))
    return Sample(gram, goal, share / len(groups))


def _group(regression: Regression, seed: int, cell: str) -> tuple[Floats, Floats, Floats]:
    """(moments, goals, shares) of `GROUP` contexts out of `POOL` times as many."""
    pool = draw_contexts(regression, POOL * GROUP, seed, cell)
    order = np.argsort(-_size(pool, regression), kind="stable")
    worst = round(TAIL * GROUP)
    # the others in the order in which they were drawn, so that the first of them are a plain sample
    chosen = np.concatenate([order[:worst], np.sort(order[worst:])[: GROUP - worst]])
    few = Contexts(pool.gram[chosen], pool.task[chosen], pool.sigma[chosen], pool.n)
    each = (POOL * GROUP - worst) / (GROUP - worst)
    share = np.concatenate([np.ones(worst), np.full(GROUP - worst, each)]) / (POOL * GROUP)
    return few.gram, evaluation(few).oracle, share


def _size(contexts: Contexts, regression: Regression) -> Floats:
    """Frobenius norm of the rescaled moments."""
    x, y = Omega(regression).scale
    D = np.asarray([1 / x] * regression.d + [1 / y])
    return np.asarray(np.linalg.norm(contexts.gram * D[:, None] * D, axis=(1, 2)))


def arithmetic_here() -> Arithmetic:
    """The compiled kernel where there is a C compiler, else the array library."""
    return "native" if has_compiler() else "array"


@dataclass(frozen=True)
class Objective:
    """log of the average of the capped losses of a family on a sample.

    Attributes
    ----------
    family, sample
        What is trained, and on what.
    cap
        c, in units of the loss; infinite for none.
    arithmetic
        "native", the compiled kernel, or "array", the library of the sample; they agree to rounding.
    """

    family: Omega | Full
    sample: Sample
    cap: float = math.inf
    arithmetic: Arithmetic = "array"

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """(value, gradient) at weights (layers, *family.shape)."""
        losses, gradient = self.capped(weights)
        mean = float(losses @ self.sample.share)
        if not 0 < mean < math.inf:
            return math.inf, np.zeros_like(weights)
        return math.log(mean), gradient / mean

    def average(self, weights: Floats) -> float:
        """The average of the capped losses."""
        return float(self.capped(weights)[0] @ self.sample.share)

    def capped(self, weights: Floats) -> tuple[Floats, Floats]:
        """Capped losses, (contexts,), and the gradient of their average in the weights."""
        if self.arithmetic == "native" and len(weights) <= DEEPEST:
            return self._native(weights)
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [self._array(weights, first) for first in range(0, len(self.sample), CHUNK)]
        return np.concatenate([losses for losses, _ in parts]), np.sum([gradient for _, gradient in parts], axis=0)

    def _native(self, weights: Floats) -> tuple[Floats, Floats]:
        cap = self.cap if math.isfinite(self.cap) else 0.0
        if isinstance(self.family, Full):
            losses, gradient = self.sample.packed.losses(self.family.matrices(weights), cap)
            return losses, self.family.pull_matrices(gradient)
        losses, gradient = self.sample.packed.losses(self.family.four(weights), cap)
        return losses, self.family.pull_four(weights, gradient)

    def _array(self, weights: Floats, first: int) -> tuple[Floats, Floats]:
        """One chunk by `collapsed.forward` and `collapsed.pullback`."""
        rows = slice(first, min(first + CHUNK, len(self.sample)))
        gram, goal = self.sample.gram[rows, ...], self.sample.goal[rows, ...]
        xp = gram.__array_namespace__()
        layers = self.family.attentions(weights, gram)
        done = forward(gram, layers)
        lost = ~(_losses(done.w - goal) < LARGEST)
        if xp.any(lost):  # such a context counts as the cap, and without its moments it does no harm
            done = forward(xp.where(lost[:, None, None], 0.0, gram), layers)
        missed = done.w - goal
        losses = _losses(missed)
        shares = to_device(self.sample.share[rows], xp, gram.device)
        share = xp.where(lost, 0.0, shares / (1 + losses / self.cap) ** 2)
        capped = xp.where(lost, self.cap, losses / (1 + losses / self.cap))
        covector = xp.where(lost[:, None], 0.0, missed * share[:, None])
        gradients = [to_host(gradient) for gradient in pullback(done, layers, covector)]
        return to_host(capped), self.family.pull(weights, gradients)


def _losses(missed: Array) -> Array:
    """1/2 of the squared norms."""
    return missed.__array_namespace__().sum(missed * missed, axis=-1) / 2
