r"""Section 4: diagonal weights are four numbers a layer, which one head ties together and two heads set free."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from lipverify.claims import Source, bound, claim, identity, per_profile

Value = tuple[float, float]


SWAPPED = "xy and yx exchanged"


def update(omega: str = "as stated") -> Any:
    """Words left of the update after one layer of diagonal heads, for every d, n and number of heads."""
    from lipverify.proofs.layers import diagonal_step

    return diagonal_step(omega == SWAPPED)


def product(heads: int) -> Any:
    """Terms left of xx yy - xy yx."""
    from lipverify.linear_transformer.theory.symbolic import product_condition

    return product_condition(heads)


def distance(heads: int, weights: str, draws: int, seed: int) -> dict[str, Any]:
    """How far weights (xx, xy, yx, yy) of norm about 1 are from what diagonal heads do: the least and the largest.

    Two heads, and one head where xx yy = xy yx, are made for them and compared in fractions; elsewhere the nearest that
    one head can do is at the distance of the smaller singular value.
    """
    apart = [_distance(heads, four) for four in drawn(weights, draws, seed)]
    return {"least": min(apart), "largest": max(apart)}


def _distance(heads: int, four: list[Fraction]) -> tuple[Any, float]:
    from lipverify.linear_transformer import Diagonal, SingleHead

    xx, xy, yx, yy = four
    if heads == 1 and xx * yy != xy * yx:
        matrix = np.asarray(four, dtype=float).reshape(2, 2)
        # LAPACK's singular values are those of a matrix that is a few roundings away
        return float(np.linalg.svd(matrix, compute_uv=False)[-1]), 8 * float(np.finfo(float).eps)
    layer = SingleHead.of(Diagonal(*four)) if heads == 1 else Diagonal(*four)  # type: ignore[arg-type]
    done = layer.layer(1).attention(np.ones((2, 2), dtype=int).astype(object)).ravel()  # moments with every block 1
    return Fraction(max(abs(done - np.asarray(four, dtype=object)))), 0.0


def drawn(weights: str, draws: int, seed: int) -> Iterator[list[Fraction]]:
    """Weights of every pattern of zeros: "on the cone" xx yy = xy yx, "off the cone", or "any"."""
    from lipverify.foundation.streams import generator

    random = generator(seed, "identity/heads", 0)
    for pattern in np.ndindex(2, 2, 2, 2):
        for _ in range(draws):
            four = np.asarray(pattern) * random.choice([-1, 1], 4) * random.integers(32, 97, 4)
            xx, xy, yx, yy = (Fraction(int(weight), 128) for weight in four)
            if weights != "off the cone" and all(pattern):
                yield [xx, xy, yx, xy * yx / xx]
            if weights == "any" or (weights == "on the cone") == (xx * yy == xy * yx):
                yield [xx, xy, yx, yy]


DIAGONAL = Source(
    "V",
    "Section 4, diagonal attention matrices",
    r"paraphrased: $x_i' = x_i + \omega_{xx} \Sigma x_i + \omega_{xy} y_i \alpha$, $y_i' = y_i + \omega_{yx} \langle \alpha, x_i \rangle + "
    r"\omega_{yy} \lambda y_i$; a single head gives $\omega_{xx} \omega_{yy} = \omega_{xy} \omega_{yx}$",
)
WEIGHTS = r"$P_k = \mathrm{diag}(p_x I, p_y)$ and $Q_k = \mathrm{diag}(q_x I, q_y)$ for each head, with free weights"
DRAWS = {"draws": per_profile(20, 500)}
DRAWN: dict[str, Any] = {"given": DRAWS, "method": "rational", "grade": "bounded"}

claim(
    "lt.diagonal/update",
    identity(update, r"x' - \text{stated},\ y' - \text{stated}", control={"omega": SWAPPED}),
    source=DIAGONAL,
    kind="printed",
    expected="supported",
    title="A layer of diagonal heads is four weights",
    statement=r"x' = x + \omega_{xx} \Sigma x + \omega_{xy} y \alpha, \quad y' = y + \omega_{yx} \langle \alpha, x \rangle + "
    r"\omega_{yy} \lambda y",
    assumes=(
        WEIGHTS,
        r"$\Sigma = \sum_j x_j x_j^\top$, $\alpha = \sum_j y_j x_j$, $\lambda = \sum_j y_j^2$ over the context as the layer sees it",
        "any tokens, any number of them, any $d$ and any number of heads",
    ),
    finding=r"With $\omega_{xx} = \sum_k p_x q_x$, $\omega_{xy} = \sum_k p_x q_y$, $\omega_{yx} = \sum_k p_y q_x$, $\omega_{yy} = "
    r"\sum_k p_y q_y$; what is counted is the words that are left over, in matrices whose sizes are letters. In blocks the attention is $\begin{bmatrix} \omega_{xx} "
    r"\Sigma & \omega_{xy} \alpha \\ \omega_{yx} \alpha^\top & \omega_{yy} \lambda \end{bmatrix}$: each weight scales one block "
    r"of the moments. The control exchanges $\omega_{xy}$ and $\omega_{yx}$.",
)  # fmt: skip
claim(
    "lt.diagonal/one-head",
    identity(product, r"\omega_{xx} \omega_{yy} - \omega_{xy} \omega_{yx}", over={"heads": 1}, control={"heads": 2}),
    source=DIAGONAL,
    kind="printed",
    expected="supported",
    title="One head ties the four weights together",
    assumes=(WEIGHTS, "one head"),
    finding=r"$\begin{bmatrix} \omega_{xx} & \omega_{xy} \\ \omega_{yx} & \omega_{yy} \end{bmatrix} = \begin{bmatrix} p_x \\ p_y "
    r"\end{bmatrix} \begin{bmatrix} q_x & q_y \end{bmatrix}$ has rank at most 1 for one head. In particular one head cannot have "
    r"$\omega_{xy} \neq 0$ and $\omega_{yx} \neq 0$, the two weights of momentum, without both $\omega_{xx}$ and $\omega_{yy}$; "
    r"GD++ ($\omega_{xx}$, $\omega_{yx}$) and the pair $\omega_{yx}$, $\omega_{yy}$ are within its reach.",
)
claim(
    "lt.diagonal/one-head/image",
    identity(
        distance, r"\max |\omega - p q^\top|", of="largest", over={"weights": "on the cone", "heads": 1},
        **DRAWN, control={"weights": "off the cone"},
    ),
    bound(
        distance, r"\min |\omega - p q^\top|", of="least", over={"weights": "off the cone", "heads": 1},
        given=DRAWS, low=0, strict=True, control={"heads": 2}, method="exact",
    ),
    source=DIAGONAL,
    kind="stronger",
    expected="supported",
    title="One head reaches all weights with that product, and no others",
    statement=r"\omega_{xx} \omega_{yy} = \omega_{xy} \omega_{yx} \iff \exists\, p_x, p_y, q_x, q_y: \quad "
    r"\omega_{ij} = p_i q_j \text{ for } i, j \in \{x, y\}",
    assumes=("drawn real weights of every pattern of zeros",),
    finding="The condition is sufficient as well: a matrix of two rows with determinant 0 has rank at most 1, so it is an outer "
    "product, also where entries vanish (read it off the largest entry). Off the cone the nearest that one head can do is at "
    r"the distance of the smaller singular value; for momentum alone, $\omega_{xx} = \omega_{yy} = 0$ and $\omega_{xy} = "
    r"\omega_{yx}$, half of the weights' energy is out of reach.",
)  # fmt: skip
claim(
    "lt.diagonal/two-heads",
    identity(
        distance, r"\max |\omega - \sum_k p_k q_k^\top|", of="largest",
        over={"weights": "any", "heads": 2}, **DRAWN, control={"heads": 1},
    ),
    source=DIAGONAL,
    kind="stronger",
    expected="supported",
    title="Two heads set the four weights free",
    statement=r"\forall\, \omega \in \mathbb{R}^4\ \exists\, p, q: \quad \omega_{ij} = p_i^{(1)} q_j^{(1)} + p_i^{(2)} q_j^{(2)}",
    assumes=("two diagonal heads", "drawn real weights of every pattern of zeros"),
    finding=r"One head with $q = (1, 0)$ and $p = (\omega_{xx}, \omega_{yx})$, one with $q = (0, 1)$ and $p = (\omega_{xy}, "
    r"\omega_{yy})$: the blocks of the layer are compared in fractions.",
)  # fmt: skip
