r"""A test of whether the data determine which part of a ball's boundary the minimiser lies on.

At a minimiser M over ||B^T M B||_2 <= C with gradient G, let u_j, v_j be the singular vectors of B^T M B to the
singular values that are C. There -u_i^T B^T G B v_j is a matrix of multipliers, symmetric and >= 0, and the other
singular values are below C. If all multipliers are clearly positive and all other singular values clearly below C, the
minimiser moves smoothly with the data. Otherwise the bound is active for some data and inactive for others, and a
jackknife, which sees only small changes of the data, reports too small an error.
"""

from __future__ import annotations

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.batches import jackknife, mean_interval
from lipverify.optimum.matrix.constraints import TOUCHING, Constraint, SpectralBall
from lipverify.optimum.matrix.descent import End
from lipverify.optimum.matrix.sampled import SampledLoss

CLEAR = 2.0
"""In half-widths of 95 % intervals: four standard errors and more."""


def settled(loss: SampledLoss, constraint: Constraint, best: End, left_out: list[End]) -> bool:
    """True if the data determine which singular values are at the bound."""
    if not isinstance(constraint, SpectralBall):
        return True
    B = constraint.basis(len(best.M))
    left, values, right = np.linalg.svd(B.T @ best.M @ B)
    at_bound = values >= constraint.C * (1 - TOUCHING)
    replicates = np.array([np.linalg.svd(B.T @ end.M @ B, compute_uv=False) for end in left_out])
    _, errors = jackknife(values, replicates)
    below = bool(np.all(values + CLEAR * errors < constraint.C, where=~at_bound))
    gradients = B.T @ loss.gradients_of_batches(best.M) @ B
    return below and _all_positive(-left[:, at_bound].T @ gradients @ right[at_bound].T)


def _all_positive(multipliers: Floats) -> bool:
    """True if a symmetric matrix, given by independent estimates (m, k, k), is clearly positive definite."""
    symmetric = (multipliers + multipliers.transpose(0, 2, 1)) / 2
    _, directions = np.linalg.eigh(symmetric.mean(axis=0))
    along = np.einsum("ik,bij,jk->kb", directions, symmetric, directions)
    return all(mean > CLEAR * error for mean, error in map(mean_interval, along))
