"""Record which methods of lipverify a measurement used, and which objects they returned.

The decorator `makes` marks a function whose results carry an error bound or a sampled interval. While a measurement is
watched, every call of a marked function from outside the library is noted with its result. Calls from inside the
library are not noted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from types import ModuleType
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar

Made = Literal["certified", "bounded", "sampled", "estimated"]
Grade = Literal["proved", "exact", "bounded", "extrapolated", "sampled", "estimated", "observed", "by hand"]
"""Kind of evidence for a number, the strongest first; "by hand" stands apart. `lipverify.claims.evidence` makes it."""
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Note(NamedTuple):
    """One call of a marked function: how its errors are made, by which method, and what it returned."""

    made: Made
    method: str
    result: Any

    def error_of(self, value: Any) -> Any:
        """The error that belongs to an object of the result; None if it is no part of it.

        The object itself counts, and not an equal one: an equal number may come from anywhere.
        """
        return next((error for held, error in _pairs(self.result) if held is value), None)


@dataclass
class Notes:
    """All notes of one measurement."""

    calls: list[Note] = field(default_factory=list)
    told: Any = None
    """What a measurement states about its result."""


_NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)
"""No argument, because the calls to be noted are made by a user's function, which would have to hand it on."""


@contextmanager
def watching() -> Iterator[Notes]:
    """Note the calls made inside this block."""
    notes = Notes()
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)


def noted() -> Sequence[Note]:
    """The calls noted so far in the measurement that is being watched."""
    notes = _NOTES.get()
    return () if notes is None else notes.calls


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
    [Note(made='bounded', method='closed form', result=(1.5, 3e-16))]
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
            notes.calls.append(Note(how, word, result))
            return result

        return call

    return marked


def _rests_on_an_estimate(records: Sequence[Any], calls: Sequence[Note]) -> bool:
    """True if a record, or an exact loss computed for it, says that its errors are estimates."""
    every = [part for record in records for part in (record if isinstance(record, list | tuple) else (record,))]
    estimated = any(getattr(part, "error_kind", "") == "estimated" for part in every)
    return estimated or any((call.made, call.method) == ("estimated", "exact") for call in calls)


def _pairs(result: Any) -> Iterator[tuple[Any, Any]]:
    """The objects of a result that carry an error: (value, error) pairs, and fields `x` that have a field `x_error`.

    Fields `value` and `error` of a record are such a pair too.
    """
    if isinstance(result, Mapping):
        for value in result.values():
            yield from _pairs(value)
    elif isinstance(result, tuple | list) and not hasattr(result, "_fields"):
        if len(result) == 2 and all(map(_numeric, result)):
            yield result[0], result[1]
        else:
            for part in result:
                yield from _pairs(part)
    else:
        yield from ((getattr(result, name), getattr(result, f"{name}_error")) for name in with_errors(result))
        if {"value", "error"} <= {*getattr(result, "__struct_fields__", ())}:
            yield result.value, result.error


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
