"""The cells and readings of a claim: every combination of the coordinates that it ranges over.

    over={"law": {"affine": {"beta": "2"}, "relu": {"beta": "3/2"}}, "d": DIMENSIONS, ("n", "L"): [(10, 1), (100, 2)]}

A coordinate that the id names in braces makes one claim for each of its values; the others make cells. A value may
give meanings to symbols of the claim's formulas: the reading "intrinsic" of d makes `D` mean `d - 1`.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from lipverify.claims.language.fault import Fault
from lipverify.claims.ledger.record import Scalar
from lipverify.claims.plan.profile import Profile, settled

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


def places(over: Any, profile: Profile, keyword: str = "over") -> list[Place]:
    """All points of a family, the last coordinate running fastest.

    Raises
    ------
    Fault
        If it is not a family: an empty one, or a coordinate that is neither text nor a finite number.

    >>> from lipverify.claims.plan.profile import profile_named
    >>> [place.where for place in places({"law": ["affine"], "d": (2, 3)}, profile_named("quick"))]
    [{'law': 'affine', 'd': 2}, {'law': 'affine', 'd': 3}]
    """
    if over is None:
        return [Place()]
    if not isinstance(over, Mapping):
        raise Fault(f"{keyword} = {over!r}: {RULE}.", keyword)
    axes = [list(_axis(name, settled(values, profile), keyword)) for name, values in over.items()]
    for (name, values), axis in zip(over.items(), axes, strict=True):
        if not axis:
            raise Fault(f"{keyword}[{name!r}] = {values!r}: there is no value, so nothing could refute it.", keyword)
    found = [_all(points) for points in itertools.product(*axes)]
    names = [name for place in found[:1] for name in place.where]
    if len(names) != sum(len(name) if isinstance(name, tuple) else 1 for name in over):
        raise Fault(f"{keyword} = {list(over)!r}: a coordinate stands there twice.", keyword)
    return found


def _all(points: Sequence[Place]) -> Place:
    place = Place()
    for point in points:
        place = place.joined(point)
    return place


def _axis(name: Any, values: Any, keyword: str) -> Iterator[Place]:
    """The values of one coordinate, or of several that go together."""
    names = name if isinstance(name, tuple) else (name,)
    if not all(isinstance(each, str) and each.isidentifier() for each in names):
        raise Fault(f"{keyword}[{name!r}]: a coordinate is a name; {RULE}.", keyword)
    if isinstance(values, str | int | float):
        values = (values,)
    if not isinstance(values, Mapping | list | tuple | range):
        raise Fault(f"{keyword}[{name!r}] = {values!r}: {RULE}.", keyword)
    for value in values:
        together = value if isinstance(name, tuple) else (value,)
        if not isinstance(together, tuple | list) or len(together) != len(names):
            raise Fault(f"{keyword}[{name!r}] holds {value!r}: it needs {len(names)} values.", keyword)
        if not all(_is_coordinate(each) for each in together):
            raise Fault(f"{keyword}[{name!r}] holds {value!r}: a coordinate is a finite number or text.", keyword)
        meaning = values[value] if isinstance(values, Mapping) else {}
        if not isinstance(meaning, Mapping):
            raise Fault(
                f'{keyword}[{name!r}] gives {value!r} the meaning {meaning!r}: write {{"D": "d - 1"}}.', keyword
            )
        yield Place(dict(zip(names, together, strict=True)), {key: str(text) for key, text in meaning.items()})


def is_number(value: Any) -> bool:
    """True if a value is a real number, which True and False are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_coordinate(value: Any) -> bool:
    return isinstance(value, str) or (is_number(value) and math.isfinite(value))


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
