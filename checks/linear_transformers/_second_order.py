"""What the files on Theorem 5.1 share: its words, what is assumed, and a cell for an order of growth."""

from __future__ import annotations

from typing import Any

import msgspec

from lipverify.claims.claim import CellPlan, Task
from lipverify.claims.ledger import Source
from lipverify.claims.scaling import allowed_exponents, read_exponent

THEOREM = Source(
    paper="V",
    place="Theorem 5.1",
    printed=r"GD++ (only $\omega_{xx}$ and $\omega_{yx}$) predicts within $\epsilon \|x_t\| \|w^*\|$ of least squares after "
    r"$O(\log \kappa + \log \log 1/\epsilon)$ layers, $\kappa$ the condition number",
)
TWIN = msgspec.structs.replace(THEOREM, place="Theorem 5.1, a twin that is not printed")
READING = msgspec.structs.replace(THEOREM, place="Theorem 5.1, another reading")
ASSUMED = (
    r"$\Sigma = \sum_i x_i x_i^\top$ has its eigenvalues in $[1/\kappa, 1]$, in units of the largest",
    r"$w^*$ is the least-squares solution; the labels may be noisy",
)
CHOSEN = "$\\omega_{xx}$ is the best one for $\\kappa$ in each layer, $\\omega_{yx}$ acts in the last alone"
ACCURACIES, CONDITIONS = (0.5, 1e-6, 1e-12), (2.0, 10.0, 1e3, 1e6)


def order_cell(where: dict[str, Any], task: Task, quantity: str) -> CellPlan:
    """A cell for at most the first power of a logarithm; the control is its square root."""
    return CellPlan(
        where=where,
        task=task,
        quantity=quantity,
        read=lambda found, allowed: read_exponent(found.layers, allowed),
        claimed="≤ 1",
        allowed=allowed_exponents("upper", 1.0),
        control=allowed_exponents("upper", 0.5),
    )
