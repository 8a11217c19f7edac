"""From what was measured to the record of a claim: its cells, its cross-checks, its verdict."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lipverify.claims.claim import CellPlan, Claim, CrossPlan
from lipverify.claims.ledger import Cell, Control, CrossCheck, Record
from lipverify.claims.measurement import Outcome
from lipverify.claims.place import place
from lipverify.claims.verdict import Interval, conclude, decide, margin

ALARM_FACTOR = 2.0


def record(claim: Claim, outcomes: Mapping[str, Outcome]) -> Record:
    """The verdict on one claim, with everything that led to it."""
    gathered = {address: outcomes[address] for address in claim.tasks}
    cost = sum(outcome.seconds for outcome in gathered.values())
    problem = next((outcome.problem for outcome in gathered.values() if outcome.problem), "")
    mine = {address: outcome.result for address, outcome in gathered.items()}
    if problem:
        return _describe(claim, cost, verdict="error", problem=problem, caught=False)
    try:
        cells = tuple(_cell(plan, mine[plan.task.address]) for plan in claim.cells)
        crossed = tuple(_cross_check(plan, mine) for plan in claim.cross_checks)
        caught = all(cell.control == "refuted" for cell in cells)
        verdict = conclude((c.verdict for c in cells), (c.control for c in cells), (c.agrees for c in crossed))
        return _describe(
            claim,
            cost,
            verdict=verdict,
            caught=caught,
            measured=claim.summary(mine) if claim.summary else _summary(cells),
            margin=min((c.margin for c in cells if c.margin is not None), default=None),
            cells=cells,
            cross_checks=crossed,
            figures=claim.figures(mine) if claim.figures else (),
            tables=claim.tables(mine) if claim.tables else (),
            finding=_said(claim.finding, mine),
            corrected=_said(claim.corrected, mine),
        )
    except Exception as error:  # as above: one broken claim is one broken record
        problem = f"{type(error).__name__}: {error}{place(error)}"
        return _describe(claim, cost, verdict="error", problem=problem, caught=False)


def _said(text: Callable[[dict[str, Any]], str] | str, results: dict[str, Any]) -> str:
    """A text of a claim, which may be made from its results."""
    return text if isinstance(text, str) else text(results)


def _describe(claim: Claim, cost: float, *, caught: bool, **outcome: Any) -> Record:
    """A record: the claim's own words and the outcome."""
    fields: dict[str, Any] = {"measured": "", "margin": None, "cells": (), "finding": "", **outcome}
    return Record(
        id=claim.id,
        title=claim.title,
        statement=claim.statement,
        source=claim.source,
        assumptions=claim.assumptions,
        expected=claim.expected,
        claimed=claim.claimed,
        control=Control(statement=claim.control, caught=caught),
        seconds=round(cost, 2),
        reproduce=shlex.join(["lipverify", "verify", *filter(None, [claim.file]), claim.id]),
        heading=claim.heading,
        **fields,
    )


def _cell(plan: CellPlan, result: Any) -> Cell:
    """One cell's verdict and its control's."""
    reading, twin = plan.read(result, plan.allowed), plan.read(result, plan.control)
    measured, error = _middle(reading.shown or reading.interval)
    return Cell(
        where=plan.where,
        quantity=plan.quantity,
        method=plan.method,
        measured=measured,
        error=error,
        claimed=plan.claimed,
        allowed=plan.allowed,
        verdict=decide(reading.interval, plan.allowed),
        margin=margin(reading.interval, plan.allowed),
        control=decide(twin.interval, plan.control),
        note=reading.note,
    )


def _middle(interval: Interval) -> tuple[float | None, float | None]:
    low, high = interval.low, interval.high
    return (None, None) if low is None or high is None else (float(low + high) / 2, float(high - low) / 2)


def _cross_check(plan: CrossPlan, results: dict[str, Any]) -> CrossCheck:
    """Two methods agree if their values differ by no more than twice their errors together.

    A 95 % half-width is about two standard errors; a run has a dozen such checks, and at four standard
    errors the chance of a false alarm in any of them is below one in a thousand.
    """
    values, errors = plan.read(*(results[task.address] for task in plan.tasks))
    return CrossCheck(
        where=plan.where,
        quantity=plan.quantity,
        methods=plan.methods,
        values=values,
        errors=errors,
        agrees=abs(values[0] - values[1]) <= ALARM_FACTOR * sum(errors),
    )


def _summary(cells: Sequence[Cell]) -> str:
    """What the cells found, in a few words: the range of what was measured, and where that refutes."""
    values = [cell.measured for cell in cells if cell.measured is not None]
    ends = [f"{value:.3g}" for value in (values[0], values[-1])] if values else []
    found = " to ".join(dict.fromkeys(ends))
    refuted = [cell for cell in cells if cell.verdict == "refuted"]
    if refuted:
        dimensions = dict.fromkeys(str(cell.where["d"]) for cell in refuted if "d" in cell.where)
        return f"{found}: refuted at {'d=' + ', '.join(dimensions) if dimensions else 'what was measured'}"
    supported = sum(cell.verdict == "supported" for cell in cells)
    return f"{found}: consistent in {supported} of {len(cells)}"
