"""The second layer: a page for each theorem, with all readings of one statement and the one figure that shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lipverify.claims.ledger.figure import Figure, Layer
from lipverify.claims.ledger.outcomes import behind
from lipverify.claims.ledger.reach import at, condition, reach
from lipverify.claims.ledger.record import Passage, Record
from lipverify.claims.ledger.record import Table as LedgerTable
from lipverify.claims.ledger.summary import beside_exponent, telling
from lipverify.foundation.quoting import counted
from lipverify.report import coordinates, digits, readings, sources
from lipverify.report.drawings import joined
from lipverify.report.front import Draw
from lipverify.report.model import Reading, Table, Telling, Theorem
from lipverify.report.standing import judged_by, nearest_first, standing
from lipverify.report.text import APART, Run, Text, formula, printable, rich

_LAYERS = ("theorem", "front", "evidence")
"""What a theorem's page shows, by preference: its own figure, else one of the first page, else one of the evidence."""
_TELLING = 3
"""So many points say more than a line of text."""
_WORDS = re.compile(r"\\text\{([^{}$\\]*\s[^{}$\\]*\S[^{}$\\]*)\}")
"""Words in a formula, with spaces before or between them."""
_REMARKS, _LONGEST = 3, 800
"""What the evidence shows, of so many readings and in so many letters at most; the rest stands with the evidence."""


def theorem(records: Sequence[Record], passages: Sequence[Passage], draw: Draw, *, anchor: str, topic: str) -> Theorem:
    """The page of one statement, its symbols not yet looked up; `topic` is the anchor of its evidence, or empty."""
    shown = telling_figure(records)
    nearest = judged_by(records)
    differing = [record for record in records if readings.differs(record)]
    return Theorem(
        anchor=anchor,
        stem=printable(readings.stem(records[0])),
        title=readings.heading(records),
        own=readings.own(records),
        paper=printable(sources.short(records[0].source.paper)),
        standing=standing(records, passages),
        sources=readings.remarks(nearest, lambda record: (sources.quotation(record.source),)),
        assumptions=tuple(filter(_says_more, readings.remarks(nearest, lambda record: record.assumptions))),
        corrected=readings.remarks(differing, lambda record: (record.corrected,)),
        why=readings.remarks(nearest, lambda record: (record.finding,) * (len(record.finding) <= _LONGEST))[:_REMARKS],
        picture=None if shown is None else draw(shown),
        readings=tuple(_reading(record, records, passages) for record in nearest_first(records)),
        tables=tables_of(records, "theorem"),
        limits=readings.remarks(nearest, lambda record: (condition(record.cells, record.verdict),)),
        controls=readings.remarks(nearest, lambda record: (record.control.latex or record.control.statement,)),
        judged=_judged(records),
        resolution=rich(_resolution(records)),
        cross_checks=_cross_checks(records),
        reproduce=_reproduce(records),
        seconds=digits.seconds(max(record.seconds for record in records)),
        symbols=(),
        topic=topic,
    )


def _says_more(remark: readings.Remark) -> bool:
    """Whether a remark says more than the name of its readings does, as "affine law" of affine does not."""
    words = "".join(run.text for run in remark.text).lower()
    return not remark.readings or words.rpartition(" ")[0] != remark.readings


def telling_figure(records: Sequence[Record]) -> Figure | None:
    """The figure of the page: the first that its claims draw for it, of the readings nearest to print if they have one.

    Readings that share it are drawn into it; one with next to nothing on it gives way.
    """
    nearest = {record.id for record in judged_by(records)}
    own = [figure for record in nearest_first(records) if record.id in nearest for figure in record.figures]
    figures = joined(figure for record in records for figure in record.figures)
    return min(figures, key=lambda figure: _rank(figure, own), default=None)


def _rank(figure: Figure, own: Sequence[Figure]) -> tuple[int, bool, bool]:
    """The layer that it was drawn for, whether it is bare, and whether it is not of the readings nearest to print."""
    curves = {series for mine in own for panel in mine.panels for series in panel.series}
    theirs = figure in own or any(series in curves for panel in figure.panels for series in panel.series)
    return _LAYERS.index(figure.layer), _is_bare(figure), not theirs


def _is_bare(figure: Figure) -> bool:
    """Whether one of its panels has a point or two and nothing else that was measured."""
    measured = [sum(len(s.x) for s in panel.series if s.style != "dashed") for panel in figure.panels]
    return any(count < _TELLING for count in measured)


def tables_of(records: Sequence[Record], layer: Layer) -> tuple[Table, ...]:
    """The tables that stand in a layer, each once."""
    every = dict.fromkeys(table for record in records for table in record.tables)
    return tuple(_table(table) for table in every if (table.layer == "evidence") == (layer == "evidence"))


def _table(table: LedgerTable) -> Table:
    """Rows are filled or cut to the length of the header."""
    wide = len(table.header)
    return Table(
        caption=rich(table.caption),
        header=tuple(map(rich, table.header)),
        rows=tuple(tuple(map(rich, (*row, *("",) * wide)[:wide])) for row in table.rows),
    )


def _reading(record: Record, records: Sequence[Record], passages: Sequence[Passage]) -> Reading:
    return Reading(
        id=printable(record.id),
        label=printable(readings.label(record) or record.id),
        kind=record.kind,
        grade=record.grade or "",
        proved=behind([record], records) == "proved" != record.grade,
        statement=_statement(record.statement),
        verdict=record.verdict,
        outcome=next((each.outcome for each in passages if record.id in each.claims), ""),
        range=rich(reach(record.cells, record.verdict, record.id, latex=True)),
        telling=_telling(record),
        marks=readings.marks(record),
        problem=_problem(record),
    )


def _telling(record: Record) -> tuple[Telling, ...]:
    """The telling case of each quantity: all numbers of one are those of one cell."""
    told = telling(record.cells)
    return tuple(
        Telling(
            quantity=rich(cell.quantity_latex or cell.quantity),
            named=len(told) > 1 or beside_exponent(cell),
            case=rich(coordinates.words(_unsaid(cell.where, record))),
            measured=digits.with_error(cell.measured, cell.error),
            allowed=rich(cell.claimed_latex or cell.claimed),
            margin=digits.signed(cell.margin),
        )
        for cell in told
    )


def _problem(record: Record) -> Text:
    """Why it is open, its quantities as formulas; why it broke as the machine says it."""
    if record.verdict == "error":
        return (Run("code", printable(record.problem)),) if record.problem else ()
    for cell in record.cells:
        place = at(cell.where)
        found = re.fullmatch(
            rf"(|the control, |.* disagree on ){re.escape(cell.quantity)}(.*) at {re.escape(place)}((?![\w.]).*)",
            record.problem,
            re.DOTALL,
        )
        if found and cell.where:
            first, says, rest = found.groups()
            return rich(f"{first}{cell.quantity_latex or cell.quantity}{says} at {coordinates.words(cell.where)}{rest}")
    return rich(record.problem)


def _statement(latex: str) -> Text:
    """The formulas of a statement one by one, where it joins several and each stands for itself; else the whole.

    Words between them, which no formula breaks, stand for themselves too.
    """
    parts: list[Run] = []
    comma = False
    for k, piece in enumerate(_WORDS.split(latex) if latex.strip() else []):
        if k % 2:
            said = printable(piece.strip())
            parts.append(Run("words", f"{',' * (comma and said[0] != ',')}{' ' * (said[0] != ',')}{said} "))
        else:
            comma = _trimmed(piece, "") != _trimmed(piece)
            each = [formula(part.strip()) for part in _trimmed(piece).split(r", \quad") if part.strip()]
            parts += [run for part in each for run in (APART, part)][1:]
    if any(part.kind == "code" for part in parts):
        return (formula(latex),)
    return tuple(parts)


def _trimmed(latex: str, commas: str = ",") -> str:
    """Without the spaces at its ends, nor commas."""
    space = rf"(?:\\q?quad|\\[ ,;:!]|[\s{commas}])+"
    return re.sub(rf"^{space}|{space}$", "", latex)


def _unsaid(where: coordinates.Where, record: Record) -> coordinates.Where:
    """The coordinates that the name of the reading does not say."""
    said = re.split("/|-to-", readings.label(record))
    return {name: value for name, value in where.items() if value not in said}


def _judged(records: Sequence[Record]) -> str:
    """How the controls came out, for all readings together."""
    judged = [record for record in records if record.cells]
    if not judged:
        return "not judged"
    if any(readings.missed(record) for record in judged):
        return "not caught where marked ‡"
    return "caught at every point"


def _resolution(records: Sequence[Record]) -> str:
    """The largest error of a number that decides, and the closest statement that the evidence excludes."""
    cells = [cell for record in records for cell in record.cells]
    errors = [cell.error for cell in cells if cell.error is not None]
    apart = [cell.control.unnoticed for cell in cells if cell.control.unnoticed is not None and cell.caught]
    said = [f"errors up to {_number(max(errors))}"] if errors else []
    said += [f"an edge moved by {_number(min(apart))} would be noticed"] if apart and min(apart) > 0 else []
    return "; ".join(said)


def _number(value: float) -> str:
    return digits.typeset(digits.number(value, digits=2))


def _cross_checks(records: Sequence[Record]) -> str:
    checks = {repr(check): check.agrees for record in records for check in record.cross_checks}
    if not checks:
        return ""
    apart = sum(not agrees for agrees in checks.values())
    numbers = f"{counted(len(checks), 'number')} by two methods"
    return f"{numbers}: {f'{apart} differ' if apart else 'all agree within their errors'}"


def _reproduce(records: Sequence[Record]) -> tuple[str, ...]:
    """The command that repeats all readings, where their commands differ by nothing but the id."""
    said = [record for record in records if record.reproduce.strip()]
    together = {record.reproduce.replace(record.id, readings.stem(record)) for record in said}
    apart = dict.fromkeys(record.reproduce for record in said)
    return tuple(map(printable, together if len(together) == 1 else apart))
