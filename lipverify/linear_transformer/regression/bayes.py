"""The best estimator that knows the law of sigma but not sigma, and the cost of not knowing it: every model's floor.

The posterior mean of w* given the context is w_Bayes = E [w_ridge(sigma^2) | G], and 1/2 E ||w - w_ridge||^2 =
1/2 E ||w - w_Bayes||^2 + gap, gap = 1/2 E ||w_Bayes - w_ridge(sigma^2)||^2: no estimator has a smaller adjusted loss
than the gap. With w* averaged out, y ~ N(0, X X^T + sigma^2 I), so that in the eigenbasis, over its r = min(n, d)
eigenvalues that are not 0, with R the sum of squares that least squares leaves,

    -2 log p(y | X, sigma) = (n - r) log sigma^2 + R/sigma^2 + sum_k [log(t_k + sigma^2) + z_k^2 / (t_k (t_k +
    sigma^2))].

For sigma ~ Unif[0, sigma_max] the mean is an integral over log sigma, by Gauss-Legendre on the range where R/sigma^2 is
neither improbably large nor improbably small for its chi-square law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.means.samples import SampledMean, sampled_mean
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import whole
from lipverify.linear_transformer.regression.adjusted import Evaluation
from lipverify.linear_transformer.regression.contexts import CHUNK
from lipverify.linear_transformer.regression.eigenbasis import Eigenbasis, SpectralEstimator
from lipverify.problem.noise import NoiseLaw, UniformNoise, gauss_legendre

UNLIKELY = 1e-18
"""Largest posterior mass left out on either side."""


class Posterior(NamedTuple):
    """Levels sigma and their posterior probabilities, (contexts, levels)."""

    sigma: Floats
    probability: Floats


class BayesGap(NamedTuple):
    """The cost of not knowing sigma, by two averages over the same contexts, and the error of the rule.

    `sampled` is at the sigma that was drawn, `averaged` over sigma given the context, which agrees only if the
    posterior is right; `difference` is paired.
    """

    sampled: SampledMean
    averaged: SampledMean
    difference: SampledMean
    rule_error: float


@dataclass(frozen=True)
class Bayes(SpectralEstimator):
    """The posterior mean of w* when sigma is drawn from a known law.

    Attributes
    ----------
    noise
        The law.
    nodes
        Levels in the rule for a continuous law.

    Examples
    --------
    >>> from lipverify.linear_transformer import AdaRR, UniformNoise, draw_contexts, evaluation
    >>> from lipverify.prompts import Prompts
    >>> noise = UniformNoise(3.0)
    >>> fresh = evaluation(draw_contexts(Prompts(d=5, n=20, sigma=noise), 2048, seed=0, stream="doc"))
    >>> fresh.loss(Bayes(noise)).value < fresh.loss(AdaRR()).value
    True
    """

    noise: NoiseLaw
    nodes: int = 64

    def __post_init__(self) -> None:
        whole("nodes", self.nodes, least=2)
        if not isinstance(self.noise, NoiseLaw):
            raise InvalidInput(f"noise = {self.noise!r}: give a noise law, such as UniformNoise(3.0).")

    def coordinates(self, basis: Eigenbasis) -> Floats:
        """E [z / (t + sigma^2) | G]."""
        return self.moments(basis)[0]

    def moments(self, basis: Eigenbasis) -> tuple[Floats, Floats]:
        """Posterior mean of w_ridge(sigma^2) in the eigenbasis, (contexts, d), and its total variance, (contexts,)."""
        parts = [self._moments(_rows(basis, first)) for first in range(0, len(basis.values), CHUNK)]
        means, variances = zip(*parts, strict=True)
        return np.concatenate(means), np.concatenate(variances)

    def _moments(self, basis: Eigenbasis) -> tuple[Floats, Floats]:
        posterior = self.posterior(basis)
        ridges = basis.values[:, :, None] + posterior.sigma[:, None, :] ** 2
        # where t = 0, z = 0 too, and sigma = 0 must not cause a division by zero
        np.divide(basis.moment[:, :, None], ridges, out=ridges, where=ridges > 0)
        mean = np.einsum("cks,cs->ck", ridges, posterior.probability)
        ridges -= mean[:, :, None]
        return mean, np.einsum("cks,cks,cs->c", ridges, ridges, posterior.probability)

    def posterior(self, basis: Eigenbasis) -> Posterior:
        """The posterior of sigma for each context."""
        sigma, log_prior = self._levels(basis)
        scores = log_prior + self._log_likelihood(basis, sigma)
        scores -= np.max(scores, axis=-1, keepdims=True)
        mass = np.exp(scores)
        return Posterior(sigma, mass / np.sum(mass, axis=-1, keepdims=True))

    def _log_likelihood(self, basis: Eigenbasis, sigma: Floats) -> Floats:
        """The logarithm of p(y | X, sigma) up to what does not depend on sigma, (contexts, levels)."""
        t, z = (values[:, basis.d - basis.rank :, None] for values in (basis.values, basis.moment))
        variance = sigma**2
        shifted = t + variance[:, None, :]
        explained = np.sum(z**2 / t / shifted, axis=1) + np.sum(np.log(shifted, out=shifted), axis=1)
        degrees = basis.n - basis.rank
        if degrees == 0:
            return -explained / 2
        residual, noisy = _left(basis)[:, None], variance > 0
        safe = np.where(noisy, variance, 1.0)
        # without noise the residual is zero, to rounding, and a zero residual implies no noise, with certainty
        exactly = np.where(residual <= 1e-11 * basis.energy[:, None], 1e6, -1e6)
        return np.where(noisy, -(explained + degrees * np.log(safe) + residual / safe) / 2, exactly)

    def _levels(self, basis: Eigenbasis) -> tuple[Floats, Floats]:
        """Levels and logarithms of their prior weights, (contexts, levels)."""
        degrees = basis.n - basis.rank
        if not isinstance(self.noise, UniformNoise) or self.noise.sigma_max == 0 or degrees == 0:
            sigma, weights = self.noise.nodes(self.nodes)
            shape = (len(basis.values), len(sigma))
            return np.broadcast_to(sigma, shape), np.broadcast_to(np.log(weights), shape)
        low, high = _range(_left(basis), degrees, self.noise.sigma_max)
        x, weights = gauss_legendre(self.nodes)
        log_sigma = low[:, None] + (high - low)[:, None] * (1 + x) / 2
        # d sigma = sigma d log sigma
        return np.exp(log_sigma), log_sigma + np.log(weights) + np.log(high - low)[:, None]

    @makes("sampled", "montecarlo")
    def gap(self, held_out: Evaluation) -> BayesGap:
        """The floor of the adjusted loss on sampled contexts."""
        mean, variance = self.moments(held_out.basis)
        sampled = np.sum((mean - held_out.basis.shrunk(held_out.contexts.sigma**2)) ** 2, axis=-1) / 2
        coarser = replace(self, nodes=min(44, self.nodes)).moments(held_out.basis)[1]
        return BayesGap(
            sampled=sampled_mean(sampled),
            averaged=sampled_mean(variance / 2),
            difference=sampled_mean(sampled - variance / 2),
            rule_error=abs(float(np.mean(variance) - np.mean(coarser))) / 2,
        )


def _left(basis: Eigenbasis) -> Floats:
    """The residual R, at least the size of its rounding."""
    return np.asarray(np.maximum(basis.residual, EPS * basis.energy))


def _range(residual: Floats, degrees: int, sigma_max: float) -> tuple[Floats, Floats]:
    """The range of log sigma: q = R/sigma^2 has about the chi-square law of n - r - 1 degrees, cut at R/sigma_max^2."""
    from scipy.special import chdtri  # modules that list claims import this one and do not integrate

    least = residual / sigma_max**2
    # beyond the cut the law falls at least this fast
    most = chdtri(max(degrees - 1, 1), UNLIKELY) + least
    high = np.full_like(residual, math.log(sigma_max))
    if degrees > 2:
        rare = chdtri(degrees - 1, 1 - 1e-16) * (UNLIKELY / 1e-16) ** (2 / (degrees - 1))
        high = np.minimum(high, np.log(residual / min(rare, 1.0)) / 2 if rare > 0 else high)
    low = np.minimum(np.log(residual / most) / 2, high - math.log(2))
    return low, high


def _rows(basis: Eigenbasis, first: int) -> Eigenbasis:
    part = slice(first, first + CHUNK)  # whose arrays fit into a cache
    return Eigenbasis(basis.values[part], basis.vectors[part], basis.moment[part], basis.energy[part], basis.n)
