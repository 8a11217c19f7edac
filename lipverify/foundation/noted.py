"""Record which methods a measurement used, and which numbers with which errors they returned.

The decorator `makes` marks a function whose results carry an error bound or a sampled interval. While a measurement is
watched, every call of a marked function from outside the library is noted with its result. Calls from inside the
library are not noted.
"""

from __future__ import annotations

import functools
import importlib
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import Any, Literal, ParamSpec, TypeVar

import msgspec

Made = Literal["certified", "bounded", "sampled", "estimated"]
Grade = Literal["proved", "bounded", "extrapolated", "sampled", "estimated", "observed"]
"""Kind of evidence for a number, the strongest first."""
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Note(msgspec.Struct, frozen=True):
    """One call of a marked function: how its errors are made, by which method, and its values with their errors."""

    made: Made
    method: str
    pairs: tuple[tuple[float, float], ...] = ()


@dataclass
class Notes:
    """All notes of one measurement."""

    calls: list[Note] = field(default_factory=list)
    told: Any = None
    """Notes that a measurement adds to its result."""
    floats: bool = False
    """True if a float was converted to a fraction or a SymPy number, so that the result is not exact."""
    symbols: bool = False
    """True if SymPy was watched too; a function may load it only when it runs."""


_NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)
"""No argument, because the calls to be noted are made by a user's function, which would have to hand it on."""


@contextmanager
def watching() -> Iterator[Notes]:
    """Note the calls made inside this block."""
    notes = Notes()
    token = _NOTES.set(notes)
    try:
        with ExitStack() as doors:
            doors.enter_context(_watched(Fraction, notes))
            if "sympy" in sys.modules:
                notes.symbols = True
                # what `simplify` loads when it is first called: SymPy makes numbers of floats there
                importlib.import_module("sympy.physics.units")
                for name in ("Float", "Rational"):
                    doors.enter_context(_watched(getattr(sys.modules["sympy"], name), notes))
            yield notes
    finally:
        _NOTES.reset(token)


@contextmanager
def _watched(exact: type, notes: Notes) -> Iterator[None]:
    """Note, inside this block, every number of this type that is made from a float."""
    before = exact.__dict__["__new__"]

    def new(kind: type, value: Any = 0, *others: Any, **named: Any) -> Any:
        finite = isinstance(value, float | Decimal) and math.isfinite(value)  # SymPy itself compares with infinity
        notes.floats |= finite and _NOTES.get() is notes
        return before.__func__(kind, value, *others, **named)

    exact.__new__ = staticmethod(new)  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        exact.__new__ = before  # type: ignore[method-assign]


@contextmanager
def unwatched() -> Iterator[None]:
    """Note nothing inside this block: the library's own work says nothing about the measured function."""
    token = _NOTES.set(None)
    try:
        yield
    finally:
        _NOTES.reset(token)


def tell(what: Any) -> None:
    """State something about the result of the measurement that is being watched, if there is one."""
    notes = _NOTES.get()
    if notes is not None:
        notes.told = what


def makes(
    made: Made, method: str = "", by: Callable[[Any], tuple[Made, str]] | None = None
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Mark a function by how the errors of its values are made, which decides the grade of a claim that calls it.

    Parameters
    ----------
    made
        "certified", "bounded", "sampled" or "estimated".
    method
        The name of the method, which the ledger shows.
    by
        Decides both from the result, where they differ from call to call.

    Returns
    -------
    Callable
        A decorator.

    Raises
    ------
    Exception
        Whatever the marked function raises.

    Examples
    --------
    >>> @makes("bounded", "closed form")
    ... def half(x: float) -> tuple[float, float]:
    ...     return x / 2, 1e-16 * x
    >>> with watching() as notes:
    ...     _ = half(3.0)
    >>> notes.calls
    [Note(made='bounded', method='closed form', pairs=((1.5, 3e-16),))]
    """

    def marked(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @functools.wraps(function)
        def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
            notes = _NOTES.get()
            if notes is None:
                return function(*arguments, **named)
            inner = Notes()
            token = _NOTES.set(inner)
            try:
                result = function(*arguments, **named)
            finally:
                _NOTES.reset(token)
            how, word = (made, method) if by is None else by(result)
            if how == "bounded" and _rests_on_an_estimate((result, *arguments), inner.calls):
                how = "estimated"
            notes.calls.append(Note(how, word, tuple(_pairs(result))))
            return result

        return call

    return marked


def _rests_on_an_estimate(records: Sequence[Any], calls: Sequence[Note]) -> bool:
    """True if a record, or an exact loss computed for it, says that its errors are estimates."""
    every = [part for record in records for part in (record if isinstance(record, list | tuple) else (record,))]
    estimated = any(getattr(part, "error_kind", "") == "estimated" for part in every)
    return estimated or any((call.made, call.method) == ("estimated", "exact") for call in calls)


def _pairs(result: Any) -> Iterator[tuple[float, float]]:
    """The values with errors in a result: (value, error) pairs, and fields `x` that have a field `x_error`."""
    if isinstance(result, Mapping):
        for value in result.values():
            yield from _pairs(value)
    elif isinstance(result, tuple | list) and not hasattr(result, "_fields"):
        if len(result) == 2 and all(map(_numeric, result)):
            yield from _matched(*result)
        else:
            for part in result:
                yield from _pairs(part)
    else:
        for name in with_errors(result):
            yield from _matched(getattr(result, name), getattr(result, f"{name}_error"))


def with_errors(record: Any) -> tuple[str, ...]:
    """The names of a record's fields `x` that have a field `x_error`."""
    return _with_errors(type(record))  # type: ignore[arg-type]  # a type is hashable


@functools.lru_cache(maxsize=256)
def _with_errors(kind: type) -> tuple[str, ...]:
    known = getattr(kind, "__struct_fields__", ()) or getattr(kind, "_fields", ())
    if is_dataclass(kind):
        known = tuple(field.name for field in fields(kind))
    if not known:
        return ()
    names = {*known, *(name for name in dir(kind) if isinstance(getattr(kind, name, None), property))}
    return tuple(sorted(name for name in names if f"{name}_error" in names))


def _numeric(value: Any) -> bool:
    return hasattr(value, "tolist") or (isinstance(value, int | float) and not isinstance(value, bool))


def _matched(value: Any, error: Any) -> Iterator[tuple[float, float]]:
    """Pair values with errors; a single error applies to all values."""
    values, errors = _flat(value), _flat(error)
    if len(errors) == 1:
        errors = errors * len(values)
    yield from zip(values, errors, strict=len(values) == len(errors))


def _flat(value: Any) -> list[float]:
    if hasattr(value, "ravel"):
        value = value.ravel().tolist()
    elif hasattr(value, "tolist"):
        value = value.tolist()
    every = value if isinstance(value, Sequence) else [value]
    return [float(number) for number in every if isinstance(number, int | float)]


class _Replaying:
    """A cached function that repeats its first call's notes whenever it returns the cached value."""

    def __init__(self, cached: Any) -> None:
        functools.update_wrapper(self, cached, updated=())
        self.cached, self._noted = cached, dict[Any, list[Note]]()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        notes = _NOTES.get()
        if notes is None:
            return self.cached(*arguments, **named)
        key, misses = functools._make_key(arguments, named, typed=False), self.cached.cache_info().misses
        with watching() as own:
            result = self.cached(*arguments, **named)
        notes.floats |= own.floats
        if self.cached.cache_info().misses > misses:
            self._noted[key] = own.calls
        notes.calls += self._noted.get(key, [])
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cached, name)


def remembered(maxsize: int | None = None) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """A cache for a function that theorems share: a cached value counts as evidence as the first one did.

    Parameters
    ----------
    maxsize
        The number of results that are kept; all by default.

    Returns
    -------
    Callable
        A decorator.

    Raises
    ------
    TypeError
        If an argument of the function cannot be a key, such as a list.

    Examples
    --------
    >>> @makes("sampled")
    ... def mean() -> tuple[float, float]:
    ...     return 0.5, 0.1
    >>> @remembered()
    ... def once() -> tuple[float, float]:
    ...     return mean()
    >>> with watching() as notes:
    ...     _ = once(), once()
    >>> len(notes.calls)
    2
    """

    def kept(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        return _Replaying(functools.lru_cache(maxsize)(function))

    return kept


def replay_caches(module: ModuleType) -> None:
    """Make a module's cached functions repeat their notes when they return cached values."""
    for name, cached in vars(module).copy().items():
        if isinstance(cached, functools._lru_cache_wrapper) and cached.__module__ == module.__name__:
            setattr(module, name, _Replaying(cached))
