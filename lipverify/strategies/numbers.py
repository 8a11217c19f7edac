"""Strategies for numbers: dimensions, context lengths, values of w, constants. Bounds of ranges are drawn too."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from lipverify.errors import InvalidInput
from lipverify.foundation.validation import real, whole
from lipverify.problem.problem import LARGEST_N

FEW = 20
"""Context lengths up to this are drawn half of the time: small samples and both parities are special cases."""


def dimensions(low: int = 2, high: int = 20) -> st.SearchStrategy[int]:
    """Ambient dimensions d, from `low` to `high`; shrinks to `low`.

    Parameters
    ----------
    low, high
        Ends of the range, both included.

    Returns
    -------
    SearchStrategy[int]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If a bound is not an integer >= 2, or they are reversed.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(dimensions(), lambda d: d % 2 == 1)
    3
    """
    ends = [_integer(name, bound, "d", 2) for name, bound in (("low", low), ("high", high))]
    _in_order("d", *ends)
    return st.integers(*ends)


def lengths(low: float = 2, high: float = LARGEST_N) -> st.SearchStrategy[float]:
    """Context lengths n, log-uniform; half of the draws are at most 20. Shrinks to `low`.

    Parameters
    ----------
    low, high
        Ends of the range, both included.

    Returns
    -------
    SearchStrategy[int | float]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If a bound is not an integral number from 1 to 1e30, or they are reversed.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(lengths(), lambda n: n == 1e30)
    1e+30
    """
    ends = [_length(name, bound) for name, bound in (("low", low), ("high", high))]
    _in_order("n", *ends)
    first, last = ends
    decades = _spread(first, last).map(lambda n: min(max(float(round(n)), first), last))
    if first > FEW:
        return decades
    few = st.integers(int(first), int(min(last, FEW)))
    return few if last <= FEW else st.one_of(few, decades)


def windows(low: float = 0.0, high: float = 1e4) -> st.SearchStrategy[float]:
    """Values of w, log-uniform, with 0 as a special case if `low` is 0. Shrinks to `low`, or to 1.

    Parameters
    ----------
    low, high
        Ends of the range, both included.

    Returns
    -------
    SearchStrategy[float]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If a bound is negative or not finite, or they are reversed.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(windows(), lambda w: w < 0.5)
    0.0
    """
    ends = [_number(name, bound, " of w", 0.0) for name, bound in (("low", low), ("high", high))]
    _in_order("w", *ends)
    if ends[0] > 0:
        return _spread(*ends)
    zero = st.just(0.0)
    # for smaller w the loss is constant up to rounding
    return st.one_of(zero, _spread(min(1e-6, ends[1]), ends[1])) if ends[1] > 0 else zero


def constants(low: float = 0.1, high: float = 10.0) -> st.SearchStrategy[float]:
    """Positive constants such as L and sigma, log-uniform; shrinks to 1 if the range contains it.

    Parameters
    ----------
    low, high
        Ends of the range, both included.

    Returns
    -------
    SearchStrategy[float]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If a bound is not positive and finite, or they are reversed.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(constants(), lambda L: True)
    1.0
    """
    # from the smallest positive double on
    ends = [_number(name, bound, "", 5e-324) for name, bound in (("low", low), ("high", high))]
    _in_order("bounds", *ends)
    return _spread(*ends)


def few_tokens_a_window(d: int, n: float, w: float) -> bool:
    """True if windows contain few tokens, when exact averages over kinks take seconds; use `assume(not ...)`.

    Parameters
    ----------
    d, n
        Dimension and number of tokens.
    w
        Inverse squared width of the window.

    Returns
    -------
    bool
        True if there are few.

    Examples
    --------
    >>> few_tokens_a_window(5, 1e6, 10.0), few_tokens_a_window(5, 100, 1e3)
    (False, True)
    """
    return bool(w ** ((d - 1) / 2) > 0.05 * n)


def _spread(low: float, high: float) -> st.SearchStrategy[float]:
    """Exponentials of floats from a range slightly larger than the given one; draws beyond an end give the end."""
    log_low, log_high = math.log(low), math.log(high)
    margin = 0.05 * (log_high - log_low)  # draws beyond an end are set to the end itself

    def number(x: float) -> float:
        if not log_low < x < log_high:
            return low if x <= log_low else high
        return min(max(math.exp(x), low), high)  # rounding must not exceed the ends

    return st.floats(log_low - margin, log_high + margin).map(number)


def _integer(name: str, value: Any, of: str, least: int) -> int:
    return whole(name, value, least, f"a bound of {of}")


def _length(name: str, value: Any) -> float:
    bound = _number(name, value, " of n", 1.0)
    if not (bound.is_integer() and bound <= LARGEST_N):
        raise InvalidInput(f"{name} = {value!r}: a bound of n must be integral, from 1 to {LARGEST_N:g}.")
    return bound


def _number(name: str, value: Any, of: str, least: float) -> float:
    bound = real(value)
    if not (math.isfinite(bound) and bound >= least):
        rule = "> 0" if least == 5e-324 else f">= {least:g}"
        raise InvalidInput(f"{name} = {value!r}: a bound{of} must be finite and {rule}.")
    return bound


def _in_order(of: str, low: float, high: float) -> None:
    if low > high:
        raise InvalidInput(f"low = {low:g}, high = {high:g}: the bounds of {of} are reversed; give the smaller first.")
