r"""Noise and bias as balls, with the precision raised until they have the digits asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.validation import whole
from lipverify.loss.certified.enclosure import enclose
from lipverify.loss.certified.harmonics import Ball
from lipverify.loss.certified.record import CertifiedTerms, double, text
from lipverify.problem import Problem

ATTEMPTS = 3
PRINTING = 0.01
"""Nepers that outward rounding to text may take."""
MOST_DIGITS = 100
GUARD = 6.0
"""Nepers beyond the digits asked for, since several errors of that size add up."""


def certified_terms(problem: Problem, w: Any, *, digits: int = 20) -> CertifiedTerms:
    r"""Balls that are proved to contain the bias and the noise.

    Parameters
    ----------
    problem
        Any d >= 2 and n; the law affine, quadratic, cosine, relu or `Zonal` by its spectrum. The doubles sigma, L, w
        and the coefficients are taken as they are, exactly.
    w
        Values of w, finite and >= 0.
    digits
        Every ball has a radius of at most 10^-digits of its value; from 1 to 100.

    Returns
    -------
    CertifiedTerms
        Units of y squared, shaped like `w`.

    Raises
    ------
    InvalidInput
        If `digits` breaks its rule, or no ball is known for the law.
    OutOfReach
        If the digits would take more than a few seconds: w beyond some 1000 where windows hold few tokens, relu with
        w beyond 5 unless a window holds many tokens, and cosines with L of several hundred.

    Source: what is proved is stated and derived in `lipverify.loss.certified.context`, `series` and `mellin`.

    >>> from lipverify.laws import Affine
    >>> certified_terms(Problem(d=3, n=10, law=Affine()), 5.0).noise_ball.item()
    '[0.4223067893770449277437168 +/- 3.40e-24]'
    """
    digits = whole("digits", digits, 1, "the number of digits", MOST_DIGITS)
    windows = np.asarray(w, dtype=np.float64)
    balls = [_to_digits(problem, float(one), digits) for one in windows.flat]

    def shaped(values: Iterable[Any], dtype: type = float) -> Any:
        return np.reshape(np.array(list(values), dtype=dtype), windows.shape)

    doubles = [[double(ball) for ball in pair] for pair in balls]
    return CertifiedTerms(
        problem=problem,
        method="certified",
        w=windows,
        noise=shaped(noise[0] for noise, _ in doubles),
        bias=shaped(bias[0] for _, bias in doubles),
        noise_error=shaped(noise[1] for noise, _ in doubles),
        bias_error=shaped(bias[1] for _, bias in doubles),
        noise_ball=shaped((text(noise, digits) for noise, _ in balls), object),
        bias_ball=shaped((text(bias, digits) for _, bias in balls), object),
        digits=digits,
    )


def _to_digits(problem: Problem, w: float, digits: int) -> tuple[Ball, Ball]:
    """(N, B) with the digits, or a refusal."""
    wanted = digits * math.log(10) + GUARD
    goal = wanted
    for _ in range(ATTEMPTS):
        balls = enclose(problem, w, goal)
        known = min(_nepers(ball) for ball in balls)
        if known >= digits * math.log(10) + PRINTING:
            return balls
        goal += min(wanted - known, wanted)
    raise OutOfReach(
        f"d = {problem.d}, n = {problem.n}, w = {w}: the ball has {max(known, 0) / math.log(10):.1f} of "
        f"the {digits} digits; ask for fewer digits or use method='exact'."
    )


def _nepers(ball: Ball) -> float:
    """-log of the relative radius; infinite for an exact ball."""
    if ball.is_exact():
        return math.inf
    size = ball.abs_lower()
    return -float((ball.rad() / size).log()) if ball.is_finite() and size > 0 else -math.inf
