"""The second layer: all claims about one place, with its source, outcome, reason, figure and readings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lipverify.claims.ledger.figure import Figure, Layer
from lipverify.claims.ledger.record import Passage, Record
from lipverify.claims.ledger.record import Table as LedgerTable
from lipverify.foundation.quoting import counted
from lipverify.report import digits, readings, sources
from lipverify.report.drawings import joined
from lipverify.report.front import Draw, shared_by
from lipverify.report.lines import reading
from lipverify.report.model import Table, Theorem
from lipverify.report.standing import judged_by, nearest_first, standing
from lipverify.report.statements import Entry
from lipverify.report.text import Text, printable, rich


def theorem(
    entry: Entry,
    passages: Sequence[Passage],
    draw: Draw,
    *,
    symbols: dict[str, str],
    drawn: dict[str, str],
    topic: str,
) -> Theorem:
    """The page of one place, without its symbols; `topic` is the anchor of its evidence, or empty.

    `drawn` maps the figures of earlier pages to the anchors of these, and takes that of this one.
    """
    records = entry.claims
    figure = telling_figure(records)
    nearest = judged_by(records)
    picture = None if figure is None else draw(figure)
    pictured = "" if picture is None or not picture.anchor else drawn.setdefault(picture.anchor, entry.anchor)
    shared = shared_by(nearest)
    instead = next((record.corrected for record in records if readings.differs(record) and record.corrected), "")
    return Theorem(
        anchor=entry.anchor,
        stem=printable(readings.stem(records[0])),
        title=rich(entry.heading),
        own=readings.own(records),
        paper=printable(sources.short(records[0].source.paper)),
        standing=standing(records, passages),
        quoted=tuple(map(_quoted, dict.fromkeys(record.source.printed for record in (*nearest, *records)))),
        assumptions=tuple(map(rich, shared)),
        instead=rich(instead),
        reason=rich(_reason(nearest)),
        picture=picture if pictured in ("", entry.anchor) else None,
        pictured="" if pictured == entry.anchor else pictured,
        readings=tuple(
            reading(record, row, shared, entry, passages)
            for record, row in zip(records, (*entry.rows, *entry.others), strict=True)
        ),
        decided=len(entry.rows),
        marks=_marks(records),
        tables=tables_of(records, "theorem"),
        judged=_judged(records),
        resolution=rich(_resolution(records)),
        cross_checks=_cross_checks(records),
        reproduce=_reproduce(records),
        seconds=digits.seconds(max(record.seconds for record in records)),
        symbols=(),
        defines={} if readings.own(records) else symbols,
        topic=topic,
    )


def _quoted(printed: str) -> Text:
    """The words of a source; of a printed table the cells stand between bars, and the rows between semicolons."""
    parts = re.split(r"(\$.*?\$)", printed)
    parts[::2] = [words.replace(r" \\", ";").replace(" & ", " | ") for words in parts[::2]]
    return rich("".join(parts))


def _marks(records: Sequence[Record]) -> tuple[str, ...]:
    """The distinct marks of all readings, with the number of readings that have each if there are several."""
    marks = [mark for record in records for mark in readings.marks(record)]
    many = len(records) > 1
    return tuple(f"{mark} ({marks.count(mark)})" if many else mark for mark in dict.fromkeys(marks))


def _reason(records: Sequence[Record]) -> str:
    """The first one or two sentences of the first reading with short ones; the reading has the full reason."""
    starts = [beginning(record.finding, count) for record in records for count in (2, 1) if record.finding.strip()]
    return next((text for text in starts if len(text) <= 330), "")  # in characters, with formulas as source


def beginning(text: str, sentences: int = 2) -> str:
    r"""The first sentences of a text; a full stop in a formula or number does not end a sentence."""
    ends = [k for k in re.finditer(r"\.(?=\s+[A-Z$]|\s*$)", text) if text[: k.start()].count("$") % 2 == 0]
    return text[: ends[sentences - 1].start() + 1] if len(ends) >= sentences else text


def telling_figure(records: Sequence[Record]) -> Figure | None:
    """The figure of the page: the first that its claims draw for it, if possible of those nearest to print."""
    nearest = {record.id for record in judged_by(records)}
    own = [figure for record in nearest_first(records) if record.id in nearest for figure in record.figures]
    figures = joined(figure for record in records for figure in record.figures)
    return min(figures, key=lambda figure: _rank(figure, own), default=None)


def _rank(figure: Figure, own: Sequence[Figure]) -> tuple[int, bool, bool]:
    """Sort key: the layer, then figures with enough points, then those of the readings nearest to print."""
    curves = {series for mine in own for panel in mine.panels for series in panel.series}
    theirs = figure in own or any(series in curves for panel in figure.panels for series in panel.series)
    return ("theorem", "front", "evidence").index(figure.layer), _is_bare(figure), not theirs


def _is_bare(figure: Figure) -> bool:
    measured = [sum(len(s.x) for s in panel.series if s.style != "dashed") for panel in figure.panels]
    return any(count < 3 for count in measured)  # fewer points say no more than a line of text


def tables_of(records: Sequence[Record], layer: Layer) -> tuple[Table, ...]:
    """The distinct tables of a layer."""
    every = dict.fromkeys(table for record in records for table in record.tables)
    return tuple(_table(table) for table in every if (table.layer == "evidence") == (layer == "evidence"))


def _table(table: LedgerTable) -> Table:
    """The table with rows padded or cut to the length of the header."""
    wide = len(table.header)
    return Table(
        caption=rich(table.caption),
        header=tuple(map(rich, table.header)),
        rows=tuple(tuple(map(rich, (*row, *("",) * wide)[:wide])) for row in table.rows),
    )


def _judged(records: Sequence[Record]) -> str:
    judged = [record for record in records if record.cells]
    if not judged:
        return "not judged"
    if any(readings.missed(record) for record in judged):
        return "not caught where marked ‡"
    return "caught at every point"


def _resolution(records: Sequence[Record]) -> str:
    """The largest error of a deciding number, and the closest statement that the evidence excludes."""
    cells = [cell for record in records for cell in record.cells]
    errors = [cell.error for cell in cells if cell.error is not None]
    apart = [cell.control.unnoticed for cell in cells if cell.control.unnoticed is not None and cell.caught]
    sentences = [f"errors up to {_number(max(errors))}"] if any(errors) else []
    sentences += [f"an edge moved by {_number(min(apart))} would be noticed"] if apart and min(apart) > 0 else []
    return "; ".join(sentences)


def _number(value: float) -> str:
    return digits.typeset(digits.number(value, digits=2))


def _cross_checks(records: Sequence[Record]) -> str:
    checks, apart = readings.compared(records)
    numbers = f"{counted(checks, 'number')} by two methods"
    return "" if not checks else f"{numbers}: {f'{apart} differ' if apart else 'all agree within their errors'}"


def _reproduce(records: Sequence[Record]) -> tuple[str, ...]:
    """The commands that repeat the readings; a single one if they differ only in the id."""
    repeatable = [record for record in records if record.reproduce.strip()]
    together = {record.reproduce.replace(record.id, readings.stem(record)) for record in repeatable}
    apart = dict.fromkeys(record.reproduce for record in repeatable)
    return tuple(map(printable, together if len(together) == 1 else apart))
