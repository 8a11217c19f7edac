r"""One context: n tokens become one sum over u = log(lambda), with a bound on everything that is left out.

With S_i = w (1 - t_i), A_k[h](u) = E[h e^{k(u-S)} exp(-e^{u-S})], phi = A_0[1] and a law E f(x) f(x') = sum_l k_l P_l,

    N / sigma^2 = n int A_2[1] phi^{n-1} du,
    B = sum_l k_l { n int A_2[2 (1 - P_l)] phi^{n-1} du + n (n-1) int A_1[1 - P_l]^2 phi^{n-2} du }.

    G = sum_l k_l n int A_1[1 - P_l] phi^{n-1} du = E sum_i a_i (f(x_i) - f(x))^2 / 2.

(B is E sum_ij a_i a_j of the covariance of f(x_i) - f(x) and f(x_j) - f(x); for i = j that is
2 sum_l k_l (1 - P_l(t_i)), and for i != j the average over the directions of the tokens turns P_l(<x_i, x_j>) into
P_l(t_i) P_l(t_j).) All averages are of h >= 0, and that makes the trapezoidal rule on the whole line certain:

* **step.** In the strip |Im u| <= b < pi/2, |e^{-e^{u-S}}| = e^{-cos(b) e^{x-S}}, so |A_k[h](x + ib)| <= cos(b)^{-k}
  A_k[h](x + log cos b). The integral of |integrand| along the edge of the strip is therefore at most cos(b)^{-2} times
  the integral I itself, and the rule is off by at most eta I with eta = 2 cos(b)^{-2} / (e^{2 pi b / h} - 1) (Trefethen
  and Weideman, SIAM Review 56 (2014), theorem 5.1), whatever d, n, w and the law.
* **left end.** A_k[h](u) <= e^{ku} E[h g^k], g = e^{-S}: the nodes before the first, u_0, add at most
  n e^{2 u_0} E[h g^2] / 2, and n (n-1) e^{2 u_0} E[h g]^2 / 2 for pairs. For k = 1 they are of the order of e^{u_0} and
  are added: n E[h g] times their sum of e^u, less at most n e^{2 u_0} (E[h g^2] + (n-1) E[h g] E[g]) / 2, because
  A_1[h](u) >= e^u E[h g] - e^{2u} E[h g^2] and phi^{n-1} >= 1 - (n-1) e^u E[g].
* **right end.** phi falls, so nodes beyond the last, u_J, add at most n max(h) phi(u_J)^{n-1} times the sum of A_k[1]
  over them; for pairs, n (n-1) max(h)^2 phi(u_J)^{n-2} times that of A_1[1]^2. Each sum is at most 1 + eta, being
  part of the rule for one token (int A_k[1] du = 1) or two (int A_1[1]^2 du = E a_1 a_2 <= 1/4). With
  y = u_J - 2w >= log 2 it is at most int_y^oo e^{2v} exp(-e^v) dv = (1 + e^y) e^{-e^y} as well, because S <= 2w: this
  closes n = 2, where phi^0 does not help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from flint import arb

from lipverify.loss.certified.harmonics import Ball, combine, exponential_averages, size
from lipverify.loss.certified.nodes import Nodes
from lipverify.loss.certified.spectra import Spectrum

ONE = {0: arb(1)}
"""The profile h = 1."""


@dataclass(frozen=True)
class Moments:
    """With T = sum_i a_i t_i: E T, E T^2, E sum_i a_i^2 (1 - t_i^2) and E sum_i a_i^2."""

    first: Ball
    second: Ball
    across: Ball
    noise: Ball


class Averages(Protocol):
    """Averages over one token at every node."""

    def mean(self, k: int, profile: dict[int, Ball]) -> list[Ball]:
        """A_k[h], k = 1 or 2."""

    def complement(self) -> list[Ball]:
        """1 - phi."""

    def beyond(self, k: int) -> list[Ball]:
        """Bounds on |A_k[P_l]| for every l beyond the highest degree."""


@dataclass(frozen=True)
class Context:
    """The integrals over u at one window w > 0 for n >= 2 tokens."""

    d: int
    n: int
    w: Ball
    nodes: Nodes
    spectrum: Spectrum

    def enclose(self, averages: Averages) -> tuple[Ball, Ball]:
        """(N / sigma^2, B) as balls."""
        single, double = self._others(averages)
        bias = _dot(self._diagonal(averages, 2), single) + _dot(self._pairs(averages), double)
        last, variance = self._beyond_last(), self.spectrum.variance
        bias_tail = self._bias_before_first() + 4 * variance * last * (single[-1] + double[-1])
        return self._alone(averages, single, 2, ONE), self._closed(bias, bias_tail)

    def gap(self, averages: Averages) -> Ball:
        """G as a ball."""
        single, _ = self._others(averages)
        once, twice = (self._variogram_before_first(k) for k in (1, 2))
        tail = 4 * self.spectrum.variance * self._beyond_last() * single[-1]
        return self._closed(_dot(self._diagonal(averages, 1), single), tail, self._first_order(once, twice)) / 2

    def moments(self, averages: Averages) -> Moments:
        """The moments of t and of the weights; degrees up to 2 must be listed."""
        single, double = self._others(averages)
        missing = {0: arb(1), 1: arb(-1)}
        # (1 - t)^2 by t^2 = (1 + (d - 1) P_2) / d
        square = {0: 1 + arb(1) / self.d, 1: arb(-2), 2: 1 - arb(1) / self.d}
        pairs = _dot([value**2 for value in averages.mean(1, missing)], double)
        tail = self.n * (self.n - 1) * self._before_first(1, missing) ** 2 / 2 + 4 * self._beyond_last() * double[-1]
        fall, twice = self._alone(averages, single, 1, missing), self._alone(averages, single, 2, square)
        return Moments(
            first=1 - fall,
            second=1 - 2 * fall + self._closed(pairs, tail) + twice,
            across=2 * self._alone(averages, single, 2, missing) - twice,
            noise=self._alone(averages, single, 2, ONE),
        )

    def _others(self, averages: Averages) -> tuple[list[Ball], list[Ball]]:
        """n phi^{n-1} and n (n-1) phi^{n-2}."""
        phi = [1 - q for q in averages.complement()]
        single = [self.n * power(value, self.n - 1) for value in phi]
        return single, [self.n * (self.n - 1) * power(value, self.n - 2) for value in phi]

    def _alone(self, averages: Averages, single: list[Ball], k: int, profile: dict[int, Ball]) -> Ball:
        """n int A_k[h] phi^{n-1} du for 0 <= h <= the size of its profile: E sum_i a_i^k h_i."""
        total, tail = _dot(averages.mean(k, profile), single), size(profile) * single[-1] * self._beyond_last()
        before = [self._before_first(j, profile) for j in (1, 2)]
        if k == 1:
            return self._closed(total, tail, self._first_order(*before))
        return self._closed(total, tail + self.n * before[1] / 2)

    def _first_order(self, once: Ball, twice: Ball) -> Ball:
        """The left end for k = 1, from e^{u_0} E[h g] and e^{2 u_0} E[h g^2]."""
        step = arb(self.nodes.step)
        rest = twice + (self.n - 1) * once * self._before_first(1, ONE)
        return self.n * (once * step / step.expm1() - arb(0).union(rest.abs_upper()) / 2)

    def _diagonal(self, averages: Averages, k: int) -> list[Ball]:
        """A_k[sum_l 2 k_l (1 - P_l)]."""
        listed = averages.mean(k, self._variogram())
        if self.spectrum.rest.is_zero():
            return listed
        rest = 2 * self.spectrum.rest
        pairs = zip(listed, averages.mean(k, ONE), averages.beyond(k), strict=True)
        return [value + rest * (mean + _within(bound)) for value, mean, bound in pairs]

    def _pairs(self, averages: Averages) -> list[Ball]:
        """sum_l k_l A_1[1 - P_l]^2."""
        total = [arb(0)] * self.nodes.count
        for degree, k in self.spectrum.coefficients.items():
            one = averages.mean(1, {0: arb(1), degree: arb(-1)})
            total = [before + k * value**2 for before, value in zip(total, one, strict=True)]
        if self.spectrum.rest.is_zero():
            return total
        rest = zip(total, averages.mean(1, ONE), averages.beyond(1), strict=True)
        return [before + self.spectrum.rest * (mean + _within(bound)) ** 2 for before, mean, bound in rest]

    def _variogram(self) -> dict[int, Ball]:
        """sum_l 2 k_l (1 - P_l) over the listed harmonics, as a profile."""
        listed = self.spectrum.coefficients
        return {0: 2 * sum(listed.values(), arb(0)), **{degree: -2 * k for degree, k in listed.items()}}

    def _before_first(self, k: int, profile: dict[int, Ball]) -> Ball:
        """e^{k u_0} E[h g^k]."""
        kappa = k * self.w
        moment = (-kappa).exp() * combine(profile, exponential_averages(self.d, kappa, self.spectrum.top))
        return (k * arb(self.nodes.low)).exp() * moment

    def _variogram_before_first(self, k: int) -> Ball:
        """e^{k u_0} E[h g^k] of the variogram h; harmonics of the rest have 0 <= 1 - P_l <= 2."""
        rest = 4 * self.spectrum.rest * self._before_first(k, ONE)
        return self._before_first(k, self._variogram()) + arb(0).union(rest.abs_upper())

    def _bias_before_first(self) -> Ball:
        """The left end of both parts of B; harmonics of the rest have 1 - P_l <= 2."""
        total = self.n * self._variogram_before_first(2) / 2
        squares = [
            k * self._before_first(1, {0: arb(1), degree: arb(-1)}) ** 2
            for degree, k in self.spectrum.coefficients.items()
        ]
        rest = 4 * self.spectrum.rest * self._before_first(1, ONE) ** 2
        return total + self.n * (self.n - 1) * sum(squares, rest) / 2

    def _beyond_last(self) -> Ball:
        """The bound on the sum of A_2[1], or of A_1[1]^2, over the nodes beyond the last."""
        bound = 1 + discretisation(self.nodes.step)
        y = arb(self.nodes.high) - 2 * self.w
        if y > arb(2).log():
            bound = bound.min((1 + y.exp()) * (-y.exp()).exp())
        return bound

    def _closed(self, total: Ball, tail: Ball, before: Ball | int = 0) -> Ball:
        """The integral from the sum over the nodes: `before`, and between 0 and `tail`, is left out; the rule errs."""
        complete = arb(self.nodes.step) * total + before + arb(0).union(tail.abs_upper())
        return complete / (1 + _within(discretisation(self.nodes.step)))


def discretisation(step: float) -> Ball:
    """eta at b = pi/2 - h/pi, about where it is least."""
    h = arb(step)
    b = arb.pi() / 2 - h / arb.pi()
    return 2 * b.cos() ** -2 / (2 * arb.pi() * b / h).expm1()


def power(phi: Ball, exponent: int) -> Ball:
    """phi^exponent for a phi in [0, 1], of which the ball may stick out; 0^0 = 1."""
    if exponent == 0:
        return arb(1)
    if phi > 0:
        return (exponent * phi.log()).exp()
    top = arb(phi.abs_upper())
    return arb(0).union((exponent * top.log()).exp()) if top > 0 else arb(0)


def _dot(one: list[Ball], other: list[Ball]) -> Ball:
    return sum((a * b for a, b in zip(one, other, strict=True)), arb(0))


def _within(bound: Ball) -> Ball:
    """[-bound, bound]."""
    return arb(0, bound.abs_upper())
