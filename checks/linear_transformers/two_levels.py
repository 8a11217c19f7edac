r"""Two layers for two noise levels: one with only yx, one with only yy.

Let x_i ~ N(0, I/n), w* ~ N(0, I), y_i = <w*, x_i> + sigma eps_i. Then Sigma = sum x x^T tends to I, alpha = sum y x to
w* + sigma z with z ~ N(0, I), and ridge regression with constant sigma^2 (the Bayes estimator) to alpha / (1 +
sigma^2). The weight vector of the two layers is

    w = c (1 + (v/n) lambda) alpha,    yx = -c,  yy = v/n,

where lambda is the sum of squared labels before the layer with yy. lambda / n tends to sigma^2, so w tends to c (1 + v
sigma^2) alpha. Equality with ridge regression at two levels is two linear equations in (c, c v), with one solution,

    v = -1 / (1 + sigma_1^2 + sigma_2^2),    c = (1 + sigma_1^2 + sigma_2^2) / ((1 + sigma_1^2) (1 + sigma_2^2)).

At equal levels one equation remains, and this solution also has the right slope in sigma^2.

At finite n the difference Delta = w - w_ridge has exact moments given the eigenvalues t of Sigma. Along eigenvector j
the labels have the component g_j ~ N(0, tau_j), tau_j = t_j + sigma^2, so alpha_j = sqrt(t_j) g_j and w_ridge = alpha_j
/ tau_j; the other n - d components are noise. The layer with yy has lambda = sigma^2 chi^2_{n-d} + sum_k b_k g_k^2 with
b_k = 1 if it is the first and (1 - c t_k)^2 if it is the second. With u = c v / n, mean Lambda and variance V of
lambda, and zeta_j = c + u Lambda - 1 / tau_j,

    E |Delta|^2 = sum_j t_j tau_j (zeta_j^2 + 4 u b_j tau_j zeta_j + u^2 (V + 8 b_j^2 tau_j^2)),
    E <Delta, w*> = sum_j t_j (zeta_j + 2 u b_j tau_j),

in which nothing cancels but zeta. What remains is an average over the eigenvalues: for d = 1 a gamma law, for d = 2 the
independent pair of a gamma and a beta law (trace, and squared share of the gap).

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, Theorem 5.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from lipverify.checks.linear_transformers.quantities import Floats, Value, require
from lipverify.checks.linear_transformers.wishart import eigenvalue_rule
from lipverify.claims import makes, proved
from lipverify.errors import OutOfReach
from lipverify.linear_transformer import CategoricalNoise, Diagonal, draw_contexts, evaluation, readout
from lipverify.prompts import Prompts
from lipverify.sampling import mean_with_half_width

Order = Literal["yx-yy", "yy-yx"]
ORDERS: tuple[Order, ...] = ("yx-yy", "yy-yx")
"""Which of the two layers is the first."""
NODES = 48
"""Nodes of each Gauss rule; half as many give the error."""
PAIR = (0.5, 1.0)
"""The two noise levels of most measurements."""


def weights(s_1: Any, s_2: Any, first_term: int = 1) -> tuple[Any, Any]:
    """c = (1 + s_1 + s_2) / ((1 + s_1) (1 + s_2)) and v = -1 / (1 + s_1 + s_2), s the squared levels."""
    return (first_term + s_1 + s_2) / ((1 + s_1) * (1 + s_2)), -1 / (first_term + s_1 + s_2)


def _require_level(sigma: float) -> None:
    require(0 <= sigma < math.inf, f"sigma = {sigma!r}: a standard deviation is finite and at least 0.")


def _require_order(order: str) -> None:
    require(order in ORDERS, f"order = {order!r}: choose one of {', '.join(ORDERS)}.")


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
        for sigma in (self.sigma_1, self.sigma_2):
            _require_level(sigma)

    @property
    def c(self) -> float:
        """Minus the weight yx."""
        return float(weights(self.sigma_1**2, self.sigma_2**2)[0])

    @property
    def v(self) -> float:
        """The weight yy, times n."""
        return float(weights(self.sigma_1**2, self.sigma_2**2)[1])

    def shrinkage(self, sigma: float) -> float:
        """The limit c (1 + v sigma^2) of w / alpha at any level."""
        return self.c * (1 + self.v * sigma**2)

    def layers(self, n: float, order: Order = "yx-yy") -> tuple[Diagonal, Diagonal]:
        """The two layers for contexts of n tokens."""
        _require_order(order)
        step, shrink = Diagonal(0.0, 0.0, -self.c, 0.0), Diagonal(0.0, 0.0, 0.0, self.v / n)
        return (step, shrink) if order == "yx-yy" else (shrink, step)


def unit_contexts(d: int, n: int, sigma: float, count: int, seed: int, stream: str) -> Any:
    """Contexts with x ~ N(0, I/n) and one noise level, so that sum x x^T stays of order 1 for any number of tokens.

    They are the contexts with x ~ N(0, I) and noise sqrt(n) sigma, with all tokens divided by sqrt(n).

    >>> long = unit_contexts(2, 10**8, 0.5, 4, seed=0, stream="a")
    >>> bool(np.all(abs(long.covariance - np.eye(2)) < 1e-2)), bool(np.all(abs(long.energy / long.n - 0.25) < 1e-2))
    (True, True)
    """
    drawn = draw_contexts(Prompts(d=d, n=n, sigma=CategoricalNoise((sigma * math.sqrt(n),))), count, seed, stream)
    return replace(drawn, gram=drawn.gram / n, sigma=drawn.sigma / math.sqrt(n))


@dataclass(frozen=True)
class Difference:
    """The difference of the two layers from ridge regression: E |w - w_ridge|^2 / d and E <w - w_ridge, w*> / d, with their errors."""

    square: float
    square_error: float
    mean: float
    mean_error: float


@makes("bounded", "exact")
def difference(d: int, n: float, sigma: float, yx: float, yy: float, order: Order = "yx-yy") -> Difference:
    """The exact difference from ridge regression with constant sigma^2 at d = 1 or 2, for n tokens and any weights.

    Raises
    ------
    InvalidInput
        If n <= d, sigma is not a level, or the order is not known.
    OutOfReach
        If d is not 1 or 2; sample contexts then.

    >>> model = TwoLevels(0.5, 1.0)
    >>> near, far = (difference(2, n, 1.0, -model.c, model.v / n) for n in (1e4, 1e6))
    >>> round(near.square / far.square), round(near.mean / far.mean)
    (100, 100)
    """
    _require_level(sigma)
    _require_order(order)
    require(1 <= d < n, f"n = {n!r}: more than d = {d} tokens are needed.")
    if d > 2:
        raise OutOfReach(f"d = {d}: exact for d = 1 and 2; sample contexts for more.")
    (square, mean), (coarse_square, coarse_mean) = (
        _averages(t, weight, n, sigma, yx, yy, order)
        for t, weight in (eigenvalue_rule(d, n, nodes) for nodes in (NODES, NODES // 2))
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


def worst_at(levels: tuple[float, ...]) -> float:
    r"""The smallest over the weights of the largest |c (1 + v s)(1 + s) - 1| over squared levels s.

    This is the relative difference of the two layers from ridge regression in the limit.

    A linear Chebyshev problem. Zero for two levels; positive for three, because 1 / (1 + s) is strictly convex and
    meets a line at most twice.

    >>> round(worst_at((0.25, 1.0)), 12), round(worst_at((0.0, 1.0, 4.0)), 6)
    (0.0, 0.230769)
    """
    from scipy.optimize import linprog

    level = np.asarray(levels, dtype=float)
    basis = np.stack([1 + level, level * (1 + level)], axis=1)
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


def gap(level: int, first_term: int = 1) -> Any:
    """lim w / w_ridge - 1 = c (1 + v s) (1 + s) - 1 at one of the two levels, for all pairs of levels."""
    import sympy

    levels = sympy.symbols("s_1 s_2", nonnegative=True)
    c, v = weights(levels[0], levels[1], first_term)
    return c * (1 + v * levels[level - 1]) * (1 + levels[level - 1]) - 1


def scaled_ols(spread: int) -> Any:
    """(Sigma + s)^{-1} Sigma w - n / (n + s) w along a direction with Sigma = spread n, for all n, s and w."""
    import sympy

    n, s, w = sympy.symbols("n s w", positive=True)
    return sympy.factor(spread * n / (spread * n + s) * w - n / (n + s) * w)


def distance(d: int, level: int, order: Order, n: float, fixed: str = "no") -> dict[str, Value]:
    """The root of E |w - w_ridge|^2 / d, and |E <w - w_ridge, w*>| / d, exactly; and their ratios to their limits.

    `fixed`: with the weights for n = 100 at every n.
    """
    model, sigma = TwoLevels(*PAIR), PAIR[level - 1]
    found = difference(d, n, sigma, -model.c, model.v / (100 if fixed == "yes" else n), order)
    root, square = found.square**0.5, leading_square(model, d, sigma) / n
    mean = leading_mean(model, d, sigma, order) / n
    return {
        "root": (root, found.square_error / root / 2),
        "mean": (abs(found.mean), found.mean_error),
        "square over limit": (found.square / square, found.square_error / square),
        "mean over limit": (found.mean / mean, found.mean_error / abs(mean)),
    }


def elsewhere(sigma_1: float, sigma_2: float, level: int, n: float, d: int = 1) -> Value:
    """The root of E |w - w_ridge|^2 / d at one of two other levels, by the exact method."""
    model, sigma = TwoLevels(sigma_1, sigma_2), (sigma_1, sigma_2)[level - 1]
    found = difference(d, n, sigma, -model.c, model.v / n, "yx-yy")
    root = found.square**0.5
    return root, found.square_error / root / 2


def square(d: int, n: int, order: Order) -> Value:
    """n E |w - w_ridge|^2 / d at sigma_2: by the exact method for d = 1 and 2, the derived limit beyond."""
    model = TwoLevels(*PAIR)
    if d > 2:
        return leading_square(model, d, PAIR[1]), 10 / n
    found = difference(d, n, PAIR[1], -model.c, model.v / n, order)
    return n * found.square, n * found.square_error


def sampled_square(d: int, n: int, order: Order, contexts: int, seed: int, pair: tuple[float, float] = PAIR) -> Value:
    """The same through the layers, on sampled contexts."""
    drawn = unit_contexts(d, n, pair[1], contexts, seed, f"noise-adaptive/{d}/{n}/{pair[0]}/{pair[1]}")
    layers = [layer.layer(d) for layer in TwoLevels(*pair).layers(n, order)]
    missed = n * np.mean((readout(drawn.gram, layers).w - evaluation(drawn).oracle) ** 2, axis=1)
    return mean_with_half_width(missed)


def worst(sigma_1: float, sigma_2: float, sigma_3: float) -> Value:
    """The minimum over (c, v) of the largest |c (1 + v s)(1 + s) - 1| over three levels."""
    return worst_at((sigma_1**2, sigma_2**2, sigma_3**2)), 1e-12


def alternating(sigma_1: float, sigma_2: float, sigma_3: float) -> float:
    """The error that alternates in sign over the three levels."""
    a, b, c = sigma_1**2, sigma_2**2, sigma_3**2
    shares = ((b, c, b - a, c - a), (a, c, b - a, c - b), (a, b, c - a, c - b))
    return 1 / sum((1 + p) * (1 + q) / (x * y) for p, q, x, y in shares)


def every_number(order: Order, d: int, level: int, n: int) -> Any:
    """K divided by the limit of n E |w - w_ridge|^2 / d, which is at most K for every number of tokens from n on."""
    from lipverify.proofs import prove_ridge

    first = order.partition("-")[0]
    given = {
        "sigma_1": repr(PAIR[0]), "sigma_2": repr(PAIR[1]), "level": str(level), "d": str(d), "n": str(n), "first": first,
    }  # fmt: skip
    found = proved(f"lt-ridge-{d}-{level}-{first}", "ridge", given, lambda: prove_ridge(*PAIR, level, d, n, first))
    levels = [Fraction(sigma) ** 2 for sigma in PAIR]
    (c, v), s = weights(levels[0], levels[1]), levels[level - 1]
    limit = (1 + s) * (2 * (c * v * s) ** 2 + (d + 1) / (1 + s) ** 4)  # as in `leading_square`, in fractions
    return found.fact("K") / limit


DRAWN = r"""$x_i \sim N(0, \mathbf{I}/n)$, $w^* \sim N(0, \mathbf{I})$, $y_i = \langle w^*, x_i \rangle + \sigma \varepsilon_i$, $d$ fixed"""
RIDGE = r"ridge regression has the constant $\sigma^2$; weight vectors are compared, $w$ with $w_{\mathrm{ridge}}$"
EACH = r"$\omega_{yy} = v/n$: it may depend on the length of the context"
AT = r"measured at $\sigma_1 = 0.5$, $\sigma_2 = 1$; exactly for $d = 1$ and $2$, sampled for $d = 5$"
ROOT = r"(\mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 / d)^{1/2}"
"""The assumptions of the claims on Theorem 5.2, and their quantities."""
PAIRS = {("sigma_1", "sigma_2"): ((0.5, 1.0), (1.0, 3.0))}
