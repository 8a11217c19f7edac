"""What was measured: each measurement once in a test run, also if several processes share it."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from lipverify.claims.claim import Claim, Task
from lipverify.claims.finished import NAME, Finished
from lipverify.claims.measurement import Outcome
from lipverify.errors import InvalidInput

PAUSE = 0.05
"""Seconds between looks at what other processes do."""


class Measured:
    """Outcomes by address.

    Parameters
    ----------
    folder
        Where processes share results; None if this is the only one. Whoever is first at a measurement does it, and the
        others go on with the next that is free: claims on the same evidence are a reason to help, not to wait.
    settings
        What results depend on beside their address, in words.
    """

    def __init__(self, folder: Path | None, settings: str) -> None:
        self.folder, self.outcomes = folder, dict[str, Outcome]()
        self.tasks = dict[str, Task]()
        self.shared = Finished(folder / NAME, settings) if folder is not None else None

    def of(self, claim: Claim) -> Mapping[str, Outcome]:
        """The outcomes of all tasks of a claim, measured if need be.

        Raises
        ------
        InvalidInput
            If another claim calls a different measurement by the same address.
        """
        tasks = claim.tasks
        for address, task in tasks.items():
            if self.tasks.setdefault(address, task) != task:
                raise InvalidInput(f"claim {claim.id}: another measurement is called {address}; rename its function.")
        while any(address not in self.outcomes for address in tasks):
            progress = [self._try(task) for address, task in tasks.items() if address not in self.outcomes]
            if not any(progress):
                time.sleep(PAUSE)
        return self.outcomes

    def _try(self, task: Task) -> bool:
        """Take or make the outcome of a task; False if what it needs is not there, or another process is at it."""
        needed = [self.outcomes.get(need.address) for need in task.needs]
        if any(outcome is None for outcome in needed):
            return False
        found = [outcome for outcome in needed if outcome is not None]
        problem = next((outcome.problem for outcome in found if outcome.problem), "")
        if problem:
            self.outcomes[task.address] = Outcome(None, problem, 0.0)
            return True
        with self._only_here(task.address) as free:
            if free:
                kept = self.shared.get(task) if self.shared is not None else None
                self.outcomes[task.address] = Outcome(kept[0], "", kept[1]) if kept else self._run(task, found)
        return free

    def _run(self, task: Task, needed: list[Outcome]) -> Outcome:
        """Measure; an exception is an outcome too."""
        clock = time.perf_counter()
        try:
            result = task.run(*(outcome.result for outcome in needed))
        except Exception as error:  # a check that breaks is the error of the claims that need it
            lines = "".join(traceback.format_exception(error)).rstrip()
            return Outcome(None, f"{task.address}: {type(error).__name__}: {error}\n\n{lines}", 0.0)
        seconds = time.perf_counter() - clock
        if self.shared is not None:
            self.shared.put(task, result, seconds)
        return Outcome(result, "", seconds)

    @contextmanager
    def _only_here(self, address: str) -> Iterator[bool]:
        """Whether no other process is at this measurement; while it is so, none can begin it."""
        if self.folder is None:
            yield True
            return
        lock = self.folder / f"{blake2b(address.encode(), digest_size=16).hexdigest()}.lock"
        with lock.open("ab") as file:
            yield _locked(file.fileno())


def _locked(descriptor: int) -> bool:
    """Lock a file unless someone has it; the system frees it when the file is closed, or its process dies."""
    if os.name != "posix":
        return True  # processes may then measure the same thing, with the same result
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
