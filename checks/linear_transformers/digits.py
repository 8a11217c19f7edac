"""The digits of Table 1 as fractions, and one tolerance for all sentences that compare printed losses without a size."""

from __future__ import annotations

from fractions import Fraction

from lipverify.checks.linear_transformers.quantities import printed

MATCH = "11/10"
"""Losses match, are comparable or close if they differ by at most a tenth; half a unit of both last digits counts for the sentence."""
TOLERANCE = r"to a tenth, where half a unit of the last digits counts in favour of the sentence"
DIGITS = "Table 1 as it is printed, digit by digit, without the column of no noise"


def number(noise: str, model: str, layers: int) -> tuple[Fraction, Fraction]:
    """A printed number and half a unit of its last digit; "best" is the better one of DIAG and FULL."""
    if model == "best":
        return min(number(noise, family, layers) for family in ("DIAG", "FULL"))
    entry = printed(noise, model, 0 if model.endswith("RR") else layers)
    return Fraction(repr(entry.value)), Fraction(repr(entry.rounding))


def quotient(noise: str, model: str, layers: int, against: str, rounded: str = "as printed") -> Fraction:
    """A printed loss over another of the same depth or over a ridge regression; half units may lower ("down") or raise it ("up")."""
    (value, half), (other, other_half) = number(noise, model, layers), number(noise, against, layers)
    sign = {"as printed": 0, "down": -1, "up": 1}[rounded]
    return (value + sign * half) / (other - sign * other_half)


def middle(noises: tuple[str, ...], model: str, layers: int, against: str) -> Fraction:
    """The median of these quotients over an odd number of laws of the noise."""
    return sorted(quotient(noise, model, layers, against) for noise in noises)[len(noises) // 2]
