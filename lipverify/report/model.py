"""The report as data: every word and number that will be printed, in the order of the page.

The model is built from the ledger alone and holds only text, so that what is printed can be
compared with the ledger, and the template only places it.
"""

from __future__ import annotations

import msgspec

from lipverify.report.text import Text


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table on the first page."""

    id: str
    claimed: Text
    measured: Text
    verdict: str
    margin: str
    marks: tuple[str, ...]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One cell of a claim."""

    where: Text
    quantity: Text
    method: str
    measured: str
    claimed: Text
    verdict: str
    margin: str
    control: str
    note: Text


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison of two methods."""

    where: Text
    quantity: Text
    methods: tuple[str, str]
    values: tuple[str, str]
    agrees: bool


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """One figure; `file` is empty where it could not be drawn, and `problem` says why."""

    file: str
    width: float
    caption: Text
    alt: str
    problem: str = ""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """Where a claim comes from and under what it is said to hold."""

    citation: Text
    place: Text
    printed: Text
    assumptions: tuple[Text, ...]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One claim. `origin` is `None` where its section has already said it."""

    id: str
    title: Text
    verdict: str
    sentence: Text
    marks: tuple[str, ...]
    statement: Text
    origin: Statement | None
    figures: tuple[Drawing, ...]
    common: Text
    """What all rows of the evidence have in common, said once above the table."""
    shown: tuple[str, ...]
    """The columns of the evidence that differ from row to row."""
    evidence: tuple[Evidence, ...]
    checks: tuple[Check, ...]
    control: Text
    judged: str
    finding: Text
    problem: str
    reproduce: str
    seconds: str


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """Claims that share the first part of their ids."""

    stem: str
    origin: Statement | None
    entries: tuple[Entry, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report."""

    title: str
    author: str
    words: dict[str, str]
    """The word for each verdict."""
    counts: tuple[tuple[str, int], ...]
    summary: tuple[Text, ...]
    methods: tuple[tuple[str, Text], ...]
    rows: tuple[Row, ...]
    differs: tuple[tuple[str, Text], ...]
    sections: tuple[Section, ...]
    notation: tuple[tuple[Text, Text], ...]
    rules: tuple[Text, ...]
    provenance: tuple[tuple[str, str], ...]
