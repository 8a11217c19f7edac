r"""The exact loss of c times the prediction of softmax attention; c is the last entry of W_V.

With P = sum_i a_i y_i and an offset of f of variance beta, which the weights preserve because they sum to one,

    L(w, c) = c^2 E P^2 - 2 c E P f(x) + E f(x)^2.

The loss at c = 1 is B + N. In addition to B and N, the loss needs only the mean squared distance of f(x_i) in the
window from f(x),

    G(w) = 1/2 E sum_i a_i (f(x_i) - f(x))^2 = E f(x)^2 - E P f(x),

from which E P^2 = B + N + E f(x)^2 - 2 G. So, without cancellation while c is near 1,

    c*(w) - 1 = (G - B - N) / E P^2,    L(w, c*) = B + N - (G - B - N)^2 / E P^2:

the best c exceeds 1 if the loss is mostly shrinkage towards the mean, and is below 1 if the loss is mostly noise.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import number
from lipverify.loss.exact import mean_increment
from lipverify.loss.methods import loss_terms
from lipverify.problem import Problem
from lipverify.problem.law import as_ridge
from lipverify.problem.problem import require_isotropic


class ScaledLoss(msgspec.Struct, frozen=True, kw_only=True):
    """L(w, c) at one or more w; arrays shaped like them, in units of y squared except for `excess`.

    `excess` is c* - 1, which keeps its digits if c* is near 1. `least` is the loss at c*, `gap` is G and `power` is
    E P^2. Errors are bounds.
    """

    excess: Any
    excess_error: Any
    least: Any
    least_error: Any
    gap: Any
    gap_error: Any
    power: Any


@makes("bounded", "exact")
def scaled_loss(problem: Problem, w: Any, offset_variance: float = 0.0) -> ScaledLoss:
    r"""The best c and the loss there, for each w.

    Parameters
    ----------
    problem
        Isotropic, with a ridge law of mean zero (`Affine`, `ReLU`); a mean would act as a further offset.
    w
        Values of w > 0.
    offset_variance
        The variance of the offset b of f, >= 0: L^2 / 3 in the class of the slides.

    Returns
    -------
    ScaledLoss
        The values with bounds on their errors. The loss at c* is a difference, which keeps its digits as long as it is
        not much smaller than E f^2.

    Raises
    ------
    InvalidInput
        If a value breaks its rule.

    Source: Collins et al., rebuttal to arXiv 2402.11639, Lemma B.1, where c is the last entry of W_V.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> found = scaled_loss(Problem(d=3, n=10**6, law=Affine()), [20.0], offset_variance=1 / 3)
    >>> bool(found.excess[0] > 0)
    True
    """
    require_isotropic(problem, "scaled_loss")
    law, windows = as_ridge(problem.law, "scaled_loss"), np.atleast_1d(np.asarray(w, dtype=np.float64))
    if not np.all(np.isfinite(windows) & (windows > 0)) or problem.n < 2:
        raise InvalidInput(f"w = {w!r}, n = {problem.n}: the scaled loss needs w > 0 and n >= 2.")
    number("offset_variance", offset_variance, "a variance", least=0)
    terms = loss_terms(problem, windows)
    gap, gap_error = (part / 2 for part in mean_increment(problem, windows))
    variance = _power(law, problem.d)
    power = terms.total + variance - 2 * gap + offset_variance
    lead, lead_error = gap - terms.total, gap_error + terms.total_error
    # the power is a sum of a few terms, each with a few hundred roundings
    excess, relative = lead / power, (2 * lead_error + 2.0**-43 * variance) / power
    return ScaledLoss(
        excess=excess,
        excess_error=lead_error / power + np.abs(excess) * relative,
        least=terms.total - lead * excess,
        least_error=terms.total_error + np.abs(excess) * (2 * lead_error + np.abs(lead) * relative),
        gap=gap,
        gap_error=gap_error,
        power=power,
    )


def _power(law: Any, d: int) -> float:
    """E f(x)^2 without the offset; for the ReLU law it exceeds the variance of f on the sphere."""
    from lipverify.loss.linear import linear_attention  # imported here because it loads SymPy, which w* does not need

    try:
        moments = linear_attention(law)
    except (InvalidInput, OutOfReach):  # whose ways out are those of linear attention
        known = "Affine, ReLU or a link that SymPy reads; optimal_window has the optimum at the factor 1"
        raise OutOfReach(f"law = {law!r}: the best factor needs E f(x)^2 as a formula, of {known}.") from None
    return moments.at(moments.power, d=d, L=getattr(law, "L", 1.0))
