"""The report as data: every word and number that will be shown, in three layers.

The front is what anyone reads: what was asked, what became of each statement, and a few pictures. Behind it stands a
page for each theorem, and behind that the evidence, cell by cell. The model is built from the ledger alone and holds
only text, so that what is shown can be compared with the ledger; a page or a web page only places it.
"""

from __future__ import annotations

import msgspec

from lipverify.report.evidence import Agreement, Evidence
from lipverify.report.readings import Remark
from lipverify.report.text import Text


class Symbol(msgspec.Struct, frozen=True, kw_only=True):
    """A symbol and what it means."""

    symbol: Text
    meaning: Text


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """One figure; `file` is empty where it could not be drawn, and `problem` says why."""

    file: str
    width: float
    """The part of the width of the text that it takes."""
    caption: Text
    alt: str
    problem: str = ""

    @property
    def anchor(self) -> str:
        """How the page refers to the figure."""
        return self.file.removesuffix(".svg")


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table that a claim brings with it."""

    caption: Text
    header: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the passages under one heading."""

    kind: str
    """The kind of the claims nearest to print."""
    outcomes: tuple[tuple[str, str], ...]
    """(outcome, how many passages), worst first; empty where no claim says what is printed."""
    ranges: tuple[Text, ...]
    """Where each of these outcomes holds; where nothing is printed, where the verdicts do."""
    others: tuple[tuple[str, str], ...]
    """(verdict, how many of all other claims), worst first."""
    grade: str
    """What stands behind these readings: the weakest grade."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table of statements."""

    anchor: str
    """The anchor of its theorem."""
    stem: str
    title: Text
    paper: str
    place: Text
    """Where in the paper it stands."""
    standing: Standing
    marks: tuple[str, ...]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of the table of statements under one heading."""

    title: Text
    rows: tuple[Row, ...]


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """The first layer: two pages that anyone reads."""

    summary: tuple[Text, ...]
    """What was asked, how it came out, and whether the evidence can be believed: a paragraph for each."""
    counts: tuple[tuple[str, int], ...]
    """(outcome, how many passages), every outcome, best first."""
    pictures: tuple[Drawing, ...]
    symbols: tuple[Symbol, ...]
    """Those that the pictures and the paragraphs use."""
    setting: tuple[Text, ...]
    """What many theorems assume: a page says it once."""
    parts: tuple[Part, ...]


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """The telling case of one quantity: number, place, what is allowed and margin are those of one cell."""

    quantity: Text
    named: bool
    """Whether the quantity must be named, because the statement is not of it or the reading has several."""
    case: Text
    """Where it is."""
    measured: str
    allowed: Text
    """What the reading allows there."""
    margin: str


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One claim of the ledger: what it says, its verdict and where that holds, and the numbers that decide it."""

    id: str
    label: str
    """What sets it apart from the other readings of the statement."""
    kind: str
    grade: str
    proved: bool
    """Whether another reading is a proof of all of it."""
    statement: Text
    assumptions: tuple[Text, ...]
    """What it fills in that the readings of the statement do not share."""
    instead: Text
    """What holds instead, or more sharply."""
    reason: Text
    """What the evidence shows."""
    verdict: str
    outcome: str
    range: Text
    """Where the verdict holds; empty where the check broke."""
    control: Text
    limits: Text
    """What a verdict on a limit assumes, and how far the limit was followed."""
    telling: tuple[Telling, ...]
    """The telling case of each quantity, the one that decides first."""
    marks: tuple[str, ...]
    problem: Text
    """Why it is not decided, or what broke."""


class Theorem(msgspec.Struct, frozen=True, kw_only=True):
    """The second layer: all readings of one statement on a page."""

    anchor: str
    stem: str
    title: Text
    own: bool
    """Whether its claims come with lipverify, so that symbols have the meanings of the notation."""
    paper: str
    standing: Standing
    sources: tuple[Remark, ...]
    """What is printed, and where, of the readings that the statement is judged by."""
    quoted: tuple[tuple[Text, Text], ...]
    """(place, words) of each of these, for a page that does not quote the same words again."""
    statement: Text
    """What is displayed: the statement of the first reading."""
    assumptions: tuple[Text, ...]
    """The fair reading: what the sources leave open, filled in as all readings nearest to print do."""
    instead: Text
    """What holds instead, or more sharply, of the first reading that has anything."""
    reason: Text
    """Why, in two sentences: of the first reading that says."""
    picture: Drawing | None
    """The one figure that shows it."""
    readings: tuple[Reading, ...]
    """The deciding numbers, of all readings, those nearest to print first."""
    tables: tuple[Table, ...]
    judged: str
    """How the controls came out."""
    resolution: Text
    """How fine a difference the evidence can tell."""
    cross_checks: str
    """How many numbers two methods give, and whether they agree; empty where there are none."""
    reproduce: tuple[str, ...]
    seconds: str
    symbols: tuple[Symbol, ...]
    """Symbols that stand here for the first time."""
    topic: str
    """The anchor of its evidence; empty where the report leaves it out."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """Theorems under one heading; the title is empty where the ledger names none."""

    title: Text
    theorems: tuple[Theorem, ...]


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """The third layer: the evidence for one statement, cell by cell."""

    anchor: str
    theorem: str
    """The anchor of its theorem."""
    stem: str
    title: Text
    sources: tuple[Remark, ...]
    """What each reading is quoted from."""
    assumptions: tuple[Remark, ...]
    remarks: tuple[Remark, ...]
    """What the evidence shows, reading by reading."""
    controls: tuple[Remark, ...]
    tables: tuple[Table, ...]
    """Those that are too long for the theorem's page."""
    drawings: tuple[Drawing, ...]
    drawn_before: tuple[str, ...]
    """Anchors of figures that stand elsewhere in the report."""
    evidence: tuple[Evidence, ...]
    agreements: tuple[Agreement, ...]
    agreed_before: tuple[str, ...]
    """Anchors of earlier topics that show cross-checks of this one."""


class Printed(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table of passages."""

    paper: str
    place: Text
    outcome: str
    holds: Text
    """The readings that hold, where the wording leaves several open."""
    fails: Text
    """The readings that are refuted, likewise."""
    instead: Text
    """What holds instead, or more sharply."""
    grade: str
    judged: str
    """How many claims it is judged by, and how many of their cells are supported."""
    cells: str
    """The second of these alone."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All pages in their order: what the PDF and the web page are made from, and no ledger beside it."""

    title: str
    """Without formulas, as the files' own data have it."""
    heading: Text
    """The title as it is set."""
    author: str
    """Who states the claims; empty where nobody is named."""
    made_by: str
    """The program and its version."""
    words: dict[str, str]
    """The word for each verdict."""
    outcomes: dict[str, str]
    """The meaning of each outcome."""
    grades: dict[str, str]
    """The meaning of each grade."""
    front: Front
    sections: tuple[Section, ...]
    legend: Text
    """How to read the tables of evidence."""
    topics: tuple[Topic, ...]
    """The evidence; empty where the report leaves it out."""
    passages: tuple[Printed, ...]
    """What the sources print, passage by passage: what is counted."""
    notation: tuple[Symbol, ...]
    """All symbols of the front and the theorems, in the order in which they first stand."""
    methods: tuple[tuple[str, Text], ...]
    rules: tuple[Text, ...]
    references: tuple[tuple[str, Text], ...]
    provenance: tuple[tuple[str, str], ...]
