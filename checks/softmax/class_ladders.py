r"""Ladders of class probabilities along which L or the label noise grows, and the optimal w along them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

LADDERS: dict[str, tuple[str, dict[str, Any], tuple[float, ...]]] = {
    "linear": ("L", {"link": "linear"}, (0.125, 0.25, 0.5)),
    "logistic": ("L", {"link": "logistic"}, (0.25, 0.5, 1.0)),
    "linear, flips": ("flip", {"link": "linear", "L": 0.5}, (0.0, 0.1, 0.2)),
    "logistic, flips": ("flip", {"link": "logistic", "L": 1.0}, (0.0, 0.1, 0.2)),
    "linear, base": ("base", {"link": "linear", "L": 0.2}, (0.2, 0.3, 0.5)),
    "waves": ("L", {"link": "cosine"}, (1.0, 2.0, 3.0, 4.0)),
    "few waves": ("L", {"link": "cosine"}, (1.25, 1.5, 2.5)),
}
"""The parameter that changes along the ladder, the fixed parameters, and the rungs. Flipping labels also lowers L; a
base rate nearer to 1/2 raises the noise at a fixed L. In "waves", 64 tokens on the sphere or 8 on the circle resolve
every rung but the last."""
SMOOTHINGS = (0.02, 0.1)
"""The eps of the cross-entropy of (1 - eps) hat p + eps / 2."""


def steps(*ladders: str) -> list[tuple[str, str]]:
    """Pairs (ladder, step) for all neighbouring rungs."""
    return [(name, step(name, k)) for name in ladders for k in range(len(LADDERS[name][2]) - 1)]


def step(ladder: str, k: int) -> str:
    """Name the step from rung k to the next.

    >>> step("linear", 0)
    'L 0.125 to 0.25'
    """
    name, _, rungs = LADDERS[ladder]
    return f"{name} {rungs[k]:g} to {rungs[k + 1]:g}"


def laws(ladder: str) -> list[Any]:
    from lipverify.checks.softmax.class_probabilities import ClassLaw

    name, fixed, rungs = LADDERS[ladder]
    return [ClassLaw(**(fixed | {name: rung})) for rung in rungs]


def exact_windows(ladder: str, d: int, n: int) -> dict[str, Any]:
    """The optimal w along a ladder for the Brier loss, by the exact method, as `named` lists it."""
    from lipverify.checks.softmax.ladder import exact_ladder

    return named(ladder, exact_ladder(laws(ladder), d, n))


def sampled_losses(ladder: str, d: int, n: int, contexts: int, seed: int) -> dict[str, list[list[list[float]]]]:
    """The losses at w from 0.1 to 410, on common draws, by loss and eps: an array by law, batch of contexts and w."""
    from lipverify.checks.softmax.ladder import brier, cross_entropy, losses_of_batches

    losses = {"brier 0": brier} | {f"cross-entropy {eps:g}": cross_entropy(eps) for eps in SMOOTHINGS}
    found = losses_of_batches(laws(ladder), d, n, list(losses.values()), contexts, seed)
    return dict(zip(losses, found.tolist(), strict=True))


def sampled_windows(ladder: str, d: int, n: int, loss: str, found: Any, eps: float = 0.0) -> dict[str, Any]:
    """The optimal w along a ladder, on common draws: for the Brier loss or the cross-entropy of (1 - eps) hat p + eps / 2."""
    from lipverify.checks.softmax.ladder import ladder_of

    return named(ladder, ladder_of(np.array(found[f"{loss} {eps:g}"])))


def named(ladder: str, found: Any) -> dict[str, Any]:
    """The change of log w* and of w* at each step, and w* of the middle rung."""
    result: dict[str, Any] = {step(ladder, k): change for k, change in enumerate(found.changes)}
    for k, ((low, low_error), (high, high_error)) in enumerate(pairwise(found.windows)):
        result[f"{step(ladder, k)}, w"] = (high - low, low_error + high_error)
    return result | {"middle": found.windows[1]}
