r"""Section 4: diagonal weights are four numbers a layer, which depend on each other for one head and are free for two.

One head has xx yy = xy yx, and reaches every four numbers with that product; no momentum (xy and yx) without xx and yy.
Two heads reach all four numbers.
"""

from lipverify.checks.linear_transformers.four_weights import SWAPPED, distance, product, update
from lipverify.claims import at, bound, claim, identity, per_profile

# fmt: off
HEADINGS = {"lt.diagonal": (9, 3, "Diagonal weights: four numbers a layer")}
DIAGONAL = ("V", "Section 4, diagonal attention matrices", r"""paraphrased:
    $x_i' = x_i + \omega_{xx} \Sigma x_i + \omega_{xy} y_i \alpha$,
    $y_i' = y_i + \omega_{yx} \langle \alpha, x_i \rangle + \omega_{yy} \lambda y_i$; a single head gives
    $\omega_{xx} \omega_{yy} = \omega_{xy} \omega_{yx}$""")
WEIGHTS = r"$P_k = \mathrm{diag}(p_x I, p_y)$ and $Q_k = \mathrm{diag}(q_x I, q_y)$ for each head, with free weights"
DRAWS = {"draws": per_profile(20, 500)}

claim("lt.diagonal/update", identity(update, r"x' - \text{stated},\ y' - \text{stated}", control={"omega": SWAPPED}),
      source=DIAGONAL, kind="printed", expected="supported", title="A layer of diagonal heads is four weights",
      statement=r"""x' = x + \omega_{xx} \Sigma x + \omega_{xy} y \alpha, \quad
          y' = y + \omega_{yx} \langle \alpha, x \rangle + \omega_{yy} \lambda y""",
      assumes=(
          WEIGHTS,
          r"""$\Sigma = \sum_j x_j x_j^\top$, $\alpha = \sum_j y_j x_j$, $\lambda = \sum_j y_j^2$ over the context
                before the layer""",
          "any tokens, any number of them, any $d$ and any number of heads",
      ),
      finding=r"""With $\omega_{xx} = \sum_k p_x q_x$, $\omega_{xy} = \sum_k p_x q_y$, $\omega_{yx} = \sum_k p_y q_x$,
          $\omega_{yy} = \sum_k p_y q_y$; the value is the number of words that remain, in matrices of symbolic sizes.
          In blocks the attention is $\begin{bmatrix} \omega_{xx} \Sigma & \omega_{xy} \alpha \\ \omega_{yx} \alpha^\top
          & \omega_{yy} \lambda \end{bmatrix}$: each weight scales one block of the moments. The control exchanges
          $\omega_{xy}$ and $\omega_{yx}$.""")
claim("lt.diagonal/one-head",
      identity(product, r"\omega_{xx} \omega_{yy} - \omega_{xy} \omega_{yx}", over={"heads": 1}, control={"heads": 2}),
      source=DIAGONAL, kind="printed", expected="supported", title="One head ties the four weights together",
      assumes=(WEIGHTS, "one head"),
      finding=r"""$\begin{bmatrix} \omega_{xx} & \omega_{xy} \\ \omega_{yx} & \omega_{yy} \end{bmatrix} = \begin{bmatrix} p_x \\ p_y
          \end{bmatrix} \begin{bmatrix} q_x & q_y \end{bmatrix}$ has rank at most 1 for one head. In particular one head cannot have
          $\omega_{xy} \neq 0$ and $\omega_{yx} \neq 0$, the two weights of momentum, without both $\omega_{xx}$ and $\omega_{yy}$; GD++
          ($\omega_{xx}$, $\omega_{yx}$) and the pair $\omega_{yx}$, $\omega_{yy}$ are within its reach.""")
claim("lt.diagonal/one-head/image",
      identity(at(distance, **DRAWS), r"\max |\omega - p q^\top|", of="largest", over={"weights": "on the cone", "heads": 1},
               control={"weights": "off the cone"}, method=("rational", "bounded")),
      bound(at(distance, **DRAWS), r"\min |\omega - p q^\top|", of="least", over={"weights": "off the cone", "heads": 1},
            low=0, strict=True, control={"heads": 2}, method="exact"),
      source=DIAGONAL, kind="stronger", expected="supported", title="One head reaches all weights with that product, and no others",
      statement=r"""\omega_{xx} \omega_{yy} = \omega_{xy} \omega_{yx} \iff \exists\, p_x, p_y, q_x, q_y: \quad
          \omega_{ij} = p_i q_j \text{ for } i, j \in \{x, y\}""",
      assumes="random real weights of every pattern of zeros",
      finding=r"""The condition is sufficient as well: a matrix of two rows with determinant 0 has rank at most 1, so it
          is an outer product, also if entries vanish (read it off the largest entry). Off the cone the distance to the
          nearest matrix of one head is the smaller singular value; for momentum alone, $\omega_{xx} = \omega_{yy} = 0$
          and $\omega_{xy} = \omega_{yx}$, half of the squared norm of the weights is out of reach.""")
claim("lt.diagonal/two-heads",
      identity(at(distance, **DRAWS), r"\max |\omega - \sum_k p_k q_k^\top|", of="largest", over={"weights": "any", "heads": 2},
               control={"heads": 1}, method=("rational", "bounded")),
      source=DIAGONAL, kind="stronger", expected="supported", title="With two heads the four weights are free",
      statement=r"""\forall\, \omega \in \mathbb{R}^4\ \exists\, p, q: \quad
          \omega_{ij} = p_i^{(1)} q_j^{(1)} + p_i^{(2)} q_j^{(2)}""",
      assumes=("two diagonal heads", "random real weights of every pattern of zeros"),
      finding=r"""One head with $q = (1, 0)$ and $p = (\omega_{xx}, \omega_{yx})$, one with $q = (0, 1)$ and $p =
          (\omega_{xy}, \omega_{yy})$: the blocks of the layer are compared in fractions.""")
