r"""Affine tasks of three Lipschitz constants: the optimal w of each, and its loss on each, against the number of tokens."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, at_tuned, problem
from lipverify.claims import agree

LEVELS = (1.0, 3.0, 10.0)
PAIRS = [(trained, tested) for trained in LEVELS for tested in LEVELS if trained != tested]
TUNED_AT = 100
"""The context length for which the fixed w is tuned."""
LENGTHS = tuple(10.0**k for k in range(2, 11))
"""The context lengths in the figure."""


def affine(L: float, d: int, n: float) -> lv.Problem:
    """Affine tasks with Lipschitz constant L, at sigma = 1."""
    return problem("affine", d, n, L)


def table(d: int, n: float) -> dict[str, Value]:
    """The optimal w of each L, its loss on each L, and that loss divided by the minimal one."""
    from lipverify.optimum import transfers

    return transfers({f"{L:g}": affine(L, d, n) for L in LEVELS})


def apart(L: float, larger: float, d: int, n: float) -> Value:
    """w* at the larger of two Lipschitz constants divided by that at the smaller."""
    narrow, wide = (lv.optimal_window(affine(constant, d, n)) for constant in (larger, L))
    return narrow.w / wide.w, (narrow.w_error + wide.w_error * narrow.w / wide.w) / wide.w


def reached(L: float, d: int, n: int, steps: int) -> Value:
    """w after gradient descent on the exact loss, divided by w*."""
    from lipverify.checks.softmax.norms import descended_window
    from lipverify.optimum import Recipe

    tasks = affine(L, d, n)
    best = lv.optimal_window(tasks)
    recipe = Recipe(optimiser="gd", learning_rate=20 / L**2, steps=steps, batch=1, start=0.1)
    w, error = descended_window(tasks, recipe, reach=1.5 * best.w)
    return w / best.w, (error + best.w_error * w / best.w) / best.w


def tables(d: int) -> list[dict[str, Value]]:
    """The values of `table` at each of `LENGTHS`."""
    return [table(d, n) for n in LENGTHS]


def sampled(
    trained: float, tested: float, d: int, n: float, contexts: int, seed: int, backend: str
) -> dict[str, Value]:
    """The loss of the optimal w of one L on another L, on sampled contexts."""
    drawn = {"contexts": contexts, "seed": seed, "backend": backend, "stream": f"transfer/{trained}/{tested}/{d}/{n:g}"}
    loss = at_tuned(affine(trained, d, n), affine(tested, d, n), "montecarlo", **drawn)
    return {f"loss of {trained:g} on {tested:g}": loss}


def leading(trained: float, tested: float, d: int, n: float) -> dict[str, Value]:
    return {f"loss of {trained:g} on {tested:g}": at_tuned(affine(trained, d, n), affine(tested, d, n))}


def fixed(d: int, n: float) -> Value:
    """The loss at n tokens with the w tuned at 100 tokens, L = 1."""
    from lipverify.optimum import transferred_loss

    return transferred_loss(lv.optimal_window(affine(1.0, d, TUNED_AT)), affine(1.0, d, n))


def floor(d: int, n: float) -> Value:
    """Its limit, the bias (1/3d) (1 - I_{d/2}(w) / I_{d/2-1}(w))^2, in closed form."""
    from scipy.special import ive

    tuned = lv.optimal_window(affine(1.0, d, TUNED_AT))
    short = 1 - ive(d / 2, tuned.w) / ive(d / 2 - 1, tuned.w)
    # the bias falls no faster than w^-2, so an error of w counts at most twice; the noise term that is left is about w^{(d-1)/2} / n
    error = 2 * tuned.w_error / tuned.w + 64 * float(np.finfo(float).eps) / short
    return float(short**2 / (3 * d)), float(short**2 / (3 * d) * error + tuned.w ** (d / 2) / n)


def agreed(trained: float, tested: float) -> Any:
    """A loss by sampling at 100 tokens, and from the leading terms at 1e30."""
    pair = {"trained": trained, "tested": tested, "d": 5}
    loss = "loss of {trained} on {tested}"
    return (
        agree(table, sampled, r"\mathrm{loss}", of=loss, over={**pair, "n": 100.0}),
        agree(table, leading, r"\mathrm{loss}", of=loss, over={**pair, "n": 1e30}),
    )
