r"""The loss as bias plus noise: symbolically for any weights, and by sampling tokens, tasks and noise together."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, problem, weights

BATCHES = 32
"""Number of batches of contexts; the spread of their means gives the error."""


def gap(shared: str = "0") -> Any:
    """L - (B + N) for any n, tokens, weights a and function: means over the label noise alone, whose correlation is `shared`."""
    from fractions import Fraction

    from lipverify.proofs import identity as unit
    from lipverify.proofs import leftover, letters

    s, rho = letters(a="n 1", f="n 1", e="n 1", one="n 1", target="", variance=""), Fraction(shared)
    covariance = s.variance * ((1 - rho) * unit("n") + rho * s.one @ s.one.T)
    loss = ((s.f + s.e).T @ s.a - s.target) ** 2
    noise = (s.e.T @ s.a) ** 2
    bias = (s.f.T @ s.a - s.target) ** 2
    independent = s.variance * s.a.T @ s.a
    derived = (loss.mean(s.e, covariance), noise.mean(s.e, covariance))
    return leftover(derived, (bias + independent, independent), "n")


def noise_share(law: str, d: int, n: int, w: float, contexts: int, seed: int) -> Value:
    """(L - B) / N: L from sampled tokens, tasks and noise, B and N from the exact method."""
    from lipverify.sampling import draw_contexts, draw_labels, mean_interval

    here, stream = problem(law, d, n), f"split/{law}/{d}"
    losses = []
    for batch in range(BATCHES):
        drawn = draw_contexts(here, contexts // BATCHES, seed, stream, batch)
        labels, target = draw_labels(here, drawn, seed, stream, batch)
        a = weights(drawn, w * np.eye(d))
        losses.append(np.mean((np.sum(a * labels, axis=1) - target) ** 2))
    (loss, error), terms = mean_interval(np.array(losses)), lv.loss_terms(here, w)
    return (loss - float(terms.bias)) / float(terms.noise), error / float(terms.noise)
