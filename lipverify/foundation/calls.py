"""Calls as data: a function at a point, and functions that are handed what others return there.

All entries of a column of a table come from one comparison: who measures them measures that first, and once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
NEEDS = "__needs__"


@dataclass(frozen=True)
class Call:
    """A function and what it is called with, by name."""

    function: Callable[..., Any]
    where: dict[str, Any] = field(default_factory=dict)


def needs(**calls: Callable[..., Sequence[Call]]) -> Callable[[F], F]:
    """Mark a function: the argument of each name is the list of what the calls return.

    The calls are made from the other arguments, those that the given function takes.

    Parameters
    ----------
    calls
        By name of the argument: a function from the other arguments to a list of calls, from `at`.

    Returns
    -------
    callable
        A decorator; the function itself is unchanged.

    >>> @needs(column=lambda noise: [Call(len, {"obj": noise})])
    ... def entry(noise, layers, column):
    ...     return column[0] + layers
    >>> [call.where for call in needed(entry, {"noise": "uniform-3", "layers": 2})["column"]]
    [{'obj': 'uniform-3'}]
    """

    def mark(function: F) -> F:
        setattr(function, NEEDS, calls)
        return function

    return mark


def needed(function: Callable[..., Any], where: Mapping[str, Any]) -> dict[str, tuple[Call, ...]]:
    """What a function needs at a point, by the name of its argument; nothing, if it is not marked."""
    calls = getattr(function, NEEDS, {})
    return {name: tuple(make(**{each: where[each] for each in names(make)})) for name, make in calls.items()}


@lru_cache(maxsize=512)
def parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """What a function takes, in order; looked at once for each function, for a plan asks thousands of times."""
    return tuple(inspect.signature(function).parameters.values())


def names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of what a function takes.

    >>> names(lambda d, n: d)
    ('d', 'n')
    """
    return tuple(each.name for each in parameters(function))


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """The values that a function has for what it is not given.

    >>> defaults(lambda d, n=10: d)
    {'n': 10}
    """
    return {each.name: each.default for each in parameters(function) if each.default is not each.empty}
