"""The two routes to an exact loss: what each computes, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.biases.cost import ridge_tables, ridge_windows
from lipverify.loss.exact.biases.terms import MOST_WINDOWS, ridge_terms, rough_ridge_terms
from lipverify.loss.exact.zonal.cost import zonal_tables, zonal_windows
from lipverify.loss.exact.zonal.terms import rough_zonal_terms, zonal_terms
from lipverify.loss.terms import LossTerms
from lipverify.loss.work import Counts
from lipverify.problem import Problem
from lipverify.problem.law import Law


@dataclass(frozen=True)
class Algorithm:
    """The algorithm of a route, and its cost.

    Attributes
    ----------
    terms, rough
        Loss terms with errors at every w; noise and bias to a few digits at the first of some w.
    tables, windows
        The cost of the tables of a law in one dimension, and of every w > 0 of a problem.
    at_once
        Number of w in memory together.
    """

    terms: Callable[[Problem, Floats], LossTerms]
    rough: Callable[[Problem, Floats, int], tuple[Floats, Floats]]
    tables: Callable[[Law, int], Counts]
    windows: Callable[[Problem, Floats], list[Counts]]
    at_once: int = 1


ROUTES = {
    "ridge": Algorithm(ridge_terms, rough_ridge_terms, ridge_tables, ridge_windows, MOST_WINDOWS),
    "zonal": Algorithm(zonal_terms, rough_zonal_terms, zonal_tables, zonal_windows),
}
