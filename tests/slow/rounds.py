"""How long the nightly tests go on, and which numbers they draw: both from the environment, to repeat a night."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator

ROUNDS = int(os.environ.get("LIPVERIFY_ROUNDS", "100"))
"""Random moments, or problems, a test."""
SECONDS = float(os.environ.get("LIPVERIFY_SECONDS", "600"))
"""Seconds that a search goes on."""
SEED = int(os.environ.get("LIPVERIFY_SEED", time.strftime("%Y%m%d", time.gmtime())))
"""The day by default; the nightly script prints it."""


def dice(*what: object) -> random.Random:
    """Random numbers of tonight, for one purpose."""
    return random.Random(f"{SEED} {what}")


def until_time_is_up(seconds: float = SECONDS) -> Iterator[int]:
    """0, 1, 2, ... for so many seconds."""
    begun, count = time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        yield count
        count += 1
