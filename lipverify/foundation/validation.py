"""Check numbers and other arguments that a user gives; booleans are no numbers. Messages show value and rule."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TypeVar, cast

from lipverify.errors import InvalidInput
from lipverify.foundation.quoting import shown

if TYPE_CHECKING:
    from lipverify.foundation.arrays import Floats

LARGEST = sys.float_info.max
"""The largest double."""
T = TypeVar("T")
Name = TypeVar("Name", bound=str)


def whole(name: str, value: Any, least: int, what: str = "it", most: int | None = None) -> int:
    """Check that the value is an integer (Python's or NumPy's) from `least` to `most`, and return it as an int."""
    try:
        count = operator.index(value) if not isinstance(value, bool) else least - 1
    except TypeError:
        count = least - 1
    if count < least or (most is not None and count > most):
        rule = f">= {least}" if most is None else f"from {least} to {most}"
        raise InvalidInput(f"{name} = {shown(value)}: {what} must be an integer {rule}.")
    return count


def a_seed(value: Any) -> int:
    """Check a seed: an integer of at most 128 bits, the size of a generator's key."""
    return whole("seed", value, 0, most=2**128 - 1)


def require_processes(jobs: int | None, limit: float | None, cluster: str | None = None) -> None:
    """Check who measures and for how long: `jobs` processes or a cluster, with a limit only where one can be kept."""
    if jobs is not None:
        whole("jobs", jobs, 0, "the number of processes, 0 for this one,")
    if jobs is not None and cluster is not None:
        raise InvalidInput(f"jobs = {jobs} and cluster = {cluster!r}: give one of them.")
    if limit is not None and not 0 < limit < math.inf:
        raise InvalidInput(f"limit = {limit:g}: the seconds for one measurement must be positive and finite.")
    if jobs == 0 and limit is not None:
        rule = "nothing ends a measurement in this process"
        raise InvalidInput(f"jobs = 0 and limit = {limit:g}: {rule}; give jobs = 1, which is a process too.")


def instance(name: str, value: Any, kind: type[T], way_out: str) -> T:
    """Check the type of a value; `way_out` says where such a value comes from."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InvalidInput(f"{name} = {shown(value)} is not {article} {kind.__name__}; {way_out}.")
    return value


def function(name: str, value: Any, takes: str) -> Callable[..., Any]:
    """Check that the value can be called; `takes` names the arguments it will get."""
    if not callable(value):
        raise InvalidInput(f"{name} = {shown(value)} is not a function; it is called with {takes}.")
    return value


def chosen(name: str, value: Any, among: Collection[Name]) -> Name:
    """Check that the value is one of the names `among`."""
    if not isinstance(value, str) or value not in among:
        raise InvalidInput(f"{name} = {shown(value)} is not known; choose one of: {', '.join(among)}.")
    return cast(Name, value)


def real(value: Any) -> float:
    """The value as a double; NaN if it is no real number, as truth values and text are not."""
    try:
        # before NumPy 2.4 an array of one element was a number
        return math.nan if isinstance(value, bool | str | bytes) or getattr(value, "ndim", 0) > 0 else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def number(
    name: str,
    value: Any,
    what: str = "it",
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """Check that the value is a finite number with least <= value, above < value and value < below; `what` names it."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    if not (real and abs(value) <= LARGEST and least <= value < below and above < value):
        bounds = {">=": least, ">": above, "<": below}
        rules = " and ".join(f"{sign} {bound:g}" for sign, bound in bounds.items() if math.isfinite(bound))
        raise InvalidInput(f"{name} = {shown(value)}: {what} must be a finite number {rules}".rstrip() + ".")
    return float(value)


def zero_or_more(name: str, value: Any, what: str, smallest: float = 1e-140) -> float:
    """Check that the value is 0 or at least `smallest`: the square of a smaller number is no double."""
    size = number(name, value, what, least=0)
    if 0 < size < smallest:
        raise InvalidInput(
            f"{name} = {shown(value)}: {what} must be 0 or at least {smallest:g}; use a smaller unit of y."
        )
    return size


def numbers(name: str, value: Any, what: str = "it", *, least: float = -math.inf, finite: bool = True) -> Floats:
    """Check that all values are at least `least` (and finite, if `finite`), and copy them to a new array of doubles."""
    rule = f"{what} must be a real number or an array of them"
    import numpy as np

    try:
        kind = np.asarray(value).dtype.kind
        array = np.array(value, dtype=None if kind == "c" else np.float64)  # refused below
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name} = {shown(value)}: {rule}.") from None
    # integers and real numbers
    if kind not in "iuf" and not (kind == "O" and all(type(entry) in (int, float) for entry in np.ravel(value))):
        raise InvalidInput(f"{name} = {shown(value)}: {rule}.")
    if not finite:
        return array
    bad = array[~(np.isfinite(array) & (array >= least))]
    if bad.size:
        rule = f" and >= {least:g}" if least > -math.inf else ""
        raise InvalidInput(f"{name} = {bad.flat[0]}: {what} must be finite{rule}.")
    return array
