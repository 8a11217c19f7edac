"""One claim of the ledger as the report shows it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from lipverify.claims.figure import Figure
from lipverify.claims.ledger import Cell, CrossCheck, Record, Scalar
from lipverify.report import digits, words
from lipverify.report.model import Check, Drawing, Entry, Evidence, Statement
from lipverify.report.sources import citation
from lipverify.report.text import Text, formula, printable, rich

Draw = Callable[[Figure], Drawing]
_GREEK = ("sigma", "Lambda", "rho", "kappa")
_LISTED = 6
"""How many refuted points a sentence lists before it only counts them."""


def entry(record: Record, draw: Draw, *, with_origin: bool = True) -> Entry:
    """The claim, its evidence and its verdict, as text."""
    shared = _shared([cell.where for cell in record.cells])
    same = {
        name: values[0]
        for name in ("quantity", "method", "claimed")
        if record.cells and len(set(values := [getattr(c, name) for c in record.cells])) == 1
    }
    return Entry(
        id=printable(record.id),
        title=rich(record.title),
        verdict=record.verdict,
        sentence=rich(_sentence(record)),
        marks=marks(record),
        statement=(formula(record.statement),) if record.statement.strip() else (),
        origin=origin(record) if with_origin else None,
        figures=tuple(draw(figure) for figure in record.figures),
        common=_common(shared, same),
        shown=tuple(n for n in ("where", "quantity", "method", "claimed") if n not in same),
        evidence=tuple(_evidence(cell, shared) for cell in record.cells),
        checks=tuple(_check(check) for check in record.cross_checks),
        control=rich(record.control.statement),
        judged=_judged(record),
        finding=rich(record.finding),
        problem=printable(record.problem),
        reproduce=printable(record.reproduce),
        seconds=digits.seconds(record.seconds),
    )


def marks(record: Record) -> tuple[str, ...]:
    """What a reader must notice: a verdict that is not the recorded one, a control not caught."""
    found = []
    if record.verdict != record.expected:
        found.append(f"≠ recorded: {words.VERDICTS[record.expected]}")
    if missed(record):
        found.append("‡ control not caught")
    return tuple(found)


def missed(record: Record) -> bool:
    """Whether a control that was judged was not caught; a check that broke off judged none."""
    return bool(record.cells) and not record.control.caught


def origin(record: Record) -> Statement:
    """Source and assumptions of a claim."""
    return Statement(
        citation=rich(citation(record.source.paper)),
        place=rich(record.source.place),
        printed=rich(record.source.printed),
        assumptions=tuple(rich(assumption) for assumption in record.assumptions),
    )


def _judged(record: Record) -> str:
    if not record.cells:
        return "not judged"
    return "caught" if record.control.caught else "not caught"


def _sentence(record: Record) -> str:
    """The verdict in words, with the points at which a claim is refuted."""
    sentence = words.SENTENCES[record.verdict]
    if record.verdict != "refuted":
        return sentence
    shared = _shared([cell.where for cell in record.cells])
    refuted = [
        {key: value for key, value in cell.where.items() if key not in shared}
        for cell in record.cells
        if cell.verdict == "refuted"
    ]
    return f"{sentence}{_at(refuted)}."


def _at(points: list[dict[str, Scalar]]) -> str:
    r"""Where a claim is refuted: key by key if the points fill a grid, else one by one.

    >>> _at([{"d": 2}, {"d": 3}])
    ' at $d$ = 2, 3'
    >>> _at([{"d": 2, "law": "relu"}, {"d": 3, "law": "affine"}])
    ' at ($d$ = 2, law = relu), ($d$ = 3, law = affine)'
    """
    distinct = list(dict.fromkeys(tuple(point.items()) for point in points if point))
    if not distinct:
        return ""
    values: dict[str, list[Scalar]] = {}
    for point in distinct:
        for key, value in point:
            values.setdefault(key, [])
            if value not in values[key]:
                values[key].append(value)
    if len(distinct) == math.prod(len(v) for v in values.values()):
        return " at " + "; ".join(f"{_name(k)} = {_values(v)}" for k, v in values.items())
    listed = ", ".join(f"({_where(dict(point))})" for point in distinct[:_LISTED])
    more = len(distinct) - _LISTED
    return f" at {listed}" + (f" and {more} more points" if more > 0 else "")


def _values(values: Iterable[Scalar]) -> str:
    return ", ".join(_value(value) for value in values)


def _value(value: Scalar) -> str:
    """A coordinate: text and integers as they are, other numbers to six digits."""
    if isinstance(value, float) and not (value.is_integer() and abs(value) < 1e6):
        return digits.number(value, digits=6)
    return str(int(value)) if isinstance(value, float) else str(value)


def _name(key: str) -> str:
    """A coordinate's name; the letters of the notation are set as mathematics."""
    if key in _GREEK:
        return f"$\\{key}$"
    return f"${key}$" if len(key) == 1 and key.isalpha() and key.isascii() else key


def _where(where: Mapping[str, Scalar]) -> str:
    return ", ".join(f"{_name(key)} = {_value(value)}" for key, value in where.items())


def _shared(points: list[dict[str, Scalar]]) -> dict[str, Scalar]:
    """The coordinates that two or more points all have in common."""
    if len(points) < 2:
        return {}
    first, *others = points
    return {k: v for k, v in first.items() if all(k in p and p[k] == v for p in others)}


def _common(shared: dict[str, Scalar], same: dict[str, str]) -> Text:
    pieces = [same.get("quantity", ""), _where(shared)]
    if "method" in same:
        pieces.append(f"method: {same['method']}")
    if "claimed" in same:
        pieces.append(f"claimed: {same['claimed']}")
    return rich("; ".join(piece for piece in pieces if piece))


def _evidence(cell: Cell, shared: dict[str, Scalar]) -> Evidence:
    return Evidence(
        where=rich(_where({k: v for k, v in cell.where.items() if k not in shared}) or "–"),
        quantity=rich(cell.quantity),
        method=printable(cell.method),
        measured=digits.with_error(cell.measured, cell.error),
        claimed=rich(cell.claimed),
        verdict=cell.verdict,
        margin=digits.signed(cell.margin),
        control=cell.control,
        note=rich(cell.note),
    )


def _check(check: CrossCheck) -> Check:
    values = [digits.with_error(v, e) for v, e in zip(check.values, check.errors, strict=True)]
    return Check(
        where=rich(_where(check.where) or "–"),
        quantity=rich(check.quantity),
        methods=(printable(check.methods[0]), printable(check.methods[1])),
        values=(values[0], values[1]),
        agrees=check.agrees,
    )
