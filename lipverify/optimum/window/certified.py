r"""The optimal window as an interval that is proved to contain every minimiser, and the best scale c there.

N rises in w, because for fixed tokens the slope of sum a_i^2 is 2 sum a_i^2 (t_i - sum a_j t_j) >= 0 (Chebyshev's
inequality for sums). So where N alone is above the loss at some w, no larger w is best; up to there the loss is a curve
(`lipverify.loss.certified.curve`), and is above the loss at that w everywhere but next to it.

At w = 0 an even law has L(-w) = L(w), no odd powers of w, and the curvature B''(0) + N''(0) of `origin`. With |L| <= M
for |w| <= 1 it is L = L(0) + (L''(0) / 2) w^2 + r, |r| <= 2 M w^4 / (1 - w^2) (Cauchy's estimate of |L - L(0)| <= 2 M):
where that is more than L(0) up to the end of the interval that is left, w = 0 is the only minimiser.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
from flint import arb

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.validation import number
from lipverify.loss import loss_terms
from lipverify.loss.certified.curve import STRIP, Curve, curves
from lipverify.loss.certified.enclosure import enclose, enclose_gap
from lipverify.loss.certified.record import double
from lipverify.loss.certified.spectra import Spectrum, spectrum_of
from lipverify.optimum.window.minimiser import optimal_window
from lipverify.problem import Problem
from lipverify.problem.laws import Affine, ReLU

ACCURACY = 1e-6
"""Errors of a curve, as a share of the loss: w* is then known to about a thousandth."""
SPARE = 6.0
"""Nepers by which the values at points are better known than what lies between."""
FARTHEST = 1e3
"""The largest w that is looked at."""
LISTED = 64
"""Degrees of a spectrum that enter one by one."""


class CertifiedWindow(msgspec.Struct, frozen=True, kw_only=True):
    """Every minimiser lies in [low, high]; both are 0 where w = 0 is the only one."""

    low: float
    high: float

    @property
    def value(self) -> tuple[float, float]:
        """The middle, and half of the width."""
        return (self.low + self.high) / 2, (self.high - self.low) / 2 * (1 + 1e-15)


def certified_window(problem: Problem) -> CertifiedWindow:
    """An interval that is proved to contain every w >= 0 at which the loss is least.

    Parameters
    ----------
    problem
        Isotropic, n >= 2 tokens, sigma > 0, and a law of which `method="certified"` knows the balls.

    Raises
    ------
    InvalidInput
        If no ball is known for the law, or sigma = 0.
    OutOfReach
        If the noise at no w up to 1000 is above the least loss.

    >>> from lipverify.laws import Affine
    >>> found = certified_window(Problem(d=3, n=10, law=Affine()))
    >>> round(found.low, 2), round(found.high, 2)
    (0.8, 0.8)
    """
    low, high = _found(problem)[1]
    return CertifiedWindow(low=0.0, high=0.0) if _only_zero(problem, high) else CertifiedWindow(low=low, high=high)


def certified_scale(problem: Problem, *offset_variances: float) -> list[tuple[float, float]]:
    """c* - 1 at every minimiser w*, c* the best factor of the prediction there: values and errors, proved.

    Parameters
    ----------
    problem
        As for `certified_window`; the law affine or ReLU.
    offset_variances
        Of the offset of f, >= 0: a value for each.

    Raises
    ------
    InvalidInput, OutOfReach
        As `certified_window`.

    Source: `lipverify.loss.scaled`, c* - 1 = (G - B - N) / E P^2.

    >>> from lipverify.laws import Affine
    >>> value, error = certified_scale(Problem(d=3, n=10, law=Affine()), 1 / 3)[0]
    >>> round(value, 3), error < 1e-3
    (-0.235, True)
    """
    if not isinstance(problem.law, Affine | ReLU):
        raise InvalidInput(f"law = {problem.law!r}: its second moment is not known as a ball; use `scaled_loss`.")
    variances = [number("offset_variance", each, "a variance", least=0) for each in offset_variances]
    (loss, gap), found = _found(problem, gap=True)
    total, G = loss.over(*found), gap.over(*found)
    square = arb(problem.law.L) ** 2 / (3 * problem.d)
    return [double((G - total) / (total + square + arb(each) - 2 * G)) for each in variances]


def _found(problem: Problem, *, gap: bool = False) -> tuple[list[Curve], tuple[float, float]]:
    """The loss, and G if it is asked for, on [0, w] for a w beyond every minimiser; and where the minimisers are."""
    if problem.sigma == 0 or problem.n == 1:
        raise InvalidInput(
            f"sigma = {problem.sigma}, n = {problem.n}: the noise bounds w* only if sigma > 0 and n >= 2."
        )
    spectrum, c, goal = spectrum_of(problem.law, problem.d, LISTED), arb(STRIP).cos(), SPARE - math.log(ACCURACY)
    level = sum(enclose(problem, optimal_window(problem).w, goal))
    bounds = [_bound(problem, spectrum, c)] + gap * [2 * spectrum.variance / c]

    def values(w: float) -> list[Any]:
        return [sum(enclose(problem, w, goal))] + ([enclose_gap(problem, w, goal)] if gap else [])

    known = curves(values, bounds, 0.0, _end(problem, level, goal), ACCURACY * float(level))
    found = known[0].beneath(level)
    assert found is not None, "the loss at a w of the interval is not above itself"
    return known, found


def _bound(problem: Problem, spectrum: Spectrum, c: Any) -> Any:
    """|L| at most where |Im w| has the cosine c."""
    return (arb(problem.sigma) ** 2 + 4 * spectrum.variance) / c**2


def _end(problem: Problem, level: Any, goal: float) -> float:
    """A w from which on the noise alone is above the level."""
    w = 0.125
    while w <= FARTHEST:
        if float(loss_terms(problem, w).noise) > float(level) and enclose(problem, w, goal)[0] > level:
            return w
        w *= 1.25
    raise OutOfReach(
        f"{problem!r}: at no w <= {FARTHEST:g} is the noise alone above the least loss, so nothing bounds w*; use "
        "optimal_window."
    )


def _only_zero(problem: Problem, high: float) -> bool:
    """Whether w = 0 is the only minimiser in [0, high]."""
    d, n, spectrum = problem.d, arb(problem.n), spectrum_of(problem.law, problem.d, LISTED)
    if any(degree % 2 for degree in spectrum.coefficients) or high >= 1:
        return False
    k_2, variance = spectrum.coefficients.get(2, arb(0)), spectrum.variance
    curvature = (1 - 1 / n) * ((arb(problem.sigma) ** 2 + variance) / (n * d) - 2 * (1 - 2 / n) * k_2 / (d * (d + 2)))
    share = arb(high) ** 2
    return bool(curvature > 2 * _bound(problem, spectrum, arb(1).cos()) * share / (1 - share))
