"""Transformers implement functional gradient descent: attention whose activation is the kernel reaches the Bayes risk.

From memory, by topic. N tokens stand at equal angles on the circle, the query at any; labels are a Gaussian process of
the kernel exp(x.x'), and noise. L layers of weights exp(scale x.x') are L steps of descent in that kernel's space.
"""

import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim

PAPER = "Cheng, Chen, Sra, ICML 2024, arXiv 2312.06528"


def kernels(N, scale, noise=0.1):
    tokens, queries = 2 * np.pi * np.arange(N) / N, 2 * np.pi * np.arange(64) / (64 * N)
    near, far = (np.exp(scale * np.cos(tokens[:, None] - angle)) for angle in (tokens, queries))
    return near + noise * np.eye(N), far


def over_bayes(N, made):
    """The risk of predictions made^T y above the Bayes risk, in units of it: a mean over labels and queries."""
    S, k = kernels(N, 1.0)
    best = np.linalg.solve(S, k)
    value = float(np.sum((made - best) * (S @ (made - best))) / (64 * np.exp(1) - np.sum(best * k)))
    return value, 1e-9 * value + 1e-26


def excess(N, L, scale):
    H, h = kernels(N, scale)
    e, U = np.linalg.eigh(H)
    return over_bayes(N, U @ (((1 - np.maximum(1 - e / e[-1], 0) ** L) / e)[:, None] * (U.T @ h)))


def layer_by_layer(N, L, scale):
    (H, h), made, Y = kernels(N, scale), 0, np.eye(N)
    r = 1 / np.linalg.norm(H, 2)
    for _ in range(L):
        made, Y = made + r * Y.T @ h, Y - r * H @ Y
    return over_bayes(N, made)


def behind(N, L, other):
    return excess(N, L, 1.0)[0] - excess(N, L, other)[0], 1e-8


def picture(x=(1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233)):
    curves = tuple(Series(label=f"scale {s}", x=x, y=tuple(excess(6, L, s)[0] for L in x)) for s in (1, 1.1, 2))
    panel = Panel(title="", xlabel="layers", ylabel="excess", series=curves)
    return Figure(caption="Above the Bayes risk, $N = 6$.", alt="Only the kernel itself tends to 0.", panels=(panel,))


# fmt: off
BAYES = (PAPER, "matching activations", "if the activation is the kernel, the predictor tends to the Bayes optimal one")
claim("cheng.bayes", bound(excess, "R/R_B - 1", high=1e-4, control={"scale": 1.1}),
      agree(excess, layer_by_layer, "R/R_B - 1", over={"N": (3, 6), "L": (3, 40), "scale": (1.0, 1.1)}),
      over={"N": (3, 4, 6), "L": 400, "scale": 1.0}, source=BAYES, kind="derived", expected="supported",
      shows=at(picture))
claim("cheng.depth", bound(behind, "R(1) - R(2)", high=0, control=({"other": 1.1}, {"L": 100})), source=BAYES,
      over={"N": 6, "L": (1, 3, 8), "other": 2.0}, kind="stronger", expected="refuted", title="At every depth",
      corrected="with few layers a narrower kernel is better")
