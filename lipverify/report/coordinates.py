"""The coordinates of a measurement in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lipverify.claims.ledger.symbols import Scalar, named, said, spelled
from lipverify.report import digits

Where = Mapping[str, Scalar]


def value(coordinate: Scalar) -> str:
    """A coordinate: text and integers unchanged, other numbers to six digits."""
    if isinstance(coordinate, float) and not (coordinate.is_integer() and abs(coordinate) < 1e6):
        return digits.number(coordinate, digits=6)
    return str(int(coordinate)) if isinstance(coordinate, float) else str(coordinate)


def typeset(coordinate: Scalar) -> str:
    """A coordinate for a page, with powers of ten typeset."""
    return digits.typeset(value(coordinate))


def _entry(key: str, coordinate: Scalar) -> str:
    """A coordinate in a column with its name; as a formula if it is spelled by one."""
    words = spelled(key, coordinate)
    return words if "$" in words else typeset(coordinate)


def words(where: Where) -> str:
    """All coordinates of a point."""
    return ", ".join(said(key, coordinate, typeset(coordinate)) for key, coordinate in where.items())


def shared(points: Sequence[Where]) -> dict[str, Scalar]:
    """The coordinates that all of at least two points have in common."""
    if len(points) < 2:
        return {}
    first, *others = points
    return {k: v for k, v in first.items() if all(k in p and p[k] == v for p in others)}


def without(where: Where, known: Where) -> dict[str, Scalar]:
    """The coordinates that are not in `known`."""
    return {key: coordinate for key, coordinate in where.items() if key not in known}


def columns(points: Sequence[Where], known: Where) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The coordinates that are not in `known`, as the columns of a table: headings, and a row for each point.

    >>> columns([{"d": 2, "n": 10}, {"d": 3, "n": 10}], {"n": 10})
    (('$d$',), [('2',), ('3',)])
    >>> columns([{"d": 2}, {"n": 10}], {})
    (('at',), [('$d = 2$',), ('$n = 10$',)])
    """
    keys = [tuple(without(point, known)) for point in points]
    if keys and keys[0] and len(set(keys)) == 1:
        return tuple(map(named, keys[0])), [tuple(_entry(key, point[key]) for key in keys[0]) for point in points]
    return ("at",), [(words(without(point, known)) or "–",) for point in points]
