"""The length of the nightly tests and their random inputs, from the environment to repeat a night; their output."""

from __future__ import annotations

import math
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

ROUNDS = int(os.environ.get("LIPVERIFY_ROUNDS", "100"))
"""Number of random moments, or problems, of a test."""
SECONDS = float(os.environ.get("LIPVERIFY_SECONDS", "600"))
"""Seconds of a search."""
SEED = int(os.environ.get("LIPVERIFY_SEED", time.strftime("%Y%m%d", time.gmtime())))
"""The seed, by default the date; the nightly script prints it."""


def dice(*what: object) -> random.Random:
    return random.Random(f"{SEED} {what}")


def until_time_is_up(seconds: float = SECONDS) -> Iterator[int]:
    """Yield 0, 1, 2, ... for a number of seconds."""
    begun, count = time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        yield count
        count += 1


class TooLong(Exception):
    """A method took longer than it may for one problem."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TooLong` when the time is up; without a limit if it is infinite, as in the tests of every run."""
    if seconds == math.inf:
        yield
        return

    def ring(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Outcome:
    """True over claimed error of the worse term, the claimed one, who knew the truth (`by`), or `why` nothing did."""

    kind: str
    by: str = ""
    why: str = ""
    ratio: float = 0.0
    claimed: float = 0.0


def table(name: str, outcomes: Sequence[Outcome]) -> str:
    """A line for each kind and one for all: tried, compared, failed, and the worst ratio; refusals by their reason."""
    lines = []
    for kind in (*sorted({each.kind for each in outcomes}), "all"):
        some = [each for each in outcomes if kind in (each.kind, "all")]
        compared = [each for each in some if each.by]
        counts = Counter(each.by or each.why for each in some)
        failed = sum(not each.ratio <= 1 for each in compared)
        worst = max((each.ratio for each in compared), default=0.0)
        claimed = median([each.claimed for each in compared] or [0.0])
        lines.append(
            f"  {name}, {kind}: {len(some)} tried, {len(compared)} compared, {failed} failed, worst true/claimed "
            f"{worst:.3g}, median claimed {claimed:.1e} of the value"
            + "".join(f"; {count} {word}" for word, count in sorted(counts.items()))
        )
    return "\n".join(lines)
