"""`verify --decide`: the next steps of open claims, the cheapest first, within a budget."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from lipverify.claims.ledger.record import Ledger, Record
from lipverify.claims.plan.claim import Claim
from lipverify.claims.run.audit import sealed
from lipverify.claims.run.deciding import duration, in_words, other_methods, stepped, tried_now, wants
from lipverify.claims.run.runner import run
from lipverify.cli.ending import DECIDE
from lipverify.report.visible import visible


@dataclass
class _Open:
    """An open claim, and the methods that have not been tried on it."""

    index: int
    claim: Claim
    record: Record
    methods: list[str]

    @property
    def seconds(self) -> float:
        """The predicted duration of the next step, in seconds."""
        return self.record.step.seconds if self.record.step is not None else 0.0


def decided(ledger: Ledger, claims: Sequence[Claim], seconds: float, settings: dict[str, Any]) -> Ledger:
    """Take steps until the time is spent, and return the ledger; a step predicted to exceed the rest is not begun."""
    begun = time.perf_counter()
    end = begun + seconds
    records = list(ledger.claims)
    waiting = [
        _Open(index, claim, record, other_methods())
        for index, (claim, record) in enumerate(zip(claims, records, strict=True))
        if record.verdict == "inconclusive" and record.step is not None
    ]
    while waiting:
        cheapest = min(waiting, key=lambda each: each.seconds)
        left = end - time.perf_counter()
        if cheapest.seconds > left:
            for each in waiting:
                _say(each.record, f"is left open: {wants(each.record)}, and {duration(max(left, 0.0))} are left")
            break
        found = _taken(cheapest, settings, left, seconds)
        if found is not None:
            records[cheapest.index] = cheapest.record = found
        elif not cheapest.methods:
            _say(cheapest.record, "stays open: no step helped")
            tried = (*cheapest.record.tried, *tried_now(cheapest.record))
            records[cheapest.index] = cheapest.record = replace(cheapest.record, step=None, tried=tried)
        if cheapest.record.step is None:
            waiting.remove(cheapest)
    took = ledger.provenance.seconds + time.perf_counter() - begun
    return sealed(replace(ledger, claims=tuple(records), provenance=replace(ledger.provenance, seconds=took)))


def _taken(each: _Open, settings: dict[str, Any], left: float, seconds: float) -> Record | None:
    """The record after one step; None if the step did not help."""
    step = each.record.step
    assert step is not None
    by = each.methods.pop(0) if step.what == "method" else ""
    better = stepped(each.claim, each.record, by)
    _say(each.record, f"{in_words(step)}" + f"; now {by}" * bool(by))
    [found] = run([better], **{**settings, "limit": min(settings["limit"], left)}).claims
    if found.verdict == "error":
        _say(found, f"is not decided by this step: {found.problem}")
        each.methods = each.methods if by else []
        return None
    if by and found.verdict == "inconclusive":
        return None
    each.claim = better
    told = wants(found) if found.verdict == "inconclusive" and found.step is None else ""
    _say(found, f"is {found.verdict}: {found.measured}{f'; {told}' if told else ''}")
    return replace(found, reproduce=f"{found.reproduce}{DECIDE}{seconds:g}")


def _say(record: Record, text: str) -> None:
    print(f"lipverify: {visible(record.id)} {visible(text)}", file=sys.stderr)
