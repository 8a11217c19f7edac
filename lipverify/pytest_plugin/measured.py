"""The measurements of a test run: each is made once, even if several processes share it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from lipverify.claims.plan.claim import Claim, Measurement
from lipverify.claims.run.kept import NAME, Finished
from lipverify.claims.run.measurement import Outcome
from lipverify.claims.run.ran import watched
from lipverify.errors import InvalidInput
from lipverify.foundation.files import locked

PAUSE = 0.05
"""Seconds between checks for results of other processes."""


class Measured:
    """Outcomes by address.

    Parameters
    ----------
    folder
        Folder in which processes share results; None for a single process. The first process to reach a measurement
        makes it, and the others continue with the next free one, so processes with the same evidence share the work.
    settings
        Everything besides its address on which a result depends, in words.
    """

    def __init__(self, folder: Path | None, settings: str) -> None:
        self.folder, self.outcomes = folder, dict[str, Outcome]()
        self.measurements = dict[str, Measurement]()
        self.shared = _opened(folder, settings) if folder is not None else None

    def of(self, claim: Claim) -> Mapping[str, Outcome]:
        """The outcomes of all measurements of a claim, which are made if they are missing.

        Raises
        ------
        InvalidInput
            If another claim has a different measurement with the same address.
        """
        measurements = claim.measurements
        for address, measurement in measurements.items():
            if self.measurements.setdefault(address, measurement) != measurement:
                raise InvalidInput(f"claim {claim.id}: another measurement is called {address}; rename its function.")
        while any(address not in self.outcomes for address in measurements):
            left = [each for address, each in measurements.items() if address not in self.outcomes]
            progress = [self._try(each) for each in left]
            if not any(progress):
                time.sleep(PAUSE)
        return self.outcomes

    def _try(self, measurement: Measurement) -> bool:
        """Load or make a measurement; False if a need is missing, or another process is making it."""
        needed = [self.outcomes.get(need.address) for need in measurement.needs]
        if any(outcome is None for outcome in needed):
            return False
        found = [outcome for outcome in needed if outcome is not None]
        problem = next((outcome.problem for outcome in found if outcome.problem), "")
        if problem:
            self.outcomes[measurement.address] = Outcome(None, problem, 0.0)
            return True
        with self._only_here(measurement.address) as free:
            if free:
                kept = self.shared.get(measurement) if self.shared is not None else None
                self.outcomes[measurement.address] = (
                    Outcome(kept.result, "", kept.seconds, ran=kept.ran) if kept else self._run(measurement, found)
                )
        return free

    def _run(self, measurement: Measurement, needed: list[Outcome]) -> Outcome:
        """Make a measurement. An exception becomes an outcome too."""
        clock = time.perf_counter()
        try:
            result, ran = watched(measurement, [outcome.result for outcome in needed])
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
