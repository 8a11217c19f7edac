"""Measurements that are finished, in a file that survives whatever ends the run."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from functools import cache
from inspect import unwrap
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import msgspec
import numpy as np

from lipverify.claims.plan.claim import Measurement
from lipverify.claims.run.ran import Ran
from lipverify.errors import InvalidInput
from lipverify.foundation.provenance import fingerprint
from lipverify.scaling import Growth

NAME = "finished.sqlite"
NAMES = (NAME, *(f"{NAME}-{kind}" for kind in ("wal", "shm", "journal")))
"""The file, and those that SQLite makes and removes with it."""


class Kept(NamedTuple):
    """What is kept of a measurement: its result, the seconds it took, and what ran."""

    result: Any
    seconds: float
    ran: Ran | None


class Finished:
    """Results and seconds of measurements by address, one row each, written as soon as the measurement is done.

    A row holds data and no code: a result is encoded by the type that the measurement's function declares, and
    decoded as that. Results of another type are not kept; they are measured again.

    Parameters
    ----------
    path
        The file; made if it is not there.
    settings
        What a result depends on beside its address, in words. Rows that were made with other settings, or by
        other code, are left out and replaced.
    resume
        Whether rows that were there before are taken; else they stay until they are replaced, and can be resumed later.

    Raises
    ------
    InvalidInput
        If the file cannot be used, or is something else.
    """

    def __init__(self, path: Path, settings: str, *, resume: bool = True) -> None:
        self.path, self.made_by = path, f"{settings}; {fingerprint()}"
        self.resume, self._own = resume, set[str]()
        there = path.exists()
        self.problem = ""
        """Why results are no longer kept, if so: a full disk must not cost the run."""
        try:
            self._rows = sqlite3.connect(path, isolation_level=None)
            self._rows.execute("PRAGMA journal_mode=WAL")
            self._rows.execute("PRAGMA synchronous=NORMAL")  # a kill loses nothing; a power cut the last rows
            self._rows.execute(
                "CREATE TABLE IF NOT EXISTS finished (address TEXT, made_by TEXT, seconds REAL, result BLOB,"
                " PRIMARY KEY (address))"
            )
            self._rows.execute("SELECT address, made_by, seconds, result FROM finished LIMIT 1")
        except sqlite3.Error as error:
            what = f"does not hold finished measurements ({error}); remove it"
            if not there:
                what = f"cannot be written ({error}: is the disk full?); make room"
                self._unlink()
            raise InvalidInput(f"{str(path)!r} {what}, or choose another --out.") from None

    def get(self, measurement: Measurement) -> Kept | None:
        """What is kept of a measurement that is finished."""
        if not self.resume and measurement.address not in self._own:
            return None
        query = "SELECT result, seconds FROM finished WHERE address = ? AND made_by = ?"
        try:
            row = self._rows.execute(query, (measurement.address, self.made_by)).fetchone()
            if row is None:
                return None
            result, ran = msgspec.msgpack.decode(row[0], type=_kept(measurement.function))
            return Kept(result, float(row[1]), ran)
        except (sqlite3.Error, msgspec.DecodeError, TypeError):
            return None  # a row that cannot be read is a measurement that is not finished

    def put(self, measurement: Measurement, result: Any, seconds: float, ran: Ran | None = None) -> None:
        """Keep the result of a measurement."""
        try:
            encoded = msgspec.msgpack.encode((result, ran), enc_hook=_plain)
            msgspec.msgpack.decode(encoded, type=_kept(measurement.function))
        except (TypeError, NotImplementedError, msgspec.DecodeError):
            return
        with self._or_give_up():
            row = (measurement.address, self.made_by, seconds, encoded)
            self._rows.execute("INSERT OR REPLACE INTO finished VALUES (?, ?, ?, ?)", row)
            self._own.add(measurement.address)

    @property
    def count(self) -> int:
        """How many measurements are kept that these settings and this code have made."""
        try:
            query = "SELECT COUNT(*) FROM finished WHERE made_by = ?"
            return int(self._rows.execute(query, (self.made_by,)).fetchone()[0])
        except sqlite3.Error:
            return 0

    @property
    def empty(self) -> bool:
        """Whether nothing is kept, of whatever settings."""
        try:
            return self._rows.execute("SELECT 1 FROM finished LIMIT 1").fetchone() is None
        except sqlite3.Error:
            return False

    def remove(self) -> None:
        """Close and delete the file, if the folder still allows that; left behind it does no harm."""
        self._rows.close()
        self._unlink()

    def _unlink(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self.path.with_name(self.path.name + suffix).unlink()

    @contextlib.contextmanager
    def _or_give_up(self) -> Any:
        try:
            yield
        except sqlite3.Error as error:
            self.problem = str(error)


@cache
def _declared(function: Callable[..., Any]) -> Any:
    """The type that a measurement's function declares to return; a TypeError if it declares none."""
    hints = get_type_hints(unwrap(function), localns={"Growth": Growth})
    if "return" not in hints:
        raise TypeError(f"{function.__name__} does not declare what it returns")
    return hints["return"]


def _kept(function: Callable[..., Any]) -> Any:
    """The type of a row: the result of a function, and what ran."""
    return tuple[_declared(function), Ran | None]  # type: ignore[misc]


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"results of type {type(value).__name__} are not kept")
