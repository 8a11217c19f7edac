r"""Linear attention in closed form: its loss at every M, the best M, and the infimum of the loss over all M and n.

The prediction is (1/n) sum_i y_i x_i^T M x on the sphere. An isotropic law enters only through its covariance
K(t) = E f(x) f(x') at t = <x, x'>, and K only through two numbers: the power K(1) = E f(x)^2, and the power of the
linear part of f, its harmonics of degree one, k_1 = d E K(t) t. With E x x^T = I/d,

    L(M) = ||M||_F^2 / (n d^2) (K(1) + sigma^2 + (n-1) k_1 / d) - 2 k_1 tr(M) / d^2 + K(1),

a strictly convex quadratic whose minimiser is w I; the argument needs no symmetry. So

    min_M L(M) = K(1) - k_1^2 / (k_1 + (d (K(1) + sigma^2) - k_1) / n),

which falls with n to the floor K(1) - k_1, the power of the nonlinear part of f.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy

from lipverify.errors import OutOfReach
from lipverify.foundation.noted import makes
from lipverify.loss.asymptotic.fields import Increments
from lipverify.loss.asymptotic.sphere import Expr, L, c, d, mean, n, sigma, w
from lipverify.loss.asymptotic.tasks import Harmonics, Ridges, Task, lettered, task_of
from lipverify.problem.law import Law


@dataclass(frozen=True, kw_only=True)
class LinearAttention:
    """SymPy expressions in the positive symbols d, n, w, L and sigma; losses in units of y squared.

    `power` is E f(x)^2, and `linear_power` is the power of the harmonics of degree one. `loss` is the loss at M = w I,
    `window` its minimiser w, `least` the minimum over all M, and `floor` the limit and infimum of `least` over n.
    """

    power: Expr
    linear_power: Expr
    loss: Expr
    window: Expr
    least: Expr
    floor: Expr

    def at(self, expression: Expr, **values: float) -> float:
        """Evaluate an expression at d, n, w, L, sigma in exact arithmetic, so that no digits cancel.

        >>> from lipverify.laws import Affine
        >>> found = linear_attention(Affine())
        >>> found.at(found.least, d=5, n=10**12, L=1.0, sigma=1.0)
        5.2666666662506e-12
        """
        symbols = {symbol.name: symbol for symbol in (d, n, w, L, sigma)}
        exact = {symbols[name]: sympy.Rational(value) for name, value in values.items()}
        return float(expression.xreplace(exact))


@makes("bounded", "symbolic")
def linear_attention(law: Law, offset: bool = False) -> LinearAttention:
    r"""The loss of linear attention for an isotropic law, exactly, for every d >= 2 and n >= 1.

    Parameters
    ----------
    law
        Affine, ReLU, Cosine, Quadratic, `Zonal` by its spectrum, or a `Ridge` link that can be read as a formula. The
        value of L of a named law does not matter: L is a symbol in the result.
    offset
        True if f has a random offset b ~ Unif[-L, L], as in the class of the slides. Softmax weights sum to one, so the
        offset cancels in softmax attention; the weights of linear attention do not.

    Returns
    -------
    LinearAttention
        Exact expressions, which need no error.

    Raises
    ------
    InvalidInput
        If the law is not one of these.
    OutOfReach
        If its link cannot be read or its spectrum is not given.

    Source: the comparison with linear attention of Collins et al., arXiv 2402.11639; derivation above.

    Examples
    --------
    >>> from lipverify.laws import Affine, ReLU
    >>> linear_attention(Affine()).floor, linear_attention(ReLU()).floor
    (0, L**2/(6*d))
    >>> sympy.expand(linear_attention(ReLU(), offset=True).floor)
    L**2/3 + L**2/(6*d)
    """
    return _derived(lettered(law)[0], offset)


@lru_cache(maxsize=64)
def _derived(law: Law, offset: bool) -> LinearAttention:
    """Derive every expression: the minimum by differentiation, the floor as a limit."""
    task = task_of(law)
    if isinstance(task, Increments):
        raise OutOfReach(f"law = {law!r}: a kernel does not determine its linear part; give Zonal(spectrum=...).")
    constant = sympy.integrate(c**2, (c, -L, L)) / (2 * L) if offset else sympy.Integer(0)
    # simplify, not factor: SymPy 1.13 leaves 2^(d/2) 2^(-d/2-1) standing, and 4^d beside 2^(2d) hides a difference of 0
    power, linear_power = sympy.simplify(task.square(sympy.Integer(1)) + constant), sympy.simplify(_linear_power(task))
    spread = sympy.simplify(mean(c**2))  # E t^2 = 1/d
    correlation = linear_power * spread  # E K(t) t
    own, pairs = (power + sigma**2) * spread / n, (n - 1) / n * correlation * spread
    loss = w**2 * (own + pairs) - 2 * w * correlation + power
    slope = sympy.diff(loss, w)  # linear in w
    window = sympy.factor(-slope.subs(w, 0) / sympy.diff(slope, w))
    least = sympy.factor(loss.subs(w, window))
    floor = sympy.factor(sympy.limit(least, n, sympy.oo))
    return LinearAttention(power=power, linear_power=linear_power, loss=loss, window=window, least=least, floor=floor)


def _linear_power(task: Task) -> Expr:
    """k_1: for ridge laws the sum of d (E c h(c))^2 over the links, by the Funk-Hecke formula."""
    if isinstance(task, Harmonics):
        return task.spectrum[1] if len(task.spectrum) > 1 else sympy.Integer(0)
    assert isinstance(task, Ridges)
    means = (sum(mean(c * piece.h, piece.low, piece.high) for piece in link.pieces) for link in task.links)
    return d * task.variance * sum(coefficient**2 for coefficient in means)
