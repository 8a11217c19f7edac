"""The end of a run in ten lines: what became of the statements, what needs a look, and where everything is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from lipverify.claims.behind import behind
from lipverify.claims.deciding import wants
from lipverify.claims.ledger import GRADES, Ledger, Record
from lipverify.claims.outcomes import counts, measured
from lipverify.cli.lines import stem_of
from lipverify.cli.wrapping import wrapped
from lipverify.report.visible import visible

AS_RECORDED, DIFFERS, BROKE = 0, 1, 3
MOST = 8
"""Verdicts that are named one by one; more are counted, and stand in the table and in the report."""


def exit_code(ledger: Ledger, strict: bool) -> int:
    """3 if a check broke, 1 if a verdict differs from the record or a control escaped, else 0.

    The verdict of a new claim, for which none is recorded, is compared with nothing.
    """
    if any(record.verdict == "error" for record in ledger.claims):
        return BROKE
    differs = any(record.moved or not record.control.caught for record in ledger.claims)
    refuted = strict and any(record.verdict == "refuted" for record in ledger.claims)
    return DIFFERS if differs or refuted else AS_RECORDED


def ending(ledger: Ledger, files: Sequence[Path], strict: bool, width: int) -> list[str]:
    """The lines, none wider than `width`."""
    troubles = [record for record in ledger.claims if needs_a_look(record)]
    lines = [*_counted(ledger), *_troubles(ledger, troubles), *_where(ledger, files), _exit(ledger, strict)]
    return [line for each in lines for line in wrapped(each, width, "    ")]


def needs_a_look(record: Record) -> bool:
    """Whether a verdict moved, is open, or stands on evidence that has not shown its power."""
    return record.moved or record.verdict in ("error", "inconclusive") or not record.control.caught


def _counted(ledger: Ledger) -> Iterator[str]:
    """Printed statements by outcome and by grade, and the other readings."""
    yield from counts(measured(ledger.claims)).split("; ")
    own = [record for record in ledger.claims if record.kind in ("printed", None)] or ledger.claims
    grades = Counter(behind([record], ledger.claims) for record in own)
    told = ", ".join(f"{grades[grade]} {grade}" for grade in GRADES if grades[grade])
    of = "statements" if any(record.kind == "printed" for record in ledger.claims) else "readings"
    if told:
        yield f"{of} by grade: {told}"


def _troubles(ledger: Ledger, troubles: Sequence[Record]) -> Iterator[str]:
    """Each verdict that needs a look, why, and what to do next."""
    new = [record for record in ledger.claims if record.expected is None and record.verdict in ("supported", "refuted")]
    if not troubles:
        yield "no verdict moved, none is open, and every twin came out the other way"
    for record in troubles[:MOST]:
        yield f"! {visible(record.id)} {_became(record)}: {_reason(record)}; next: {_next_step(ledger, record)}"
    if len(troubles) > MOST:
        yield f"! and {len(troubles) - MOST} more: --table and the report name them all"
    if new:
        first = f'{visible(new[0].id)}: expected="{new[0].verdict}"'
        yield f"{len(new)} new, with no verdict recorded; next: record it, as {first}"


def _became(record: Record) -> str:
    if record.verdict == "error":
        return "broke"
    if record.moved:
        return f"moved from {record.expected} to {record.verdict}"
    return "is open" if record.verdict == "inconclusive" else f"is {record.verdict}, its control not caught"


def _reason(record: Record) -> str:
    """Why, in a few words."""
    if record.problem:
        return visible("; ".join(filter(None, [record.problem.rstrip("."), wants(record)])))
    missed = next((cell for cell in record.cells if not cell.caught), None)
    if not record.control.caught and missed is not None:
        return f"the twin {visible(missed.quantity)} {visible(missed.control.says)} is {missed.control.verdict}"
    return f"{visible(record.measured)}, where {visible(record.claimed)} is claimed"


def _next_step(ledger: Ledger, record: Record) -> str:
    """What to do about it."""
    if record.verdict == "error":
        return "mend what it names, then the same command with --resume"
    if "disagree" in record.problem:
        return f"one of the two methods is wrong there: {record.reproduce} --seed {ledger.seed + 1}"
    if record.step is not None:
        return f"{record.reproduce} --decide {math.ceil(2 * record.step.seconds)}"
    if record.verdict == "inconclusive":
        return f"{record.reproduce} --profile full" if ledger.profile == "quick" else "a narrower error"
    if not record.control.caught:
        return "a twin that the evidence can tell from the claim"
    return f"lipverify explain {visible(record.id)}; lipverify diff OLD NEW says which numbers moved"


def _where(ledger: Ledger, files: Sequence[Path]) -> Iterator[str]:
    """Where the report is, and how to see more."""
    count = len(ledger.claims)
    took = f"{count} claim{'s' * (count != 1)} in {ledger.provenance.seconds:.0f} s"
    yield f"{took}: {', '.join(map(str, files))}"
    if ledger.claims:
        yield f"more: lipverify explain {visible(stem_of(ledger.claims[0].id))}; every claim: --table"


def _exit(ledger: Ledger, strict: bool) -> str:
    """The exit code in words."""
    code, claims = exit_code(ledger, strict), ledger.claims
    if code == AS_RECORDED:
        new = sum(record.expected is None for record in claims)
        return f"exit code 0: no verdict moved, {new} new" if new else "exit code 0: every verdict is as recorded"
    said = {
        "check broke": sum(record.verdict == "error" for record in claims),
        "verdict differs from the record": sum(record.moved and record.verdict != "error" for record in claims),
        "control was not caught": sum(not r.control.caught and r.verdict != "error" and not r.moved for r in claims),
        "claim is refuted, and --strict was given": strict * sum(record.verdict == "refuted" for record in claims),
    }
    many = {
        "verdict differs from the record": "verdicts differ from the record",
        "check broke": "checks broke",
        "control was not caught": "controls were not caught",
        "claim is refuted, and --strict was given": "claims are refuted, and --strict was given",
    }
    told = [f"{count} {what if count == 1 else many[what]}" for what, count in said.items() if count]
    return f"exit code {code}: {'; '.join(told)}"
