"""Store finished measurements in a file, so that a run can be resumed after any interruption."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import unwrap
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from lipverify.claims.evidence.returned import Ran
from lipverify.claims.plan.claim import Measurement
from lipverify.foundation.provenance import fingerprint
from lipverify.foundation.store import Rows
from lipverify.scaling import Growth

NAME = "finished.sqlite"
NAMES = (NAME, f"{NAME}-journal")
"""The file, and the one that SQLite makes beside it and removes."""


class Kept(NamedTuple):
    """The stored part of a measurement: its result, its duration, and the code that ran."""

    result: Any
    seconds: float
    ran: Ran | None


class Finished(Rows):
    """Results and durations of measurements by address, one row each, written as soon as a measurement is done.

    A row holds data and no code: a result is encoded and decoded by the type that the measurement's function declares.
    Results of other types are not stored and will be measured again.

    Parameters
    ----------
    path
        The file, which is created if it does not exist.
    settings
        All other things on which a result depends, in words. Rows made with other settings or by other
        code are ignored and replaced.
    resume
        True to use existing rows. Otherwise they stay until they are replaced, and can be used by a later run.

    Raises
    ------
    InvalidInput
        If the file cannot be used, or is not such a file.
    """

    def __init__(self, path: Path, settings: str, *, resume: bool = True) -> None:
        super().__init__(path, f"{settings}; {fingerprint()}", "finished measurements", resume=resume)

    def get(self, measurement: Measurement) -> Kept | None:
        """The stored result of a finished measurement; None if there is none."""
        kind = _kept(measurement.function)
        stored = None if kind is None else self.read(measurement.address, kind)
        return None if stored is None else Kept(*stored)

    def put(self, measurement: Measurement, result: Any, seconds: float, ran: Ran | None = None) -> None:
        """Store the result of a measurement."""
        kind = _kept(measurement.function)
        if kind is not None:
            self.write(measurement.address, (result, seconds, ran), kind)


@cache
def _kept(function: Callable[..., Any]) -> Any:
    """The type of a row: the function's declared result, seconds, the code that ran; None if none is declared."""
    declared = get_type_hints(unwrap(function), localns={"Growth": Growth}).get("return")
    return None if declared is None else tuple[declared, float, Ran | None]  # type: ignore[valid-type]
