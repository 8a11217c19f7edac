r"""Theorem 4.1 and Lemma 4.3: after every layer, each token is a linear map of its initial value, the same map for all tokens.

The map T = [[M, u], [-w^T, a]] obeys T' = (I + H) T, for any weights, number of heads and tokens. The query, which is
never a key and has y_t = 0, depends on M and w alone. It holds at every depth and size.
"""

from lipverify.checks.linear_transformers.implicit_step import in_floats, in_integers, in_symbols, routes
from lipverify.checks.linear_transformers.layers_in_words import implicit_step
from lipverify.claims import agree, claim, identity, per_profile

# fmt: off
HEADINGS = {"lt.implicit-model": (9, 1, "Every layer keeps a linear model (Theorem 4.1)")}
THEOREM = ("V", "Theorem 4.1 and Lemma 4.3", r"""paraphrased: $x_i^l = M^l x_i + u^l y_i$,
    $y_i^l = a^l y_i - \langle w^l, x_i \rangle$, $x_t^l = M^l x_t$, $y_t^l = -\langle w^l, x_t \rangle$""")
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
      finding=r"""By induction over layers. Before the first, $M = I$, $u = 0$, $a = 1$, $w = 0$ is the model of an
          unchanged token. The step is an identity of words in matrices of symbolic sizes, so it holds for all sizes.
          One head is written out with the blocks of its $P$ and $Q$ as a sum over keys; $H_0$ stands for the sum of all
          other heads; the images of any token and of the query are compared with $T' e$ with the $T'$ of the recursion.
          The value is the number of words that remain. For a recursion with one sign or one term wrong some remain.""")

SMALL = ((1, 1, 1), (1, 2, 2), (1, 3, 2), (2, 1, 1), (2, 2, 1), (2, 1, 2))
SYMBOLS = {("d", "n", "heads"): per_profile(SMALL, (*SMALL, (2, 2, 2), (2, 3, 1), (3, 1, 1)))}
claim("lt.implicit-model/layer",
      identity(in_symbols, r"x_i' - M' x_i - u' y_i", of="x_i", over=SYMBOLS, control={"step": "u' = (I + A) u - a b"}),
      identity(in_symbols, r"y_i' - a' y_i + \langle w', x_i \rangle", of="y_i", over=SYMBOLS, control={"step": "a' = (1 + δ) a"}),
      identity(in_symbols, r"x_t' - M' x_t", of="x_t", over=SYMBOLS, control={"step": "M' = (I + A) M + b w^T"}),
      identity(in_symbols, r"y_t' + \langle w', x_t \rangle", of="y_t", over=SYMBOLS, control={"step": "w' = (1 + δ) w + M^T c"}),
      source=THEOREM, kind="derived", expected="supported", title="One layer takes an implicit model to an implicit model",
      statement=r"""M' = (I + A) M - b w^\top, \quad u' = (I + A) u + a b, \quad a' = (1 + \delta) a + \langle c, u \rangle, \quad
          w' = (1 + \delta) w - M^\top c""",
      assumes=(*ANY, "any state $(M, u, a, w)$; at the sizes of the cells"),
      finding=r"""Every weight, every token, the query and the state itself are free symbols. The layer is written out
          from its definition, as sums over heads, keys and entries, and the images of all tokens and of the query agree
          with the recursion as polynomials with integer coefficients: the value is the number of terms that remain. As
          the state is general, this is the step of an induction over layers: at these sizes the theorem holds at every
          depth. In words: the attention of a layer is one matrix $H$, the same for all tokens and the query, so every
          token is $T e_i$ with $T = \begin{bmatrix} M & u \\ -w^\top & a \end{bmatrix}$ and $T' = (I + H) T$; the four
          formulas are its blocks. The query has $y_t = 0$ and so does not depend on $u$ and $a$.""")

DEEP = ("d", "n", "heads", "layers")
EXACT = ((1, 1, 1, 3), (2, 3, 2, 2), (3, 4, 2, 3), (2, 3, 4, 4))
FLOATING = ((1, 2, 1, 8), (2, 4, 1, 4), (3, 6, 2, 2), (3, 6, 4, 4), (5, 12, 3, 6), (5, 10, 4, 8))
claim("lt.implicit-model/depth",
      identity(in_integers, r"\#\{e^L \neq T e\}", over={DEEP: EXACT}, method=("rational", "bounded"),
               control={"model": "the query is a key"}),
      identity(in_floats, r"\max |e^L - T e| / \text{rounding}", over={DEEP: FLOATING}, method=("identity", "bounded"),
               control={"model": "a = 0 at the start"}),
      *[agree(routes, routes, "-y_t", of=(route, "rational"), over={DEEP: [(2, 4, 2, 3)]})
              for route in ("tokens", "recursion", "moments")],
      source=THEOREM, kind="derived", expected="supported", title="""The implicit model after several layers, in
            computed values""",
      statement=MODEL, assumes=(*ANY, "at the sizes of the cells, up to 8 layers"),
      finding=r"""Integers drawn from $2^{32}$ values pass through the definition, token by token, and through the
          recursion, and not one entry differs. Both are polynomials of degree at most $2 \cdot 3^L - 1$ in the drawn
          values, so different polynomials would agree with a probability below $4 \cdot 10^{-8}$ (Schwartz and Zippel).
          In floating point the two differ by less than a bound that follows from counting operations, at depths up to 8
          and with up to four heads. The prediction is the same by four routes: token by token, by the recursion, by
          second moments alone, and in fractions.""")
