r"""Measurements on M = M_K^T M_Q as its inner dimension r grows: descents on the factors, all on the same contexts."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from lipverify.claims.softmax.rays import problem
from lipverify.loss.attention import attention_named
from lipverify.loss.streams import normals
from lipverify.optimum import optimal_matrix
from lipverify.optimum.jackknife import mean_interval
from lipverify.optimum.matrix.sampled import SampledLoss, draw_loss

Floats = NDArray[np.float64]

STARTS, SMALL = 3, 0.3
"""Descents for each width, and the size of the entries that they start from, times r^{-1/4}: M is then of one size."""


class Factored(msgspec.Struct, frozen=True, kw_only=True):
    """What a descent on the factors reaches, against the minimum over all matrices on the same contexts.

    `excess` is the mean over contexts of the loss reached less the minimum, over the minimum, with the half-width of
    its 95 % interval; `distance` is the largest entry of the difference of the matrices, in units of the 95 %
    half-width that sampling leaves in it. `gradient` is the largest entry of the gradient in M, 0 at any minimum.
    """

    excess: tuple[float, float]
    distance: float
    gradient: float
    least: float


def factored_descent(law: str, d: int, n: int, width: int, contexts: int, seed: int) -> Factored:
    """The best of a few descents (L-BFGS) on M_K and M_Q, both width x d, from small random starts."""
    p, address = problem(law, d, n), f"width/{law}/{d}/{n}"
    free = optimal_matrix(p, contexts=contexts, starts=2, use_symmetry=False, seed=seed, cell=address)
    # the same draws as those of the minimiser over M
    loss = draw_loss(p, attention_named("softmax"), contexts, seed, f"{address}/matrix")
    ends = [_descend(loss, d, width, seed, f"{address}/{width}/{start}") for start in range(STARTS)]
    M = min(ends, key=lambda end: loss(end)[0])
    least = loss(free.M_raw)[0]
    excess, error = mean_interval(loss.of_batches(M) - loss.of_batches(free.M_raw))
    return Factored(
        excess=(excess / least, error / least),
        distance=float(np.max(np.abs(M - free.M_raw) / free.M_raw_error)),
        gradient=float(np.max(np.abs(loss(M)[1]))),
        least=least,
    )


def _descend(loss: SampledLoss, d: int, width: int, seed: int, address: str) -> Floats:
    """M where a descent on the factors ends; dL/dM_K = M_Q (dL/dM)^T and dL/dM_Q = M_K dL/dM."""

    def objective(flat: Floats) -> tuple[float, Floats]:
        K, Q = flat.reshape(2, width, d)
        value, gradient = loss(K.T @ Q)
        return value, np.concatenate([(Q @ gradient.T).ravel(), (K @ gradient).ravel()])

    start = SMALL / width**0.25 * normals(seed, address, 0, (2 * width * d,))
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-13, "gtol": 1e-7, "maxiter": 2000}
    )
    K, Q = found.x.reshape(2, width, d)
    return np.asarray(K.T @ Q)
