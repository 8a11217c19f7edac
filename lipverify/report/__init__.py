"""The report: ledger → model → figures → PDF, or web page; the same ledger gives the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lipverify.foundation.lazy import directory

if TYPE_CHECKING:
    from lipverify.claims.ledger.record import Ledger

__all__ = ["write_report", "write_web_page"]
__dir__ = directory(__name__)


def write_report(ledger: Ledger, path: Path, *, evidence: bool = False) -> None:
    """Write the PDF report on a ledger, with every cell if `evidence`, whole or not at all; an `OSError` if it cannot
    be written, `InvalidInput` if a text is too long.
    """
    from lipverify.foundation.files import write_whole
    from lipverify.report.build import build
    from lipverify.report.drawings import Drawings
    from lipverify.report.typeset import typeset
    from lipverify.report.visible import require_printable

    require_printable(ledger)
    write_whole(path, typeset(build(ledger, Drawings().add, evidence=evidence)))


def write_web_page(ledger: Ledger, path: Path) -> None:
    """Write the report as one HTML file, evidence included, which loads nothing; raises as `write_report`."""
    from lipverify.foundation.files import write_whole
    from lipverify.report.visible import require_printable
    from lipverify.report.web.page import web_page

    require_printable(ledger)
    write_whole(path, web_page(ledger))
