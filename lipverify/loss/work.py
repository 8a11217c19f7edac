"""The work of exact losses: counted while it is done, limited by a budget, and reported.

Work is counted, not timed: the number of evaluations times a price, in seconds of a nominal processor, which computes a
million exponentials in a millisecond. So a refusal is the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from lipverify.errors import OutOfReach
from lipverify.foundation.quoting import warn_caller
from lipverify.foundation.validation import function, number

SECONDS = 300.0
"""The default budget of one exact loss or one optimal w, in seconds of a nominal processor."""
LONG = 1.0
"""Seconds above which a loss reports its progress; shorter losses end before a report is useful."""
MANY = 60.0
"""Seconds above which a loss without a progress function warns."""
NANO = 1e-9
"""Seconds of a nanosecond."""
LINK = 4.0
"""Nanoseconds per value of a user's link: a few functions of NumPy."""

Progress = Callable[[int, int], None]


@dataclass
class Meter:
    """The work of the losses in one scope: the budget, and the work done, in seconds of a nominal processor."""

    seconds: float = SECONDS
    progress: Progress | None = None
    done: float = 0.0
    share: float = 1.0
    """The part of the budget that the present route may use."""
    _shown: float = 0.0
    _warned: bool = False

    def require(self, seconds: float, what: str) -> None:
        """Refuse work that the budget does not allow."""
        if self.done + seconds > self.share * self.seconds:
            of = "" if self.share == 1 else f", of which {self.share:.0%} is for this route"
            raise OutOfReach(
                f"the exact loss takes more than its budget of {self.seconds:g} s{of}, most of it for {what}; give a "
                "larger one by budget=, declare the places where the link is steep or bends as kinks=(...), take "
                "another route, or sample by method='montecarlo'."
            )

    def add(self, seconds: float, what: str) -> None:
        """Count work that is about to be done, and report progress."""
        self.require(seconds, what)
        self.done += seconds
        if self.progress is not None and self.done > LONG and self.done > self._shown + 0.05:
            self._shown = self.done
            self.progress(math.ceil(10 * self.done), math.ceil(10 * self.seconds))
        if self.progress is None and self.done > MANY and not self._warned:
            self._warned = True
            warn_caller(
                f"the exact loss has taken {self.done:.0f} s of its budget of {self.seconds:g} s, now for "
                f"{what}; progress= follows it, and budget= stops it."
            )


# no argument: `budget` surrounds calls that the user makes, and work is counted inside functions that quadratures call
_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def budget(seconds: float | None = None, progress: Progress | None = None) -> Iterator[Meter]:
    """Limit the total work of all exact losses inside this context, including those of optimal w, slopes and ladders.

    Work is counted, not timed, in seconds of a nominal processor, which computes a million exponentials in 1 ms. A loss
    is refused as soon as its next step would exceed the limit. A call with an option `budget` or `progress` has its own
    budget.

    Parameters
    ----------
    seconds
        The limit, > 0. Outside any budget it is 300 for each call of `loss_terms` or `optimal_window`.
    progress
        Called with (done, limit), in tenths of such seconds, for losses that take more than one second.

    Returns
    -------
    Meter
        The target of `with`: the `seconds` allowed, and the work `done`, in seconds of the nominal processor.

    Raises
    ------
    InvalidInput
        If the limit is not a number above 0, or `progress` is not a function.

    Examples
    --------
    >>> from lipverify import Problem, optimal_window
    >>> from lipverify.laws import ReLU
    >>> with budget(seconds=60) as meter:
    ...     _ = optimal_window(Problem(d=4, n=1000, law=ReLU()))
    >>> meter.done < meter.seconds
    True
    """
    with _metered("seconds", seconds, progress) as meter:
        yield meter


@contextmanager
def _metered(name: str, seconds: float | None, progress: Progress | None) -> Iterator[Meter]:
    """A meter with this limit; a message calls the limit by this name."""
    limit = SECONDS if seconds is None else number(name, seconds, "a budget of seconds", above=0)
    if progress is not None:
        function("progress", progress, "(done, limit), in tenths of seconds")
    token = _METER.set(meter := Meter(limit, progress))
    try:
        yield meter
    finally:
        _METER.reset(token)


@contextmanager
def budgeted(seconds: float | None = None, progress: Progress | None = None) -> Iterator[Meter]:
    """The meter of the surrounding budget; a new one if there is none or if the call has its own limit."""
    meter = _METER.get()
    if meter is not None and seconds is None and progress is None:
        yield meter
        return
    with _metered("budget", seconds, progress) as own:
        yield own


@contextmanager
def half() -> Iterator[None]:
    """Inside it, work may take half of what is left, so that another route has the rest."""
    meter = _METER.get()
    if meter is None:
        yield
        return
    whole, meter.share = meter.share, (meter.share + meter.done / meter.seconds) / 2
    try:
        yield
    finally:
        meter.share = whole


def spent() -> float:
    """The work done so far, in seconds."""
    return meter.done if (meter := _METER.get()) else 0.0


def foresee(seconds: float, what: str) -> None:
    """Refuse at once if work of so many seconds, at least, is still to come and the budget does not allow it."""
    meter = _METER.get()
    if meter is not None:
        meter.require(seconds, what)


def spend(evaluations: float, price: float, what: str) -> None:
    """Count evaluations that are about to be made, at a price in nanoseconds per evaluation."""
    meter = _METER.get()
    if meter is not None:
        meter.add(evaluations * price * NANO, what)
