r"""The number of layers of GD++ that leave a relative error of epsilon, on spectra of condition number kappa.

Counts are integers, which hardly show a slope. So the question is inverted: how large a kappa can L layers handle at a
given epsilon, and how small an epsilon at a given kappa? Both are smooth, known up to rounding, and cover any L.

A bound for all weights: the residual is a polynomial in t of degree D <= (3^L - 1) / 2 with value 1 at 0, and
Chebyshev's bound max |r| >= 1 / T_D((kappa + 1) / (kappa - 1)) on [1/kappa, 1] gives

    L >= log_3(1 + 2 D),    D = arcosh(1/epsilon) / (2 artanh(1 / sqrt kappa)),

about log_9 kappa + log_3 log(2/epsilon).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from lipverify.checks.linear_transformers.condition_numbers import METHODS, Method, residual
from lipverify.checks.linear_transformers.quantities import require
from lipverify.claims import proved
from lipverify.errors import InvalidInput, OutOfReach

BITS = 1024
"""Bits of precision of the balls: every layer costs a few."""
MOST_LAYERS = 10_000
LARGE, LARGEST_LOG = 1e34, 80.0
"""From this kappa on a step multiplies kappa by its limit factor, up to rounding; and 1 + x = x in the bound below."""
ROUNDING = 1e-12
"""Relative error of a logarithm or a count: a few hundred roundings."""
SETTLED = 40.0
"""Once kappa - 1 < e^{-40} the recursion is quadratic up to rounding."""


def layers_needed(method: Method, kappa: float, decades: int) -> int:
    """The smallest number of layers that leaves at most epsilon = 10^{-decades}, decided with balls of Arb.

    Raises
    ------
    InvalidInput
        If kappa <= 1 or `decades` < 1.
    OutOfReach
        If a ball contains epsilon, or there is no such number below 10,000.

    >>> [layers_needed(METHODS["minimax"], 10.0, decades) for decades in (1, 10, 100, 1000, 10_000)]
    [3, 6, 10, 13, 16]
    """
    from flint import arb, ctx

    require(decades >= 1, f"decades = {decades!r}: at least 1.")
    _require_condition(kappa)
    with ctx.workprec(BITS):
        epsilon, excess = arb(10) ** -decades, arb(kappa) - 1
        for layers in range(1, MOST_LAYERS):
            left = residual(excess)
            if left <= epsilon:
                return layers
            if not left > epsilon:
                raise OutOfReach(f"kappa = {kappa!r}, decades = {decades}: {BITS} bits do not decide layer {layers}.")
            excess = method.improve(excess)
    raise OutOfReach(f"kappa = {kappa!r}: more than {MOST_LAYERS} layers; no method with xx needs so many.")


def log_condition_reached(method: Method, epsilon: float, layers: int) -> float:
    """The logarithm of the largest kappa at which the given layers leave epsilon: an inverse step for each layer of xx.

    The cost is the same for any number of layers: from kappa = 1e34 on each of them adds log(gain), up to rounding.

    >>> [round(math.exp(log_condition_reached(METHODS["minimax"], 0.5, layers)), 3) for layers in (1, 2)]
    [3.0, 13.409]
    """
    _require_accuracy(epsilon)
    _require_layers(layers)
    excess, steps = 2 * epsilon / (1 - epsilon), layers - 1
    while steps and excess < LARGE:
        excess, steps = _increasing_root(method.improve, excess), steps - 1
    return math.log1p(excess) + steps * math.log(method.gain)


def log_log_accuracy_reached(method: Method, kappa: float, layers: int) -> float:
    """The double logarithm log log(1 / epsilon), where epsilon < 1 is the residual of the given layers at kappa.

    >>> [round(math.exp(log_log_accuracy_reached(METHODS["minimax"], 2.0, layers)), 3) for layers in (1, 5)]
    [1.099, 31.76]
    """
    _require_condition(kappa)
    _require_layers(layers)
    excess, steps = kappa - 1, layers - 1
    while steps and excess > math.exp(-SETTLED):
        excess, steps = method.improve(excess), steps - 1
    if not steps:
        return math.log(-math.log(residual(excess)))
    # kappa' - 1 = q (kappa - 1)^2 from here on: -log(kappa - 1) - log(q) doubles
    log_q = math.log(method.improve(excess)) - 2 * math.log(excess)
    doubled = -math.log(excess) - log_q
    return math.log(doubled) + steps * math.log(2) + math.log1p((log_q + math.log(2)) / doubled * 2.0**-steps)


def chebyshev_log_condition_reached(epsilon: float, layers: int) -> float:
    r"""The logarithm of the largest kappa at which `chebyshev_weights` leave 1/3 <= epsilon < 1.

    It is where sin(n theta) = epsilon n sin(theta), on the first lobe.

    >>> round(math.exp(chebyshev_log_condition_reached(0.5, 1)), 6)  # r = 1 - 4 t / 3
    2.666667
    """
    from scipy.optimize import brentq

    if not 1 / 3 <= epsilon < 1:
        raise InvalidInput(f"epsilon = {epsilon!r}: the side lobes are below 1/3; choose 1/3 <= epsilon < 1.")
    _require_layers(layers)
    # for n > 3^40, n sin(x / n) = x up to rounding
    n = 3.0 ** min(layers, 40)
    lobe = brentq(lambda x: math.sin(x) / (n * math.sin(x / n)) - epsilon, 1e-3, math.pi, xtol=1e-15)
    return -2 * math.log(math.sin(lobe / n)) + max(layers - 40, 0) * math.log(9)


def least_layers(log_kappa: float, epsilon: float) -> float:
    """A lower bound on the layers of any GD++, as a real number.

    >>> round(least_layers(math.log(3.0), 0.5), 12)  # one layer leaves exactly 1/2
    1.0
    """
    _require_accuracy(epsilon)
    # 1 / (2 artanh(kappa^{-1/2})) = e^{log_kappa / 2} / 2 up to rounding where the exponential would overflow
    if log_kappa > LARGEST_LOG:
        return (math.log(math.acosh(1 / epsilon)) + log_kappa / 2) / math.log(3)
    return math.log1p(2 * chebyshev_steps(math.exp(log_kappa), epsilon)) / math.log(3)


def chebyshev_steps(kappa: float, epsilon: float) -> float:
    """The degree of the best residual polynomial, which is also the number of layers of gradient descent with the best
    step for each.
    """
    _require_condition(kappa)
    _require_accuracy(epsilon)
    return math.acosh(1 / epsilon) / (2 * math.atanh(1 / math.sqrt(kappa)))


def _increasing_root(f: Callable[[Any], Any], value: float) -> float:
    """The h with f(h) = value for an increasing f with f(h) < h, in the logarithm of h."""
    from scipy.optimize import brentq

    low = math.log(value)
    # a layer reduces a large condition number by at most the factor 9, and a small one to at least (kappa - 1)^2 / 9
    high = max(low + math.log(9), (low + math.log(9)) / 2) + 1
    return math.exp(brentq(lambda x: math.log(f(math.exp(x))) - math.log(value), low, high, xtol=1e-15, rtol=1e-15))


def _require_condition(kappa: float) -> None:
    require(1 < kappa < math.inf, f"kappa = {kappa!r}: a condition number here is finite and above 1.")


def _require_accuracy(epsilon: float) -> None:
    require(0 < epsilon < 1, f"epsilon = {epsilon!r}: a relative error is between 0 and 1.")


def _require_layers(layers: int) -> None:
    require(layers >= 1, f"layers = {layers!r}: at least 1.")


def _rounded(value: float, relative: float = ROUNDING) -> tuple[float, float]:
    return value, relative * abs(value)


def condition(weights: str, epsilon: float, layers: float) -> dict[str, tuple[float, float]]:
    """The logarithm of the largest kappa at which the given layers leave epsilon, and the layers divided by it."""
    reached = log_condition_reached(METHODS[weights], epsilon, round(layers))
    return {"log kappa": _rounded(reached), "layers": _rounded(layers / reached)}


def accuracy(weights: str, kappa: float, layers: float) -> dict[str, tuple[float, float]]:
    """The double logarithm of 1 / epsilon for the residual epsilon of the given layers at kappa, and the layers divided by it."""
    reached = log_log_accuracy_reached(METHODS[weights], kappa, round(layers))
    return {"log log 1/epsilon": _rounded(reached), "layers": _rounded(layers / reached)}


def counts(weights: str, kappa: float, decades: Sequence[int]) -> list[int]:
    """Whole layers for epsilon = 10^-k, decided by balls of Arb."""
    return [layers_needed(METHODS[weights], kappa, k) for k in decades]


def offset(weights: str, kappa: float) -> dict[str, tuple[float, float]]:
    """The smallest and the largest L - log(kappa)/log(g) - log_2 log(1/epsilon), over epsilon from 10^-1 to 10^-10000."""
    decades = (1, 2, 3, 4, 6, 9, 12, 30, 100, 300, 1000, 3000, 10_000)
    first = math.log(kappa) / math.log(METHODS[weights].gain)
    beyond = [
        L - first - math.log2(k * math.log(10)) for k, L in zip(decades, counts(weights, kappa, decades), strict=True)
    ]
    return {"least": _rounded(min(beyond)), "largest": _rounded(max(beyond))}


def every_offset() -> Any:
    """C of the theorem about every kappa and epsilon."""
    from lipverify.proofs import prove_layers

    return proved("lt-layers", "layers", {}, prove_layers).fact("C")


def chebyshev(epsilon: float, layers: float) -> dict[str, tuple[float, float]]:
    """With xx = yx: layers minus the minimum for any weights, at the kappa they reach; and layers divided by log kappa."""
    reached = chebyshev_log_condition_reached(epsilon, round(layers))
    surplus = layers - least_layers(
        reached, epsilon
    )  # the factor covers a difference of counts a hundred times as large
    return {"surplus": _rounded(surplus, 1000 * ROUNDING), "layers": _rounded(layers / reached)}


SPECTRUM = r"$\Sigma = \sum_i x_i x_i^\top$ has its eigenvalues in $[1/\kappa, 1]$, in units of the largest"
NOISY = "$w^*$ is the least-squares solution; the labels may be noisy"
BEST = r"$\omega_{xx}$ is the best one for $\kappa$ in each layer, $\omega_{yx}$ acts in the last alone"
EITHER = (
    r"the best $\omega_{xx}$ for $\kappa$ ($g = 27/4$), or the one of Newton and Schulz for every $\kappa$ ($g = 9/4$)"
)
"""The assumptions of the claims on Theorem 5.1."""
ACCURACIES, CONDITIONS, RAY = (0.5, 1e-6, 1e-12), (2.0, 10.0, 1e3, 1e6), (1e3, 1e9)
