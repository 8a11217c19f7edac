r"""Balls as a record: the midpoints as doubles with their errors, and every digit as text."""

from __future__ import annotations

import math
from typing import Any

from lipverify.errors import OutOfReach
from lipverify.loss.certified.harmonics import Ball
from lipverify.loss.terms import LossTerms


class CertifiedTerms(LossTerms, frozen=True, kw_only=True):
    r"""Loss terms that are proved to lie in balls.

    Attributes
    ----------
    bias, noise
        The midpoints, rounded to doubles.
    bias_error, noise_error
        Bounds on the distance from these doubles to the truth: the radius and the rounding to a double.
    bias_ball, noise_ball
        The balls themselves as text, "[midpoint +/- radius]" in decimal, arrays shaped like `w`; `flint.arb(text)`
        reads one back. A double cannot hold 20 digits.
    digits
        Every ball has a radius of at most 10^-digits of its value.
    """

    bias_ball: Any
    noise_ball: Any
    digits: int


def text(ball: Ball, digits: int) -> str:
    """The ball in decimal, outwards rounded, with a few digits more than are promised.

    >>> from flint import arb
    >>> text(arb(1) / 4, 20)
    '0.2500000000000000000000000'
    """
    return ball.str(digits + 5, more=True)


def double(ball: Ball) -> tuple[float, float]:
    """The midpoint as a double, and a bound on its distance to any point of the ball.

    Raises
    ------
    OutOfReach
        If it is too large for a double.

    >>> from flint import arb
    >>> double(arb(1) / 4)
    (0.25, 0.0)
    """
    value = float(ball.mid())
    if not math.isfinite(value):
        raise OutOfReach(f"the value {ball.str(3)} exceeds the largest double; rescale L or sigma.")
    error = (ball - value).abs_upper()
    return value, 0.0 if error == 0 else math.nextafter(float(error), math.inf)
