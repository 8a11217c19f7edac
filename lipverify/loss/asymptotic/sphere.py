"""Averages over the sphere: in closed form, and over one token as w -> infinity; the letters of the theory in SymPy.

A coordinate c = <q, x> of a uniform point x of S^{d-1} has a density proportional to (1 - c^2)^{(d-3)/2}.

With s = 1 - t a token has weight g = e^{-w s} and s a density proportional to (s (2 - s))^{(d-3)/2}, so

    E g^k s^j = Z int_0^2 s^j (s (2 - s))^{(d-3)/2} e^{-k w s} ds.

By Watson's lemma every term of the power series of (2 - s)^{(d-3)/2} gives a gamma function.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import mpmath
import sympy
from sympy import exp, pi

Expr = Any
"""A SymPy expression; SymPy has no types."""

d, n, w, L, sigma = sympy.symbols("d n w L sigma", positive=True)
c = sympy.Symbol("c", real=True)
"""The coordinate of the query along q."""

_kappa = sympy.Symbol("kappa", positive=True)


def laplacian(h: Expr) -> Expr:
    r"""The Laplace-Beltrami operator of S^{d-1} on a zonal function: (weight (1 - c^2) h')' / weight."""
    return (1 - c**2) * sympy.diff(h, c, 2) + (c - c * d) * sympy.diff(h, c)


def gamma_integral(power: Expr, rate: Expr) -> Expr:
    r"""int_0^oo s^k e^{-rate s} ds, by its closed form: SymPy's own search for it takes tenths of a second a time."""
    return sympy.gamma(power + 1) / rate ** (power + 1)


def half_moment(power: Expr) -> Expr:
    r"""E max(c, 0)^k, from a normal vector, whose length is independent of its direction."""
    # E max(g, 0)^k of a standard normal number over E |g|^k of a vector
    return sympy.gammasimp(_radial(power) / sympy.sqrt(2 * pi) * _radial(d - 1) / _radial(d - 1 + power))


def _radial(power: Expr) -> Expr:
    """int_0^oo r^k e^{-r^2/2} dr, in s = r^2."""
    half = sympy.Rational(1, 2)
    return half * gamma_integral((power - 1) * half, half)


Z = sympy.gamma(d / 2) / (sympy.sqrt(pi) * sympy.gamma((d - 1) / 2))
"""The density of c at 0."""


def density(at: Expr) -> Expr:
    """The density of c."""
    return Z * (1 - at**2) ** ((d - 3) / 2)


class Mean(sympy.Integral):  # type: ignore[misc]  # SymPy has no types
    """An integral over c that `.evalf()` computes at once: SymPy's own rule takes a minute at fifteen digits."""

    def _eval_evalf(self, prec: int) -> Expr | None:
        function, (of, low, high) = self.args
        if self.free_symbols:
            return None
        bits = -(-prec // 64) * 64  # SymPy asks for one value with many similar precisions
        return sympy.Float(_quadrature(function, of, low, high, bits), precision=prec)


@lru_cache(maxsize=256)
def _quadrature(function: Expr, of: Expr, low: Expr, high: Expr, bits: int) -> mpmath.mpf:
    # the density has singularities at +-1 where half of the digits are lost
    with mpmath.workprec(2 * bits + 20):
        return mpmath.quad(sympy.lambdify(of, function, "mpmath"), [low, high])


def mean(h: Expr, low: Expr = -1, high: Expr = 1) -> Expr:
    """E h(c) over low < c < high: in closed form where that is known, else an integral that evaluates.

    >>> mean(c**2)
    1/d
    """
    if h == 0:
        return sympy.Integer(0)
    waves = sympy.expand(h.rewrite((sympy.sin, sympy.cos), exp))
    known = [_term(sympy.powsimp(term), low, high) for term in sympy.Add.make_args(waves)]
    if any(term is None for term in known):
        return Mean(h * density(c), (c, low, high))
    return _tidy(sum(known))


def _tidy(value: Expr) -> Expr:
    """Collected by Bessel functions, gamma functions of neighbouring arguments cancelled."""
    bessel = list(value.atoms(sympy.besselj))
    if not bessel:
        return sympy.factor(sympy.gammasimp(value))
    return sympy.collect(sympy.expand(value), bessel, lambda part: sympy.factor(sympy.powsimp(part)))


def _term(term: Expr, low: Expr, high: Expr) -> Expr | None:
    """The mean of a c^k e^{i kappa c}; None if the expression has another form or its mean is not known."""
    factor, rest = term.as_independent(c, as_Add=False)
    power, wave = rest.as_independent(exp, as_Add=False)
    if not power.is_polynomial(c) or power != c ** (degree := int(sympy.degree(power, c))):
        return None
    frequency = sympy.cancel(sympy.diff(wave, c) / wave / sympy.I)
    if frequency == 0 and {low, high} <= {-1, 0, 1}:
        negative, positive = (-1) ** degree * int(low == -1), int(high == 1)
        return factor * (negative + positive) * half_moment(degree)
    if (low, high) == (-1, 1) and frequency.is_real and wave == exp(sympy.I * frequency * c):
        # c -> -c changes the sign of the frequency
        return factor * sympy.sign(frequency) ** degree * _wave(degree).subs(_kappa, sympy.Abs(frequency))
    return None


def _wave(power: int) -> Expr:
    r"""E c^k e^{i kappa c}, by derivatives of F = E cos(kappa c), which is a Bessel function.

    The mean of a Laplacian is zero; that of e^{i kappa c} is a multiple of F'' + (d-1)/kappa F' + F, so
    all derivatives are combinations of F and F'.
    """
    value, slope = sympy.Integer(1), sympy.Integer(0)
    for _ in range(power):
        value, slope = sympy.diff(value, _kappa) - slope, value + sympy.diff(slope, _kappa) - (d - 1) / _kappa * slope
    # Poisson's integral, and (z^{-nu} J_nu)' = -z^{-nu} J_{nu+1}
    order = d / 2 - 1
    plain, falling = (sympy.gamma(d / 2) * (2 / _kappa) ** order * sympy.besselj(order + k, _kappa) for k in (0, 1))
    return (value * plain - slope * falling) / sympy.I**power


TERMS = 3
"""Terms of every power series: the leading one, the next, and one more in case the next one vanishes."""
Delta = sympy.Symbol("Delta")
"""The Laplacian of the sphere, as the variable of polynomials; -l (l+d-2) on harmonics of degree l."""

_s = sympy.Symbol("s", positive=True)


@dataclass(frozen=True)
class Term:
    """A leading term and the relative size of the next, both powers of w."""

    leading: Expr
    next: Expr


@cache
def moment_terms(k: int, j: int = 0) -> list[Expr]:
    r"""The first terms of E g^k s^j, each a power of w."""
    power = (d - 3) / 2
    # (2 - s)^power = sum_i binomial(power, i) (-s)^i 2^(power - i)
    smooth = [sympy.ff(power, i) / sympy.factorial(i) * (-1) ** i * 2 ** (power - i) for i in range(TERMS)]
    return [sympy.gammasimp(Z * factor * gamma_integral(power + i + j, k * w)) for i, factor in enumerate(smooth)]


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
    ratios = [expansion(moment_terms(1, j), moment_terms(1))[order] for j in range(1, order + 1)]
    return sympy.factor(sum(a * ratio for a, ratio in zip(circle_mean()[1:], ratios, strict=False)))
