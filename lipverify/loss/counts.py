"""Whole numbers that a user gives: how many contexts, starts, steps."""

from __future__ import annotations

import operator
from typing import Any

from lipverify.errors import InvalidInput


def whole(name: str, value: Any, least: int) -> int:
    """The value as an integer (Python's or NumPy's), refused if it is none or less than `least`.

    >>> whole("starts", 3, least=1)
    3
    """
    try:
        count = operator.index(value) if not isinstance(value, bool) else least - 1
    except TypeError:
        count = least - 1
    if count < least:
        raise InvalidInput(f"{name} = {value!r}: it must be an integer >= {least}.")
    return count
