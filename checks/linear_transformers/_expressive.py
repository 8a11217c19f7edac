"""What the files on Theorem 4.2 share: its words, what is assumed, the transformers that are run, a cell for a constant."""

from __future__ import annotations

from typing import Any

import msgspec

from lipverify.claims.claim import CellPlan, Reading, Task
from lipverify.claims.ledger import Source
from lipverify.claims.linear_transformers.expressive import transformer_alignment
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval

THEOREM = Source(
    paper="V",
    place="Theorem 4.2",
    printed=r"for $x \sim N(0, \mathbf{I})$, $y = w^\top x$ and the target $y^* = x(1)^2$ the cosine similarity of $y^l$ and $y^*$ is $O(\sqrt{d/n})$, at most 0.1 for $n \gg d$",
)
TWIN = msgspec.structs.replace(THEOREM, place="Theorem 4.2, a twin that is not printed")
READING = msgspec.structs.replace(THEOREM, place="Theorem 4.2, another reading")
ASSUMED = (
    r"tokens $x_i \sim N(0, \mathbf{I})$ in $\mathbb{R}^d$, labels $y = \mathbf{X} w$ without noise, $y^* = x(1)^2$ token by token",
    r"$y^l = a y - \mathbf{X} w^l = \mathbf{X} v$ for some $v \in \mathbb{R}^d$, whatever the weights (Theorem 4.1)",
)
BEST = "the best $v$ for each context; root mean square over contexts"
MODELS = ((3, 300, 2, 2, False), (3, 300, 1, 1, True), (10, 1000, 3, 1, False), (10, 1000, 4, 2, True))
"""(d, n, layers, heads, w = e_1) of the transformers that are run."""


def ladder_points(profile: Profile) -> int:
    """How many points a ladder in n has."""
    return 13 if profile.name == "quick" else 25


def random_models(profile: Profile) -> dict[tuple[Any, ...], Task]:
    """The transformers with random weights, by (d, n, layers, heads, w = e_1)."""
    contexts = 400 if profile.name == "quick" else 6000
    return {model: Task(transformer_alignment, (*model, contexts, profile.seed)) for model in MODELS}


def constant_cell(d: int, task: Task) -> CellPlan:
    """The limit of n E cos² in dimension d."""

    def read(found: Any, _: Allowed) -> Reading:
        limit, error = found.limit_of_ratio(-0.5)
        return Reading(Interval((limit - error) ** 2, (limit + error) ** 2))

    return CellPlan(
        where={"d": d},
        task=task,
        quantity="limit of n E cos²",
        read=read,
        claimed=f"= {d + 4}",
        allowed=Allowed.near(d + 4.0, 1e-9),
        control=Allowed.near(float(d), 1e-9),
    )
