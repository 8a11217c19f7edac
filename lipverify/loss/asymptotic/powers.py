r"""Leading and next terms as numbers: powers of w and n, and the errors that they make up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import sympy
from numpy.typing import NDArray

from lipverify.loss.asymptotic.leading import leading
from lipverify.loss.asymptotic.links import decimal
from lipverify.loss.asymptotic.noise import noise_term, tokens_term
from lipverify.loss.asymptotic.sphere import Expr, L, c, d, n, sigma, w
from lipverify.problem.law import Law
from lipverify.problem.laws import Scaled

Floats = NDArray[np.float64]

SAFETY = 2.0
"""The next term, twice: once for itself and once for all that come after it."""
DIGITS = 40
"""Of the constants, which have integrable singularities at d = 2 where half of the digits are lost."""
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Power:
    """C w^p n^q, kept as logarithms: constants of large d leave the doubles."""

    log_constant: float
    power: float
    tokens: float

    def __call__(self, x: Floats, log_n: float) -> Floats:
        """The value at w = e^x; infinite beyond the doubles."""
        with np.errstate(over="ignore"):
            return np.exp(self.log(x, log_n))

    def log(self, x: Floats, log_n: float) -> Floats:
        """Its logarithm."""
        return self.log_constant + self.power * x + self.tokens * log_n

    def rounding(self, x: Floats, log_n: float) -> Floats:
        """Relative error of a value: the rounding of the terms of its logarithm."""
        return 8 * EPS * (1 + abs(self.log_constant) + np.abs(self.power * x) + abs(self.tokens * log_n))


@dataclass(frozen=True)
class Numbers:
    """The leading terms of one law, at one d and one L."""

    noise: Power
    noise_next: Power
    tokens_next: Power
    bias: Power | None
    bias_next: Power | None
    spread: Power | None

    def noise_error(self, x: Floats, log_n: float) -> Floats:
        """Estimated relative error of the noise."""
        # weights at the antipode are e^{-2w}; they show where the series in 1/w ends, as it does for d = 3
        with np.errstate(over="ignore"):
            return SAFETY * (self.noise_next(x, log_n) + 2 * _antipode(x) + self.tokens_next(x, log_n))

    def bias_error(self, x: Floats, log_n: float) -> Floats:
        """Estimated relative error of the bias."""
        if self.bias is None or self.bias_next is None or self.spread is None:
            return np.zeros_like(x)
        with np.errstate(over="ignore"):
            spread = np.exp(self.spread.log(x, log_n) - self.bias.log(x, log_n))
            antipode = 4 * (1 + np.exp(x)) * _antipode(x)
            return SAFETY * (self.bias_next(x, log_n) + antipode + spread + self.tokens_next(x, log_n))


@lru_cache(maxsize=256)
def numbers_of(law: Law, dimension: int) -> Numbers:
    """Constants and exponents as numbers, of the terms without sigma."""
    values: dict[Expr, Expr] = {d: sympy.Integer(dimension)}
    if isinstance(law, Scaled):
        values[L] = decimal(law.L)

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
    """A term C w^p n^q as numbers; p and q are its logarithmic derivatives, the same everywhere."""
    at_one = {w: 1, n: 1}
    constant = _number(term.subs(at_one))
    if constant == 0:
        return Power(-math.inf, 0.0, 0.0)
    powers = (float(_number(sympy.diff(term, of).subs(at_one)) / constant) for of in (w, n))
    return Power(float(sympy.log(constant)), *powers)


def _number(expression: Expr) -> Expr:
    """An expression without symbols to `DIGITS` digits, its integrals by quadrature."""
    return sympy.N(sympy.sympify(expression).replace(sympy.Integral, _quadrature), DIGITS)


def _quadrature(function: Expr, limits: Any) -> Expr:
    """A mean over c, as a number."""
    _, low, high = limits
    with mpmath.workdps(DIGITS):
        return sympy.Float(mpmath.quad(sympy.lambdify(c, function, "mpmath"), [low, high]), DIGITS)


def _antipode(x: Floats) -> Floats:
    """e^{-2w}, the weight of a token at the antipode of the query."""
    with np.errstate(over="ignore"):
        return np.exp(-2 * np.exp(x))
