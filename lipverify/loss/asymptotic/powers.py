"""Leading and next terms as powers of w and n, and the error estimates that follow from them.

For three laws `closed_numbers` gives them without SymPy, so that a refusal needs no derivation and is immediate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.validation import zero_or_more
from lipverify.problem.law import Law, by_law
from lipverify.problem.laws import Affine, Quadratic, ReLU, Scaled

SAFETY = 2.0
"""Factor on the next term: one for the term itself and one for all further terms."""


@dataclass(frozen=True)
class Power:
    """C w^p n^q, stored as logarithms, because constants over- or underflow for large d."""

    log_constant: float
    power: float
    tokens: float

    def __call__(self, x: Floats, log_n: float) -> Floats:
        """The value at w = e^x; infinite if it overflows."""
        with np.errstate(over="ignore"):
            return np.exp(self.log(x, log_n))

    def log(self, x: Floats, log_n: float) -> Floats:
        """The logarithm of the value at w = e^x."""
        return self.log_constant + self.power * x + self.tokens * log_n

    def rounding(self, x: Floats, log_n: float) -> Floats:
        """Relative error of a value: the rounding of the terms of its logarithm."""
        return 8 * EPS * (1 + abs(self.log_constant) + np.abs(self.power * x) + abs(self.tokens * log_n))


@dataclass(frozen=True)
class Numbers:
    """The leading terms of one law, at one d and one L."""

    noise: Power
    noise_next: Power
    tokens_next: Power
    bias: Power | None
    bias_next: Power | None
    spread: Power | None

    def noise_error(self, x: Floats, log_n: float) -> Floats:
        """Estimated relative error of the noise."""
        # e^{-2w}, the weight at the antipode, is the error if the series in 1/w ends, as for d = 3
        with np.errstate(over="ignore"):
            return SAFETY * (self.noise_next(x, log_n) + 2 * _antipode(x) + self.tokens_next(x, log_n))

    def bias_error(self, x: Floats, log_n: float) -> Floats:
        """Estimated relative error of the bias."""
        if self.bias is None or self.bias_next is None or self.spread is None:
            return np.zeros_like(x)
        with np.errstate(over="ignore"):
            spread = np.exp(self.spread.log(x, log_n) - self.bias.log(x, log_n))
            antipode = 4 * (1 + np.exp(x)) * _antipode(x)
            return SAFETY * (self.bias_next(x, log_n) + antipode + spread + self.tokens_next(x, log_n))


def _antipode(x: Floats) -> Floats:
    """e^{-2w}, the weight of a token at the antipode of the query."""
    with np.errstate(over="ignore"):
        return np.exp(-2 * np.exp(x))


@dataclass(frozen=True)
class Bias:
    """The row of a law in the table of `closed_numbers`, with L put in.

    B = e^{log_constant} w^{power}, the next term is B next w^{next_power}, and the spread is spread g w^{a - 1} / n.
    """

    log_constant: float
    power: float
    next: float
    next_power: float
    spread: float


@by_law
def _bias(law: Law, d: int) -> Bias | None:
    return None


def _square(law: Scaled) -> float:
    return zero_or_more("L", law.L, "the Lipschitz constant") ** 2


@_bias.register(Affine)
def _affine(law: Affine, d: int) -> Bias:
    log_constant, spread = math.log(_square(law) * (d - 1) ** 2 / (12 * d)), 1 / (6 * d) * (d - 1) * _square(law)
    return Bias(log_constant, -2.0, abs(d - 3) / 2, -1.0, spread)


@_bias.register(ReLU)
def _relu(law: ReLU, d: int) -> Bias:
    log_q = math.lgamma((d - 1) / 2) - math.lgamma(d / 2)
    log_constant = math.log(2 * (2 - math.sqrt(2)) * _square(law) / (9 * math.pi)) - log_q
    following = 3 * math.pi * (d - 1) ** 2 * math.exp(log_q) / (8 * d * (2 - math.sqrt(2)))
    return Bias(log_constant, -1.5, following, -0.5, 1 / (6 * d) * (d - 1) * _square(law))


@_bias.register(Quadratic)
def _quadratic(law: Quadratic, d: int) -> Bias:
    log_constant, spread = math.log(2 * (d - 1) * _square(law) / (d + 2)), 2 / (d * (d + 2)) * (d - 1) * _square(law)
    return Bias(log_constant, -2.0, d - 1.0, -1.0, spread)


def known(law: Law) -> bool:
    """True if all numbers of a law are known here; for other laws only those of the noise are."""
    return law.constant or _bias.has(law)


def closed_numbers(law: Law, d: int) -> Numbers:
    r"""The numbers of a law; those of its bias are None if they are not known here.

    With a = (d-1)/2 and g = sqrt(pi) 2^{2-d} / Gamma(d/2), which is w^{-a} n N / sigma^2:

        next / N           3 |d-3| (d-1) / (16 w)
        next in 1/n / N    g (3 + sqrt(3) (4/3)^{d/2}) w^a / n
        law                B / L^2                              next / B               spread n w^{1-a} / (g L^2)
        Affine             (d-1)^2 / (12 d w^2)                 |d-3| / (2 w)          (d-1) / (6 d)
        ReLU               2 (2 - sqrt(2)) / (9 pi q w^{3/2})   3 pi (d-1)^2 q         (d-1) / (6 d)
                                                                  / (8 d (2 - sqrt(2)) sqrt(w))
        Quadratic          2 (d-1) / ((d+2) w^2)                (d-1) / w              2 (d-1) / (d (d+2))

    where q = Gamma((d-1)/2) / Gamma(d/2). No value depends on these: SymPy derives all of them, and a test compares.
    """
    a, noise = (d - 1) / 2, (2 - d) * math.log(2) + math.log(math.pi) / 2 - math.lgamma(d / 2)
    tokens = noise + math.log(3 + math.sqrt(3) * (4 / 3) ** (d / 2))
    bias = None if law.constant else _bias(law, d)
    return Numbers(
        noise=Power(noise, a, -1.0),
        noise_next=_power(3 * abs(d - 3) * (d - 1) / 16, -1.0),
        tokens_next=Power(tokens, a, -1.0),
        bias=Power(bias.log_constant, bias.power, 0.0) if bias else None,
        bias_next=_power(bias.next, bias.next_power) if bias else None,
        spread=Power(noise + math.log(bias.spread), a - 1, -1.0) if bias else None,
    )


def _power(constant: float, power: float) -> Power:
    return Power(math.log(constant), power, 0.0) if constant else Power(-math.inf, 0.0, 0.0)
