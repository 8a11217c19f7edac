"""The exact loss of GD++ with any weights, which acts on eigenvalues, as a sum of squares with its derivatives.

A layer sees the eigenvalue tau and the residual e = 1 - t g(t), from tau = t and e = 1, and maps

    e' = e (1 + w_yx tau),    tau' = tau (1 + w_xx tau)^2,

so e is a polynomial in t of degree (3^L - 1)/2 with e(0) = 1, and the last w_xx does nothing. The loss beyond the
best constant ridge regression is 1/2 sum rho (t + s)/t (e - s/(t + s))^2, s = E sigma^2, over a spectral rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lipverify.foundation.arrays import EPS, Floats
from lipverify.linear_transformer.gdplusplus.spectrum import SpectralRule
from lipverify.linear_transformer.layer import GDPlusPlus


class Eigenstate(NamedTuple):
    """Token scale m, prediction coefficient p, residual factor r of least squares, and s = t m^2, each like t."""

    m: Any
    p: Any
    r: Any
    s: Any


def follow(t: Any, layers: Iterable[GDPlusPlus]) -> Eigenstate:
    """The state after all layers, exactly, on one eigenvalue t: a float, an array, a ball of Arb or a symbol.

    Along an eigenvector a token has become m x and the weight vector is w = p(Sigma) alpha, alpha = sum y x. A layer
    takes m' = m (1 + xx s), p' = p - yx m^2 r and r' = r (1 + yx s) with s = t m^2 and r = 1 - t p.
    """
    m, p, r = 1 + 0 * t, 0 * t, 1 + 0 * t
    for layer in layers:
        s = t * m * m
        # r is multiplied, never subtracted, so that it keeps its relative accuracy
        m, p, r = m * (1 + layer.xx * s), p - layer.yx * m * m * r, r * (1 + layer.yx * s)
    return Eigenstate(m, p, r, t * m * m)


class Residual(NamedTuple):
    """The error polynomial e: log |e|, its sign, and the gradient of log |e| in the weights, (weights, nodes)."""

    log: Floats
    sign: Floats
    gradient: Floats


def flat_weights(layers: Sequence[GDPlusPlus]) -> Floats:
    """The 2 L - 1 weights that matter, (w_yx, w_xx) layer by layer without the last w_xx."""
    return np.asarray([weight for layer in layers for weight in (layer.yx, layer.xx)][:-1])


def layers_of(weights: Floats) -> tuple[GDPlusPlus, ...]:
    pairs = np.append(weights, 0.0).reshape(-1, 2)
    return tuple(GDPlusPlus(xx=float(xx), yx=float(yx)) for yx, xx in pairs)


def residual(weights: Floats, t: Floats) -> Residual:
    """log |e(t)|, the sign of e and the gradient of log |e|: in the tail rho is as small as e^{-2000} and e^2 as large
    as its inverse, so e and tau are logarithms with a sign.
    """
    log_tau, log_e, sign = np.log(t), np.zeros_like(t), np.ones_like(t)
    tau_gradient, e_gradient = (np.zeros((len(weights), len(t))) for _ in range(2))
    for index, weight in enumerate(weights):
        # exp(600) times a weight is still a double; beyond, 1 + w tau is w tau, or 1
        within = np.minimum(log_tau, 600.0)
        tau = np.exp(within)
        product = weight * tau
        factor = 1 + product
        factor = np.where(factor == 0, EPS / 2, factor)
        in_tau, in_weight = product / factor, tau / factor  # derivatives of the logarithm in log tau and in w
        log_factor = np.log(np.abs(factor)) + in_tau * (log_tau - within)
        if index % 2 == 0:
            log_e += log_factor
            sign *= np.sign(factor)
            e_gradient += in_tau * tau_gradient
            e_gradient[index] += in_weight
        else:
            log_tau += 2 * log_factor
            tau_gradient *= 1 + 2 * in_tau
            tau_gradient[index] += 2 * in_weight
    return Residual(log_e, sign, e_gradient)


@dataclass(frozen=True)
class ExcessLoss:
    """Half a sum of squares, the loss of GD++ beyond the best constant ridge regression; `noise` is s = E sigma^2."""

    rule: SpectralRule
    noise: float

    def deviations(self, weights: Floats) -> tuple[Floats, Floats]:
        """The square root of rho (t + s)/t times (e - s/(t + s)), and its Jacobian (nodes, weights); may overflow."""
        log_residual, (log_scale, best) = residual(weights, self.rule.t), self._best
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = log_residual.sign * np.exp(log_scale + log_residual.log)
            return scaled - best, (scaled * log_residual.gradient).T

    @cached_property
    def _best(self) -> tuple[Floats, Floats]:
        """The logarithm of the square root of rho (t + s)/t, and that root times s/(t + s)."""
        t, s = self.rule.t, self.noise
        log_scale = (self.rule.log_weights + np.log1p(s / t)) / 2
        return log_scale, np.exp(log_scale) * (s / (t + s))

    def __call__(self, weights: Floats) -> float:
        deviations, _ = self.deviations(weights)
        with np.errstate(over="ignore"):
            return float(deviations @ deviations) / 2

    def rounding(self, weights: Floats) -> float:
        """A bound on the rounding error of the value: a rounding acts like a relative change of a weight or of e."""
        deviations, jacobian = self.deviations(weights)
        size = np.abs(deviations) + self._best[1]
        moved = np.abs(jacobian) @ np.abs(weights) + size * (1 + np.abs(self.rule.log_weights))
        change = 8 * EPS * moved  # of a layer: its products, the sum, the logarithm and their sum
        return float(np.abs(deviations) @ change + change @ change / 2)
