r"""Averages over one token as w -> infinity, by Watson's lemma.

With s = 1 - t a token has weight g = e^{-w s} and s a density proportional to (s (2 - s))^{(d-3)/2}, so

    E g^k s^j = Z int_0^2 s^j (s (2 - s))^{(d-3)/2} e^{-k w s} ds,

and every term of the power series of (2 - s)^{(d-3)/2} gives a gamma function.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy

from lipverify.loss.asymptotic.sphere import Expr, c, d, density_constant, gamma_integral, laplacian, w

TERMS = 3
"""Number of terms of every power series: the leading term, the next, and one more in case the next one vanishes."""
Delta = sympy.Symbol("Delta")
"""The Laplacian of the sphere, as the variable of polynomials; -l (l+d-2) on harmonics of degree l."""

_s = sympy.Symbol("s", positive=True)


@dataclass(frozen=True)
class Term:
    """A leading term, a power of w, and the relative size of the next term, also a power."""

    leading: Expr
    next: Expr


@cache
def moment_terms(k: int, j: int = 0) -> list[Expr]:
    r"""The first terms of E g^k s^j, each a power of w.

    >>> sympy.powsimp(moment_terms(1, 1)[0] / moment_terms(1)[0])
    (d/2 - 1/2)/w
    """
    power = (d - 3) / 2
    # (2 - s)^power = sum_i binomial(power, i) (-s)^i 2^(power - i)
    smooth = [sympy.ff(power, i) / sympy.factorial(i) * (-1) ** i * 2 ** (power - i) for i in range(TERMS)]
    return [
        sympy.gammasimp(density_constant() * factor * gamma_integral(power + i + j, k * w))
        for i, factor in enumerate(smooth)
    ]


def expansion(above: list[Expr], below: list[Expr]) -> list[Expr]:
    """Coefficients of 1, 1/w, ... of a ratio of sums of terms."""
    over, under = (_coefficients([term / below[0] for term in terms]) for terms in (above, below))
    ratio: list[Expr] = []
    for k in range(TERMS):
        ratio.append(sympy.factor(over[k] - sum(known * under[k - i] for i, known in enumerate(ratio))))
    return ratio


def _coefficients(terms: list[Expr]) -> list[Expr]:
    """Coefficients of 1, 1/w, ... in a sum of terms, each a power of w; the first coefficient of a divisor is 1."""
    coefficients = [sympy.Integer(0)] * TERMS
    for term in terms:
        factor, power = sympy.powsimp(sympy.gammasimp(term)).as_coeff_exponent(w)
        if -power < TERMS:
            coefficients[-power] += factor
    return coefficients


@cache
def circle_mean() -> list[Expr]:
    r"""Coefficients a_j(Delta) of the mean of f over the circle 1 - <x', x> = s, as a power series in s.

    The mean M(s) commutes with the Laplacian: as a function of <x', x> alone it satisfies
    Delta M = M Delta, term by term a recursion.

    >>> sympy.factor(circle_mean()[1])
    Delta/(d - 1)
    """
    unknown = sympy.Symbol("a")
    known = [sympy.Integer(1)]
    for j in range(TERMS - 1):
        mean = sum(a * (1 - c) ** i for i, a in enumerate([*known, unknown]))
        sides = sympy.expand(laplacian(mean).subs(c, 1 - _s)).coeff(_s, j) - Delta * known[j]
        known.append(sympy.factor(sympy.solve(sides, unknown)[0]))
    return known


@cache
def window_operator(order: int) -> Expr:
    r"""The polynomial D_k(Delta) in (E[g f(x_i)] / E g) - f(x) = sum_{k>0} D_k(Delta) f(x) / w^k.

    >>> window_operator(1)
    Delta/2
    """
    # E g s^j / E g begins with w^{-j}: higher j do not matter
    ratios = [_deficit(j)[order] for j in range(1, order + 1)]
    return sympy.factor(sum(a * ratio for a, ratio in zip(circle_mean()[1:], ratios, strict=False)))


@cache
def _deficit(j: int) -> list[Expr]:
    """Coefficients of E g s^j / E g."""
    return expansion(moment_terms(1, j), moment_terms(1))
