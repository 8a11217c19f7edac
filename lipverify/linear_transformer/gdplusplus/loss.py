r"""The exact loss of GD++ with any weights, which acts on eigenvalues, as a sum of squares with its derivatives.

With only w_xx and w_yx the implicit model stays a filter: M = m(Sigma), w = g(Sigma) alpha. A layer sees the eigenvalue
tau = t m(t)^2 and the residual e = 1 - t g(t), from tau = t and e = 1, and maps

    e' = e (1 + w_yx tau),    tau' = tau (1 + w_xx tau)^2,

so e is a polynomial in t of degree (3^L - 1)/2 with e(0) = 1, and the last w_xx does nothing. The loss beyond the
best constant ridge regression is a sum of squares over the nodes of a spectral rule,
1/2 sum rho (t + s)/t (e - s/(t + s))^2 with s = E sigma^2.

In the tail, where rho is as small as e^{-2000} and e^2 as large as its inverse, neither is a double; so e and tau
are carried as logarithms with a sign, and derivatives as logarithmic derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lipverify.foundation.arrays import EPS, Floats
from lipverify.linear_transformer.gdplusplus.spectrum import SpectralRule
from lipverify.linear_transformer.layer import GDPlusPlus

LARGEST = 600.0
"""Largest exponent whose exponential is used; exp(600) times a weight is still a double."""
OPERATIONS = 8
"""Roundings of a layer that affect its factor: the products, the sum, the logarithm and their sum."""


class Factor(NamedTuple):
    """The factor 1 + w tau: its log modulus, its sign, and the derivatives of the logarithm in log tau and in w."""

    log: Floats
    sign: Floats
    in_tau: Floats
    in_weight: Floats


class Residual(NamedTuple):
    """The error polynomial e: log |e|, its sign, and the gradient of log |e| in the weights, (weights, nodes)."""

    log: Floats
    sign: Floats
    gradient: Floats


def flat_weights(layers: Sequence[GDPlusPlus]) -> Floats:
    """The 2 L - 1 weights that matter, (w_yx, w_xx) layer by layer without the last w_xx."""
    return np.asarray([weight for layer in layers for weight in (layer.yx, layer.xx)][:-1])


def layers_of(weights: Floats) -> tuple[GDPlusPlus, ...]:
    """Layers with these 2 L - 1 weights; the last w_xx is 0."""
    pairs = np.append(weights, 0.0).reshape(-1, 2)
    return tuple(GDPlusPlus(xx=float(xx), yx=float(yx)) for yx, xx in pairs)


def residual(weights: Floats, t: Floats) -> Residual:
    """The logarithm of |e(t)|, its sign and gradient, for weights as `flat_weights` orders them.

    >>> found = residual(flat_weights([GDPlusPlus(-0.5, -0.25), GDPlusPlus(0.0, -1.0)]), np.asarray([1.0]))
    >>> bool(abs(found.sign * np.exp(found.log) - 0.75 * (1 - 0.5**2)) < 1e-15)
    True
    """
    log_tau, log_e, sign = np.log(t), np.zeros_like(t), np.ones_like(t)
    tau_gradient, e_gradient = (np.zeros((len(weights), len(t))) for _ in range(2))
    for index, weight in enumerate(weights):
        factor = _factor(weight, log_tau)
        if index % 2 == 0:
            log_e += factor.log
            sign *= factor.sign
            e_gradient += factor.in_tau * tau_gradient
            e_gradient[index] += factor.in_weight
        else:
            log_tau += 2 * factor.log
            tau_gradient *= 1 + 2 * factor.in_tau
            tau_gradient[index] += 2 * factor.in_weight
    return Residual(log_e, sign, e_gradient)


def _factor(weight: float, log_tau: Floats) -> Factor:
    """1 + w tau, half an eps where it is 0. Beyond `LARGEST` it is proportional to tau, or 1 where w = 0."""
    within = np.minimum(log_tau, LARGEST)
    tau = np.exp(within)
    product = weight * tau
    value = 1 + product
    value = np.where(value == 0, EPS / 2, value)
    in_tau = product / value
    return Factor(np.log(np.abs(value)) + in_tau * (log_tau - within), np.sign(value), in_tau, tau / value)


@dataclass(frozen=True)
class ExcessLoss:
    """The loss of GD++ beyond the best constant ridge regression, exactly, as half a sum of squares.

    Attributes
    ----------
    rule
        Average over eigenvalues.
    noise
        s = E sigma^2.
    """

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
        """The loss beyond the best constant ridge regression."""
        deviations, _ = self.deviations(weights)
        with np.errstate(over="ignore"):
            return float(deviations @ deviations) / 2

    def rounding(self, weights: Floats) -> float:
        """A bound on the rounding error of the value.

        Each rounding in a layer acts like a relative change of a weight or of e by machine epsilon.
        """
        deviations, jacobian = self.deviations(weights)
        size = np.abs(deviations) + self._best[1]
        moved = np.abs(jacobian) @ np.abs(weights) + size * (1 + np.abs(self.rule.log_weights))
        change = OPERATIONS * EPS * moved
        return float(np.abs(deviations) @ change + change @ change / 2)
