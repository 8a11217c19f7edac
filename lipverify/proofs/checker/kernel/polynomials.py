"""Inequalities on whole rays: a polynomial whose coefficients in t are all >= 0 is >= 0 for every t >= 0."""

from __future__ import annotations

from typing import Any

from .form import Ball


def never_negative(polynomial: Any, start: Ball | int = 0) -> bool:
    """Whether the coefficients in t = x - start are all >= 0, so that the polynomial is >= 0 for x >= start.

    >>> from flint import fmpq_poly
    >>> never_negative(fmpq_poly([-1, 0, 1]), 1), never_negative(fmpq_poly([-1, 0, 1]), 0)
    (True, False)
    """
    return all(coefficient >= 0 for coefficient in polynomial(type(polynomial)([start, 1])).coeffs())
