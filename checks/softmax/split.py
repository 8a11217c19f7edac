r"""The decomposition: the loss is bias plus noise, and the noise is sigma^2 E sum_i a_i^2.

It holds for any tokens, functions and attention weights, at every n: the noise is centred and independent.
"""

from lipverify.checks.softmax.decomposition import gap
from lipverify.claims import claim, identity

# fmt: off
HEADINGS = {"softmax.split": (1, 1, "The loss is bias plus noise")}
SOURCE = ("S", "Decomposition", r"""$\mathcal{L}(\mathbf{M}) := \mathbb{E}_{f, \{\mathbf{x}_i\}_i} (\sum_{i=1}^n f(\mathbf{x}_i)
    \frac{e^{\mathbf{x}_i^\top \mathbf{M} \mathbf{x}_{n+1}}}{\sum_{i=1}^n e^{\mathbf{x}_i^\top \mathbf{M} \mathbf{x}_{n+1}}} -
    f(\mathbf{x}_{n+1}))^2 + \mathbb{E}_{\{\mathbf{x}_i\}_i, \{\epsilon_i\}} (\frac{\sum_{i=1}^n \epsilon_i e^{\mathbf{x}_i^\top \mathbf{M}
    \mathbf{x}_{n+1}}}{\sum_{i=1}^n e^{\mathbf{x}_i^\top \mathbf{M} \mathbf{x}_{n+1}}})^2$""")
SPLITS = r"\mathcal{L}(w) = B(w) + N(w), \qquad N(w) = \sigma^2\, \mathbb{E} \sum_i a_i^2"
NOISE = r"noise centred, of variance $\sigma^2$, independent of tokens and task and between tokens"

claim("softmax.split",
      identity(gap, r"\mathcal{L} - (B + N),\ N - \sigma^2 \sum_i a_i^2", control={"correlation": "1/10"}),
      source=SOURCE, kind="printed", expected="supported", title="The loss splits into bias and noise",
      statement=SPLITS,
      assumes=(NOISE, "any tokens, query, function, attention weights, and any number of tokens"), forall="n",
      finding=r"""The cross term is linear in the noise, which is centred and independent of tokens and task, so it
      vanishes in the mean over the noise; independence between tokens leaves $\sigma^2 \sum_i a_i^2$.""")
