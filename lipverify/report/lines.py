"""A claim in one line of the report: its formulas, its deciding numbers, and why it is open."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lipverify.claims.ledger.reach import at
from lipverify.claims.ledger.record import Record
from lipverify.foundation.latex import outside_words
from lipverify.report import coordinates, digits, readings
from lipverify.report.model import Line, Telling
from lipverify.report.statements import Entry, Number, Row, sentence
from lipverify.report.text import APART, Run, Text, formula, printable, rich


def lines(entry: Entry) -> tuple[Line, ...]:
    """The lines of a place in the table of statements."""
    claims = {record.id: record for record in entry.claims}
    return tuple(_line(row, claims[row.id], entry.title) for row in entry.rows)


def _line(row: Row, record: Record, title: str) -> Line:
    return Line(
        id=printable(row.id),
        title=rich(sentence(row.title) if row.title != title else ""),
        apart=rich(row.apart),
        statement=statement_of(row.statement),
        telling=typeset(row.numbers),
        verdict=row.verdict,
        range=rich(row.range),
        grade=row.grade,
        marks=readings.marks(record),
        problem=problem(record),
    )


def typeset(numbers: Iterable[Number]) -> tuple[Telling, ...]:
    """The deciding numbers of a claim."""
    return tuple(
        Telling(
            quantity=rich(number.quantity),
            case=rich(number.case),
            measured=number.measured,
            allowed=rich(number.claimed),
            ratio=rich(number.ratio),
            margin=digits.signed(number.margin),
        )
        for number in numbers
    )


def problem(record: Record) -> Text:
    """The reason why a claim is open, with quantities as formulas, or the error message of a broken check."""
    if record.verdict == "error":
        return (Run("code", printable(record.problem)),) if record.problem else ()
    for cell in record.cells if record.problem else ():
        point = at(cell.where)
        match = re.fullmatch(
            rf"(|the control, |.* disagree on ){re.escape(cell.quantity)}(.*) at {re.escape(point)}((?![\w.]).*)",
            record.problem,
            re.DOTALL,
        )
        if match and cell.where:
            first, says, rest = match.groups()
            return rich(f"{first}{cell.quantity_latex or cell.quantity}{says} at {coordinates.words(cell.where)}{rest}")
    return rich(record.problem)


def statement_of(latex: str) -> Text:
    """The formulas of a statement one by one, with the words between them, or else the statement as a whole."""
    parts: list[Run] = []
    comma = False
    for is_words, piece in outside_words(latex) if latex.strip() else []:
        if is_words:
            text = printable(piece.strip())
            parts.append(Run("words", f"{',' * (comma and text[0] != ',')}{' ' * (text[0] != ',')}{text} "))
        else:
            comma = _trimmed(piece, "") != _trimmed(piece)
            formulas = [formula(part.strip()) for part in _trimmed(piece).split(r", \quad") if part.strip()]
            parts += [run for part in formulas for run in (APART, part)][1:]
    if any(part.kind == "code" for part in parts):
        return (formula(latex),)
    return tuple(parts)


def _trimmed(latex: str, commas: str = ",") -> str:
    """The formula without leading and trailing spaces and commas."""
    space = rf"(?:\\q?quad|\\[ ,;:!]|[\s{commas}])+"
    return re.sub(rf"^{space}|{space}$", "", latex)
