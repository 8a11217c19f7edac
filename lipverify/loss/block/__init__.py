"""The loss at M = c BB^T + c' (I - BB^T) for f(x) = a^T B^T x, by quadrature whose cost does not depend on n.

Notation: B has k orthonormal columns in R^d, a is uniform on S^{k-1}, z = B^T x for the query and z_i = B^T x_i for a
token, e = z / |z|, and the score of token i is x_i^T M x.

1. *The task averages out.* E_a (a^T y)^2 = |y|^2 / k, so

       B = (L^2 / k) E |sum_i a_i z_i - z|^2,        N = sigma^2 E sum_i a_i^2.

2. *Only the part of z_i along e and its distance count.* Given the query, both laws of the covariates are invariant
   under the rotations of col(B) that fix e, and so is the score. Hence E[z_i - z | score] is a multiple of e, and with

       gap(score) = E[<e, z - z_i> | score],        square(score) = E[|z - z_i|^2 | score]

   the tokens, which are independent given the query, contribute

       E |sum_i a_i z_i - z|^2 = E sum_i a_i^2 square_i + E sum_{i != j} a_i a_j gap_i gap_j.

3. *Product of spheres*, x = c_u B u + c_v B' v, where the columns of B' span the orthogonal complement of those of B.
   The score is c c_u^2 t + c' c_v^2 t' with independent coordinates t = <u_i, u> on S^{k-1} and t' = <v_i, v> on
   S^{d-k-1}; gap = c_u (1 - t) and square = 2 c_u^2 (1 - t). No average over queries is left. S^0 is the two points -1
   and 1.

4. *Uniform on S^{d-1}.* With s = |z|^2 ~ Beta(k/2, (d-k)/2) for the query, M x has the length
   omega = (c^2 s + c'^2 (1 - s))^{1/2} and the share cos = c s^{1/2} / omega along e, and the score is omega t with t
   the coordinate of x_i along M x. Given t, the part of x_i orthogonal to M x is uniform on its sphere, so that
   E[<e, z_i> | t] = t cos and the remaining variance of z_i is (1 - t^2)(k - cos^2) / (d - 1):

       gap = s^{1/2} - t cos,        square = gap^2 + (1 - t^2) (k - cos^2) / (d - 1).

   The loss needs one scalar per token and one for the query. (For M = w I this is the isotropic loss, whatever s.)

5. *n is an exponent.* 1/S^2 = int_0^infty lambda e^{-lambda S} dlambda turns both sums into integrals over lambda of
   averages over a single token, see `reduction`. Nothing changes at sigma = 0, or at n = 2, where phi^{n-2} = 1 and the
   tests compare with the weights written out, a_1 = 1/2 + h and a_2 = 1/2 - h with h = tanh((score_1 - score_2)/2)/2.

6. *Sign.* Both terms are even in c': reverse v for the product, and only c'^2 enters on the sphere. So c' = 0 is always
   stationary, and whether it is a minimum shows in the slope along c'^2.

Both terms are computed twice, by rules that share no node (other orders over the token and over the query, points over
log lambda half a step apart). The finer value is the result; the difference plus a bound on rounding is its error. If
the error is not small, the orders are raised; if that does not help, the large error is reported.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import numbers
from lipverify.loss.block.reduction import Reduction, reduction_of
from lipverify.loss.terms import Terms
from lipverify.problem import Problem
from lipverify.problem.problem import require_problem

ORDERS = (16, 24, 36, 54, 80, 120, 180)
"""Orders of the rules, tried in order until two agree, each half larger than the one before."""
LARGEST_SPREAD = 200.0
"""The largest spread of scores: a rule over the sphere needs about as many nodes as scores spread."""


class BlockTerms(Terms, frozen=True, kw_only=True):
    """B + N at M = c BB^T + c' (I - BB^T); arrays shaped like c and c' together, units of y squared.

    The errors are bounds that cover quadrature and rounding.
    """

    c: Any
    c_perp: Any


@makes("bounded", "exact")
def block_terms(problem: Problem, c: Any, c_perp: Any) -> BlockTerms:
    r"""Loss terms at M = c BB^T + c' (I - BB^T) for f(x) = a^T B^T x.

    Parameters
    ----------
    problem
        Its law is `LowRank(B)`; its covariates are `Sphere()` or `ProductOfSpheres(B, ...)` with the same columns.
    c, c_perp
        Finite real numbers, or arrays of them that broadcast: the scales along and across the columns of B.

    Returns
    -------
    BlockTerms
        Bias, noise and their errors, relative errors about 1e-13.

    Validity: d >= 2, 1 <= k <= d (k < d for the product), 1 <= n <= 1e30; cost grows with the spread of the scores,
    2 max(|c|, |c'|) on the sphere and 2 (|c| c_u^2 + |c'| c_v^2) on the product.

    Raises
    ------
    InvalidInput
        If the problem has no such reduction, or c or c' is not finite.
    OutOfReach
        If scores spread by more than 200.

    Source: the loss is equation (ICL) of Collins et al., slides, with the law of Theorem 4; the reduction is derived in
    `lipverify.loss.block`.

    Examples
    --------
    >>> from lipverify.laws import LowRank
    >>> terms = block_terms(Problem(d=2, n=1000, law=LowRank([[1.0], [0.0]]), sigma=0.5), c=3.0, c_perp=[0.0, 3.0])
    >>> terms.bias.round(6).tolist(), terms.noise.round(6).tolist()
    ([0.012379, 0.01836], [0.000525, 0.000706])
    """
    require_problem(problem)
    reduction, L = reduction_of(problem)
    grid = np.broadcast_arrays(numbers("c", c), numbers("c_perp", c_perp))
    units = np.array([[problem.sigma**2], [L**2]])
    parts = _evaluate(reduction, float(problem.n), np.ravel(grid[0]), np.ravel(grid[1]))
    rows = (np.reshape(row, grid[0].shape) for part in parts for row in units * part)
    terms = dict(zip(("noise", "bias", "noise_error", "bias_error"), rows, strict=True))
    return BlockTerms(problem=problem, c=grid[0], c_perp=grid[1], **terms)


def _evaluate(reduction: Reduction, n: float, c: Floats, c_perp: Floats) -> tuple[Floats, Floats]:
    """Noise over sigma^2 and bias over L^2, (2, pair), and errors, with orders raised until the two rules agree."""
    spread = reduction.spread(c, c_perp)
    if np.any(spread > LARGEST_SPREAD):
        worst = int(np.argmax(spread))
        raise OutOfReach(
            f"c = {c[worst]:g}, c_perp = {c_perp[worst]:g}: scores spread by {spread[worst]:.0f}, more than "
            f"{LARGEST_SPREAD:.0f}; method='montecarlo' with M has no such limit."
        )
    value, error = np.empty((2, 2, c.size))
    unsettled = np.arange(c.size)
    for order in ORDERS:
        pairs = c[unsettled], c_perp[unsettled]
        fine, rough = (np.stack(reduction.values(n, *pairs, order, fine)) for fine in (True, False))
        value[:, unsettled], error[:, unsettled] = fine, np.abs(fine - rough)
        unsettled = unsettled[np.any(np.abs(fine - rough) > 1e-11 * fine, axis=0)]
        if not unsettled.size:
            break
    # sums of products of a few hundred terms, and (n - 1) |log phi|, at most 42 where it counts, times its own rounding
    share = 256 * EPS + EPS * (42.0 + spread)
    return value, error + share * value


__all__ = ["BlockTerms", "block_terms"]
