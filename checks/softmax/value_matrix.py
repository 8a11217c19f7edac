r"""The value matrix: its last row (v, c), and the v and c of the minimal loss, by the exact method, by sampling and by balls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, problem, weights

OFFSET_VARIANCE = {"offset": 1 / 3, "no-offset": 0.0}
"""The variance of the offset b at L = 1: of b ~ Unif[-L, L] as on the slides, and without an offset."""
BATCHES = 16
"""Number of batches of contexts; the spread of their means gives the error."""


def change(last: int = 0) -> Any:
    """The last entry of W_V sum_i a_i z_i for two matrices W_V minus each other; their last rows are equal unless `last` is 1."""
    from lipverify.proofs import leftover, letters

    s = letters(
        X="d n", y="n 1", a="n 1", A="d d", b="d 1", v="d 1", c="", A2="d d", b2="d 1", v2="d 1", c2="", up="1 d", e=""
    )
    means = s.X @ s.a, s.y.T @ s.a

    def out(A: Any, b: Any, v: Any, c: Any) -> Any:
        above, below = A @ means[0] + b * means[1], v.T @ means[0] + c * means[1]
        return s.up @ above + s.e * below  # read by a row (up, e), which is (0, 1) for the last entry

    last_weights = (s.v2, s.c2) if last else (s.v, s.c)
    read = (out(s.A, s.b, s.v, s.c) - out(s.A2, s.b2, *last_weights)).without(s.up)
    return leftover(read, 0 * s.e, "d n")


def loss_in_v(mean: int = 0) -> Any:
    """The loss at v minus that at v = 0 minus a mean square, for every d, n, c and attention: f from `amplitudes` g_1, g_2.

    f = l_1 g_1 + l_2 g_2 + b covers the ReLU law (g_1 = <q, x>_+, g_2 = <-q, x>_+) and the affine law. Amplitudes,
    offset and noise are symmetric about 0 and independent of q and the tokens, unless l_1 has a `mean`.
    """
    from lipverify.proofs import leftover, letters

    s = letters(X="d n", a="n 1", v="d 1", c="", G="n k", g="k 1", l="k 1", one="n 1", b="", e="n 1", centre="k 1")
    amplitudes = s.l + mean * s.centre
    labels, target = s.G @ amplitudes + s.b * s.one + s.e, s.g.T @ amplitudes + s.b
    least = s.c * labels.T @ s.a - target
    loss = (least + s.v.T @ s.X @ s.a) ** 2 - least**2
    return leftover(loss.even(s.l, s.b, s.e), (s.v.T @ s.X @ s.a) ** 2, "d n")


def drawn_weights(here: lv.Problem, contexts: int, seed: int, stream: str) -> Iterator[tuple[int, Any, np.ndarray]]:
    """The number of each batch, its contexts, and their attention at w*."""
    from lipverify.sampling import draw_contexts

    M = lv.optimal_window(here).w * np.eye(here.d)
    for batch in range(BATCHES):
        drawn = draw_contexts(here, contexts // BATCHES, seed, stream, batch)
        yield batch, drawn, weights(drawn, M)


def best_scale(law: str, reading: str, d: int, n: float) -> dict[str, Value]:
    """The c that minimises the loss at w*, by the exact method."""
    from lipverify.loss import scaled_loss
    from lipverify.optimum import at_optima

    here = problem(law, d, n)

    def of(w: Any) -> tuple[Any, Any]:
        scaled = scaled_loss(here, w, OFFSET_VARIANCE[reading])
        return scaled.excess, scaled.excess_error

    ((excess, error),) = at_optima([lv.optimal_window(here)], of)
    return {"c": (1 + excess, error), "excess": (excess, error)}


def proved_scale(law: str, d: int, n: int) -> dict[str, Any]:
    """c* - 1 at every minimiser w*, by balls, for each reading."""
    from lipverify.claims import proved_optimum

    here = problem(law, d, n)
    proofs = {
        reading: proved_optimum(f"scale-{law}-{d}-{n}-{reading}", here, variance)
        for reading, variance in OFFSET_VARIANCE.items()
    }
    return {reading: proof.fact("excess") for reading, proof in proofs.items()}


def sampled_scale(law: str, d: int, n: int, contexts: int, seed: int) -> dict[str, Value]:
    """c* for each reading, from the prediction and its product with f(x) on sampled contexts."""
    from lipverify.sampling import jackknife

    here = problem(law, d, n)
    v = here.law.amplitude_variance
    squares, products = np.zeros(BATCHES), np.zeros(BATCHES)
    for batch, drawn, a in drawn_weights(here, contexts, seed, f"scale/{law}/{d}/{n}"):
        squares[batch] += np.mean(np.sum(a * a, axis=1))
        for f, target in zip(drawn.values, drawn.targets, strict=True):
            prediction = np.sum(a * f, axis=1)
            squares[batch] += v * np.mean(prediction**2)
            products[batch] += v * np.mean(prediction * target)

    def best(offset_variance: float) -> Value:
        with_offset, all_squares = products + offset_variance, squares + offset_variance
        left_out = (with_offset.sum() - with_offset) / (all_squares.sum() - all_squares)
        value, error = jackknife(with_offset.sum() / all_squares.sum(), left_out)
        return float(value), float(error)

    return {reading: best(variance) for reading, variance in OFFSET_VARIANCE.items()}


def joint(law: str, reading: str, d: int, n: float) -> dict[str, Value]:
    """The minimiser over w and c jointly, by the exact method."""
    from lipverify.optimum import optimal_scale

    here = problem(law, d, n)
    optimum = optimal_scale(here, OFFSET_VARIANCE[reading])
    product, relative = 2 * optimum.w * optimum.excess / (d - 1), optimum.w_error / optimum.w
    return {
        "w": (optimum.w, optimum.w_error),
        "excess": (optimum.excess, optimum.excess_error),
        "product": (product, product * (relative + optimum.excess_error / optimum.excess)),
        "loss": (optimum.loss, optimum.loss_error),
    }
