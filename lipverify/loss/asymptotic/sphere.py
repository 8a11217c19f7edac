r"""Averages over the sphere in closed form, and the letters of the theory as SymPy symbols.

A coordinate c = <q, x> of a uniform point x of S^{d-1} has a density proportional to (1 - c^2)^{(d-3)/2}.
"""

from __future__ import annotations

from functools import cache
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
    r"""The Laplace-Beltrami operator of S^{d-1} on a zonal function: (weight (1 - c^2) h')' / weight.

    >>> sympy.factor(laplacian(c**2))
    -2*(c**2*d - 1)
    """
    log_weight = (d - 3) / 2 * sympy.log(1 - c**2)
    drift = sympy.cancel(sympy.diff(1 - c**2, c) + (1 - c**2) * sympy.diff(log_weight, c))
    return (1 - c**2) * sympy.diff(h, c, 2) + drift * sympy.diff(h, c)


def gamma_integral(power: Expr, rate: Expr) -> Expr:
    r"""int_0^oo s^k e^{-rate s} ds, by its closed form: SymPy's own search for it takes tenths of a second a time.

    >>> gamma_integral(2, w)
    2/w**3
    """
    return sympy.gamma(power + 1) / rate ** (power + 1)


@cache
def half_moment(power: Expr) -> Expr:
    r"""E max(c, 0)^k, from a normal vector, whose length is independent of its direction.

    >>> half_moment(2)
    1/(2*d)
    """
    # E max(g, 0)^k of a standard normal number over E |g|^k of a vector
    return sympy.gammasimp(_radial(power) / sympy.sqrt(2 * pi) * _radial(d - 1) / _radial(d - 1 + power))


def _radial(power: Expr) -> Expr:
    """int_0^oo r^k e^{-r^2/2} dr, in s = r^2."""
    half = sympy.Rational(1, 2)
    return half * gamma_integral((power - 1) * half, half)


@cache
def density_constant() -> Expr:
    r"""The density at c = 0, Z: near there it is constant, so that E max(c, 0)^{k-1} behaves as Z / k as k -> 0.

    >>> density_constant()
    gamma(d/2)/(sqrt(pi)*gamma(d/2 - 1/2))
    """
    # k Gamma(k/2) -> 2 in the first of the integrals of half_moment
    return sympy.gammasimp(_radial(d - 1) / (sympy.sqrt(2 * pi) * _radial(d - 2)))


def density(at: Expr) -> Expr:
    """The density of c."""
    return density_constant() * (1 - at**2) ** ((d - 3) / 2)


class Mean(sympy.Integral):  # type: ignore[misc]  # SymPy has no types
    """An integral over c that `.evalf()` computes at once: SymPy's own rule takes a minute at fifteen digits.

    >>> Mean(sympy.exp(c) / sympy.sqrt(1 - c**2), (c, -1, 1)).evalf(15)
    3.97746326050642
    """

    def _eval_evalf(self, prec: int) -> Expr | None:
        function, (of, low, high) = self.args
        if self.free_symbols:
            return None
        # the density has singularities at +-1 where half of the digits are lost
        with mpmath.workprec(2 * prec + 20):
            value = mpmath.quad(sympy.lambdify(of, function, "mpmath"), [low, high])
        return sympy.Float(value, precision=prec)


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


@cache
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
