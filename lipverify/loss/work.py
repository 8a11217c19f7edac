"""The cost of exact losses: estimated before a loss begins, counted while it runs, limited by a budget, and reported.

Work is counted, not timed: the number of evaluations times a known price, in seconds of a nominal processor, which
computes a million exponentials in a millisecond. So an estimate, and a refusal that follows from it, is the
same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.quoting import warn_caller
from lipverify.foundation.showing import Shown
from lipverify.foundation.validation import function, number

SECONDS, MEMORY = 300.0, 4.0
"""The default budget of one exact loss or one optimal w: seconds of a nominal processor, and GiB."""
LONG = 1.0
"""Seconds above which a loss reports its progress; shorter losses end before a report is useful."""
MANY = 60.0
"""Seconds above which a loss without a progress function warns."""
OVERRUN = 3.0
"""A loss that takes this many times its budget is stopped: its estimate was wrong."""
GIB = 2.0**30
"""Bytes of a gibibyte."""
NANO = 1e-9
"""Seconds of a nanosecond."""
COPIES, DOUBLE = 8, 8
"""Arrays of the largest size that exist at the same time, and bytes of a double."""
TRACING = 0.1
"""Seconds for searching a user's function for kinks, jumps and narrow features."""
CHEAP, UNKNOWN = 0.5, 10.0
"""Nanoseconds per point of a cheap NumPy function, and of a function that is not known."""
DEAR = {
    **dict.fromkeys(("exp", "log", "sqrt"), 1.0),
    **dict.fromkeys(("tan", "tanh", "expm1", "log1p", "arcsin", "arccos", "arctan", "arctan2", "erf"), 2.0),
    **dict.fromkeys(("power", "float_power"), 3.0),
    "hypot": 6.0,
    **dict.fromkeys(("sin", "cos"), 8.0),
    **dict.fromkeys(("sinh", "cosh", "floor_divide", "remainder"), 10.0),
}
"""Nanoseconds per point of the other functions of NumPy, rounded: only their order of magnitude matters."""

Progress = Callable[[int, int], None]
Counts = tuple[dict[str, float], float]
"""Seconds by stage, and the bytes of the largest arrays."""


class Cost(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """The cost of a loss, estimated from counts of evaluations.

    Attributes
    ----------
    seconds
        Seconds of a nominal processor; see `lipverify.budget`.
    memory
        Peak size of the arrays in GiB, in addition to Python and NumPy themselves.
    stage
        The stage that takes most of the time.

    Examples
    --------
    >>> from lipverify import Problem, loss_cost
    >>> from lipverify.laws import Affine
    >>> cost = loss_cost(Problem(d=3, n=100, law=Affine()), 5.0)
    >>> cost.seconds < 1, cost.memory < 0.1
    (True, True)
    """

    seconds: float
    memory: float
    stage: str

    def _title(self) -> str:
        return f"about {self.seconds:.2g} s and {self.memory:.1g} GiB, most of it {self.stage}"

    def _columns(self) -> dict[str, object]:
        return {"seconds": self.seconds, "memory": self.memory, "stage": self.stage}


@dataclass
class Meter:
    """The work of the losses in one scope: the limit, the estimate and the work done, in seconds."""

    seconds: float = SECONDS
    memory: float = MEMORY
    progress: Progress | None = None
    done: float = 0.0
    expected: float = 0.0
    begun: set[Hashable] = field(default_factory=set)
    stages: dict[str, float] = field(default_factory=dict)
    _shown: float = 0.0
    _warned: bool = False

    def begin(self, cost: Cost, what: str) -> None:
        """Register a loss that is about to begin."""
        for needed, most, unit in ((self.done + cost.seconds, self.seconds, "s"), (cost.memory, self.memory, "GiB")):
            if needed > most:
                name = "budget" if unit == "s" else "memory"
                raise OutOfReach(
                    f"{what} would take about {needed:.2g} {unit}, most of it {cost.stage}, and the budget is "
                    f"{most:g} {unit}; give a larger one by {name}=, declare the places where the link is "
                    "steep or bends as kinks=(...), take another route, or sample by method='montecarlo'."
                )
        self.expected = max(self.expected, self.done + cost.seconds)
        if self.expected > MANY and self.progress is None and not self._warned:
            self._warned = True
            warn_caller(
                f"{what} takes about {self.expected:.2g} s, most of it {cost.stage}; "
                "progress= follows it, and budget= refuses it."
            )

    def add(self, seconds: float, what: str) -> None:
        """Count work that is about to be done, and report progress."""
        self.done += seconds
        self.stages[what] = self.stages.get(what, 0.0) + seconds
        if self.done > OVERRUN * self.seconds:
            raise OutOfReach(
                f"stopped after {self.done:.2g} s, more than {OVERRUN:g} times the budget of {self.seconds:g} s, in "
                f"{what}: the estimate of {self.expected:.2g} s was too low; give a larger budget, or sample by "
                "method='montecarlo'."
            )
        if self.progress is not None and max(self.done, self.expected) > LONG and self.done > self._shown + 0.05:
            self._shown = self.done
            done = math.ceil(10 * self.done)
            self.progress(done, max(done, math.ceil(10 * self.expected)))


# no argument: `budget` surrounds calls that the user makes, and work is counted inside functions that quadratures call
_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def budget(
    seconds: float | None = None, memory: float | None = None, progress: Progress | None = None
) -> Iterator[Meter]:
    """Limit the total work of all exact losses inside this context, including those of optimal w, slopes and ladders.

    Work is counted, not timed, in seconds of a nominal processor, which computes a million exponentials in 1 ms. A loss
    is refused before it begins if its estimate plus the work done exceeds the limit. For long losses the estimate is
    right within a small factor; a loss that takes three times its budget is stopped. A call with an option `budget`,
    `memory` or `progress` has its own budget.

    Parameters
    ----------
    seconds
        The limit, > 0. Outside any budget it is 300 for each call of `loss_terms` or `optimal_window`.
    memory
        Limit on the size of the arrays at any time in GiB, > 0; 4 by default.
    progress
        Called with (done, expected), in tenths of such seconds, for losses that take more than one second.

    Returns
    -------
    Meter
        The target of `with`: the `seconds` allowed, and the work `done`, in seconds of the nominal processor.

    Raises
    ------
    InvalidInput
        If a limit is not a number above 0, or `progress` is not a function.

    Examples
    --------
    >>> from lipverify import Problem, optimal_window
    >>> from lipverify.laws import ReLU
    >>> with budget(seconds=60) as meter:
    ...     _ = optimal_window(Problem(d=4, n=1000, law=ReLU()))
    >>> meter.done < meter.seconds
    True
    """
    with _metered(_meter("seconds", seconds, memory, progress)) as meter:
        yield meter


def _meter(name: str, seconds: float | None, memory: float | None, progress: Progress | None) -> Meter:
    """A meter with these limits; messages call the time limit by this name."""
    return Meter(
        SECONDS if seconds is None else number(name, seconds, "a budget of seconds", above=0),
        MEMORY if memory is None else number("memory", memory, "a budget of GiB", above=0),
        None if progress is None else function("progress", progress, "(done, expected), in tenths of seconds"),
    )


@contextmanager
def _metered(meter: Meter) -> Iterator[Meter]:
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


@contextmanager
def budgeted(
    seconds: float | None = None, memory: float | None = None, progress: Progress | None = None
) -> Iterator[Meter]:
    """The meter of the surrounding budget; a new one if there is none or if the call has its own limits."""
    meter = _METER.get()
    if meter is not None and seconds is None and memory is None and progress is None:
        yield meter
        return
    with _metered(_meter("budget", seconds, memory, progress)) as own:
        yield own


def running() -> Meter | None:
    """The meter of the surrounding budget."""
    return _METER.get()


@contextmanager
def counted() -> Iterator[Meter]:
    """Inside this context, work is counted on a separate meter without limits."""
    with _metered(Meter(seconds=math.inf)) as meter:
        yield meter


def spend(evaluations: float, price: float, what: str) -> None:
    """Count evaluations that are about to be made, at a price in nanoseconds per evaluation."""
    meter = _METER.get()
    if meter is not None:
        meter.add(evaluations * price * NANO, what)


@lru_cache(maxsize=256)
def price_of(link: Callable[[Any], Any]) -> float:
    """Nanoseconds of the nominal processor per point of a function of arrays, from the NumPy functions it calls."""
    prices: list[float] = []

    class Priced(np.ndarray):
        """An array that notes the price of every function applied to it."""

        def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **named: Any) -> Any:
            prices.append(DEAR.get(ufunc.__name__, CHEAP))
            plain = [np.asarray(argument) if isinstance(argument, Priced) else argument for argument in inputs]
            value = getattr(ufunc, method)(*plain, **named)
            return value.view(Priced) if isinstance(value, np.ndarray) else value

        def __array_function__(self, function: Any, types: Any, inputs: Any, named: Any) -> Any:
            prices.append(CHEAP)
            return super().__array_function__(function, types, inputs, named)

    try:
        link(np.linspace(-0.9, 0.9, 64).view(Priced))
    except Exception:  # functions that do not accept such arrays
        return UNKNOWN
    return sum(prices) or UNKNOWN
