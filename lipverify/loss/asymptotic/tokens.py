r"""Averages over one token as w -> infinity, by Watson's lemma.

With s = 1 - t a token has weight g = e^{-w s} and s a density proportional to (s (2 - s))^{(d-3)/2}, so

    E g^k s^j = Z int_0^2 s^j (s (2 - s))^{(d-3)/2} e^{-k w s} ds,

and every term of the power series of (2 - s)^{(d-3)/2} gives a gamma function.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy
from sympy import exp, oo

from lipverify.loss.asymptotic.sphere import Expr, c, d, density_constant, laplacian, w

TERMS = 3
"""Terms that are kept of every power series: a leading one, the next, and one that may take part in its place."""
Delta = sympy.Symbol("Delta")
"""The Laplacian of the sphere, where polynomials in it are meant; -l (l+d-2) on harmonics of degree l."""

_s, _v = sympy.symbols("s v", positive=True)


@dataclass(frozen=True)
class Term:
    """A leading term, a power of w, and the size of what follows relative to it, also a power."""

    leading: Expr
    next: Expr


@cache
def moment_terms(k: int, j: int = 0) -> list[Expr]:
    r"""The first terms of E g^k s^j, each a power of w.

    >>> sympy.powsimp(moment_terms(1, 1)[0] / moment_terms(1)[0])
    (d/2 - 1/2)/w
    """
    smooth = ((2 - _s) ** ((d - 3) / 2)).series(_s, 0, TERMS).removeO()
    singular = density_constant() * _s ** ((d - 3) / 2 + j) * exp(-k * w * _s)
    terms = [smooth.coeff(_s, i) * sympy.powsimp(singular * _s**i) for i in range(TERMS)]
    return [sympy.gammasimp(sympy.integrate(term, (_s, 0, oo), conds="none")) for term in terms]


def expansion(above: list[Expr], below: list[Expr]) -> list[Expr]:
    """Coefficients of 1, 1/w, ... of a ratio of sums of terms."""
    first = below[0]
    over, under = (sum(sympy.powsimp(sympy.gammasimp(term / first)) for term in terms) for terms in (above, below))
    series = (over / under).subs(w, 1 / _v).series(_v, 0, TERMS).removeO()
    return [sympy.factor(series.coeff(_v, k)) for k in range(TERMS)]


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
