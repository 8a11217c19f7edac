r"""The loss of any symmetric M on the circle, as a ball: d = 2, f with E_f f(x) f(x') = x^T S x'.

The query is x = (cos theta, sin theta); M and S are diagonal. A token's score is omega t, t its coordinate along
e = M x / omega, omega = |M x|; with T = sum a_i t_i and R = sum a_i u_i across e, sum_i a_i x_i = T e + R e', and

    F(theta) = E (sum a_i x_i - x)^T S (sum a_i x_i - x) + sigma^2 E sum a_i^2
             = E T^2 e^T S e + E R^2 e'^T S e' - 2 E T e^T S x + x^T S x + sigma^2 E sum a_i^2,

whose moments are functions of omega. The loss is the mean of F, which has the period pi (all tokens change their sign).
F is analytic where the scores stay in the strip of `curve`: |Im M x| <= sinh |y| max |M|, at theta + i y, is at most b
for |y| <= delta; there |F| <= K = tr S (1 / cos b + cosh delta)^2 + sigma^2 / cos(b)^2, and the trapezoidal rule with N
points is off by at most 2 K / (e^{2 delta N} - 1) (Trefethen and Weideman, SIAM Review 56 (2014), theorem 3.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import arb, arb_poly, ctx, fmpq

from lipverify.errors import OutOfReach
from lipverify.loss.certified.curve import BITS, STRIP, Curve, curves
from lipverify.loss.certified.enclosure import enclose_moments
from lipverify.loss.certified.harmonics import Ball

Pair = tuple[Ball | float, Ball | float]
SPARE = 6.0
"""Nepers by which values at points are better known than what lies between."""


@dataclass(frozen=True)
class CircleAttention:
    """The moments of attention over n tokens on the circle for every omega up to a reach."""

    n: int
    accuracy: float
    first: Curve
    second: Curve
    across: Curve
    noise: Curve

    @classmethod
    def up_to(cls, n: int, reach: float, accuracy: float) -> CircleAttention:
        """Each moment is known to about `accuracy`."""
        goal, c = SPARE - math.log(accuracy), arb(STRIP).cos()

        def values(omega: float) -> tuple[Ball, Ball, Ball, Ball]:
            at = enclose_moments(2, n, omega, goal)
            return at.first, at.second, at.across, at.noise

        bounds = (1 / c, 1 / c**2, 2 / c**2, 1 / c**2)
        return cls(n, accuracy, *curves(values, bounds, 0.0, reach, accuracy))

    def least_isotropic(self, S: Pair, sigma: float) -> Ball:
        """The least loss of M = w I, w >= 0: tr S / 2 times E |sum a_i x_i - x|^2, and the noise, which rises in w.

        Raises
        ------
        OutOfReach
            If the noise at the end of the reach is not above it.
        """
        one = Curve(self.first.low, self.first.high, arb_poly([1]), arb(0))
        bias = one + -2 * self.first + self.second + self.across
        least = ((arb(S[0]) + arb(S[1])) / 2 * bias + arb(sigma) ** 2 * self.noise).least()
        if not arb(sigma) ** 2 * self.noise.at(arb(self.noise.high)) > least:
            raise OutOfReach(
                f"reach = {self.noise.high:g}: the noise there is not above the least loss; take a larger one."
            )
        return least

    def aligned(self, sigma: float) -> Curve:
        """The loss at M = diag(c, 0) with S = diag(1, 0), as a function of c >= 0; it is larger at -c.

        With omega = c |z|, z = cos theta, it is E_z [E T^2 - 2 |z| E T + z^2 + sigma^2 E sum a_i^2], power by power of
        omega. At -c the sign of E T >= 0 is the other one.
        """
        middle, half = self.first.middle, self.first.half
        with ctx.workprec(BITS):
            first, rest = self.first.powers(), (self.second + arb(sigma) ** 2 * self.noise)
            total = [each * absolute(k) for k, each in enumerate(rest.powers())]
            total = [each - 2 * absolute(k + 1) * one for k, (each, one) in enumerate(zip(total, first, strict=True))]
            total[0] += arb(1) / 2
            in_s = arb_poly(total)(arb_poly([middle, half]))
            return Curve(self.first.low, self.first.high, in_s, rest.error + 2 * absolute(1) * self.first.error)

    def loss(self, M: Pair, S: Pair, sigma: float) -> Ball:
        """The loss at a diagonal M of which no entry is 0, as a ball.

        Raises
        ------
        OutOfReach
            If an entry is beyond the reach.
        """
        steepest = max(map(abs, M))
        with ctx.workprec(BITS):
            delta, c = (arb(STRIP) / steepest).asinh(), arb(STRIP).cos()
            K = (arb(S[0]) + arb(S[1])) * (1 / c + delta.cosh()) ** 2 + (arb(sigma) / c) ** 2
            points = 1 + math.ceil(float((2 * K / self.accuracy).log() / (2 * delta)))
            angles = [fmpq(j, points) for j in range(points)]
            total = sum((self._at(angle, M, S, sigma) for angle in angles), arb(0))
            return total / points + arb(0, (2 * K / (2 * delta * points).expm1()).abs_upper())

    def _at(self, angle: fmpq, M: Pair, S: Pair, sigma: float) -> Ball:
        """F at a multiple of pi."""
        x = arb.cos_pi_fmpq(angle), arb.sin_pi_fmpq(angle)
        y = arb(M[0]) * x[0], arb(M[1]) * x[1]
        omega = (y[0] ** 2 + y[1] ** 2).sqrt()
        e, s = (y[0] / omega, y[1] / omega), (arb(S[0]), arb(S[1]))
        along, across = (s[0] * a**2 + s[1] * b**2 for a, b in (e, e[::-1]))
        bias = self.second.at(omega) * along + self.across.at(omega) * across
        bias += (
            s[0] * x[0] ** 2 + s[1] * x[1] ** 2 - 2 * self.first.at(omega) * (s[0] * e[0] * x[0] + s[1] * e[1] * x[1])
        )
        return bias + arb(sigma) ** 2 * self.noise.at(omega)


def absolute(k: int) -> Ball:
    """E |z|^k for z = cos theta.

    >>> float(absolute(2).mid())
    0.5
    """
    return (arb(k + 1) / 2).gamma() / (arb.pi().sqrt() * (arb(k) / 2 + 1).gamma())
