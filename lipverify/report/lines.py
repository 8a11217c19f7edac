"""A claim in one line of the report: its formulas, its deciding numbers, and why it is open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lipverify.claims.ledger.reach import at, condition
from lipverify.claims.ledger.record import Passage, Record
from lipverify.foundation.latex import outside_words
from lipverify.report import coordinates, digits, readings
from lipverify.report.model import Reading, Telling
from lipverify.report.statements import Entry, Number, Row, sentence
from lipverify.report.text import APART, Run, Text, certified, formula, printable, rich
from lipverify.report.visible import called


def reading(record: Record, row: Row, shared: Sequence[str], entry: Entry, passages: Sequence[Passage]) -> Reading:
    """One claim; `shared` contains the assumptions that stand beside all of its place."""
    control = record.control.latex or record.control.statement
    return Reading(
        id=printable(record.id),
        label=printable(readings.label(record) or record.id),
        kind=record.kind,
        grade=row.grade,
        reasons=tuple(map(rich, row.reasons)),
        theorems=tuple(map(certified, row.theorems)),
        title=rich(sentence(row.title) if row.title != entry.title else "", inline=True),
        apart=rich(row.apart, inline=True),
        statement=statement_of(row.statement, inline=True),
        assumptions=tuple(rich(text) for text in record.assumptions if text.strip() and text not in shared),
        instead=rich(row.instead),
        reason=rich(record.finding),
        verdict=record.verdict,
        outcome=next((passage.outcome for passage in passages if record.id in passage.claims), ""),
        range=rich(row.range, inline=True),
        control=rich(re.sub(r"\bwith (\w+) = ", r"with the argument `\1` changed to ", control), inline=True),
        limits=rich(condition(record.cells, record.verdict)),
        telling=typeset(row.numbers),
        marks=readings.marks(record),
        problem=problem(record),
        proves=bool(record.proves),
    )


def typeset(numbers: Iterable[Number]) -> tuple[Telling, ...]:
    """The deciding numbers of a claim; fractions have a slash."""
    return tuple(
        Telling(
            quantity=rich(number.quantity, inline=True),
            case=rich(number.case, inline=True),
            measured=number.measured,
            allowed=rich(number.claimed, inline=True),
            ratio=rich(number.ratio, inline=True),
            margin=digits.signed(number.margin),
        )
        for number in numbers
    )


def problem(record: Record) -> Text:
    """The reason why a claim is open, with quantities as formulas, or the error message of a broken check."""
    if record.verdict == "error":
        return (Run("code", printable(called(record.problem))),) if record.problem else ()
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


def statement_of(latex: str, *, inline: bool = False) -> Text:
    """The formulas of a statement one by one, with the words between them, or else the statement as a whole."""
    parts: list[Run] = []
    comma = False
    for is_words, piece in outside_words(latex) if latex.strip() else []:
        if is_words:
            text = printable(piece.strip())
            parts.append(Run("words", f"{',' * (comma and text[0] != ',')}{' ' * (text[0] != ',')}{text} "))
        else:
            comma = _trimmed(piece, "") != _trimmed(piece)
            formulas = [
                formula(part.strip(), inline=inline) for part in _trimmed(piece).split(r", \quad") if part.strip()
            ]
            parts += [run for part in formulas for run in (APART, part)][1:]
    if any(part.kind == "code" for part in parts):
        return (formula(latex, inline=inline),)
    return tuple(parts)


def _trimmed(latex: str, commas: str = ",") -> str:
    """The formula without leading and trailing spaces and commas."""
    space = rf"(?:\\q?quad|\\[ ,;:!]|[\s{commas}])+"
    return re.sub(rf"^{space}|{space}$", "", latex)
