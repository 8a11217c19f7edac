r"""Attention with kernels of bounded support on linear tasks."""

from __future__ import annotations

from typing import Any

import lipverify as lv
from lipverify.checks.softmax.quantities import Value

KERNELS = {"box": lv.attention.Box(), "epanechnikov": lv.attention.Epanechnikov()}


def terms(kernel: str, d: int, n: float, w: float) -> dict[str, Value]:
    """B / L^2 and the loss on linear tasks, by the exact method."""
    problem = lv.Problem(d=d, n=n, law=lv.laws.Linear(), sigma=1.0)
    found = lv.loss_terms(problem, w, attention=KERNELS[kernel])
    return {
        "bias": (float(found.bias), float(found.bias_error)),
        "loss": (float(found.total), float(found.total_error)),
    }


def sampled(kernel: str, d: int, n: float, w: float, contexts: int, seed: int) -> dict[str, Value]:
    """B / L^2 on sampled contexts."""
    problem = lv.Problem(d=d, n=n, law=lv.laws.Linear(), sigma=1.0)
    drawn: dict[str, Any] = {"contexts": contexts, "seed": seed, "stream": f"kernels/{kernel}/{d}/{n}/{w}"}
    found = lv.loss_terms(problem, w, "montecarlo", attention=KERNELS[kernel], **drawn)
    return {"bias": (float(found.bias), float(found.bias_error))}


def at_rate(kernel: str, d: int, n: float) -> Value:
    """The loss at w = n^(2/(d + 3)), which has the order of the best w of softmax attention."""
    return terms(kernel, d, n, n ** (2 / (d + 3)))["loss"]
