"""Files of claims as collectors, and claims as items: their measurements, and the text that pytest shows for a verdict.

Each measurement of a test run is made once, even if several processes share it.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from lipverify.claims.evidence.returned import watched
from lipverify.claims.ledger.reach import condition
from lipverify.claims.ledger.record import Cell, CrossCheck, Record
from lipverify.claims.plan.claim import Claim, Measurement
from lipverify.claims.plan.profile import profile_named
from lipverify.claims.plan.registry import claims_of
from lipverify.claims.run.judgment import record
from lipverify.claims.run.kept import NAME, Finished
from lipverify.claims.run.measurement import Outcome
from lipverify.errors import InvalidInput
from lipverify.foundation.files import locked


class Measured:
    """Outcomes by address, in a folder that processes share if there is one; the first to reach one makes it."""

    def __init__(self, folder: Path | None, settings: str) -> None:
        self.folder, self.outcomes = folder, dict[str, Outcome]()
        self.measurements = dict[str, Measurement]()
        self.shared = _opened(folder, settings) if folder is not None else None

    def of(self, claim: Claim) -> Mapping[str, Outcome]:
        """The outcomes of all measurements of a claim, which are made if they are missing."""
        measurements = claim.measurements
        for address, measurement in measurements.items():
            if self.measurements.setdefault(address, measurement) != measurement:
                raise InvalidInput(f"claim {claim.id}: another measurement is called {address}; rename its function.")
        while any(address not in self.outcomes for address in measurements):
            pending = [measurement for address, measurement in measurements.items() if address not in self.outcomes]
            progress = [self._try(measurement) for measurement in pending]
            if not any(progress):
                time.sleep(0.05)  # other processes are making what is missing
        return self.outcomes

    def _try(self, measurement: Measurement) -> bool:
        """Load or make a measurement; False if a need is missing, or another process is making it."""
        needed = [self.outcomes.get(need.address) for need in measurement.needs]
        if any(outcome is None for outcome in needed):
            return False
        outcomes = [outcome for outcome in needed if outcome is not None]
        problem = next((outcome.problem for outcome in outcomes if outcome.problem), "")
        if problem:
            self.outcomes[measurement.address] = Outcome(None, problem, 0.0)
            return True
        with self._only_here(measurement.address) as free:
            if free:
                kept = self.shared.get(measurement) if self.shared is not None else None
                self.outcomes[measurement.address] = (
                    Outcome(kept.result, "", kept.seconds, ran=kept.ran) if kept else self._run(measurement, outcomes)
                )
        return free

    def _run(self, measurement: Measurement, needed: list[Outcome]) -> Outcome:
        """Make a measurement. An exception becomes an outcome too."""
        clock = time.perf_counter()
        try:
            result, ran = watched(lambda: measurement.run(*(outcome.result for outcome in needed)))
        except Exception as error:  # a check that raises is an error of the claims that need it
            lines = "".join(traceback.format_exception(error)).rstrip()
            return Outcome(None, f"{measurement.address}: {type(error).__name__}: {error}\n\n{lines}", 0.0)
        seconds = time.perf_counter() - clock
        if self.shared is not None:
            self.shared.put(measurement, result, seconds, ran)
        return Outcome(result, "", seconds, ran=ran)

    @contextmanager
    def _only_here(self, address: str) -> Iterator[bool]:
        """Lock a measurement; gives True if no other process is making it."""
        if self.folder is None:
            yield True
            return
        with locked(self.folder / f"{blake2b(address.encode(), digest_size=16).hexdigest()}.lock") as alone:
            yield alone


def _opened(folder: Path, settings: str) -> Finished:
    """Open the shared results, one process at a time: SQLite fails if two processes create the same file at once."""
    with locked(folder / f"{NAME}.lock", wait=True):
        return Finished(folder / NAME, settings)


def differs(record: Record, strict: bool) -> bool:
    """True if a claim fails: its control was not caught, its verdict is not the recorded one (a new claim may not be
    refuted), or `strict` and refuted.
    """
    if not record.control.caught:
        return True
    if record.verdict == "inconclusive":
        return False
    must_hold = strict or record.expected is None
    return record.moved or (must_hold and record.verdict == "refuted")


def headline(record: Record) -> str:
    """The verdict in one line; pytest prints the id before it."""
    if not record.control.caught:
        return f"control not caught: {record.control.statement}"
    recorded = "no verdict is recorded" if record.expected is None else f"recorded as {record.expected}"
    return f"{f'{record.verdict} {record.range}'.strip()}, {recorded}: {record.measured}"


def reason(record: Record) -> str:
    """The reason why a claim is not decided, in one line."""
    apart = [cross for cross in record.cross_checks if not cross.agrees]
    if apart:
        return f"{record.id}: {headline(record)}; {_apart(apart[0])}"
    why = record.problem or f"the evidence does not decide between {record.claimed} and its opposite"
    return f"{record.id}: {headline(record)}; {why}"


def told(record: Record) -> str:
    """The text of a claim with its evidence."""
    declared = any(cell.control.declared for cell in record.cells)
    caught = f" ({'caught' if record.control.caught else 'NOT caught'})" if declared else ""
    lines = {
        "title": record.title,
        "statement": record.statement,
        "source": f"{record.source.paper}, {record.source.place}: {record.source.printed}",
        "assumptions": "; ".join(record.assumptions),
        "claimed": record.claimed,
        "measured": record.measured,
        "margin": "" if record.margin is None else f"{record.margin:.4g}",
        "limits": condition(record.cells, record.verdict),
        "control": record.control.statement + caught,
        "finding": record.finding,
        "what holds": record.corrected,
        "again with": record.reproduce,
    }
    rows = [f"{name + ':':<13}{text}" for name, text in lines.items() if text]
    evidence = [_cell(cell) for cell in _telling(record)]
    more = len(record.cells) - len(evidence)
    rest = [f"and {more} more"] if more > 0 else []
    return "\n".join([headline(record), "", *rows, "evidence:", indent("\n".join([*evidence, *rest]), "  ")])


def _telling(record: Record) -> list[Cell]:
    """Up to twelve cells: first those that are not supported or whose control was not caught, then the others."""
    ranked = sorted(record.cells, key=lambda cell: cell.verdict == "supported" and cell.caught)
    return ranked[:12]


def _cell(cell: Cell) -> str:
    where = ", ".join(f"{name} = {value}" for name, value in cell.where.items())
    value = "unbounded" if cell.measured is None else f"{cell.measured:.6g} ± {cell.error or 0:.2g}"
    margin = "" if cell.margin is None else f", margin {cell.margin:.3g}"
    control = "" if cell.caught or cell.verdict == "inconclusive" else ", control NOT caught"
    return (
        f"{where}: {cell.quantity} = {value} ({cell.method}), allowed {cell.claimed}: {cell.verdict}{margin}{control}"
    )


def _apart(cross: CrossCheck) -> str:
    (value, second_value), (error, second_error) = cross.values, cross.errors
    first, second = cross.methods
    return (
        f"the methods disagree on {cross.quantity}: {first} {value:.6g} ± {error:.2g}, "
        f"{second} {second_value:.6g} ± {second_error:.2g}"
    )


MEASURED = pytest.StashKey[Measured]()


class ClaimFile(pytest.File):
    """A Python file that declares claims, collected as one item each."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        return _items(self)


class ClaimModule(pytest.Module):
    """A test module that also has claims."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """The claims, and then the tests."""
        yield from _items(self)
        yield from super().collect()


def _items(file: pytest.File) -> Iterator[ClaimItem]:
    """The claims of a file as items; a fault in the file is a collection error of one line."""
    option = file.config.option
    profile = profile_named(option.lipverify_profile, option.lipverify_seed)
    try:
        path = os.path.relpath(file.path, file.config.invocation_params.dir)
        claims = claims_of(path, profile)
    except InvalidInput as error:
        raise file.CollectError(str(error)) from None
    for claim in claims:
        yield ClaimItem.from_parent(file, name=claim.id, claim=claim)


class ClaimItem(pytest.Item):
    """One claim. It is measured in the set-up, so that a check that raises is an error, and judged in the call."""

    def __init__(self, *, claim: Claim, **node: Any) -> None:
        super().__init__(**node)
        self.claim = claim
        self.record: Record | None = None
        self.add_marker(pytest.mark.claim)

    def setup(self) -> None:
        self.record = made = record(self.claim, measured(self.config).of(self.claim))
        for name in ("verdict", "expected", "measured", "claimed", "margin"):
            self.user_properties.append((name, str(getattr(made, name))))
        if made.verdict == "error":
            pytest.fail(f"a check broke: {made.problem}", pytrace=False)

    def runtest(self) -> None:
        made, option = self.record, self.config.option
        assert made is not None
        strict = option.lipverify_strict or bool(getattr(option, "strict", False))
        if differs(made, strict):
            pytest.fail(told(made), pytrace=False)
        if made.verdict == "inconclusive":
            pytest.skip(reason(made))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


def measured(config: pytest.Config) -> Measured:
    """The measurements of this process."""
    if MEASURED not in config.stash:
        option = config.option
        shared = getattr(config, "workerinput", {}).get("lipverify_folder")
        settings = f"{option.lipverify_profile}, {option.lipverify_seed}, numpy"
        config.stash[MEASURED] = Measured(Path(shared) if shared else None, settings)
    return config.stash[MEASURED]
