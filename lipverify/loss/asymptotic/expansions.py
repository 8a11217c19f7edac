r"""Noise and bias as n -> infinity and then w -> infinity: leading terms, and the sizes of the next in 1/w and 1/n.

With S the sum of the weights g_i, N = sigma^2 n E g_1^2 / S^2. The law of large numbers replaces S by n E g; the effect
of its fluctuations follows from an expansion of 1 / S^2 (the delta method).

For smooth tasks the error is Delta f / (2w) everywhere. Near a kink it is larger, on few queries: the attended tokens
are Gaussian around the query, with covariance I / w in the tangent space, so at xi standard deviations from a kink with
a jump J of the slope the error is J sqrt((1 - kappa^2) / w) S(xi),

    S(xi) = E max(Y + xi, 0) - max(xi, 0),    Y ~ N(0, 1).
"""

from __future__ import annotations

from functools import cache

import sympy
from sympy import pi

from lipverify.errors import OutOfReach
from lipverify.loss.asymptotic.fields import Increments
from lipverify.loss.asymptotic.links import Kink
from lipverify.loss.asymptotic.sphere import (
    Delta,
    Expr,
    Term,
    c,
    circle_mean,
    density,
    moment_terms,
    n,
    sigma,
    w,
    window_operator,
)
from lipverify.loss.asymptotic.tasks import Task, applied


@cache
def noise_term() -> Term:
    r"""Leading noise, sigma^2 E g^2 / (n (E g)^2)."""
    (single, single_next, _), (double, double_next, _) = moment_terms(1), moment_terms(2)
    relative = sympy.gammasimp(sympy.powsimp(double_next / double)) - 2 * sympy.gammasimp(single_next / single)
    leading = sigma**2 / n * sympy.gammasimp(sympy.powsimp(double / single**2))
    return Term(leading, abs(sympy.factor(relative)))


@cache
def tokens_term() -> Expr:
    """The next term of the noise in 1/n, relative: 3 Var g / (E g)^2 - 2 Cov(g, g^2) / (E g E g^2), sizes added up."""
    first, second, third = (moment_terms(k)[0] for k in (1, 2, 3))
    return sympy.simplify(3 * second / first**2 + 2 * third / (first * second)) / n


def spread_term(task: Task) -> Expr:
    """E g^2 (f(x_i) - f(x))^2 / (n (E g)^2)."""
    # the mean of the square over a circle is a_1 (Delta f^2 - 2 f Delta f) s / Delta, and that bracket is 2 |grad f|^2
    on_circle = 2 * sympy.cancel(circle_mean()[1] / Delta)
    square_weights = sympy.gammasimp(sympy.powsimp(moment_terms(2, 1)[0] / moment_terms(1)[0] ** 2))
    return on_circle * task.gradient() * square_weights / n


def leading_bias(task: Task | Increments) -> Expr:
    """The leading bias of a task: from its variogram, its roughest kinks, or, if it has none, the whole sphere."""
    if isinstance(task, Increments):
        return task.bias()
    power, kinks = roughest(task)
    return _strips(task, power, kinks) if kinks else task.square(window_operator(1)) / w**2


def next_bias(task: Task | Increments) -> Expr:
    """|next term| / leading bias."""
    if isinstance(task, Increments):
        raise OutOfReach("a kernel or variogram: the term after the leading one is not known; use method='exact'.")
    power, kinks = roughest(task)
    if kinks and power != 1:
        raise OutOfReach("a link with jumps or roots: the term after the leading one is not known; use method='exact'.")
    if not kinks and any(kink.jump(2) != 0 for kink in task.kinks):
        raise OutOfReach(
            "a link with kinks whose slope is continuous but not its curvature: the term after the leading one is "
            "not known; use method='exact'."
        )
    if kinks:
        return _beside_strips(task, kinks)
    # E (D_1 f / w + D_2 f / w^2 + ...)^2: twice the product of the norms of both parts
    first, second = (task.square(operator) for operator in map(window_operator, (1, 2)))
    return 2 * sympy.sqrt(second / first) / w


def roughest(task: Task) -> tuple[Expr, list[Kink]]:
    """The smallest power |x|^s of any kink, 0 at a jump, and its kinks; none if all powers exceed 3/2.

    Above 3/2 the strips around kinks contribute w^{-s-1/2}, less than the w^{-2} of the smooth part.
    """
    powers = [kink.root[0] for kink in task.kinks]
    least, smooth = min(powers, default=sympy.Integer(2)), sympy.Rational(3, 2)
    if least == smooth:
        raise OutOfReach("the link has a root |x|^(3/2): its bias is no power of w but log(w)/w^2; use method='exact'.")
    if least > smooth:
        return least, []
    return least, [kink for kink, power in zip(task.kinks, powers, strict=True) if power == least]


def _strips(task: Task, power: Expr, kinks: list[Kink]) -> Expr:
    r"""The contribution of the strips around all kinks, a constant times w^{-s-1/2}."""
    strips = sum(
        _profile(*kink.root) * (1 - kink.at**2) ** (power + sympy.Rational(1, 2)) * density(kink.at) for kink in kinks
    )
    return sympy.powsimp(task.variance * strips) * w ** (-power - sympy.Rational(1, 2))


@cache
def _profile(s: Expr, e: Expr, o: Expr) -> Expr:
    r"""The integral of (E g(xi + Y) - g(xi))^2 over xi, g(x) = e |x|^s + o sign(x) |x|^s, Y ~ N(0, 1).

    By Plancherel: the transforms of |x|^s and sign(x) |x|^s have the sizes 2 Gamma(s+1) |k|^{-s-1} times |sin(pi s/2)|
    and |cos(pi s/2)|, a mean over Y multiplies by e^{-k^2/2}, and

        int_0^oo k^{-2s-2} (1 - e^{-k^2/2})^2 dk = Gamma(-s-1/2) (1 - 2^{1/2-s}) / 2,    log(2) / 2 for s = 1/2.

    >>> _profile(sympy.Integer(0), sympy.Integer(0), sympy.Rational(1, 2))
    (-1 + sqrt(2))/sqrt(pi)
    """
    half = sympy.Rational(1, 2)
    sizes = (e * sympy.sin(pi * s / 2)) ** 2 + (o * sympy.cos(pi * s / 2)) ** 2
    integral = (sympy.log(2) if s == half else sympy.gamma(-s - half) * (1 - 2 ** (half - s))) / 2
    return sympy.factor(sympy.simplify(4 * sympy.gamma(s + 1) ** 2 / pi * sizes * integral))


def _beside_strips(task: Task, kinks: list[Kink]) -> Expr:
    """The contribution of the rest of the sphere, and of its overlap with the strips."""
    leading, drift = _strips(task, sympy.Integer(1), kinks), window_operator(1)
    overlap = sum(
        abs(kink.jump(1) * applied(drift, side).subs(c, kink.at)) * (1 - kink.at**2) / w * density(kink.at)
        for kink in kinks
        for side in (kink.left, kink.right)
    )
    profile = sympy.Rational(1, 2)  # the integral of S over xi, E max(Y, 0)^2
    rest = task.square(drift) / w**2 + task.variance * overlap * profile / w
    constant = (rest * w**2).subs(w, 1) / leading.subs(w, 1)
    return constant / sympy.sqrt(w)
