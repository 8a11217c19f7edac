"""`verify`: verify claims and print the verdicts, write the ledger and its reports."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, Group
from rich.markup import escape
from rich.text import Text

from lipverify.claims.ledger.reach import in_line, wants
from lipverify.claims.ledger.record import Ledger, Record, ledger_bytes, write_ledger
from lipverify.claims.plan.claim import Claim
from lipverify.claims.plan.profile import profile_named
from lipverify.claims.plan.registry import entitled, select_claims
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
from lipverify.report.terminal.ending import BROKE, ending, exit_code
from lipverify.report.terminal.screen import screen
from lipverify.report.terminal.tables import LOOKS, grouped


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
    """Measure the claims and return the ledger."""
    with screen(claims, to_stderr=output.json) as watch:
        return run(
            claims,
            profile=how.profile,
            seed=how.seed,
            backend=how.backend,
            jobs=how.jobs,
            cluster=how.cluster,
            limit=how.limit or profile_named(how.profile).limit,
            finished=finished,
            title=report.title or "",
            author=report.author or "",
            watch=watch,
        )


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
