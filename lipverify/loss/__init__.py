"""Bias and noise at a given w, by methods that share only the problem.

methods      lipverify.loss_terms: every method by its name
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
    from lipverify.loss.asymptotic import transferred_power as transferred_power
    from lipverify.loss.block import block_terms as block_terms
    from lipverify.loss.exact import spectrum_of as spectrum_of
    from lipverify.loss.linear import linear_attention as linear_attention
    from lipverify.loss.negative import negative_excess as negative_excess
    from lipverify.loss.scaled import scaled_loss as scaled_loss
    from lipverify.loss.terms import LossTerms as LossTerms
    from lipverify.loss.worst import worst_bias as worst_bias

lazy()
