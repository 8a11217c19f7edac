"""What an optimal window is."""

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
"""Shares of w*: near ones see a minimum that is a little off, far ones another minimum."""


def is_a_minimum(
    optimum: Optimum,
    loss: Callable[[Problem, Any], LossTerms] = loss_terms,
    neighbours: Sequence[float] = NEIGHBOURS,
    alarm: float = 1.0,
) -> float:
    """The loss stated at w* is the loss there, and no other window does better, beyond the errors of both.

    Parameters
    ----------
    optimum
        What is to be looked at; its w finite and positive.
    loss
        The estimator whose loss it minimises.
    neighbours
        Shares of w* at which it is compared.
    alarm
        How many stated errors may be missed, see `noise_is_between`.

    Returns
    -------
    float
        The largest error / allowed.

    Raises
    ------
    AssertionError
        If another window does better, or the loss is not what is stated.
    InvalidInput
        If w* is 0 or infinite, where there are no neighbours.

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
    return max(at, require("no other window does better", optimum.loss - terms.total, allowed, **shown))
