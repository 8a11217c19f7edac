"""Files of claims as collectors, and claims as items: their measurements, and the text that pytest shows for a verdict.

A process makes each measurement once.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Iterator
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
from lipverify.claims.run.measurement import Outcome
from lipverify.errors import InvalidInput

Made = dict[str, tuple[Measurement, Outcome]]
"""The measurements of this process with their outcomes, by address."""


def outcomes_of(claim: Claim, made: Made) -> dict[str, Outcome]:
    """The outcomes of all measurements of a claim, of which only the missing ones are made; none after a problem."""
    for address, measurement in claim.measurements.items():  # each comes after its needs
        if address not in made:
            made[address] = measurement, _run(measurement, [made[need.address][1] for need in measurement.needs])
        elif made[address][0] != measurement:
            raise InvalidInput(f"claim {claim.id}: another measurement is called {address}; rename its function.")
        if made[address][1].problem:
            return dict.fromkeys(claim.measurements, made[address][1])
    return {address: made[address][1] for address in claim.measurements}


def _run(measurement: Measurement, needed: list[Outcome]) -> Outcome:
    """Make a measurement. An exception becomes an outcome too, also of the measurements that need this one."""
    if problem := next((outcome.problem for outcome in needed if outcome.problem), ""):
        return Outcome(None, problem, 0.0)
    clock = time.perf_counter()
    try:
        result, ran = watched(lambda: measurement.run(*(outcome.result for outcome in needed)))
    except Exception as error:  # a check that raises is an error of the claims that need it
        lines = "".join(traceback.format_exception(error)).rstrip()
        return Outcome(None, f"{measurement.address}: {type(error).__name__}: {error}\n\n{lines}", 0.0)
    return Outcome(result, "", time.perf_counter() - clock, ran=ran)


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


MADE = pytest.StashKey[Made]()


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
        self.record = made = record(self.claim, outcomes_of(self.claim, self.config.stash.setdefault(MADE, {})))
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
