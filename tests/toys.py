"""Minimal claims for tests of the runner, and the parts from which tests build their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lipverify.claims.ledger import Allowed, Grade, Interval, Source
from lipverify.claims.plan import CellPlan, Claim, ControlPlan, CrossPlan, Estimate, Evidence, Measurement


def cell(
    measurement: Measurement,
    allowed: Allowed,
    false: Allowed,
    *,
    where: dict[str, Any] | None = None,
    interval: Callable[[Any], Interval] = lambda found: Interval.around(*found),
    says: str = "a control",
    grade: Grade | None = None,
    method: str | None = None,
) -> CellPlan:
    """A cell that is judged by the interval of its result; its true control holds for every toy."""
    return CellPlan(
        where=where or {},
        measurement=measurement,
        quantity="x",
        read=lambda found, _: Estimate(interval(found)),
        claimed="as allowed",
        allowed=allowed,
        false=ControlPlan(says, false),
        true=ControlPlan("within a million", Allowed(-1e6, 1e6)),
        method=method,
        grade=grade,
    )


def claim(
    *cells: CellPlan, id: str = "toy.value", expected: Any = "supported", proves: str = "", **evidence: Any
) -> Claim:
    crossed: tuple[CrossPlan, ...] = evidence.pop("cross_checks", ())
    return Claim(
        id=id,
        title="A value",
        statement="x = 1",
        source=Source("S", "a slide", "$x$ is one"),
        kind="printed",
        claimed="x = 1 ± 0.1",
        false_control="x = 1.3 ± 0.1",
        true_control="what it is",
        expected=expected,
        proves=proves,
        plan=lambda: Evidence(cells=cells, cross_checks=crossed, **evidence),
    )
