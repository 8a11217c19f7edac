"""Minimal claims for tests of the runner, the parts from which tests build their own, and files of claims."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from lipverify.claims.ledger import Allowed, Grade, Interval, Ledger, Record, Source
from lipverify.claims.plan import (
    CellPlan,
    Claim,
    ControlPlan,
    CrossPlan,
    Estimate,
    Evidence,
    Measurement,
    claims_of,
    profile_named,
)

QUICK = profile_named("quick")


def write(folder: Path, text: str, name: str = "my_claims.py") -> str:
    """The path of a new file of claims."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def claims_in(folder: Path, text: str) -> tuple[Claim, ...]:
    """The claims that a text declares as a file."""
    return claims_of(write(folder, text), QUICK)


def findings(ledger: Ledger) -> bytes:
    """All findings of a ledger, without durations."""

    def timeless(record: Record) -> Record:
        return msgspec.structs.replace(record, seconds=0.0)

    return msgspec.json.encode(tuple(map(timeless, ledger.claims)))


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
