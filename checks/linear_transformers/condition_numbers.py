r"""GD++ as a second-order method: weights that contract a spectrum, and the residual that they leave relative to least squares.

Let the eigenvalues t of Sigma lie in [1/kappa, 1] (xx and yx are in units of the largest one). A layer with xx takes
the eigenvalue s of the tokens' second moment to s (1 + xx s)^2, and one layer with yx = -2 / (low + high) then leaves
the residual

    max |r| = (kappa_l - 1) / (kappa_l + 1),    kappa_l = high / low  after l layers of xx.

In f(c) = c + xx c^3, c = sqrt(s), the best xx makes both ends of the interval equal, f(sqrt(low)) = f(sqrt(high)): with
k = sqrt(kappa_l)

    xx = -1 / (low (k^2 + k + 1)),    kappa_{l+1} - 1 = [(k - 1)(k + 2)(2k + 1)]^2 / (27 k^2 (k + 1)^2).

It has two regimes: kappa_{l+1} ~ (4/27) kappa_l while kappa_l is large, and kappa_{l+1} - 1 ~ (3/16) (kappa_l - 1)^2
once it is near 1. Hence

    L = log(kappa) / log(27/4) + log log(1/epsilon) / log 2 + O(1).

In terms of kappa - 1 nothing cancels, so floats can represent residuals down to 1e-150 and balls of Arb any residual.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lipverify.checks.linear_transformers.quantities import require
from lipverify.errors import InvalidInput
from lipverify.linear_transformer import GDPlusPlus

Number = Any
"""A float or a ball of Arb."""

GAIN = 27 / 4
"""The factor by which a layer reduces a large condition number if its weight depends on the condition number."""
UNIVERSAL_GAIN = 9 / 4
"""The factor by which a layer reduces a large condition number if its weight does not depend on it."""


def improved(excess: Number) -> Number:
    """The next kappa - 1, after a layer of the best xx.

    >>> round(improved(3.0), 12), round(4 * 7**3 / (27 * 36) - 1, 12)  # and the quotient of the largest and smallest image
    (0.411522633745, 0.411522633745)
    """
    k = _sqrt(1 + excess)
    root = (excess / (k + 1)) * ((k + 2) / k) * ((2 * k + 1) / (k + 1))
    return root * root / 27


def improved_universally(excess: Number) -> Number:
    """The next kappa - 1, after a layer with xx = -1 / (3 high): the Newton-Schulz step, which does not need kappa.

    With z = 1 / kappa the quotient of the ends becomes z' = z (3 - z)^2 / 4, that is 1 - z' = (1 - z)^2 (4 - z) / 4.

    >>> round(improved_universally(1e6) / 1e6 * UNIVERSAL_GAIN, 5)
    1.0
    """
    z = 1 / (1 + excess)
    gap = excess * z
    return gap * gap * (4 - z) / (z * (3 - z) * (3 - z))


def residual(excess: Number) -> Number:
    """(kappa - 1) / (kappa + 1): the worst residual after one gradient step at condition number kappa."""
    return excess / (excess + 2)


@dataclass(frozen=True)
class Method:
    """A rule for the weights.

    Attributes
    ----------
    name
        In words.
    improve
        kappa - 1 to kappa' - 1 for a layer of xx.
    step
        xx from (low, high), the ends of the spectrum of the tokens' moment.
    gain
        lim kappa / kappa' as kappa grows.
    """

    name: str
    improve: Callable[[Number], Number]
    step: Callable[[Number, Number], Number]
    gain: float

    def weights(self, kappa: Number, layers: int) -> tuple[GDPlusPlus, ...]:
        """The weights of `layers` layers for spectra in [1/kappa, 1]: xx in all but the last layer, yx in the last.

        Raises
        ------
        InvalidInput
            If kappa < 1 or there is no layer.

        >>> MINIMAX.weights(4.0, 1)
        (GDPlusPlus(xx=0.0, yx=-1.6),)
        """
        require(layers >= 1, f"layers = {layers!r}: at least 1.")
        if not kappa >= 1:
            raise InvalidInput(f"kappa = {kappa!r}: a condition number is at least 1.")
        low, excess, found = 1 / kappa, kappa - 1, []
        for _ in range(layers - 1):
            xx = self.step(low, low * (1 + excess))
            found.append(GDPlusPlus(xx, 0.0))
            low, excess = low * (1 + xx * low) * (1 + xx * low), self.improve(excess)
        return (*found, GDPlusPlus(0.0, -2 / (low * (2 + excess))))


def _minimax_step(low: Number, high: Number) -> Number:
    """Minus the reciprocal of high + sqrt(high low) + low: both ends have the same image."""
    return -1 / (high + _sqrt(high * low) + low)


MINIMAX = Method("the best xx for the condition number", improved, _minimax_step, GAIN)
UNIVERSAL = Method(
    "Newton-Schulz steps, one xx for all spectra", improved_universally, lambda _, high: -1 / (3 * high), UNIVERSAL_GAIN
)
METHODS = {"minimax": MINIMAX, "universal": UNIVERSAL}


def chebyshev_weights(layers: int) -> tuple[GDPlusPlus, ...]:
    r"""Weights with xx = yx = -(4/3) 9^l in layer l, counted from 0: the best growth in kappa at a fixed accuracy.

    With xx = yx the residual is the token scale, r = m, and c = sqrt(t) r obeys c' = c + xx c^3, here Chebyshev's
    cubic: on [0, 1]

        r(t) = +- T_n(sqrt t) / (n sqrt t) = +- sin(n theta) / (n sin theta),    t = sin^2 theta, n = 3^L.

    >>> chebyshev_weights(2)[1].xx
    -12.0
    """
    require(layers >= 1, f"layers = {layers!r}: at least 1.")
    return tuple(GDPlusPlus(-4 / 3 * 9.0**layer, -4 / 3 * 9.0**layer) for layer in range(layers))


def _sqrt(x: Number) -> Number:
    """The square root of a float or a ball."""
    return x.sqrt() if hasattr(x, "sqrt") else math.sqrt(x)


def least_coefficient(phase: str, constant: str) -> Fraction:
    """The least coefficient of the polynomial of Lemma A.3 in kappa minus its smallest value: none is negative if the lemma holds.

    With xx nu = -1/3, kappa' = 4 kappa^3 / (3 kappa - 1)^2. "wide": c kappa - kappa' >= 0 from kappa = 11/10 on; "near":
    c (kappa - 1)^2 - (kappa' - 1) >= 0 from kappa = 1 on; both times (3 kappa - 1)^2 over a positive factor.
    """
    from sympy import Poly, Rational, Symbol

    t, c = Symbol("t"), Rational(constant)
    kappa = t + (Rational(11, 10) if phase == "wide" else 1)
    polynomial = c * (3 * kappa - 1) ** 2 - (4 * kappa**2 if phase == "wide" else 4 * kappa - 1)
    return min(Fraction(int(each.p), int(each.q)) for each in Poly(polynomial, t).all_coeffs())
