r"""Exact loss terms: deterministic quadrature whose cost does not depend on n, by two routes that share nothing.

ridge    laws f(x) = h(<q, x>), by their links, and laws given by a kernel or a variogram, by the latter
zonal    every isotropic law, by its covariance, harmonic by harmonic
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import chosen
from lipverify.loss.exact.biases.parts import has_averages, narrow
from lipverify.loss.exact.biases.terms import ridge_terms
from lipverify.loss.exact.cost import FLAT, begin, close, cost_of, field_of, known, loss_cost, plan_of, wide
from lipverify.loss.exact.kernel import kernel_terms
from lipverify.loss.exact.variograms.roots import has_roots
from lipverify.loss.exact.zonal import zonal_terms
from lipverify.loss.exact.zonal.spectrum import spectrum_of
from lipverify.loss.exact.zonal.terms import work_of
from lipverify.loss.kernels import Kernel
from lipverify.loss.terms import ErrorKind, LossTerms
from lipverify.loss.work import budgeted
from lipverify.problem import Problem
from lipverify.problem.features import SEEN
from lipverify.problem.fine import features, sighted, undeclared
from lipverify.problem.law import FunctionLaw, Law, RidgeLaw
from lipverify.problem.network import ReLUNetwork
from lipverify.problem.own import Ridge, Zonal

SMALLEST, LARGEST = 1e-300, 1e300
"""Below the first the terms are those of w = 0, to far less than rounding: they are analytic in w, at 0 too."""
HIGHEST = 1e140
"""Values of a law and of the noise; products of their squares with weights and counts are doubles."""
BLUNT, BLUNT_ROOT = 1e-10, 1e-6
"""A relative error beyond which the other route is tried, for a link of one's own, and for one with roots: its
variogram is known to no more."""
NARROW, QUICK = 200.0, 2e5
"""Beyond this window the zonal route is asked for more digits only if that takes a few seconds, in units of its work;
up to it for any digits at all, which takes half a minute where windows hold few tokens."""
INSTANT = 2e4
"""The same for a kernel that is known to `LOST`, and beyond that window for any law: there are hardly more digits to be
had."""
LOST = 1e-8
"""A relative error beyond which the result of a kernel, or of an undeclared link, says what would give more."""
NOTICED = 1e-3
"""A relative error beyond which a route has noticed that it does not resolve a link: no other one overrules it, unless
it knows the link as a formula."""
HARMONICS = 64
"""Of a kernel that are looked at for one that is negative, however few enter the loss."""
COLUMNS = ("bias", "noise", "bias_error", "noise_error")
TINY = 1e-300
ROUTES = {"ridge": ridge_terms, "zonal": zonal_terms}

__all__ = ["ROUTES", "exact_terms", "loss_cost", "ridge_terms", "wide", "zonal_terms"]


def exact_terms(
    problem: Problem, w: Floats, *, route: str | None = None, attention: str | Kernel = "softmax"
) -> LossTerms:
    """Loss terms at every value in `w` (an array of finite values >= 0).

    `route` is "ridge" or "zonal". By default the zonal route serves laws given by their spectrum, and links of one's
    own with roots among several kinks at small windows in few dimensions, where it is quicker; the ridge route the
    others. Where one is blunt or does not reach, the other is tried, and the better value stands: `reason` of the
    result says why.
    `attention` is "softmax", or a kernel of `lipverify.attention` on linear tasks, which has one route of its own.

    Raises
    ------
    InvalidInput
        If there is no such route, or the kernel is not for this problem.
    OutOfReach
        If the route cannot reach an error that means something, w is beyond `LARGEST`, or values beyond `HIGHEST`.
    """
    if attention != "softmax":
        if route is not None:
            raise InvalidInput(
                f"route = {route!r} with attention = {attention!r}: kernels have one route; leave it out."
            )
        return kernel_terms(problem, w, attention)
    if np.any(w > LARGEST):
        raise OutOfReach(f"w = {w.max():g}: at most {LARGEST:g}, for 2 w must be a double; use method='montecarlo'.")
    size = max(_size(problem.law), problem.sigma)
    if not size <= HIGHEST:
        raise OutOfReach(
            f"values of {size:.0e}: at most {HIGHEST:g}, for their squares must be doubles; give the law and sigma in "
            "a larger unit."
        )
    with budgeted():
        terms = _terms(problem, np.ravel(np.where(w < SMALLEST, 0.0, w)), route)
    shaped = {name: np.reshape(getattr(terms, name), np.shape(w)) for name in COLUMNS}
    # squares of values below 1e-150 are rounded to nothing
    for name, varies in (("bias_error", _size(problem.law) > 0), ("noise_error", problem.sigma > 0)):
        shaped[name] = np.maximum(shaped[name], TINY if varies else 0.0)
    return replace(terms, w=w, **shaped)


@lru_cache(maxsize=64)
def _size(law: Law) -> float:
    """About what a law's functions vary by: 0 if they are constant, infinite beyond doubles, 1 if not known here."""
    if law.constant:
        return 0.0
    if not isinstance(law, FunctionLaw):
        return 1.0
    try:
        return float(math.sqrt(law.amplitude_variance) * max(law.extents()))
    except OverflowError:
        return math.inf


def _terms(problem: Problem, w: Floats, route: str | None) -> LossTerms:
    """By the route that is asked for, or that reaches it."""
    if isinstance(problem.law, ReLUNetwork):
        # its variogram is known: analytic in r up to 2 (1 + bias^2)^{1/2}, past which it is one of a half-power of 3
        field = field_of(problem.law, problem.d)
        return replace(_terms(problem.replace(law=field), w, route), problem=problem, error_kind="bounded")
    if isinstance(problem.law, Ridge) and (seen := sighted(problem.law)) != problem.law:
        found = ", ".join(f"{at:g}" for at in sorted(set(seen.kinks) - set(problem.law.kinks)))
        terms = _terms(problem.replace(law=seen), w, route)
        said = f"The link bends or jumps at z = {found}, undeclared: taken as if Ridge(link, kinks=(...)) said so."
        return replace(terms, problem=problem, reason=f"{terms.reason} {said}".strip())
    law = problem.law
    if route is not None:
        terms = _by(chosen("route", route, ROUTES), problem, w)
        return _explained(replace(terms, error_kind=kind_of(law, route)))
    begin(problem, plan_of(problem, w))
    if narrow(law) is not None or close(law):
        return _narrow_terms(problem, w)
    return _known_terms(problem, w)


def _by(route: str, problem: Problem, w: Floats) -> LossTerms:
    """By a route, if the budget allows it."""
    begin(problem, cost_of(problem, w, route, known(problem, route)), route)
    return ROUTES[route](problem, w)


def kind_of(law: Law, route: str) -> ErrorKind:
    """What the error of a route is for a law: a bound, unless a function of one's own may hide something from it.

    >>> kind_of(Ridge(np.tanh), "ridge"), kind_of(Ridge(lambda z: np.sort(z)), "zonal")
    ('bounded', 'estimated')
    """
    if isinstance(law, Ridge):
        known = features(law.link)
        seen = known is not None and not known.unbounded and (route == "zonal" or narrow(law) is None)
        return "bounded" if seen else "estimated"
    return _kind_of_field(law) if isinstance(law, Zonal) and law.spectrum is None else "bounded"


@lru_cache(maxsize=64)
def _kind_of_field(law: Zonal) -> ErrorKind:
    """The same for a covariance; at distance 0 rules are graded, whatever it does there."""
    kernel = law.kernel
    variogram = law.variogram if kernel is None else lambda s: kernel(1 - s)
    known = features(variogram, 0.0, 2.0)
    return "bounded" if known is not None and known.narrowest(graded=True)[0] >= SEEN else "estimated"


def _narrow_terms(problem: Problem, w: Floats) -> LossTerms:
    """Of a link with narrow features: by harmonics, which know it; where they do not reach by the other route."""
    parts = []
    for at in w:
        terms = _first(problem, np.atleast_1d(at), "zonal", "ridge")
        parts.append(replace(terms, error_kind=kind_of(problem.law, "ridge" if terms.reason else "zonal")))
    return _explained(_joined(problem, parts, np.arange(w.size), w))


def _known_terms(problem: Problem, w: Floats) -> LossTerms:
    """By the route that is the quicker, and by the other where that is blunt."""
    law = problem.law
    if not has_averages(law):
        return replace(_by("zonal", problem, w), error_kind=kind_of(law, "zonal"))
    if not isinstance(law, RidgeLaw):
        spectrum_of(law, problem.d, HARMONICS)  # refuses what is no covariance in this dimension
    elif not isinstance(law, Ridge):
        return _first(problem, w, "ridge", "zonal")
    kind = kind_of(law, "ridge")
    quick = w > wide(problem)
    parts = []
    for at in w[~quick]:
        part = _first(problem, np.atleast_1d(at), "zonal", "ridge")
        parts.append(part if at <= FLAT else _sharper(part, "zonal", "ridge")[0])
    if quick.any():
        # all at once, and then what is blunt by the other route, or again where one window kept all from the first
        terms = _first(problem, w[quick], "ridge", "zonal")
        sharp = _sharp(terms)
        blunt, floor = np.flatnonzero(~sharp), 0.0
        blunt = blunt[np.argsort(w[quick][blunt])]
        for i in blunt.tolist():
            alone = _first(problem, w[quick][i : i + 1], "ridge", "zonal") if terms.reason else _some(terms, [i])
            part, floor = _sharper(alone, "ridge", "zonal", floor)
            parts.append(part)
        parts += [_some(terms, sharp)]
        of_quick = np.flatnonzero(quick)
        places = np.concatenate([np.flatnonzero(~quick), of_quick[blunt], of_quick[sharp]])
    else:
        places = np.flatnonzero(~quick)
    return _explained(replace(_joined(problem, parts, places, w), error_kind=kind))


def _explained(terms: LossTerms) -> LossTerms:
    """With the reason, where it is the kernel's digits that are missing, or a kink that is not declared."""
    law, said = terms.problem.law, ""
    if terms.error_kind == "estimated":
        terms = replace(terms, reason=f"{terms.reason} {_estimate(law)}".strip())
    if np.all(_share(terms) <= LOST):
        return terms
    if isinstance(law, Zonal) and law.kernel is not None:
        said = "A kernel in double precision loses V near t = 1; Zonal(variogram=...) keeps it."
    elif narrow(law) is not None and terms.error_kind == "bounded":
        said = "Where the link is steepest the rounding of z counts."
    elif isinstance(law, Ridge) and (at := undeclared(law.link, law.kink_points)) is not None:
        said = (
            f"The link bends or jumps near z = {at:g}, undeclared: Ridge(link, kinks=(...), jumps=(...)) sharpens it."
        )
    elif isinstance(law, Ridge) and not law.kink_points:
        said = "No rule resolves the link where it is steepest: places there and beside it, as kinks=(...), sharpen it."
    return replace(terms, reason=f"{terms.reason} {said}".strip())


def _estimate(law: Law) -> str:
    """Why an error is an estimate."""
    if (feature := narrow(law)) is not None:
        return f"The error is an estimate: near z = {feature[1]:.7g} the link is steeper than rules are made for."
    what = "link" if isinstance(law, Ridge) else "kernel or variogram"
    if isinstance(law, Ridge) and (known := features(law.link)) is not None:
        return (
            f"The error is an estimate: at z = {known.unbounded[0]:.7g} the link is not known to be finite, or to be "
            "about as large as elsewhere."
        )
    return (
        f"The error is an estimate: the {what} is no formula of NumPy's functions, or too steep for one, and what it "
        "does between the nodes is in neither the value nor the error."
    )


def _sharp(terms: LossTerms) -> NDArray[np.bool_]:
    """The windows at which no other route is tried."""
    share, law = _share(terms), terms.problem.law
    sharp = share <= BLUNT
    if not sharp.all() and isinstance(law, Ridge) and has_roots(law.link, law.kink_points):
        sharp = share <= BLUNT_ROOT
    return sharp


def _first(problem: Problem, w: Floats, first: str, second: str) -> LossTerms:
    """By the first route, or by the second where that does not reach."""
    try:
        return _by(first, problem, w)
    except OutOfReach as refusal:
        reason = f"{first}: {refusal}"
    try:
        return replace(_by(second, problem, w), reason=reason)
    except OutOfReach as refusal:
        raise OutOfReach(f"neither route reaches this. {reason} {second}: {refusal}") from None


def _sharper(terms: LossTerms, first: str, second: str, floor: float = 0.0) -> tuple[LossTerms, float]:
    """Terms by the first route at one window, or by the second if the first says little and the second says more.

    And the share of the value that the second route's error is from this window on: the zonal one's grows with w, and
    where it would be no less than the first one's it is not asked.
    """
    problem, w, share = terms.problem, float(np.asarray(terms.w)[0]), float(_share(terms)[0])
    if _sharp(terms)[0] or terms.reason:
        return terms, floor
    reason, lost = f"{first}: at w = {w:g} an error of {share:.0e} of the value.", share > LOST
    least = QUICK if lost or (isinstance(problem.law, RidgeLaw) and w <= NARROW) else INSTANT
    if share <= floor:
        said = f"{second}: no less."
    elif second == "zonal" and not (lost and w <= NARROW) and work_of(problem, w) > least:
        said = "route='zonal' may give more, in minutes."
    else:
        try:
            other = _by(second, problem, np.asarray(terms.w))
        except OutOfReach as refusal:
            said = f"{second}: {refusal}"
        else:
            floor = float(_share(other)[0])
            if floor < share:
                if kind_of(problem.law, second) == "estimated":
                    other = _doubted(other, terms)
                return replace(other, reason=reason), floor
            said = f"{second}: {floor:.0e}."
    return replace(terms, reason=f"{reason} {said}") if lost else terms, floor


def _doubted(terms: LossTerms, other: LossTerms) -> LossTerms:
    """With the other route's error, where that has noticed something or is not met: no rule has seen all of a link."""
    bias_error = np.asarray(terms.bias_error)
    apart = np.abs(terms.bias - other.bias)
    doubted = (apart > bias_error + other.bias_error) | (other.bias_error > NOTICED * np.abs(other.bias))
    return replace(terms, bias_error=np.where(doubted, np.maximum(other.bias_error, apart + bias_error), bias_error))


def _share(terms: LossTerms) -> Floats:
    """The relative error of the less accurate term at every window."""
    pairs = ((terms.bias, terms.bias_error), (terms.noise, terms.noise_error))
    shares = [np.asarray(error) / np.maximum(np.abs(value), TINY) for value, error in pairs]
    return np.where(np.isfinite(shares), shares, np.inf).max(axis=0)


def _some(terms: LossTerms, which: NDArray[np.bool_] | list[int]) -> LossTerms:
    return replace(terms, **{name: np.asarray(getattr(terms, name))[which] for name in ("w", *COLUMNS)})


def _joined(problem: Problem, parts: list[LossTerms], places: NDArray[np.intp], w: Floats) -> LossTerms:
    """One record of the parts, of which all windows in order are at `places` of w."""
    columns = {}
    for name in COLUMNS:
        columns[name] = np.empty_like(w)
        columns[name][places] = np.concatenate([np.empty(0), *(getattr(part, name) for part in parts)])
    reason = " ".join(dict.fromkeys(part.reason for part in parts if part.reason))
    kind: ErrorKind = "estimated" if any(part.error_kind == "estimated" for part in parts) else "bounded"
    return LossTerms(problem=problem, method="exact", w=w, reason=reason, error_kind=kind, **columns)
