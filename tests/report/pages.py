"""Reports of synthetic ledgers, and readers of the PDF's text or of the model without drawings."""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from lipverify.claims.ledger import Figure, Ledger, Panel, Record, Series
from lipverify.report import write_report
from lipverify.report.build import build  # internal: content without a PDF
from lipverify.report.model import Drawing, Report, Theorem, Topic  # internal: records of that content
from lipverify.report.text import Text  # internal: the runs of a text in that model
from tests.ledgers import ledger

pymupdf: Any = import_module("pymupdf")  # it has no types


def pdf(book: Ledger, folder: Path, name: str = "report.pdf", *, evidence: bool = True) -> bytes:
    write_report(book, folder / name, evidence=evidence)
    return (folder / name).read_bytes()


def pages(content: bytes) -> list[Any]:
    return list(pymupdf.open(stream=content, filetype="pdf"))


def squeezed(text: str) -> str:
    """The text without spaces, with upright letters in place of italic ones."""
    return "".join(unicodedata.normalize("NFKC", text).split())


@cache
def words_on(content: bytes) -> tuple[list[Any], ...]:
    """The words of each page with their boxes: to read them takes longer than to typeset some pages."""
    return tuple(page.get_text("words") for page in pages(content))


@cache
def text_of(content: bytes) -> str:
    return squeezed("".join(word for page in words_on(content) for *_, word, _, _, _ in page))


def rows_of(content: bytes) -> list[str]:
    """The words of each page that share a baseline, from left to right."""
    rows: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for number, page in enumerate(words_on(content)):
        for x, _, _, bottom, word, *_ in page:
            rows.setdefault((number, round(bottom / 3)), []).append((x, word))
            rows.setdefault((number, round(bottom / 3) + 1), []).append((x, word))
    return ["".join(word for _, word in sorted(row)) for row in rows.values()]


def on_page(number: str) -> str:
    """A number of the report as it appears in the page's text, with its power of ten typeset."""
    return squeezed(number).replace("e", "×10")


def words_of(text: Text) -> str:
    return "".join(run.text for run in text)


def model(book: Ledger, *, evidence: bool = True) -> Report:
    blank = Drawing(alt="a")
    return build(book, lambda _: blank, evidence=evidence)


def theorems(report: Report) -> list[Theorem]:
    return [theorem for section in report.sections for theorem in section.theorems]


def model_of(*claims: Record) -> Report:
    return model(ledger(claims))


def theorem_of(*claims: Record) -> Theorem:
    (theorem,) = theorems(model_of(*claims))
    return theorem


def topic_of(*claims: Record) -> Topic:
    (topic,) = model_of(*claims).topics
    return topic


def figure_of(*series: Series, **panel: Any) -> Figure:
    """One panel with the given series, by default a line of two points."""
    drawn = series or (Series(label="s", x=(1.0, 2.0), y=(1.0, 2.0)),)
    named = {"title": "t", "xlabel": "x", "ylabel": "y", **panel}
    return Figure(caption="c", alt="a", panels=(Panel(series=drawn, **named),))
