"""The third layer: the evidence for one statement, cell by cell, with references to evidence of earlier statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lipverify.claims.ledger.record import CrossCheck, Record
from lipverify.report import readings, sources
from lipverify.report.drawings import joined
from lipverify.report.evidence import agreements, evidence
from lipverify.report.front import Draw
from lipverify.report.model import Drawing, Topic
from lipverify.report.text import printable
from lipverify.report.theorem import tables_of, telling_figure


@dataclass
class Printed:
    """The evidence of earlier topics, to refer to instead of repeating it."""

    figures: set[str] = field(default_factory=set)
    checks: dict[str, str] = field(default_factory=dict)
    """{cross-check: anchor of the topic with it}"""


def topic(records: Sequence[Record], draw: Draw, *, anchor: str, theorem: str, printed: Printed) -> Topic:
    """The evidence for one statement; `theorem` is the anchor of its page."""
    new, before = _drawings(records, draw, printed)
    fresh, checked_before = _checks(records, anchor, printed)
    return Topic(
        anchor=anchor,
        theorem=theorem,
        stem=printable(readings.stem(records[0])),
        title=readings.heading(records),
        sources=readings.remarks(records, lambda record: (sources.quotation(record.source),)),
        assumptions=readings.remarks(records, lambda record: record.assumptions),
        remarks=readings.remarks(records, lambda record: (record.finding,)),
        controls=readings.remarks(records, lambda record: (record.control.latex or record.control.statement,)),
        tables=tables_of(records, "evidence"),
        drawings=new,
        drawn_before=before,
        evidence=evidence(records),
        agreements=agreements(fresh),
        agreed_before=checked_before,
    )


def _drawings(records: Sequence[Record], draw: Draw, printed: Printed) -> tuple[tuple[Drawing, ...], tuple[str, ...]]:
    """New figures except the one on the theorem's page, and the anchors of those in earlier topics."""
    every = joined(figure for record in records for figure in record.figures)
    telling = telling_figure(records)
    drawn = dict.fromkeys(draw(figure) for figure in every if figure != telling)
    new = tuple(each for each in drawn if each.file not in printed.figures)
    printed.figures |= {each.file for each in new if each.file}
    return new, tuple(each.anchor for each in drawn if each not in new)


def _checks(records: Sequence[Record], anchor: str, printed: Printed) -> tuple[list[CrossCheck], tuple[str, ...]]:
    """New cross-checks, and the anchors of the topics with the others."""
    distinct = {repr(check): check for record in records for check in record.cross_checks}
    new = [check for key, check in distinct.items() if key not in printed.checks]
    before = dict.fromkeys(printed.checks[key] for key in distinct if key in printed.checks)
    printed.checks |= {key: anchor for key in distinct if key not in printed.checks}
    return new, tuple(before)
