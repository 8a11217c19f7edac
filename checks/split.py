r"""The decomposition: the loss is bias plus noise, and the noise is sigma^2 E sum_i a_i^2."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.claims import Source, bound, claim, identity

Value = tuple[float, float]
BATCHES = 32


def gap(n: int, shared: float = 0) -> Any:
    """L - (B + N) for any tokens, weights and function, averaged over the noise alone; its largest coefficient.

    The noise of two labels has the correlation `shared`.
    """
    import sympy

    a, f, e = (sympy.symbols(f"{letter}1:{n + 1}") for letter in "afe")
    target, sigma = sympy.symbols("f0 sigma")
    error = sum(a[i] * (f[i] + e[i]) for i in range(n)) - target
    clean = dict.fromkeys(e, 0)
    moments = sympy.Matrix(n, n, lambda i, j: sigma**2 * (1 if i == j else sympy.nsimplify(shared)))
    # the squared error is a quadratic in the noise, whose mean is zero
    loss = error.subs(clean) ** 2 + sum(
        sympy.diff(error**2, e[i], e[j]) * moments[i, j] / 2 for i in range(n) for j in range(n)
    )
    return loss - error.subs(clean) ** 2 - sigma**2 * sum(each**2 for each in a)


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


claim(
    "softmax.split",
    bound(
        noise_share, r"(\mathcal{L} - B) / N", equals=1, within=0.05, method="montecarlo",
        over={"law": ("affine", "relu"), "d": (2, 5, 8), "n": 20, "w": 5.0},
    ),
    identity(gap, r"\mathcal{L} - (B + N)", control={"shared": 0.1}, over={"n": (2, 3, 4)}),
    source=Source(
        "S",
        "Decomposition",
        r"$\mathcal{L}(\mathbf{M}) = \mathcal{L}_{bias}(\mathbf{M}) + \mathcal{L}_{noise}(\mathbf{M})$, "
        r"$\mathcal{L}_{noise} = \mathbb{E} (\sum_i \epsilon_i a_i)^2$; $\mathcal{L}_{noise} = \sigma^2 \sum_i a_i^2$",
    ),
    kind="printed",
    expected="supported",
    title="The loss splits into bias and noise",
    statement=r"\mathcal{L}(w) = B(w) + N(w), \qquad N(w) = \sigma^2\, \mathbb{E} \sum_i a_i^2",
    assumes=(
        r"noise centred, of variance $\sigma^2$, independent of tokens and task and between tokens; in the algebra "
        "tokens, function and weights are anything",
        r"where it is sampled: tokens and query uniform on $S^{d-1}$, $\mathbf{M} = w \mathbf{I}$, normal noise, $L = \sigma = 1$",
    ),
    finding="The cross term is linear in the noise, which is centred and independent of tokens and task, so it vanishes "
    r"before anything else is averaged; independence between tokens leaves $\sigma^2 \sum_i a_i^2$.",
)  # fmt: skip
