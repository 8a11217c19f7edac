"""Build the report's model from the ledger: select, order and round; compute nothing."""

from __future__ import annotations

from msgspec.structs import replace

from lipverify.claims.evidence.grade import GRADES
from lipverify.claims.ledger.outcomes import OUTCOMES, measured, passages
from lipverify.claims.ledger.record import KINDS, Ledger, Passage
from lipverify.foundation.latex import plain
from lipverify.foundation.provenance import PASSING
from lipverify.loss.methods import TABLE
from lipverify.report import digits, readings, sources, words
from lipverify.report.drawings import joined
from lipverify.report.evidence import agreements, evidence
from lipverify.report.front import Contents, Draw, contents_of, front
from lipverify.report.model import FRONT, Front, Report, Section, Theorem, Topic
from lipverify.report.notation import Defined
from lipverify.report.statements import Entry
from lipverify.report.text import Text, printable, rich
from lipverify.report.theorem import tables_of, telling_figure, theorem


def topic(entry: Entry, draw: Draw) -> Topic:
    """The evidence for the claims about one place."""
    records = entry.claims
    telling = telling_figure(records)
    every = joined(figure for record in records for figure in record.figures)
    checks = {repr(check): check for record in records for check in record.cross_checks}
    return Topic(
        anchor=_beside(entry.anchor),
        theorem=entry.anchor,
        tables=tables_of(records, "evidence"),
        drawings=tuple(dict.fromkeys(draw(figure) for figure in every if figure != telling)),
        evidence=evidence(records),
        agreements=agreements(checks.values()),
    )


TITLE = "Numerical verification of claims about in-context learning"


def build(ledger: Ledger, draw: Draw, *, evidence: bool = False) -> Report:
    """The report on a ledger; `draw` places a figure and returns its reference; `evidence` adds its layer."""
    contents = contents_of(ledger)
    first = front(ledger, contents, draw)
    sections = _sections(contents, passages(measured(ledger.claims)), first, draw, evidence)
    theorems = [theorem for section in sections for theorem in section.theorems]
    table = [(theorem.title, theorem.readings[: theorem.decided]) for theorem in theorems]
    defined = Defined()
    stem = readings.stem(ledger.claims[0]) if ledger.claims else ""
    first = defined.with_symbols(first, stem, own=readings.own(ledger.claims), beside=table)
    sections = tuple(
        replace(section, theorems=tuple(defined.with_symbols(it, it.stem, own=it.own) for it in section.theorems))
        for section in sections
    )
    return Report(
        title=plain(printable(ledger.title)) or TITLE,
        heading=rich(ledger.title or TITLE),
        author=printable(ledger.author),
        made_by=_made_by(ledger),
        words=words.VERDICTS,
        outcomes={str(name): meaning for name, meaning in OUTCOMES.items()},
        grades={str(name): meaning for name, meaning in GRADES.items()},
        kinds={str(name): meaning for name, meaning in KINDS.items()},
        front=first,
        sections=sections,
        legend=rich(words.LEGEND),
        topics=tuple(topic(entry, draw) for _, held in contents for entry in held) if evidence else (),
        notation=defined.symbols,
        methods=_methods(ledger),
        rules=tuple(rich(rule) for rule in words.HOW_VERDICTS_ARE_MADE),
        references=_references(ledger),
        provenance=_provenance(ledger),
    )


def _made_by(ledger: Ledger) -> str:
    """The version in one line of the footer; the provenance has all of it."""
    line = " ".join(printable(f"lipverify {ledger.provenance.versions.get('lipverify', '')}").split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def _beside(anchor: str) -> str:
    return anchor.replace("theorem", "evidence")


def _sections(
    contents: Contents, judged: tuple[Passage, ...], first: Front, draw: Draw, evidence: bool
) -> tuple[Section, ...]:
    """The theorems in the order of the contents, without their symbols."""
    drawn = {picture.anchor: FRONT for picture in first.pictures}

    def page(entry: Entry) -> Theorem:
        topic = _beside(entry.anchor) if evidence else ""
        return theorem(entry, judged, draw, symbols=first.defines, drawn=drawn, topic=topic)

    return tuple(Section(title=rich(title), theorems=tuple(map(page, held))) for title, held in contents)


def _methods(ledger: Ledger) -> tuple[tuple[str, Text], ...]:
    """The methods behind the evidence, in the order of the table of methods."""
    cells = {cell.method for record in ledger.claims for cell in record.cells}
    checks = {m for r in ledger.claims for check in r.cross_checks for m in check.methods}
    used = cells | (checks & {*TABLE})  # other names of a cross-check are functions and quantities of the claim
    known = [name for name in TABLE if name in used]
    return tuple(
        (printable(name), rich(TABLE[name].words if name in TABLE else "as the claim describes"))
        for name in [*known, *sorted(used - set(known))]
    )


def _references(ledger: Ledger) -> tuple[tuple[str, Text], ...]:
    """The works that claims quote, in order of first quotation; each paper's title appears once."""
    papers = dict.fromkeys(record.source.paper for record in ledger.claims if record.source.paper.strip())
    cited, references = set[str](), []
    for paper in papers:
        title, _, part = sources.citation(paper).partition("; ")
        told = f"the same paper; {part}" if part and title in cited else sources.citation(paper)
        references.append((printable(sources.short(paper)), rich(told)))
        cited.add(title)
    return tuple(references)


def _provenance(ledger: Ledger) -> tuple[tuple[str, str], ...]:
    """What made the numbers; the ledger alone has its format, the vector instructions and the other libraries."""
    provenance, apart = ledger.provenance, ("CPU", *PASSING)
    made_by = [(name, version) for name, version in sorted(provenance.versions.items()) if name not in apart]
    lines = [
        ("started", provenance.started),
        ("took", digits.seconds(provenance.seconds)),
        ("machine", provenance.machine),
        ("profile", ledger.profile),
        ("backend", ledger.backend),
        ("seed", str(ledger.seed)),
        *made_by,
    ]
    return tuple((printable(name), printable(value)) for name, value in lines)
