"""`verify` and `report`: from claims to a table, a ledger and a PDF."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console, Group
from rich.markup import escape

from lipverify.claims.finished import NAME, Finished
from lipverify.claims.ledger import Ledger, Record, read_ledger, write_ledger
from lipverify.claims.registry import profile_named, select_claims
from lipverify.claims.runner import run
from lipverify.cli.progress import progress_of
from lipverify.cli.tables import LOOKS, grouped
from lipverify.errors import InvalidInput
from lipverify.loss.montecarlo.backend import backend_named

AS_RECORDED, DIFFERS, BROKE, INTERRUPTED = 0, 1, 3, 130
LIMITS = {"quick": 1800.0, "full": 21600.0}
"""Seconds that one measurement may take, many times what any of ours does."""


@dataclass(frozen=True)
class How:
    """How claims are to be verified: what the ledger depends on, and who measures."""

    profile: str = "quick"
    seed: int = 0
    backend: str = "numpy"
    jobs: int | None = None
    cluster: str | None = None
    limit: float | None = None
    resume: bool = False

    def __post_init__(self) -> None:
        if self.jobs is not None and self.jobs < 1:
            raise InvalidInput(f"jobs = {self.jobs}: the number of processes must be 1 or more.")
        if self.jobs is not None and self.cluster is not None:
            raise InvalidInput(f"jobs = {self.jobs} and cluster = {self.cluster!r}: give one of them.")
        if self.limit is not None and not 0 < self.limit < math.inf:
            raise InvalidInput(f"limit = {self.limit:g}: the seconds for one measurement must be positive and finite.")
        backend_named(self.backend)

    @property
    def seconds(self) -> float:
        """What one measurement may take."""
        return self.limit if self.limit is not None else LIMITS[self.profile]


def verify_claims(ids: Sequence[str], how: How, out: Path, json: bool, strict: bool) -> int:
    """Verify, write the ledger and then the report, print the table; the exit code."""
    claims = select_claims(ids, profile_named(how.profile, how.seed, how.backend))
    _require_writable(out)
    messages = Console(stderr=True, highlight=False)
    finished = Finished(out / NAME, f"{how.profile}, {how.seed}, {how.backend}")
    if not how.resume:
        finished.clear()
    settings: dict[str, Any] = {
        "profile": how.profile,
        "seed": how.seed,
        "backend": how.backend,
        "jobs": how.jobs,
        "cluster": how.cluster,
        "limit": how.seconds,
        "finished": finished,
    }
    try:
        with progress_of("measured") as progress:
            ledger = run(claims, **settings, progress=progress)
    except KeyboardInterrupt:
        print(f"lipverify: interrupted; {_kept(finished)}.", file=sys.stderr)
        return INTERRUPTED
    if json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(ledger), indent=1).decode() + "\n")
    else:
        Console(highlight=False).print(verdict_table(ledger))
    # the ledger first: a report can be made again from it
    try:
        write_ledger(ledger, out / "ledger.json")
    except OSError as error:
        print(f"lipverify: the ledger could not be written ({error.strerror}); {_kept(finished)}.", file=sys.stderr)
        return BROKE
    if any(record.verdict == "error" for record in ledger.claims):
        print(f"lipverify: not everything could be measured; {_kept(finished)}.", file=sys.stderr)
    else:
        finished.remove()
    try:
        _write_report(ledger, out / "report.pdf")
    except Exception as error:  # hours of evidence are safe in the ledger, and the user must know where
        what = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"lipverify: the report failed ({what}); {out / 'ledger.json'} is complete.", file=sys.stderr)
        return BROKE
    took = f"{len(ledger.claims)} claims in {ledger.provenance.seconds:.0f} s"
    messages.print(f"{took}: {out / 'ledger.json'}, {out / 'report.pdf'}", soft_wrap=True)
    return exit_code(ledger, strict)


def _kept(finished: Finished) -> str:
    """What an interrupted run leaves behind, in words."""
    if finished.problem:
        return f"finished measurements could not be kept ({finished.problem})"
    return f"what is finished is in {finished.path}: go on by the same command with --resume"


def typeset(ledger: Path, out: Path | None) -> int:
    """The report of a ledger that exists."""
    content = read_ledger(ledger)
    target = out if out is not None else ledger.with_name("report.pdf")
    _require_writable(target.parent)
    _write_report(content, target)
    Console(stderr=True, highlight=False).print(str(target), soft_wrap=True)
    return 0


def exit_code(ledger: Ledger, strict: bool) -> int:
    """3 if a check broke, 1 if a verdict differs from the record or a control escaped, else 0.

    The verdict of a new claim, for which none is recorded, is compared with nothing.
    """
    if any(record.verdict == "error" for record in ledger.claims):
        return BROKE
    differs = any(record.moved or not record.control.caught for record in ledger.claims)
    refuted = strict and any(record.verdict == "refuted" for record in ledger.claims)
    return DIFFERS if differs or refuted else AS_RECORDED


def verdict_table(ledger: Ledger) -> Group:
    """One line a claim; readable without colour."""

    def cells(record: Record) -> tuple[str, ...]:
        symbol, style = LOOKS[record.verdict]
        verdict = f"[{style}]{symbol} {record.verdict}[/{style}]"
        return escape(record.claimed), escape(_measured(record)), verdict

    rows = [(record.id, cells(record)) for record in ledger.claims]
    return grouped(("claimed", "measured", "verdict"), rows)


def _measured(record: Record) -> str:
    """What was found, and whatever a reader must not miss about it."""
    remarks = [record.problem or record.measured]
    if record.moved:
        remarks.append(f"RECORDED: {record.expected}")
    if record.expected is None and record.verdict in ("supported", "refuted"):
        remarks.append(f'new: record expected="{record.verdict}"')
    if not record.control.caught and not record.problem:
        remarks.append("CONTROL NOT CAUGHT")
    return "; ".join(remark for remark in remarks if remark)


def _write_report(ledger: Ledger, path: Path) -> None:
    from lipverify.report import write_report

    write_report(ledger, path)


def _require_writable(folder: Path) -> None:
    """Refuse a folder that cannot be written before any work is done for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".lipverify-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InvalidInput(f"out = {str(folder)!r}: the folder cannot be written ({error.strerror}).") from None
