"""The record of a trained model, which is also an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.means.samples import SampledMean
from lipverify.linear_transformer.collapsed import last_row, readout
from lipverify.linear_transformer.families import Full, Omega, family_named
from lipverify.linear_transformer.layer import Parametrisation, written_out
from lipverify.linear_transformer.regression.contexts import Contexts
from lipverify.linear_transformer.training.native import DEEPEST, packed
from lipverify.problem.noise import CategoricalNoise, UniformNoise
from lipverify.problem.prompts import Prompts

FEW = 512
"""Contexts per block of an estimate: its arrays then fit into the cache of a core."""


@dataclass(frozen=True, eq=False)
class OfFamily:
    """The estimator that a family's weights, (layers, *shape), define."""

    family: Omega | Full
    weights: Floats

    def __call__(self, contexts: Contexts) -> Any:
        return by_compiled(self.family.numbers(self.weights), contexts, self.by_array)

    def by_array(self, gram: Array) -> Array:
        """The same by the array library of the moments, (contexts, d + 1, d + 1)."""
        layers, xp = self.family.attentions(self.weights, gram), gram.__array_namespace__()
        with np.errstate(over="ignore", invalid="ignore"):
            rows = xp.concat([last_row(gram[k : k + FEW, ...], layers) for k in range(0, gram.shape[0], FEW)])
        return -rows[:, 0, :-1]


def by_compiled(numbers: Floats, contexts: Contexts, by_array: Callable[[Array], Array]) -> Any:
    """The weights w of the prediction, (contexts, d); few contexts and overflowing ones are left to `by_array`."""
    many = isinstance(contexts.gram, np.ndarray) and len(contexts) >= FEW and len(numbers) <= DEEPEST
    ready = packed(contexts) if many else None
    if ready is None:
        return by_array(contexts.gram)
    w, lost = ready.readouts(numbers)
    if lost.any():
        w[lost] = by_array(contexts.gram[lost])
    return w


class Trained(msgspec.Struct, frozen=True, kw_only=True):
    """A trained model, which is also an estimator: called with contexts it gives w, (contexts, d).

    `weights` are in the units and the order of the family's arrays, `loss` is the adjusted loss on fresh contexts. Of
    the training are the capped loss on its last sample, the norm of the gradient of its logarithm, the start that won,
    and the millions of gradients, counted by context and layer, that it computed in this arithmetic.
    """

    family: str
    noise: UniformNoise | CategoricalNoise
    d: int
    n: int
    layers: int
    weights: tuple[float, ...]
    loss: SampledMean
    training: float
    slope: float
    origin: str
    gradients: float
    arithmetic: str

    @property
    def regression(self) -> Prompts:
        return Prompts(d=self.d, n=self.n, sigma=self.noise)

    @property
    def kind(self) -> Omega | Full:
        return family_named(self.family, self.regression)

    @property
    def array(self) -> Floats:
        return np.asarray(self.weights).reshape(self.layers, *self.kind.shape)

    @property
    def model(self) -> tuple[Parametrisation, ...]:
        return self.kind.model(self.array)

    def __call__(self, contexts: Contexts) -> Any:
        return OfFamily(self.kind, self.array)(contexts)


def estimate(model: tuple[Parametrisation, ...], contexts: Contexts) -> Any:
    """The weights w of the implicit linear model that layers compute from contexts.

    Parameters
    ----------
    model
        The layers, in any form.
    contexts
        From `draw_contexts`.

    Returns
    -------
    Array
        (contexts, d); w is not finite where a context overflows.

    Raises
    ------
    InvalidInput
        If one of the layers is no layer, or was made for another d.

    Examples
    --------
    >>> from lipverify.linear_transformer.layer import GDPlusPlus
    >>> from lipverify.linear_transformer.regression.contexts import draw_contexts
    >>> drawn = draw_contexts(Prompts(d=3, n=20, sigma=UniformNoise(1.0)), 5, seed=0, stream="a")
    >>> estimate((GDPlusPlus(xx=0.0, yx=-0.05),), drawn).shape
    (5, 3)
    """
    return read_out(model, contexts.gram)


def read_out(model: tuple[Parametrisation, ...], gram: Array) -> Any:
    """The same from their moments, (contexts, d + 1, d + 1), in blocks of `FEW` contexts."""
    xp = gram.__array_namespace__()
    layers = written_out(model, gram)
    with np.errstate(over="ignore", invalid="ignore"):
        return xp.concat([readout(gram[first : first + FEW, ...], layers).w for first in range(0, len(gram), FEW)])
