"""Calls as data: a function at a point, and functions that are handed what others return there.

All entries of a column of a table come from one comparison: who measures them measures that first, and once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any


@dataclass(frozen=True)
class Call:
    """A function and what it is called with, by name."""

    function: Callable[..., Any]
    where: dict[str, Any] = field(default_factory=dict)


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
