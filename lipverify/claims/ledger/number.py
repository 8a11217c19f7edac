"""Numbers of the ledger, which may be no numbers: JSON has none of these, and writes null."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    Number = float
else:
    Number = float | None  # only while a ledger is read: `read_back` leaves floats


def read_back(record: msgspec.Struct, *fields: str) -> None:
    """Put "not a number" where a ledger has null, in fields of a record that hold tuples of numbers."""
    for field in fields:
        values = getattr(record, field)
        if None in values:
            numbers = tuple(math.nan if value is None else value for value in values)
            msgspec.structs.force_setattr(record, field, numbers)
