"""Build the list of theorems of other papers from their files: verify them, and draw a picture for each theorem."""

from __future__ import annotations

import html
import io
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import lipverify
from lipverify.claims.ledger.record import Record
from lipverify.foundation.latex import pieces, plain
from lipverify.report.drawing import draw
from lipverify.report.typeset import typeset_alone
from lipverify.verification import Verification

FOLDER = Path(__file__).parents[2] / "examples" / "theorems"
PICTURES = "_images/theorems"
"""The folder of the pictures, beside the page."""
DERIVED = ("Measured over", "How the", "A limit is")
"""How the captions of figures begin that no claim declares."""
MARKS = {"supported": "✓", "refuted": "✗", "inconclusive": "?", "error": "!"}


class Theorems(SphinxDirective):
    """The counts, and a row for each theorem: its picture, what it says, what was measured, and the verdict."""

    def run(self) -> list[nodes.Node]:
        """The table. The pictures are written into the folder of the pages."""
        files = sorted(FOLDER.glob("*.py"))
        for file in files:
            self.env.note_dependency(str(file))
        ledger = lipverify.verify(*files, quiet=True)
        groups = [list(group) for _, group in groupby(sorted(ledger.claims, key=_theorem), key=_theorem)]
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in Counter(r.verdict for r in ledger.claims).most_common())
        told = f"{len(groups)} theorems of {len({r.source.paper for r in ledger.claims})} papers; claims: {verdicts}."
        body = nodes.tbody("", *(_row(self._picture(ledger, group), group) for group in groups))
        columns = (nodes.colspec(colwidth=width) for width in (1, 2))
        table = nodes.table("", nodes.tgroup("", *columns, body, cols=2), classes=["theorems"])
        return [nodes.paragraph("", told), table]

    def _picture(self, ledger: Verification, records: list[Record]) -> nodes.Node:
        """A figure that a claim of the theorem declares, or one that is derived, or else its cells."""
        figures = [figure for record in records for figure in record.figures]
        figures.sort(key=lambda figure: figure.caption.startswith(DERIVED))
        name = f"{_theorem(records[0])[1]}.svg"
        if figures:
            svg = typeset_alone(draw(figures[0], paper=True), "svg", name)
            alt = f"{figures[0].caption} {figures[0].alt}"
        else:
            page = io.BytesIO()
            ledger.plot(records[0].id).savefig(page, format="svg")
            svg, alt = page.getvalue(), "What was measured, over what is claimed."
        file = Path(self.env.app.outdir) / PICTURES / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(svg)
        image = f'<img src="{PICTURES}/{name}" alt="{html.escape(plain(alt))}" loading="lazy">'
        return nodes.raw("", image, format="html")


def _theorem(record: Record) -> tuple[str, str]:
    """The file and the theorem of a claim."""
    return Path(record.file).name, record.id.partition("/")[0]


def _row(picture: nodes.Node, records: list[Record]) -> nodes.row:
    file, theorem = _theorem(records[0])
    name = nodes.paragraph("", "", nodes.strong(text=records[0].source.paper), nodes.Text(f", {file}: {theorem}"))
    entries = nodes.bullet_list("", *(nodes.list_item("", nodes.paragraph("", "", *_says(r))) for r in records))
    return nodes.row("", nodes.entry("", nodes.paragraph("", "", picture)), nodes.entry("", name, entries))


def _says(record: Record) -> Iterator[nodes.Node]:
    """One sentence: the verdict, the statement, the number, where it holds, and what holds instead."""
    yield nodes.Text(f"{MARKS[record.verdict]} ")
    if record.title != plain(record.statement):
        yield from _text(f"{record.title}: ")
    yield nodes.math(record.statement, record.statement)
    yield nodes.Text(f"; measured {record.measured}; {record.grade}")
    if record.corrected:
        yield from _text(f"; instead: {record.corrected}")
    yield nodes.Text(".")


def _text(text: str) -> Iterator[nodes.Node]:
    """Words, and formulas between dollar signs."""
    for is_formula, piece in pieces(text):
        yield nodes.math(piece, piece) if is_formula else nodes.Text(piece)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("theorems", Theorems)
    return {"parallel_read_safe": True}
