"""Exact losses by the route of the table, and by the other route if that has a large error or does not reach."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import TINY, Floats
from lipverify.foundation.validation import chosen
from lipverify.loss.exact.cost import begin, cost_of, plan_of
from lipverify.loss.exact.kernel import kernel_terms
from lipverify.loss.exact.normal import normal_terms
from lipverify.loss.exact.sight import sight_of
from lipverify.loss.exact.table import ROUTES, Row, groups, rows_of
from lipverify.loss.exact.zonal.spectrum import spectrum_of
from lipverify.loss.exact.zonal.terms import work_of
from lipverify.loss.kernels import Kernel
from lipverify.loss.terms import ErrorKind, LossTerms, Route
from lipverify.loss.work import budgeted
from lipverify.problem import Problem
from lipverify.problem.covariates import Gaussian
from lipverify.problem.fine import UnseenError
from lipverify.problem.law import summands

SMALLEST, LARGEST = 1e-300, 1e300
"""Range of w. The terms are analytic at w = 0, so below the first they equal those at 0 to far less than rounding."""
HIGHEST = 1e140
"""Largest value of a law and of the noise: products of their squares with weights and counts must not overflow."""
LOST = 1e-8
"""Relative error above which `reason` says how to get more digits."""
NARROW = 200.0
"""Up to this w, the other route is tried at any cost if digits are lost: half a minute if windows hold few tokens."""
COLUMNS = ("bias", "noise", "bias_error", "noise_error")


def exact_terms(
    problem: Problem, w: Floats, *, route: Route | None = None, attention: Literal["softmax"] | Kernel = "softmax"
) -> LossTerms:
    """Loss terms at every value in `w` (an array of finite values >= 0).

    `route` is "ridge" or "zonal". By default `TABLE` chooses it for each law and w. If that route has a large error or
    refuses, the other is tried, and the more accurate value is returned; `reason` of the result says why.
    `attention` is "softmax", or a kernel of `lipverify.attention` on linear tasks, which has its own route. It refuses
    a w above `LARGEST`, values above `HIGHEST`, and what the route cannot compute with a useful error.
    """
    if attention != "softmax":
        if route is not None:
            raise InvalidInput(
                f"route = {route!r} with attention = {attention!r}: kernels have one route; leave it out."
            )
        return kernel_terms(problem, w, attention)
    if np.any(w > LARGEST):
        raise OutOfReach(f"w = {w.max():g}: at most {LARGEST:g}, for 2 w must be a double; use method='montecarlo'.")
    law_size = sight_of(problem.law).size
    size = max(law_size, problem.sigma)
    if not size <= HIGHEST:
        raise OutOfReach(
            f"values of {size:.0e}: at most {HIGHEST:g}, for their squares must be doubles; give the law and sigma in "
            "a larger unit."
        )
    with budgeted():
        terms = _terms(problem, np.ravel(np.where(w < SMALLEST, 0.0, w)), route)
    shaped = {name: np.reshape(getattr(terms, name), np.shape(w)) for name in COLUMNS}
    # squares of values below 1e-150 underflow
    for name, varies in (("bias_error", law_size > 0), ("noise_error", problem.sigma > 0)):
        shaped[name] = np.maximum(shaped[name], TINY if varies else 0.0)
    return replace(terms, w=w, **shaped)


def rough_terms(
    problem: Problem, w: Floats, count: int | None = None, route: Route | None = None
) -> tuple[Floats, Floats]:
    """(noise, bias) at the first `count` of w > 0 to about four digits, for a search; n >= 2.

    The cheaper route for the law serves, and the exact method where that does not reach. A search asks for the same w
    each time, because averages at all of `w` are kept for other n, L and sigma.
    """
    count = w.size if count is None else count
    parts = [(weight, _rough(problem.replace(law=law), w, count, route)) for weight, law in summands(problem.law)]
    return parts[0][1][0], np.asarray(sum(weight * bias for weight, (_, bias) in parts))


def _rough(problem: Problem, w: Floats, count: int, route: Route | None) -> tuple[Floats, Floats]:
    """(noise, bias) for a law that is not a sum."""
    if isinstance(problem.covariates, Gaussian):
        terms = exact_terms(problem, w[:count], route=route)
        return terms.noise, terms.bias
    law, _ = sight_of(problem.law).shown
    problem, sight = problem.replace(law=law), sight_of(law)
    first, averaged = 0, sight.averaged and route != "zonal"
    if averaged:
        limits = [row.up_to for row in rows_of(law, problem.d) if row.up_to < math.inf]
        exact_up_to = math.inf if sight.narrow is not None else max(limits, default=0.0)
        first = int(np.count_nonzero(w[:count] <= exact_up_to))
    noise, bias = np.empty(count), np.empty(count)
    try:
        if first < count:
            rough = ROUTES["ridge" if averaged else "zonal"].rough
            noise[first:], bias[first:] = rough(problem, w[first:], count - first)
    except OutOfReach:
        first = count
    if first:
        exact = exact_terms(problem, w[:first], route=route)
        noise[:first], bias[:first] = exact.noise, exact.bias
    return noise, bias


def _terms(problem: Problem, w: Floats, route: Route | None) -> LossTerms:
    """Terms by the requested route, or by the routes of the table."""
    if isinstance(problem.covariates, Gaussian):
        if route is not None:
            raise InvalidInput(f"route = {route!r}: covariates gaussian have one route; leave it out.")
        return _of(problem, w, normal_terms(problem, w))
    replacement, sentence = sight_of(problem.law).shown
    if replacement != problem.law:
        terms = _terms(problem.replace(law=replacement), w, route)
        kind: ErrorKind = terms.error_kind if sight_of(problem.law).traced else "bounded"
        return replace(terms, problem=problem, reason=f"{terms.reason} {sentence}".strip(), error_kind=kind)
    if route is not None:
        return _explained(_by(chosen("route", route, ROUTES), problem, w))
    begin(problem, plan_of(problem, w))
    sight = sight_of(problem.law)
    if sight.averaged and not sight.links:
        spectrum_of(problem.law, problem.d, 64)  # refuse a function that is not a covariance in this dimension
    parts = [part for row, which in groups(problem.law, problem.d, w) for part in _by_row(row, problem, w, which)]
    return _explained(_joined(problem, parts, w))


def _by(route: str, problem: Problem, w: Floats) -> LossTerms:
    """Terms by one route, if the budget allows it."""
    begin(problem, cost_of(problem, w, route), route)
    return _of(problem, w, ROUTES[route].terms(problem, w), sight_of(problem.law).error_kind(route))


def _of(problem: Problem, w: Floats, columns: Iterable[Floats], kind: ErrorKind = "bounded") -> LossTerms:
    bias, noise, bias_error, noise_error = columns
    return LossTerms(
        problem=problem,
        method="exact",
        w=w,
        bias=bias,
        noise=noise,
        bias_error=bias_error,
        noise_error=noise_error,
        error_kind=kind,
    )


Part = tuple[LossTerms, NDArray[np.intp]]  # terms at some w, and the indices of these w


def _by_row(row: Row, problem: Problem, w: Floats, which: NDArray[np.intp]) -> Iterator[Part]:
    """Compute the terms at w[which] by a row of the table."""
    if row.alone:
        for i in which:
            part = _first(problem, w[i : i + 1], row.routes)
            yield _sharper(part, row.routes)[0] if row.compared else part, np.atleast_1d(i)
        return
    # first all w together; then, one by one, those with a large error by the other route. If the first route refused
    # all because of one w, retry each w by the first route.
    terms = _first(problem, w[which], row.routes)
    sharp = _sharp(terms) if row.compared else np.full(which.shape, True)
    blunt, floor = np.flatnonzero(~sharp), 0.0
    for i in blunt[np.argsort(w[which][blunt])].tolist():
        alone = _first(problem, w[which][i : i + 1], row.routes) if terms.reason else _some(terms, [i])
        part, floor = _sharper(alone, row.routes, floor)
        yield part, which[i : i + 1]
    yield _some(terms, sharp), which[sharp]


def _explained(terms: LossTerms) -> LossTerms:
    """Add to `reason` why an error is an estimate, and how to get more digits if some are lost."""
    sight = sight_of(terms.problem.law)
    sentences = [terms.reason]
    if terms.error_kind == "estimated":
        sentences.append(sight.doubt)
    if not np.all(_share(terms) <= LOST):
        sentences.append(sight.remedy(terms.error_kind))
    if not np.all(_share(terms) <= 1) and not any(sentences):
        sentences.append(
            "The error exceeds the value: leave `route` out, take a smaller w, or use method='montecarlo'."
        )
    return replace(terms, reason=" ".join(part for part in sentences if part))


def _sharp(terms: LossTerms) -> NDArray[np.bool_]:
    """True at each w at which the other route is not tried: a route that resolves a law has a hundredth of this."""
    share = _share(terms)
    sharp = share <= 1e-10
    if not sharp.all() and sight_of(terms.problem.law).rooted:
        sharp = share <= 1e-6  # about the error of its variogram
    return sharp


def _first(problem: Problem, w: Floats, routes: tuple[str, ...]) -> LossTerms:
    """Terms by the first route, or by the second, if there is one, when the first refuses."""
    try:
        return _by(routes[0], problem, w)
    except OutOfReach as refusal:
        if len(routes) == 1:
            raise
        # features that a rule misses contradict a trace by which every rule resolves the link
        reason, doubted = f"{routes[0]}: {refusal}", isinstance(refusal, UnseenError)
    try:
        terms = _by(routes[1], problem, w)
        kind: ErrorKind = "estimated" if doubted else terms.error_kind
        return replace(terms, reason=reason, error_kind=kind)
    except OutOfReach as refusal:
        raise OutOfReach(f"neither route reaches this. {reason} {routes[1]}: {refusal}") from None


def _sharper(terms: LossTerms, routes: tuple[str, ...], floor: float = 0.0) -> tuple[LossTerms, float]:
    """Terms at one w by the first route, or by the second if the first has a large error and the second a smaller one.

    And the second route's relative error, a `floor` for all larger w, because the error of the zonal route grows.
    """
    problem, w, share = terms.problem, float(np.asarray(terms.w)[0]), float(_share(terms)[0])
    if _sharp(terms)[0] or terms.reason:
        return terms, floor
    (first, second), sight = routes, sight_of(problem.law)
    reason, lost = f"{first}: at w = {w:g} an error of {share:.0e} of the value.", share > LOST
    # a few seconds, or a tenth of that where the gain would be small
    most = 2e5 if lost or (sight.links and w <= NARROW) else 2e4
    if share <= floor:
        remark = f"{second}: no less."
    elif second == "zonal" and not (lost and w <= NARROW) and work_of(problem, w) > most:
        remark = "route='zonal' may give more, in minutes."
    else:
        try:
            alternative = _by(second, problem, np.asarray(terms.w))
        except OutOfReach as refusal:
            remark = f"{second}: {refusal}"
        else:
            floor = float(_share(alternative)[0])
            if floor < share:
                return replace(_doubted(alternative, terms), reason=reason), floor
            remark = f"{second}: {floor:.0e}."
    return replace(terms, reason=f"{reason} {remark}") if lost else terms, floor


def _doubted(terms: LossTerms, alternative: LossTerms) -> LossTerms:
    """Enlarge the error to that of the other route if the two disagree: then it is an estimate.

    An estimated error is also enlarged if the other route detected an unresolved link.
    """
    error, other = np.asarray(terms.bias_error), np.asarray(alternative.bias_error)
    apart = np.abs(terms.bias - alternative.bias)
    disagree, noticed = apart > error + other, other > 1e-3 * np.abs(alternative.bias)
    doubted = disagree | noticed if terms.error_kind == "estimated" else disagree
    kind: ErrorKind = "estimated" if np.any(disagree) else terms.error_kind
    return replace(terms, bias_error=np.where(doubted, np.maximum(other, apart + error), error), error_kind=kind)


def _share(terms: LossTerms) -> Floats:
    """The relative error of the less accurate term at every w."""
    pairs = ((terms.bias, terms.bias_error), (terms.noise, terms.noise_error))
    shares = [np.asarray(error) / np.maximum(np.abs(value), TINY) for value, error in pairs]
    return np.where(np.isfinite(shares), shares, np.inf).max(axis=0)


def _some(terms: LossTerms, which: NDArray[np.bool_] | list[int]) -> LossTerms:
    return replace(terms, **{name: np.asarray(getattr(terms, name))[which] for name in ("w", *COLUMNS)})


def _joined(problem: Problem, parts: list[Part], w: Floats) -> LossTerms:
    """Join the parts to one record."""
    columns = {name: np.empty_like(w) for name in COLUMNS}
    for part, which in parts:
        for name, column in columns.items():
            column[which] = getattr(part, name)
    reason = " ".join(dict.fromkeys(part.reason for part, _ in parts if part.reason))
    kind: ErrorKind = "estimated" if any(part.error_kind == "estimated" for part, _ in parts) else "bounded"
    return LossTerms(problem=problem, method="exact", w=w, reason=reason, error_kind=kind, **columns)
