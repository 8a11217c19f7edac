"""Make the record of a claim from its measurements: its cells, its cross-checks, its verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from lipverify.claims.evidence.grade import ORDER, OWN, Basis, grade_of, weakest
from lipverify.claims.evidence.ranges import left_out
from lipverify.claims.evidence.returned import Ran, Returned
from lipverify.claims.language.file import location_of
from lipverify.claims.language.form import UNDECLARED
from lipverify.claims.ledger.reach import agree, controls_caught, follows, middle, repeated_by
from lipverify.claims.ledger.record import COPIED, Cell, CellControl, Control, CrossCheck, Record
from lipverify.claims.ledger.verdict import Allowed, Interval, Verdict, conclude, decide, margin, settled
from lipverify.claims.plan.claim import CellPlan, Claim, CrossPlan, Estimate, Measurement
from lipverify.claims.plan.measured import growth_along, number, options_of
from lipverify.claims.run.measurement import NEEDLESS, Outcome
from lipverify.errors import InvalidInput
from lipverify.foundation.latex import plain
from lipverify.foundation.noted import Grade
from lipverify.foundation.process import Interrupted
from lipverify.foundation.quoting import told
from lipverify.loss.methods import best_grade


def record(claim: Claim, outcomes: Mapping[str, Outcome]) -> Record:
    """The record of one claim: the verdict with everything that led to it."""
    gathered = {address: outcomes[address] for address in claim.measurements}
    cost = sum(outcome.seconds for outcome in gathered.values())
    problems = [outcome.problem for outcome in gathered.values() if outcome.problem]
    results = {address: outcome.result for address, outcome in gathered.items()}
    if problems:
        problem = next((problem for problem in problems if problem != NEEDLESS), NEEDLESS)
        return _describe(claim, cost, verdict="error", problem=problem, caught=False)
    try:
        cells = tuple(_cell(plan, results, basis_of(plan, outcomes)) for plan in claim.cells)
        crossed = tuple(_cross_check(plan, outcomes) for plan in claim.evidence.cross_checks)
        verdict = conclude((c.verdict for c in cells), (c.agrees for c in crossed))
        if verdict == "supported" and (why := uncovered(claim.forall, claim.by_hand, cells)):
            raise InvalidInput(why)
        figures, tables = claim.made_shows(results, cells)
        return _describe(
            claim,
            cost,
            **follows(claim.id, cells, crossed, claim.forall, claim.by_hand),
            caught=controls_caught(verdict, cells),
            cells=cells,
            cross_checks=crossed,
            figures=figures,
            tables=tables,
            finding=claim.made_finding(results),
        )
    except Interrupted:
        raise
    except BaseException as error:  # an error in one claim must not affect the others
        problem = f"{told(error)}{location_of(error)}"
        return _describe(claim, cost, verdict="error", problem=problem, caught=False)


def _describe(claim: Claim, cost: float, *, caught: bool, **outcome: Any) -> Record:
    fields: dict[str, Any] = {"measured": "", "margin": None, "grade": None, "cells": (), "finding": "", **outcome}
    return Record(
        id=claim.id,
        control=control_of(claim, fields["verdict"], caught),
        seconds=round(cost, 2),
        reproduce=repeated_by(claim.file, claim.id),
        file=claim.file,
        **{name: getattr(claim, name) for name in COPIED},
        **fields,
    )


def uncovered(forall: Sequence[str], by_hand: str, cells: Sequence[Cell]) -> str:
    """Why the evidence does not cover the range that a claim declares; empty if it does, or an argument does."""
    if by_hand:
        return ""
    for cell in cells:
        theorems = [condition for theorem in cell.basis.returned.theorems for condition in theorem.ranges]
        if missing := left_out(forall, [*cell.basis.returned.symbols, *theorems]):
            rule = (
                "a range is declared if an expression has its letters as symbols, or a certified theorem holds for it"
            )
            way_out = (
                "return an expression before it is simplified to 0, declare less, or name the document with the "
                "argument in by_hand="
            )
            told = f"forall = {', '.join(forall)}: the evidence for {cell.quantity} leaves out {missing}"
            return f"{told}; {rule}; {way_out}."
    return ""


def control_of(claim: Claim, verdict: Verdict, caught: bool) -> Control:
    """The control that had to come out the other way."""
    if verdict == "refuted":
        return Control(statement=claim.true_control, caught=caught, latex=claim.true_latex)
    return Control(statement=claim.false_control, caught=caught, latex=claim.false_latex)


def _cell(plan: CellPlan, results: Mapping[str, Any], basis: Basis) -> Cell:
    """The verdict of one cell, its grade, and the control that must come out the other way."""
    result = results[plan.measurement.address]
    estimate = plan.read(result, plan.allowed)
    allowed = estimate.allowed or plan.allowed
    alone = decide(estimate.interval, allowed)
    control = _control(plan, alone, estimate, results)
    measured, error = middle(estimate.measured or estimate.interval)
    claimed, claimed_latex = plan.claimed, plan.claimed_latex
    if estimate.allowed is not None:
        claimed = claimed_latex = allowed_in_words(allowed)
    cell = Cell(
        where=plan.where,
        given=plan.given,
        ray=plan.ray,
        quantity=plain(estimate.quantity) or plan.quantity,
        method="",
        grade="estimated",
        measured=measured,
        error=error,
        interval=estimate.interval,
        claimed=claimed,
        allowed=allowed,
        edges={} if estimate.allowed else plan.edges,
        verdict=settled(alone, control.verdict) if control.declared else alone,
        margin=margin(estimate.interval, allowed),
        control=control,
        ratio=estimate.ratio,
        note=estimate.note,
        quantity_latex=estimate.quantity or plan.quantity_latex,
        claimed_latex=claimed_latex,
        basis=basis,
    )
    grade, reasons = cell.graded
    return replace(cell, grade=grade, reasons=reasons, method=method_of(basis, plan.method, grade))


def method_of(basis: Basis, stated: str | None, grade: Grade) -> str:
    """The method of a cell: the claim's own word if that is earned, else the method that ran."""
    implied = best_grade(stated)
    earned = stated is not None and (implied is None or weakest([implied, grade]) == implied)
    return stated if stated is not None and earned else basis.method


def basis_of(plan: CellPlan, outcomes: Mapping[str, Outcome]) -> Basis:
    """What the number of a cell rests on; of a limit, the weakest of the values on its ray."""
    along = plan.measurement.function is growth_along
    sources = plan.measurement.needs if along else (plan.measurement,)
    best, derives = declared(plan)
    bases = [replace(ran_for(source, plan.of, outcomes), best=best, derives=derives) for source in sources]
    return max(bases, key=lambda basis: ORDER.index(grade_of(basis, plan.quantity_latex)[0]))


def declared(plan: CellPlan) -> tuple[Grade | None, bool]:
    """The best grade that a claim or its method allows, and whether it says that it derives numbers from bounds."""
    implied = best_grade(plan.method)
    allowed = [grade for grade in (plan.grade, implied) if grade is not None]
    return weakest(allowed), implied in ("proved", "bounded") or plan.grade == "bounded"


def ran_for(source: Measurement, of: str, outcomes: Mapping[str, Outcome]) -> Basis:
    """What the value of one measurement rests on: what was returned, and what ran in it and in all that it needs."""
    ran = [outcomes[measurement.address].ran or Ran() for measurement in source.with_needs()]
    try:
        _, stated = number(outcomes[source.address].result, of, source.address)
    except InvalidInput:
        stated = math.inf
    return Basis(
        returned=ran[-1].returned.get(of, Returned()),
        stated=stated if math.isfinite(stated) else None,
        made=tuple(sorted({made for one in ran for made in one.made})),
        by=ran[-1].by,
        draws="contexts" in options_of(source),
    )


def allowed_in_words(allowed: Allowed) -> str:
    """The allowed range of a claim, in numbers.

    >>> allowed_in_words(Allowed(low=0.5)), allowed_in_words(Allowed(high=2.0, open=True))
    ('≥ 0.5', '< 2')
    >>> allowed_in_words(Allowed(low=1.0, high=1.0)), allowed_in_words(Allowed(low=0.0, high=1.0))
    ('= 1', '≥ 0 and ≤ 1')
    """
    if allowed.low is not None and allowed.low == allowed.high:
        return f"= {allowed.low:g}"
    low, high = (">", "<") if allowed.open else ("≥", "≤")
    ends = (f"{sign} {end:g}" for sign, end in ((low, allowed.low), (high, allowed.high)) if end is not None)
    return " and ".join(ends) or "any value"


def _control(plan: CellPlan, verdict: Verdict, estimate: Estimate, results: Mapping[str, Any]) -> CellControl:
    """The verdict on the control: the true control if the cell refutes, else the false one."""
    control = plan.true if verdict == "refuted" else plan.false
    expects: Verdict = "supported" if verdict == "refuted" else "refuted"
    if control.allowed is None:
        return no_control(expects)
    measured = plan.read(results[(control.measurement or plan.measurement).address], control.allowed)
    allowed = measured.allowed or control.allowed
    return CellControl(
        says=control.says,
        low=allowed.low,
        high=allowed.high,
        open=allowed.open,
        edges={} if measured.allowed else control.edges,
        interval=measured.interval,
        verdict=decide(measured.interval, allowed),
        expects=expects,
        margin=margin(measured.interval, allowed),
        quantity="" if measured.quantity == estimate.quantity else plain(measured.quantity) or plan.quantity,
        unnoticed=unnoticed(plan.allowed, control.allowed) if control.measurement is None else None,
    )


def no_control(expects: Verdict) -> CellControl:
    """The control of a cell for which the claim declares none."""
    nothing = Interval(None, None)
    return CellControl(
        says=UNDECLARED, interval=nothing, verdict="inconclusive", expects=expects, margin=None, declared=False
    )


def unnoticed(claimed: Allowed, control: Allowed) -> float | None:
    """The distance between the control's edges and the claim's."""
    pairs = zip((claimed.low, claimed.high), (control.low, control.high), strict=True)
    moved = [abs(a - b) for a, b in pairs if a is not None and b is not None]
    return max(moved, default=None)


def _cross_check(plan: CrossPlan, outcomes: Mapping[str, Outcome]) -> CrossCheck:
    """Compare two methods: they agree if their values differ by at most twice the sum of their errors.

    A 95 % half-width is about two standard errors. A run has some hundred such checks, and with a threshold of four
    standard errors the probability of any false alarm is below 1 %.
    """
    values, errors = plan.read(*(outcomes[measurement.address].result for measurement in plan.measurements))
    return CrossCheck(
        where=plan.where,
        quantity=plan.quantity,
        methods=_methods(plan, outcomes),
        values=values,
        errors=errors,
        agrees=agree(values, errors),
        quantity_latex=plan.quantity_latex,
    )


def _methods(plan: CrossPlan, outcomes: Mapping[str, Outcome]) -> tuple[str, str]:
    """Names that distinguish the two methods: the code that ran, or the functions, or the quantities that were read."""
    words = [
        replace(ran_for(measurement, of, outcomes), derives=True).method
        for measurement, of in zip(plan.measurements, plan.of, strict=True)
    ]
    own = tuple(name if word == OWN else word for word, name in zip(words, plan.functions, strict=True))
    first, second = next((pair for pair in (own, plan.functions, plan.of) if len(set(pair)) == 2), own)
    return first, second
