"""Add the report on the committed ledger to the documents as a web page, `report.html`."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from lipverify.claims.ledger.record import read_ledger
from lipverify.report import write_web_page

LEDGER = Path(__file__).parents[2] / "reports" / "example" / "ledger.json"


def write(app: Sphinx, failed: Exception | None) -> None:
    """Write the page when the others are there."""
    if failed is None and app.builder.format == "html":
        write_web_page(read_ledger(LEDGER), Path(app.outdir) / "report.html")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the writer."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
