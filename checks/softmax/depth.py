r"""More layers of attention alone: the tokens collapse to a point, at a geometric rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.claims import Source, bound, claim

Value = tuple[float, float]
CONTEXTS, LAYERS = 20, 6
ROUNDING = 1e-12
"""Of a quotient of two distances that are no smaller than a thousandth: sums of a few dozen terms."""


def contraction(w: float, d: int, n: int, seed: int, residual: str = "no") -> Value:
    """The largest diameter after a layer over that before it: drawn tokens, and two antipodes; `residual`: x_i is added."""
    from lipverify.foundation.streams import normals

    drawn = normals(seed, f"depth/{d}/{n}", 0, (CONTEXTS, n, d))
    tokens = list(drawn / np.linalg.norm(drawn, axis=-1, keepdims=True))
    poles = np.zeros((2, d))
    poles[:, 0] = 1, -1
    largest = 0.0
    for x in [poles, *tokens]:
        for _ in range(LAYERS):
            before = diameter(x)
            if before < 1e-3:
                break
            x = attended(x, w) + (x if residual == "yes" else 0)
            largest = max(largest, diameter(x) / before)
    return largest, ROUNDING


def attended(x: np.ndarray, w: float) -> np.ndarray:
    """x_i <- sum_j a_ij x_j with the softmax of w <x_i, x_j>."""
    scores = w * x @ x.T
    a = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(a / a.sum(axis=1, keepdims=True) @ x)


def diameter(x: np.ndarray) -> float:
    """The largest distance between two tokens."""
    return float(np.linalg.norm(x[:, None] - x[None], axis=-1).max())


def odds_moved(w: float, layers: int) -> Any:
    """|log(b_1 / b_2)| of the query's weights b on the labels, how far it moves when a third token does; in the plane, by balls."""
    from flint import arb, arb_mat

    def odds(third: str) -> Any:
        angles = [arb(each) for each in ("0.3", "-0.9", third, "0")]  # three tokens, and the query
        x = arb_mat([[each.cos(), each.sin()] for each in angles])
        labels = arb_mat([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
        for _ in range(layers):
            keys = arb_mat([[x[i, k] for k in range(2)] for i in range(3)])  # the query is never a key
            seen = arb_mat([[labels[i, k] for k in range(3)] for i in range(3)])
            shares = [[(arb(w) * (x * keys.transpose())[i, j]).exp() for j in range(3)] for i in range(4)]
            a = arb_mat([[each / sum(row, arb(0)) for each in row] for row in shares])
            x, labels = a * keys, a * seen
        return (labels[3, 0] / labels[3, 1]).log()

    return abs(odds("1.5") - odds("2.5"))


claim(
    "extension.depth/collapse",
    bound(contraction, r"\max \frac{\mathrm{diam}(x^{l+1})}{\mathrm{diam}(x^l)}", high="1 - exp(-2*w)", control="0.7*(1 - exp(-2*w))", method="identity",
          grade="bounded"),
    source=Source(
        "R",
        "Global rebuttal, point 3, More layers",
        "We believe the post-attention multi-layer perceptron (MLP) block and/or layer normalization has to be incorporated into the model and analysis "
        "to prevent the tokens from collapsing to a single point similar to what happens in a power iteration",
    ),
    kind="derived",
    expected="supported",
    over={"w": (0.5, 1.0, 2.0), ("d", "n"): ((2, 5), (5, 20))},
    title="layers of attention alone bring the tokens together, at a geometric rate",
    statement=r"\mathrm{diam}(x^{l+1}) \leq (1 - e^{-2w})\, \mathrm{diam}(x^l) \quad \text{for every } |x_i| \leq 1",
    assumes=(r"$x_i \leftarrow \sum_j a_{ij} x_j$ with the softmax of $w \langle x_i, x_j \rangle$: no residual, no normalisation, no MLP", "six layers"),
    finding=r"A proof for every $n$, $d$ and $w$: scores lie in $[-w, w]$, so every weight is at least $e^{-2w}/n$, two rows of $a$ share at least the mass $e^{-2w}$, "
    r"and what they share cancels in $x_i - x_k$ (Dobrushin). Tokens stay in the unit ball, so the next layer contracts as much: they collapse as the rebuttal "
    r"says. Two antipodes contract by $\tanh w$, which is the bound over $1 + e^{-2w}$: it is sharp to a factor of two. For large $w$ it takes $e^{2w}$ layers.",
)  # fmt: skip
claim(
    "extension.depth/residual",
    bound(contraction, r"\max \frac{\mathrm{diam}(x^{l+1})}{\mathrm{diam}(x^l)}", high="1", control="0.5", instead={"residual": "no"}, method="identity",
          grade="bounded", given={}),
    source=Source("R", "Global rebuttal, point 3, More layers", "the tokens from collapsing to a single point"),
    kind="stronger",
    expected="refuted",
    over={"w": (1.0,), "d": 2, "n": 5, "residual": "yes"},
    title="the same with a residual connection",
    assumes=(r"$x_i \leftarrow x_i + \sum_j a_{ij} x_j$, no normalisation",),
    finding="With the token itself added, distances grow: whether tokens collapse is then a question of their directions, and of a normalisation.",
    corrected="without the residual distances shrink by a factor below one at every layer; with it they grow",
)  # fmt: skip
claim(
    "extension.depth/no-kernel",
    bound(
        odds_moved,
        r"|\Delta \log (b_1 / b_2)|",
        low=0.001,
        control={"layers": 1},
        method="certified",
        over={"w": (1.0, 4.0), "layers": (2, 3)},
    ),
    source=Source(
        "R",
        "Global rebuttal, point 3, More layers",
        "the covariates themselves change across layers, so a deeper transformer does not simply implement a kernel estimator with a different kernel",
    ),
    kind="printed",
    expected="supported",
    title="two layers are no kernel estimator",
    statement=r"\hat{y} = \sum_i b_i y_i \text{ with } b_i / b_j \neq k(x_i, x) / k(x_j, x)",
    assumes=(
        "attention alone, values and covariates move together; three tokens and a query on the circle, the third token moves from angle 1.5 to 2.5",
    ),
    finding=r"What a kernel estimator gives two tokens is in proportion to $k(x_1, x)$ and $k(x_2, x)$, wherever the others are. After one layer that is so; after two the "
    "odds depend on a third token, through what it has made of the first two.",
)
