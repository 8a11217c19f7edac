"""The report: ledger → model → figures → PDF.

The report is made from the ledger alone, and the same ledger gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lipverify.claims.ledger import Ledger

__all__ = ["write_report"]


def write_report(ledger: Ledger, path: Path) -> None:
    """Write the PDF report on a ledger; the file appears whole or not at all.

    What cannot be typeset or drawn is shown as its source, with the reason, and costs the reader
    nothing else. Raises `OSError` where the file cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> from lipverify.claims.ledger import Ledger, Provenance
    >>> made = Provenance(versions={}, machine="", started="2025-01-01T00:00:00Z", seconds=0.0)
    >>> empty = Ledger(profile="quick", seed=0, backend="numpy", provenance=made, claims=())
    >>> with TemporaryDirectory() as folder:
    ...     write_report(empty, Path(folder, "report.pdf"))
    ...     Path(folder, "report.pdf").read_bytes()[:5]
    b'%PDF-'
    """
    from lipverify.claims.ledger import write_whole
    from lipverify.report.build import build
    from lipverify.report.drawings import Drawings
    from lipverify.report.typeset import typeset

    drawings = Drawings()
    report = build(ledger, drawings.add)
    write_whole(path, typeset(report, drawings.files))
