"""One look at a claim: what is measured at a point, what is allowed there, and how near it is to a refutation."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

from lipverify.claims.language.family import Place
from lipverify.claims.language.form import Form
from lipverify.claims.ledger.verdict import Allowed, Interval, Verdict, decide
from lipverify.claims.plan.cells import function_of, measurement, reader
from lipverify.claims.plan.claim import Measurement
from lipverify.claims.plan.profile import Profile
from lipverify.claims.run.measurement import TimeLimit, alarm, timed

SHORTEST = 1e-3
"""Seconds that a step has at least."""
MORE_CONTEXTS = 16
"""How many times as many contexts a sampled refutation is drawn again with, from another seed."""


class NotReached(Exception):
    """There is no answer at this point: the measurement refuses it, takes too long, or raises."""


@dataclass(frozen=True)
class Trial:
    """The verdict at one point."""

    place: Place
    form: int
    """Which form of the claim."""
    interval: Interval
    allowed: Allowed
    claimed: str
    quantity: str

    @property
    def verdict(self) -> Verdict:
        """As it is made everywhere."""
        return decide(self.interval, self.allowed)

    @property
    def slack(self) -> float:
        """How far the middle of the interval is inside of what is allowed, as a share of both sizes: from -1 to 1."""
        low, high = self.interval.ends
        if not (math.isfinite(low) and math.isfinite(high)):
            return 1.0
        middle = (low + high) / 2
        least, most = self.allowed.ends
        rooms = [(middle - least, least), (most - middle, most)]
        return min((_share(room, middle, edge) for room, edge in rooms if math.isfinite(edge)), default=1.0)

    @property
    def measured(self) -> str:
        """What was measured, with its error."""
        low, high = self.interval.ends
        half = (high - low) / 2
        return f"{(low + high) / 2:.10g} ± {f'{half:.1e}' if half else 0}"


def _share(room: float, value: float, edge: float) -> float:
    size = abs(value) + abs(edge)
    return room / size if size else 0.0


def tried(form: Form, which: int, family: Place, free: Place, profile: Profile, seconds: float) -> Trial:
    """The trial at a point.

    All of it is to end within so many seconds: what is allowed there may take as long as what is measured.

    Raises
    ------
    NotReached
        If there is no answer there, or none in time.
    """
    place, end = family.joined(free), time.perf_counter() + seconds
    try:
        with alarm(seconds):
            allowed = form.range.allowed(place)
            measured = function_of(form, place, family)
            planned = measurement(form, place, measured, profile)
        result = _run(planned, end)
        with alarm(_left(end)):
            estimate = reader(form, place, measured)(result, allowed)
    except TimeLimit:
        raise NotReached(f"it did not end within {seconds:.2g} s") from None
    except Exception as error:  # functions of the file make bounds too: what raises refutes nothing
        raise NotReached(f"{type(error).__name__}: {error}") from None
    claimed = form.range.meaning(place).text(form.said)
    found = Trial(free, which, estimate.interval, allowed, claimed, form.said)
    if found.verdict == "error":
        raise NotReached(f"the interval {estimate.interval} is none")
    return found


def refutes(trial: Trial, form: Form, family: Place, profile: Profile, seconds: float) -> bool:
    """Whether the trial refutes; what is sampled must do so again, clearly, from other draws and many more of them."""
    if trial.verdict != "refuted":
        return False
    if not form.drawn:
        return True
    fresh = replace(profile, seed=profile.seed + 1, contexts=MORE_CONTEXTS * profile.contexts)
    again = tried(form, trial.form, family, trial.place, fresh, seconds)
    low, high = again.interval.ends
    room = (high - low) / 2
    return decide(Interval(low - room, high + room), again.allowed) == "refuted"


def _left(end: float) -> float:
    """Seconds until then; of an alarm 0 would mean none."""
    return max(end - time.perf_counter(), SHORTEST)


def _run(measurement: Measurement, end: float) -> Any:
    """The result of a measurement, after what it needs, all of it before the end."""
    results: dict[str, Any] = {}
    for each in measurement.with_needs():
        if each.address not in results:
            outcome = timed(each, [results[need.address] for need in each.needs], _left(end))
            if outcome.problem:
                raise NotReached(outcome.problem.removeprefix(f"{each.address}: ").partition("; --limit")[0])
            results[each.address] = outcome.result
    return results[measurement.address]
