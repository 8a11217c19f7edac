"""Who is told how a run goes, while it goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lipverify.claims.ledger.record import Record


class Running(NamedTuple):
    """A measurement that is being made: its address, the claim that asked for it first, and the seconds so far."""

    address: str
    claim: str
    seconds: float


class Watch:
    """Told of every step of a run, in the process that decides; by itself it does nothing with it."""

    def measured(self, done: int, total: int) -> None:
        """So many measurements are done, of as many as are known of so far."""

    def running(self, now: Sequence[Running]) -> None:
        """What is being measured now, the longest first; told a few times a second."""

    def decided(self, record: Record) -> None:
        """A claim has its verdict."""
