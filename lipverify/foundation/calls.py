"""Calls as data: a function with its arguments, which may be the results of other calls, which run first, and once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any


@dataclass(frozen=True)
class Call:
    """A function and its keyword arguments."""

    function: Callable[..., Any]
    where: dict[str, Any] = field(default_factory=dict)


@lru_cache(maxsize=512)
def parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """The parameters of a function, in order. Cached, because making a plan asks thousands of times."""
    return tuple(inspect.signature(function).parameters.values())


def names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's parameters."""
    return tuple(parameter.name for parameter in parameters(function))


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """The default values of a function's parameters."""
    return {
        parameter.name: parameter.default
        for parameter in parameters(function)
        if parameter.default is not parameter.empty
    }
