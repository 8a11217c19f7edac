r"""More layers of attention alone: the tokens collapse to a point, at a geometric rate.

They do so without a residual connection, and not with one. From the second layer on attention is not a kernel
estimator.
"""

from lipverify.checks.softmax.layers import contraction, odds_moved
from lipverify.claims import bound, claim

# fmt: off
HEADINGS = {"extension.depth": (8, 2, "More layers: tokens collapse")}
claim("extension.depth/collapse",
      bound(contraction, r"\max \frac{\mathrm{diam}(x^{l+1})}{\mathrm{diam}(x^l)}", high="1 - exp(-2*w)", control="0.7*(1 - exp(-2*w))",
            method=("identity", "bounded")),
      source=("R", "Global rebuttal, point 3, More layers", """We believe the post-attention multi-layer perceptron (MLP) block and/or layer
      normalization has to be incorporated into the model and analysis to prevent the tokens from collapsing to a single point similar to
      what happens in a power iteration"""),
      kind="derived", expected="supported", over={"w": (0.5, 1.0, 2.0), ("d", "n"): ((2, 5), (5, 20))},
      title="layers of attention alone bring the tokens together, at a geometric rate",
      statement=r"\mathrm{diam}(x^{l+1}) \leq (1 - e^{-2w})\, \mathrm{diam}(x^l) \quad \text{for every } |x_i| \leq 1",
      assumes=(r"""$x_i \leftarrow \sum_j a_{ij} x_j$ with the softmax of $w \langle x_i, x_j \rangle$: no residual, no normalisation, no
               MLP""",
               "six layers"),
      finding=r"""A proof for every $n$, $d$ and $w$: scores lie in $[-w, w]$, so every weight is at least $e^{-2w}/n$.
          Two rows of $a$ share at least the mass $e^{-2w}$, and this shared mass cancels in $x_i - x_k$ (Dobrushin).
          Tokens stay in the unit ball, so the next layer contracts by the same bound: they collapse as the rebuttal
          says. Two antipodes contract by $\tanh w$, which is the bound divided by $1 + e^{-2w}$: the bound is sharp up
          to a factor of two. For large $w$ the collapse takes $e^{2w}$ layers.""")
claim("extension.depth/residual",
      bound(contraction, r"\max \frac{\mathrm{diam}(x^{l+1})}{\mathrm{diam}(x^l)}", high="1", control=("0.5", {"residual": "no"}),
            method=("identity", "bounded")),
      source=("R", "Global rebuttal, point 3, More layers", "the tokens from collapsing to a single point"), kind="stronger",
        expected="refuted",
      over={"w": (1.0,), "d": 2, "n": 5, "residual": "yes"},
      title="layers of attention bring the tokens together, with a residual connection",
      assumes=(r"$x_i \leftarrow x_i + \sum_j a_{ij} x_j$, no normalisation",),
      finding="""With the token itself added, distances grow. Whether tokens collapse then depends on their directions
            and on a normalisation.""",
      corrected="""without the residual connection distances shrink by a factor below one at every layer; with it they
            grow""")
claim("extension.depth/no-kernel",
      bound(
          odds_moved,
          r"|\Delta \log (b_1 / b_2)|",
          low=0.001,
          control={"layers": 1},
          method="certified",
          over={"w": (1.0, 4.0), "layers": (2, 3)},
      ),
      source=("R", "Global rebuttal, point 3, More layers",
          """the covariates themselves change across layers, so a deeper transformer does not simply implement a kernel estimator with a
                different kernel"""),
      kind="printed", expected="supported",
      title="two layers are not a kernel estimator",
      statement=r"\hat{y} = \sum_i b_i y_i \text{ with } b_i / b_j \neq k(x_i, x) / k(x_j, x)",
      assumes=(
          """attention alone, values and covariates move together; three tokens and a query on the circle, the third token moves from
                 angle 1.5 to 2.5""",
      ),
      finding="""A kernel estimator gives two tokens weights in proportion to $k(x_1, x)$ and $k(x_2, x)$, wherever the
          other tokens are. One layer does so. After two layers the ratio depends on a third token, because the first
          layer mixes it into the first two.""")
