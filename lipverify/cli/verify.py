"""`verify`: verify claims and print the verdicts, write the ledger and its reports.

`--decide` takes the next steps of open claims, the cheapest first, within a budget.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs
from rich.console import Console, Group
from rich.markup import escape
from rich.text import Text

from lipverify.claims.ledger.reach import in_line
from lipverify.claims.ledger.record import Ledger, Record, ledger_bytes, write_ledger
from lipverify.claims.plan.claim import Claim
from lipverify.claims.plan.profile import profile_named
from lipverify.claims.plan.registry import entitled, select_claims
from lipverify.claims.run.audit import sealed
from lipverify.claims.run.deciding import duration, in_words, other_methods, stepped, tried_now, wants
from lipverify.claims.run.kept import NAME, NAMES, Finished
from lipverify.claims.run.runner import run
from lipverify.cli.app import How, Output, ReportOptions
from lipverify.cli.reports import WRITERS, require_writable, show, write_reports
from lipverify.errors import InvalidInput
from lipverify.foundation.files import alone_in, reason, require_targets
from lipverify.foundation.output import write_json
from lipverify.foundation.process import INTERRUPTED
from lipverify.foundation.quoting import counted
from lipverify.foundation.validation import chosen
from lipverify.loss.montecarlo.backend import BACKENDS, backend_named
from lipverify.report.terminal.ending import BROKE, DECIDE, ending, exit_code
from lipverify.report.terminal.screen import screen
from lipverify.report.terminal.tables import LOOKS, grouped
from lipverify.report.visible import visible


def verify_claims(ids: Sequence[str], how: How, report: ReportOptions, out: Path, output: Output) -> int:
    """Verify claims, show verdicts as they are made, write the ledger and the reports; return the exit code."""
    claims = select_claims(ids, profile_named(how.profile, how.seed, how.backend))
    title, author = entitled(ids, report.title, report.author)
    report = dataclasses.replace(report, title=title, author=author)
    chosen("backend", how.backend, BACKENDS)
    if how.cluster is None:  # otherwise the workers report whether they have it
        backend_named(how.backend)
    named, out = out, out.absolute()  # a measurement may change the current folder
    require_writable(out)
    require_targets("out", [out / name for name in (*WRITERS, "ledger.json", *NAMES)])
    with alone_in(out):
        return _verified(claims, how, report, out, named, output)


def _verified(claims: Sequence[Claim], how: How, report: ReportOptions, out: Path, named: Path, output: Output) -> int:
    """`verify_claims` while the folder is locked; `named` is the folder as the user wrote it."""
    finished = Finished(out / NAME, f"{how.profile}, {how.seed}, {how.backend}", resume=how.resume)
    _say_what_is_kept(finished.count, finished.path, how.resume)
    try:
        ledger = _ledger_of(claims, how, report, finished, output)
    except InvalidInput:  # the cluster does not answer: nothing was begun
        if finished.empty:
            finished.remove()
        raise
    except KeyboardInterrupt:
        print(f"lipverify: interrupted; {_kept(finished)}.", file=sys.stderr)
        return INTERRUPTED
    # the ledger first, because a report can be made from it later; the screen last, because its end may be closed
    complete = _written(ledger, out, finished)
    failures = write_reports(ledger, out, report.evidence) if complete else {}
    if output.json:
        write_json(ledger_bytes(ledger))
    elif output.table:
        Console(highlight=False).print(verdict_table(ledger))
    for name, why in failures.items():
        print(f"lipverify: {out / name} failed ({why}); {out / 'ledger.json'} is complete.", file=sys.stderr)
    if complete and report.open and "report.html" not in failures:
        show(out / "report.html")
    if failures or not complete:
        return BROKE
    _print_ending(ledger, tuple(named / name for name in (*WRITERS, "ledger.json")), output)
    return exit_code(ledger, output.strict)


def _ledger_of(claims: Sequence[Claim], how: How, report: ReportOptions, finished: Finished, output: Output) -> Ledger:
    """Measure the claims and return the ledger; with --decide also take the steps that open claims propose."""
    settings: dict[str, Any] = {
        "profile": how.profile,
        "seed": how.seed,
        "backend": how.backend,
        "jobs": how.jobs,
        "cluster": how.cluster,
        "limit": how.limit or profile_named(how.profile).limit,
        "finished": finished,
        "title": report.title,
        "author": report.author,
    }
    with screen(claims, to_stderr=output.json) as watch:
        ledger = run(claims, **settings, watch=watch)
    if how.decide is None:
        return ledger
    return decided(ledger, claims, how.decide, settings)


def _written(ledger: Ledger, out: Path, finished: Finished) -> bool:
    """Write the ledger, then delete the finished measurements unless a check broke; False if it cannot be written."""
    try:
        write_ledger(ledger, out / "ledger.json")
    except (OSError, InvalidInput) as error:
        print(f"lipverify: the ledger could not be written ({reason(error)}); {_kept(finished)}.", file=sys.stderr)
        return False
    if any(record.verdict == "error" for record in ledger.claims):
        print(f"lipverify: not everything could be measured; {_kept(finished)}.", file=sys.stderr)
    else:
        finished.remove()
    return True


def _print_ending(ledger: Ledger, files: Sequence[Path], output: Output) -> None:
    """Print the summary; on standard error if standard output holds data."""
    console = Console(stderr=output.json, highlight=False)
    console.print(Text("\n".join(["", *ending(ledger, files, output.strict, console.width)])), soft_wrap=True)


def _say_what_is_kept(count: int, path: Path, resume: bool) -> None:
    """Say that a stopped run left measurements, and whether this run continues it."""
    if not (count or resume):
        return
    kept = f"{counted(count, 'measurement')} of a run that was stopped"
    action = f"continuing with {kept}" if resume else f"new run; {path} still has {kept}, --resume continues with them"
    print(f"lipverify: {action}.", file=sys.stderr)


def _kept(finished: Finished) -> str:
    """Say where an interrupted run leaves its measurements."""
    if not finished.path.exists():
        return f"finished measurements are lost: {finished.path} was deleted during the run"
    if finished.problem:
        return f"finished measurements could not be kept ({finished.problem})"
    return f"finished measurements are in {finished.path}: continue by the same command with --resume"


def verdict_table(ledger: Ledger) -> Group:
    """One line a claim, readable without colour."""

    def cells(record: Record) -> tuple[str, ...]:
        symbol, style = LOOKS[record.verdict]
        where = in_line(record)
        verdict = f"[{style}]{symbol} {record.verdict}[/{style}]" + (f" {escape(where)}" if where else "")
        return record.claimed, _measured(record), verdict

    rows = [(record.id, cells(record)) for record in ledger.claims]
    return grouped(("claimed", "measured", "verdict"), rows)


def _measured(record: Record) -> str:
    remarks = [record.problem or record.measured, wants(record)]
    if record.moved:
        remarks.append(f"RECORDED: {record.expected}")
    if record.expected is None and record.verdict in ("supported", "refuted"):
        remarks.append(f'new: record expected="{record.verdict}"')
    if not record.control.caught and not record.problem:
        remarks.append("CONTROL NOT CAUGHT")
    return "; ".join(remark for remark in remarks if remark)


@dataclass
class _Open:
    """An open claim, and the methods that have not been tried on it."""

    index: int
    claim: Claim
    record: Record
    methods: list[str]

    @property
    def seconds(self) -> float:
        """The predicted duration of the next step, in seconds."""
        return self.record.step.seconds if self.record.step is not None else 0.0


def decided(ledger: Ledger, claims: Sequence[Claim], seconds: float, settings: dict[str, Any]) -> Ledger:
    """Take steps until the time is spent, and return the ledger; a step predicted to exceed the rest is not begun."""
    begun = time.perf_counter()
    end = begun + seconds
    records = list(ledger.claims)
    waiting = [
        _Open(index, claim, record, other_methods())
        for index, (claim, record) in enumerate(zip(claims, records, strict=True))
        if record.verdict == "inconclusive" and record.step is not None
    ]
    while waiting:
        cheapest = min(waiting, key=lambda candidate: candidate.seconds)
        remaining = end - time.perf_counter()
        if cheapest.seconds > remaining:
            for candidate in waiting:
                _say(
                    candidate.record,
                    f"is left open: {wants(candidate.record)}, and {duration(max(remaining, 0.0))} are left",
                )
            break
        better = _taken(cheapest, settings, remaining, seconds)
        if better is not None:
            records[cheapest.index] = cheapest.record = better
        elif not cheapest.methods:
            _say(cheapest.record, "stays open: no step helped")
            tried = (*cheapest.record.tried, *tried_now(cheapest.record))
            records[cheapest.index] = cheapest.record = structs.replace(cheapest.record, step=None, tried=tried)
        if cheapest.record.step is None:
            waiting.remove(cheapest)
    took = ledger.provenance.seconds + time.perf_counter() - begun
    provenance = structs.replace(ledger.provenance, seconds=took)
    return sealed(structs.replace(ledger, claims=tuple(records), provenance=provenance))


def _taken(candidate: _Open, settings: dict[str, Any], remaining: float, seconds: float) -> Record | None:
    """The record after one step; None if the step did not help."""
    step = candidate.record.step
    assert step is not None
    by = candidate.methods.pop(0) if step.what == "method" else ""
    better = stepped(candidate.claim, candidate.record, by)
    _say(candidate.record, f"{in_words(step)}" + f"; now {by}" * bool(by))
    [record] = run([better], **{**settings, "limit": min(settings["limit"], remaining)}).claims
    if record.verdict == "error":
        _say(record, f"is not decided by this step: {record.problem}")
        candidate.methods = candidate.methods if by else []
        return None
    if by and record.verdict == "inconclusive":
        return None
    if record.verdict == "inconclusive" and _wider(record, candidate.record, step.cells):
        _say(record, f"is inconclusive, with a larger error: {record.measured}; the evidence before it is kept")
        tried = (*candidate.record.tried, *tried_now(candidate.record))
        return structs.replace(candidate.record, step=None, tried=tried)
    candidate.claim = better
    told = wants(record) if record.verdict == "inconclusive" and record.step is None else ""
    _say(record, f"is {record.verdict}: {record.measured}{f'; {told}' if told else ''}")
    return structs.replace(record, reproduce=f"{record.reproduce}{DECIDE}{seconds:g}")


def _wider(after: Record, before: Record, cells: Sequence[int]) -> bool:
    """True if a step widened the interval of one of its cells and narrowed none."""
    widths = [
        [high - low for low, high in (record.cells[k].interval.ends for k in cells)] for record in (after, before)
    ]
    pairs = list(zip(*widths, strict=True))
    return any(new > old for new, old in pairs) and all(new >= old for new, old in pairs)


def _say(record: Record, text: str) -> None:
    print(f"lipverify: {visible(record.id)} {visible(text)}", file=sys.stderr)
