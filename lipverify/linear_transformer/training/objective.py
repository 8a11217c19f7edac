"""The logarithm of the capped adjusted loss over a fixed sample of contexts, with its gradient.

Losses are capped, because the prediction has degree 3^L in the data and a rare context can dominate the average; their
logarithm gives every descent the same scale, because they span twelve decades.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from lipverify.foundation.arrays import Array, Floats, to_device, to_host
from lipverify.foundation.compiling import has_compiler
from lipverify.linear_transformer.families import Full, Omega
from lipverify.linear_transformer.regression.adjusted import evaluation
from lipverify.linear_transformer.regression.contexts import Contexts
from lipverify.linear_transformer.regression.rare import with_rare
from lipverify.linear_transformer.regression.thinned import GROUP, thinned
from lipverify.linear_transformer.training.native import DEEPEST, Packed, contributions
from lipverify.problem.prompts import Prompts

Arithmetic = Literal["native", "array"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Contexts to train on: moments (contexts, d + 1, d + 1), w_ridge (contexts, d) and shares, with sum 1, of each."""

    gram: Array
    goal: Array
    share: Floats

    @cached_property
    def packed(self) -> Packed:
        """The sample in the layout of the compiled code."""
        return Packed(to_host(self.gram), to_host(self.goal), self.share)

    def __len__(self) -> int:
        return int(self.gram.shape[0])


@lru_cache(maxsize=4)
def draw_sample(regression: Prompts, count: int, seed: int, stream: str, rare: int = 0) -> Sample:
    """`thinned` contexts of an address, a multiple of `thinned.GROUP`; with some of each decade up to `rare` > 0."""
    few, share = with_rare(regression, count, rare, seed, stream) if rare else thinned(regression, count, seed, stream)
    goals = []
    for first in range(0, len(few), GROUP):  # a group at a time bounds the memory
        rows = slice(first, first + GROUP)
        goals.append(evaluation(Contexts(few.gram[rows], few.task[rows], few.sigma[rows], few.n)).oracle)
    return Sample(few.gram, np.concatenate(goals), share)


def arithmetic_here() -> Arithmetic:
    return "native" if has_compiler() else "array"


@dataclass(frozen=True)
class Objective:
    """log of the average of the capped losses of a family on a sample.

    `cap` is c, in units of the loss; infinite for none. The compiled code ("native") and the library of the sample
    ("array") agree to rounding.
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

    def capped(self, weights: Floats) -> tuple[Floats, Floats]:
        """Capped losses, (contexts,), and the gradient of their average in the weights."""
        if self.arithmetic == "native" and len(weights) <= DEEPEST:
            numbers = self.family.numbers(weights)
            losses, gradient = self.sample.packed.losses(numbers, self.cap, self.family.bounded)
            return losses, self.family.pull_numbers(weights, gradient)
        parts = [self._array(weights, first) for first in range(0, len(self.sample), GROUP)]
        return np.concatenate([losses for losses, _ in parts]), np.sum([gradient for _, gradient in parts], axis=0)

    def _array(self, weights: Floats, first: int) -> tuple[Floats, Floats]:
        """One chunk by `native.contributions`."""
        rows = slice(first, min(first + GROUP, len(self.sample)))
        gram, goal = self.sample.gram[rows, ...], self.sample.goal[rows, ...]
        share = to_device(self.sample.share[rows], gram.__array_namespace__(), gram.device)
        layers = self.family.attentions(weights, gram)
        capped, gradients = contributions(gram, goal, share, layers, self.cap, self.family.bounded)
        return to_host(capped), self.family.pull(weights, [to_host(gradient) for gradient in gradients])
