"""The search for a counterexample: rounds of Hypothesis within a time budget."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings, target
from hypothesis import strategies as st
from hypothesis.control import currently_in_test_context
from hypothesis.errors import Flaky, HypothesisException

from lipverify.claims.language.family import Point
from lipverify.claims.plan.declaration import Sought
from lipverify.claims.plan.profile import Profile
from lipverify.claims.run.workers import Processes
from lipverify.falsify.axes import Axis, assumptions, axes_of, points_of
from lipverify.falsify.trial import NotReached, Trial, a_process, in_time, refutes, tried

SHARE, LEAST = 1 / 20, 1.0
"""Time limit of one measurement, as a share of the budget and in seconds at least: slow points are skipped."""


class TimeUp(BaseException):
    """The time budget is spent. Hypothesis passes a BaseException on."""


class Refuted(Exception):
    """A counterexample, for Hypothesis to shrink."""


@dataclass
class Search:
    """The result of a search.

    Attributes
    ----------
    sought
        The claim's forms with their free coordinates.
    trials, seconds
        Their total numbers.
    counterexample
        The simplified counterexample; None if there is none.
    first, first_seconds
        The number of trials and seconds until the first counterexample; the rest was spent on simplifying it.
    nearest
        The trial nearest to a refutation, if there is no counterexample.
    not_reached
        Points without an answer, by the reason.
    axes, seen
        The search region of each form, and the points already tried.
    progress
        Called with (seconds, trials) after each trial.

    Examples
    --------
    >>> Search(sought=None).trials  # before it begins
    0
    """

    sought: Sought
    trials: int = 0
    seconds: float = 0.0
    counterexample: Trial | None = None
    first: int = 0
    first_seconds: float = 0.0
    nearest: Trial | None = None
    not_reached: Counter[str] = field(default_factory=Counter)
    axes: tuple[list[Axis], ...] = ()
    seen: dict[str, bool] = field(default_factory=dict)
    progress: Callable[[float, int], None] = lambda seconds, trials: None

    @property
    def answered(self) -> bool:
        """True if any point gave an answer."""
        return self.counterexample is not None or self.nearest is not None

    @property
    def searched(self) -> tuple[str, ...]:
        """The ranges of the coordinates in words, form by form if forms differ."""
        return tuple(dict.fromkeys(", ".join(axis.words for axis in axes) for axes in self.axes))


def search(
    sought: Sought,
    profile: Profile,
    seconds: float,
    *,
    progress: Callable[[float, int], None] = Search.progress,
) -> Search:
    """Search for a counterexample to a claim.

    The sequence of points depends only on `profile.seed`; the time decides how many of them are tried.

    Parameters
    ----------
    sought
        A claim of a file, from `lipverify.claims.plan.registry.sought_in`.
    profile
        The seed, and the amount of sampling.
    seconds
        Time budget of all trials.
    progress
        Called with (seconds, trials) after each trial.

    Returns
    -------
    Search
        The simplified counterexample, or the trial nearest to one.

    Raises
    ------
    InvalidInput
        If a coordinate has no range to search.

    Examples
    --------
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
    >>> outcome.counterexample is not None  # x > 1
    True
    """
    state = Search(sought, progress=progress)
    assumed = assumptions(sought.assumes)
    state.axes = tuple(axes_of(form, sought.over, assumed, profile) for form in sought.forms)
    with a_process() as workers:
        workers.value(int, seconds=LEAST)  # the time of a search and of its calls begins after the imports
        begun = time.perf_counter()
        _rounds(_Look(state, profile, workers, begun, begun + seconds))
        state.seconds = time.perf_counter() - begun
    return state


def _rounds(look: _Look) -> None:
    """Run rounds of growing size until a counterexample is found or the time is up."""
    state = look.state
    cases = st.one_of(*(st.tuples(st.just(form), points_of(axes)) for form, axes in enumerate(state.axes)))
    size, round_, idle = 40, 0, 0
    while state.counterexample is None:
        before = len(state.seen)
        with suppress(TimeUp, Refuted):
            _round(look, cases, size, look.profile.seed + round_)
        idle = idle + 1 if len(state.seen) == before else 0
        if look.remaining <= 0 or idle >= 3:  # three rounds without a new point: it has seen them all
            return
        size, round_ = min(2 * size, 2000), round_ + 1


def _round(look: _Look, cases: st.SearchStrategy[tuple[int, Point]], size: int, address: int) -> None:
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
    def examine(case: tuple[int, Point]) -> None:
        if look.remaining <= 0:
            raise TimeUp
        if look(*case):
            raise Refuted

    try:
        examine()
    except HypothesisException as error:
        if not isinstance(error, Flaky) and look.state.counterexample is None:
            raise


@dataclass(frozen=True)
class _Look:
    """The function that Hypothesis calls at each point of a search, with the end of its time."""

    state: Search
    profile: Profile
    workers: Processes
    begun: float
    end: float

    @property
    def remaining(self) -> float:
        return self.end - time.perf_counter()

    def __call__(self, form: int, free: Point) -> bool:
        """True if the claim fails at a point; each point is measured once."""
        state, sought = self.state, self.state.sought
        key = f"{form} {free.where}"
        if key in state.seen:
            return state.seen[key]
        state.trials += 1
        share = max(LEAST, SHARE * (self.end - self.begun))
        share *= 1 if state.answered else 5  # the first answer includes one-time imports and tables
        failed = False
        try:
            seconds = min(share, self.remaining)
            trial = in_time(self.workers, seconds, tried, sought, self.profile, form, free, self.profile)
            failed = refutes(trial, sought, self.profile, self.workers, min(share, self.remaining))
            _note(state, trial, failed, self.begun)
        except NotReached as reason:
            if (
                self.remaining > 0 or not state.answered
            ):  # a timeout at the end of the budget says nothing about the point
                state.not_reached[str(reason)] += 1
        state.seen[key] = failed
        state.progress(time.perf_counter() - self.begun, state.trials)
        return failed


def _note(outcome: Search, trial: Trial, failed: bool, begun: float) -> None:
    """Steer the search, and keep the simplest counterexample (later ones are simpler) or the nearest trial."""
    _steer(-trial.slack)
    if failed:
        if outcome.counterexample is None:
            outcome.first, outcome.first_seconds = outcome.trials, time.perf_counter() - begun
        outcome.counterexample = trial
    elif outcome.nearest is None or trial.slack < outcome.nearest.slack:
        outcome.nearest = trial


def _steer(value: float) -> None:
    if currently_in_test_context():
        target(value)


def whole(trial: Trial, sought: Sought) -> dict[str, Any]:
    """All coordinates of a trial."""
    return {**sought.family.where, **trial.point.where}
