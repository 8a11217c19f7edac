r"""Review 3 on Theorem 4: any component of M orthogonal to col(B) increases the loss.

It does if it is added to the optimal matrix, and not if it is added to any matrix: at a small c a large one lowers the loss.
"""

from lipverify.checks.softmax.lowrank import TASKS
from lipverify.checks.softmax.lowrank_proofs import POINTS, REST, TINY, TINY_BALL
from lipverify.checks.softmax.lowrank_radius import proved_best, proved_gain
from lipverify.claims import bound, claim

# fmt: off
REVIEW_3 = ("R", "Review 3, strengths",
    "use a careful symmetry argument to show that any non-zero component in the orthogonal subspace increases the loss")
claim("lowrank.directions/orthogonal/optimum/proved",
      bound(proved_best, REST, of="rest", high="0", control={"low": "0.01"}, over=POINTS, method="certified"),
      source=REVIEW_3, kind="convention", reading="added to the optimal matrix", expected="supported",
      title="any component orthogonal to col(B) increases the loss of the optimal matrix",
      statement=r"""\mathbf{B}_\perp^\top \mathbf{M} \neq 0 \text{ or } \mathbf{M} \mathbf{B}_\perp \neq 0 \implies
          \mathcal{L}(\mathbf{M}) > \mathcal{L}(\mathbf{M}^*)""",
      assumes=(r"tokens and query uniform on $S^{d-1}$", TASKS, r"the $d$, $k$, $n$, $\sigma$ and $C$ of the cells",
               r"all $\mathbf{M}$ with $\|\mathbf{B}^\top \mathbf{M} \mathbf{B}\|_2 \leq C$"),
      finding="`lowrank.recovery/sphere/every-matrix/proved`: the optimal matrix is the only one, and it has no such component.")
claim("lowrank.directions/orthogonal/any-matrix/proved",
      bound(proved_gain, r"\min_{|c| \leq C} \mathcal{L}(c \mathbf{B} \mathbf{B}^\top) - \mathcal{L}(\mathbf{M})", high="0",
            control=({"low": "2.2e-3"}, {"low": "1.8e-3", "high": "2.2e-3"}), over=TINY, method="certified"),
      source=REVIEW_3, kind="convention", reading="added to any matrix", expected="refuted",
      title="any component orthogonal to col(B) increases the loss of any matrix: disproved",
      statement=r"""\mathcal{L}(c \mathbf{B} \mathbf{B}^\top) < \mathcal{L}(c \mathbf{B} \mathbf{B}^\top + c' \mathbf{B}_\perp
          \mathbf{B}_\perp^\top)""",
      assumes=(r"tokens and query uniform on $S^{d-1}$", TASKS, TINY_BALL),
      finding=r"""At a small $c$ a large $c'$ lowers the loss. The theorem needs the best $c$ of a ball of radius $C = \Omega(1)$.""",
      corrected="a component orthogonal to col(B) increases the loss at the best $c$, and not at every $c$")
