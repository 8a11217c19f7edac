"""Where something was measured, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from lipverify.claims.coordinate import named, said
from lipverify.claims.ledger import Scalar
from lipverify.report import digits

Where = Mapping[str, Scalar]
_LISTED = 3
"""How many points a sentence lists before it only counts them."""


def value(coordinate: Scalar) -> str:
    """A coordinate: text and integers as they are, other numbers to six digits."""
    if isinstance(coordinate, float) and not (coordinate.is_integer() and abs(coordinate) < 1e6):
        return digits.number(coordinate, digits=6)
    return str(int(coordinate)) if isinstance(coordinate, float) else str(coordinate)


def shown(coordinate: Scalar) -> str:
    """The same for a page, where a power of ten is set as one."""
    return digits.typeset(value(coordinate))


def _shown_of(key: str, coordinate: Scalar) -> str:
    """A coordinate in a column that has its name: a law of the noise as what it is."""
    return said(key, coordinate) if key == "noise" else shown(coordinate)


def _several(key: str, values: Sequence[Scalar]) -> str:
    """Several values of one coordinate."""
    if len(values) == 1 or key == "noise":
        return ", ".join(said(key, value, shown(value)) for value in values)
    return f"{named(key)} = {', '.join(map(shown, values))}"


def words(where: Where) -> str:
    """All coordinates of one point.

    >>> words({"d": 2, "law": "relu"})
    '$d = 2$, ReLU law'
    """
    return ", ".join(said(key, coordinate, shown(coordinate)) for key, coordinate in where.items())


def shared(points: Sequence[Where]) -> dict[str, Scalar]:
    """The coordinates that two or more points all have in common."""
    if len(points) < 2:
        return {}
    first, *others = points
    return {k: v for k, v in first.items() if all(k in p and p[k] == v for p in others)}


def without(where: Where, known: Where) -> dict[str, Scalar]:
    """The coordinates that were not said before."""
    return {key: coordinate for key, coordinate in where.items() if key not in known}


def columns(points: Sequence[Where], known: Where) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The coordinates that were not said before, as the columns of a table: headings, and a row for each point.

    >>> columns([{"d": 2, "n": 10}, {"d": 3, "n": 10}], {"n": 10})
    (('$d$',), [('2',), ('3',)])
    >>> columns([{"d": 2}, {"n": 10}], {})
    (('at',), [('$d = 2$',), ('$n = 10$',)])
    """
    keys = [tuple(without(point, known)) for point in points]
    if keys and keys[0] and len(set(keys)) == 1:
        return tuple(map(named, keys[0])), [tuple(_shown_of(key, point[key]) for key in keys[0]) for point in points]
    return ("at",), [(words(without(point, known)) or "–",) for point in points]


def smallest(points: Iterable[Where]) -> int:
    """The position of the point whose numbers are smallest, in the order in which it names them.

    >>> smallest([{"d": 3, "n": 10}, {"d": 2, "n": 50}, {"d": 2, "n": 20}])
    2
    """
    sizes = [tuple(v for v in point.values() if not isinstance(v, str)) for point in points]
    return min(range(len(sizes)), key=sizes.__getitem__)


def at(points: Iterable[Where]) -> str:
    r"""Several points: key by key if they fill a grid, else one by one.

    >>> at([{"d": 2}, {"d": 3}])
    'at $d$ = 2, 3'
    >>> at([{"d": 2, "law": "relu"}, {"d": 3, "law": "affine"}])
    'at ($d = 2$, ReLU law), ($d = 3$, affine law)'
    """
    distinct = list(dict.fromkeys(tuple(point.items()) for point in points if point))
    if not distinct:
        return ""
    values: dict[str, list[Scalar]] = {}
    for point in distinct:
        for key, coordinate in point:
            values.setdefault(key, [])
            if coordinate not in values[key]:
                values[key].append(coordinate)
    if len(distinct) == math.prod(len(v) for v in values.values()):
        return "at " + "; ".join(_several(key, each) for key, each in values.items())
    listed = ", ".join(f"({words(dict(point))})" for point in distinct[:_LISTED])
    more = len(distinct) - _LISTED
    return f"at {listed}" + (f" and {more} more points" if more > 0 else "")
