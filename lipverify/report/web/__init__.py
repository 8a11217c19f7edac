"""The report as one web page: the model of the PDF, set in HTML."""

from __future__ import annotations

from lipverify.claims.ledger.record import Ledger

__all__ = ["web_page"]


def web_page(ledger: Ledger) -> bytes:
    """The report on a ledger as HTML, evidence included; the same ledger gives the same bytes."""
    from lipverify.report.build import build
    from lipverify.report.drawings import Drawings
    from lipverify.report.web.drawing import drawing
    from lipverify.report.web.markup import Markup
    from lipverify.report.web.page import page
    from lipverify.report.web.words import Formulas

    formulas = Formulas()
    drawings = Drawings(lambda figure: drawing(figure, formulas.label).encode())
    report = build(ledger, drawings.add, evidence=True)
    figures = {name: Markup(drawn.decode()) for name, drawn in drawings.files.items()}
    return page(report, figures, formulas).encode()
