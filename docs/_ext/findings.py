"""The page of findings, made from the claims when the documents are built: it cannot say what the claims do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from lipverify.claims.claim import Claim
from lipverify.claims.registry import all_claims
from lipverify.report.sources import quotation

FORMULA = re.compile(r"(?<!\\)\$(.+?)(?<!\\)\$", re.DOTALL)
OTHERS = "Other claims"


def findings() -> list[tuple[str, list[Claim]]]:
    """The claims that are recorded as refuted, by section, in the order of the report."""
    refuted = [claim for claim in all_claims() if claim.expected == "refuted"]
    sections = groupby(refuted, lambda claim: claim.heading.section if claim.heading else OTHERS)
    return [(section, list(claims)) for section, claims in sections]


class Findings(SphinxDirective):
    """A section for each section of the report that has a refuted claim, and an entry for each such claim."""

    def run(self) -> list[nodes.Node]:
        """The sections."""
        return [_section(title, claims) for title, claims in findings()]


def _section(title: str, claims: list[Claim]) -> nodes.section:
    section = nodes.section(ids=[nodes.make_id(title)], names=[nodes.fully_normalize_name(title)])
    section += nodes.title(text=title)
    for claim in claims:
        section += nodes.rubric("", "", *_text(claim.title), ids=[nodes.make_id(claim.id)])
        entries = nodes.field_list()
        for name, body in _entries(claim):
            entries += nodes.field("", nodes.field_name(text=name), nodes.field_body("", *body))
        section += entries
    return section


def _entries(claim: Claim) -> Iterator[tuple[str, list[nodes.Node]]]:
    """What is said of one claim, as (name, content)."""
    yield "Statement", [nodes.math_block(claim.statement, claim.statement, nowrap=True, number=None)]
    yield "Printed", [nodes.paragraph("", "", *_text(quotation(claim.source)))]
    if isinstance(claim.corrected, str) and claim.corrected:
        yield "What holds", [nodes.paragraph("", "", *_text(claim.corrected))]
    elif claim.corrected:
        yield "What holds", [nodes.paragraph("", "it is worked out from what is measured: run the command.")]
    command = f"lipverify verify {claim.id}"
    yield "Repeat", [nodes.paragraph("", "", nodes.literal(command, command))]


def _text(text: str) -> Iterator[nodes.Node]:
    """Words, and formulas between dollar signs."""
    for place, piece in enumerate(FORMULA.split(text)):
        if piece:
            yield nodes.math(piece, piece) if place % 2 else nodes.Text(piece.replace(r"\$", "$"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("findings", Findings)
    return {"parallel_read_safe": True}
