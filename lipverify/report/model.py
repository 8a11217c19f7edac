"""The report as data: every word and number, as text, in three layers: front, theorems, evidence cell by cell.

It is built from the ledger alone, so that it can be compared with it; the PDF and the web page only lay it out.
"""

from __future__ import annotations

import msgspec

from lipverify.report.evidence import Agreement, Evidence
from lipverify.report.text import Text

FRONT = "front"
"""The anchor of the first page."""


class Symbol(msgspec.Struct, frozen=True, kw_only=True):
    """A symbol and what it means."""

    symbol: Text
    meaning: Text


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """One panel or heat map, as SVG, with the words around it."""

    svg: str
    title: Text
    xlabel: Text = ()
    ylabel: Text = ()


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """One figure. If it could not be drawn, it has no anchor, and `problem` is the reason."""

    anchor: str = ""
    width: float = 1.0
    """The share of the text width."""
    across: int = 1
    """The number of panels or maps in a row."""
    plots: tuple[Plot, ...] = ()
    legend: tuple[tuple[str, Text], ...] = ()
    """The samples, as SVG, and their labels."""
    scale: tuple[str, str, str] | None = None
    """The least value, the colours as SVG, and the largest value of all maps."""
    caption: Text = ()
    alt: str = ""
    problem: str = ""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table that belongs to a claim."""

    caption: Text
    header: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of the passages under one heading."""

    outcomes: tuple[tuple[str, str], ...]
    """(outcome, number of passages), worst first; empty if no passage is printed."""
    ranges: tuple[Text, ...]
    """The range of each outcome; without passages, the range of the verdicts."""
    others: tuple[tuple[str, str], ...]
    """(verdict, number of claims that belong to no passage), worst first."""
    grade: str


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """The deciding case of one quantity: number, point, allowed set and margin are those of one cell."""

    quantity: Text
    case: Text
    measured: str
    allowed: Text
    """What the claim allows, with the values of its formulas at the point."""
    ratio: Text
    """What a ratio showed where the exponents are equal; empty if the exponents decided."""
    margin: str


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """The first layer: two pages of overview."""

    summary: tuple[Text, ...]
    """The question, the outcome, and the trust in the evidence: one paragraph each."""
    counts: tuple[tuple[str, int], ...]
    """(outcome, number of passages), all outcomes, best first."""
    pictures: tuple[Drawing, ...]
    symbols: tuple[Symbol, ...]
    defines: dict[str, str]
    """The symbols that claims files define."""
    setting: tuple[Text, ...]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One claim of the ledger: its statement, its verdict with the range, and the deciding numbers."""

    id: str
    label: str
    """The part of the id that distinguishes the reading from the others of the statement."""
    kind: str
    grade: str
    reasons: tuple[Text, ...]
    """The reasons for the grade."""
    theorems: tuple[Text, ...]
    """The sentences of the certified theorems that it rests on, as the checker makes them."""
    title: Text
    """The statement in words; empty if the title of its place says it."""
    apart: Text
    """What tells it from other claims with this title and this formula."""
    statement: Text
    """With fractions that have a slash, for a line of a table."""
    assumptions: tuple[Text, ...]
    """The assumptions that the readings of the statement do not share."""
    instead: Text
    reason: Text
    verdict: str
    outcome: str
    range: Text
    """The range of the verdict; empty if the check broke."""
    control: Text
    limits: Text
    """The assumption of a verdict on a limit, and how far the limit was followed."""
    telling: tuple[Telling, ...]
    marks: tuple[str, ...]
    problem: Text
    proves: bool
    """True if it stands behind the grade of another claim."""


class Theorem(msgspec.Struct, frozen=True, kw_only=True):
    """The second layer: all claims about one place of a source."""

    anchor: str
    stem: str
    title: Text
    """The place and the title: "Theorem 6. The box kernel attains ..."."""
    own: bool
    """True if its claims come with lipverify, so that symbols have the meanings of the notation."""
    paper: str
    standing: Standing
    quoted: tuple[Text, ...]
    """The printed words, first those that the statement is judged by."""
    assumptions: tuple[Text, ...]
    """The fair reading: assumptions that the sources leave open and that all readings nearest to print share."""
    instead: Text
    """The statement that holds instead, or a sharper one, from the first reading that has one."""
    reason: Text
    picture: Drawing | None
    pictured: str
    """The anchor of an earlier place with the same picture, or `FRONT`; empty if it is here, or there is none."""
    readings: tuple[Reading, ...]
    decided: int
    """So many of the first readings stand in the table of statements."""
    marks: tuple[str, ...]
    tables: tuple[Table, ...]
    judged: str
    resolution: Text
    """The smallest difference that the evidence resolves."""
    cross_checks: str
    """The count of numbers computed by two methods, and whether they agree; empty if there are none."""
    reproduce: tuple[str, ...]
    seconds: str
    symbols: tuple[Symbol, ...]
    defines: dict[str, str]
    """The same, if its claims are a user's."""
    topic: str
    """The anchor of its evidence; empty if the report has no evidence."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """The theorems under one heading; the title is empty if the ledger names none."""

    title: Text
    theorems: tuple[Theorem, ...]


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """The third layer: the evidence for one statement, cell by cell."""

    anchor: str
    theorem: str
    """The anchor of the statement."""
    tables: tuple[Table, ...]
    """Tables that are too long for the theorem's page."""
    drawings: tuple[Drawing, ...]
    evidence: tuple[Evidence, ...]
    agreements: tuple[Agreement, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All pages in order, from which the PDF and the web page are made without the ledger."""

    title: str
    """The title without formulas, for the metadata of the files."""
    heading: Text
    author: str
    made_by: str
    words: dict[str, str]
    outcomes: dict[str, str]
    grades: dict[str, str]
    kinds: dict[str, str]
    front: Front
    sections: tuple[Section, ...]
    legend: Text
    topics: tuple[Topic, ...]
    notation: tuple[Symbol, ...]
    """All symbols of the front and the theorems, in order of first use."""
    methods: tuple[tuple[str, Text], ...]
    rules: tuple[Text, ...]
    references: tuple[tuple[str, Text], ...]
    provenance: tuple[tuple[str, str], ...]
