r"""The expressions that SymPy derived, as numbers at one d and one L."""

from __future__ import annotations

import math
from functools import lru_cache

import sympy

from lipverify.loss.asymptotic.expansions import noise_term, tokens_term
from lipverify.loss.asymptotic.links import meant
from lipverify.loss.asymptotic.powers import Numbers, Power
from lipverify.loss.asymptotic.record import leading
from lipverify.loss.asymptotic.sphere import Expr, L, d, n, sigma, w
from lipverify.problem.law import Law

DIGITS = 40
"""Decimal digits of the constants: more than a double, so that their logarithms are accurate."""


@lru_cache(maxsize=256)
def numbers_of(law: Law, dimension: int) -> Numbers:
    """Constants and exponents as numbers, of the terms without sigma."""
    values: dict[Expr, Expr] = {d: sympy.Integer(dimension), L: meant(getattr(law, "L", 1.0))}

    def power(term: Expr) -> Power:
        return _power(sympy.sympify(term).subs(values))

    noise = noise_term()
    form = None if law.constant else leading(law)
    return Numbers(
        noise=power(noise.leading / sigma**2),
        noise_next=power(noise.next),
        tokens_next=power(tokens_term()),
        bias=power(form.bias) if form else None,
        bias_next=power(form.bias_next) if form else None,
        spread=power(form.spread) if form else None,
    )


def _power(term: Expr) -> Power:
    """A term C w^p n^q as numbers; p and q are its logarithmic derivatives, which are constant.

    C may be an integral, so it is evaluated once.
    """
    at_one = {w: 1, n: 1}
    factor, rest = term.as_independent(w, n, as_Add=False)
    size = _number(rest.subs(at_one))
    constant = _number(factor) * size
    if constant == 0:
        return Power(-math.inf, 0.0, 0.0)
    powers = (float(_number(sympy.diff(rest, of).subs(at_one)) / size) for of in (w, n))
    return Power(float(sympy.log(constant)), *powers)


def _number(expression: Expr) -> Expr:
    """An expression without symbols to `DIGITS` digits."""
    return sympy.N(expression, DIGITS)
