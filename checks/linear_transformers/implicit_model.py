r"""Theorem 4.1 and Lemma 4.3: after every layer, each token is a linear map of its initial value, the same map for all tokens.

The map T = [[M, u], [-w^T, a]] obeys T' = (I + H) T, for any weights, number of heads and tokens. The query, which is
never a key and has y_t = 0, depends on M and w alone. It holds at every depth and size.
"""

from lipverify.checks.linear_transformers.implicit_step import in_integers
from lipverify.checks.linear_transformers.layers_in_words import implicit_step
from lipverify.claims import claim, identity

# fmt: off
HEADINGS = {"lt.implicit-model": (9, 1, "Every layer keeps a linear model (Theorem 4.1)")}
THEOREM = ("V", "Theorem 4.1 and Lemma 4.3", r"""Suppose the output of a linear transformer at $l$-th layer is $(x_1^l, y_1^l), ...,
    (x_n^l, y_n^l), (x_t^l, y_t^l)$, then there exists matrices $M^l$, vectors $u^l, w^l$ and scalars $a^l$ such that [...]""")
MODEL = r"""x_i^l = M^l x_i + u^l y_i, \quad y_i^l = a^l y_i - \langle w^l, x_i \rangle, \quad x_t^l = M^l x_t, \quad
    y_t^l = -\langle w^l, x_t \rangle"""
ANY = (
    "any weights $P_k, Q_k$ and any number of heads; the tokens are any numbers",
    r"""$\begin{bmatrix} A & b \\ c^\top & \delta \end{bmatrix} = \sum_k P_k \bigl(\sum_j e_j e_j^\top\bigr) Q_k$ over the context at
    the current layer; $M = I$, $u = 0$, $a = 1$, $w = 0$ before the first""",
    "the query is never a key",
)

claim("lt.implicit-model/every-depth",
      identity(implicit_step, r"e' - T' e,\ T' = (\mathbf{I} + H) T", control={"recursion": "u' = (I + A) u - a b"}),
      source=THEOREM, kind="printed", expected="supported", title="The implicit model after any number of layers",
      statement=rf"{MODEL} \qquad \text{{for every }} l", assumes=ANY,
      forall=("d >= 1", "n"), by_hand="docs/arguments.md#layers-with-weighted-keys",
      finding=r"""The step from one layer to the next is an identity of words in matrices of symbolic sizes, so it holds for all
          sizes.
          One head is written out with the blocks of its $P$ and $Q$ as a sum over keys; $H_0$ stands for the sum of all
          other heads; the images of any token and of the query are compared with $T' e$ with the $T'$ of the recursion.
          The value is the number of words that remain. For a recursion with one sign or one term wrong some remain.""")
claim("lt.implicit-model/depth",
      identity(in_integers, r"\#\{e^L \neq T e\}", control={"model": "the query is a key"}, method=("rational", "bounded"),
               over={("d", "n", "heads", "layers"): ((1, 1, 1, 3), (2, 3, 2, 2), (3, 4, 2, 3), (2, 3, 4, 4))}),
      source=THEOREM, kind="derived", expected="supported", title="The implicit model after several layers, in integers",
      statement=MODEL, assumes=(*ANY, "at the sizes of the cells, up to 4 layers"),
      finding=r"""Integers drawn from $2^{32}$ values pass through the definition, token by token, and through the
          recursion, and not one entry differs. Both are polynomials of degree at most $2 \cdot 3^L - 1$ in the drawn
          values, so different polynomials would agree with a probability below $4 \cdot 10^{-8}$ (Schwartz and Zippel).""")
