"""Cross-checks: the same number by two methods, grouped by quantity and methods."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from lipverify.claims.ledger.record import CrossCheck
from lipverify.report import coordinates, digits
from lipverify.report.text import Text, printable, rich


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One number by two methods."""

    where: tuple[Text, ...]
    values: tuple[str, str]
    agrees: bool


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Comparisons of one quantity by the same two methods."""

    common: Text
    where: tuple[Text, ...]
    """The coordinates that tell the rows apart."""
    methods: tuple[str, str]
    rows: tuple[Comparison, ...]


def agreements(checks: Iterable[CrossCheck]) -> tuple[Agreement, ...]:
    """One table for each quantity and pair of methods."""
    groups: dict[tuple[str, tuple[str, str]], list[CrossCheck]] = {}
    for check in checks:
        groups.setdefault((check.quantity, check.methods), []).append(check)
    return tuple(_agreement(group) for group in groups.values())


def _agreement(checks: list[CrossCheck]) -> Agreement:
    first = checks[0]
    known = coordinates.shared([check.where for check in checks])
    names, places = coordinates.columns([check.where for check in checks], known)
    lead = (first.quantity_latex or first.quantity, coordinates.words(known))
    return Agreement(
        common=rich("; ".join(piece for piece in lead if piece)),
        where=tuple(map(rich, names)),
        methods=(printable(first.methods[0]), printable(first.methods[1])),
        rows=tuple(_comparison(check, place) for check, place in zip(checks, places, strict=True)),
    )


def _comparison(check: CrossCheck, place: tuple[str, ...]) -> Comparison:
    values = [digits.with_error(v, e) for v, e in zip(check.values, check.errors, strict=True)]
    return Comparison(
        where=tuple(map(rich, place)),
        values=(values[0], values[1]),
        agrees=check.agrees,
    )
