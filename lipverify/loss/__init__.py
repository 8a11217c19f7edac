"""Bias and noise at a given w, by methods that share only the problem.

methods      loss_terms: every method by its name
terms        the record that every method returns
work         cost estimates, budgets and progress of exact losses
exact/       quadrature whose cost does not depend on n, by two routes
certified/   balls proved to contain the values
asymptotic/  leading terms, derived by SymPy
montecarlo/  sampling, for every problem whose law can be drawn
block/       the exact loss at M = c BB^T + c' (I - BB^T)
attention, kernels, linear, scaled, worst/   other attention, other outputs, the worst task
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.loss.exact import loss_cost as loss_cost
    from lipverify.loss.methods import loss_terms as loss_terms
    from lipverify.loss.terms import LossTerms as LossTerms
    from lipverify.loss.work import Cost as Cost, budget as budget

lazy()
