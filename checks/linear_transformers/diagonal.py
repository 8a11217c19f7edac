r"""Section 4: diagonal weights are four numbers a layer, which one head ties together and two heads set free."""

from __future__ import annotations

from checks._running import run_file
from checks.linear_transformers._identities import left_over, number_cell, paper, symbolic_cell
from lipverify.claims.claim import Claim, Task
from lipverify.claims.linear_transformers.heads import ROUNDED, one_head_reach, two_heads_reach
from lipverify.claims.linear_transformers.identities import diagonal_product, diagonal_update
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed

DIAGONAL = paper(
    "Section 4, diagonal attention matrices",
    r"$x_i' = x_i + \omega_{xx} \Sigma x_i + \omega_{xy} y_i \alpha$, $y_i' = y_i + \omega_{yx} \langle \alpha, x_i \rangle + \omega_{yy} \lambda y_i$; "
    r"a single head gives $\omega_{xx} \omega_{yy} = \omega_{xy} \omega_{yx}$",
)
WEIGHTS = r"$P_k = \mathrm{diag}(p_x I, p_y)$ and $Q_k = \mathrm{diag}(q_x I, q_y)$ for each head, with free $p_x, p_y, q_x, q_y$"
SUMS = r"$\Sigma = \sum_j x_j x_j^\top$, $\alpha = \sum_j y_j x_j$, $\lambda = \sum_j y_j^2$ over the context as the layer sees it"
SIZES = ((1, 1), (1, 3), (2, 2), (3, 2))
NONE, NONE_OF_A_TWIN = Allowed(low=0.0, high=ROUNDED), Allowed(high=ROUNDED)
"""Distances that are rounding, for tuples of norm 1."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The update, what one head forces, what it reaches, and what two heads reach."""
    return _update(), _product(), _reach(profile), _two(profile)


def _update() -> Claim:
    return Claim(
        id="lt.diagonal/update",
        title="A layer of diagonal heads is four weights",
        statement=(
            r"x' = x + \omega_{xx} \Sigma x + \omega_{xy} y \alpha, \quad y' = y + \omega_{yx} \langle \alpha, x \rangle + \omega_{yy} \lambda y"
        ),
        source=DIAGONAL,
        assumptions=(WEIGHTS, SUMS),
        claimed="no term is left over",
        control=r"$\omega_{xy}$ and $\omega_{yx}$ exchanged",
        expected="supported",
        summary=left_over,
        cells=tuple(
            symbolic_cell({"d": d, "n": n, "heads": heads}, Task(diagonal_update, (d, n, heads)))
            for d, n in SIZES
            for heads in (1, 2)
        ),
        finding=(
            r"With $\omega_{xx} = \sum_k p_x q_x$, $\omega_{xy} = \sum_k p_x q_y$, $\omega_{yx} = \sum_k p_y q_x$, $\omega_{yy} = \sum_k p_y q_y$. In blocks the attention is "
            r"$\begin{bmatrix} \omega_{xx} \Sigma & \omega_{xy} \alpha \\ \omega_{yx} \alpha^\top & \omega_{yy} \lambda \end{bmatrix}$: each weight scales one block of the moments."
        ),
    )


def _product() -> Claim:
    return Claim(
        id="lt.diagonal/one-head",
        title="One head ties the four weights together",
        statement=r"\omega_{xx} \omega_{yy} = \omega_{xy} \omega_{yx}",
        source=DIAGONAL,
        assumptions=(WEIGHTS, "one head"),
        claimed="no term is left over",
        control="the same for two heads",
        expected="supported",
        summary=left_over,
        cells=(symbolic_cell({"heads": 1}, Task(diagonal_product, (1, 2))),),
        finding=(
            r"$\begin{bmatrix} \omega_{xx} & \omega_{xy} \\ \omega_{yx} & \omega_{yy} \end{bmatrix} = \begin{bmatrix} p_x \\ p_y \end{bmatrix} \begin{bmatrix} q_x & q_y \end{bmatrix}$ "
            r"has rank at most 1 for one head. In particular one head cannot have $\omega_{xy} \neq 0$ and $\omega_{yx} \neq 0$, the two weights of momentum, without both "
            r"$\omega_{xx}$ and $\omega_{yy}$; GD++ ($\omega_{xx}$, $\omega_{yx}$) and the pair $\omega_{yx}$, $\omega_{yy}$ are within its reach."
        ),
    )


def _reach(profile: Profile) -> Claim:
    draws = 20 if profile.name == "quick" else 500
    task = Task(one_head_reach, (draws, profile.seed))
    reached = number_cell(
        {"weights": "on the cone"},
        task,
        "largest distance to what one head does, of tuples of norm 1",
        lambda found: (found.reached, 0.0),
        ("= 0", NONE),
        NONE_OF_A_TWIN,
        twin=lambda found: (found.missed, 0.0),
    )
    missed = number_cell(
        {"weights": "off the cone"},
        task,
        "least distance to what one head does, of tuples of norm 1",
        lambda found: (found.missed, 0.0),
        ("> 0", Allowed(low=ROUNDED, open=True)),
        NONE,
    )
    return Claim(
        id="lt.diagonal/one-head/image",
        title="One head reaches all weights with that product, and no others",
        statement=(
            r"\omega_{xx} \omega_{yy} = \omega_{xy} \omega_{yx} \iff \exists\, p_x, p_y, q_x, q_y: \quad "
            r"\omega_{ij} = p_i q_j \text{ for } i, j \in \{x, y\}"
        ),
        source=DIAGONAL,
        assumptions=("real weights, every pattern of zeros among them",),
        claimed="reached if and only if the products agree",
        control="one head reaches what is off the cone too",
        expected="supported",
        summary=lambda results: (
            f"within {results[task.address].reached:.0e} on it, {results[task.address].missed:.1g} or more off it"
        ),
        cells=(reached, missed),
        finding=(
            "The condition is sufficient as well, without exception over the reals: a matrix of two rows with determinant 0 has rank at most 1, so it is an outer product, "
            "also where entries vanish (read it off the largest entry). Off the cone the nearest that one head can do is at the distance of the smaller singular value; "
            r"for momentum alone, $\omega_{xx} = \omega_{yy} = 0$ and $\omega_{xy} = \omega_{yx}$, half of the weights' energy is out of reach."
        ),
    )


def _two(profile: Profile) -> Claim:
    draws = 20 if profile.name == "quick" else 500
    return Claim(
        id="lt.diagonal/two-heads",
        title="Two heads set the four weights free",
        statement=r"\forall\, \omega \in \mathbb{R}^4\ \exists\, p, q: \quad \omega_{ij} = p_i^{(1)} q_j^{(1)} + p_i^{(2)} q_j^{(2)}",
        source=DIAGONAL,
        assumptions=("two diagonal heads",),
        claimed="every tuple is reached",
        control="the same with one head",
        expected="supported",
        cells=(
            number_cell(
                {"heads": 2},
                Task(two_heads_reach, (draws, profile.seed)),
                "largest distance of the layer's blocks from the four weights",
                lambda found: (found.reached, 0.0),
                ("= 0", NONE),
                NONE_OF_A_TWIN,
                twin=lambda found: (found.missed, 0.0),
            ),
        ),
        finding=(
            r"One head with $q = (1, 0)$ and $p = (\omega_{xx}, \omega_{yx})$, one with $q = (0, 1)$ and $p = (\omega_{xy}, \omega_{yy})$."
        ),
    )


if __name__ == "__main__":
    run_file(__file__)
