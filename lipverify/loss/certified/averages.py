r"""Averages over one token: by power series where lambda stays small, and by a Mellin transform where it becomes large.

**Series.** With g = e^{-w(1-t)} and lambda = e^u,

    A_k[h](u) = E[h (lambda g)^k e^{-lambda g}] = sum_j (-1)^j lambda^{j+k} E[h g^{j+k}] / j!.

Stopping after J terms leaves at most |h| lambda^{J+k} E[g^{J+k}] / J!, because 0 <= y^J/J! bounds the
remainder of the alternating series of e^{-y}. The sum cancels to about e^{-2 lambda} of its largest term, which the
working precision makes up for.

**Mellin transform.** With S = w (1 - t), z = -a + i tau and 0 < a < 1, Mellin's inversion formula says

    A_k[h](u) = E[h e^{k(u-S)} exp(-e^{u-S})] = (1/2 pi) int Gamma(k + z) e^{-z u} E[h e^{zS}] dtau,

and for k = 0, because the line passes the pole of Gamma, A_0 - E h in place of A_0. On the grid tau = 2 pi j / P
Poisson's formula gives the values at the nodes, up to images of A at the distance P:

    A(u) = (1/P) sum_j Gamma(k + z_j) e^{-z_j u} E[h e^{z_j S}] - sum_{m != 0} e^{-a m P} A(u + m P).

With P a multiple N of the step of the nodes, the sum over j is a discrete Fourier transform. For |h| <= 1:

* images. |A| <= 1 and |A(u)| <= e^u (k = 0: 1 - phi), so they sum to at most
  1 / (e^{aP} - 1) + e^u / (e^{(1-a)P} - 1) at u <= P;
* frequencies |j| > J. Turning the path of Gamma's integral by the angle beta < pi/2 gives
  |Gamma(x + i tau)| <= e^{-beta |tau|} Gamma(x) cos(beta)^{-x}, so they sum to at most
  e^{a u} Gamma(x) cos(beta)^{-x} e^{-beta T} / (pi beta), where T = 2 pi J / P, x = k - a. For k = 0, Gamma(z) =
  Gamma(1 + z) / z: the bound is that with x = 1 - a, divided by T.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from flint import acb, arb, arb_poly

from lipverify.loss.certified.context import GRAIN, Nodes
from lipverify.loss.certified.harmonics import Ball, combine, exponential_averages, size


@dataclass(frozen=True)
class PowerSeries:
    """Averages at every node, by `terms` terms of the series, for profiles up to degree `top`."""

    d: int
    w: Ball
    nodes: Nodes
    terms: int
    top: int

    @staticmethod
    def terms_for(largest_lambda: float, goal: float) -> int:
        """How many terms bring lambda^J / J! to e^{-goal - lambda}."""
        terms, log_term = 1, math.log(largest_lambda)
        while log_term > -goal - largest_lambda or terms < largest_lambda:
            terms += 1
            log_term += math.log(largest_lambda / terms)
        return terms

    @cached_property
    def moments(self) -> list[list[Ball]]:
        """E[g^j P_l] for j = 0..terms+2: indexed by j, then l."""
        table = [exponential_averages(self.d, j * self.w, self.top) for j in range(self.terms + 3)]
        return [[(-j * self.w).exp() * average for average in row] for j, row in enumerate(table)]

    @cached_property
    def lambdas(self) -> list[Ball]:
        """lambda = e^u at the nodes."""
        return [u.exp() for u in self.nodes.u()]

    def mean(self, k: int, profile: dict[int, Ball]) -> list[Ball]:
        """A_k[h] at the nodes, h = sum_l c_l P_l."""
        coefficients = [combine(profile, self.moments[j + k]) for j in range(self.terms)]
        return self._sum(k, coefficients, size(profile))

    def complement(self) -> list[Ball]:
        """1 - phi = E[1 - e^{-lambda g}] at the nodes."""
        coefficients = [self.moments[j + 1][0] / (j + 1) for j in range(self.terms)]
        return self._sum(1, coefficients, arb(1))

    def beyond(self, k: int) -> list[Ball]:
        """Bounds on |A_k[P_l]| at the nodes for every l > top.

        I_{nu + l}(kappa) falls with l for kappa > 0, so |A_k[P_l]| <= sum_j lambda^{j+k} E[g^{j+k} P_top] / j!;
        the remainder after J terms is at most lambda^{J+k} e^lambda / J!.
        """
        series = arb_poly([self.moments[j + k][self.top] / _factorial(j) for j in range(self.terms)])
        rest = 1 / _factorial(self.terms)
        return [
            (x**k * (series(x) + rest * x**self.terms * x.exp())).min(mean)
            for x, mean in zip(self.lambdas, self.mean(k, {0: arb(1)}), strict=True)
        ]

    def _sum(self, k: int, coefficients: list[Ball], bound: Ball) -> list[Ball]:
        """sum_j (-1)^j coefficients_j lambda^{j+k} / j! with its remainder."""
        series = arb_poly([(-1) ** j * c / _factorial(j) for j, c in enumerate(coefficients)])
        rest = bound * self._rest(k)
        return [x**k * (series(x) + arb(0, (rest * x**self.terms).abs_upper())) for x in self.lambdas]

    def _rest(self, k: int) -> Ball:
        """The remainder, over |h| lambda^{J+k}."""
        return self.moments[self.terms + k][0] / _factorial(self.terms)


def _factorial(j: int) -> Ball:
    return arb(j).fac()


@dataclass(frozen=True)
class MellinTransform:
    """Averages at every node, with `images` = N steps of the nodes to a period, for profiles up to degree `top`.

    `tilt` is a, exact in binary, and `frequencies` is J.
    """

    d: int
    w: Ball
    nodes: Nodes
    images: int
    tilt: float
    frequencies: int
    top: int

    @classmethod
    def place(cls, d: int, w: Ball, nodes: Nodes, goal: float, top: int) -> MellinTransform:
        """A transform whose averages are wrong by about e^{-goal}."""
        images = max(nodes.count, math.ceil((2 * goal + max(nodes.high, 0.0) + 1) / nodes.step))
        period = images * nodes.step
        tilt = math.ceil(GRAIN**2 * goal / period) / GRAIN**2
        decay = goal + tilt * max(nodes.high, 0.0) + 10
        return cls(d, w, nodes, images, tilt, math.ceil(decay * period / math.pi**2), top)

    @property
    def bits(self) -> int:
        """The precision at which rounding is below e^{-a P}: values grow by e^{a (high - low)} over the nodes."""
        growth = self.tilt * (self.period + max(self.nodes.high, 0.0))
        return math.ceil(growth / math.log(2)) + 2 * self.frequencies.bit_length() + 20

    @property
    def period(self) -> float:
        """P, exact."""
        return self.images * self.nodes.step

    @cached_property
    def points(self) -> list[Ball]:
        """z_j for j = 0..J."""
        spacing = 2 * arb.pi() / self.period
        return [acb(-arb(self.tilt), j * spacing) for j in range(self.frequencies + 1)]

    @cached_property
    def gammas(self) -> list[Ball]:
        """Gamma(z_j)."""
        return [z.gamma() for z in self.points]

    @cached_property
    def transforms(self) -> list[list[Ball]]:
        """e^{-z low} E[P_l e^{z S}]: indexed by j, then l."""
        shift = self.w - arb(self.nodes.low)
        rows = []
        for z in self.points:
            factor = (z * shift).exp()
            rows.append([factor * average for average in exponential_averages(self.d, -z * self.w, self.top)])
        return rows

    def mean(self, k: int, profile: dict[int, Ball]) -> list[Ball]:
        """A_k[h] at the nodes, h = sum_l c_l P_l; for k = 0, A_0[h] - E h."""
        folded = [acb(0)] * self.images
        for j, z in enumerate(self.points):
            term = self.gammas[j] * combine(profile, self.transforms[j])
            # Gamma(k + z) = Gamma(z) (z)_k; j and -j are conjugate
            folded[j % self.images] += (2 if j else 1) * z.rising(k) * term
        step, bound = arb(self.nodes.step), size(profile)
        growth, truncated = arb(1), self._truncated(k)
        factor, values = (step * self.tilt).exp(), []
        for u, value in zip(self.nodes.u(), acb.dft(folded), strict=False):
            error = bound * (self._images(u) + truncated * (u * self.tilt).exp())
            values.append(growth * value.real / self.period + arb(0, error.abs_upper()))
            growth *= factor
        return values

    def complement(self) -> list[Ball]:
        """1 - phi at the nodes."""
        return [-value for value in self.mean(0, {0: arb(1)})]

    def beyond(self, k: int) -> list[Ball]:
        """Bounds on |A_k[P_l]| at the nodes for every l > top.

        |E[P_l e^{zS}]| is at most 1, and at most x^l / (d/2)_l with x = |z| w / 2, because its 0F1 is the average of
        e^{kappa t} in dimension d + 2l. Where that is below 1 it falls with l. Absolute values summed over the
        frequencies, and the errors of `mean`, bound every average.
        """
        total = arb(0)
        for j, (z, bound) in enumerate(zip(self.points, self._falling, strict=True)):
            total += (2 if j else 1) * abs(self.gammas[j] * z.rising(k)) * bound / self.period
        truncated = self._truncated(k)
        means = zip(self.nodes.u(), self.mean(k, {0: arb(1)}), strict=True)
        return [(self._images(u) + (total + truncated) * (u * self.tilt).exp()).min(mean) for u, mean in means]

    @cached_property
    def _falling(self) -> list[Ball]:
        """min(1, x^top / (d/2)_top) for every frequency."""
        rising = (arb(self.d) / 2).rising(self.top)
        return [arb(1).min((abs(z) * self.w / 2) ** self.top / rising) for z in self.points]

    def _images(self, u: Ball) -> Ball:
        """Bound on the images of A, the sum over m != 0."""
        tilted = (arb(self.tilt) * self.period).expm1()
        complement = ((1 - arb(self.tilt)) * self.period).expm1()
        return 1 / tilted + u.exp() / complement

    def _truncated(self, k: int) -> Ball:
        """Bound on the frequencies left out, over e^{a u}."""
        last = 2 * arb.pi() * self.frequencies / self.period
        x = max(k, 1) - arb(self.tilt)
        beta = arb.pi() / 2 - 1 / last
        bound = x.gamma() * beta.cos() ** -x * (-beta * last).exp() / (arb.pi() * beta)
        return bound / last if k == 0 else bound
