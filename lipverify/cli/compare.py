"""`diff` and `audit`: the differences between two ledgers, or between a ledger and its own data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from lipverify.claims.ledger.diff import ClaimChange, Comparison, EvidenceChange, Kind, compare
from lipverify.claims.ledger.record import Cell, CrossCheck, Ledger, read_ledger
from lipverify.claims.ledger.symbols import Scalar
from lipverify.claims.ledger.verdict import Allowed, Verdict
from lipverify.claims.plan.registry import all_claims
from lipverify.claims.run.audit import Difference, audit, audit_again, unread
from lipverify.foundation.files import content
from lipverify.foundation.output import write_json
from lipverify.foundation.quoting import counted
from lipverify.report import coordinates, digits
from lipverify.report.terminal.tables import LOOKS
from lipverify.report.visible import visible

TITLES: dict[Kind, str] = {
    "verdict": "Verdicts that moved",
    "control": "Same verdict, but the control is caught in one ledger only",
    "only in A": "Only in A",
    "only in B": "Only in B",
    "values": "Same verdict, values that moved beyond their errors",
    "evidence": "Same verdict on other evidence",
}


def diff_ledgers(before: Path, after: Path, json: bool) -> int:
    """Print the differences; 1 if a verdict, control or value moved, else 0."""
    ledgers = read_ledger(before), read_ledger(after)
    comparison = compare(*ledgers)
    if json:
        content = {"moved": comparison.moved, **msgspec.to_builtins(comparison)}
        write_json(msgspec.json.format(msgspec.json.encode(content), indent=1))
    else:
        _print(Console(highlight=False), comparison, ((before, ledgers[0]), (after, ledgers[1])))
    return 1 if comparison.moved else 0


def _print(console: Console, comparison: Comparison, runs: tuple[tuple[Path, Ledger], ...]) -> None:
    for letter, (path, ledger) in zip("AB", runs, strict=True):
        where = f"{visible(str(path))}, started {visible(ledger.provenance.started)}"
        console.print(Text.assemble((letter, "bold"), f"  {where}"))
    differing = [f"{s.name} {s.before or 'none'} → {s.after or 'none'}" for s in comparison.settings]
    console.print(Text(visible("made with different " + "; ".join(differing))) if differing else "made alike")
    for kind, title in TITLES.items():
        claims = [claim for claim in comparison.claims if claim.kind == kind]
        if claims:
            console.print(Text(f"\n{title}: {len(claims)}", "bold"))
            _print_claims(console, claims)
    same = sum(claim.kind == "same" for claim in comparison.claims)
    if comparison.moved:
        console.print()
    every, single = len(comparison.claims), same == 1
    alike = f"{same} of {counted(every, 'claim')} {'is' if single else 'are'} the same"
    errors = "its error" if comparison.within == 1 else "their errors"
    console.print(f"{alike}; {counted(comparison.within, 'value')} moved within {errors}.")


def _print_claims(console: Console, claims: list[ClaimChange]) -> None:
    for stem, group in groupby(claims, key=lambda claim: claim.id.partition("/")[0]):
        console.print(Text(visible(stem)))
        for claim in group:
            rest = visible(claim.id.partition("/")[2])
            head = Text.assemble(f"{rest}  " if rest else "", _verdicts(claim.before, claim.after))
            _print_indented(console, head, 2)
            for line in _why(claim):
                _print_indented(console, line, 4)


def _print_indented(console: Console, text: Text, indent: int) -> None:
    """Print a paragraph with a hanging indent and no trailing spaces."""
    lines = text.wrap(console, max(console.width - indent - 2, 20))
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Text.assemble(" " * (indent + 2 * (number > 0)), line), soft_wrap=True)


def _why(claim: ClaimChange) -> Iterator[Text]:
    """The reasons for a change, the most serious first."""
    if claim.problem_before != claim.problem_after:
        for letter, problem in (("A", claim.problem_before), ("B", claim.problem_after)):
            yield Text(visible(f"problem in {letter}: {problem or 'none'}"))
    if claim.caught_before != claim.caught_after:
        yield Text("the control is caught again" if claim.caught_after else "the control is no longer caught", "bold")
    if claim.restated:
        yield Text(f"the claim itself changed: {', '.join(claim.restated)}")
    yield from _cells(claim)
    apart = [check for check in claim.cross_checks if check.changed == ("agrees",)]
    yield from _listed([*map(_cross_check, apart)], "cross-checks")
    for word in ("new", "gone"):
        points = [_point(check.where) for check in claim.cross_checks if check.changed == (word,)]
        if points:
            yield Text(f"{word} cross-checks: {_shortened(points)}")


def _cells(claim: ClaimChange) -> Iterator[Text]:
    """Print a cell in full if it may have moved the verdict; a cell that is only new or only gone by its point."""
    told = [cell for cell in claim.cells if claim.kind in ("verdict", "control") or (cell.before and cell.after)]
    told.sort(key=lambda cell: _gravity(cell, claim))
    yield from _listed([*map(_cell, told)], "cells")
    for word in ("new", "gone"):
        points = [_point(cell.where) for cell in claim.cells if cell not in told and cell.changed == (word,)]
        if points:
            yield Text(f"{word} cells: {_shortened(points)}")


def _gravity(cell: EvidenceChange[Cell], claim: ClaimChange) -> int:
    """Sort key: cells with a changed verdict first, then those with the claim's verdict, then with its earlier one."""
    if "verdict" in cell.changed:
        return 0
    verdicts = [side.verdict for side in (cell.after, cell.before) if side is not None]
    return 1 if claim.after in verdicts else 2 if claim.before in verdicts else 3


def _listed(lines: list[Text], what: str, most: int = 8) -> Iterator[Text]:
    yield from lines[:most]
    if len(lines) > most:
        yield Text(f"and {len(lines) - most} more {what}; --json has all")


def _shortened(points: list[str]) -> str:
    more = f" and {len(points) - 3} more" if len(points) > 3 else ""
    return "; ".join(points[:3]) + more


def _cell(change: EvidenceChange[Cell]) -> Text:
    point = _point(change.where)
    what = visible(f"{change.quantity} ({change.methods[0]})")
    entry = change.after or change.before
    assert entry is not None, "a change has at least one side"
    if change.before is None or change.after is None:
        word = "new" if change.before is None else "gone"
        return Text.assemble(f"{word} cell {point}: ", _verdict(entry.verdict), f", {what} = {_value(entry)}")
    parts: list[Any] = [f"{point}: "]
    if "verdict" in change.changed:
        parts += [_verdicts(change.before.verdict, change.after.verdict), ", "]
    values = [_value(change.before), _value(change.after)]
    far = "beyond the errors" if "measured" in change.changed else "within the errors"
    same = change.before.measured == change.after.measured
    parts.append(f"{what} = {values[0]}" + (", unchanged" if same else f" → {values[1]}, {far}"))
    parts.append(_ranges(change.before.allowed, change.after.allowed))
    if "control" in change.changed:
        parts.append(f"; its control {change.before.control.verdict} → {change.after.control.verdict}")
    return Text.assemble(*parts)


def _cross_check(change: EvidenceChange[CrossCheck]) -> Text:
    what = visible(f"{change.quantity}, {' and '.join(change.methods)}")
    entry = change.after or change.before
    assert entry is not None, "a change has at least one side"
    values = " and ".join(digits.with_error(*pair) for pair in zip(entry.values, entry.errors, strict=True))
    agreement = "agree" if entry.agrees else "differ"
    return Text(f"cross-check {_point(change.where)}: {what} now {agreement}: {values}", "" if entry.agrees else "bold")


def _point(where: dict[str, Scalar]) -> str:
    """A point of measurement in plain text, without the report's markup."""
    return visible(", ".join(f"{key} = {coordinates.value(value)}" for key, value in where.items())) or "–"


def _value(cell: Cell) -> str:
    return digits.with_error(cell.measured, cell.error)


def _ranges(before: Allowed, after: Allowed) -> str:
    return f"; allowed {_range(after)}" if before == after else f"; allowed {_range(before)} → {_range(after)}"


def _range(allowed: Allowed) -> str:
    """A range in brackets, round at an end that is excluded."""
    low, high = allowed.low, allowed.high
    opening = "(" if allowed.open or low is None else "["
    closing = ")" if allowed.open or high is None else "]"
    ends = ("−∞" if low is None else digits.number(low, 6), "∞" if high is None else digits.number(high, 6))
    return f"{opening}{ends[0]}, {ends[1]}{closing}"


def _verdicts(before: Verdict | None, after: Verdict | None) -> Text:
    distinct = [_verdict(verdict) for verdict in dict.fromkeys((before, after)) if verdict is not None]
    return Text(" → ").join(distinct)


def _verdict(verdict: Verdict) -> Text:
    symbol, style = LOOKS[verdict]
    return Text(f"{symbol} {verdict}", style)


def audit_ledger(path: Path, again: bool, json: bool) -> int:
    """Print each statement of a ledger that does not follow from its data; 1 if there is one, else 0."""
    ledger = read_ledger(path)
    differences = (*unread(content("ledger", path), ledger), *audit(ledger))
    if again:
        differences = (*differences, *audit_again(ledger))
    if json:
        write_json(msgspec.json.encode(differences))
        return 1 if differences else 0
    console = Console(highlight=False)
    for difference in differences:
        console.print(_line(difference), soft_wrap=True)
    console.print(Text(_summary(ledger, len(differences))), soft_wrap=True)
    return 1 if differences else 0


def _line(difference: Difference) -> Text:
    point = f", {difference.where}" if difference.where else ""
    told = f"{difference.what} is {difference.stated}, and {difference.follows} follows"
    return Text.assemble((visible(difference.id), "bold"), visible(f"{point}: {told}"))


def _summary(ledger: Ledger, differences: int) -> str:
    cells = sum(len(record.cells) for record in ledger.claims)
    controls = "its control" if cells == 1 else "their controls"
    judged = f"{counted(len(ledger.claims), 'claim')}, {counted(cells, 'cell')} with {controls}"
    own = {record.id for record in ledger.claims if not record.file}
    known = {claim.id for claim in all_claims()} if own else set()
    whole = f"{len(own & known)} of lipverify's {counted(len(known), 'claim')}; " if own & known else ""
    return f"{whole}{judged}: {counted(differences, 'difference') if differences else 'all of it follows'}"
