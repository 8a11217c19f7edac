r"""The largest bias of an L-Lipschitz task. The worst task oscillates everywhere, with a period of about w^(-1/2)."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value

EPS = float(np.finfo(float).eps)
LENGTH = reduce(lambda x, _: math.log1p(2 * x), range(100), 1.0)
"""x with e^x = 1 + 2x, where (1 - e^-x)^2 / 2x is largest."""
LARGEST = round(2 * LENGTH / (1 + 2 * LENGTH) ** 2, 4)
"""The largest value: the limit of w sup B / L^2."""


def worst(d: int, w: float, query: str = "any") -> dict[str, Value]:
    """Bounds of sup B / L^2 over all L-Lipschitz f, and w times the upper one, n = w^(d/2 + 1).

    f is one function for every query; with `query` = "one" f may depend on the query.
    """
    from lipverify.loss import worst_bias

    bias = worst_bias(d, min(round(w ** (d / 2 + 1)), 1e30), w)
    high, error = (bias.high, bias.high_error) if query == "any" else (bias.value, bias.error)
    return {
        "high": (float(high), float(error)),
        "low": (float(bias.low), float(bias.low_error)),
        "scaled": (w * float(high), w * float(error)),
    }


def worst_at(d: int, n: float, w: float) -> Value:
    """The upper bound of sup B / L^2 at a given n."""
    from lipverify.loss import worst_bias

    bias = worst_bias(d, n, w)
    return float(bias.high), float(bias.high_error)


def sampled_worst(d: int, n: float, w: float, contexts: int, seed: int, backend: str) -> Value:
    """sup B / L^2 on sampled tokens: the largest bias of a field of one degree up to 8, divided by its E |grad f|^2."""
    lows, highs = [], []
    for k in range(1, 9):
        law = lv.laws.Zonal(spectrum=(0.0,) * k + (1 / (k * (k + d - 2)),))
        drawn: dict[str, Any] = {
            "contexts": contexts,
            "seed": seed,
            "backend": backend,
            "stream": f"harmonic/{k}/{d}/{n}",
        }
        terms = lv.loss_terms(lv.Problem(d=d, n=n, law=law, sigma=1.0), w, "montecarlo", **drawn)
        lows.append(float(terms.bias - terms.bias_error))
        highs.append(float(terms.bias + terms.bias_error))
    return (max(lows) + max(highs)) / 2, (max(highs) - max(lows)) / 2 * (1 + EPS)
