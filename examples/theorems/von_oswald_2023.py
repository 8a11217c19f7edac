"""Transformers learn in-context by gradient descent: the weights by which one layer of linear attention is one step."""

import numpy as np

from lipverify.claims import claim, identity
from lipverify.linear_transformer import Layer, Tokens, forward

PAPER = "von Oswald et al., ICML 2023"
EPS = np.finfo(float).eps


def regression(d, n, seed):
    """Normal tokens x, labels y, a query, and initial weights W_0."""
    random = np.random.default_rng((seed, d, n))
    return random.normal(size=(n, d)), random.normal(size=n), random.normal(size=d), random.normal(size=d)


def weights(W0, n, rate, value):
    """W_K = W_Q = diag(I, 0), W_V = [[0, 0], [W_0, -I]], P = (rate / n) I, as printed; `value` scales W_0."""
    key = np.diag(np.append(np.ones(len(W0)), 0.0))
    return Layer(rate / n * np.vstack([np.zeros((len(W0), len(W0) + 1)), np.append(value * W0, -1.0)])[None], key[None])


def one_step(d, n, rate, seed, value=1.0):
    """Every label and the query's after the layer minus those after a step on (1/2n) sum_i (W x_i - y_i)^2."""
    x, y, query, W0 = regression(d, n, seed)
    end = forward(Tokens(np.column_stack([x, y]), np.append(query, -W0 @ query)), [weights(W0, n, rate, value)])[-1]
    W = W0 - rate / n * (x @ W0 - y) @ x
    off = np.append(end.context[:, -1] - (y - x @ (W - W0)), end.query[-1] + W @ query)
    size = (1 + rate) * (np.abs(W0).sum() + np.abs(y).max()) * np.abs([*x, query]).sum(axis=1).max() ** 2
    return np.abs(off).max(), 4 * (n + d) * EPS * size


def many_steps(d, n, layers, seed, rate=0.1, again=1):
    """The prediction after `layers` layers with W_0 = 0 minus that of as many steps from 0."""
    x, y, query, _ = regression(d, n, seed)
    model = [weights(np.zeros(d), n, rate, 1.0)] * layers
    prediction, W = forward(Tokens(np.column_stack([x, y]), np.append(query, 0.0)), model)[-1].prediction, np.zeros(d)
    for _ in range(layers * again):
        W = W - rate / n * (x @ W - y) @ x
    size = np.abs(y).max() * np.abs([*x, query]).sum(axis=1).max() ** 2
    return abs(prediction - W @ query), 4 * layers * (n + d) * EPS * size


claim(
    "von-oswald.construction",
    identity(one_step, r"y_j' - (y_j - \Delta W x_j)", control={"value": 1.001}),
    over={"d": (1, 3, 10), "n": (1, 5, 40), "rate": (0.1, 1.0)},
    source=(PAPER, "Proposition 1", "with these $W_K$, $W_Q$, $W_V$, $P$ a layer moves every label as a step does"),
    kind="printed",
    expected="supported",
)
claim(
    "von-oswald.layers",
    identity(many_steps, r"\hat y_K - \langle W_K, x \rangle", control={"again": 2}),
    over={"d": (1, 3, 10), "n": (5, 40), "layers": (2, 5)},
    source=(PAPER, "section 3", "$K$ layers with these weights take $K$ steps"),
    kind="printed",
    expected="supported",
)
