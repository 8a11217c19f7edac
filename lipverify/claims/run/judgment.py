"""From what was measured to the record of a claim: its cells, its cross-checks, its verdict."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from lipverify.claims.language.place import place
from lipverify.claims.ledger.plain import plain
from lipverify.claims.ledger.reach import at, condition, reach
from lipverify.claims.ledger.record import GRADES, Cell, CellControl, Control, CrossCheck, ProofRecord, Record, weakest
from lipverify.claims.ledger.verdict import OTHER_WAY, Allowed, Interval, Verdict, conclude, decide, margin, settled
from lipverify.claims.plan.claim import CellPlan, Claim, CrossPlan, Estimate, Measurement
from lipverify.claims.plan.exponents import POWER
from lipverify.claims.plan.growing import growth_along
from lipverify.claims.plan.measured import Point, number
from lipverify.claims.run.deciding import step_of
from lipverify.claims.run.measurement import Outcome
from lipverify.claims.run.ran import Ran, Stood, behind, no_stronger, speaks_of_all
from lipverify.errors import InvalidInput
from lipverify.foundation.interruption import Interrupted

ALARM_FACTOR = 2.0
SUPPORTED: Verdict = "supported"
REFUTED: Verdict = "refuted"
SHOWN = 4
"""Quantities of a claim whose numbers a line of text shows."""


def record(claim: Claim, outcomes: Mapping[str, Outcome]) -> Record:
    """The verdict on one claim, with everything that led to it."""
    gathered = {address: outcomes[address] for address in claim.measurements}
    cost = sum(outcome.seconds for outcome in gathered.values())
    problem = next((outcome.problem for outcome in gathered.values() if outcome.problem), "")
    results = {address: outcome.result for address, outcome in gathered.items()}
    if problem:
        return _describe(claim, cost, verdict="error", problem=problem, caught=False)
    try:
        cells = tuple(_cell(claim, plan, results, standing(plan, outcomes)) for plan in claim.cells)
        crossed = tuple(_cross_check(plan, results) for plan in claim.evidence.cross_checks)
        verdict = conclude((c.verdict for c in cells), (c.agrees for c in crossed))
        disagree = not all(each.agrees for each in crossed)
        step = step_of(claim, cells, outcomes) if verdict == "inconclusive" and not disagree else None
        return _describe(
            claim,
            cost,
            **follows(claim.id, cells, crossed),
            step=step,
            caught=controls_caught(verdict, cells),
            cells=cells,
            cross_checks=crossed,
            figures=claim.made_figures(results),
            tables=claim.made_tables(results),
            finding=claim.made_finding(results),
        )
    except Interrupted:
        raise
    except BaseException as error:  # one broken claim is one broken record
        problem = f"{type(error).__name__}: {error}{place(error)}"
        return _describe(claim, cost, verdict="error", problem=problem, caught=False)


def follows(id: str, cells: Sequence[Cell], crossed: Sequence[CrossCheck]) -> dict[str, Any]:
    """What a record says of its cells and cross-checks, by field: `audit` computes it again from these alone."""
    verdict = conclude((cell.verdict for cell in cells), (check.agrees for check in crossed))
    return {
        "verdict": verdict,
        "problem": open_because(cells, crossed) if verdict == "inconclusive" else "",
        "grade": weakest(cell.grade for cell in cells),
        "measured": summary(cells),
        "margin": telling_margin(cells),
        "range": reach(cells, verdict, id),
        "condition": condition(cells, verdict),
    }


def _describe(claim: Claim, cost: float, *, caught: bool, **outcome: Any) -> Record:
    """A record: the claim's own words and the outcome."""
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


def repeated_by(file: str, id: str) -> str:
    """The command that verifies one claim again."""
    return shlex.join(["lipverify", "verify", *filter(None, [file]), id])


def control_of(claim: Claim, verdict: Verdict, caught: bool) -> Control:
    """The control that had to come out the other way."""
    said = (claim.true_control, claim.true_latex) if verdict == "refuted" else (claim.false_control, claim.false_latex)
    return Control(statement=said[0], caught=caught, latex=said[1])


def controls_caught(verdict: Verdict, cells: Sequence[Cell]) -> bool:
    """True if every control that the verdict needs came out the other way.

    A refutation stands on its refuting cells, which have theirs; any other verdict needs the control of each cell
    whose interval alone would decide.
    """
    return verdict == "refuted" or all(cell.caught for cell in cells if cell.alone in OTHER_WAY)


def _cell(claim: Claim, plan: CellPlan, results: Mapping[str, Any], stood: Stood) -> Cell:
    """One cell's verdict, and that of the control which must come out the other way."""
    result = results[plan.measurement.address]
    estimate = plan.read(result, plan.allowed)
    allowed = estimate.allowed or plan.allowed
    alone = decide(estimate.interval, allowed)
    control = _control(plan, alone, estimate, results)
    measured, error = _middle(estimate.shown or estimate.interval)
    claimed, claimed_latex = plan.claimed, plan.claimed_latex
    if estimate.allowed is not None:
        claimed = claimed_latex = allowed_in_words(allowed)
    if stood.proof is not None and alone != REFUTED and _overstated(claim, plan, stood.proof):
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
    """What stands behind the number of a cell; a limit is extrapolated, and no more than the values along its ray."""
    along = plan.measurement.function is growth_along
    values = [_stands(plan, each, outcomes) for each in (plan.measurement.needs if along else (plan.measurement,))]
    worst = max(values, key=lambda stood: list(GRADES).index(stood.grade))
    stood = no_stronger(worst, plan.grade, plan.method)
    return Stood("extrapolated", stood.method) if along and stood.grade in ("proved", "bounded") else stood


def _stands(plan: CellPlan, source: Measurement, outcomes: Mapping[str, Outcome]) -> Stood:
    """What stands behind the value that one measurement gave."""
    every = list(source.with_needs())
    made = {each for one in every for each in (outcomes[one.address].ran or Ran()).made}
    points = [argument for one in every for argument in one.arguments if isinstance(argument, Point)]
    try:
        _, spread = number(outcomes[source.address].result, plan.of, plan.error, source.address)
    except InvalidInput:
        spread = math.inf
    derives = plan.method == "exact" or plan.grade == "bounded"
    sampled = any("contexts" in point.options for point in points)
    ran = outcomes[source.address].ran or Ran()
    return behind(ran, made, plan.of, spread, derives=derives, sampled=sampled)


def _overstated(claim: Claim, plan: CellPlan, proof: ProofRecord) -> bool:
    """Whether the claim speaks of all values of a coordinate, of which the proof is about those in its list alone.

    A number is exact at its coordinates alone; an expression stands for all values of its symbols, and a theorem for
    those that it names. One value refutes what is stated for all.
    """
    theorem = proof.statement if proof.kind == "proof file" else ""
    listed = tuple(name for name in plan.where if name not in proof.symbols and not speaks_of_all(theorem, (name,)))
    numbers = proof.kind in ("fraction", "ball") or (proof.kind == "symbolic" and not proof.symbols)
    texts = [claim.title.partition(": ")[0], claim.statement]
    return any(speaks_of_all(text, () if numbers else listed) for text in texts) and bool(listed)


def allowed_in_words(allowed: Allowed) -> str:
    """What a claim allows, as numbers.

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
    """The verdict on the control: the true one of a cell that refutes, else the false one."""
    control, expects = (plan.true, SUPPORTED) if verdict == "refuted" else (plan.false, REFUTED)
    if isinstance(control.allowed, Allowed):
        allowed = control.allowed
        found = plan.read(results[(control.measurement or plan.measurement).address], allowed)
        unnoticed = _unnoticed(plan.allowed, allowed)
        edges = {} if found.allowed else control.edges
        allowed, interval, quantity = found.allowed or allowed, found.interval, found.quantity
    else:  # the nearest statement that this interval bears out
        allowed, interval, quantity = control.allowed(estimate.interval), estimate.interval, estimate.quantity
        unnoticed, edges = _unnoticed(estimate.allowed or plan.allowed, allowed), control.edges
    return CellControl(
        says=control.says,
        low=allowed.low,
        high=allowed.high,
        open=allowed.open,
        edges=edges,
        interval=interval,
        verdict=decide(interval, allowed),
        expects=expects,
        margin=margin(interval, allowed),
        quantity="" if quantity == estimate.quantity else plain(quantity) or plan.quantity,
        unnoticed=unnoticed if control.measurement is None else None,
    )


def _unnoticed(claimed: Allowed, control: Allowed) -> float | None:
    """How far the control's edges are from the claim's."""
    pairs = zip((claimed.low, claimed.high), (control.low, control.high), strict=True)
    moved = [abs(a - b) for a, b in pairs if a is not None and b is not None]
    return max(moved, default=None)


def _middle(interval: Interval) -> tuple[float | None, float | None]:
    low, high = interval.low, interval.high
    return (None, None) if low is None or high is None else (float(low + high) / 2, float(high - low) / 2)


def _cross_check(plan: CrossPlan, results: Mapping[str, Any]) -> CrossCheck:
    """Two methods agree if their values differ by no more than twice their errors together.

    A 95 % half-width is about two standard errors; a run has some hundred such checks, and at four standard errors
    the chance of a false alarm in any of them is below one in a hundred.
    """
    values, errors = plan.read(*(results[each.address] for each in plan.measurements))
    return CrossCheck(
        where=plan.where,
        quantity=plan.quantity,
        methods=plan.methods,
        values=values,
        errors=errors,
        agrees=agree(values, errors),
        quantity_latex=plan.quantity_latex,
    )


def agree(values: tuple[float, float], errors: tuple[float, float]) -> bool:
    """Whether two values differ by no more than twice their errors together; an infinite error agrees with nothing.

    >>> agree((1.0, 1.1), (0.03, 0.03)), agree((1.0, 1.1), (0.02, float("inf")))
    (True, False)
    """
    return math.isfinite(sum(errors)) and abs(values[0] - values[1]) <= ALARM_FACTOR * sum(errors)


def open_because(cells: Sequence[Cell], crossed: Sequence[CrossCheck]) -> str:
    """What left a claim open: the first of a disagreement, a control that was not caught, an interval too wide."""
    for check in crossed:
        if not check.agrees:
            one, other = check.methods
            values = ", ".join(f"{value:.6g}" for value in check.values)
            return f"{one} and {other} disagree on {check.quantity}{_at(check.where)}: {values}"
    for cell in cells:
        if cell.alone in OTHER_WAY and not cell.caught:
            return _not_caught(cell)
    wide = next((cell for cell in cells if cell.verdict == "inconclusive"), None)
    if wide is None:
        return ""
    if wide.measured is None:
        return f"{wide.quantity}{_at(wide.where)}: {wide.note or 'its error is infinite'}"
    return (
        f"{wide.quantity}{_at(wide.where)} is {wide.measured:.6g} ± {wide.error:.2g}, across the edge of {wide.claimed}"
    )


def _not_caught(cell: Cell) -> str:
    """Why a cell decides nothing though its interval would: its control agrees with the claim, or is not decided."""
    measured, error = _middle(cell.control.interval)
    value = "" if measured is None else f" ({measured:.6g} ± {error:.2g})"
    control = f"the control, {cell.control.quantity or cell.quantity} {cell.control.says},"
    if not cell.uncontrolled:
        return f"{control} is not decided{_at(cell.where)}{value}"
    outcome = "holds" if cell.control.verdict == "supported" else "fails"
    return f"{control} {outcome} too{_at(cell.where)}{value}: it is no control"


def _at(where: Mapping[str, Any]) -> str:
    return f" at {at(where)}" if where else ""


def summary(cells: Sequence[Cell]) -> str:
    """What the cells found, in a few words: the number of the telling case, of each quantity that they are of."""
    told = telling(cells)
    more = len(told) - SHOWN
    parts = [_case(cell, cells) for cell in told[:SHOWN]] + [f"{more} more quantities"] * (more > 0)
    return "; ".join(parts)


def telling(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The telling case of each quantity, the one that decides first.

    That is the smallest point that refutes; else the first that is open; else the one that is nearest to its edge, as
    a share of the number itself. A claim that is refuted is told by what refutes it, and one that is open by what is.
    """
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.quantity, []).append(cell)
    return tuple(sorted(map(_telling, groups.values()), key=lambda cell: (_rank(cell), _nearness(cell))))


def telling_margin(cells: Sequence[Cell]) -> float | None:
    """The margin of the case that decides, which is that of the claim; None where nothing bounds it."""
    told = telling(cells)
    return told[0].margin if told else None


def _telling(cells: Sequence[Cell]) -> Cell:
    """The telling case of cells that are of one quantity."""
    worst = min(map(_rank, cells))
    found = [cell for cell in cells if _rank(cell) == worst]
    if worst == _REFUTES:
        sizes = [tuple(value for value in cell.where.values() if not isinstance(value, str)) for cell in found]
        return found[min(range(len(sizes)), key=sizes.__getitem__)]
    return found[0] if worst == _OPEN else min(found, key=_nearness)


_REFUTES, _OPEN, _HOLDS = 0, 1, 2


def _rank(cell: Cell) -> int:
    """What a cell does to its claim: it refutes it, leaves it open, or bears it out."""
    return {"refuted": _REFUTES, "supported": _HOLDS}.get(cell.verdict, _OPEN)


def _nearness(cell: Cell) -> float:
    """How far inside what is allowed, as a share of the number itself."""
    if cell.margin is None:
        return math.inf
    near = cell.margin / (abs(cell.measured) if cell.verdict == "supported" and cell.measured else 1.0)
    return float(f"{near:.9g}")  # which of several cells that are as near to rounding is told must not hang on it


def _case(cell: Cell, cells: Sequence[Cell]) -> str:
    """The value of one cell, of what it is where others are of other things, and where it stands among its like."""
    alike = [each for each in cells if each.quantity == cell.quantity]
    what = f"{cell.quantity} = " if len(alike) < len(cells) or beside_exponent(cell) else ""
    if len({_value(each) for each in alike}) == 1:
        return f"{what}{_value(cell)}"
    varying = {name: value for name, value in cell.where.items() if len({c.where.get(name) for c in alike}) > 1}
    same = [each for each in alike if _rank(each) == _rank(cell)]
    word = {_REFUTES: "refuted", _OPEN: "open"}.get(_rank(cell), "")
    many = f" ({word} in {len(same)} of {len(alike)})" if word else f" (of {len(alike)} the nearest to its edge)"
    return f"{what}{_value(cell)}{_at(varying)}{many if word == '' or len(same) < len(alike) else ''}"


def beside_exponent(cell: Cell) -> bool:
    """True if the power of a logarithm decides: a number that is not of the quantity that the statement names."""
    return cell.quantity.startswith(POWER)


def _value(cell: Cell) -> str:
    """The number, and its error where that is seen in three digits."""
    if cell.measured is None:
        return "unknown"
    seen = cell.error is not None and cell.error > 5e-4 * abs(cell.measured)
    return f"{cell.measured:.3g}" + (f" ± {cell.error:.2g}" if seen else "")
