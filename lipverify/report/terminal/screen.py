"""Show a run while it goes: verdicts as they are made, and the names of slow measurements; on a terminal also a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from lipverify.claims.ledger.outcomes import COUNTED
from lipverify.claims.ledger.record import Record
from lipverify.claims.plan.claim import Claim
from lipverify.claims.run.runner import Running, Watch
from lipverify.report.terminal.ending import FEW, HEADING, claim_line, stem_of, theorem_line
from lipverify.report.terminal.progress import tenths
from lipverify.report.terminal.tables import wrapped
from lipverify.report.visible import called

if TYPE_CHECKING:
    from rich.progress import TaskID


class Screen(Watch):
    """Shows each verdict: a line a theorem, or a line a claim if there is only one theorem."""

    def __init__(self, claims: Sequence[Claim], show: Callable[[str], None], note: Callable[[str], None]) -> None:
        self.show, self.note = show, note
        self.open: dict[str, list[str]] = {}
        for claim in claims:
            self.open.setdefault(stem_of(claim.id), []).append(claim.id)
        self.by_claim = self.headed = len(self.open) == 1
        self.sharing = _sharing(claims)
        self.records: dict[str, list[Record]] = {stem: [] for stem in self.open}
        self.named: dict[str, float] = {}

    def decided(self, record: Record) -> None:
        """Show the claim; or its theorem, with those that share passages, if this was the last claim of them all."""
        self.records[stem_of(record.id)].append(record)
        if self.by_claim:
            self.show(claim_line(record))
            return
        stems = self.sharing[stem_of(record.id)]
        if any(len(self.records[stem]) < len(self.open[stem]) for stem in stems):
            return
        if not self.headed:
            self.show(HEADING)
        self.headed = True
        among = [record for stem in stems for record in self.records[stem]]
        for stem in stems:
            self.show(theorem_line(stem, self.records[stem], among, ranges=len(self.open) <= FEW))

    def running(self, now: Sequence[Running]) -> None:
        """Print each measurement that takes longer than ten seconds, again whenever its time has doubled."""
        for task in now:
            if task.seconds >= self.named.get(task.address, 10.0):
                self.named[task.address] = 2 * task.seconds
                self.note(f"still measuring for {task.claim} ({task.seconds:.0f} s): {called(task.address)}")


class PlainScreen(Screen):
    """Writes to a log file: the same lines, and about ten lines of progress."""

    def __init__(self, claims: Sequence[Claim], show: Callable[[str], None], note: Callable[[str], None]) -> None:
        super().__init__(claims, show, note)
        self.measured = tenths("measured", note)  # type: ignore[method-assign]


class LiveScreen(Screen):
    """Writes to a terminal: a bar below the lines, which names the longest-running measurement."""

    def __init__(self, claims: Sequence[Claim], bar: Progress, task: TaskID) -> None:
        console = bar.console
        super().__init__(claims, lambda line: console.print(_fitted(line, console), soft_wrap=True), lambda _: None)
        self.bar, self.task = bar, task

    def measured(self, done: int, total: int) -> None:
        """Move the bar to `done` of `total`, which may have grown."""
        self.bar.update(self.task, completed=done, total=total)

    def running(self, now: Sequence[Running]) -> None:
        """Write beside the bar which claim has waited longest, and how long."""
        longest = f"{stem_of(now[0].claim)} {now[0].seconds:.0f} s" if now else ""
        self.bar.update(self.task, description=longest)


def _sharing(claims: Sequence[Claim]) -> dict[str, list[str]]:
    """For each theorem those that share a passage with it or with one of these, and itself, in order."""
    stems = list(dict.fromkeys(stem_of(claim.id) for claim in claims))
    sharing = {stem: {stem} for stem in stems}
    places: dict[tuple[str, str], set[str]] = {}
    for claim in claims:
        if claim.kind in COUNTED:
            places.setdefault((claim.source.paper, claim.source.place), set()).add(stem_of(claim.id))
    for place in places.values():
        joined = set[str]().union(*(sharing[stem] for stem in place))
        sharing |= dict.fromkeys(joined, joined)
    return {stem: [other for other in stems if other in sharing[stem]] for stem in stems}


@contextmanager
def screen(claims: Sequence[Claim], to_stderr: bool) -> Iterator[Watch]:
    """The screen for a run of these claims: on standard output, or on standard error if that holds data."""
    console = Console(stderr=to_stderr, highlight=False)
    if not console.is_terminal:
        errors = Console(stderr=True, highlight=False)
        yield PlainScreen(claims, lambda line: _line(line, console), lambda line: _line(line, errors))
        return
    columns = (BarColumn(16), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        yield LiveScreen(claims, bar, bar.add_task("", total=None))


def _line(line: str, console: Console) -> None:
    try:
        console.print(_fitted(line, console), soft_wrap=True)
        (sys.stderr if console.stderr else sys.stdout).flush()
    except BrokenPipeError:
        raise
    except OSError:  # a full disk: the command says so when the ledger is written
        pass


def _fitted(line: str, console: Console) -> Text:
    """The lines of a text, wrapped to the width; indented lines stay indented."""
    lines: list[str] = []
    for paragraph in line.split("\n"):
        indent = len(paragraph) - len(paragraph.lstrip()) if paragraph.startswith(" ") else 0
        inner = wrapped(paragraph.strip(), console.width - indent, "" if indent else "    ")
        lines += [" " * indent + part for part in inner] if len(paragraph) > console.width else [paragraph]
    return Text("\n".join(lines))
