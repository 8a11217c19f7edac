"""Properties of the scaling of both terms with L and sigma."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.validation import number
from lipverify.loss import loss_terms
from lipverify.loss.terms import LossTerms
from lipverify.problem.law import Law, proportional, times
from lipverify.problem.problem import Problem
from lipverify.properties.ratio import ROUNDING, require

Loss = Callable[[Problem, Any], LossTerms]


def noise_scales(problem: Problem, w: Any, factor: float, loss: Loss = loss_terms, alarm: float = 1.0) -> float:
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

    >>> from lipverify.laws import Affine
    >>> noise_scales(Problem(d=3, n=100, law=Affine()), [0.5, 5.0], factor=3.0) <= 1
    True
    """
    _require_factor(factor)
    one, other = loss(problem, w), loss(problem.replace(sigma=factor * problem.sigma), w)
    return max(_scaled(one, other, "noise", factor, 2, alarm), _scaled(one, other, "bias", factor, 0, alarm))


def bias_scales(
    problem: Problem,
    w: Any,
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
    one, other = loss(problem, w), loss(problem.replace(law=rougher), w)
    return max(_scaled(one, other, "bias", factor, 2, alarm), _scaled(one, other, "noise", factor, 0, alarm))


def _scaled(one: LossTerms, other: LossTerms, term: str, factor: float, power: int, alarm: float) -> float:
    """Require that a term is factor^power times its earlier value."""
    before, after = (np.asarray(getattr(terms, term), dtype=float) for terms in (one, other))
    errors = [np.asarray(getattr(terms, f"{term}_error"), dtype=float) for terms in (one, other)]
    scale = factor**power
    allowed = alarm * (scale * errors[0] + errors[1]) + ROUNDING * abs(after)
    rule = f"the {term} goes as the factor to the power {power}"
    return require(rule, abs(after - scale * before), allowed, before=before, after=after, factor=factor)


def _require_factor(factor: float) -> None:
    if number("factor", factor, "a change of scale", above=0) == 1:
        raise InvalidInput(f"factor = {factor!r}: a change of scale is positive, finite and not 1.")
