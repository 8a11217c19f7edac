r"""Noise and bias by quadrature, with bounds on their errors.

    N(w) = sigma^2 n int E[psi_2] phi^{n-1} du
    B(w) = n int E[psi_2 variogram] phi^{n-1} du + n (n-1) int pair phi^{n-2} du

Both terms are computed twice, with rules of different order that share no node: the error is the difference plus a
bound on rounding. The order is raised until the difference is small; if it never is, see `remaining`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.context.averages import SERIES_TAIL, Averages, Points
from lipverify.loss.exact.context.contexts import ORDERS, ROUNDING, Contexts, Factors, powers, rounding_of
from lipverify.loss.exact.context.short import is_short
from lipverify.loss.exact.context.weighted import weighted_mean
from lipverify.loss.exact.ridge.parts import Parts, parts_of
from lipverify.loss.exact.ridge.task import Rules
from lipverify.loss.exact.sight import sight_of
from lipverify.problem import Problem
from lipverify.problem.law import Law

ROUGH_ORDER = 10
"""Order of the single rule of rough values."""
ROUGH_U = np.arange(-170, 3) / 2
"""Points u of rough values: the trapezoidal rule is exact to e^{-2 pi^2}, and integrands peak above -70."""
TOLERANCE = 1e-11
"""Relative difference of two rules at which a term has settled."""
FOLLOWED = 50
"""Degree over [0, pi] that the rules follow between two splits: a third of what that of order 56 integrates."""
MOST_WINDOWS = 16
"""Number of w evaluated in one pass; more would only cost memory."""
REMEMBERED = 1024
"""Size of the cache of losses: less than a megabyte in all."""


class Values(NamedTuple):
    """Noise over sigma^2 and bias over the amplitude variance, at some w: shape (w,)."""

    noise: Floats
    bias: Floats


def ridge_terms(problem: Problem, w: Floats) -> tuple[Floats, ...]:
    """Bias, noise, and the errors of both at every value in `w` (finite, >= 0).

    Validity: every d >= 2, 1 <= n <= 1e30, every ridge law and every law whose variogram is known. The relative error
    is about 1e-12, and larger if u is large, because its rounding, eps * w, then matters; if much larger, it refuses.
    Source: docs/method.md; the loss is equation (ICL) of Collins et al.
    """
    evaluate = _remembered if w.size <= MOST_WINDOWS else _remembered.__wrapped__  # many values are not kept
    value, error = evaluate(_unit(problem.law), problem.d, float(problem.n), w.tobytes())
    noise, bias = problem.sigma**2, sight_of(problem.law).amplitude
    return bias * value.bias, noise * value.noise, bias * error.bias, noise * error.noise


def rough_ridge_terms(problem: Problem, w: Floats, count: int) -> tuple[Floats, Floats]:
    """(noise, bias) at the first `count` of w > 0 to about four digits, by a single rule of low order, for a search.

    Where windows hold many tokens, the averages at all of `w` are kept for other n, L and sigma.
    """
    law, d, n = _unit(problem.law), problem.d, float(problem.n)
    noise, bias, many = _many_tokens(law, d, n, w)
    few = np.flatnonzero(~many[:count])
    if few.size:
        noise[few], bias[few] = _rough(law, d, n, w[few].tobytes())
    noise, bias = noise[:count], bias[:count]
    return problem.sigma**2 * noise, sight_of(problem.law).amplitude * bias


def length_slopes(problem: Problem, w: Floats) -> tuple[Floats, Floats]:
    """(dN / dlog n, dB / dlog n) at w > 0, n > 1; n is an exponent and need not be an integer."""
    parts = parts_of(problem.law, problem.d)
    noise, bias = _by_one_rule(parts, problem.d, float(problem.n), w, 28, power_slopes)
    return problem.sigma**2 * noise, sight_of(problem.law).amplitude * bias


def mean_increment(problem: Problem, w: Floats) -> tuple[Floats, Floats]:
    """E sum_i a_i (f(x_i) - f(x))^2, the weighted mean of the variogram, at each w > 0, n >= 2, and its error."""
    amplitude = sight_of(problem.law).amplitude
    mean, error = np.zeros_like(w), np.zeros_like(w)
    for of in parts_of(problem.law, problem.d):
        part, part_error = weighted_mean(problem.d, problem.n, w, of.variogram, of.meetings)
        mean += amplitude * part
        error += amplitude * part_error
    return mean, error


def _unit(law: Law) -> Law:
    """The law whose averages are used: the law with L = 1 if L is an amplitude, which only scales them."""
    return sight_of(law).unit or law


def _many_tokens(law: Law, d: int, n: float, w: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """(noise over sigma^2, bias over the amplitude variance) at every w, and True where windows hold many tokens."""
    averages = _at_rough_points(law, d, w.tobytes())
    if averages is None:
        return np.empty_like(w), np.empty_like(w), np.zeros(w.shape, dtype=bool)
    log_phi, square, variogram, pair = averages
    single, double = (factor * (ROUGH_U[1] - ROUGH_U[0]) for factor in powers(n, log_phi))
    bias = np.sum(single * variogram + double * pair, axis=1)
    # the integrals beyond the last point are below e^-20
    return np.sum(single * square, axis=1), bias, -n * log_phi[:, -1] > 20


@lru_cache(maxsize=REMEMBERED)
def _at_rough_points(law: Law, d: int, windows: bytes) -> tuple[Floats, ...] | None:
    """log phi and the averages of psi_2, psi_2 variogram and pair at ROUGH_U, (w, u); None if the law has no pair."""
    parts, w = parts_of(law, d), np.frombuffer(windows)
    if any(part.pair is None for part in parts):
        return None
    of = Averages(Points.grid(d, w, np.tile(ROUGH_U, (w.size, 1))), ROUGH_ORDER, _splits(parts), smooth=True)
    variogram = sum(of.mean(2, part.variogram) for part in parts)
    pair = sum(part.pair(of) for part in parts if part.pair is not None)
    return tuple(np.reshape(column, (w.size, -1)) for column in (of.log_phi(), of.mean(2), variogram, pair))


@lru_cache(maxsize=REMEMBERED)
def _rough(law: Law, d: int, n: float, windows: bytes) -> Values:
    """(noise over sigma^2, bias over the amplitude variance); cached, because every search starts at the same w."""
    return _by_one_rule(parts_of(law, d), d, n, np.frombuffer(windows), ROUGH_ORDER)


@lru_cache(maxsize=REMEMBERED)
def _remembered(law: Law, d: int, n: float, windows: bytes) -> tuple[Values, Values]:
    """Values and their errors; cached, because the same w are often used with another L or sigma."""
    return averaged_terms(parts_of(law, d), d, n, np.frombuffer(windows))


def averaged_terms(parts: Parts, d: int, n: float, w: Floats) -> tuple[Values, Values]:
    """Values and their errors at w >= 0, shape (w,), from the averages of a law over its tasks."""
    value, error = np.empty((2, 2, w.size))
    narrowed = (w > 0) & (n > 1)
    value[:, ~narrowed], error[:, ~narrowed] = _uniform(n, parts)
    for start in range(0, np.count_nonzero(narrowed), MOST_WINDOWS):
        some = np.flatnonzero(narrowed)[start : start + MOST_WINDOWS]
        contexts = Contexts.at(d, n, w[some])
        for group in contexts.alike():
            value[:, some[group]], error[:, some[group]] = _refine(parts, contexts[group])
    return Values(*value), Values(*error)


def _refine(parts: Parts, contexts: Contexts) -> tuple[Floats, Floats]:
    """Raise the order at every w until two successive rules agree; noise and bias, (2, w), and their errors."""
    rounding = rounding_of(contexts)
    # a difference within rounding needs no finer rule
    tolerances = np.array([[TOLERANCE], [max((part.tolerance for part in parts), default=TOLERANCE)]])
    tolerance = np.maximum(rounding, tolerances)
    *terms, off = _quadrature(parts, contexts, ORDERS[0])
    value, rough = np.array(terms), np.full(rounding.shape, True)
    gap, gaps = np.abs(value), list[Floats]()
    for order in ORDERS[1:]:
        try:
            *terms, finer_off = _quadrature(parts, contexts[rough], order)
        except OutOfReach:
            if order == ORDERS[1]:
                raise
            break  # keep the current value with its error
        gap[:, rough], value[:, rough], off[rough] = np.abs(value[:, rough] - terms), terms, finer_off
        gaps.append(gap.copy())
        settled = gap <= tolerance * value
        rough = ~settled.all(axis=0)
        if not rough.any():
            break
    error = np.where(settled, gap, remaining(np.array(gaps)))
    tables = rounding + max((part.relative_error for part in parts), default=0.0)
    return value, error + np.stack([rounding, tables]) * value + np.stack([np.zeros_like(off), off])


def remaining(gaps: Floats) -> Floats:
    """The error of the last of several rules that have not settled, from their differences: (rule, ...).

    If each difference is less than half of the one before, the error is extrapolated from the last difference and the
    rate. Otherwise a single small difference may be chance, unless it is tiny: with enough nodes a rule is accurate.
    """
    if len(gaps) < 3:
        return np.asarray(4 * np.max(gaps, axis=0))
    first, before, last = gaps[-3:]
    converging = (2 * last <= before) & (2 * before <= first)
    rate = np.divide(before, first, out=np.ones_like(before), where=first > 0)
    former = np.where(converging, rate * before, before)
    return np.asarray(4 * np.where(last <= 1e-4 * before, last, np.maximum(last, former)))


def power_slopes(n: float, log_phi: Floats) -> tuple[Floats, Floats]:
    """The derivatives of `powers` with respect to log n."""
    single, double = powers(n, log_phi)
    log_phi = np.maximum(log_phi, -1e6)  # where the powers are zero, and a product with a logarithm must be zero too
    return single * (1 + n * log_phi), double * ((2 * n - 1) / (n - 1) + n * log_phi)


def _quadrature(parts: Parts, contexts: Contexts, order: int, factors: Factors = powers) -> Floats:
    """Noise, bias, and a bound on its error from the averages over the task, by rules of one order: (3, w).

    Or their variants with other `factors`.
    """
    columns, tried = np.zeros((3, contexts.w.size)), is_short(contexts, all(part.jumps for part in parts))
    # few tokens and no short sum: apart, so that the others keep their series
    few = (contexts.high > SERIES_TAIL) & ~tried
    for some in (few, ~few):
        if some.any():
            columns[:, some] = _over_u(parts, contexts[some], order, factors, tried[some])
    return columns


def _over_u(parts: Parts, contexts: Contexts, order: int, factors: Factors, tried: NDArray[np.bool_]) -> Floats:
    """The same for similar windows, as integrals over u."""
    u, weight = contexts.nodes(order)
    of = Averages(Points.grid(contexts.d, contexts.w, u), order, _splits(parts), smooth=True)
    single, double = (weight * factor for factor in factors(contexts.n, np.reshape(of.log_phi(), u.shape)))
    rules = Rules(contexts, order, u, of, (single, double), factors, tried)
    bias, off = np.sum([part.bias(rules) for part in parts], axis=0) if parts else np.zeros((2, contexts.w.size))
    return np.stack([rules.single(of.mean(2)), bias, off])


def _splits(parts: Parts) -> tuple[float, ...]:
    """Angles between which the averages are polynomials that a rule follows: T_j(cos theta) = cos(j theta)."""
    degree = max((part.degree for part in parts), default=0)
    # differences of rules that follow no turn are chance, and small ones no sign of a small error
    return tuple(np.linspace(0, np.pi, degree // FOLLOWED + 1)[1:-1].tolist())


def _by_one_rule(parts: Parts, d: int, n: float, w: Floats, order: int, factors: Factors = powers) -> Values:
    """The terms at w > 0 by one rule, without errors."""
    contexts = Contexts.at(d, n, w)
    groups = [_quadrature(parts, contexts[group], order, factors)[:2] for group in contexts.alike()]
    return Values(*np.concatenate(groups, axis=1))


def _uniform(n: float, parts: Parts) -> tuple[Floats, Floats]:
    """w = 0 or n = 1: all weights are 1/n, so N = sigma^2/n and B = (1 + 1/n) Var f(x)."""
    value = np.array([[1 / n], [(1 + 1 / n) * sum(part.variance for part in parts)]])
    relative = ROUNDING + max((part.relative_error for part in parts), default=0.0)
    return value, np.array([[ROUNDING], [relative]]) * value
