"""One context: the average over n tokens becomes one sum over u = log(lambda), with a bound on its error.

With S_i = w (1 - t_i), A_k[h](u) = E[h e^{k(u-S)} exp(-e^{u-S})], phi = A_0[1] and a law E f(x) f(x') = sum_l k_l P_l,

    N / sigma^2 = n int A_2[1] phi^{n-1} du,
    B = sum_l k_l { n int A_2[2 (1 - P_l)] phi^{n-1} du + n (n-1) int A_1[1 - P_l]^2 phi^{n-2} du }.

(B is E sum_ij a_i a_j of the covariance of f(x_i) - f(x) and f(x_j) - f(x); for i = j that is
2 sum_l k_l (1 - P_l(t_i)), and for i != j the average over the directions of the tokens turns P_l(<x_i, x_j>) into
P_l(t_i) P_l(t_j).) All averages are of h >= 0, and that makes the trapezoidal rule on the whole line certain:

* **step.** In the strip |Im u| <= b < pi/2, |e^{-e^{u-S}}| = e^{-cos(b) e^{x-S}}, so |A_k[h](x + ib)| <= cos(b)^{-k}
  A_k[h](x + log cos b). The integral of |integrand| along the edge of the strip is therefore at most cos(b)^{-2} times
  the integral I itself, and the rule is off by at most eta I with eta = 2 cos(b)^{-2} / (e^{2 pi b / h} - 1) (Trefethen
  and Weideman, SIAM Review 56 (2014), theorem 5.1), whatever d, n, w and the law.
* **left end.** A_k[h](u) <= e^{ku} E[h g^k], g = e^{-S}: the nodes before the first, u_0, add at most
  n e^{2 u_0} E[h g^2] / 2, and n (n-1) e^{2 u_0} E[h g]^2 / 2 for pairs.
* **right end.** phi falls, so nodes beyond the last, u_J, add at most n max(h) phi(u_J)^{n-1} times the sum of A_2[1]
  over them; for pairs, n (n-1) max(h)^2 phi(u_J)^{n-2} times that of A_1[1]^2. Either sum is at most 1 + eta, being
  part of the rule for one token (int A_2[1] du = 1) or two (int A_1[1]^2 du = E a_1 a_2 <= 1/4). With
  y = u_J - 2w >= log 2 it is at most int_y^oo e^{2v} exp(-e^v) dv = (1 + e^y) e^{-e^y} as well, because S <= 2w: this
  closes n = 2, where phi^0 does not help.

The proof uses only the `Nodes` themselves. Their ends and number are chosen with doubles: a poor choice makes the balls
wide, never wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from flint import arb

from lipverify.errors import OutOfReach
from lipverify.loss.certified.harmonics import Ball, combine, exponential_averages
from lipverify.loss.certified.spectra import Spectrum

GRAIN = 64
"""Ends and steps are multiples of 1/64: exact as doubles, exact as balls."""


@dataclass(frozen=True)
class Nodes:
    """u_j = low + j step, j = 0..count-1; `low` and `step` are exact in binary."""

    low: float
    step: float
    count: int

    @property
    def high(self) -> float:
        """low + (count - 1) step, the last node."""
        return self.low + (self.count - 1) * self.step

    def u(self) -> list[Ball]:
        """The nodes as exact balls."""
        return [arb(self.low) + arb(self.step) * j for j in range(self.count)]

    @classmethod
    def place(cls, d: int, n: int, w: float, goal: float) -> Nodes:
        """Nodes for a relative error of about e^{-goal}."""
        step = _step(goal)
        low = step * math.floor(_low(d, n, w, goal) / step)
        high = _high(d, n, w, goal + 2 * math.log(n) + 2 * math.log1p(w))
        return cls(low, step, math.ceil((high - low) / step) + 1)


def _step(goal: float) -> float:
    """The largest step for which `discretisation` is below e^{-goal}, from -log of it = pi^2/h - 2 log(pi/h) - 2.7."""
    step = 1.0
    for _ in range(20):
        step = math.pi**2 / (goal + 2.7 + 2 * math.log(math.pi / step))
    return max(1, math.floor(GRAIN * step)) / GRAIN


def _low(d: int, n: int, w: float, goal: float) -> float:
    """Where n e^{2u} E g^2 has fallen to e^{-goal} / n."""
    mean_square = exponential_averages(d, arb(2 * w), 1)[0].log() - 2 * arb(w)
    if not mean_square.is_finite():
        raise OutOfReach(f"d = {d}, w = {w:g}: the averages of e^(2 w t) have no finite ball; use method='exact'.")
    return -goal / 2 - math.log(n) - float(mean_square) / 2


def _high(d: int, n: int, w: float, fall: float) -> float:
    """Where phi^{n-2} e^{-e^{u-2w}} has fallen to e^{-fall}, by bisection.

    With s = 2w / (1 + e^{-v}) the density of a deficit is proportional to cosh(v/2)^{1-d} dv.
    """
    v = np.linspace(-1, 1, 4001) * (3 + 300 / (d - 1))  # doubles: nothing certified depends on them
    weight = np.exp((1 - d) * (np.logaddexp(v / 2, -v / 2) - math.log(2)))
    s, weight = 2 * w / (1 + np.exp(-v)), weight / weight.sum()

    def fallen(u: float) -> bool:
        missing = float(weight @ -np.expm1(-np.exp(np.minimum(u - s, 50.0))))
        present = float(weight @ np.exp(-np.exp(np.minimum(u - s, 50.0))))
        log_phi = math.log1p(-missing) if missing < 0.5 else math.log(max(present, 1e-300))
        return -(n - 2) * log_phi + math.exp(min(u - 2 * w, 50.0)) >= fall

    low, high = -math.log(n) - 1, 2 * w + math.log(fall) + 1
    while high - low > 0.05:
        middle = (low + high) / 2
        low, high = (low, middle) if fallen(middle) else (middle, high)
    return high


ONE = {0: arb(1)}  # the profile h = 1


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
        phi = [1 - q for q in averages.complement()]
        single = [self.n * power(value, self.n - 1) for value in phi]
        double = [self.n * (self.n - 1) * power(value, self.n - 2) for value in phi]
        noise = _dot(averages.mean(2, ONE), single)
        bias = _dot(self._diagonal(averages), single) + _dot(self._pairs(averages), double)
        last = self._beyond_last()
        noise_tail = self.n * self._before_first(2, ONE) + single[-1] * last
        variance = self.spectrum.variance
        bias_tail = self._bias_before_first() + 4 * variance * last * (single[-1] + double[-1])
        return self._closed(noise, noise_tail), self._closed(bias, bias_tail)

    def _diagonal(self, averages: Averages) -> list[Ball]:
        """A_2[sum_l 2 k_l (1 - P_l)]."""
        listed = averages.mean(2, self._variogram())
        if self.spectrum.rest.is_zero():
            return listed
        rest = 2 * self.spectrum.rest
        pairs = zip(listed, averages.mean(2, ONE), averages.beyond(2), strict=True)
        return [value + rest * (mean + _within(bound)) for value, mean, bound in pairs]

    def _pairs(self, averages: Averages) -> list[Ball]:
        """sum_l k_l A_1[1 - P_l]^2."""
        total = [arb(0)] * self.nodes.count
        for degree, k in self.spectrum.coefficients.items():
            means = averages.mean(1, {0: arb(1), degree: arb(-1)})
            total = [before + k * value**2 for before, value in zip(total, means, strict=True)]
        if self.spectrum.rest.is_zero():
            return total
        rest = zip(total, averages.mean(1, ONE), averages.beyond(1), strict=True)
        return [before + self.spectrum.rest * (mean + _within(bound)) ** 2 for before, mean, bound in rest]

    def _variogram(self) -> dict[int, Ball]:
        """sum_l 2 k_l (1 - P_l) over the listed harmonics, as a profile."""
        listed = self.spectrum.coefficients
        return {0: 2 * sum(listed.values(), arb(0)), **{degree: -2 * k for degree, k in listed.items()}}

    def _before_first(self, k: int, profile: dict[int, Ball]) -> Ball:
        """e^{2 u_0} E[h g^k]^{2/k} / 2: the left end, with the square that pairs have."""
        kappa = k * self.w
        moment = (-kappa).exp() * combine(profile, exponential_averages(self.d, kappa, self.spectrum.top))
        return (2 * arb(self.nodes.low)).exp() * moment ** (2 // k) / 2

    def _bias_before_first(self) -> Ball:
        """The left end of both parts of B; harmonics of the rest have 1 - P_l <= 2."""
        single, double, rest = self.n, self.n * (self.n - 1), self.spectrum.rest
        total = single * (self._before_first(2, self._variogram()) + 4 * rest * self._before_first(2, ONE))
        for degree, k in self.spectrum.coefficients.items():
            total += double * k * self._before_first(1, {0: arb(1), degree: arb(-1)})
        return total + double * 4 * rest * self._before_first(1, ONE)

    def _beyond_last(self) -> Ball:
        """The bound on the sum of A_2[1], or of A_1[1]^2, over the nodes beyond the last."""
        bound = 1 + discretisation(self.nodes.step)
        y = arb(self.nodes.high) - 2 * self.w
        if y > arb(2).log():
            bound = bound.min((1 + y.exp()) * (-y.exp()).exp())
        return bound

    def _closed(self, total: Ball, tail: Ball) -> Ball:
        """The integral from the sum over the nodes, with a truncation error in [0, tail] and the error of the rule."""
        complete = arb(self.nodes.step) * total + arb(0).union(tail.abs_upper())
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


def _dot(first: list[Ball], second: list[Ball]) -> Ball:
    return sum((a * b for a, b in zip(first, second, strict=True)), arb(0))


def _within(bound: Ball) -> Ball:
    """[-bound, bound]."""
    return arb(0, bound.abs_upper())
