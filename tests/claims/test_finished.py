"""Resuming an interrupted run: the same findings, nothing measured twice, no foreign data accepted."""

from __future__ import annotations

import gc
import math
import sqlite3
import struct
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from lipverify.claims.ledger import Allowed
from lipverify.claims.plan import Claim, Measurement
from lipverify.claims.run import Finished, Watch, run
from lipverify.claims.run.kept import NAME  # internal: the file that a killed run leaves
from lipverify.errors import InvalidInput
from tests import toys

MEASURED: Counter[int] = Counter()
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


class Curve(msgspec.Struct, frozen=True):
    values: tuple[float, ...]
    label: str = "curve"


def measured(k: int) -> tuple[float, float]:
    MEASURED[k] += 1
    return k / 3, 1e-9


def extremes() -> Curve:
    return Curve((math.inf, -math.inf, 0.1, 5e-324))


def undeclared():  # type: ignore[no-untyped-def]
    return 1.0


def complex_result() -> complex:
    return 1j


def claim(number: int) -> Claim:
    cells = (
        toys.cell(
            Measurement(measured, (k,)), Allowed(low=-1.0, high=10.0), Allowed(low=20.0, high=30.0), where={"k": k}
        )
        for k in range(10 * number, 10 * number + 6)
    )
    return toys.claim(*cells, id=f"test.resumed/{number}")


CLAIMS = (claim(0), claim(1))


class StopAfter(Watch):
    def __init__(self, count: int) -> None:
        self.count = count

    def measured(self, done: int, total: int) -> None:
        if done == self.count:
            raise KeyboardInterrupt


@pytest.mark.parametrize("count", [1, 5, 11])
def test_an_interrupted_run_goes_on_to_the_same_findings(tmp_path: Path, count: int) -> None:
    whole = run(CLAIMS, jobs=0)
    MEASURED.clear()
    with pytest.raises(KeyboardInterrupt):
        run(CLAIMS, jobs=0, finished=Finished(tmp_path / NAME, "quick"), watch=StopAfter(count))
    resumed = run(CLAIMS, jobs=0, finished=Finished(tmp_path / NAME, "quick"))
    assert toys.findings(resumed) == toys.findings(whole)
    assert sum(MEASURED.values()) == 12, "each measurement once, before the interruption or after it"


def test_a_new_run_keeps_old_rows_until_they_are_replaced(tmp_path: Path) -> None:
    before, other = Measurement(measured, (1,)), Measurement(measured, (2,))
    Finished(tmp_path / NAME, "quick").put(before, (1.0, 0.1), 1.0)
    anew = Finished(tmp_path / NAME, "quick", resume=False)
    assert (anew.count, anew.get(before)) == (1, None)
    anew.put(other, (2.0, 0.1), 1.0)
    assert anew.get(other) == ((2.0, 0.1), 1.0, None), "its own it takes"
    again = Finished(tmp_path / NAME, "quick")
    assert again.count == 2
    assert again.get(before) == ((1.0, 0.1), 1.0, None)
    assert Finished(tmp_path / NAME, "full").count == 0, "of other settings"


def test_processes_put_their_results_as_they_come(tmp_path: Path) -> None:
    finished = Finished(tmp_path / NAME, "quick")
    run(CLAIMS, jobs=2, finished=finished)
    assert finished.get(Measurement(measured, (3,))) is not None
    MEASURED.clear()
    again = run(CLAIMS, jobs=0, finished=Finished(tmp_path / NAME, "quick"))
    assert not MEASURED
    assert toys.findings(again) == toys.findings(run(CLAIMS, jobs=0))


def test_results_come_back_as_they_were(tmp_path: Path) -> None:
    Finished(tmp_path / NAME, "quick").put(Measurement(extremes), extremes(), 1.5)
    assert Finished(tmp_path / NAME, "quick").get(Measurement(extremes)) == (extremes(), 1.5, None)


def test_results_of_other_settings_or_code_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measurement = Measurement(measured, (1,))
    Finished(tmp_path / NAME, "quick, seed 0").put(measurement, (1.0, 0.1), 1.0)
    assert Finished(tmp_path / NAME, "quick, seed 1").get(measurement) is None
    monkeypatch.setattr("lipverify.claims.run.kept.fingerprint", lambda: "other code")
    assert Finished(tmp_path / NAME, "quick, seed 0").get(measurement) is None


@pytest.mark.parametrize(
    ("measurement", "result"),
    [
        (Measurement(undeclared), 1.0),
        (Measurement(complex_result), 1j),
        (Measurement(measured, (1,)), (np.longdouble(1) / 3, 0.1)),
        (Measurement(measured, (1,)), (10**30, 0.1)),
        (Measurement(measured, (1,)), ("\ud800", 0.1)),
        (Measurement(measured, (1,)), DEEP),
    ],
    ids=["undeclared", "complex", "long double", "large", "half a letter", "deep"],
)
def test_a_result_that_cannot_be_stored_is_measured_again(
    tmp_path: Path, measurement: Measurement, result: Any
) -> None:
    finished = Finished(tmp_path / NAME, "quick")
    finished.put(measurement, result, 1.0)
    assert finished.get(measurement) is None


def test_a_damaged_row_is_a_task_that_is_not_finished(tmp_path: Path) -> None:
    """A row that is truncated, or has one flipped bit in a number: only the digest can reveal the second."""
    measurement = Measurement(measured, (1,))
    Finished(tmp_path / NAME, "quick").put(measurement, (1.0, 0.1), 1.0)
    with closing(sqlite3.connect(tmp_path / NAME)) as rows:
        [(whole,)] = rows.execute("SELECT result FROM finished")
    tenth = struct.pack(">d", 0.1)
    assert whole.count(tenth) == 1
    changed = whole.replace(tenth, struct.pack(">d", math.nextafter(0.1, 1.0)))
    for damaged in (b"", b"\x93\x01", whole[:-1], changed, whole):
        with closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as rows:
            rows.execute("UPDATE finished SET result = ?", (damaged,))
        found = Finished(tmp_path / NAME, "quick").get(measurement)
        assert found == (((1.0, 0.1), 1.0, None) if damaged == whole else None)


def test_a_file_or_database_of_another_kind_is_refused_and_a_file_unchanged(tmp_path: Path) -> None:
    (tmp_path / "notes").write_bytes(b"these are notes, and not a few of them" * 100)
    with closing(sqlite3.connect(tmp_path / "rows")) as rows:
        rows.execute("CREATE TABLE finished (recipe TEXT)")
    for name in ("notes", "rows"):
        with pytest.raises(InvalidInput, match="does not hold finished measurements"):
            Finished(tmp_path / name, "quick")
    assert (tmp_path / "notes").read_bytes() == b"these are notes, and not a few of them" * 100


def test_a_full_disk_does_not_cost_the_run(tmp_path: Path) -> None:
    finished = Finished(tmp_path / NAME, "quick")
    finished._rows.execute("PRAGMA max_page_count = 1")  # as if the disk were full
    finished._rows.execute("PRAGMA query_only = ON")
    ledger = run(CLAIMS, jobs=0, finished=finished)
    assert [record.verdict for record in ledger.claims] == ["supported", "supported"]
    assert finished.problem


@pytest.mark.parametrize("content", [b"", b"these are notes, and not a few of them" * 100])
def test_a_file_is_closed_when_nobody_uses_it(tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 3.13 on, Python warns otherwise."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr("sqlite3.connect", connected)
    (tmp_path / NAME).write_bytes(content)
    with suppress(InvalidInput):
        Finished(tmp_path / NAME, "quick")
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def test_the_file_goes_when_the_run_is_whole(tmp_path: Path) -> None:
    finished = Finished(tmp_path / NAME, "quick")
    run(CLAIMS, jobs=0, finished=finished)
    finished.remove()
    assert not list(tmp_path.iterdir())
