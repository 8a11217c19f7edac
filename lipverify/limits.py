r"""The limit of a sequence a(s) as s -> infinity, with an error that covers what its corrections might be.

Families that assume different things of the corrections each give candidates:

    powers    a polynomial in s^{-delta}; every delta, degree and start that fits the data to its
              noise is a possible law, and the spread of their limits is the error
    epsilon   Wynn's epsilon algorithm: any sum of powers of s, without fitting
    rho       Wynn's rho algorithm in log s: corrections that are powers of 1 / log s

One candidate may be sharp by coincidence, so several of the sharpest are heard: their median is the
value, and the error covers them all and the noise of the last values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats

DELTAS = np.geomspace(0.02, 4.0, 107)
DEGREES = range(7)
STARTS = (0.0, 0.2, 0.4, 0.6)
SAFETY = 4.0
FULL_RANK = 1e-14
"""Columns whose pivots differ by more than this depend on each other to rounding."""
WITNESSES = 6
LOGARITHMIC_WITNESSES = 10
"""Powers of log s come in one family alone, whose candidates agree too easily."""


@dataclass(frozen=True)
class Limit:
    """A limit and a bound on its error."""

    value: float
    error: float


def extrapolate(s: Floats, a: Floats, noise: Floats) -> Limit:
    """The limit of the sequence a(s) as s -> infinity, corrections being powers of s or of log s.

    The error is infinite for a sequence that moves more as it goes on: on the way from one power to another it looks
    settled to every family.
    """
    limit = _heard([*_power_laws(s, a, noise), *_epsilon(a, noise), *_rho(np.log(s), a, noise)], WITNESSES, a, noise)
    return Limit(limit.value, math.inf) if _quickens(a, noise) else limit


def _quickens(a: Floats, noise: Floats) -> bool:
    """Whether a sequence moves more in its later half than in its earlier one, whatever its noise."""
    steps, slack = np.abs(np.diff(a)), noise[1:] + noise[:-1]
    half = steps.size // 2
    return bool(np.sum((steps - slack)[-half:]) > np.sum((steps + slack)[:half]))


def limit_beside_logarithms(log_s: Floats, a: Floats, noise: Floats) -> Limit:
    """The same where corrections are powers of log s, beside which those that are powers of s soon vanish.

    Other families are not asked: to powers of s and to the epsilon algorithm such a correction looks like none, and
    the rho algorithm takes noise for signal.
    """
    return _heard(_power_laws(log_s, a, noise), LOGARITHMIC_WITNESSES, a, noise)


def _heard(candidates: Iterable[Limit], count: int, a: Floats, noise: Floats) -> Limit:
    """The median of the sharpest candidates; without enough of them there is no limit."""
    witnesses = sorted(candidates, key=lambda limit: limit.error)[:count]
    if len(witnesses) < count:
        return Limit(float(a[-1]) if a.size else math.nan, math.inf)
    value = float(np.median([witness.value for witness in witnesses]))
    spread = max(abs(witness.value - value) for witness in witnesses)
    floor = 2 * float(noise[-1]) + 8 * np.finfo(float).eps * max(1.0, abs(value))
    return Limit(value, float(SAFETY * max(witnesses[0].error, spread) + floor))


def _power_laws(s: Floats, a: Floats, noise: Floats) -> Iterator[Limit]:
    """For each start and degree: the centre and spread of the limits of all delta that fit the noise."""
    for start in STARTS:
        part = slice(int(start * a.size), None)
        yield from _consistent(s[part] / s[part][:1], a[part], noise[part])


def _consistent(s: Floats, a: Floats, noise: Floats) -> Iterator[Limit]:
    """For each degree the limits a of a + sum_{j<=degree} c_j s^{-j delta}, over every delta within the noise."""
    degrees = [degree for degree in DEGREES if a.size >= degree + 3 + (degree > 0)]
    if not degrees:
        return
    designs = _designs(s.tobytes(), noise.tobytes(), len(degrees))
    limits, left = np.zeros(DELTAS.size), np.broadcast_to(a / noise, (DELTAS.size, a.size))
    for degree in degrees:
        column = designs.basis[:, :, degree]
        along = np.einsum("dp,dp->d", column, left)
        limits, left = limits + designs.first[:, degree] * along, left - along[:, None] * column
        if (full := designs.full[:, degree]).any():
            misfits = np.sqrt(np.mean(left[full] ** 2, axis=1))
            level = max(1.0, float(misfits.min()))
            possible, centre = limits[full][misfits <= 3 * level], limits[full][np.argmin(misfits)]
            # a misfit beyond the noise is a correction that was left out: it enters the limit as it is
            unexplained = (level - 1) * float(noise.max())
            yield Limit(float(centre), float(np.max(np.abs(possible - centre)) + unexplained))


class _Designs(NamedTuple):
    """Powers s^{-j delta} over the noise for every delta, lower degrees first: one basis serves all degrees."""

    basis: Floats
    """Orthonormal columns of the same spans, (delta, point, degree)."""
    first: Floats
    """What each adds to the coefficient of the power 0, (delta, degree)."""
    full: NDArray[np.bool_]
    """Whether columns up to each are independent beyond rounding, (delta, degree)."""


@lru_cache(maxsize=2 * len(STARTS))
def _designs(s: bytes, noise: bytes, count: int) -> _Designs:
    """Those of `count` degrees; sequences of one family often share them."""
    powers = np.exp(-np.multiply.outer(np.outer(DELTAS, np.log(np.frombuffer(s))), np.arange(count)))
    basis, triangle = np.linalg.qr(powers / np.frombuffer(noise)[:, None])
    pivots = np.abs(np.diagonal(triangle, axis1=1, axis2=2))
    full = np.minimum.accumulate(pivots, axis=1) > FULL_RANK * np.maximum.accumulate(pivots, axis=1)
    # triangle @ solution = basis^T target, so that the first coefficient is <triangle^{-T} e_1, basis^T target>
    first = np.zeros_like(pivots)
    for degree in range(count):
        known = np.einsum("dj,dj->d", first[:, :degree], triangle[:, :degree, degree])
        first[:, degree] = (float(degree == 0) - known) / np.where(full[:, degree], triangle[:, degree, degree], 1.0)
    return _Designs(basis, first, full)


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
