"""A proved lower bound on the loss of every GD++ model of a depth: the minimum over filters of its degree, in balls.

With L layers g is a polynomial of degree D - 1, D = (3^L - 1)/2, and its adjusted loss (see `filters`) is

    1/2 int rho [t (t + s) g^2 - 2 t g + E_sigma t/(t + sigma^2)] dt,    s = E sigma^2.

Over all polynomials of that degree this is least squares for the measure mu = t rho dt. With its Jacobi matrix J the
minimum of the first two terms is -mass(mu) [(J + s)^{-1}]_{00}, Gauss's rule with D nodes for 1/(t + s), so that

    floor = 1/2 (E_sigma int 1/(t + sigma^2) dmu - Gauss_D[1/(t + s)]),

and such a filter loses 1/2 sum_i w_i (t_i + s) (g(t_i) - 1/(t_i + s))^2 more, over the D nodes of that rule. For the
integral stands Gauss's rule with `REFERENCE` nodes, which is below it: what follows is proved.
"""

from __future__ import annotations

import math
from functools import lru_cache

from flint import acb, arb, ctx, fmpq

from lipverify.errors import InvalidInput
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import whole
from lipverify.linear_transformer.gdplusplus.filters import ExactLoss
from lipverify.linear_transformer.gdplusplus.orthogonal import WANTED, gauss_mean, recurrence
from lipverify.linear_transformer.regression.contexts import require_regression
from lipverify.problem.noise import CategoricalNoise, NoiseLaw, UniformNoise
from lipverify.problem.prompts import Prompts

REFERENCE = 121
"""Nodes of the rule for the loss of ridge regression: its error is 3e-7 at n = 20, d = 10 without noise, else less."""
LARGEST_DEPTH = 7
"""Most layers: the rule has (3^7 - 1)/2 = 1093 nodes, and each further layer takes ten times as long."""


def degree(layers: int) -> int:
    """The degree (3^L - 1)/2 of the error polynomial of L layers."""
    return int((3**layers - 1) // 2)


def depth_within(name: str, layers: int) -> int:
    """The number of layers, refused if it is no whole number from 1 to `LARGEST_DEPTH`."""
    return whole(name, layers, 1, "the number of layers, whose polynomial has degree (3^L - 1)/2,", LARGEST_DEPTH)


@makes("bounded", "exact")
def gdplusplus_floor(regression: Prompts, layers: int) -> ExactLoss:
    r"""A proved lower bound on the loss of every GD++ model with this number of layers, computed in balls.

    Parameters
    ----------
    regression
        n >= d tokens in R^d, and the law of the noise, uniform or on levels.
    layers
        1 to `LARGEST_DEPTH`; without noise seven take 1093 nodes and some ten seconds, six take one.

    Returns
    -------
    ExactLoss
        `value - error` is the proved lower bound; the least loss of all polynomials is at most `value + error`.

    Raises
    ------
    InvalidInput
        If the covariates or tasks have another law, or the noise, n < d, or the depth is out of range.

    Examples
    --------
    >>> floor = gdplusplus_floor(Prompts(d=10, n=20, sigma=UniformNoise(0.0)), 2)
    >>> round(floor.value, 9), floor.error < 1e-15
    (0.266249213, True)
    """
    require_regression(regression)
    layers = depth_within("layers", layers)
    n, d, noise, D = regression.n, regression.d, regression.noise, degree(layers)
    s = second_moment(noise)
    nodes = REFERENCE if s else D
    with ctx.workprec(WANTED):
        ridge_regression, missed = _ideal(n, d, noise, nodes)
        floor = (ridge_regression - gauss_mean(recurrence(n, d, nodes), min(D, nodes), s)) / 2
        # filters of a higher degree than the reference gain no more than it misses
        low, high = (floor - missed if nodes < D else floor).lower(), (floor + missed).upper()
    bottom, top = math.nextafter(float(low), -math.inf), math.nextafter(float(high), math.inf)
    middle = (bottom + top) / 2
    return ExactLoss(value=middle, error=math.nextafter(max(top - middle, middle - bottom), math.inf))


def second_moment(noise: NoiseLaw) -> fmpq:
    """E sigma^2, as a rational number."""
    levels = _levels(noise)
    if levels is None:
        return _exact(noise.sigma_max) ** 2 / 3  # type: ignore[attr-defined]
    return sum((level**2 for level in levels), fmpq(0)) / len(levels)


@lru_cache(maxsize=64)
def _ideal(n: int, d: int, noise: NoiseLaw, nodes: int) -> tuple[arb, arb]:
    """A lower bound on E_sigma int 1/(t + sigma^2) dmu by Gauss's rule, and half of its largest error."""
    mass, levels = arb(d), _levels(noise)  # the integral is d without noise
    if second_moment(noise) == 0:
        return mass, arb(0)
    polynomials = recurrence(n, d, nodes)
    missed = (mass - gauss_mean(polynomials, nodes, 0)) / 2
    if levels is not None:
        return sum((gauss_mean(polynomials, nodes, level**2) for level in levels), arb(0)) / len(levels), missed
    # if -sigma^2 is near a node, a denominator may contain 0, and the integrator takes smaller steps
    largest = _exact(noise.sigma_max)  # type: ignore[attr-defined]
    average = acb.integral(lambda x, _: gauss_mean(polynomials, nodes, (largest * x) ** 2), 0, 1, rel_tol=2.0**-44)
    return average.real, missed


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
    return fmpq(*float(value).as_integer_ratio())
