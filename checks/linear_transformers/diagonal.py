r"""Section 5: diagonal weights are four numbers a layer, which depend on each other for one head and are free for two.

With any number of heads a layer is four numbers. One head has xx yy = xy yx; two heads reach all four numbers, so more add nothing.
"""

from lipverify.checks.linear_transformers.layers_in_words import diagonal_step, product, two_heads
from lipverify.claims import claim, identity

# fmt: off
HEADINGS = {"lt.diagonal": (9, 3, "Diagonal weights: four numbers a layer")}
HEADS = ("V", "Section 5, after (10), many heads", """Since the model can always be captured by these 4 variables, having many heads does
    not significantly increase its representation power.""")
ONE_HEAD = ("V", "Section 5, after (10), one head", r"""When there is only one head the equation $\omega_{xx}^l \omega_{yy}^l =
    \omega_{xy}^l \omega_{yx}^l$ is always true, while models with more than one head do not have this limitation.""")
CAPTURED = "four numbers a layer capture any number of heads, and two heads reach all of them"
WEIGHTS = r"$P_k = \mathrm{diag}(p_x I, p_y)$ and $Q_k = \mathrm{diag}(q_x I, q_y)$ for each head, with free weights"

claim("lt.diagonal/update", identity(diagonal_step, r"x' - \text{stated},\ y' - \text{stated}", control={"twisted": "yes"}),
      source=HEADS, kind="convention", reading=CAPTURED, expected="supported", title="A layer of diagonal heads is four weights",
      statement=r"""x' = x + \omega_{xx} \Sigma x + \omega_{xy} y \alpha, \quad
          y' = y + \omega_{yx} \langle \alpha, x \rangle + \omega_{yy} \lambda y""",
      assumes=(
          WEIGHTS,
          r"""$\Sigma = \sum_j x_j x_j^\top$, $\alpha = \sum_j y_j x_j$, $\lambda = \sum_j y_j^2$ over the context
                before the layer""",
          "any tokens, any number of them, any $d$ and any number of heads",
      ),
      forall=("d >= 1", "n", "heads"),
      finding=r"""With $\omega_{xx} = \sum_k p_x q_x$, $\omega_{xy} = \sum_k p_x q_y$, $\omega_{yx} = \sum_k p_y q_x$,
          $\omega_{yy} = \sum_k p_y q_y$; the value is the number of words that remain, in matrices of symbolic sizes.
          In blocks the attention is $\begin{bmatrix} \omega_{xx} \Sigma & \omega_{xy} \alpha \\ \omega_{yx} \alpha^\top
          & \omega_{yy} \lambda \end{bmatrix}$: each weight scales one block of the moments. The control exchanges
          $\omega_{xy}$ and $\omega_{yx}$.""")
claim("lt.diagonal/one-head",
      identity(product, r"\omega_{xx} \omega_{yy} - \omega_{xy} \omega_{yx}", over={"heads": 1}, control={"heads": 2}),
      source=ONE_HEAD, kind="printed", expected="supported", title="One head ties the four weights together",
      assumes=(WEIGHTS, "one head"),
      finding=r"""$\begin{bmatrix} \omega_{xx} & \omega_{xy} \\ \omega_{yx} & \omega_{yy} \end{bmatrix} = \begin{bmatrix} p_x \\ p_y
          \end{bmatrix} \begin{bmatrix} q_x & q_y \end{bmatrix}$ has rank at most 1 for one head. In particular one head cannot have
          $\omega_{xy} \neq 0$ and $\omega_{yx} \neq 0$, the two weights of momentum, without both $\omega_{xx}$ and $\omega_{yy}$; GD++
          ($\omega_{xx}$, $\omega_{yx}$) and the pair $\omega_{yx}$, $\omega_{yy}$ are within its reach.""")
claim("lt.diagonal/two-heads",
      identity(two_heads, r"\omega - \sum_k p_k q_k^\top", control={"heads": 1}, over={"heads": 2}),
      source=ONE_HEAD, kind="printed", expected="supported", title="With two heads the four weights are free",
      statement=r"""\forall\, \omega \in \mathbb{R}^4\ \exists\, p, q: \quad
          \omega_{ij} = p_i^{(1)} q_j^{(1)} + p_i^{(2)} q_j^{(2)}""",
      assumes="two diagonal heads; any four numbers",
      finding=r"""One head with $q = (1, 0)$ and $p = (\omega_{xx}, \omega_{yx})$, one with $q = (0, 1)$ and $p =
          (\omega_{xy}, \omega_{yy})$. The control has the first of them alone.""")
claim("lt.diagonal/two-heads/enough",
      identity(two_heads, r"\omega - \sum_k p_k q_k^\top", control={"heads": 1}, over={"heads": 2}),
      source=HEADS, kind="convention", reading=CAPTURED, expected="supported", title="Two heads reach what any number of heads reaches",
      assumes="two diagonal heads; any four numbers")
