r"""The numbers of `derived` for three laws without SymPy, so that a refusal needs no derivation and is immediate.

With a = (d-1)/2 and g = sqrt(pi) 2^{2-d} / Gamma(d/2), which is w^{-a} n N / sigma^2:

    next / N           3 |d-3| (d-1) / (16 w)
    next in 1/n / N    g (3 + sqrt(3) (4/3)^{d/2}) w^a / n
    law                B / L^2                                 next / B                 spread n w^{1-a} / (g L^2)
    Affine             (d-1)^2 / (12 d w^2)                    |d-3| / (2 w)            (d-1) / (6 d)
    ReLU               2 (2 - sqrt(2)) / (9 pi q w^{3/2})      3 pi (d-1)^2 q           (d-1) / (6 d)
                                                                 / (8 d (2 - sqrt(2)) sqrt(w))
    Quadratic          2 (d-1) / ((d+2) w^2)                   (d-1) / w                2 (d-1) / (d (d+2))

where q = Gamma((d-1)/2) / Gamma(d/2). No result depends on these: `derived` makes all values, and a test compares both.
"""

from __future__ import annotations

import math

from lipverify.loss.asymptotic.powers import Numbers, Power
from lipverify.problem.law import Law
from lipverify.problem.laws import Affine, Quadratic, ReLU

BIAS: dict[type[Law], float] = {Affine: -2.0, ReLU: -1.5, Quadratic: -2.0}
"""The power of w in the bias."""


def known(law: Law) -> bool:
    """True if all numbers of a law are known here; for other laws only those of the noise are."""
    return law.constant or type(law) in BIAS


def closed_numbers(law: Law, d: int) -> Numbers:
    """The numbers of a law; those of its bias are None if they are not known here.

    >>> from lipverify.laws import Cosine
    >>> closed_numbers(Affine(), 5).bias, closed_numbers(Cosine(), 5).bias
    (Power(log_constant=-1.3217558399823195, power=-2.0, tokens=0.0), None)
    """
    a, noise = (d - 1) / 2, _log_noise(d)
    tokens = noise + math.log(3 + math.sqrt(3) * (4 / 3) ** (d / 2))
    bias = None if law.constant else _log_bias(law, d)
    return Numbers(
        noise=Power(noise, a, -1.0),
        noise_next=_power(3 * abs(d - 3) * (d - 1) / 16, -1.0),
        tokens_next=Power(tokens, a, -1.0),
        bias=None if bias is None else Power(bias, BIAS[type(law)], 0.0),
        bias_next=None if bias is None else _power(_next(law, d), -0.5 if isinstance(law, ReLU) else -1.0),
        spread=None if bias is None else Power(noise + _log_spread(law, d), a - 1, -1.0),
    )


def _power(constant: float, power: float) -> Power:
    return Power(math.log(constant), power, 0.0) if constant else Power(-math.inf, 0.0, 0.0)


def _log_noise(d: int) -> float:
    return (2 - d) * math.log(2) + math.log(math.pi) / 2 - math.lgamma(d / 2)


def _log_q(d: int) -> float:
    return math.lgamma((d - 1) / 2) - math.lgamma(d / 2)


def _log_bias(law: Law, d: int) -> float | None:
    match law:
        case Affine(L=L):
            return math.log(L**2 * (d - 1) ** 2 / (12 * d))
        case ReLU(L=L):
            return math.log(2 * (2 - math.sqrt(2)) * L**2 / (9 * math.pi)) - _log_q(d)
        case Quadratic(L=L):
            return math.log(2 * (d - 1) * L**2 / (d + 2))
    return None


def _next(law: Law, d: int) -> float:
    match law:
        case Affine():
            return abs(d - 3) / 2
        case ReLU():
            return 3 * math.pi * (d - 1) ** 2 * math.exp(_log_q(d)) / (8 * d * (2 - math.sqrt(2)))
    return d - 1.0


def _log_spread(law: Law, d: int) -> float:
    L = getattr(law, "L", 1.0)
    share = 2 / (d * (d + 2)) if isinstance(law, Quadratic) else 1 / (6 * d)
    return math.log(share * (d - 1) * L**2)
