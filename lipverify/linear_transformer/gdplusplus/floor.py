r"""A proved lower bound on the loss of every GD++ model of a depth: the minimum over filters of its degree, in balls.

With L layers g is a polynomial of degree D - 1, D = (3^L - 1)/2, and its adjusted loss (see `filters`) is

    1/2 int rho [t (t + s) g^2 - 2 t g + E_sigma t/(t + sigma^2)] dt,    s = E sigma^2.

Over all polynomials of that degree, of which GD++ models are a few, this is least squares for the measure mu =
t rho dt. With its Jacobi matrix J of D rows the minimum of the first two terms is -mass(mu) [(J + s)^{-1}]_{00}, which
is Gauss's rule with D nodes for 1/(t + s). So the floor is the error of a quadrature,

    floor = 1/2 (E_sigma int 1/(t + sigma^2) dmu - Gauss_D[1/(t + s)]),

for s = 0 half of the Christoffel function of rho at 0, a rational number. And any such filter loses beyond the floor

    1/2 sum_i w_i (t_i + s) (g(t_i) - 1/(t_i + s))^2    over the D nodes of that rule,

so that the floor is sharp for polynomials, and the best GD++ is a least-squares problem with D residuals. For the
integral stands Gauss's rule with `REFERENCE` nodes, which is below it; filters of a higher degree than that gain no
more than it misses. What follows is proved.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

from flint import acb, arb, ctx, fmpq

from lipverify.errors import InvalidInput
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import whole
from lipverify.linear_transformer.gdplusplus.filters import ExactLoss
from lipverify.linear_transformer.gdplusplus.moments import density_moments
from lipverify.linear_transformer.gdplusplus.orthogonal import WANTED, gauss_mean, recurrence
from lipverify.linear_transformer.gdplusplus.spectrum import largest_seen
from lipverify.linear_transformer.regression.contexts import Regression, require_regression
from lipverify.linear_transformer.regression.noise import CategoricalNoise, NoiseLaw, UniformNoise

REFERENCE = 121
"""Nodes of the rule for the loss of ridge regression: its error is 3e-7 at n = 20, d = 10 without noise, else less."""
LARGEST_DEPTH = 7
"""Most layers: the rule has (3^7 - 1)/2 = 1093 nodes, and each further layer takes ten times as long."""
TOLERANCE = 2.0**-44
"""Tolerance of the integral over uniform noise; the ball of the result contains its error."""


def degree(layers: int) -> int:
    """The degree (3^L - 1)/2 of the error polynomial of L layers.

    >>> degree(4)
    40
    """
    return int((3**layers - 1) // 2)


def depth_within(name: str, layers: int) -> int:
    """The number of layers, refused if it is no whole number from 1 to `LARGEST_DEPTH`."""
    return whole(name, layers, 1, "the number of layers, whose polynomial has degree (3^L - 1)/2,", LARGEST_DEPTH)


@makes("bounded", "exact")
def gdplusplus_floor(regression: Regression, layers: int, seen_in: float | None = None) -> ExactLoss:
    r"""A proved lower bound on the loss of every GD++ model with this number of layers, computed in balls.

    Parameters
    ----------
    regression
        n >= d tokens in R^d, and the law of the noise, uniform or on levels.
    layers
        1 to `LARGEST_DEPTH`; without noise seven take 1093 nodes and some ten seconds, six take one.
    seen_in
        None for the expectation over all contexts. Otherwise a number of contexts: eigenvalues above `largest_seen` of
        these are left out, as in `optimal_gdplusplus`, so the loss is a part of a sum of squares.

    Returns
    -------
    ExactLoss
        `value - error` is the proved lower bound; the least loss of all polynomials is at most `value + error`.

    Raises
    ------
    InvalidInput
        If `regression` is not a `Regression`, n < d, the depth is out of range, or the law of the noise is another one.

    Examples
    --------
    >>> floor = gdplusplus_floor(Regression(10, 20, UniformNoise(0.0)), 2)
    >>> round(floor.value, 9), floor.error < 1e-15
    (0.266249213, True)
    """
    require_regression(regression)
    layers = depth_within("layers", layers)
    n, d, noise, D = regression.n, regression.d, regression.noise, degree(layers)
    s = second_moment(noise)
    nodes = REFERENCE if s else D
    reach = None if seen_in is None else largest_seen(n, d, seen_in)
    with ctx.workprec(WANTED):
        ideal = _ideal(n, d, noise, nodes, reach)
        floor = (ideal.ridge_regression - gauss_mean(recurrence(n, d, nodes, reach), min(D, nodes), s)) / 2
        beyond = ideal.missed if nodes < D else arb(0)
        return _enclosed((floor - beyond).lower(), (floor + ideal.missed).upper())


def second_moment(noise: NoiseLaw) -> fmpq:
    """E sigma^2, as a rational number.

    >>> second_moment(UniformNoise(5.0))
    25/3
    """
    levels = _levels(noise)
    if levels is None:
        return _exact(noise.sigma_max) ** 2 / 3  # type: ignore[attr-defined]
    return sum((level**2 for level in levels), fmpq(0)) / len(levels)


class Ideal(NamedTuple):
    """A lower bound on E_sigma int 1/(t + sigma^2) dmu, and half of its largest error."""

    ridge_regression: arb
    missed: arb


@lru_cache(maxsize=64)
def _ideal(n: int, d: int, noise: NoiseLaw, nodes: int, reach: float | None) -> Ideal:
    """Gauss's rule, whose error falls with sigma; without noise the integral is the number of eigenvalues."""
    mass = arb(d) if reach is None else density_moments(n, d, 1, reach)[0]
    levels = _levels(noise)
    if second_moment(noise) == 0:
        return Ideal(mass, arb(0))
    polynomials = recurrence(n, d, nodes, reach)
    missed = (mass - gauss_mean(polynomials, nodes, 0)) / 2
    if levels is not None:
        return Ideal(sum((gauss_mean(polynomials, nodes, level**2) for level in levels), arb(0)) / len(levels), missed)
    # if -sigma^2 is near a node, a denominator may contain 0, and the integrator takes smaller steps
    largest = _exact(noise.sigma_max)  # type: ignore[attr-defined]
    average = acb.integral(lambda x, _: gauss_mean(polynomials, nodes, (largest * x) ** 2), 0, 1, rel_tol=TOLERANCE)
    return Ideal(average.real, missed)


def _levels(noise: NoiseLaw) -> list[fmpq] | None:
    """The levels of a categorical law; None for a uniform law."""
    match noise:
        case CategoricalNoise():
            return [_exact(level) for level in noise.levels]
        case UniformNoise():
            return None if noise.sigma_max else [fmpq(0)]
        case _:
            raise InvalidInput(f"noise = {noise!r}: the floor is proved for UniformNoise and CategoricalNoise.")


def _exact(value: float) -> fmpq:
    """The exact rational value of a float."""
    return fmpq(*float(value).as_integer_ratio())


def _enclosed(low: Any, high: Any) -> ExactLoss:
    """An interval of floats that contains [low, high]."""
    bottom, top = math.nextafter(float(low), -math.inf), math.nextafter(float(high), math.inf)
    middle = (bottom + top) / 2
    return ExactLoss(value=middle, error=math.nextafter(max(top - middle, middle - bottom), math.inf))
