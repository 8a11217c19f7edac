r"""The adjusted loss: what an estimator of w* loses against ridge regression that is told the noise level.

The prediction for a query x_t is <w, x_t>, where w is made from the context, and its target is <w*, x_t>, without
noise. Write w_ridge = (Sigma + sigma^2 I)^{-1} alpha. As x_t ~ N(0, I) is independent of all else, the two losses are
1/2 E ||w - w*||^2 and 1/2 E ||w_ridge - w*||^2. As w* ~ N(0, I) and the label noise is Gaussian, w* given the context
and sigma is N(w_ridge, sigma^2 (Sigma + sigma^2 I)^{-1}); so E <w - w_ridge, w_ridge - w*> = 0 and the difference is

    1/2 E ||w - w_ridge||^2:

neither the query nor w* need be sampled, no sampled value is negative, and the standard error falls with the loss
itself.

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, section 6 (the adjusted evaluation loss; their sample has
one query a sequence, and 100,000 sequences).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from lipverify.errors import InvalidInput
from lipverify.linear_transformer.regression.contexts import Contexts
from lipverify.linear_transformer.regression.eigenbasis import Eigenbasis, SpectralEstimator, eigenbasis
from lipverify.loss.streams import generator

Array = Any
"""An array of any library with the array API."""

SEQUENCES = 100_000
"""Evaluation sequences behind a printed number."""
TRUSTED = 0.25
"""The largest relative standard error of a sampled variance at which a standard error made of it is believed."""


class Estimator(Protocol):
    """Anything that makes weights from contexts: a trained model, ridge regression with some constant."""

    def __call__(self, contexts: Contexts) -> Array:
        """The weights w, (contexts, d)."""
        ...


class SampledMean(msgspec.Struct, frozen=True, kw_only=True):
    """A mean over sampled contexts.

    Attributes
    ----------
    value, standard_error
        The mean and its standard error (not a half-width), in the units of what was sampled.
    doubt
        The relative standard error of the sampled variance, from the fourth moment: at `TRUSTED` and above, a few
        contexts carry most of the variance, rarer and worse ones are likely not to have been drawn, and neither the
        value nor its error is to be believed.
    """

    value: float
    standard_error: float
    doubt: float

    @property
    def trusted(self) -> bool:
        """Whether the standard error is to be believed; never if it is not a number."""
        return self.doubt < TRUSTED


def sampled_mean(values: Array) -> SampledMean:
    """Mean of independent values, (contexts,), with its standard error and the doubt in that.

    Raises
    ------
    InvalidInput
        If there are fewer than two values.

    >>> import numpy as np
    >>> mean = sampled_mean(np.asarray([1.0, 2.0, 3.0]))
    >>> mean.value, round(mean.standard_error, 3), mean.trusted
    (2.0, 0.577, False)
    """
    xp = values.__array_namespace__()
    count = int(values.shape[0])
    if count < 2:
        raise InvalidInput(f"contexts = {count}: a standard error needs at least 2.")
    mean = xp.mean(values)
    square = (values - mean) ** 2
    second, fourth = float(xp.sum(square)), float(xp.sum(square * square))
    # the sampled variance is itself a mean, of the squares
    spread = fourth / second**2 - 1 / count if second != 0 else 0.0
    doubt = math.inf if count < 4 else 0.0 if spread < 0 else math.sqrt(spread)
    return SampledMean(value=float(mean), standard_error=math.sqrt(second / (count - 1) / count), doubt=doubt)


@dataclass(frozen=True)
class Evaluation:
    """Contexts on which estimators are compared, with what ridge that is told sigma makes of them.

    Attributes
    ----------
    contexts
        Fresh ones: neither weights nor constants may have been fitted to them.
    basis
        Their eigenbasis.
    oracle
        w_ridge at the true variance, (contexts, d).
    """

    contexts: Contexts
    basis: Eigenbasis
    oracle: Array

    def weights(self, estimator: Estimator) -> Array:
        """w, (contexts, d), from the eigenbasis that is there already where the estimator can use it."""
        if isinstance(estimator, SpectralEstimator):
            return self.basis.back(estimator.coordinates(self.basis))
        return estimator(self.contexts)

    def losses(self, estimator: Estimator) -> Array:
        """1/2 ||w - w_ridge||^2 for each context, (contexts,)."""
        xp = self.oracle.__array_namespace__()
        return xp.sum((self.weights(estimator) - self.oracle) ** 2, axis=-1) / 2

    def loss(self, estimator: Estimator) -> SampledMean:
        """The adjusted loss."""
        return sampled_mean(self.losses(estimator))

    def difference(self, one: Estimator, other: Estimator) -> SampledMean:
        """The adjusted loss of `one` less that of `other`, paired: both on the same contexts."""
        return sampled_mean(self.losses(one) - self.losses(other))


def evaluation(contexts: Contexts) -> Evaluation:
    """Contexts made ready for comparisons.

    >>> from lipverify.linear_transformer.regression.contexts import Regression, draw_contexts
    >>> from lipverify.linear_transformer.regression.noise import UniformNoise
    >>> held_out = evaluation(draw_contexts(Regression(3, 20, UniformNoise(1.0)), 2048, seed=0, cell="a"))
    >>> held_out.loss(lambda contexts: held_out.oracle).value
    0.0
    """
    basis = eigenbasis(contexts)
    return Evaluation(contexts, basis, basis.ridge(contexts.sigma**2))


def protocol_losses(held_out: Evaluation, estimator: Estimator, seed: int, cell: str) -> Array:
    """The paper's own sample: 1/2 (<w - w*, x_t>^2 - <w_ridge - w*, x_t>^2) at one sampled query each, (contexts,)."""
    contexts = held_out.contexts
    xp = held_out.oracle.__array_namespace__()
    query = xp.asarray(generator(seed, f"{cell}/query", 0).standard_normal(tuple(held_out.oracle.shape)))
    model, ridge = (
        xp.sum((w - contexts.task) * query, axis=-1) for w in (held_out.weights(estimator), held_out.oracle)
    )
    return (model**2 - ridge**2) / 2


def printed_error(
    held_out: Evaluation, estimator: Estimator, printed: float | None = None, paired: bool = True
) -> SampledMean:
    r"""The standard error of one of the paper's numbers: `SEQUENCES` sequences with one query each.

    With c = w - w_ridge and V = Var(w* | context, sigma), averages over query and w* given the context leave

        E [1/4 (<w - w*, x>^2 - <w_ridge - w*, x>^2)^2] = E [3/4 ||c||^4 + 2 c^T V c + ||c||^2 tr V],

    whose excess over the squared loss is the variance of a sequence when model and ridge see the same queries. For a
    loss much smaller than ridge's own the two mixed terms rule, and the error falls with the square root of the loss
    only.

    Parameters
    ----------
    held_out, estimator
        The estimator whose number it is, or one like it.
    printed
        The number, where it is another than this estimator's loss: c is then scaled so that the loss is that.
    paired
        False if ridge's loss was measured on sequences of its own: the error is then larger, about that of two losses.

    Returns
    -------
    SampledMean
        The standard error, with its own standard error and doubt.
    """
    xp = held_out.oracle.__array_namespace__()
    c = held_out.basis.into(held_out.weights(estimator) - held_out.oracle)
    if printed is not None:
        c = c * math.sqrt(2 * printed / float(xp.mean(xp.sum(c**2, axis=-1))))
    V = held_out.basis.posterior_variances(held_out.contexts.sigma)
    square, mixed, trace = (xp.sum(part, axis=-1) for part in (c**2, c**2 * V, V))
    second = 3 / 4 * square**2 + 2 * mixed + square * trace
    expected = square / 2
    variance = second - float(xp.mean(expected)) ** 2
    if not paired:
        ridge = 3 / 4 * (trace**2 + 2 * xp.sum(V**2, axis=-1))
        alone = second + mixed + square * trace / 2 + ridge
        means = [float(xp.mean(part)) for part in (expected + trace / 2, trace / 2)]
        variance = alone + ridge - means[0] ** 2 - means[1] ** 2
    mean = sampled_mean(variance)
    error = math.sqrt(mean.value / SEQUENCES)
    own = mean.standard_error / (2 * SEQUENCES * error) if error > 0 else 0.0
    return SampledMean(value=error, standard_error=own, doubt=mean.doubt)
