"""One trial of a claim at a point: the measurement, the allowed range, and the distance to a refutation.

A counterexample is tested `again` by other methods: its losses by both exact routes, by ball arithmetic, by sampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from lipverify.claims.language.family import Point
from lipverify.claims.language.file import ClaimsFile
from lipverify.claims.ledger.verdict import Allowed, Interval, Verdict, decide
from lipverify.claims.plan.cells import function_of, measurement, reader
from lipverify.claims.plan.claim import Measurement
from lipverify.claims.plan.declaration import Sought
from lipverify.claims.plan.profile import Profile
from lipverify.claims.plan.registry import sought_named
from lipverify.claims.run.measurement import timed
from lipverify.claims.run.workers import Lost, Processes, processes
from lipverify.foundation.store import remembering
from lipverify.loss.methods import draws, instead_of_exact, repeats

HEAVY = (
    "sympy.physics.units",
    "flint",
    "lipverify.loss.exact",
    "lipverify.loss.certified",
    "lipverify.loss.montecarlo",
    "lipverify.optimum",
)
"""Modules imported before trials begin, so that their time limits do not include the imports."""


class NotReached(Exception):
    """There is no answer at this point: the measurement is refused, takes too long, or raises."""


@dataclass(frozen=True)
class Trial:
    """The verdict at one point."""

    point: Point
    form: int
    """The number of the claim's form."""
    interval: Interval
    allowed: Allowed
    claimed: str
    quantity: str

    @property
    def verdict(self) -> Verdict:
        return decide(self.interval, self.allowed)

    @property
    def slack(self) -> float:
        """The relative distance of the interval's middle inside the allowed range, from -1 (outside) to 1."""
        low, high = self.interval.ends
        if not (math.isfinite(low) and math.isfinite(high)):
            return 1.0
        middle = (low + high) / 2
        least, most = self.allowed.ends
        distances = [(middle - least, least), (most - middle, most)]
        return min((_share(distance, middle, edge) for distance, edge in distances if math.isfinite(edge)), default=1.0)

    @property
    def measured(self) -> str:
        low, high = self.interval.ends
        half = (high - low) / 2
        return f"{(low + high) / 2:.10g} ± {f'{half:.1e}' if half else 0}"


def _share(distance: float, value: float, edge: float) -> float:
    size = abs(value) + abs(edge)
    return distance / size if size else 0.0


@contextmanager
def a_process() -> Iterator[Processes]:
    """A process for trials, replaced if one takes too long; its intermediate results are available to the next."""
    for module in HEAVY:
        import_module(module)  # once, before the processes are forked
    with remembering() as shared, processes(1, shared, modules=HEAVY) as workers:
        yield workers


def in_time(
    workers: Processes, seconds: float, function: Callable[..., Any], sought: Sought, profile: Profile, *arguments: Any
) -> Any:
    """Call a function of a claim, such as `tried`, in a process that finds the claim by its id; `NotReached` if it does
    not end in time, or is killed.
    """
    try:
        return workers.value(_of_a_claim, function, sought.file, sought.id, profile, *arguments, seconds=seconds)
    except TimeoutError as error:
        raise NotReached(str(error)) from None
    except (Lost, BrokenExecutor):
        workers.restart()
        raise NotReached("it killed its process (too little memory?)") from None


def _of_a_claim(function: Callable[..., Any], file: ClaimsFile, id: str, profile: Profile, *arguments: Any) -> Any:
    return function(sought_named(file, id, profile), *arguments)


def tried(sought: Sought, form_number: int, free: Point, profile: Profile) -> Trial:
    """The trial of a form at a point; `NotReached` if there is no answer there."""
    form, family = sought.forms[form_number], sought.family
    point = family.joined(free)
    try:
        allowed = form.range.allowed(point)
        measured = function_of(form, point, family)
        result = _run(measurement(form, point, measured, profile))
        estimate = reader(form, point, measured)(result, allowed)
        claimed = form.range.meaning(point).text(form.plain_quantity)
    except Exception as error:  # functions of the file make bounds too, and an exception in one refutes nothing
        raise error if isinstance(error, NotReached) else NotReached(f"{type(error).__name__}: {error}") from None
    trial = Trial(free, form_number, estimate.interval, allowed, claimed, form.plain_quantity)
    if trial.verdict == "error":
        raise NotReached(f"{estimate.interval} is not a valid interval")
    return trial


def refutes(trial: Trial, sought: Sought, profile: Profile, workers: Processes, seconds: float) -> bool:
    """True if the trial refutes. A sampled refutation must be repeated clearly with new and many more contexts."""
    if trial.verdict != "refuted":
        return False
    if not draws(sought.forms[trial.form].method):
        return True
    fresh = replace(profile, seed=profile.seed + 1, contexts=16 * profile.contexts)
    again = in_time(workers, seconds, tried, sought, profile, trial.form, trial.point, fresh)
    low, high = again.interval.ends
    distance = (high - low) / 2
    return decide(Interval(low - distance, high + distance), again.allowed) == "refuted"


def _run(measurement: Measurement) -> Any:
    """The result of a measurement, after making its needs."""
    results: dict[str, Any] = {}
    for needed in measurement.with_needs():
        if needed.address not in results:
            outcome = timed(needed, [results[need.address] for need in needed.needs])
            if outcome.problem:
                raise NotReached(outcome.problem.removeprefix(f"{needed.address}: "))
            results[needed.address] = outcome.result
    return results[measurement.address]


@dataclass(frozen=True)
class Again:
    """The result of another method for the counterexample; no verdict if the method cannot compute it."""

    by: str
    verdict: Verdict | None
    measured: str


def again(trial: Trial, sought: Sought, profile: Profile) -> list[Again]:
    """Repeat the trial by each other method that can; one without bounds is used only if fewer than two others can."""
    repetitions: list[Again] = []
    with a_process() as workers:
        for by, (method, _) in repeats().items():
            if not method.bounds and sum(repetition.verdict is not None for repetition in repetitions) > 1:
                continue
            try:
                repetition = in_time(workers, 20.0, _tried_by, sought, profile, by, trial.form, trial.point, profile)
            except NotReached as reason:
                repetition = Again(by, None, str(reason))
            repetitions += [repetition] if repetition is not None else []
    return repetitions


def _tried_by(sought: Sought, by: str, *again: Any) -> Again | None:
    """Make the trial by this method; None if the function requests no exact loss."""
    with instead_of_exact(by) as substitute:
        try:
            trial = tried(sought, *again)
            repeated = Again(by, trial.verdict, trial.measured)
        except NotReached as reason:
            repeated = Again(by, None, str(reason))
    return repeated if substitute.used else None
