"""The report as data: every word and number that will be printed, in the order of the page.

The model is built from the ledger alone and holds only text, so that what is printed can be
compared with the ledger, and the template only places it.
"""

from __future__ import annotations

import msgspec

from lipverify.report.agreement import Agreement
from lipverify.report.evidence import Evidence
from lipverify.report.readings import Remark
from lipverify.report.text import Text


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table on the first page: all readings of one statement."""

    anchor: str
    stem: str
    title: Text
    claims: str
    """How many readings there are."""
    verdicts: tuple[tuple[str, str], ...]
    """(verdict, how many readings have it), worst first."""
    note: Text
    """The smallest case of a refuted statement, else what was measured or what its readings claim."""
    marks: tuple[str, ...]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of the first table under one heading."""

    title: Text
    rows: tuple[Row, ...]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a finding, at the smallest case where it shows."""

    reading: str
    claimed: Text
    verdict: str
    where: Text
    measured: str
    margin: str
    methods: Text


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table that a claim brings with it."""

    caption: Text
    header: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What differs from what is printed, for all readings of one statement."""

    anchor: str
    topic: str
    """The anchor of the claims that it is found by."""
    stem: str
    title: Text
    refuted: bool
    """Whether what is printed fails; else it holds and something sharper does too."""
    sources: tuple[Remark, ...]
    corrected: tuple[Remark, ...]
    cases: tuple[Case, ...]
    why: tuple[Remark, ...]
    tables: tuple[Table, ...]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One claim of the ledger and its verdict."""

    id: str
    label: str
    """What sets it apart from the other readings."""
    title: Text
    statement: Text
    verdict: str
    where: Text
    """Where it is refuted."""
    measured: Text
    margin: str
    marks: tuple[str, ...]
    problem: str


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """One figure; `file` is empty where it could not be drawn, and `problem` says why."""

    file: str
    width: float
    caption: Text
    alt: str
    problem: str = ""

    @property
    def anchor(self) -> str:
        """How the page refers to the figure."""
        return self.file.removesuffix(".svg")


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """All readings of one statement, with everything they share said once."""

    anchor: str
    stem: str
    title: Text
    finding: str
    """The anchor of its finding, empty where there is none."""
    sources: tuple[Remark, ...]
    assumptions: tuple[Remark, ...]
    readings: tuple[Reading, ...]
    remarks: tuple[Remark, ...]
    drawings: tuple[Drawing, ...]
    drawn_before: tuple[str, ...]
    """Anchors of figures that an earlier topic shows."""
    evidence: tuple[Evidence, ...]
    agreements: tuple[Agreement, ...]
    agreed_before: tuple[str, ...]
    """Anchors of earlier topics that show cross-checks of this one."""
    tables: tuple[Table, ...]
    controls: tuple[Remark, ...]
    judged: str
    reproduce: tuple[str, ...]
    seconds: str
    """What the most expensive reading took."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """Topics under one heading; the title is empty where the ledger names none."""

    title: Text
    topics: tuple[Topic, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report."""

    title: str
    author: str
    words: dict[str, str]
    """The word for each verdict."""
    counts: tuple[tuple[str, int], ...]
    summary: tuple[Text, ...]
    parts: tuple[Part, ...]
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    legend: Text
    notation: tuple[tuple[Text, Text], ...]
    methods: tuple[tuple[str, Text], ...]
    rules: tuple[Text, ...]
    references: tuple[tuple[str, Text], ...]
    provenance: tuple[tuple[str, str], ...]
