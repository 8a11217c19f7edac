"""From the ledger to the model: nothing is computed here, only chosen, ordered and rounded."""

from __future__ import annotations

from lipverify.claims.ledger import Ledger
from lipverify.report import digits, overview, readings, sources, words
from lipverify.report.finding import finding
from lipverify.report.model import Finding, Report, Section
from lipverify.report.text import Text, printable, rich
from lipverify.report.topic import Draw, Printed, topic

TITLE = "Numerical verification of claims about in-context learning"


def build(ledger: Ledger, draw: Draw) -> Report:
    """The report on a ledger; `draw` places a figure and returns how the page refers to it."""
    contents = overview.groups(ledger)
    statements = [group for _, groups in contents for group in groups]
    anchors = {readings.stem(group[0]): f"topic-{k}" for k, group in enumerate(statements, 1)}
    findings = _findings(statements, anchors)
    return Report(
        title=TITLE,
        words=words.VERDICTS,
        author=printable(f"lipverify {ledger.provenance.versions.get('lipverify', '')}").strip(),
        counts=overview.counts(ledger.claims),
        summary=overview.summary(ledger),
        parts=tuple(overview.part(title, groups, anchors) for title, groups in contents),
        findings=findings,
        sections=_sections(contents, {each.topic: each.anchor for each in findings}, anchors, draw),
        legend=rich(words.LEGEND),
        notation=tuple((rich(symbol), rich(meaning)) for symbol, meaning in words.NOTATION),
        methods=_methods(ledger),
        rules=tuple(rich(rule) for rule in words.HOW_VERDICTS_ARE_MADE),
        references=_references(ledger),
        provenance=_provenance(ledger),
    )


def _findings(statements: list[overview.Group], anchors: dict[str, str]) -> tuple[Finding, ...]:
    """A finding for each statement that has a reading which differs from what is printed."""
    differing = [group for group in statements if any(map(readings.differs, group))]
    return tuple(
        finding(group, anchor=f"finding-{k}", topic=anchors[readings.stem(group[0])])
        for k, group in enumerate(differing, 1)
    )


def _sections(
    contents: tuple[tuple[str, tuple[overview.Group, ...]], ...],
    found: dict[str, str],
    anchors: dict[str, str],
    draw: Draw,
) -> tuple[Section, ...]:
    """The claims in the order of the contents; `found` leads from a topic to its finding."""
    printed = Printed()
    return tuple(
        Section(
            title=rich(title),
            topics=tuple(
                topic(group, draw, anchor=anchor, finding=found.get(anchor, ""), printed=printed)
                for group in groups
                for anchor in [anchors[readings.stem(group[0])]]
            ),
        )
        for title, groups in contents
    )


def _methods(ledger: Ledger) -> tuple[tuple[str, Text], ...]:
    """The methods that the evidence rests on, in the order of the table of methods."""
    cells = {cell.method for record in ledger.claims for cell in record.cells}
    checks = {m for r in ledger.claims for check in r.cross_checks for m in check.methods}
    used = cells | checks
    known = [name for name in words.METHODS if name in used]
    return tuple(
        (printable(name), rich(words.METHODS.get(name, "as the claim describes")))
        for name in [*known, *sorted(used - set(known))]
    )


def _references(ledger: Ledger) -> tuple[tuple[str, Text], ...]:
    """What the claims are quoted from, in the order in which it is first quoted."""
    papers = dict.fromkeys(record.source.paper for record in ledger.claims)
    return tuple((printable(sources.short(paper)), rich(sources.citation(paper))) for paper in papers if paper.strip())


def _provenance(ledger: Ledger) -> tuple[tuple[str, str], ...]:
    provenance = ledger.provenance
    lines = [
        ("started", provenance.started),
        ("took", digits.seconds(provenance.seconds)),
        ("machine", provenance.machine),
        ("profile", ledger.profile),
        ("backend", ledger.backend),
        ("seed", str(ledger.seed)),
        *sorted(provenance.versions.items()),
        ("ledger format", ledger.format),
    ]
    return tuple((printable(name), printable(value)) for name, value in lines)
