"""A ledger judged again from its own data: every verdict, every margin, every control, every grade.

Nothing is measured and nothing of the claims is read but what the ledger holds: a verdict that does not follow from
the intervals and ranges beside it is found here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from lipverify.claims.behind import contradicted
from lipverify.claims.ledger import FORMAT, Cell, Ledger, Record, weakest
from lipverify.claims.reach import condition, reach
from lipverify.claims.record import agree, controls_caught, summary, telling_margin
from lipverify.claims.verdict import OTHER_WAY, Allowed, Interval, conclude, contains, decide, margin, settled
from lipverify.errors import InvalidInput


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Something in a ledger that does not follow from its data."""

    id: str
    where: str
    what: str
    stated: str
    follows: str


def audit(ledger: Ledger) -> tuple[Difference, ...]:
    """All that does not follow, claim by claim; empty for a sound ledger.

    Raises
    ------
    InvalidInput
        If the ledger is of the format before, which holds no proofs.
    """
    if ledger.format != FORMAT:
        raise InvalidInput(
            f"ledger: its format is {ledger.format!r}, which does not hold the proofs of its cells, so it cannot be "
            f"audited; verify again for one of the format {FORMAT!r}."
        )
    ids = [record.id for record in ledger.claims]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    found = [Difference(id=id, where="", what="id", stated=f"{ids.count(id)} claims", follows="one") for id in twice]
    proved = [
        _difference(claim, "", "verdict", claim.verdict, f"{proof.verdict}, by {proof.id}")
        for claim, proof in contradicted(ledger.claims)
    ]
    return (*found, *proved, *(each for record in ledger.claims for each in _record(record)))


def _record(record: Record) -> Iterator[Difference]:
    """The differences of one claim."""
    for cell in record.cells:
        for what, stated, follows in _cell(cell):
            yield _difference(record, _place(cell), what, stated, follows)
    for check in record.cross_checks:
        agrees = agree(check.values, check.errors)
        if check.agrees != agrees:
            yield _difference(record, f"{check.quantity} {check.where}", "agrees", check.agrees, agrees)
    if record.verdict == "error":
        if not record.problem:
            yield _difference(record, "", "problem", "none", "an error has a reason")
        return
    verdict = conclude((c.verdict for c in record.cells), (c.agrees for c in record.cross_checks))
    claimed = {
        "verdict": (record.verdict, verdict),
        "control": (record.control.caught, controls_caught(record.verdict, record.cells)),
        "grade": (record.grade, weakest(cell.grade for cell in record.cells)),
        "measured": (record.measured, summary(record.cells)),
        "margin": (record.margin, telling_margin(record.cells)),
        "range": (record.range, reach(record.cells, record.verdict, record.id)),
        "condition": (record.condition, condition(record.cells, record.verdict)),
    }
    for what, (stated, follows) in claimed.items():
        if stated != follows:
            yield _difference(record, "", what, stated, follows)


def _cell(cell: Cell) -> Iterator[tuple[str, Any, Any]]:
    """(what, stated, what follows) of one cell and of its control."""
    control = cell.control
    if not _numbers(cell):
        yield "numbers", "not-a-number or infinite", "finite numbers, or none where unbounded"
    stated_and_follows = {
        "verdict": (cell.verdict, settled(cell.alone, decide(control.interval, control.allowed))),
        "margin": (cell.margin, margin(cell.interval, cell.allowed)),
        "control's verdict": (control.verdict, decide(control.interval, control.allowed)),
        "control's margin": (control.margin, margin(control.interval, control.allowed)),
        "control must be": (control.expects, OTHER_WAY.get(cell.alone, "refuted")),
    }
    for what, (stated, follows) in stated_and_follows.items():
        if stated != follows:
            yield what, stated, follows
    # where nothing is known of a cell, nothing is known of its control, at whatever coordinates that is measured
    known = any(map(math.isfinite, cell.interval.ends))
    if known and control.interval == cell.interval and _no_control(cell.allowed, control.allowed, control.expects):
        yield "control", _said(control.allowed), "a statement that is not implied by the claim"
    if not cell.note and not _is_measured(cell):
        yield "interval", _said(cell.interval), f"{cell.measured} ± {cell.error}"


def _no_control(claimed: Allowed, control: Allowed, expects: str) -> bool:
    """True if a control could not fail: a false one that allows all that the claim allows, or a true one less."""
    wide, narrow = (control, claimed) if expects == "refuted" else (claimed, control)
    return contains(wide, narrow)


def _is_measured(cell: Cell) -> bool:
    """Whether the interval is measured ± error, to the rounding of taking its middle."""
    low, high = cell.interval.ends
    if cell.measured is None or cell.error is None:
        return not math.isfinite(high - low)
    rounding = 4 * sys.float_info.epsilon * (abs(low) + abs(high))
    return abs(cell.measured - cell.error - low) <= rounding and abs(cell.measured + cell.error - high) <= rounding


def _numbers(cell: Cell) -> bool:
    """Whether all numbers of a cell are finite."""
    control = cell.control
    ends = [cell.allowed.low, cell.allowed.high, cell.interval.low, cell.interval.high, control.low, control.high]
    numbers = [
        cell.measured,
        cell.error,
        cell.margin,
        *ends,
        control.interval.low,
        control.interval.high,
        control.margin,
    ]
    return all(number is None or math.isfinite(number) for number in numbers)


def _place(cell: Cell) -> str:
    return f"{cell.quantity} at {', '.join(f'{name} = {value}' for name, value in cell.where.items()) or 'the point'}"


def _said(held: Allowed | Interval) -> str:
    low, high = held.ends
    return f"{low:g} to {high:g}"


def _difference(record: Record, where: str, what: str, stated: Any, follows: Any) -> Difference:
    return Difference(id=record.id, where=where, what=what, stated=str(stated), follows=str(follows))
