"""Measurements that are finished, in a file that survives whatever ends the run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import unwrap
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from lipverify.claims.plan.claim import Measurement
from lipverify.claims.run.ran import Ran
from lipverify.foundation.provenance import fingerprint
from lipverify.foundation.store import Rows
from lipverify.scaling import Growth

NAME = "finished.sqlite"
NAMES = (NAME, *(f"{NAME}-{kind}" for kind in ("wal", "shm", "journal")))
"""The file, and those that SQLite makes and removes with it."""


class Kept(NamedTuple):
    """What is kept of a measurement: its result, the seconds it took, and what ran."""

    result: Any
    seconds: float
    ran: Ran | None


class Finished(Rows):
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
        super().__init__(path, f"{settings}; {fingerprint()}", "finished measurements", resume=resume)

    def get(self, measurement: Measurement) -> Kept | None:
        """What is kept of a measurement that is finished."""
        kind = _kept(measurement.function)
        found = None if kind is None else self.read(measurement.address, kind)
        return None if found is None else Kept(*found)

    def put(self, measurement: Measurement, result: Any, seconds: float, ran: Ran | None = None) -> None:
        """Keep the result of a measurement."""
        kind = _kept(measurement.function)
        if kind is not None:
            self.write(measurement.address, (result, seconds, ran), kind)


@cache
def _kept(function: Callable[..., Any]) -> Any:
    """The type of a row: the result that a function declares, seconds, and what ran; None if it declares none."""
    declared = get_type_hints(unwrap(function), localns={"Growth": Growth}).get("return")
    return None if declared is None else tuple[declared, float, Ran | None]  # type: ignore[valid-type]
