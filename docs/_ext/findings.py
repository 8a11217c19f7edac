"""Build the page of findings from the claims, together with the other documents, so that it agrees with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from lipverify.claims.evidence.grade import OWN
from lipverify.claims.ledger.outcomes import counts
from lipverify.claims.ledger.reach import condition_of
from lipverify.claims.plan.claim import Claim, recorded
from lipverify.claims.plan.registry import all_claims
from lipverify.foundation.latex import pieces
from lipverify.report.sources import quotation

PARTS = {
    "Passages that are false as printed, by the claims that refute them": ("printed",),
    "Readings that a source leaves open": ("convention", "derived", "sharp"),
    "Stronger statements, which nobody printed": ("stronger",),
}
"""The parts of the page, and the kinds of claims in each: only the first counts against a paper."""


def findings() -> list[tuple[str, list[Claim]]]:
    """The claims recorded as refuted, by kind (printed, convention, ...), in the order of the report."""
    refuted = [claim for claim in all_claims() if claim.expected == "refuted"]
    return [(title, [claim for claim in refuted if claim.kind in kinds]) for title, kinds in PARTS.items()]


class Findings(SphinxDirective):
    """The counts, then a section for each part, and an entry for each refuted claim."""

    def run(self) -> list[nodes.Node]:
        """The sections."""
        first = nodes.paragraph("", f"{counts(recorded(all_claims()))}.")
        return [first, *(_section(title, claims) for title, claims in findings() if claims)]


class Printed(SphinxDirective):
    """The quotation of the source of a claim, as a block quote."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A block quote."""
        claim = named(self.arguments)[0]
        return [nodes.block_quote("", nodes.paragraph("", "", *_text(quotation(claim.source))))]


class Behind(SphinxDirective):
    """The claims behind a finding, one id a line: recorded verdict, kind, grade, statement, and the command."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A rubric and a field list for each."""
        found: list[nodes.Node] = []
        for claim in named(self.content):
            found.append(nodes.rubric("", "", *_text(claim.title)))
            entries = nodes.field_list()
            methods = ", ".join(dict.fromkeys(cell.method or OWN for cell in claim.cells))
            told = f"{claim.expected}; {claim.kind}; {methods}"
            judged = ("Recorded verdict, kind, methods", [nodes.paragraph("", told)])
            rest = (entry for entry in _entries(claim) if entry[0] != "Source")  # quoted on the page
            for name, body in (judged, *rest):
                entries += nodes.field("", nodes.field_name(text=name), nodes.field_body("", *body))
            found.append(entries)
        return found


def named(ids: Iterable[str]) -> list[Claim]:
    """The claims of these ids."""
    known = {claim.id: claim for claim in all_claims()}
    return [known[line.strip()] for line in ids if line.strip()]


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
    """The fields of the entry of one claim, as pairs (name, content)."""
    yield "Statement", [nodes.math_block(claim.statement, claim.statement, nowrap=True, number=None)]
    yield "Source", [nodes.paragraph("", "", *_text(quotation(claim.source)))]
    if claim.corrected:
        yield "What holds", [nodes.paragraph("", "", *_text(claim.corrected))]
    if limits := condition_of(claim.spots()):
        yield "Limits", [nodes.paragraph("", limits)]
    command = f"lipverify verify {claim.id}"
    yield "Repeat", [nodes.paragraph("", "", nodes.literal(command, command))]


def _text(text: str) -> Iterator[nodes.Node]:
    """Words, and formulas between dollar signs."""
    for is_formula, piece in pieces(text):
        yield nodes.math(piece, piece) if is_formula else nodes.Text(piece)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("findings", Findings)
    app.add_directive("printed", Printed)
    app.add_directive("behind", Behind)
    return {"parallel_read_safe": True}
