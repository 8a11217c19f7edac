r"""The decomposition: the loss is bias plus noise, and the noise is sigma^2 E sum_i a_i^2."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.claims import Source, bound, claim, identity

Value = tuple[float, float]
BATCHES = 32


def gap(shared: str = "0") -> Any:
    """L - (B + N) for any n, tokens, weights a and function: means over the noise alone, whose labels are so correlated."""
    from fractions import Fraction

    from lipverify.proofs.words import identity as unit
    from lipverify.proofs.words import leftover, letters

    s, rho = letters(a="n 1", f="n 1", e="n 1", one="n 1", target="", variance=""), Fraction(shared)
    covariance = s.variance * ((1 - rho) * unit("n") + rho * s.one @ s.one.T)
    loss = ((s.f + s.e).T @ s.a - s.target) ** 2
    noise = (s.e.T @ s.a) ** 2
    bias = (s.f.T @ s.a - s.target) ** 2
    independent = s.variance * s.a.T @ s.a
    derived = (loss.mean(s.e, covariance), noise.mean(s.e, covariance))
    return leftover(derived, (bias + independent, independent), "n")


def noise_share(law: str, d: int, n: int, w: float, contexts: int, seed: int) -> Value:
    """(L - B) / N: L from tokens, tasks and noise that are all drawn, B and N exactly."""
    from lipverify.foundation.means.batches import mean_interval
    from lipverify.loss.attention import scores, softmax_weights
    from lipverify.loss.montecarlo.contexts import draw_contexts, draw_labels

    problem, stream = lv.Problem(d=d, n=n, law=lv.laws.law_named(law), sigma=1.0), f"split/{law}/{d}"
    losses = []
    for batch in range(BATCHES):
        drawn = draw_contexts(problem, contexts // BATCHES, seed, stream, batch)
        labels, target = draw_labels(problem, drawn, seed, stream, batch)
        a = softmax_weights(scores(drawn, w * np.eye(d), np), np)
        losses.append(np.mean((np.sum(a * labels, axis=1) - target) ** 2))
    (loss, error), terms = mean_interval(np.array(losses)), lv.loss_terms(problem, w)
    return (loss - float(terms.bias)) / float(terms.noise), error / float(terms.noise)


SOURCE = Source(
    "S",
    "Decomposition",
    r"$\mathcal{L}(\mathbf{M}) = \mathcal{L}_{bias}(\mathbf{M}) + \mathcal{L}_{noise}(\mathbf{M})$, "
    r"$\mathcal{L}_{noise} = \mathbb{E} (\sum_i \epsilon_i a_i)^2$; $\mathcal{L}_{noise} = \sigma^2 \sum_i a_i^2$",
)
SPLITS = r"\mathcal{L}(w) = B(w) + N(w), \qquad N(w) = \sigma^2\, \mathbb{E} \sum_i a_i^2"
NOISE = r"noise centred, of variance $\sigma^2$, independent of tokens and task and between tokens"

claim(
    "softmax.split",
    identity(gap, r"\mathcal{L} - (B + N),\ N - \sigma^2 \sum_i a_i^2", control={"shared": "1/10"}),
    source=SOURCE,
    kind="printed",
    expected="supported",
    title="The loss splits into bias and noise",
    statement=SPLITS,
    assumes=(NOISE, "tokens, query, function and attention weights are anything, and so is the number of tokens"),
    finding="The cross term is linear in the noise, which is centred and independent of tokens and task, so it vanishes "
    r"before anything else is averaged; independence between tokens leaves $\sigma^2 \sum_i a_i^2$.",
)
claim(
    "softmax.split/sampled",
    bound(
        noise_share, r"(\mathcal{L} - B) / N", equals=1, within=0.05, method="montecarlo",
        over={"law": ("affine", "relu"), "d": (2, 5, 8), "n": 20, "w": 5.0},
    ),
    source=SOURCE,
    kind="derived",
    expected="supported",
    title="What is sampled splits into bias and noise",
    statement=SPLITS,
    assumes=(NOISE, r"tokens and query uniform on $S^{d-1}$, $\mathbf{M} = w \mathbf{I}$, normal noise, $L = \sigma = 1$"),
    finding="Tokens, tasks and noise are drawn; bias and noise are those of the exact method.",
)  # fmt: skip
