r"""The noise as n -> infinity and then w -> infinity, and the next terms in 1/w and in 1/n.

With S the sum of the weights g_i, N = sigma^2 n E g_1^2 / S^2. The law of large numbers replaces S by n E g; the effect
of its fluctuations follows from an expansion of 1 / S^2 (the delta method).
"""

from __future__ import annotations

import sympy

from lipverify.loss.asymptotic.sphere import Expr, n, sigma
from lipverify.loss.asymptotic.tasks import Task
from lipverify.loss.asymptotic.tokens import Delta, Term, circle_mean, moment_terms


def noise_term() -> Term:
    r"""Leading noise, sigma^2 E g^2 / (n (E g)^2).

    >>> noise_term().next
    3*Abs((d - 3)*(d - 1))/(16*w)
    """
    (single, single_next, _), (double, double_next, _) = moment_terms(1), moment_terms(2)
    relative = sympy.gammasimp(sympy.powsimp(double_next / double)) - 2 * sympy.gammasimp(single_next / single)
    leading = sigma**2 / n * sympy.gammasimp(sympy.powsimp(double / single**2))
    return Term(leading, abs(sympy.factor(relative)))


def tokens_term() -> Expr:
    """The next term of the noise in 1/n, relative: 3 Var g / (E g)^2 - 2 Cov(g, g^2) / (E g E g^2), sizes added up."""
    first, second, third = (moment_terms(k)[0] for k in (1, 2, 3))
    return sympy.simplify(3 * second / first**2 + 2 * third / (first * second)) / n


def spread_term(task: Task) -> Expr:
    """E g^2 (f(x_i) - f(x))^2 / (n (E g)^2)."""
    # the mean of the square over a circle is a_1 (Delta f^2 - 2 f Delta f) s / Delta, and that bracket is 2 |grad f|^2
    on_circle = 2 * sympy.cancel(circle_mean()[1] / Delta)
    weights = sympy.gammasimp(sympy.powsimp(moment_terms(2, 1)[0] / moment_terms(1)[0] ** 2))
    return on_circle * task.gradient() * weights / n
