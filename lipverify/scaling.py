r"""Growth: how a positive quantity scales along a ray s -> infinity.

For Q ~ K s^a (1 + corrections that are powers of s), the local slopes on a geometric ladder,

    a_k = log(Q_{k+1} / Q_k) / log(s_{k+1} / s_k) = a + sum_j c_j s_k^{-delta_j},

tend to the limit exponent a. One global log-log fit mixes a with the corrections and its standard
error does not see them; here the limit is extrapolated by three families that assume different
things of the corrections, and the error covers what they disagree about:

    powers    a polynomial in s^{-delta}; every delta, degree and start that fits the data to its
              noise is a possible law, and the spread of their limits is the error
    epsilon   Wynn's epsilon algorithm: any sum of powers of s, without fitting
    rho       Wynn's rho algorithm in log s: corrections that are powers of 1 / log s
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput

Floats = NDArray[np.float64]

FEWEST_POINTS = 8
FEWEST_DECADES = 2.0
DEFAULT_ERROR = 1e-12
"""Relative error of values that come without one: a few thousand roundings."""
DELTAS = np.geomspace(0.02, 4.0, 107)
DEGREES = (0, 1, 2, 3, 4, 5, 6)
STARTS = (0.0, 0.2, 0.4, 0.6)
SAFETY = 4.0
WITNESSES = 6


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """The limit exponent of Q along a ladder, with its evidence.

    `error` bounds |exponent - limit| as far as the data can tell; it is infinite when the slopes do
    not settle. `constant` is the limit of Q / s^exponent with `constant_error`, where the exponent's
    own error allows one.
    """

    s: tuple[float, ...]
    values: tuple[float, ...]
    value_errors: tuple[float, ...]
    """Relative."""
    slope_at: tuple[float, ...]
    local_slopes: tuple[float, ...]
    exponent: float
    error: float
    constant: float
    constant_error: float

    def limit_of_ratio(self, exponent: float) -> tuple[float, float]:
        """The limit of Q / s^exponent and its error: for a claim whose exponent is met exactly."""
        s, values = np.array(self.s), np.array(self.values)
        log_ratio = np.log(values) - exponent * np.log(s)
        limit = extrapolate(s, log_ratio, np.array(self.value_errors))
        return math.exp(limit.value), math.exp(limit.value) * math.expm1(min(limit.error, 700.0))


def growth(
    quantity: Callable[[float], float],
    start: float,
    stop: float,
    *,
    points: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Growth:
    """The growth of `quantity(s)` on a geometric ladder from `start` to `stop`.

    Parameters
    ----------
    quantity
        A positive function of s, accurate to about 1e-12 (give `growth_of` the errors otherwise).
    start, stop
        Ends of the ladder, 0 < start < stop, at least two decades apart; integers are kept integers.
    points
        Length of the ladder, at least 8; one point a decade, and at least 14, by default.
    progress
        Called with (done, points) after each value.

    Raises
    ------
    InvalidInput
        If the ladder is too short or a value is not positive and finite.

    >>> law = growth(lambda s: 3 * s ** (1 / 6) * (1 + 0.5 / s**0.5), start=1e4, stop=1e30)
    >>> abs(law.exponent - 1 / 6) <= law.error < 1e-8
    True
    """
    rungs = ladder(start, stop, points)
    values = []
    for done, s in enumerate(rungs, 1):
        values.append(float(quantity(s)))
        if progress is not None:
            progress(done, len(rungs))
    return growth_of(rungs, values)


def ladder(start: float, stop: float, points: int | None = None) -> tuple[float, ...]:
    """A geometric ladder: one point a decade, and at least 14, by default; whole numbers from 1000 on.

    Raises
    ------
    InvalidInput
        If it has fewer than 8 points or spans less than two decades.

    >>> ladder(1.0, 1e7, 8)
    (1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0, 1000000.0, 10000000.0)
    """
    if not (math.isfinite(start) and math.isfinite(stop) and 0 < start < stop):
        raise InvalidInput(f"start = {start!r}, stop = {stop!r}: a ladder needs 0 < start < stop, both finite.")
    count = points if points is not None else max(14, round(math.log10(stop / start)) + 1)
    rungs = np.geomspace(start, stop, max(count, 0))
    _require_long(rungs)
    return tuple(float(round(s)) if s >= 1e3 else float(s) for s in rungs)


def growth_of(
    s: Sequence[float] | Floats, values: Sequence[float] | Floats, errors: Sequence[float] | Floats | None = None
) -> Growth:
    """The growth of values already computed on a geometric ladder `s`, with relative `errors`.

    Raises
    ------
    InvalidInput
        If there are fewer than 8 points or two decades, or a value is not positive and finite.
    """
    ladder, q = np.asarray(s, dtype=float), np.asarray(values, dtype=float)
    noise = np.full(q.shape, DEFAULT_ERROR) if errors is None else np.asarray(errors, dtype=float)
    _validate(ladder, q, noise)
    step = np.diff(np.log(ladder))
    slopes = np.diff(np.log(q)) / step
    limit = extrapolate(np.sqrt(ladder[1:] * ladder[:-1]), slopes, (noise[1:] + noise[:-1]) / step)
    bare = Growth(
        s=tuple(ladder.tolist()),
        values=tuple(q.tolist()),
        value_errors=tuple(noise.tolist()),
        slope_at=tuple(np.sqrt(ladder[1:] * ladder[:-1]).tolist()),
        local_slopes=tuple(slopes.tolist()),
        exponent=limit.value,
        error=limit.error,
        constant=math.nan,
        constant_error=math.inf,
    )
    constant, constant_error = bare.limit_of_ratio(limit.value)
    # an exponent wrong by e tilts the ratio by s^e over the whole ladder
    tilt = math.expm1(min(limit.error * math.log(ladder[-1]), 700.0))
    return msgspec.structs.replace(bare, constant=constant, constant_error=constant_error + constant * tilt)


def _validate(s: Floats, q: Floats, noise: Floats) -> None:
    if not s.shape == q.shape == noise.shape or s.ndim != 1:
        raise InvalidInput(
            f"growth needs as many values and errors as points, got {s.shape}, {q.shape}, {noise.shape}."
        )
    if not (np.all(s > 0) and np.all(np.diff(s) > 0) and np.all(np.isfinite(s))):
        raise InvalidInput("s: the ladder must be positive, finite and increasing.")
    _require_long(s)
    bad = q[~(np.isfinite(q) & (q > 0))]
    if bad.size:
        raise InvalidInput(f"value = {bad[0]}: growth needs values that are positive and finite.")


def _require_long(s: Floats) -> None:
    """Refuse a ladder that could decide nothing."""
    if s.size < FEWEST_POINTS:
        raise InvalidInput(f"points = {s.size}: growth needs at least {FEWEST_POINTS} points on the ladder.")
    if np.log10(s[-1] / s[0]) < FEWEST_DECADES:
        raise InvalidInput(f"stop/start = {s[-1] / s[0]:.3g}: the ladder must span {FEWEST_DECADES:g} decades or more.")


@dataclass(frozen=True)
class Limit:
    """A limit and a bound on its error."""

    value: float
    error: float


def extrapolate(s: Floats, a: Floats, noise: Floats) -> Limit:
    """The limit of the sequence a(s) as s -> infinity, corrections being powers of s or of log s.

    One candidate may be sharp by coincidence, so the sharpest `WITNESSES` are heard: their median is
    the value, and the error covers them all and the noise of the last values.
    """
    candidates = [*_power_laws(s, a, noise), *_epsilon(a, noise), *_rho(np.log(s), a, noise)]
    witnesses = sorted(candidates, key=lambda limit: limit.error)[:WITNESSES]
    if len(witnesses) < WITNESSES:
        return Limit(float(a[-1]), math.inf)
    value = float(np.median([witness.value for witness in witnesses]))
    spread = max(abs(witness.value - value) for witness in witnesses)
    floor = 2 * float(noise[-1]) + 8 * np.finfo(float).eps * max(1.0, abs(value))
    return Limit(value, float(SAFETY * max(witnesses[0].error, spread) + floor))


def _power_laws(s: Floats, a: Floats, noise: Floats) -> Iterator[Limit]:
    """For each start and degree: the centre and spread of the limits of all delta that fit the noise."""
    for start in STARTS:
        first = int(start * a.size)
        part = slice(first, None)
        for degree in DEGREES:
            if a.size - first >= degree + 3 + (degree > 0):
                yield from _consistent(s[part] / s[first], a[part], noise[part], degree)


def _consistent(s: Floats, a: Floats, noise: Floats, degree: int) -> Iterator[Limit]:
    """The limits a of a + sum_{j<=degree} c_j s^{-j delta}, over every delta within the noise."""
    deltas = np.asarray(DELTAS if degree else DELTAS[:1])
    design = s[:, None] ** (-deltas[:, None, None] * np.arange(degree + 1))
    limits, misfits = _least_squares(design / noise[:, None], a / noise)
    if limits.size:
        level = max(1.0, float(misfits.min()))
        possible = limits[misfits <= 3 * level]
        centre = limits[np.argmin(misfits)]
        # a misfit beyond the noise is a correction that was left out: it enters the limit as it is
        unexplained = (level - 1) * float(noise.max())
        yield Limit(float(centre), float(np.max(np.abs(possible - centre)) + unexplained))


def _least_squares(designs: Floats, target: Floats) -> tuple[Floats, Floats]:
    """The first coefficient and the root mean square misfit for every design of full rank."""
    u, singular, v = np.linalg.svd(designs, full_matrices=False)
    full = singular[:, -1] > 1e-14 * singular[:, 0]
    u, singular, v, designs = u[full], singular[full], v[full], designs[full]
    solution = np.einsum("dji,dj->di", v, np.einsum("dpj,p->dj", u, target) / singular)
    misfit = np.einsum("dpj,dj->dp", designs, solution) - target
    return solution[:, 0], np.sqrt(np.mean(misfit**2, axis=1))


def _epsilon(a: Floats, noise: Floats) -> Iterator[Limit]:
    """Even columns of Wynn's epsilon table: e_{k+1} = e_{k-1}' + 1 / (e_k' - e_k)."""
    yield from _settled(_table(a, lambda k, n: np.ones(n)), noise)


def _rho(x: Floats, a: Floats, noise: Floats) -> Iterator[Limit]:
    """Even columns of Wynn's rho table: as epsilon, with x_{n+k+1} - x_n in place of 1."""
    yield from _settled(_table(a, lambda k, n: x[k + 1 :][:n] - x[:n]), noise)


def _table(a: Floats, numerator: Callable[[int, int], Floats]) -> list[Floats]:
    """The even columns of the lozenge table of a sequence."""
    previous, column, columns = np.zeros(a.size + 1), a, [a]
    for k in range(min(a.size - 1, 12)):
        with np.errstate(divide="ignore", invalid="ignore"):
            new = previous[1:-1] + numerator(k, column.size - 1) / np.diff(column)
        previous, column = column, new
        if k % 2:
            columns.append(column)
    return columns


def _settled(columns: list[Floats], noise: Floats) -> Iterator[Limit]:
    """The last entry of each column, its error from its neighbours above and to the left."""
    for left, column in pairwise(columns):
        recent = column[-3:]
        if recent.size == 3 and np.all(np.isfinite(recent)):
            spread = np.ptp(recent) + abs(left[-1] - recent[-1]) / 10
            yield Limit(float(recent[-1]), float(spread) + float(noise[-1]))
