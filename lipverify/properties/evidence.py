"""What evidence must be: intervals that cover, exponents with honest errors, verdicts that stand."""

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
    """An interval misses the truth no more often than it says.

    Parameters
    ----------
    interval
        (low, high) from the samples of one repetition.
    samples
        The samples of repetition number k: derive their random numbers from k, and never let Hypothesis choose them.
    truth
        What is to be covered.
    level
        What the interval promises.
    repetitions
        How often it is tried; 400 see an interval that misses 16 % where 5 % are promised.
    alarm
        The probability with which an interval that keeps its promise may fail here.

    Returns
    -------
    float
        Misses / allowed.

    Raises
    ------
    AssertionError
        If it misses too often.

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
        missed += not low <= truth <= high  # what is not a number misses
    allowed = float(binom.isf(alarm, repetitions, 1 - level))
    return require(f"an interval of level {level:g} covers", missed, allowed, missed=missed, repetitions=repetitions)


def exponent_covers(growth: Growth, exponent: float, constant: float | None = None) -> float:
    """The error of a limit exponent covers the true one, and that of the constant the true one, on a law that is known.

    Parameters
    ----------
    growth
        A limit exponent of a law that is known.
    exponent, constant
        The true ones; the constant is left out where None.

    Returns
    -------
    float
        The largest difference / stated error.

    Raises
    ------
    AssertionError
        If an error is too small.

    >>> from lipverify import growth
    >>> exponent_covers(growth(lambda s: 3 * s**0.5 * (1 + s**-0.3), 1e4, 1e30), 0.5, constant=3.0) <= 1
    True
    """
    off = abs(growth.exponent - exponent)
    shown = {"stated": growth.exponent, "error": growth.error, "truth": exponent}
    ratio = require("the error covers the limit exponent", off, growth.error, **shown)
    if constant is None:
        return ratio
    shown = {"stated": growth.constant, "error": growth.constant_error, "truth": constant}
    off = abs(growth.constant - constant)
    return max(ratio, require("the error covers the constant", off, growth.constant_error, **shown))


def narrowing_never_overturns(
    measured: Interval,
    narrower: Interval,
    allowed: Allowed,
    decide: Callable[[Interval, Allowed], Verdict] = decide,
) -> float:
    """Evidence that narrows an interval may decide what was open, and leaves what was decided.

    Parameters
    ----------
    measured, narrower
        An interval, and one inside of it.
    allowed
        What a claim allows.
    decide
        How verdicts are made.

    Returns
    -------
    float
        0.

    Raises
    ------
    AssertionError
        If a decided verdict changes.
    InvalidInput
        If `narrower` is not inside of `measured`.

    >>> narrowing_never_overturns(Interval(0.4, 0.6), Interval(0.5, 0.5), Allowed(low=0.3))
    0.0
    """
    (low, high), (inner_low, inner_high) = measured.ends, narrower.ends
    if not low <= inner_low <= inner_high <= high:
        raise InvalidInput(f"narrower = {narrower!r} is not inside of {measured!r}.")
    before, after = decide(measured, allowed), decide(narrower, allowed)
    overturned = before in ("supported", "refuted") and after != before
    shown = {"before": before, "after": after, "measured": measured, "narrower": narrower, "allowed": allowed}
    return require("a narrower interval leaves a decided verdict", float(overturned), 0.0, **shown)
