r"""The matrix as a product M = M_K^T M_Q of two factors of any inner dimension, and descent on the factors."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, problem
from lipverify.claims import remembered

STARTS, SMALL = 3, 0.3
"""Number of descents for each width, and the size of their initial entries times r^{-1/4}, which keeps the size of M."""
NEAR, FLAT = 1e-3, 1e-4
"""The change of an entry behind a second derivative, and the share of the largest curvature that counts as none: factors
may be turned without a change of M."""


def factored(law: str, d: int, width: int, drawn: int, seed: int) -> dict[str, Value]:
    """The best of several descents on M_K and M_Q, both width x d, compared with the minimum over M on the same contexts.

    "excess" is the loss reached divided by the minimum, minus 1; "distance" the largest entry of M - M* in half-widths
    of its sampling error, with how far both are from where their descents would end; "gradient" the largest entry of
    the gradient in M, which is 0 at a minimum over M.
    """
    from lipverify.sampling import mean_interval

    loss, free = unfactored(law, d, drawn, seed)
    starts = [f"{address(law, d)}/{width}/{k}" for k in range(STARTS)]
    K, Q = min(
        (descended(loss, d, width, seed, start) for start in starts), key=lambda end: loss.mean(end[0].T @ end[1])
    )
    M, (to_K, to_Q) = K.T @ Q, newton_step(lambda factors: on_factors(loss, factors)[1], np.stack([K, Q]))
    to_end = np.abs(to_K.T @ Q + K.T @ to_Q) + np.abs(newton_step(lambda matrix: loss(matrix)[1], free.M_raw))
    distance, least = np.abs(M - free.M_raw), loss.mean(free.M_raw)
    excess, error = mean_interval(loss.of_batches(M) - loss.of_batches(free.M_raw))
    return {
        "excess": (excess / least, error / least),
        "distance": (float(np.max(distance / free.M_raw_error)), float(np.max(to_end / free.M_raw_error))),
        "gradient": (float(np.max(np.abs(loss(M)[1]))), 0.0),
    }


@remembered(maxsize=1)
def unfactored(law: str, d: int, drawn: int, seed: int) -> tuple[Any, lv.optimum.MatrixOptimum]:
    """The loss on the sampled contexts, the same for every width, and its minimum over all M."""
    from lipverify.sampling import draw_loss

    tasks, stream = problem(law, d, 20), address(law, d)
    free = lv.optimal_matrix(tasks, contexts=drawn, starts=2, use_symmetry=False, seed=seed, stream=stream)
    return draw_loss(tasks, "softmax", drawn, seed, f"{stream}/matrix"), free


def address(law: str, d: int) -> str:
    return f"width/{law}/{d}/20"


def descended(loss: Any, d: int, width: int, seed: int, address: str) -> Any:
    """The factors (M_K, M_Q) at which L-BFGS ends."""
    from scipy.optimize import minimize

    from lipverify.sampling import normals

    def objective(flat: Any) -> tuple[float, Any]:
        value, gradient = on_factors(loss, flat.reshape(2, width, d))
        return value, gradient.ravel()

    start = SMALL / width**0.25 * normals(seed, address, 0, (2 * width * d,))
    limits = {"ftol": 1e-13, "gtol": 1e-7, "maxiter": 2000}
    return minimize(objective, start, jac=True, method="L-BFGS-B", options=limits).x.reshape(2, width, d)


def on_factors(loss: Any, factors: Any) -> tuple[float, Any]:
    """The loss of M = M_K^T M_Q and its gradient: dL/dM_K = M_Q (dL/dM)^T and dL/dM_Q = M_K dL/dM."""
    K, Q = factors
    value, gradient = loss(K.T @ Q)
    return value, np.stack([Q @ gradient.T, K @ gradient])


def newton_step(gradient: Any, x: Any) -> Any:
    """The step of Newton's method from x, with second derivatives by differences; 0 in directions without curvature."""
    sides = [(gradient(x + e), gradient(x - e)) for e in NEAR * np.eye(x.size).reshape(x.size, *x.shape)]
    curvature = np.stack([(above - below).ravel() for above, below in sides]) / (2 * NEAR)
    return -np.linalg.lstsq(curvature, gradient(x).ravel(), rcond=FLAT)[0].reshape(x.shape)
