r"""Theorem 4.2, where it ends: single contexts, an odd target, a network between the layers."""

from __future__ import annotations

from checks._running import run_file
from checks.linear_transformers._expressive import ASSUMED, BEST, READING, TWIN
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.ledger import Source
from lipverify.claims.linear_transformers.expressive import (
    constant_coordinate,
    odd_target,
    odd_target_limit,
    quadratic_network,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval

REBUTTAL = Source(
    paper="V",
    place="Rebuttal on networks between the layers",
    printed="With nonlinear FFNs, Theorem 4.2 no longer holds.",
)


def claims(profile: Profile) -> tuple[Claim, ...]:
    """A reading, a target and a network that break it."""
    return (
        _every_context(profile),
        _odd(profile),
        _network(profile),
    )


def _every_context(profile: Profile) -> Claim:
    return Claim(
        id="lt.expressive-limit/every-context",
        title="At most 0.1 for every context, however long",
        statement=r"|\cos(y^l, y^*)| \leq 0.1 \text{ for all } x_1, \ldots, x_n, \quad n \gg d",
        source=READING,
        assumptions=ASSUMED,
        claimed="cosine ≤ 0.1",
        control="cosine ≤ 0.05",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"d": d, "n": n},
                task=Task(constant_coordinate, (d, n, profile.seed)),
                quantity="cosine at tokens with x(1) = 1",
                read=lambda found, _: Reading(Interval.around(found, 1e-12)),
                claimed="≤ 0.1",
                allowed=Allowed(high=0.1),
                control=Allowed(high=0.05),
            )
            for d, n in ((1, 1000), (3, 1000), (3, 100_000))
        ),
        corrected=r"the bound holds in root mean square, and with probability tending to 1 as $n/d \to \infty$; not for every context",
        finding="Tokens with $x(1) = 1$ have $y = y^* = 1$ for $w = e_1$. They have probability 0, but by continuity contexts near them do not: no $n$ makes the bound sure.",
    )


def _odd(profile: Profile) -> Claim:
    contexts = 100 if profile.name == "quick" else 1000
    cases = ((1, 1000), (3, 1000), (10, 1000))
    tasks = {case: Task(odd_target, (*case, contexts, profile.seed)) for case in cases}
    return Claim(
        id="lt.expressive-limit/odd-target",
        title="The same bound for the target x(1)³",
        statement=r"\sqrt{\mathbb{E} \cos^2} = O(\sqrt{d/n}) \text{ for } y^* = x(1)^3",
        source=TWIN,
        assumptions=(ASSUMED[0].replace("x(1)^2", "x(1)^3"), ASSUMED[1], BEST),
        claimed="E cos² ≤ 0.01 for n ≫ d",
        control="E cos² ≤ 0.001",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"d": d, "n": n},
                task=task,
                quantity="E cos² for the best v",
                read=lambda found, _: Reading(Interval.around(*found)),
                claimed="≤ 0.01",
                allowed=Allowed(high=0.01),
                control=Allowed(high=0.001),
                method="montecarlo",
            )
            for (d, n), task in tasks.items()
        ),
        extra_tasks=(Task(odd_target_limit),),
        corrected=r"for an odd target $f(x(1))$ the cosine tends to a constant: here $\sqrt{3/5} = 0.775$",
        finding="This twin is not printed. It shows that the theorem is about parity, not about degree: $x(1)^2$ is even and every linear readout is odd, $x(1)^3$ is odd.",
    )


def _network(profile: Profile) -> Claim:
    return Claim(
        id="lt.expressive-limit/network",
        title="A quadratic network between the layers breaks the bound",
        statement=r"\exists \text{ one network } y \mapsto y^2: \quad \cos(y^l, y^*) = 1 > 0.1",
        source=REBUTTAL,
        assumptions=(ASSUMED[0], "$w = e_1$; one network that squares a label, no attention"),
        claimed="cosine > 0.1 for n ≫ d",
        control="cosine ≤ 0.1",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={"d": d, "n": n},
                task=Task(quadratic_network, (d, n, profile.seed)),
                quantity="cosine after y -> y²",
                read=lambda found, _: Reading(Interval.around(found, 1e-12)),
                claimed="> 0.1",
                allowed=Allowed(low=0.1, open=True),
                control=Allowed(high=0.1),
            )
            for d, n in ((1, 1000), (10, 10_000))
        ),
        finding="The rebuttal is right: labels are then no longer odd in the tokens.",
    )


if __name__ == "__main__":
    run_file(__file__)
