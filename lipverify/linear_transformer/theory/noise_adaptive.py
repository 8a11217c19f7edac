r"""Two layers that know two noise levels: one with only yx, one with only yy.

Let x_i ~ N(0, I/n), w* ~ N(0, I), y_i = <w*, x_i> + sigma eps_i. Then Sigma = sum x x^T tends to I, alpha = sum y x to
w* + sigma z with z ~ N(0, I), and ridge regression with constant sigma^2 (which is Bayes) to alpha / (1 + sigma^2).
The weight vector of the two layers is

    w = c (1 + (v/n) lambda) alpha,    yx = -c,  yy = v/n,

lambda the sum of squared labels that the layer with yy sees, and lambda / n tends to sigma^2: so w tends to c (1 + v
sigma^2) alpha. Ridge at two levels is two linear equations in (c, c v), with one solution,

    v = -1 / (1 + sigma_1^2 + sigma_2^2),    c = (1 + sigma_1^2 + sigma_2^2) / ((1 + sigma_1^2) (1 + sigma_2^2)).

At equal levels one equation is left, and this is the solution that also has the right slope in sigma^2.

At finite n the difference Delta = w - w_ridge has exact moments given the eigenvalues t of Sigma. Along eigenvector j
the labels have the component g_j ~ N(0, tau_j), tau_j = t_j + sigma^2, so alpha_j = sqrt(t_j) g_j and w_ridge =
alpha_j / tau_j; the other n - d components are noise. The layer with yy sees lambda = sigma^2 chi^2_{n-d} + sum_k b_k
g_k^2 with b_k = 1 if it is the first and (1 - c t_k)^2 if it is the second. With u = c v / n, mean Lambda and variance
V of lambda, and zeta_j = c + u Lambda - 1 / tau_j,

    E |Delta|^2 = sum_j t_j tau_j (zeta_j^2 + 4 u b_j tau_j zeta_j + u^2 (V + 8 b_j^2 tau_j^2)),
    E <Delta, w*> = sum_j t_j (zeta_j + 2 u b_j tau_j),

in which nothing cancels but zeta. What remains is an average over the eigenvalues: for d = 1 a gamma law, for d = 2
the independent pair of a gamma and a beta law (trace, and squared share of the gap).

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, Theorem 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import sympy
from scipy.optimize import linprog

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import chosen, number, whole
from lipverify.linear_transformer.layer import Diagonal
from lipverify.linear_transformer.theory.small_wishart import eigenvalue_rule

Order = Literal["yx-yy", "yy-yx"]
ORDERS: tuple[Order, ...] = ("yx-yy", "yy-yx")
"""Which of the two layers is the first."""
NODES = 48
"""Of each Gauss rule; half as many show what they leave."""
c, v, s, s_1, s_2 = sympy.symbols("c v s s_1 s_2", nonnegative=True)


@lru_cache(maxsize=1)
def solution() -> dict[sympy.Symbol, sympy.Expr]:
    """(c, v) in the squared levels s_1, s_2: the one solution of c (1 + v s_i) = 1 / (1 + s_i).

    >>> solution()[v]
    -1/(s_1 + s_2 + 1)
    """
    product = sympy.Symbol("p")
    linear = [(c + product * level) * (1 + level) - 1 for level in (s_1, s_2)]
    (found,) = sympy.solve(linear, [c, product], dict=True)
    return {c: sympy.factor(found[c]), v: sympy.factor(found[product] / found[c])}


@lru_cache(maxsize=1)
def _numbers() -> dict[sympy.Symbol, Callable[[float, float], float]]:
    """The solution as functions of floats."""
    return {symbol: sympy.lambdify((s_1, s_2), found) for symbol, found in solution().items()}


@dataclass(frozen=True)
class TwoLevels:
    """The two layers for the noise levels sigma_1 and sigma_2.

    >>> model = TwoLevels(0.0, 1.0)
    >>> model.c, model.v, model.shrinkage(1.0)
    (1.0, -0.5, 0.5)
    """

    sigma_1: float
    sigma_2: float

    def __post_init__(self) -> None:
        number("sigma_1", self.sigma_1, "a standard deviation", least=0)
        number("sigma_2", self.sigma_2, "a standard deviation", least=0)

    @property
    def c(self) -> float:
        """Minus the weight yx."""
        return self._value(c)

    @property
    def v(self) -> float:
        """The weight yy, times n."""
        return self._value(v)

    def shrinkage(self, sigma: float) -> float:
        """The limit c (1 + v sigma^2) of w / alpha at any level."""
        return self.c * (1 + self.v * sigma**2)

    def layers(self, n: float, order: Order = "yx-yy") -> tuple[Diagonal, Diagonal]:
        """The two layers for contexts of n tokens."""
        chosen("order", order, ORDERS)
        step, shrink = Diagonal(0.0, 0.0, -self.c, 0.0), Diagonal(0.0, 0.0, 0.0, self.v / n)
        return (step, shrink) if order == "yx-yy" else (shrink, step)

    def _value(self, symbol: sympy.Symbol) -> float:
        return float(_numbers()[symbol](self.sigma_1**2, self.sigma_2**2))


@dataclass(frozen=True)
class Difference:
    """How far two layers are from ridge: E |w - w_ridge|^2 / d and E <w - w_ridge, w*> / d, with their errors."""

    square: float
    square_error: float
    mean: float
    mean_error: float


@makes("bounded", "exact")
def difference(d: int, n: float, sigma: float, yx: float, yy: float, order: Order = "yx-yy") -> Difference:
    """The exact distance from ridge with constant sigma^2 at d = 1 or 2, for n tokens and any weights.

    Raises
    ------
    InvalidInput
        If n <= d, sigma is not a level, or the order is not known.
    OutOfReach
        If d is not 1 or 2: the average over eigenvalues is then left to sampling.

    >>> model = TwoLevels(0.5, 1.0)
    >>> near, far = (difference(2, n, 1.0, -model.c, model.v / n) for n in (1e4, 1e6))
    >>> round(near.square / far.square), round(near.mean / far.mean)
    (100, 100)
    """
    number("sigma", sigma, "a standard deviation", least=0)
    chosen("order", order, ORDERS)
    if not n > whole("d", d, least=1):
        raise InvalidInput(f"n = {n!r}: more than d = {d} tokens are needed.")
    if d > 2:
        raise OutOfReach(f"d = {d}: exact for d = 1 and 2; sample contexts for more.")
    (square, mean), (coarse_square, coarse_mean) = (
        _averages(*eigenvalue_rule(d, n, nodes), n, sigma, yx, yy, order) for nodes in (NODES, NODES // 2)
    )
    rounding = 64 * float(np.finfo(float).eps) * (abs(yx) + abs(yx * yy) * n * (1 + sigma**2) + 1)
    return Difference(
        square=square,
        square_error=abs(square - coarse_square) + 4 * rounding * math.sqrt(square) * (1 + sigma) + rounding**2,
        mean=mean,
        mean_error=abs(mean - coarse_mean) + rounding,
    )


def leading_square(model: TwoLevels, d: int, sigma: float) -> float:
    """The limit of n E |w - w_ridge|^2 / d at one of the two levels, in any dimension and either order.

    (1 + s) (2 (c v s)^2 + (d + 1) / (1 + s)^4): the first term is the fluctuation of lambda / n, the second that of
    Sigma.
    """
    level, product = sigma**2, model.c * model.v
    return (1 + level) * (2 * (product * level) ** 2 + (d + 1) / (1 + level) ** 4)


def leading_mean(model: TwoLevels, d: int, sigma: float, order: Order = "yx-yy") -> float:
    """The limit of n E <w - w_ridge, w*> / d at one of the two levels.

    With b = (1 - c)^2, or 1 if yy acts first: c v (b (d + 2) (1 + s) - d s) + (d + 1) s / (1 + s)^3.
    """
    level, b = sigma**2, (1 - model.c) ** 2 if order == "yx-yy" else 1.0
    return model.c * model.v * (b * (d + 2) * (1 + level) - d * level) + (d + 1) * level / (1 + level) ** 3


def worst_at(levels: tuple[float, ...], adapting: bool = True) -> float:
    r"""The least over the weights of the largest |c (1 + v s)(1 + s) - 1| over squared levels s.

    This is how far from ridge the two layers are in the limit, relatively.

    A linear Chebyshev problem, solved as one. Zero for two levels; positive for three, because 1 / (1 + s) is strictly
    convex and meets a line at most twice. Without the second weight (`adapting` false) v = 0.

    >>> round(worst_at((0.25, 1.0)), 12), round(worst_at((0.0, 1.0, 4.0)), 6)
    (0.0, 0.230769)
    >>> round(worst_at((0.0, 1.0), adapting=False), 12)
    0.333333333333
    """
    level = np.asarray(levels, dtype=float)
    basis = np.stack([1 + level, level * (1 + level)] if adapting else [1 + level], axis=1)
    bound = np.ones((len(level), 1))
    above, below = np.hstack([basis, -bound]), np.hstack([-basis, -bound])
    cost = np.zeros(above.shape[1])
    cost[-1] = 1.0
    free = [(None, None)] * basis.shape[1] + [(0, None)]
    limits = np.concatenate([np.ones(len(level)), -np.ones(len(level))])
    return float(linprog(cost, A_ub=np.vstack([above, below]), b_ub=limits, bounds=free).fun)


def _averages(
    t: Floats, weight: Floats, n: float, sigma: float, yx: float, yy: float, order: Order
) -> tuple[float, float]:
    """Both moments from eigenvalues (nodes, d) and their weights (nodes,)."""
    d, level, u = t.shape[1], sigma**2, -yx * yy
    tau = t + level
    b = (1 + yx * t) ** 2 if order == "yx-yy" else np.ones_like(t)
    mean = level * (n - d) + np.sum(b * tau, axis=1, keepdims=True)
    variance = 2 * level**2 * (n - d) + 2 * np.sum((b * tau) ** 2, axis=1, keepdims=True)
    zeta = u * mean - yx - 1 / tau
    square = t * tau * (zeta**2 + 4 * u * b * tau * zeta + u**2 * (variance + 8 * (b * tau) ** 2))
    along = t * (zeta + 2 * u * b * tau)
    return tuple(float(weight @ np.mean(part, axis=1)) for part in (square, along))  # type: ignore[return-value]
