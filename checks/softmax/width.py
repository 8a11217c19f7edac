r"""The rebuttal on infinite width: a wider inner dimension of M = M_K^T M_Q leaves the optimum unchanged.

This holds from the width r = d on, because every d x d matrix is then such a product. Below r = d it does not.
"""

from lipverify.checks.softmax.factors import factored
from lipverify.claims import at, bound, claim, per_profile

# fmt: off
HEADINGS = {"softmax.width": (5, 3, "A wider inner dimension changes nothing")}
REBUTTAL = ("R", "Global rebuttal, point 3", r"""Regarding infinite width (suggested by Reviewer hHKc), increasing the inner dimension of
    $\mathbf{M}_K^\top \mathbf{M}_Q$ will not change the optimal value of $\mathbf{M} = \mathbf{M}_K^\top \mathbf{M}_Q$, so our results will
    not change""")
SAME = r"""\min_{\mathbf{M}_K, \mathbf{M}_Q \in \mathbb{R}^{r \times d}} \mathcal{L}(\mathbf{M}_K^\top \mathbf{M}_Q) =
    \min_{\mathbf{M}} \mathcal{L}(\mathbf{M})"""
EXCESS = r"\frac{\mathrm{loss}(\mathbf{M}_K^\top \mathbf{M}_Q)}{\min_{\mathbf{M}} \mathrm{loss}(\mathbf{M})} - 1"
DISTANCE = r"\max_{ij} |M_{ij} - M^*_{ij}| / \text{half-width}"
MODEL = (
    r"tokens and query uniform on $S^{d-1}$, $n = 20$, $L = \sigma = 1$",
    "all widths on the same sampled contexts",
)
FACTORED = at(factored, drawn=per_profile(1024, 8192))

claim("softmax.width/{law}",
      bound(FACTORED, EXCESS, of="excess", equals="0", within="2e-4", control={"width": 1}, method="montecarlo"),
      bound(FACTORED, DISTANCE, of="distance", high="1/10", control={"width": 1}, method="montecarlo"),
      source=REBUTTAL,
      kind="derived",  # printed, but a tautology: both minima are over the same set, so no evidence could refute it
      expected="supported", over={"law": ("affine", "relu"), ("d", "width"): [(2, 2), (2, 4), (2, 8), (3, 3), (3, 6), (3, 12)]},
      statement=SAME + r" \quad \text{for } r \geq d",
      assumes=(*MODEL, "$d = 2, 3$ and $r = d, 2d, 4d$"),
      finding=r"""For $r \geq d$ every $d \times d$ matrix is a product $\mathbf{M}_K^\top \mathbf{M}_Q$, so the two
          minima are over the same set. The statement says no more, and it needs no infinite width. The measurement
          shows that descents on the factors also find the minimum: from small random starts, for each width, they end
          at the minimiser over $\mathbf{M}$ itself.""")
claim("softmax.width/narrow",
      bound(FACTORED, EXCESS, of="excess", equals="0", within="2e-4", control=(None, {"width": 12}), method="montecarlo"),
      source=REBUTTAL, kind="stronger", expected="refuted", over={"law": ("affine", "relu"), ("d", "width"): [(2, 1), (3, 1), (3, 2)]},
      statement=SAME + r" \quad \text{for } r < d",
      assumes=(*MODEL, "$d = 2, 3$ and $r = 1, d - 1$"),
      finding=r"""The rebuttal speaks of increasing the width, and its sentence is true from $r = d$ on. For smaller $r$
          the set contains only matrices of rank at most $r$, and not $w \mathbf{I}$.""",
      corrected=r"Any inner dimension $r \geq d$ leaves the optimum unchanged.")
