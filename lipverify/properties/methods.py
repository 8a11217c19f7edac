"""Properties of several losses: methods must agree within their errors, and both terms scale with L and sigma."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Reals
from lipverify.foundation.validation import number
from lipverify.loss.methods import LossMethod, loss_terms, method_named
from lipverify.loss.terms import LossTerms, MethodName
from lipverify.problem.law import Law, proportional, times
from lipverify.problem.problem import Problem
from lipverify.properties.ratio import ROUNDING, require

Method = MethodName | LossMethod | Callable[[Problem, Any], LossTerms]


def agree(
    problem: Problem,
    w: Reals,
    methods: Sequence[Method] = ("exact", "montecarlo"),
    alarm: float = 1.0,
    blunt: float = 0.5,
) -> float:
    """Require that any two methods differ by no more than the sum of their stated errors.

    Parameters
    ----------
    problem, w
        The problem and the values of w for the comparison.
    methods
        Names or methods as in `loss_terms`, or functions (problem, w) -> LossTerms, such as your own estimator.
    alarm
        The allowed difference in units of the stated errors: 1 for bounds, 2 if one is a 95 % half-width.
    blunt
        The largest relative error accepted: with larger errors agreement would mean nothing, so the test fails.

    Returns
    -------
    float
        The largest difference / allowed.

    Raises
    ------
    AssertionError
        If two methods disagree, or an error is larger than `blunt` allows.
    InvalidInput
        If there are fewer than two methods.

    Examples
    --------
    >>> from functools import partial
    >>> from lipverify.laws import Cosine
    >>> zonal = partial(loss_terms, route="zonal")
    >>> agree(Problem(d=3, n=100, law=Cosine(L=2.0)), [0.5, 5.0], methods=("exact", zonal)) <= 1
    True
    """
    if len(methods) < 2:
        raise InvalidInput(f"methods = {methods!r}: give two or more.")
    results = [(_name(how), _terms(how, problem, w)) for how in methods]
    for name, terms in results:
        for term in ("bias", "noise"):
            value, error = _term(terms, term)
            rule = f"the error of the {term} by {name} is below {blunt:g} of it, or agreement means nothing"
            require(rule, error, blunt * abs(value) + np.finfo(float).tiny, value=value, error=error)
    return max(_apart(*pair, term, alarm) for pair in combinations(results, 2) for term in ("bias", "noise"))


def covers(value: Any, error: Any, reference: Any, reference_error: Any = 0.0, alarm: float = 1.0) -> float:
    """Require that a stated error is honest: |value - reference| <= error + reference_error.

    Parameters
    ----------
    value, error
        Values and their stated errors, numbers or arrays.
    reference, reference_error
        Values by another method, and their errors.
    alarm
        The allowed difference in units of the stated errors.

    Returns
    -------
    float
        The largest difference / allowed.

    Raises
    ------
    AssertionError
        If the difference from the reference is larger than the errors.

    Examples
    --------
    >>> covers(1.5, 1.0, 2.0)
    0.5
    """
    stated, known = np.asarray(value, dtype=float), np.asarray(reference, dtype=float)
    allowed = alarm * np.asarray(error, dtype=float) + np.asarray(reference_error, dtype=float)
    return require("the stated error covers the reference", abs(stated - known), allowed, value=stated, reference=known)


def _name(how: Method) -> str:
    return how if isinstance(how, str) else getattr(how, "__name__", repr(how))


def _terms(how: Method, problem: Problem, w: Reals) -> LossTerms:
    method = method_named(how) if isinstance(how, str) else how
    return loss_terms(problem, w, method) if isinstance(method, LossMethod) else method(problem, w)


def _term(terms: LossTerms, term: str) -> tuple[Any, Any]:
    value, error = getattr(terms, term), getattr(terms, f"{term}_error")
    return np.asarray(value, dtype=float), np.asarray(error, dtype=float)


def _apart(first: tuple[str, LossTerms], second: tuple[str, LossTerms], term: str, alarm: float) -> float:
    """The difference of two methods divided by the allowed difference."""
    (name, terms), (second_name, second_terms) = first, second
    (value, error), (second_value, second_error) = _term(terms, term), _term(second_terms, term)
    context = {"first": value, "second": second_value, "w": np.asarray(terms.w)}
    rule = f"{name} and {second_name} agree on the {term}"
    return require(rule, abs(value - second_value), alarm * (error + second_error), **context)


Loss = Callable[[Problem, Any], LossTerms]


def noise_scales(problem: Problem, w: Reals, factor: float, loss: Loss = loss_terms, alarm: float = 1.0) -> float:
    """Require that N scales as sigma^2 and B does not depend on sigma.

    Parameters
    ----------
    problem, w
        The problem and the values of w; sigma > 0.
    factor
        The factor on sigma, > 0 and not 1.
    loss
        The estimator: loss(problem, w) gives both terms.
    alarm
        The allowed difference in units of the stated errors, see `noise_is_between`.

    Returns
    -------
    float
        The largest error / allowed.

    Raises
    ------
    AssertionError
        If a term does not scale.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> noise_scales(Problem(d=3, n=100, law=Affine()), [0.5, 5.0], factor=3.0) <= 1
    True
    """
    _require_factor(factor)
    before, after = loss(problem, w), loss(problem.replace(sigma=factor * problem.sigma), w)
    return max(_scaled(before, after, "noise", factor, 2, alarm), _scaled(before, after, "bias", factor, 0, alarm))


def bias_scales(
    problem: Problem,
    w: Reals,
    factor: float,
    loss: Loss = loss_terms,
    rougher: Law | None = None,
    alarm: float = 1.0,
) -> float:
    """Require that B scales as L^2 and N does not depend on L.

    Parameters
    ----------
    problem, w, loss, alarm
        See `noise_scales`.
    factor
        The factor on the functions of the law, > 0 and not 1.
    rougher
        The law whose functions are `factor` times those of the problem's law. Not needed if the law is proportional to
        its `L` (affine, linear, ReLU, quadratic).

    Returns
    -------
    float
        The largest violation / allowed; at most 1.

    Raises
    ------
    AssertionError
        If a term does not scale.
    InvalidInput
        If `rougher` is needed and missing.

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> bias_scales(Problem(d=3, n=100, law=ReLU()), [0.5, 5.0], factor=3.0) <= 1
    True
    """
    _require_factor(factor)
    law = problem.law
    if rougher is None:
        if not proportional(law):
            raise InvalidInput(f"law = {law!r} is not proportional to an L: give `rougher`, {factor:g} times the law.")
        rougher = times(law, factor)
    before, after = loss(problem, w), loss(problem.replace(law=rougher), w)
    return max(_scaled(before, after, "bias", factor, 2, alarm), _scaled(before, after, "noise", factor, 0, alarm))


def _scaled(before: LossTerms, after: LossTerms, term: str, factor: float, power: int, alarm: float) -> float:
    """Require that a term is factor^power times its earlier value."""
    (old, old_error), (new, new_error), scale = _term(before, term), _term(after, term), factor**power
    allowed = alarm * (scale * old_error + new_error) + ROUNDING * abs(new)
    rule = f"the {term} goes as the factor to the power {power}"
    return require(rule, abs(new - scale * old), allowed, before=old, after=new, factor=factor)


def _require_factor(factor: float) -> None:
    if number("factor", factor, "a change of scale", above=0) == 1:
        raise InvalidInput(f"factor = {factor!r}: a change of scale is positive, finite and not 1.")
