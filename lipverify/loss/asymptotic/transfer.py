r"""The loss after transfer in the limit of many tokens, from the leading terms.

With N ~ A sigma^2 w^a / n and B ~ C w^{-beta}, a = (d-1)/2, the w* of the trained family solves a N = beta B. On a
family whose bias is rho^2 times as large (rho = L'/L for the same law) the loss there is N + rho^2 B, so

    loss(w*(L); L') / loss(w*(L); L)   ->  (a rho^2 + beta) / (a + beta),
    loss(w*(L); L') / loss(w*(L'); L') ->  (a rho^2 + beta) / ((a + beta) rho^{2a / (a + beta)}),

because the best loss is proportional to C^{a / (a + beta)}. The second is 1 at rho = 1 alone (arithmetic against
geometric mean): a wrong L costs a factor, whatever n is. A wrong beta costs a power of n.
"""

from __future__ import annotations

from functools import cache

import sympy

from lipverify.loss.asymptotic.record import exponent, leading
from lipverify.loss.asymptotic.sphere import Expr, L, d, n, w
from lipverify.problem.law import Law


@cache
def transferred_power(trained: Law, tested: Law) -> Expr:
    """The power of n in the loss of a w tuned to one law and used on another; it does not depend on L.

    >>> from lipverify.laws import Affine, ReLU
    >>> transferred_power(ReLU(), ReLU()), transferred_power(ReLU(), Affine()), transferred_power(Affine(), ReLU())
    (-3/(d + 2), -3/(d + 2), -3/(d + 3))
    """
    window, away = leading(trained).window, leading(tested)
    noise, bias = (exponent(term.subs(w, window), n) for term in (away.noise, away.bias))
    beyond_two = sympy.Symbol("m", nonnegative=True)
    noise_wins = sympy.factor((noise - bias).subs(d, beyond_two + 2)).is_nonnegative
    return noise if noise_wins else bias


def home_factor(beta: Expr, rho2: Expr) -> Expr:
    """The limit of the transferred loss over the loss at home; `rho2` is the ratio of the bias constants."""
    a = (d - 1) / 2
    return (a * rho2 + beta) / (a + beta)


def mistuning(beta: Expr, rho2: Expr) -> Expr:
    """The limit of the transferred loss over the loss of the w tuned to the tested family.

    >>> mistuning(sympy.Integer(2), sympy.Integer(1))
    1
    """
    a = (d - 1) / 2
    return home_factor(beta, rho2) / rho2 ** (a / (a + beta))


def mistuning_at(trained: Law, tested: Law, dimension: int) -> float:
    """`mistuning` between two laws of the same beta, at one d, as a number.

    >>> from lipverify.laws import Affine
    >>> mistuning_at(Affine(L=2.0), Affine(L=2.0), 5), round(mistuning_at(Affine(L=1.0), Affine(L=3.0), 3), 6)
    (1.0, 1.762749)
    """
    rho2 = _bias_constant(tested, dimension) / _bias_constant(trained, dimension)
    return float(mistuning(leading(trained).beta, rho2).subs(d, dimension))


def _bias_constant(law: Law, dimension: int) -> Expr:
    """C in B ~ C w^{-beta}, to thirty digits, at the law's own L."""
    value = sympy.nsimplify(str(getattr(law, "L", 1)))
    return leading(law).bias.subs({w: 1, d: dimension}).subs(L, value).evalf(30)
