r"""The numbers of `record` for three laws without SymPy, so that a refusal needs no derivation and is immediate.

With a = (d-1)/2 and g = sqrt(pi) 2^{2-d} / Gamma(d/2), which is w^{-a} n N / sigma^2:

    next / N           3 |d-3| (d-1) / (16 w)
    next in 1/n / N    g (3 + sqrt(3) (4/3)^{d/2}) w^a / n
    law                B / L^2                                 next / B                 spread n w^{1-a} / (g L^2)
    Affine             (d-1)^2 / (12 d w^2)                    |d-3| / (2 w)            (d-1) / (6 d)
    ReLU               2 (2 - sqrt(2)) / (9 pi q w^{3/2})      3 pi (d-1)^2 q           (d-1) / (6 d)
                                                                 / (8 d (2 - sqrt(2)) sqrt(w))
    Quadratic          2 (d-1) / ((d+2) w^2)                   (d-1) / w                2 (d-1) / (d (d+2))

where q = Gamma((d-1)/2) / Gamma(d/2). No result depends on these: SymPy derives all values, and a test compares both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from lipverify.loss.asymptotic.powers import Numbers, Power
from lipverify.problem.law import Law, by_law
from lipverify.problem.laws import Affine, Quadratic, ReLU


@dataclass(frozen=True)
class Bias:
    """The row of a law in the table, with L put in.

    Attributes
    ----------
    log_constant, power
        log B + power log w, in units of y squared: B = e^{log_constant} w^{power}.
    next, next_power
        next w^{next_power} is the next term / B.
    spread
        spread g w^{a - 1} / n is the spread, in units of y squared.
    """

    log_constant: float
    power: float
    next: float
    next_power: float
    spread: float


@by_law
def _bias(law: Law, d: int) -> Bias | None:
    """The row of a law, registered by its class; None if it is not in the table."""
    return None


@_bias.register(Affine)
def _affine(law: Affine, d: int) -> Bias:
    log_constant, spread = math.log(law.L**2 * (d - 1) ** 2 / (12 * d)), 1 / (6 * d) * (d - 1) * law.L**2
    return Bias(log_constant, -2.0, abs(d - 3) / 2, -1.0, spread)


@_bias.register(ReLU)
def _relu(law: ReLU, d: int) -> Bias:
    log_q = math.lgamma((d - 1) / 2) - math.lgamma(d / 2)
    log_constant = math.log(2 * (2 - math.sqrt(2)) * law.L**2 / (9 * math.pi)) - log_q
    following = 3 * math.pi * (d - 1) ** 2 * math.exp(log_q) / (8 * d * (2 - math.sqrt(2)))
    return Bias(log_constant, -1.5, following, -0.5, 1 / (6 * d) * (d - 1) * law.L**2)


@_bias.register(Quadratic)
def _quadratic(law: Quadratic, d: int) -> Bias:
    log_constant, spread = math.log(2 * (d - 1) * law.L**2 / (d + 2)), 2 / (d * (d + 2)) * (d - 1) * law.L**2
    return Bias(log_constant, -2.0, d - 1.0, -1.0, spread)


def known(law: Law) -> bool:
    """True if all numbers of a law are known here; for other laws only those of the noise are."""
    return law.constant or _bias.has(law)


def closed_numbers(law: Law, d: int) -> Numbers:
    """The numbers of a law; those of its bias are None if they are not known here.

    >>> from lipverify.laws import Cosine
    >>> closed_numbers(Affine(), 5).bias, closed_numbers(Cosine(), 5).bias
    (Power(log_constant=-1.3217558399823195, power=-2.0, tokens=0.0), None)
    """
    a, noise = (d - 1) / 2, _log_noise(d)
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


def _log_noise(d: int) -> float:
    return (2 - d) * math.log(2) + math.log(math.pi) / 2 - math.lgamma(d / 2)
