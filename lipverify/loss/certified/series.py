r"""Averages over one token by power series in lambda: for problems in which lambda stays small.

With g = e^{-w(1-t)} and lambda = e^u,

    A_k[h](u) = E[h (lambda g)^k e^{-lambda g}] = sum_j (-1)^j lambda^{j+k} E[h g^{j+k}] / j!.

Stopping after J terms leaves at most |h| lambda^{J+k} E[g^{J+k}] / J!, because 0 <= y^J/J! bounds the
remainder of the alternating series of e^{-y}. The sum cancels to about e^{-2 lambda} of its largest term, which the
working precision makes up for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from flint import arb, arb_poly

from lipverify.loss.certified.harmonics import Ball, combine, exponential_averages, size
from lipverify.loss.certified.nodes import Nodes


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

    def up_to(self, top: int) -> PowerSeries:
        """The same averages for profiles up to another degree."""
        return replace(self, top=top)

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
