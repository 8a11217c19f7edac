r"""The limit of a sequence a(s) as s -> infinity, with an error that covers the corrections.

No finite ladder decides a limit, so the error holds for a class of functions (`lipverify.scaling`). Three families of
methods, with different assumptions about the corrections, give candidates:

    powers    a polynomial in s^{-delta}; every delta, degree and start that fits the data to its
              noise is a possible law, and the spread of their limits is the error
    epsilon   Wynn's epsilon algorithm: any sum of powers of s, without fitting
    rho       Wynn's rho algorithm in log s: corrections that are powers of 1 / log s

One candidate may be sharp by coincidence, so the value is the median of several of the sharpest, and the error covers
them all, the noise of the last values, and the remaining drift if a(s) drifts like a power of log s (`drift_left`).
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

from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.ladder import APART

DELTAS = np.geomspace(0.02, 4.0, 107)
"""Exponents of the correction s^-delta that are tried, in steps of 5 %."""
DEGREES = range(7)
"""Degrees of the polynomials in s^-delta that are tried."""
STARTS = (0.0, 0.2, 0.4, 0.6)
"""Shares of the ladder, from its beginning, that a fit leaves out."""
SAFETY = 4.0
"""Factor from the spread of the accepted fits to the error of the limit."""
FULL_RANK = 1e-14
"""Columns whose pivots have a smaller ratio than this are linearly dependent up to rounding."""
LEAST = 3
"""Least number of points for a constant: two more than unknowns."""
SHORT = 64
"""Longest ladder whose designs are cached: those of longer ones take megabytes."""
WITNESSES = 6
"""Number of fits with the smallest errors whose spread is the error: too few agree by chance, more are worse fits."""
LOGARITHMIC_WITNESSES = 10
"""More candidates are needed for powers of log s: they come from a single family and agree too easily."""
LOGARITHMIC = 3.5
"""A drift that decays like a lower power of 1 / log s may come from a logarithm."""
TURNS = 3
"""A sequence with more turning points is not a sum of a few slow terms: it oscillates."""
SLOW = 6.0
"""A drift that decays like a lower power of 1 / log s counts fully in the error, one of rate r with (SLOW / r)^2."""
STEADY = 0.05
"""A drift whose rate in s agrees within this share in two quarters is a power of s; this share of it is counted."""
MARGIN = 1.7
"""Safety factor on the remaining drift: its rate is measured where the drift was larger, and may still decrease."""
CROSSING = 1.25
"""Safety factor on the sum of the errors after a crossing: the worst of 8000 sums of two powers needed 0.97."""
LOUDER = 5e-3
"""Noise of values from which on one fit of all values may replace their local exponents (`fitted`)."""
LOUD = 1e-6
"""Noise of local exponents above which a power and one of a logarithm may cancel unseen (tests/slow/test_growth.py)."""
HIDDEN = 2.5
"""Safety factor on the square root of a hidden drift: 1 suffices if all factors are positive (`limit_of_slopes`)."""
LAST = 3
"""Number of last points that reveal hidden terms: a power that decays before them has no influence left."""
EVEN = 1.25
"""If the rates of decay within the last points differ by this factor, terms of both signs cancel."""
FADING = 12.0
"""A hidden drift that decays like a higher power of 1 / log s is treated as a power of s."""
RISING = 1.1
"""If the rate of decay at the end exceeds that a quarter earlier by this factor, terms of both signs cancel."""


FITTED, FEWEST_FITTED = (0.6, 0.45), 7
"""Shares of the ladder, at its end, to which models with powers and logarithms are fitted; the fewest points."""
AS_GOOD = 3.0
"""A model whose misfit is at most this many times the least one is as good."""
STEEPEST, SMALL = 3.0, 1 / 8
"""The largest power of a logarithm in the class; the largest share of a correction in the leading term, rounded up."""
HIDING = np.geomspace(APART, 3.0, 36)
"""Exponents of corrections s^-delta that noise may hide."""
SIZES = SMALL * 0.5 ** np.arange(6)
"""Shares of such corrections at the end of the ladder."""
STRAIGHT, SMOOTH = 2.0, 0.15
"""Largest squared distances of the values from a power, and from one with a logarithm, in units of the noise."""
FASTEST = 100.0
"""A correction that decays by a larger power of e over the fitted points is left to the first of them."""
SINGULAR = 1e-9
"""A model whose columns have a smaller pivot than this is left out."""
BESIDE = 1.8
"""Safety factor on the distance to the limits of models that are as good: the worst of the searches needed 1.31."""


@dataclass(frozen=True)
class Limit:
    """A limit and a bound on its error."""

    value: float
    error: float
    fits: bool = False
    """True if a law with fewer unknowns than points agrees with all values within their noise."""


def extrapolate(s: Floats, a: Floats, noise: Floats) -> Limit:
    """The limit of the sequence a(s) as s -> infinity, if the corrections are powers of s or of log s.

    The error is infinite for a sequence that moves more in its later half: between two powers such a sequence looks
    converged to every family.
    """
    limit, drift = _families(s, a, noise), math.inf if _quickens(a, noise) else drift_left(s, a, noise)
    return Limit(limit.value, CROSSING * (limit.error + drift) if _crosses(a, noise) else max(limit.error, drift))


def limit_of_slopes(s: Floats, a: Floats, noise: Floats) -> Limit:
    r"""The limit of the local exponents a = d log Q / d log s of a sum Q of powers with logarithms and a leading term.

    With x = log s, a(x) is the mean of the terms' exponents, weighted with their shares of Q. For powers with positive
    factors a'(x) is the variance of the exponents. If the leading term has half of Q, its exponent is at most
    sqrt(a'(x)) above the mean (Cantelli's inequality). So the error also covers HIDDEN sqrt(h), where

        h = (v_{k-1} v_{k+1} - v_k^2) / (v_{k-1} + v_{k+1} - 2 v_k),    v_k = a'(x_k),

    is the remainder of a' after Aitken's process, the largest over the last points: it is 0 for one power of s, and
    nonzero for a slow drift behind a faster one. If h itself decays like a power s^-delta, the remaining change is at
    most h / delta.

    If terms of both signs cancel, h is the largest value over the later half of the ladder, bounded by the remaining
    change of a power s^-APART with the last drift, and the errors are summed as after a crossing. If a drift decays too
    slowly to bound the remaining change, but had its peak inside the ladder, one term took over from another there, and
    HIDDEN sqrt(max |a'|) over the later half bounds it. If noise hides the drift, a power s^-APART is allowed the whole
    drift and noise of the last quarter, and the errors are summed as well.
    """
    limit, remaining = _families(s, a, noise), math.inf if _quickens(a, noise) else drift_left(s, a, noise)
    drift = _drift(s, a, noise)
    if remaining == math.inf and drift.peaked:
        remaining = drift.whole
    other = 0.0 if limit.fits else _farthest(np.log(s), a, noise, limit.value)
    if drift.adds or _crosses(a, noise):
        return Limit(limit.value, BESIDE * other + CROSSING * (limit.error + remaining + drift.hidden))
    # on the shortest ladders all points serve the models, and the two bounds are on the same change
    further = other if a.size > FEWEST_FITTED else 0.0
    return Limit(limit.value, max(limit.error, further + max(remaining, drift.hidden), BESIDE * other))


def _farthest(x: Floats, a: Floats, noise: Floats, value: float) -> float:
    """The largest distance from `value` of the limits of all models that fit the end of the ladder about equally well.

    A logarithm gives the local exponents b / x, x = log s. Where powers cancel its drift, the sequence looks converged
    to every family that has only powers or only logarithms. The models here have both: each is linear in four
    coefficients, bounded as in the class. A limit is accepted if its misfit is at most AS_GOOD times the least one.
    """
    x, a, noise = x[x > 1], a[x > 1], noise[x > 1]
    spreads = []
    for share in FITTED:
        last = max(FEWEST_FITTED, math.ceil(share * x.size))
        if last > x.size or _turns(np.diff(a[-last:]), 2 * noise[-last:][1:]) >= TURNS:  # it is not such a sum
            return 0.0
        spreads.append(_spread(x[-last:], a[-last:], value))
    return min(spreads)


def _turns(a: Floats, noise: Floats) -> int:
    """The number of turning points of a sequence beyond its noise."""
    moves = np.diff(a)
    signs = np.sign(moves[np.abs(moves) > noise[1:] + noise[:-1]])
    return int(np.count_nonzero(np.diff(signs)))


def _spread(x: Floats, a: Floats, value: float) -> float:
    limits, misfits = [], []
    for basis, inverse, bounds in _models(x.tobytes()):
        along = np.einsum("dnp,n->dp", basis, a)
        coefficients = np.einsum("dqp,dp->dq", inverse, along)
        misfit = np.sqrt(np.mean((a - np.einsum("dnp,dp->dn", basis, along)) ** 2, axis=1))
        limits.append(coefficients[:, 0])
        misfits.append(np.where(np.all(np.abs(coefficients[:, 1:]) <= bounds, axis=1), misfit, math.inf))
    near = np.concatenate(misfits) <= AS_GOOD * np.min(np.concatenate(misfits))
    return float(np.max(np.abs(np.concatenate(limits)[near] - value), initial=0.0))


@lru_cache(maxsize=32)
def _models(x: bytes) -> list[tuple[Floats, Floats, Floats]]:
    """For each model and delta an orthonormal basis, the matrix from it to the coefficients, and their bounds.

    At the end of the ladder a correction k s^-delta (log s)^c has the local exponents k (c / x - j delta), j = 1, 2, 3.
    """
    points = np.frombuffer(x)
    along = points - points[-1]
    deltas = DELTAS[DELTAS * -along[0] < FASTEST]
    power = np.exp(-np.multiply.outer(deltas, along))
    one, log, tilt = np.ones_like(power), np.broadcast_to(points[-1] / points, power.shape), along / along[0]
    least = np.ones_like(deltas) / points[-1]
    most = SMALL * (deltas + STEEPEST * least)
    every = math.inf * least
    made = []
    for columns, bounds in (
        ((power, power**2, power**3), (most, 2 * most, 3 * most)),
        ((log, power, power**2), (STEEPEST * least, most, 2 * most)),
        ((log, power, tilt * power), (STEEPEST * least, most, every)),
        ((log, log**2, power), (STEEPEST * least, least, most)),
    ):
        model = np.stack([one, *columns], axis=-1)
        scale = np.linalg.norm(model, axis=1, keepdims=True)
        basis, mixed = np.linalg.qr(model / scale)
        regular = np.min(np.abs(np.diagonal(mixed, axis1=1, axis2=2)), axis=1) > SINGULAR
        inverse = np.linalg.inv(mixed[regular]) / scale[regular].swapaxes(1, 2)
        made.append((basis[regular], inverse, np.stack(bounds, axis=-1)[regular]))
    return made


def fitted(x: Floats, y: Floats, noise: Floats) -> Limit | None:
    """The exponent a of y = c + a x + b log x + corrections, x = log s, by one weighted fit; None if they are large.

    Local exponents amplify noise, the more the denser the points are. If such a line fits all values, a is known as
    well as the noise and the hidden corrections allow: a correction log(1 + k exp(-delta (x - X))), with a share |k| of
    at most SMALL at the end X of the ladder, and beside it a second one or b log x with |b| <= 3, may have all sizes
    that fit as well. Errors of the values may be dependent, and are added in full.
    """
    weights, steps = 1 / noise, (x.size + 2) / (x.size - 1)  # so that more points of the same noise never widen it
    base = np.stack([np.ones_like(x), x - x[-1]], axis=1)
    line = np.linalg.pinv(base * weights[:, None]) * weights

    def beside(rows: Floats) -> Floats:
        return rows - (rows @ line.T) @ base.T

    z = x if x[0] > 1 else x - x[0] + 1
    log = np.log(z / z[-1])
    both = np.column_stack([base, log])
    bent = [y - columns @ np.linalg.lstsq(columns * weights[:, None], y * weights)[0] for columns in (base, both)]
    squares = [float(np.max(left**2) / np.max(noise)) for left in bent]
    if squares[0] > STRAIGHT and (x[0] <= 1 or squares[1] > SMOOTH):  # the squares of the corrections count
        return None
    powers = np.minimum(np.exp(-np.multiply.outer(HIDING, x - x[-1])), 1 / EPS)
    shapes, most = np.vstack([powers, log]), np.append(np.full(HIDING.size, SMALL), STEEPEST)
    apart = beside(shapes)
    sizes = np.sum((apart * weights) ** 2, axis=1)
    estimate = apart * weights**2 / sizes[:, None]
    doubt, tilts = steps * np.abs(estimate) @ noise, shapes @ line[1]
    first = np.multiply.outer(np.concatenate([-SIZES, SIZES]), powers[::2]).reshape(-1, x.size)
    data = np.vstack([y, y - np.log1p(first[np.min(first, axis=1) > -0.95])])
    k = data @ estimate.T
    low, high, near = np.maximum(k - doubt, -most), np.minimum(k + doubt, most), np.clip(k, -most, most)
    left = beside(data)
    misfit = np.sum((left * weights) ** 2, axis=1)[:, None] - 2 * near * ((left * weights**2) @ apart.T)
    fits = (low <= high) & (misfit + near**2 * sizes <= x.size * (1 + 2 / math.sqrt(x.size)) ** 2)
    if not np.any(fits):
        return None
    ends = np.stack([(data @ line[1])[:, None] - side * tilts for side in (low, high)])[:, fits]
    middle, half = (np.max(ends) + np.min(ends)) / 2, (np.max(ends) - np.min(ends)) / 2
    return Limit(float(middle), float(CROSSING * half + steps * np.abs(line[1]) @ noise), True)


class _Drift(NamedTuple):
    """Drift of the local exponents that the end of a ladder may still hide."""

    hidden: float
    whole: float  # the same, if all of the drift in the later half were hidden
    peaked: bool  # the drift was largest inside the ladder
    adds: bool  # the drift changes sign in the later half, decays faster and faster, or is hidden by noise


def _drift(s: Floats, a: Floats, noise: Floats) -> _Drift:
    x = np.log(s)
    step = np.diff(x)
    v = np.diff(a) / step
    sizes = np.abs(v)
    slack = (3 * (noise[1:] + noise[:-1]) + 64 * EPS * max(1.0, float(np.max(np.abs(a))))) / step
    quarter, half = max(2, v.size // 4), v.size // 2
    signs = np.sign(np.where(sizes > slack, v, 0.0))[-half:]
    with np.errstate(divide="ignore", invalid="ignore"):
        h = np.abs((v[:-2] * v[2:] - v[1:-1] ** 2) / (v[:-2] + v[2:] - 2 * v[1:-1]))
        rates = -np.diff(np.log(sizes)) / np.diff((x[1:] + x[:-1]) / 2)
    h = np.where(sizes[2:] > slack[2:], np.where(np.isfinite(h), h, math.inf), 0.0)
    faster = sizes[-1] > slack[-1] and rates[-1] > RISING * rates[-1 - quarter] > 0
    cancels = bool(faster or (np.any(signs > 0) and np.any(signs < 0)))
    later = half if cancels else LAST
    most = float(min(np.max(h[-later:]), np.max(sizes[-max(later, quarter) :])))
    hidden = HIDDEN * min(math.sqrt(most), float(np.max(sizes[-LAST:])) / APART if cancels else math.inf)
    if not cancels and np.all(h[-LAST:] > 0):
        fades = -np.diff(np.log(h[-LAST:])) / step[-LAST + 1 :]
        slowest = float(np.min(fades))
        if slowest * x[-1] > FADING and np.max(fades) < EVEN * slowest:
            hidden = min(hidden, HIDDEN * most / slowest)
    noisy = bool(np.any(sizes[-LAST:] <= slack[-LAST:]))
    if noisy:
        moved = abs(a[-1] - a[-1 - quarter]) + noise[-1] + noise[-1 - quarter]
        hidden = max(hidden, float(moved / (x[-1] - x[-1 - quarter])) / APART)
        if np.max(noise[-LAST:]) > LOUD:
            hidden = max(hidden, HIDDEN * math.sqrt(np.max(sizes[-min(quarter, LAST) :])))
    peak = int(np.argmax(sizes))
    peaked = all(sizes[peak] - slack[peak] > sizes[end] + slack[end] for end in (0, -1))
    return _Drift(hidden, HIDDEN * math.sqrt(np.max(sizes[-half:])), peaked, cancels or noisy)


def _families(s: Floats, a: Floats, noise: Floats) -> Limit:
    return _heard([*_power_laws(s, a, noise), *_epsilon(a, noise), *_rho(np.log(s), a, noise)], WITNESSES, a, noise)


def _crosses(a: Floats, noise: Floats) -> bool:
    """True if another term dominated the beginning of the ladder: the largest step lies inside it, beyond the noise.

    Then few points are left for the spread of the families and for the drift: in one of 400 tests both were too small.
    """
    steps, slack = np.abs(np.diff(a)), noise[1:] + noise[:-1]
    return bool(np.max((steps - slack)[2:], initial=0.0) > np.max((steps + slack)[:2], initial=0.0))


def _quickens(a: Floats, noise: Floats) -> bool:
    """True if a sequence moves more in its later half than in its earlier one, for any values within the noise."""
    steps, slack = np.abs(np.diff(a)), noise[1:] + noise[:-1]
    half = steps.size // 2
    return bool(np.sum((steps - slack)[-half:]) > np.sum((steps + slack)[:half]))


def drift_left(s: Floats, a: Floats, noise: Floats) -> float:
    r"""The remaining change of a(s) beyond the last s, if its drift decays as fast as at the end of the ladder.

    With x = log s and |a'(x)| = D x^{-p} at the end of the ladder, where p comes from the largest steps in the last
    quarter of the ladder and the quarter before it,

        int_x^inf D t^{-p} dt = D x^{1-p} / (p - 1),    infinite for p <= 1.

    A power s^-delta has p = delta log s, which grows. If two terms cancel, p grows faster for a while; p is therefore
    limited to the growth of a power since the quarter before. The result is 0 for a drift within the noise. If a(s)
    oscillates, it is the largest distance from the last value in the later half.
    """
    moves = np.diff(a)
    steps, quarter = np.abs(moves), max(2, moves.size // 4)
    if steps.size < 3 * quarter:
        return 0.0
    x = np.log(s) if s[0] > math.e else np.log(s / s[0]) + 1
    rounding = 64 * EPS * max(1.0, float(np.max(np.abs(a))))
    significant = steps > 3 * (noise[1:] + noise[:-1]) + rounding
    if not np.any(significant[-quarter:]):
        return 0.0
    if np.sum(np.diff(np.sign(moves)) != 0) > TURNS:
        return float(MARGIN * np.max(np.abs(a[-2 * quarter - 1 :] - a[-1])))
    speeds, middles = steps / np.diff(x), (x[1:] + x[:-1]) / 2
    parts = [slice(steps.size - (k + 1) * quarter, steps.size - k * quarter) for k in range(3)]
    fastest = [part.start + int(np.argmax(speeds[part])) for part in parts]
    (speed, before, early), (place, place_before, place_early) = speeds[fastest], middles[fastest]
    if not speed < before:
        return math.inf
    now, earlier = math.log(before / speed), math.log(early / before) if early > 0 else 0.0
    # the rate of decay as a power of 1 / x, now and a quarter earlier
    rate, rate_before = now / math.log(place / place_before), earlier / math.log(place_before / place_early)
    if rate_before < rate:
        rate = min(rate, max(rate_before, 0.0) * place / place_before)
    steady = False
    if place < middles[-1] and significant[-1] and speeds[-1] > 0:
        end = math.log(speed / speeds[-1])
        rate = min(rate, end / math.log(middles[-1] / place))
        power, power_end = now / (place - place_before), end / (middles[-1] - place)
        steady = rate > LOGARITHMIC and abs(power_end - power) < STEADY * power
    if rate <= 1:
        return math.inf
    remaining = speed * place / (rate - 1) * (place / x[-1]) ** (rate - 1)
    return float(MARGIN * min(STEADY if steady else 1.0, (SLOW / rate) ** 2) * remaining)


def limit_beside_logarithms(log_s: Floats, a: Floats, noise: Floats) -> Limit:
    """The limit if the corrections are powers of log s, which the other families do not see; rho amplifies noise."""
    return _heard(_power_laws(log_s, a, noise), LOGARITHMIC_WITNESSES, a, noise)


def _heard(candidates: Iterable[Limit], count: int, a: Floats, noise: Floats) -> Limit:
    """The median of the sharpest candidates, with its error; the error is infinite if there are too few candidates."""
    witnesses = sorted(candidates, key=lambda limit: limit.error)[:count]
    if len(witnesses) < count:
        return Limit(float(a[-1]) if a.size else math.nan, math.inf)
    value = float(np.median([witness.value for witness in witnesses]))
    spread = max(abs(witness.value - value) for witness in witnesses)
    floor = 2 * float(noise[-1]) + 8 * EPS * max(1.0, abs(value))
    error = float(SAFETY * max(witnesses[0].error, spread) + floor)
    return Limit(value, error, any(witness.fits for witness in witnesses))


def _power_laws(s: Floats, a: Floats, noise: Floats) -> Iterator[Limit]:
    """For each start and degree: the best limit and the spread of the limits over all delta that fit the noise.

    A limit is the constant a of a + sum_{j<=degree} c_j s^{-j delta}, fitted to all points from a start on.
    """
    if s.size < LEAST:
        return
    designs = (_remembered if s.size <= SHORT else _designs)(s.tobytes(), noise.tobytes())
    limits, residual = np.zeros(designs.first.shape[1:]), np.where(designs.used[:, None], a / noise, 0.0)
    centres, errors, fits = np.empty((3, len(designs.basis), len(STARTS)))
    for degree, (column, first, full) in enumerate(zip(designs.basis, designs.first, designs.full, strict=True)):
        along = np.einsum("tdp,tdp->td", column, residual)
        limits, residual = limits + first * along, residual - along[..., None] * column
        misfits = np.sqrt(np.einsum("tdp,tdp->td", residual, residual) / designs.used.sum(axis=1)[:, None])
        misfits = np.where(full, misfits, math.inf)
        best = misfits.min(axis=1)
        level = np.maximum(1.0, best)
        centre = np.take_along_axis(limits, misfits.argmin(axis=1)[:, None], axis=1)
        apart = np.where(misfits <= 3 * level[:, None], np.abs(limits - centre), 0.0).max(axis=1)
        # a misfit beyond the noise is an omitted correction, and is added to the error in full
        unexplained = (level - 1) * np.where(designs.used, noise, 0.0).max(axis=1)
        centres[degree], errors[degree], fits[degree] = centre[:, 0], apart + unexplained, best <= 1
    for start, degree in np.argwhere(designs.full.any(axis=-1).T).tolist():
        yield Limit(float(centres[degree, start]), float(errors[degree, start]), bool(fits[degree, start]))


class _Designs(NamedTuple):
    """Powers s^{-j delta} over the noise, by start and delta, lower degrees first: one basis serves all degrees."""

    used: NDArray[np.bool_]  # the points from each start on, (start, point); the others are zero in the basis
    basis: Floats  # orthonormal columns with the same spans, (degree, start, delta, point)
    first: Floats  # contribution of each column to the coefficient of the power 0, (degree, start, delta)
    full: NDArray[np.bool_]  # columns up to this degree are independent and points are enough, (degree, start, delta)


def _designs(s: bytes, noise: bytes) -> _Designs:
    """The designs of a ladder, cached because sequences of one family often share a ladder.

    Columns are polynomials of x = s^{-delta}: each is x times the previous one, orthogonalised against all earlier
    ones, so that its value at x = 0, which is the limit, follows from theirs.
    """
    log_s = np.log(np.frombuffer(s))
    begin = np.array([int(start * log_s.size) for start in STARTS])
    used = np.arange(log_s.size) >= begin[:, None]
    # delta is an unknown too, unless the fit is a constant
    enough = used.sum(axis=1)[:, None] >= np.array([degree + LEAST + (degree > 0) for degree in DEGREES])
    count = int(enough.sum(axis=1).max())
    x = np.exp(-np.einsum("d,tp->tdp", DELTAS, np.where(used, log_s - log_s[begin][:, None], 0.0)))
    basis = np.empty((count, *x.shape))
    first, norms = np.zeros((2, count, *x.shape[:2]))
    for degree in range(count):
        column = x * basis[degree - 1] if degree else np.broadcast_to((used / np.frombuffer(noise))[:, None], x.shape)
        limit = np.full(x.shape[:2], float(degree == 0))
        for _ in range(2 * (degree > 0)):  # the second pass removes rounding errors of the first
            shares = np.einsum("jtdp,tdp->jtd", basis[:degree], column)
            column = column - np.einsum("jtd,jtdp->tdp", shares, basis[:degree])
            limit = limit - np.einsum("jtd,jtd->td", shares, first[:degree])
        norms[degree] = np.sqrt(np.einsum("tdp,tdp->td", column, column))
        scale = np.where(norms[degree] > 0, norms[degree], 1.0)
        basis[degree], first[degree] = column / scale[..., None], limit / scale
    # the part of s^{-j delta} that is orthogonal to all lower powers
    pivots = np.cumprod(norms, axis=0)
    full = np.minimum.accumulate(pivots) > FULL_RANK * np.maximum.accumulate(pivots)
    return _Designs(used, basis, first, full & enough.T[:count, :, None])


_remembered = lru_cache(maxsize=32)(_designs)


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
    """The last entry of each column, with the error from its neighbours above and to the left."""
    for estimates, column in pairwise(columns):
        recent = column[-3:]
        if recent.size == 3 and np.all(np.isfinite(recent)):
            spread = np.ptp(recent) + abs(estimates[-1] - recent[-1]) / 10
            yield Limit(float(recent[-1]), float(spread) + float(noise[-1]))
