"""The property of an optimal w: no other w has a smaller loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.loss import loss_terms
from lipverify.loss.terms import LossTerms
from lipverify.optimum.window.minimiser import Optimum
from lipverify.problem.problem import Problem
from lipverify.properties.ratio import require

NEIGHBOURS = (1e-3, 0.1, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 1.01, 1.02, 1.05, 1.1, 1.25, 2.0, 10.0)
"""Multiples of w*: near ones detect a minimum that is slightly wrong, distant ones detect another minimum."""


def is_a_minimum(
    optimum: Optimum,
    loss: Callable[[Problem, Any], LossTerms] = loss_terms,
    neighbours: Sequence[float] = NEIGHBOURS,
    alarm: float = 1.0,
) -> float:
    """Require that the loss stated at w* is the loss there, and that no neighbour has a smaller one, up to the errors.

    Parameters
    ----------
    optimum
        The optimum to test; its w is finite and positive.
    loss
        The estimator whose loss it minimises.
    neighbours
        Multiples of w* at which the loss is compared.
    alarm
        The allowed difference in units of the stated errors, see `noise_is_between`.

    Returns
    -------
    float
        The largest error / allowed.

    Raises
    ------
    AssertionError
        If another w has a smaller loss, or the stated loss is wrong.
    InvalidInput
        If w* is 0 or infinite, so that it has no neighbours.

    >>> from lipverify import optimal_window
    >>> from lipverify.laws import Affine
    >>> is_a_minimum(optimal_window(Problem(d=3, n=1000, law=Affine()))) <= 1
    True
    """
    if not 0 < optimum.w < math.inf:
        raise InvalidInput(f"w = {optimum.w:g}: only a finite positive w has neighbours on both sides.")
    others = optimum.w * np.array([1.0, *neighbours])
    terms = loss(optimum.problem, others)
    allowed = alarm * (optimum.loss_error + np.asarray(terms.total_error))
    shown = {"loss": terms.total, "w": others, "stated": optimum.loss, "best": optimum.w}
    at = require("the loss stated at w* is the loss there", abs(terms.total - optimum.loss)[0], allowed[0], **shown)
    return max(at, require("no other w has a smaller loss", optimum.loss - terms.total, allowed, **shown))
