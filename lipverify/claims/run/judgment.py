"""Make the record of a claim from its measurements: its cells, its cross-checks, its verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from lipverify.claims.language.file import location_of
from lipverify.claims.ledger.reach import agree, controls_caught, follows, middle, repeated_by
from lipverify.claims.ledger.record import (
    GRADES,
    Cell,
    CellControl,
    Control,
    CrossCheck,
    ProofRecord,
    Record,
)
from lipverify.claims.ledger.verdict import Allowed, Verdict, conclude, decide, margin, settled
from lipverify.claims.plan.claim import CellPlan, Claim, CrossPlan, Estimate, Measurement
from lipverify.claims.plan.measured import Arguments, growth_along, number
from lipverify.claims.plan.proved import OWN, Stood
from lipverify.claims.run.deciding import step_of
from lipverify.claims.run.measurement import Outcome
from lipverify.claims.run.ran import Ran, behind, no_stronger
from lipverify.errors import InvalidInput
from lipverify.foundation.latex import plain
from lipverify.foundation.process import Interrupted
from lipverify.foundation.quoting import told
from lipverify.loss.methods import best_grade


def record(claim: Claim, outcomes: Mapping[str, Outcome]) -> Record:
    """The record of one claim: the verdict with everything that led to it."""
    gathered = {address: outcomes[address] for address in claim.measurements}
    cost = sum(outcome.seconds for outcome in gathered.values())
    problem = next((outcome.problem for outcome in gathered.values() if outcome.problem), "")
    results = {address: outcome.result for address, outcome in gathered.items()}
    if problem:
        return _describe(claim, cost, verdict="error", problem=problem, caught=False)
    try:
        cells = tuple(_cell(claim, plan, results, standing(plan, outcomes)) for plan in claim.cells)
        crossed = tuple(_cross_check(plan, outcomes) for plan in claim.evidence.cross_checks)
        verdict = conclude((c.verdict for c in cells), (c.agrees for c in crossed))
        disagree = not all(check.agrees for check in crossed)
        figures, tables = claim.made_shows(results)

        def judge(plan: CellPlan, foreseen: Mapping[str, Any]) -> Cell:
            return _cell(claim, plan, {**results, **foreseen}, standing(plan, outcomes))

        step = step_of(claim, cells, outcomes, judge) if verdict == "inconclusive" and not disagree else None
        return _describe(
            claim,
            cost,
            **follows(claim.id, cells, crossed),
            step=step,
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
        title=claim.title,
        statement=claim.statement,
        source=claim.source,
        kind=claim.kind,
        assumptions=claim.assumptions,
        expected=claim.expected,
        claimed=claim.claimed,
        control=control_of(claim, fields["verdict"], caught),
        seconds=round(cost, 2),
        reproduce=repeated_by(claim.file, claim.id),
        heading=claim.heading,
        corrected=claim.corrected,
        proves=claim.proves,
        reading=claim.reading,
        tried=claim.tried,
        file=claim.file,
        **fields,
    )


def control_of(claim: Claim, verdict: Verdict, caught: bool) -> Control:
    """The control that had to come out the other way."""
    if verdict == "refuted":
        return Control(statement=claim.true_control, caught=caught, latex=claim.true_latex)
    return Control(statement=claim.false_control, caught=caught, latex=claim.false_latex)


def _cell(claim: Claim, plan: CellPlan, results: Mapping[str, Any], stood: Stood) -> Cell:
    """The verdict of one cell, and of the control that must come out the other way."""
    result = results[plan.measurement.address]
    estimate = plan.read(result, plan.allowed)
    allowed = estimate.allowed or plan.allowed
    alone = decide(estimate.interval, allowed)
    control = _control(plan, alone, estimate, results)
    measured, error = middle(estimate.measured or estimate.interval)
    claimed, claimed_latex = plan.claimed, plan.claimed_latex
    if estimate.allowed is not None:
        claimed = claimed_latex = allowed_in_words(allowed)
    if stood.proof is not None and alone != "refuted" and _overstated(claim, plan, stood.proof):
        stood = Stood("bounded", stood.method)
    return Cell(
        where=plan.where,
        given=plan.given,
        ray=plan.ray,
        quantity=plain(estimate.quantity) or plan.quantity,
        method=stood.method,
        grade=stood.grade,
        proof=stood.proof,
        measured=measured,
        error=error,
        interval=estimate.interval,
        claimed=claimed,
        allowed=allowed,
        edges={} if estimate.allowed else plan.edges,
        verdict=settled(alone, control.verdict),
        margin=margin(estimate.interval, allowed),
        control=control,
        note=estimate.note,
        quantity_latex=estimate.quantity or plan.quantity_latex,
        claimed_latex=claimed_latex,
    )


def standing(plan: CellPlan, outcomes: Mapping[str, Outcome]) -> Stood:
    """The evidence for the number of a cell. A limit is "extrapolated", or weaker if a value on its ray is weaker."""
    along = plan.measurement.function is growth_along
    derives = best_grade(plan.method) == "bounded" or plan.grade == "bounded"
    sources = plan.measurement.needs if along else (plan.measurement,)
    values = [_stands(source, plan.of, outcomes, derives) for source in sources]
    worst = max(values, key=lambda stood: list(GRADES).index(stood.grade))
    stood = no_stronger(worst, plan.grade, plan.method)
    return Stood("extrapolated", stood.method) if along and stood.grade in ("proved", "bounded") else stood


def _stands(source: Measurement, of: str, outcomes: Mapping[str, Outcome], derives: bool) -> Stood:
    """The evidence for the value of one measurement."""
    every = list(source.with_needs())
    made = {kind for measurement in every for kind in (outcomes[measurement.address].ran or Ran()).made}
    try:
        _, spread = number(outcomes[source.address].result, of, source.address)
    except InvalidInput:
        spread = math.inf
    sampled = any(
        isinstance(argument, Arguments) and "contexts" in argument.options
        for measurement in every
        for argument in measurement.arguments
    )
    ran = outcomes[source.address].ran or Ran()
    return behind(ran, made, of, spread, derives=derives, sampled=sampled)


def _overstated(claim: Claim, plan: CellPlan, proof: ProofRecord) -> bool:
    """True if the claim speaks of all values of a coordinate while the proof covers only the listed ones.

    A number is exact only at its own coordinates. An expression holds for all values of its symbols, and a theorem for
    those that it names. A refutation needs only one value.
    """
    theorem = proof.statement if proof.kind == "proof file" else ""
    listed = tuple(name for name in plan.where if name not in proof.symbols and not speaks_of_all(theorem, (name,)))
    numbers = proof.kind in ("fraction", "ball") or (proof.kind == "symbolic" and not proof.symbols)
    texts = [claim.title.partition(": ")[0], claim.statement]
    return any(speaks_of_all(text, () if numbers else listed) for text in texts) and bool(listed)


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
    if isinstance(control.allowed, Allowed):
        allowed = control.allowed
        measured = plan.read(results[(control.measurement or plan.measurement).address], allowed)
        distance = unnoticed(plan.allowed, allowed)
        edges = {} if measured.allowed else control.edges
        allowed, interval, quantity = measured.allowed or allowed, measured.interval, measured.quantity
    else:  # the nearest statement that this interval supports
        allowed, interval, quantity = control.allowed(estimate.interval), estimate.interval, estimate.quantity
        distance, edges = unnoticed(estimate.allowed or plan.allowed, allowed), control.edges
    return CellControl(
        says=control.says,
        low=allowed.low,
        high=allowed.high,
        open=allowed.open,
        edges=edges,
        interval=interval,
        verdict=decide(interval, allowed),
        expects="supported" if verdict == "refuted" else "refuted",
        margin=margin(interval, allowed),
        quantity="" if quantity == estimate.quantity else plain(quantity) or plan.quantity,
        unnoticed=distance if control.measurement is None else None,
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
        next(
            (stood.method for stood in (outcomes[measurement.address].ran or Ran()).stood.get(of, ())),
            _stands(measurement, of, outcomes, True).method,
        )
        for measurement, of in zip(plan.measurements, plan.of, strict=True)
    ]
    ran = tuple(name if word == OWN else word for word, name in zip(words, plan.functions, strict=True))
    first, second = next((pair for pair in (ran, plan.functions, plan.of) if len(set(pair)) == 2), ran)
    return first, second


def speaks_of_all(text: str, names: tuple[str, ...]) -> bool:
    r"""True if a text makes a statement for all values of one of these coordinates, or of anything if `names` is empty.

    >>> speaks_of_all("the sum vanishes for every d", ("d",)), speaks_of_all("for every n, at d = 2", ("d",))
    (True, False)
    >>> speaks_of_all(r"\forall m: m^2 - m + 41", ()), speaks_of_all("2 + 2 = 4", ())
    (True, False)
    """
    for match in re.finditer(r"\b(?:every|all|any|each|whatever)\b|\\forall", text, re.IGNORECASE):
        reach = re.split(r"[.;:,]", text[match.end() : match.end() + 60])[0]  # about ten words of a sentence
        if not names or any(re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", reach) for name in names):
            return True
    return False
