"""Format numbers for the report with as many digits as their errors justify."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

MINUS = "−"
_DIGITS = 15
"""Largest number of significant digits: a double carries no more."""


def number(value: float | None, digits: int = 4) -> str:
    """A number to `digits` significant digits.

    >>> number(1 / 3), number(-2.5e-9), number(1e30), number(None), number(12)
    ('0.3333', '−2.5e−9', '1e30', '–', '12')
    """
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else "∞" if value > 0 else f"{MINUS}∞"
    exact = Decimal(repr(float(value)))
    return _written(exact if exact == 0 else _rounded(exact, exact.adjusted() + 1 - digits), True)


def with_error(value: float | None, error: float | None) -> str:
    """`value ± error` with two digits of the error, the value rounded to the last of them, with at most four zeros at
    its end.

    The error is rounded up, so that the printed interval contains the ledger's, up to the rounding of the value.

    >>> with_error(0.3333312, 2e-6), with_error(12345678.0, 1300.0), with_error(0.5, 2e-3)
    ('0.3333312 ± 2.0e−6', '1.23457e7 ± 1300', '0.5000 ± 0.0020')
    >>> with_error(0.5, 6e-13), with_error(0.0, 4e-6), with_error(0.5, 0.0), with_error(None, None)
    ('0.5 ± 6.0e−13', '0 ± 4.0e−6', '0.5', '–')
    """
    if value is None or not error or not math.isfinite(value):
        return number(value, digits=6)
    if not math.isfinite(error) or error < 0:
        return f"{number(value, digits=_DIGITS)} ± {number(error)}"
    exact, half = Decimal(repr(float(value))), Decimal(repr(float(error)))
    half = _rounded(half, half.adjusted() - 1, ROUND_CEILING)
    last = max(_exponent(half), exact.adjusted() + 1 - _DIGITS if exact else _exponent(half))
    rounded = _rounded(exact, last)
    many = rounded == 0 or rounded.as_tuple().exponent - rounded.normalize().as_tuple().exponent < -4  # type: ignore[operator]
    return f"{_written(rounded, many)} ± {_written(half, trim=_exponent(half) >= 0)}"


def beside(value: float, error: float | None) -> str:
    """A value to match, to the last digit of the error of what is compared with it, and to six digits at most.

    >>> beside(1 / 3, 0.0023), beside(1 / 3, 1e-9), beside(0.5, 0.01), beside(1 / 3, None)
    ('0.3333', '0.333333', '0.5', '0.333333')
    """
    exact = Decimal(repr(float(value))) if math.isfinite(value) else Decimal(0)
    if not exact or not error or not math.isfinite(error):
        return number(value, digits=6)
    last = Decimal(repr(float(error))).adjusted() - 1
    return number(value, digits=min(max(exact.adjusted() + 1 - last, 1), 6))


def typeset(text: str) -> str:
    r"""A number with its power of ten as LaTeX; any other text unchanged."""
    match = re.fullmatch(rf"({MINUS}?[0-9.]+)e({MINUS}?[0-9]+)", text)
    if match is None:
        return text
    mantissa, power = (part.replace(MINUS, "-") for part in match.groups())
    return f"${scientific(mantissa, power)}$"


def scientific(mantissa: str, power: str) -> str:
    r"""A number times a power of ten in LaTeX, or the power alone."""
    return rf"10^{{{power}}}" if mantissa == "1" else rf"{mantissa} \times 10^{{{power}}}"


def signed(value: float | None) -> str:
    """A margin with three significant digits and a sign."""
    text = number(value, digits=3)
    return f"+{text}" if value is not None and value > 0 else text


def seconds(value: float) -> str:
    """A duration.

    >>> seconds(0.0214), seconds(75.2), seconds(7260.0), seconds(0.0)
    ('0.021 s', '1 min 15 s', '2 h 1 min', '0.001 s')
    """
    value = max(value, 1e-3) if math.isfinite(value) else value  # a shorter duration is rounded up
    if not math.isfinite(value) or value < 60:
        return f"{number(value, digits=2)} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "only finite numbers come here"
    return exponent


def _rounded(value: Decimal, last: int, rounding: str = ROUND_HALF_EVEN) -> Decimal:
    return value.quantize(Decimal(1).scaleb(last), rounding=rounding)


def _written(value: Decimal, trim: bool) -> str:
    """Plain notation near one, otherwise `m e k`; `trim` drops the zeros at the end."""
    if value == 0:
        return "0" if trim or _exponent(value) >= 0 else f"{abs(value):f}"
    if trim:
        value = value.normalize()
    power = value.adjusted()
    if -4 <= power < 6 and (trim or _exponent(value) <= 0):
        return f"{value:f}".replace("-", MINUS)
    return f"{value.scaleb(-power):f}e{power}".replace("-", MINUS)
