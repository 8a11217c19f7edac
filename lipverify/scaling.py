r"""Growth: how a positive quantity scales along a ray s -> infinity.

For Q ~ K s^a (1 + corrections that are powers of s), the local slopes on a geometric ladder,

    a_k = log(Q_{k+1} / Q_k) / log(s_{k+1} / s_k) = a + sum_j c_j s_k^{-delta_j},

tend to the limit exponent a. A single global log-log fit mixes a with the corrections, which its standard error
ignores; here the limit is extrapolated (`lipverify.limits`), with an error.

For Q ~ K s^a (log s)^b they also tend to a, like a + b / log s. The error covers this difference: a few hundredths over
26 decades. Once a is known, b is the limit of d log(Q / s^a) / d log log s.

No finite ladder decides a limit: it lies within the error if the local exponents beyond the ladder do, and a verdict
that rests on it is printed as extrapolated, with this assumption (`lipverify.foundation.ladder.ASSUMPTION`). The error
is made for sums of powers with powers of logarithms,

    Q = sum_j c_j s^{a_j} (log s)^{b_j},

in which at the end of the ladder the leading term has at least SHARE = 0.9 of the sum of the sizes of all terms,
exponents a_j are equal or at least APART = 0.04 apart, and no power of a logarithm exceeds 3 in size. The exponent of a
claim that is judged belongs to these exponents, and its power of the logarithm equals that of the leading term or
differs from it by LOG_APART = 1/3 or more.

The error is evidence, not a bound: several members of the class may fit the values about equally well, and it covers
those that a few models with powers and logarithms find (`lipverify.limits`). docs/verdicts.md has the searches for
members outside of it (tests/scaling, tests/slow/test_growth.py).

Outside the class one sum in several thousand is outside the error if its leading term has no more than half or
exponents are 0.01 apart. A drift like s^a exp(c (log s)^g), g < 1, is no such sum; the error covers it if the local
exponents show it.

If values are known to 0.5 % or worse, a weighted fit of all of them gives the exponent, with all corrections and
logarithms that such noise may hide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Floats, Real, Reals
from lipverify.foundation.ladder import FEWEST_POINTS, ladder, require_long
from lipverify.foundation.lazy import directory
from lipverify.foundation.quoting import shown
from lipverify.foundation.showing import Shown, axes, latex_number
from lipverify.foundation.style import in_style
from lipverify.foundation.validation import LARGEST, function, number, numbers
from lipverify.limits import LOUD, LOUDER, Limit, extrapolate, fitted, limit_beside_logarithms, limit_of_slopes

if TYPE_CHECKING:
    from lipverify.loss import LossTerms
    from lipverify.optimum.window import EmpiricalWindow, Optimum, ScaledOptimum

    Number: TypeAlias = Real | Floats
    Measured: TypeAlias = Number | tuple[Number, Number] | Optimum | EmpiricalWindow | ScaledOptimum | LossTerms

__all__ = ["Growth", "growth", "growth_of"]
__dir__ = directory(__name__)

DEFAULT_ERROR = 1e-12
"""Relative error assumed for values given without one: a few thousand roundings."""
LONGEST = 48
"""Most points from which local exponents are taken."""
COARSEST_POWER = 1.0
"""Largest useful error of a power of log s; larger ones are reported as infinite."""


class Growth(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """The limit exponent of Q along a ladder, with its evidence.

    The limit lies within `error` of `exponent` if the local exponents beyond the ladder do. The error is made for sums
    of powers with powers of logarithms whose leading term has 9/10 of the sum of all sizes at the end of the ladder
    (`lipverify.scaling` describes the searches for sums outside of it). It is infinite if the slopes do not converge.
    `constant` is the limit of Q / s^exponent with `constant_error`, if the exponent's own error allows one.

    Attributes
    ----------
    s
        Points of the ladder, of length K.
    values
        The quantity at each point, in its own units.
    value_errors
        Their relative errors.
    slope_at
        Geometric means of neighbouring points, of length K - 1.
    local_slopes
        The local exponents there.
    exponent, error
        The limit of the local exponents, and its error.
    constant, constant_error
        The limit of Q / s^exponent, and its error.
    rest
        If the quantity is 0 within its error from some point on: that point, and the least and the largest value there,
        errors included. The ladder then ends before it.

    Examples
    --------
    >>> law = growth(lambda s: 3 * s**0.5, start=1, stop=1e4)
    >>> len(law.s), len(law.local_slopes), round(law.exponent, 9), round(law.constant, 6)
    (14, 13, 0.5, 3.0)
    """

    s: tuple[float, ...]
    values: tuple[float, ...]
    value_errors: tuple[float, ...]
    slope_at: tuple[float, ...]
    local_slopes: tuple[float, ...]
    exponent: float
    error: float
    constant: float
    constant_error: float
    rest: tuple[float, float, float] | None = None

    def _title(self) -> str:
        return f"s^({self.exponent:.6g} ± {self.error:.1g}), {len(self.s)} points from {self.s[0]:g} to {self.s[-1]:g}"

    def _columns(self) -> dict[str, Any]:
        return {"slope_at": np.array(self.slope_at), "local_slopes": np.array(self.local_slopes)}

    def _coordinates(self) -> tuple[str, ...]:
        return ("slope_at",)

    def __repr__(self) -> str:
        constant = f"{self.constant:.6g} ± {self.constant_error:.1g}" if self._has_constant else "not known"
        return f"Growth(exponent={self.exponent:.10g} ± {self.error:.1g}, constant={constant}, {len(self.s)} points)"

    @property
    def _has_constant(self) -> bool:
        """True if the error of the constant leaves it at least one digit."""
        return self.constant_error < abs(self.constant)

    def _repr_latex_(self) -> str:
        power = f"s^{{{latex_number(self.exponent, self.error)}}}"
        constant = latex_number(self.constant, self.constant_error)
        return rf"$Q(s) \sim {constant}\, {power}$" if self._has_constant else rf"$Q(s) = {power}\, s^{{o(1)}}$"

    @in_style
    def plot(self, ax: Any = None) -> Any:
        """Plot the local exponents along the ladder, and their limit with its error; returns the axes."""
        ax = axes(ax)
        ax.plot(self.slope_at, self.local_slopes, "o", markerfacecolor="none", label="local exponents")
        known = math.isfinite(self.error)
        label = "their limit" if known else "their last, without a limit"
        ax.errorbar(self.slope_at[-1:], [self.exponent], [self.error] if known else None, fmt="D", label=label)
        ax.set(xscale="log", xlabel="s", ylabel="exponent", title=self._title())
        ax.legend()
        return ax

    def limit_of_ratio(self, exponent: float, log_power: float = 0.0) -> tuple[float, float]:
        """The limit of Q / (s^exponent (log s)^log_power) and its error, for a claim whose exponent is met exactly.

        If Q has another power of s or of log s, there is no limit and the relative error is not small. With a
        `log_power` the corrections may be powers of log s, and a wrong power of log s is detected from a difference of
        0.1 on.
        """
        exponent, log_power = number("exponent", exponent), number("log_power", log_power)
        if log_power:
            log_s, log_values, noise = self._beyond_e()
            limit = limit_beside_logarithms(log_s, log_values - exponent * log_s - log_power * np.log(log_s), noise)
        else:
            s, values = np.array(self.s), np.array(self.values)
            limit = extrapolate(s, np.log(values) - exponent * np.log(s), np.array(self.value_errors))
        value = math.exp(min(limit.value, 700.0))
        return value, value * math.expm1(min(limit.error, 700.0))

    def log_power(self, exponent: float) -> tuple[float, float]:
        r"""The power b for which Q is of order s^exponent (log s)^b, and its error.

        It is the limit of

            d log(Q / s^exponent) / d log log s = b + corrections that are powers of log s,

        with an error of about 0.01 over the 26 decades from 1e4 to 1e30, and 0.05 over 12, if the values are accurate
        to 1e-12, and 0.2 and 0.3 if they are accurate to 1e-6. An error above 1 is reported as infinite. This happens
        if the exponent is wrong (the local powers then grow with log s), if Q oscillates, or if too few points have s >
        e. An iterated logarithm cannot be distinguished from a change of b; the error covers it.

        >>> law = growth(lambda s: 3 * s**0.5 * math.log(s) ** 2 * (1 + 1 / math.log(s)), start=1e4, stop=1e30)
        >>> b, error = law.log_power(0.5)
        >>> abs(b - 2) <= error < 0.05
        True
        >>> law.log_power(0.51)[1]
        inf
        """
        exponent, (log_s, log_values, noise) = number("exponent", exponent), self._beyond_e()
        powers, uncertainty = _slopes(log_values - exponent * log_s, np.log(log_s), noise)
        limit = limit_beside_logarithms(np.sqrt(log_s[1:] * log_s[:-1]), powers, uncertainty)
        return limit.value, limit.error if limit.error <= COARSEST_POWER else math.inf

    def _beyond_e(self) -> tuple[Floats, Floats, Floats]:
        """Logarithms of s and of the values, and the noise of the latter including rounding, for log s > 1."""
        log_s, log_values = np.log(self.s), np.log(self.values)
        noise = np.array(self.value_errors) + 4 * EPS * (1 + np.abs(log_values))
        beyond = log_s > 1
        return log_s[beyond], log_values[beyond], noise[beyond]


def growth(
    quantity: Callable[[float], Measured],
    start: float,
    stop: float,
    *,
    points: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Growth:
    """The growth of `quantity(s)` on a geometric ladder from `start` to `stop`.

    No finite ladder decides a limit. The exponent is extrapolated: its error holds if the local exponents beyond `stop`
    stay within it, as those of sums of powers of s with powers of log s do if their drifts do not cancel at the end
    of the ladder (`lipverify.scaling`).

    Parameters
    ----------
    quantity
        A positive function of s. It returns a number accurate to about 1e-12, a pair (value, absolute error), an
        `Optimum`, whose w is used, or the terms of a loss at one w, whose sum is used.
    start, stop
        Ends of the ladder, 0 < start < stop, at least two decades apart; integers stay integers.
    points
        Number of points, from 8 to 10,000; by default one a decade, and at least 14.
    progress
        Called with (done, points) after each value.

    Returns
    -------
    Growth
        The limit exponent with its error, and the ladder.

    Raises
    ------
    InvalidInput
        If the ladder is too short, a value is not positive and finite, or an error is not >= 0 and finite. Exceptions
        of `quantity` are passed on.

    Examples
    --------
    >>> law = growth(lambda s: 3 * s ** (1 / 6) * (1 + 0.5 / s**0.5), start=1e4, stop=1e30)
    >>> abs(law.exponent - 1 / 6) <= law.error < 1e-8
    True
    >>> coarse = growth(lambda s: (s**0.5, 1e-3 * s**0.5), start=1e4, stop=1e30)
    >>> abs(coarse.exponent - 1 / 2) <= coarse.error, coarse.error > 1e-6
    (True, True)
    """
    function("quantity", quantity, "a point s of the ladder")
    if progress is not None:
        function("progress", progress, "(done, points)")
    rungs = ladder(start, stop, points)
    measured: list[tuple[float, float]] = []
    for s in (*rungs[-1:], *rungs[:-1]):  # what is out of reach is so at the far end
        measured.append(_value(quantity, s))
        if progress is not None:
            progress(len(measured), len(rungs))
    values, errors = zip(*measured[1:], measured[0], strict=True)
    return growth_of(rungs, values, errors)


def _value(quantity: Callable[[float], Any], s: float) -> tuple[float, float]:
    """The quantity at a point and its relative error; exceptions are passed on with a note of the point."""
    try:
        given = quantity(s)
    except Exception as raised:
        raised.add_note(f"growth: the quantity raised this at s = {s:g}")
        raise
    for name in ("w", "total"):
        if hasattr(given, name) and hasattr(given, f"{name}_error"):
            given = (getattr(given, name), getattr(given, f"{name}_error"))
    paired = isinstance(given, tuple) and len(given) == 2
    value, error = (_number(part) for part in (given if paired else (given, 0.0)))
    if value is None or not 0 < value <= LARGEST:
        raise InvalidInput(
            f"value = {shown(given)} at s = {s:g}: growth needs values that are positive and finite, each a number, a "
            "tuple (value, error), an Optimum or a loss at one w."
        )
    if error is None or not 0 <= error <= LARGEST:
        raise InvalidInput(f"error = {shown(given[1])} at s = {s:g}: growth needs errors that are >= 0 and finite.")
    # a stated error is used, but is at least the rounding error
    return float(value), max(error / value, 8 * EPS) if paired else DEFAULT_ERROR


def _number(given: Any) -> float | None:
    """A real number, also from an array of no dimensions; None for anything else."""
    if isinstance(given, np.ndarray | np.generic) and np.ndim(given) == 0:
        given = given.item()
    return given if isinstance(given, int | float) and not isinstance(given, bool) else None


def growth_of(s: Reals, values: Reals, errors: Reals | None = None) -> Growth:
    """The growth of values already computed on a geometric ladder `s`, with relative errors.

    Parameters
    ----------
    s
        Points of the ladder, increasing, in a geometric progression.
    values
        The quantity at each point; positive and finite.
    errors
        Relative errors of the values; 1e-12 by default.

    Returns
    -------
    Growth
        As `growth`.

    Raises
    ------
    InvalidInput
        If there are fewer than 8 points or two decades, or a value is not positive and finite.

    Examples
    --------
    >>> s = np.geomspace(1e4, 1e12, 17)
    >>> found = growth_of(s, 2 * s**0.25)
    >>> abs(found.exponent - 0.25) <= found.error < 1e-6
    True
    """
    ladder, q = numbers("s", s, finite=False), numbers("values", values, finite=False)
    noise = (
        np.full(q.shape, DEFAULT_ERROR) if errors is None else np.maximum(numbers("errors", errors, least=0), 8 * EPS)
    )
    _validate(ladder, q, noise)
    slopes, _ = _slopes(np.log(q), np.log(ladder), noise)
    limit = _exponent(np.log(ladder), np.log(q), noise)
    bare = Growth(
        s=tuple(ladder.tolist()),
        values=tuple(q.tolist()),
        value_errors=tuple(noise.tolist()),
        slope_at=tuple((np.sqrt(ladder[1:]) * np.sqrt(ladder[:-1])).tolist()),
        local_slopes=tuple(slopes.tolist()),
        exponent=limit.value,
        error=limit.error,
        constant=math.nan,
        constant_error=math.inf,
    )
    constant, constant_error = bare.limit_of_ratio(limit.value)
    # an exponent wrong by e changes the ratio by s^e over the whole ladder, whose end may be below 1
    tilt = math.expm1(min(limit.error * float(np.max(np.abs(np.log(ladder)))), 700.0))
    return msgspec.structs.replace(bare, constant=constant, constant_error=constant_error + constant * tilt)


def vanishing(
    s: Sequence[float], values: Sequence[float], errors: Sequence[float], rest: tuple[float, float, float]
) -> Growth:
    """The growth of values that are 0 within their errors from the point `rest[0]` on, as far as they go.

    The exponent has no bound if fewer than 8 points or two decades are left.
    """
    if len(s) >= FEWEST_POINTS and s[-1] >= 100 * s[0]:
        return msgspec.structs.replace(growth_of(s, values, errors), rest=rest)
    return Growth(
        s=tuple(s), values=tuple(values), value_errors=tuple(errors), slope_at=(), local_slopes=(),
        exponent=0.0, error=math.inf, constant=math.nan, constant_error=math.inf, rest=rest,
    )  # fmt: skip


def _exponent(x: Floats, y: Floats, noise: Floats) -> Limit:
    """The limit exponent from local exponents, or from a fit of the values if their noise hides all corrections.

    Dense points amplify noise in local exponents, so that noisy ladders are also used with fewer points.
    """
    found: list[Limit] = []
    for every in 2 ** np.arange(max(1, int(math.log2(x.size / FEWEST_POINTS)) + 1)):
        far, near, spread = (part[::-every][::-1] for part in (x, y, noise))
        if far.size <= LONGEST and (not found or np.max(noise) > LOUD):
            found.append(limit_of_slopes(np.exp((far[1:] + far[:-1]) / 2), *_slopes(near, far, spread)))
        if np.max(noise) > LOUDER and (direct := fitted(far, near, spread)) is not None:
            found.append(direct)
    return min(found, key=lambda limit: limit.error)


def _slopes(y: Floats, x: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Slopes of y between neighbouring points of x, and their noise."""
    step = np.diff(x)
    return np.diff(y) / step, (noise[1:] + noise[:-1]) / step


def _validate(s: Floats, q: Floats, noise: Floats) -> None:
    if not s.shape == q.shape == noise.shape or s.ndim != 1:
        raise InvalidInput(
            f"growth needs as many values and errors as points, got {s.shape}, {q.shape}, {noise.shape}."
        )
    if not (np.all(s > 0) and np.all(np.diff(s) > 0) and np.all(np.isfinite(s))):
        raise InvalidInput("s: the ladder must be positive, finite and increasing.")
    require_long(s.size, s[-1] / s[0])
    bad = q[~(np.isfinite(q) & (q > 0))]
    if bad.size:
        raise InvalidInput(f"value = {bad[0]}: growth needs values that are positive and finite.")
