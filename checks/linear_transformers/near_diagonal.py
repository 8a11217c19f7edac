r"""Full matrices P and Q end near the diagonal, with some low-rank component.

Two layers end near the diagonal alone. Of three and four layers a few matrices do not: in the last layer but one most of the
weight of P is in its column xy, which stores a multiple of the label in one direction of the covariates. With a part of rank two
every matrix is near its form; a part of rank one is enough for up to three layers, and not for all matrices of four.
"""

from __future__ import annotations

from typing import Any

from lipverify.checks.linear_transformers.diagonal_shares import beyond_rank, off_diagonal, scaled
from lipverify.checks.linear_transformers.figures import matrix_maps
from lipverify.checks.linear_transformers.quantities import TRAININGS
from lipverify.claims import at, bound, claim

# fmt: off
HEADINGS = {"lt.near-diagonal": (11, 7, "Full matrices end near the diagonal")}
REBUTTAL = ("V", "Rebuttal 3, learned attention matrices", """the learned attention matrices for the full case (see example in the PDF
    attached above) converge to the near-diagonal matrix, but with some additional structure as well.""")
WEIGHTS = ("V", "Section 5, learned weights", """The weights are very diagonal heavy, potentially with some low-rank component.""")
NEAR = 0.1
"""The largest share of squared weights beyond the form for which a matrix counts as near to it."""
NOISES = ("uniform-3", "levels-1-3")
SHARE = r"\max_{l, \mathbf{P}, \mathbf{Q}} 1 - \|\mathrm{diag}\|^2 / \|\cdot\|_F^2"
LEFT = r"\max_{l, \mathbf{P}, \mathbf{Q}} \min_{D, R} \|\cdot - D - R\|_F^2 / \|\cdot\|_F^2"
ASSUMED = (r"""$d = 10$, $n = 20$, $x_i, w^* \sim \mathcal{N}(0, \mathbf{I})$; three trainings a depth, each the best of several starts""",
           r"""among the starts are DIAG of the same depth unchanged, with a small random part, and with a column
           $\mathbf{P}_{xy}$ added in one layer; and random ones: each training names the start of its best result""",
           r"""tokens rescaled to second moments of order 1; shares do not change under $\mathbf{P} \to c \mathbf{P}$,
           $\mathbf{Q} \to \mathbf{Q}/c$""",
           rf"near means a share of at most {NEAR:g} in every matrix; of the last $\mathbf{{P}}$ only the row that the prediction reads")
ALONE: dict[str, Any] = {"source": REBUTTAL, "kind": "convention", "reading": "near diagonal at every depth that was trained",
                         "assumes": ASSUMED}
WITH_RANK: dict[str, Any] = {"kind": "convention", "assumes": (*ASSUMED, "the worst of three trainings; $D$ diagonal, $R$ of this rank")}

claim("lt.near-diagonal/two-layers",
      bound(off_diagonal, SHARE, high=NEAR, control={"layers": 4}, method="training"),
      expected="supported", over={"noise": NOISES, "layers": 2, "training": TRAININGS},
      title="two layers end near diagonal matrices", **ALONE)
claim("lt.near-diagonal/deeper",
      bound(off_diagonal, SHARE, high=NEAR, control=(0.001, {"but": 3}), method="training"),
      expected="refuted", over={"noise": NOISES, "layers": (3, 4), "training": TRAININGS},
      title="three and four layers end near diagonal matrices",
      shows=at(matrix_maps, found=at(scaled, noise="levels-1-3", layers=4, training=0)),
      corrected=r"""near-diagonal in all but at most three matrices: in the last layer but one most of the weight of $\mathbf{P}$ is in
          its column $\mathbf{P}_{xy} = v$, and the last layer reads the stored value. With $\mathbf{Q} = \mathrm{diag}(q_x \mathbf{I},
          q_y)$ the column adds $v (q_x \langle \alpha, x \rangle + q_y \lambda y)$ to every token: one direction of the covariates is
          given up to hold a multiple of the label, which diagonal heads cannot store there""", **ALONE)
claim("lt.near-diagonal/rank-two",
      bound(beyond_rank, LEFT, high=NEAR, control={"rank": 0}, over={"rank": 2, "noise": NOISES, "layers": (3, 4)}, method="training"),
      source=REBUTTAL, reading="near a diagonal matrix plus one of rank two", expected="supported",
      title="three and four layers end near diagonal matrices plus matrices of rank two", **WITH_RANK)
claim("lt.near-diagonal/low-rank",
      bound(beyond_rank, LEFT, high=NEAR, control={"rank": 0}, over={"rank": 2, "noise": "levels-1-3", "layers": 4}, method="training"),
      source=WEIGHTS, reading="a low-rank component of rank two", expected="supported",
      title="four layers at {1, 3} end near diagonal matrices plus matrices of rank two", **WITH_RANK)
claim("lt.near-diagonal/rank-one",
      bound(beyond_rank, LEFT, high=NEAR, control=({"rank": 0}, {"layers": 3}), over={"rank": 1, "noise": "levels-1-3", "layers": 4},
            method="training"),
      source=WEIGHTS, reading="a low-rank component of rank one", expected="refuted",
      title="four layers at {1, 3} end near diagonal matrices plus matrices of rank one",
      corrected="three layers do; of four layers one matrix in each training has a share just above the tenth beyond rank one", **WITH_RANK)
