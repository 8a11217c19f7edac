"""The adjusted loss: the excess loss of an estimator of w* over ridge regression at the true noise level.

With w_ridge = (Sigma + sigma^2 I)^{-1} alpha the two losses are 1/2 E ||w - w*||^2 and 1/2 E ||w_ridge - w*||^2, and w*
given the context and sigma is N(w_ridge, sigma^2 (Sigma + sigma^2 I)^{-1}); so E <w - w_ridge, w_ridge - w*> = 0 and
the difference is 1/2 E ||w - w_ridge||^2: neither the query nor w* need be sampled, no sampled value is negative, and
the standard error falls with the loss itself.

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, section 6 (the adjusted evaluation loss; their sample has
one query a sequence, and 100,000 sequences).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats, row_sums
from lipverify.foundation.means.samples import SampledMean, sampled_mean
from lipverify.foundation.streams import generator
from lipverify.foundation.validation import instance, numbers
from lipverify.linear_transformer.regression.contexts import Contexts
from lipverify.linear_transformer.regression.eigenbasis import Eigenbasis, SpectralEstimator, eigenbasis
from lipverify.linear_transformer.regression.thinned import thinned_mean

SEQUENCES = 100_000
"""Evaluation sequences of a printed number."""


Estimator = Callable[[Contexts], Array]
"""A map from contexts to weights w, (contexts, d): a trained model, or ridge regression with some constant."""


@dataclass(frozen=True)
class Evaluation:
    """Contexts on which estimators are compared, with the estimates of ridge regression at the true sigma.

    Attributes
    ----------
    contexts, basis
        Fresh ones, to which neither weights nor constants may have been fitted, and their eigenbasis.
    oracle
        w_ridge at the true variance, (contexts, d).
    share
        The weight of each context if they were thinned (see `thinned`); None for equal weights.
    """

    contexts: Contexts
    basis: Eigenbasis
    oracle: Array
    share: Floats | None = None

    def mean(self, values: Array) -> SampledMean:
        """The mean over contexts of values, (contexts,)."""
        return sampled_mean(values) if self.share is None else thinned_mean(values, self.share)

    def weights(self, estimator: Estimator) -> Array:
        """The weights w, (contexts, d), from the stored eigenbasis if the estimator supports it."""
        if isinstance(estimator, SpectralEstimator):
            return self.basis.back(estimator.coordinates(self.basis))
        return estimator(self.contexts)

    def losses(self, estimator: Estimator) -> Array:
        """1/2 ||w - w_ridge||^2 for each context, (contexts,)."""
        xp = self.oracle.__array_namespace__()
        return xp.sum((self.weights(estimator) - self.oracle) ** 2, axis=-1) / 2

    def loss(self, estimator: Estimator) -> SampledMean:
        """The mean of 1/2 ||w - w_ridge||^2 over the contexts, with its standard error."""
        return self.mean(self.losses(estimator))

    def difference(self, first: Estimator, second: Estimator) -> SampledMean:
        """The adjusted loss of `first` minus that of `second`, paired on the same contexts."""
        return self.mean(self.losses(first) - self.losses(second))

    @np.errstate(over="ignore", invalid="ignore")
    def printed_error(self, estimator: Estimator, printed: float | None = None, paired: bool = True) -> SampledMean:
        r"""The standard error of one of the paper's numbers: `SEQUENCES` sequences with one query each.

        With c = w - w_ridge and V = Var(w* | context, sigma), averages over query and w* given the context leave

            E [1/4 (<w - w*, x>^2 - <w_ridge - w*, x>^2)^2] = E [3/4 ||c||^4 + 2 c^T V c + ||c||^2 tr V],

        whose excess over the squared loss is the variance of a sequence when both see the same queries. For a loss much
        smaller than that of ridge regression the two mixed terms dominate, and the error falls only with the square
        root of the loss.

        Parameters
        ----------
        estimator
            The estimator of the printed number, or a similar one.
        printed
            The printed number, if it differs from this estimator's loss: c is then scaled to give that loss.
        paired
            False if ridge regression's loss was measured on other sequences: the error is then larger, about that of
            two losses.

        Returns
        -------
        SampledMean
            The standard error, with its own standard error and doubt; infinite if a square overflows.
        """
        xp = self.oracle.__array_namespace__()
        c = self.basis.into(self.weights(estimator) - self.oracle)
        beyond = SampledMean(value=math.inf, standard_error=math.inf, doubt=math.inf)
        if printed is not None:
            scale = self.mean(row_sums(c**2, xp)).value
            if not math.isfinite(scale):
                return beyond
            c = c * math.sqrt(2 * printed / scale)
        V = self.basis.posterior_variances(self.contexts.sigma)
        square, mixed, trace = (row_sums(part, xp) for part in (c**2, c**2 * V, V))
        second = 3 / 4 * square**2 + 2 * mixed + square * trace
        expected = square / 2
        mean_loss = self.mean(expected).value
        variance = second - mean_loss * mean_loss
        if not paired:
            ridge_regression = 3 / 4 * (trace**2 + 2 * row_sums(V**2, xp))
            alone = second + mixed + square * trace / 2 + ridge_regression
            means = [self.mean(part).value for part in (expected + trace / 2, trace / 2)]
            variance = alone + ridge_regression - means[0] * means[0] - means[1] * means[1]
        mean = self.mean(variance)
        if not math.isfinite(mean.value):
            return beyond
        error = math.sqrt(mean.value / SEQUENCES)
        own = mean.standard_error / (2 * SEQUENCES * error) if error > 0 else 0.0
        return SampledMean(value=error, standard_error=own, doubt=mean.doubt)

    def difference_error(self, first: Estimator, second: Estimator) -> float:
        r"""The standard error of the difference of two of the paper's numbers, both measured on the same sequences.

        That of a sequence is 1/2 (<u, x_t>^2 - <v, x_t>^2) with u = w - w* of the first and v of the second. Averaged
        over the query its square is 1/4 (2 tr A^2 + (tr A)^2) with A = u u^T - v v^T.
        """
        xp = self.oracle.__array_namespace__()
        u, v = (self.weights(estimator) - self.contexts.task for estimator in (first, second))
        uu, vv, uv = (row_sums(a * b, xp) for a, b in ((u, u), (v, v), (u, v)))
        square = (2 * (uu**2 + vv**2 - 2 * uv**2) + (uu - vv) ** 2) / 4
        return math.sqrt(self.mean(square).value / SEQUENCES)


def evaluation(contexts: Contexts, share: Floats | None = None) -> Evaluation:
    """Prepare contexts for comparisons, with their shares if they were thinned.

    Parameters
    ----------
    contexts
        Fresh ones, from `draw_contexts`.
    share
        The weight of each context, (contexts,), with sum 1; equal by default.

    Returns
    -------
    Evaluation
        The contexts with their eigenbasis and ridge regression at the true variance.

    Raises
    ------
    InvalidInput
        If `contexts` are not `Contexts`, or `share` is not a number >= 0 for each, with sum 1.

    Examples
    --------
    >>> from lipverify.linear_transformer.regression.contexts import draw_contexts
    >>> from lipverify.prompts import Prompts
    >>> from lipverify.problem.noise import UniformNoise
    >>> held_out = evaluation(draw_contexts(Prompts(d=3, n=20, sigma=UniformNoise(1.0)), 2048, seed=0, stream="a"))
    >>> held_out.loss(lambda contexts: held_out.oracle).value
    0.0
    """
    instance("contexts", contexts, Contexts, "draw them with draw_contexts")
    if share is not None:
        share = numbers("share", share, "what a context counts", least=0)
        if share.shape != (len(contexts),) or abs(float(share.sum()) - 1) > 1e-9:
            raise InvalidInput(f"share of shape {share.shape}: it has a number for each context, and the sum 1.")
    basis = eigenbasis(contexts)
    return Evaluation(contexts, basis, basis.ridge_regression(contexts.sigma**2), share)


def protocol_queries(held_out: Evaluation, seed: int, stream: str) -> Array:
    """One sampled query x_t for each context, (contexts, d)."""
    xp = held_out.oracle.__array_namespace__()
    return xp.asarray(generator(seed, f"{stream}/query", 0).standard_normal(tuple(held_out.oracle.shape)))


def protocol_losses(held_out: Evaluation, estimator: Estimator, query: Array) -> Array:
    """The paper's own sample: 1/2 (<w - w*, x_t>^2 - <w_ridge - w*, x_t>^2) at one query each, (contexts,)."""
    xp = held_out.oracle.__array_namespace__()
    model, ridge_regression = (
        row_sums((w - held_out.contexts.task) * query, xp) for w in (held_out.weights(estimator), held_out.oracle)
    )
    return (model**2 - ridge_regression**2) / 2
