r"""Lemma B.1: the optimal value matrix ignores the covariates.

The prediction depends on the last row (v, c) of W_V alone. The optimal v is 0 for every c, d, n and M, for laws whose
amplitudes and offset are symmetric about 0.
"""

from lipverify.checks.softmax.value_matrix import change, loss_in_v
from lipverify.claims import claim, identity

# fmt: off
HEADINGS = {"softmax.values-ignore-covariates": (1, 4, "The values ignore the covariates (Lemma B.1)")}
LEMMA = ("R", "Rebuttal 4, Lemma B.1",
         r"""the estimator does not depend on the first $d$ rows of $\mathbf{W}_V$ [...] we prove in Lemma B.1
    that the optimal value of the first $d$ elements in the $(d+1)$-th row of $\mathbf{W}_V$ is zero""")

claim("softmax.values-ignore-covariates/rows",
      identity(change, r"\Delta \hat{y}", control={"last": 1}),
      source=LEMMA, kind="printed", expected="supported",
      title="the prediction does not depend on the first d rows of the value matrix",
      statement=r"""\frac{\partial}{\partial (\mathbf{A}, \mathbf{b})} \Bigl(\mathbf{W}_V = \begin{bmatrix} \mathbf{A} &
      \mathbf{b} \\ \mathbf{v}^\top & c \end{bmatrix} \sum_i a_i z_i\Bigr)_{d+1} = 0""",
      assumes="the prediction is the last entry of the output, as on the slides",
      finding=r"The last entry of a product with $\mathbf{W}_V$ depends only on its last row, $(\mathbf{v}^\top, c)$.")
claim("softmax.values-ignore-covariates/v",
      identity(loss_in_v,
               r"\mathcal{L}(\mathbf{v}) - \mathcal{L}(0) - \mathbb{E} \bigl(\mathbf{v}^\top \sum_i a_i x_i\bigr)^2",
               control={"mean": 1}),
      source=LEMMA, kind="printed", expected="supported", title="the optimal v is 0",
      statement=r"\argmin_{\mathbf{v}} \mathbb{E} \Bigl(\sum_i a_i (c\, y_i + \mathbf{v}^\top x_i) - f(x)\Bigr)^2 = 0",
      assumes=(r"""$f = \sum_k \ell_k g_k + b$ with any functions $g_k$, such as $\langle q, x \rangle_+$ and $\langle
      -q, x \rangle_+$; amplitudes, offset and noise are jointly symmetric about 0 and independent of $q$, tokens and
      query""",
               r"""any covariates for which no sum $\sum_i a_i x_i$ lies in a fixed hyperplane almost surely, any
      $\mathbf{M}$, $c$, $d$, $n$"""),
      forall=("n", "d"), by_hand="docs/arguments.md#values-without-covariates",
      finding=r"""With an amplitude that is not centred the term that is linear in $\mathbf{v}$ remains (the control): a law
      with $\mathbb{E}_f f(x) = \langle \mu, x \rangle$ is outside the lemma. The rebuttal's display omits the weight $\beta_i$ of
      $\mathbf{v}^\top x_i$, which changes nothing.""")
