"""Properties of evidence: intervals cover, exponents state honest errors, and narrowing keeps verdicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lipverify.claims.ledger.verdict import Allowed, Interval, Verdict, decide
from lipverify.errors import InvalidInput
from lipverify.properties.ratio import require
from lipverify.scaling import Growth


def interval_covers(
    interval: Callable[[Any], tuple[float, float]],
    samples: Callable[[int], Any],
    truth: float,
    *,
    level: float = 0.95,
    repetitions: int = 400,
    alarm: float = 1e-6,
) -> float:
    """Require that an interval misses the truth no more often than its level allows.

    Parameters
    ----------
    interval
        Function from the samples of one repetition to (low, high).
    samples
        Function from k to the samples of repetition k. Derive their random numbers from k, and never let Hypothesis
        choose them.
    truth
        The value to cover.
    level
        The nominal coverage of the interval.
    repetitions
        Number of repetitions; 400 detect an interval that misses in 16 % of cases instead of 5 %.
    alarm
        The probability with which a correct interval may fail here.

    Returns
    -------
    float
        Misses / allowed.

    Raises
    ------
    AssertionError
        If the interval misses too often.

    Examples
    --------
    >>> import numpy as np
    >>> def draw(k):
    ...     return np.random.default_rng(k).random(100)
    >>> def normal(x):
    ...     half = 1.96 * x.std(ddof=1) / 10
    ...     return x.mean() - half, x.mean() + half
    >>> interval_covers(normal, draw, truth=0.5) <= 1
    True
    """
    if not (0 < level < 1 and 0 < alarm < 1 and repetitions >= 1):
        raise InvalidInput(
            f"level = {level!r}, alarm = {alarm!r}: between 0 and 1; repetitions = {repetitions!r}: >= 1."
        )
    from scipy.stats import binom

    missed = 0
    for k in range(repetitions):
        low, high = interval(samples(k))
        missed += not low <= truth <= high  # NaN counts as a miss
    allowed = float(binom.isf(alarm, repetitions, 1 - level))
    return require(f"an interval of level {level:g} covers", missed, allowed, missed=missed, repetitions=repetitions)


def exponent_covers(growth: Growth, exponent: float, constant: float | None = None) -> float:
    """Require that the stated errors of a limit exponent and its constant cover the true values of a known law.

    Parameters
    ----------
    growth
        The growth of a known law.
    exponent, constant
        The true values; the constant is not checked if None.

    Returns
    -------
    float
        The largest difference / stated error.

    Raises
    ------
    AssertionError
        If an error is too small.

    Examples
    --------
    >>> from lipverify import growth
    >>> exponent_covers(growth(lambda s: 3 * s**0.5 * (1 + s**-0.3), 1e4, 1e30), 0.5, constant=3.0) <= 1
    True
    """
    off = abs(growth.exponent - exponent)
    context = {"stated": growth.exponent, "error": growth.error, "truth": exponent}
    ratio = require("the error covers the limit exponent", off, growth.error, **context)
    if constant is None:
        return ratio
    context = {"stated": growth.constant, "error": growth.constant_error, "truth": constant}
    off = abs(growth.constant - constant)
    return max(ratio, require("the error covers the constant", off, growth.constant_error, **context))


def narrowing_never_overturns(
    measured: Interval,
    narrower: Interval,
    allowed: Allowed,
    decide: Callable[[Interval, Allowed], Verdict] = decide,
) -> float:
    """Require that narrowing an interval may decide an open verdict and never changes a decided one.

    Parameters
    ----------
    measured, narrower
        An interval, and another one inside it.
    allowed
        The allowed range of a claim.
    decide
        The function that makes verdicts.

    Returns
    -------
    float
        0.

    Raises
    ------
    AssertionError
        If a decided verdict changes.
    InvalidInput
        If `narrower` is not inside `measured`.

    Examples
    --------
    >>> narrowing_never_overturns(Interval(0.4, 0.6), Interval(0.5, 0.5), Allowed(low=0.3))
    0.0
    """
    (low, high), (inner_low, inner_high) = measured.ends, narrower.ends
    if not low <= inner_low <= inner_high <= high:
        raise InvalidInput(f"narrower = {narrower!r} is not inside {measured!r}.")
    before, after = decide(measured, allowed), decide(narrower, allowed)
    overturned = before in ("supported", "refuted") and after != before
    context = {"before": before, "after": after, "measured": measured, "narrower": narrower, "allowed": allowed}
    return require("a narrower interval leaves a decided verdict", float(overturned), 0.0, **context)
