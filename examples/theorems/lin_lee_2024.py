"""Dual operating modes of in-context learning: early ascent, as tokens retrieve the wrong group of tasks.

From memory. Two groups of tasks, w ~ N(m, V) with inputs around M m, m = 1 or -1. The task is w = -1, with inputs like
those of m = 1: few tokens retrieve that group, many learn the task. The second method integrates on a grid.
"""

import numpy as np
from scipy.special import logsumexp

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim
from lipverify.sampling import generator, mean_with_half_width

PAPER = "Lin, Lee, ICML 2024, arXiv 2402.18819"
M, V, NOISE = 0.6, 0.1, 8.0  # inputs have variance 1 around a mean that has variance V itself


def drawn(k, mu, contexts, seed):
    rng = generator(seed, "lin-lee", 0)
    x = mu + rng.normal(size=(k + 1, contexts)).T
    return x, -x[:, :k] + NOISE**0.5 * rng.normal(size=(k, contexts)).T


def posterior(k, mu, contexts, seed):
    """The risk of the posterior mean: groups weighed by their evidence, tasks shifted within each."""
    x, y = drawn(k, mu, contexts, seed)
    xx, xy = np.sum(x[:, :k] ** 2, axis=1) / NOISE, np.sum(x[:, :k] * y, axis=1) / NOISE
    half_odds = M * x.sum(axis=1) / (1 + V * (k + 1)) + xy / (1 + V * xx)
    return mean_with_half_width(((np.tanh(half_odds) / V + xy) / (1 / V + xx) + 1) ** 2 * (mu**2 + 1))


def on_grid(k, mu, contexts, seed):
    (x, y), grid, log = drawn(k, mu, contexts // 40, seed + 1), np.linspace(-4, 4, 161), []
    for m in (1, -1):
        by_inputs = -np.sum((x[:, :, None] - grid) ** 2, axis=1) / 2 - (grid - M * m) ** 2 / (2 * V)
        by_labels = -np.sum((y[:, :, None] - x[:, :k, None] * grid) ** 2, axis=1) / (2 * NOISE)
        log.append(by_labels - (grid - m) ** 2 / (2 * V) + logsumexp(by_inputs, axis=1)[:, None])
    weights = np.exp(np.concatenate(log, axis=1) - logsumexp(log, axis=(0, 2))[:, None])
    loss = (weights @ np.tile(grid, 2) + 1) ** 2 * (mu**2 + 1)
    return mean_with_half_width(loss, bounds=(0, 25 * (mu**2 + 1)))


def rise(k, mu, contexts, seed):
    (after, one), (before, other) = posterior(k, mu, contexts, seed), posterior(0, mu, contexts, seed)
    return after - before, one + other


def picture(x=(1, 2, 3, 4, 5, 9, 17, 65)):
    y = tuple(float(posterior(k - 1, 0.6, 20_000, 0)[0]) for k in x)
    panel = Panel(title="", xlabel="$k + 1$", ylabel="risk", series=(Series(label=r"$\mu = 0.6$", x=x, y=y),))
    return Figure(caption="The risk rises before it falls.", alt="A rise, then a fall.", panels=(panel,))


# fmt: off
RISE = (PAPER, "early ascent", "a limited number of in-context samples may lead to the retrieval of an incorrect skill")
claim("lin-lee.ascent", bound(rise, "R_k - R_0", low=0, strict=True, control={"mu": 0.0}),
      agree(posterior, on_grid, "R_k", over={"k": (1, 4), "mu": 0.6}), over={"k": (2, 3, 4), "mu": (0.5, 0.6)},
      source=RISE, kind="derived", expected="supported", shows=at(picture))
claim("lin-lee.learning", bound(posterior, "R_k", high="8/k", control={"k": 64}), over={"k": (128, 512), "mu": 0.6},
      source=(PAPER, "task learning", "the risk diminishes as task learning takes effect with more samples"),
      kind="derived", expected="supported")
