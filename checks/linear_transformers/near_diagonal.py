r"""The rebuttal: full matrices P and Q converge to near-diagonal ones, with some additional structure.

Two layers end near the diagonal. Three and four layers do in all but at most three matrices: in the last layer but one
most of the weight of P is in its column xy, which stores a multiple of the label in one direction of the covariates.
"""

from __future__ import annotations

from typing import Any

from lipverify.checks.linear_transformers.diagonal_shares import off_diagonal, scaled
from lipverify.checks.linear_transformers.figures import matrix_maps, shares_of
from lipverify.checks.linear_transformers.quantities import TRAININGS
from lipverify.claims import at, bound, claim

# fmt: off
HEADINGS = {"lt.near-diagonal": (11, 7, "Full matrices end near the diagonal")}
MATRICES = ("V", "Rebuttal 3, learned attention matrices", """the learned attention matrices for the full case (see example in the PDF
    attached above) converge to the near-diagonal matrix, but with some additional structure as well""")
NEAR = 0.1
"""The largest off-diagonal share of squared weights for which a matrix counts as near diagonal."""
NOISES = ("uniform-3", "levels-1-3")
SHARE = r"\max_{l, \mathbf{P}, \mathbf{Q}} 1 - \|\mathrm{diag}\|^2 / \|\cdot\|_F^2"
NEARNESS: dict[str, Any] = {
    "source": MATRICES, "kind": "convention", "reading": "near diagonal at every depth that was trained", "assumes": (
        r"""$d = 10$, $n = 20$, $x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$; three trainings a depth, each the best of several starts""",
        r"""among the starts are DIAG of the same depth unchanged, with a small random part, and with a column
        $\mathbf{P}_{xy}$ added in one layer; and random ones: each training names the start of its best result""",
        r"""tokens rescaled to second moments of order 1; shares do not change under $\mathbf{P} \to c \mathbf{P}$,
        $\mathbf{Q} \to \mathbf{Q}/c$""",
        rf"near means a share of at most {NEAR:g} in every matrix; of the last $\mathbf{{P}}$ only the row that the prediction reads")}

claim("lt.near-diagonal/two-layers",
      bound(off_diagonal, SHARE, of="share", high=NEAR, control={"layers": 4}, method="training"),
      expected="supported", over={"noise": NOISES, "layers": 2, "training": TRAININGS},
      title="two layers end near diagonal matrices", finding=shares_of(2, noises=NOISES, trainings=TRAININGS), **NEARNESS)
claim("lt.near-diagonal/deeper",
      bound(off_diagonal, SHARE, of="share", high=NEAR, control=({"layers": 2}, {"but": 3}), method="training"),
      expected="refuted", over={"noise": NOISES, "layers": (3, 4), "training": TRAININGS},
      title="three and four layers end near diagonal matrices", finding=shares_of(3, 4, noises=NOISES, trainings=TRAININGS),
      shows=at(matrix_maps, found=at(scaled, noise="levels-1-3", layers=4, training=0)),
      corrected=r"""near-diagonal in all but at most three matrices, which may be the structure that the source means:
          in the last layer but one most of the weight of $\mathbf{P}$ is in its column $\mathbf{P}_{xy} = v$, and the
          last layer reads the stored value. With $\mathbf{Q} = \mathrm{diag}(q_x \mathbf{I}, q_y)$ the column adds $v
          (q_x \langle \alpha, x \rangle + q_y \lambda y)$ to every token: one direction of the covariates is given up
          to hold a multiple of the label, which diagonal heads cannot store there. Contexts have the same law in every
          rotated basis, so the direction of $v$ is random""", **NEARNESS)
