"""The search itself: rounds of Hypothesis within a budget of seconds, after what is kept from before."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings, target
from hypothesis import strategies as st
from hypothesis.errors import Flaky, HypothesisException

from lipverify.claims.language.family import Place
from lipverify.claims.plan.declaration import Sought
from lipverify.claims.plan.profile import Profile
from lipverify.claims.run.workers import Processes
from lipverify.falsify.places import Axis, assumptions, axes_of, lies_in, places_of
from lipverify.falsify.trial import NotReached, Trial, a_process, in_time, refutes, tried

FIRST_ROUND, LARGEST_ROUND = 40, 2000
"""Examples of a round, half of them drawn and half steered; each round has twice those of the one before."""
IDLE = 3
"""After so many rounds without a new point everything there is has been seen."""
SHARE, LEAST = 1 / 20, 1.0
"""One measurement may take this share of the time, and so many seconds at least: slow points are left for others."""


FIRST = 5
"""So many times as long until there is a first answer: what is imported and tabulated once counts with it."""


class TimeUp(BaseException):
    """The budget is spent; Hypothesis lets it pass."""


class Refuted(Exception):
    """A counterexample, for Hypothesis to shrink."""


@dataclass
class Search:
    """What a search found.

    Attributes
    ----------
    sought
        The claim's forms, and where they are looked at.
    trials, seconds
        What was spent.
    found
        The counterexample, made simple; None if there is none.
    first, first_seconds
        After how many trials and seconds it was there; the rest went into making it simple.
    kept
        Whether it was known from before.
    nearest
        The trial that came nearest to a refutation, where there is none.
    not_reached
        Points without an answer, by the reason.
    axes, seen
        What is searched, form by form; trials that were made.
    progress
        Called with (seconds, trials) after each trial.

    >>> Search(sought=None).trials  # before it begins
    0
    """

    sought: Sought
    trials: int = 0
    seconds: float = 0.0
    found: Trial | None = None
    first: int = 0
    first_seconds: float = 0.0
    kept: bool = False
    nearest: Trial | None = None
    not_reached: Counter[str] = field(default_factory=Counter)
    axes: tuple[list[Axis], ...] = ()
    seen: dict[str, bool] = field(default_factory=dict)
    progress: Callable[[float, int], None] = lambda seconds, trials: None

    @property
    def answered(self) -> bool:
        """Whether any point gave an answer."""
        return self.found is not None or self.nearest is not None

    @property
    def searched(self) -> tuple[str, ...]:
        """The ranges of the coordinates in words, form by form where forms differ."""
        return tuple(dict.fromkeys(", ".join(axis.said for axis in axes) for axes in self.axes))


def search(
    sought: Sought,
    profile: Profile,
    seconds: float,
    kept: Sequence[tuple[int, Place]] = (),
    *,
    progress: Callable[[float, int], None] = Search.progress,
) -> Search:
    """Look for a counterexample to a claim, first where one was found before.

    The points that are drawn follow from `profile.seed`; how far the search comes follows from the time.

    Parameters
    ----------
    sought
        A claim of a file, from `lipverify.claims.plan.registry.sought_in`.
    profile
        Its seed, and how much is sampled.
    seconds
        Time for all trials.
    kept
        Counterexamples of before, each with the number of its form.
    progress
        Called with (seconds, trials) after each trial.

    Returns
    -------
    Search
        The counterexample in its simplest form, or what came nearest to one.

    Raises
    ------
    InvalidInput
        If a coordinate has no range to be searched.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from lipverify.claims.plan.profile import profile_named
    >>> from lipverify.claims.plan.registry import sought_in
    >>> text = '''
    ... from lipverify.claims import bound, claim
    ... def square(x):
    ...     return x * x, 1e-12
    ... claim("mine.square", bound(square, "x^2", high="x", control="x / 20"), over={"x": (0.1, 0.8)},
    ...       assumes="0.01 <= x <= 8", source=("My notes", "Lemma 1", "smaller"), kind="printed")
    ... '''
    >>> quick = profile_named("quick")
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.py"
    ...     _ = path.write_text(text)
    ...     outcome = search(sought_in(str(path), None, quick)[0], quick, seconds=30.0)
    >>> outcome.found is not None  # x > 1
    True
    """
    found = Search(sought, progress=progress)
    assumed = assumptions(sought.assumes)
    found.axes = tuple(axes_of(form, sought.over, assumed, profile) for form in sought.forms)
    with a_process() as workers:
        workers.value(int, seconds=LEAST)  # the time of a call begins after the imports, and that of the search
        begun = time.perf_counter()
        look = _Look(found, profile, workers, begun, begun + seconds)
        inside = (each for each in kept if each[0] < len(sought.forms) and lies_in(found.axes[each[0]], each[1]))
        found.kept = any(look(which, place) for which, place in inside)
        if not found.kept:
            _rounds(look)
        found.seconds = time.perf_counter() - begun
    return found


def _rounds(look: _Look) -> None:
    """Rounds of growing size until something is found or the time is up."""
    found = look.found
    cases = st.one_of(*(st.tuples(st.just(which), places_of(axes)) for which, axes in enumerate(found.axes)))
    size, round_, idle = FIRST_ROUND, 0, 0
    while found.found is None:
        before = len(found.seen)
        with suppress(TimeUp, Refuted):
            _round(look, cases, size, look.profile.seed + round_)
        idle = idle + 1 if len(found.seen) == before else 0
        if look.left <= 0 or idle >= IDLE:
            return
        size, round_ = min(2 * size, LARGEST_ROUND), round_ + 1


def _round(look: _Look, cases: st.SearchStrategy[tuple[int, Place]], size: int, address: int) -> None:
    @seed(address)
    @settings(
        max_examples=size,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.target, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
    )
    @given(cases)
    def examine(case: tuple[int, Place]) -> None:
        if look.left <= 0:
            raise TimeUp
        if look(*case):
            raise Refuted

    try:
        examine()
    except HypothesisException as error:
        if not isinstance(error, Flaky) and look.found.found is None:
            raise


@dataclass(frozen=True)
class _Look:
    """A look at a point of a search, which ends at a time."""

    found: Search
    profile: Profile
    workers: Processes
    begun: float
    end: float

    @property
    def left(self) -> float:
        """Seconds."""
        return self.end - time.perf_counter()

    def __call__(self, which: int, free: Place) -> bool:
        """Whether the claim fails at a point; a point is measured once."""
        found, sought = self.found, self.found.sought
        key = f"{which} {free.where}"
        if key in found.seen:
            return found.seen[key]
        found.trials += 1
        share = max(LEAST, SHARE * (self.end - self.begun)) * (1 if found.answered else FIRST)
        failed = False
        try:
            seconds = min(share, self.left)
            trial = in_time(self.workers, seconds, tried, sought, self.profile, which, free, self.profile)
            failed = refutes(trial, sought, self.profile, self.workers, min(share, self.left))
            _note(found, trial, failed, self.begun)
        except NotReached as reason:
            if self.left > 0 or not found.answered:  # the end of the budget says nothing of a point
                found.not_reached[str(reason)] += 1
        found.seen[key] = failed
        found.progress(time.perf_counter() - self.begun, found.trials)
        return failed


def _note(found: Search, trial: Trial, failed: bool, begun: float) -> None:
    """Steer, and remember the simplest counterexample (Hypothesis only tries simpler ones) or the nearest miss."""
    _steer(-trial.slack)
    if failed:
        if found.found is None:
            found.first, found.first_seconds = found.trials, time.perf_counter() - begun
        found.found = trial
    elif found.nearest is None or trial.slack < found.nearest.slack:
        found.nearest = trial


def _steer(value: float) -> None:
    from hypothesis.control import currently_in_test_context

    if currently_in_test_context():
        target(value)


def whole(trial: Trial, sought: Sought) -> dict[str, Any]:
    """All coordinates of a trial."""
    return {**sought.family.where, **trial.place.where}
