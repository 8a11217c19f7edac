r"""The blocks of A = K^T Q = [[M, u], [r^T, c]] after training K and Q, and the loss as a function of the row r near r = 0."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, problem

RECIPES: dict[str, dict[str, Any]] = {
    "gd": {"optimiser": "gd", "learning_rate": 0.3, "batch": 64, "size": 0.3},
    "adam": {"optimiser": "adam", "learning_rate": 0.02, "batch": 64, "size": 0.3},
    "small": {"optimiser": "adam", "learning_rate": 0.02, "batch": 64, "size": 0.03},
    "small, fast": {"optimiser": "adam", "learning_rate": 0.04, "batch": 128, "size": 0.03},
}
"""The size is the standard deviation of the initial keys and queries; 0.3 is close to the default of libraries, 1/sqrt(3 (d + 1))."""
LEVEL = 0.99
STEPS = 300


def trained(law: str, d: int, recipe: str, runs: int, fresh: int, seed: int) -> dict[str, Any]:
    """Blocks of A = K^T Q = [[M, u], [r^T, c]] after training K and Q: means over runs with half-widths at 99 %.

    "row" is |r| / |M| at the end and "row fell" the log change of |r|, "column" is |u| / |M|; "curvature" is the second
    derivative of the loss in r at r = 0 and the trained M, on fresh contexts; "unseen" is the largest change of an
    entry of the last column of Q, which is multiplied by the query's empty label slot.
    """
    from lipverify.checks.softmax.full_form import curvature_in_row, draw_labelled, train_full
    from lipverify.sampling import mean_interval

    tasks, streams = task(law, d), [f"form/{law}/{d}/{k}" for k in range(runs)]
    trainings = train_full(tasks, streams, steps=STEPS, every=STEPS, seed=seed, **RECIPES[recipe])
    keys, queries = (np.array([getattr(run, name) for run in trainings]) for name in ("keys", "queries"))
    A = np.swapaxes(keys, 2, 3) @ queries
    scale = np.linalg.norm(A[..., :d, :d], 2, axis=(2, 3))
    row, column = (np.linalg.norm(part, axis=2) / scale for part in (A[..., d, :d], A[..., :d, d]))
    curvatures = [
        curvature_in_row(draw_labelled(tasks, fresh, seed, f"{stream}/curvature"), M)
        for stream, M in zip(streams, A[:, -1, :d, :d], strict=True)
    ]
    return {
        "row": mean_interval(row[:, -1], LEVEL),
        "row fell": mean_interval(np.log(row[:, -1] / row[:, 0]), LEVEL),
        "column": mean_interval(column[:, -1], LEVEL),
        "curvature": mean_interval(np.array(curvatures), LEVEL),
        "unseen": (float(np.max(np.abs(queries[..., d] - queries[:, :1, :, d]))), 0.0),
    }


def slope_in_row(law: str, d: int, seed: int, twice: bool = False) -> Value:
    """gradient in r| at r = 0 on contexts with their mirror images, divided by that on the contexts alone; or without mirroring.

    The error is the rounding of sums over 400 contexts of 16 tokens.
    """
    from lipverify.checks.softmax.full_form import draw_labelled, full_loss_and_gradient, mirrored
    from lipverify.sampling import normals

    drawn, A = draw_labelled(task(law, d), 400, seed, f"slope/{law}/{d}"), np.zeros((d + 1, d + 1))
    A[:d, :d] = 2.0 * normals(seed, f"slope/{law}/{d}/matrix", 0, (d, d))
    one, other = (full_loss_and_gradient(each, A)[1][d, :d] for each in (drawn, drawn if twice else mirrored(drawn)))
    return float(np.linalg.norm(one + other) / np.linalg.norm(one)), 64 * float(np.finfo(float).eps)


def task(law: str, d: int) -> lv.Problem:
    return problem(law, d, 16, L=3.0, sigma=0.5)
