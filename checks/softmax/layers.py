r"""Several layers of attention alone: how fast tokens come together, and which tokens the weights on labels depend on."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.checks.softmax.quantities import Value

CONTEXTS, LAYERS = 20, 6
ROUNDING = 1e-12
"""The error of a quotient of two distances of at least a thousandth: each is a sum of a few dozen terms."""


def contraction(w: float, d: int, n: int, seed: int, residual: str = "no") -> Value:
    """The largest diameter after a layer divided by that before it, for sampled tokens and two antipodes; `residual` adds x_i."""
    from lipverify.sampling import normals

    drawn = normals(seed, f"depth/{d}/{n}", 0, (CONTEXTS, n, d))
    tokens = list(drawn / np.linalg.norm(drawn, axis=-1, keepdims=True))
    poles = np.zeros((2, d))
    poles[:, 0] = 1, -1
    largest = 0.0
    for x in [poles, *tokens]:
        for _ in range(LAYERS):
            before = diameter(x)
            if before < 1e-3:
                break
            x = attended(x, w) + (x if residual == "yes" else 0)
            largest = max(largest, diameter(x) / before)
    return largest, ROUNDING


def attended(x: np.ndarray, w: float) -> np.ndarray:
    """x_i <- sum_j a_ij x_j with the softmax of w <x_i, x_j>."""
    scores = w * x @ x.T
    a = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(a / a.sum(axis=1, keepdims=True) @ x)


def diameter(x: np.ndarray) -> float:
    return float(np.linalg.norm(x[:, None] - x[None], axis=-1).max())


def odds_moved(w: float, layers: int) -> Any:
    """The change of |log(b_1 / b_2)| when a third token moves, b the query's weights on labels; in the plane, by balls."""
    from flint import arb, arb_mat

    def odds(third: str) -> Any:
        angles = [arb(each) for each in ("0.3", "-0.9", third, "0")]  # three tokens and the query
        x = arb_mat([[each.cos(), each.sin()] for each in angles])
        labels = arb_mat([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
        for _ in range(layers):
            keys = arb_mat([[x[i, k] for k in range(2)] for i in range(3)])  # the query is never a key
            seen = arb_mat([[labels[i, k] for k in range(3)] for i in range(3)])
            shares = [[(arb(w) * (x * keys.transpose())[i, j]).exp() for j in range(3)] for i in range(4)]
            a = arb_mat([[each / sum(row, arb(0)) for each in row] for row in shares])
            x, labels = a * keys, a * seen
        return (labels[3, 0] / labels[3, 1]).log()

    return abs(odds("1.5") - odds("2.5"))
