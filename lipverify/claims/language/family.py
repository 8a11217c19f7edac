"""The cells and readings of a claim: every combination of the coordinates that it ranges over.

    over={"law": {"affine": {"beta": "2"}, "relu": {"beta": "3/2"}}, "d": DIMENSIONS, ("n", "L"): [(10, 1), (100, 2)]}

A coordinate that the id names in braces makes one claim for each of its values; the others make cells. A value may
give meanings to symbols of the claim's formulas: the reading "intrinsic" of d makes `D` mean `d - 1`.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from lipverify.claims.language.fault import Fault
from lipverify.claims.ledger.symbols import Scalar

RULE = 'it is a mapping of names to values, such as {"d": (2, 3), ("n", "w"): [(10, 1.0), (100, 5.0)]}'


@dataclass(frozen=True)
class Place:
    """A point of the family: its coordinates, and what symbols mean there."""

    where: dict[str, Scalar] = field(default_factory=dict)
    meaning: dict[str, str] = field(default_factory=dict)

    def joined(self, other: Place) -> Place:
        """Both together; the other one's coordinates come last."""
        return Place({**self.where, **other.where}, {**self.meaning, **other.meaning})

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.where.items()) or "any point"


def is_number(value: Any) -> bool:
    """True if a value is a real number, which True and False are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def named_in(template: str) -> tuple[str, ...]:
    """The coordinates that an id names in braces.

    >>> named_in("softmax.window-printed/{law}/{side}/{reading}")
    ('law', 'side', 'reading')
    """
    try:
        return tuple(name for _, name, _, _ in string.Formatter().parse(template) if name is not None)
    except ValueError as error:
        raise Fault(f"id = {template!r}: {error}; a coordinate stands in braces, such as {{law}}.", "id") from None


def filled(template: str, where: Mapping[str, Scalar]) -> str:
    """The text with its coordinates in place.

    >>> filled("mine.window/{law}/sigma-{sigma}", {"law": "tanh", "sigma": 0.5})
    'mine.window/tanh/sigma-0.5'
    """
    return template.format_map(
        {name: value if isinstance(value, str) else f"{value:g}" for name, value in where.items()}
    )


def chosen(value: Any, tail: str, keyword: str) -> Any:
    """What a field says of one reading: itself, or the value whose pattern is the first to match the end of the id.

    >>> chosen({"relu/*": "printed", "*": "stronger"}, "affine/lower", "kind")
    'stronger'
    """
    if not isinstance(value, Mapping):
        return value
    for pattern, each in value.items():
        if fnmatchcase(tail, pattern):
            return each
    raise Fault(f"{keyword} = {dict(value)!r}: no pattern matches {tail!r}.", keyword)
