"""A theorem as an element that opens in place: the second layer of the model, and inside it its evidence, the third."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from lipverify.foundation.quoting import counted
from lipverify.report.evidence import Agreement, Evidence, Judgement, Measurement
from lipverify.report.model import Drawing, Reading, Report, Row, Symbol, Telling, Theorem, Topic
from lipverify.report.notation import Defined
from lipverify.report.readings import Remark
from lipverify.report.web.markup import Child, Markup, element, join
from lipverify.report.web.words import SIGNS, Formulas, code, outcome, table, verdict


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The context of a part of the page."""

    formulas: Formulas
    figures: Mapping[str, Markup]
    """Drawings by file name."""
    ids: Mapping[str, str]
    """The address of each anchor on the page."""
    grades: Mapping[str, str]
    """The meaning of each grade."""
    shown: set[str]
    """The figures already on the page: further uses link to the first one."""


def part(title: str, content: Child) -> Markup | None:
    """Content below a heading of its own; empty if there is no content."""
    return join((element("h4", title), content)) if content else None


def symbols(known: Iterable[Symbol], words: Formulas) -> Markup | None:
    """Symbols and their meanings; empty if there are none."""
    entries = [(element("dt", words.rich(each.symbol)), element("dd", words.rich(each.meaning))) for each in known]
    return element("dl", entries, class_="symbols") if entries else None


def figure(it: Drawing, place: Place) -> Markup:
    """A figure with its caption, and a description for screen readers."""
    words = place.formulas
    if not it.file:
        return element(
            "p", element("strong", "This figure could not be drawn"), f" ({it.problem}): ", words.rich(it.caption)
        )
    first = it.anchor not in place.shown
    place.shown.add(it.anchor)
    return element(
        "figure",
        element("p", it.alt, class_="unseen"),
        place.figures[it.file],
        element("figcaption", words.rich(it.caption)),
        id=it.anchor if first else None,
    )


OWN = ("theorems", "filters", "found", "theme", "notation", "verdicts", "sources", "provenance", "tip")
"""Addresses reserved by the page."""


def addresses(report: Report, figures: Iterable[str]) -> dict[str, str]:
    """The address of each theorem and claim by its anchor: its own name, with characters that an address allows.

    The anchors of `figures` are their addresses. A claim with the name of its theorem shares its address. If two others
    would be equal, the later one is numbered.
    """
    found: dict[str, str] = {}
    taken = {*OWN, *figures, *(f"section-{k}" for k, _ in enumerate(report.sections, 1))}

    def take(key: str, name: str) -> None:
        address = quote(name, safe="/.-_~") or "claim"
        number = 2
        while address in taken:
            address, number = f"{quote(name, safe='/.-_~')}-{number}", number + 1
        taken.add(address)
        found[key] = address

    for it in (it for section in report.sections for it in section.theorems):
        take(it.anchor, it.stem)
        for k, each in enumerate(it.readings):
            if each.id == it.stem and k == 0:
                found[claim_anchor(it, k)] = found[it.anchor]
            else:
                take(claim_anchor(it, k), each.id)
    for topic in report.topics:
        take(topic.anchor, topic.anchor)
    return found


def claim_anchor(of: Theorem, number: int) -> str:
    """The anchor of a claim of a theorem."""
    return f"{of.anchor}-{number}"


def evidence(it: Topic, of: Theorem, place: Place) -> Markup | None:
    """All figures, numbers and cross-checks behind the verdicts, and the sources of readings that are not printed."""
    words = place.formulas
    seen = [("as under ", element("a", "another theorem", href=f"#{place.ids[a]}"), ". ") for a in it.agreed_before]
    drawn = join((element("a", name.replace("-", " "), href=f"#{name}") for name in it.drawn_before), ", ")
    content = [
        part("Printed, of other readings", words.remarks(_unsaid(it.sources, of.sources))),
        *(figure(drawing, place) for drawing in it.drawings),
        *(words.table(each) for each in it.tables),
        *(_numbers(each, words) for each in it.evidence),
        *(_agreement(agreement, words) for agreement in it.agreements),
        element("p", "Cross-checks ", seen) if seen else None,
        element("p", "Figures that stand elsewhere: ", drawn, ".") if drawn else None,
    ]
    if not any(content):
        return None
    count = sum(len(each.rows) for each in it.evidence)
    name = f"Evidence: {counted(count, 'measurement')}"
    return element("details", element("summary", name), content, class_="evidence", id=place.ids[it.anchor])


def _unsaid(remarks: Iterable[Remark], said: Iterable[Remark]) -> list[Remark]:
    """The texts that the theorem's page does not have."""
    known = {each.text for each in said}
    return [remark for remark in remarks if remark.text not in known]


def _numbers(it: Evidence, words: Formulas) -> Markup:
    """Measurements with the judgement of each reading; a claimed value common to all rows is printed once."""
    alone = len(it.readings) == 1
    header: list[Child] = [*map(words.rich, it.where), *it.shown, "measured"]
    for name, claimed in zip(it.readings, it.claimed, strict=True):
        header += [] if claimed else [("claimed" if alone else (code(name), " claims"))]
        header.append("margin" if alone else (code(name), element("br"), words.rich(claimed)))
    rows = [
        [
            *map(words.rich, row.where),
            *(_field(row, name, words) for name in it.shown),
            row.measured,
            *(
                cell
                for claimed, each in zip(it.claimed, row.judgements, strict=True)
                for cell in _judged(each, claimed, words)
            ),
        ]
        for row in it.rows
    ]
    common = (words.rich(it.common), ("; claimed ", words.rich(it.claimed[0])) if alone and it.claimed[0] else None)
    notes = [(element("sup", mark), " ", words.rich(text), "; ") for mark, text in it.notes]
    whole = table(join(common), header, rows)
    return join((whole, element("p", words.rich(it.noted), notes, class_="faint") if notes else None))


def _field(row: Measurement, name: str, words: Formulas) -> Markup:
    value = getattr(row, name)
    return join(value) if isinstance(value, str) else words.rich(value)


def _judged(it: Judgement, claimed: object, words: Formulas) -> list[Child]:
    """The judgement of one reading on a number: the claimed value, if it differs between rows, and the margin."""
    margin = element("span", f"{SIGNS[it.verdict]} {it.margin}", class_=f"verdict {it.verdict}", title=it.verdict)
    told = join((margin, None if it.caught else " ‡", element("sup", it.note) if it.note else None))
    return [told] if claimed else [words.rich(it.claimed), told]


def _agreement(it: Agreement, words: Formulas) -> Markup:
    rows = [
        [
            *map(words.rich, row.where),
            *row.values,
            "✓ agree" if row.agrees else element("strong", "✗ differ", class_="mark"),
        ]
        for row in it.rows
    ]
    return table(
        join(("Cross-check: ", words.rich(it.common))), [*map(words.rich, it.where), *it.methods, "agreement"], rows
    )


def theorem(it: Theorem, row: Row, topic: Topic | None, place: Place) -> Markup:
    """One theorem: a summary line with its standing, and below it the details."""
    words = place.formulas
    behind = None if topic is None else evidence(topic, it, place)
    before = (None, *it.readings)
    claims = [
        _reading(each, last, it, claim_anchor(it, k), place)
        for k, (each, last) in enumerate(zip(it.readings, before, strict=False))
    ]
    return element(
        "details",
        element("summary", _headline(it, row, words)),
        words.display(it.statement),
        part("Printed", words.remarks(it.sources)),
        part("Read as", [element("p", words.rich(text)) for text in it.assumptions]),
        part("What holds", element("p", words.rich(it.instead)) if it.instead else None),
        None if it.picture is None else figure(it.picture, place),
        part("Why", element("p", words.rich(it.reason)) if it.reason else None),
        part("Readings", claims),
        [words.table(each) for each in it.tables],
        part("Symbols", symbols(_symbols(it), words)),
        _checked(it, words),
        behind,
        class_="theorem", id=place.ids[it.anchor], data_paper=it.paper,
    )  # fmt: skip


def _symbols(it: Theorem) -> tuple[Symbol, ...]:
    """All symbols of a theorem. The model defines each once, but a reader who follows a link sees only one theorem."""
    return Defined().with_symbols(replace(it, symbols=()), it.stem, own=it.own).symbols


def _headline(it: Theorem, row: Row, words: Formulas) -> Markup:
    name = words.rich(it.title) if it.title else code(it.stem)
    tally = [
        element("span", outcome(each, count if count != "1" else ""), " ", words.rich(where))
        for (each, count), where in zip(it.standing.outcomes, it.standing.ranges, strict=False)
    ] or [element("span", words.rich(it.standing.ranges[0]))]
    rest = [verdict(each, count) for each, count in it.standing.others]
    return join((
        element("h3", name),
        element("span", tally, class_="tally"),
        element("span", code(it.stem), ", ", words.rich(row.place), class_="faint"),
        element("span", "other claims: ", join(rest, " "), class_="faint rest") if rest else None,
        [element("strong", mark, class_="mark") for mark in row.marks],
    ))  # fmt: skip


def _reading(it: Reading, last: Reading | None, of: Theorem, anchor: str, place: Place) -> Markup:
    """One claim with its own address; text that the reading before it already has is left out."""
    words, target = place.formulas, place.ids[anchor]
    grade = f"{it.grade} and proved" if it.proved else it.grade
    standing = [(it.kind, None), (grade, place.grades.get("proved" if it.proved else it.grade))]
    facts = [
        ("Read as", it.assumptions, last and last.assumptions),
        ("Broke off" if it.verdict == "error" else "Not decided", (it.problem,), None),
        ("What holds", (it.instead,), (of.instead,)),
        ("Why", (it.reason,), (of.reason,) if last is None else (last.reason,)),
        ("Control", (it.control,), last and (last.control,)),
        ("Limits", (it.limits,), last and (last.limits,)),
    ]
    return element(
        "article",
        element(
            "h5",
            verdict(it.verdict), " ", element("span", words.rich(it.range), class_="range") if it.range else None, " ",
            element("a", code(it.label), href=f"#{target}", class_="link", aria_label=f"Link to {it.id}"), " ",
            [element("span", name, title=meaning, class_="standing") for name, meaning in standing if name],
            [element("strong", mark, class_="mark") for mark in it.marks],
        ),
        words.display(it.statement) if last is None or it.statement != last.statement else None,
        [element("p", _telling(each, words)) for each in it.telling],
        [
            element("p", element("strong", f"{name}: "), join((words.rich(text) for text in texts), "; "))
            for name, texts, known in facts
            if any(texts) and texts != known
        ],
        id=None if target == place.ids[of.anchor] else target,
        class_="reading", data_kind=it.kind, data_grade=it.grade, data_verdict=it.verdict, data_outcome=it.outcome,
        data_paper=of.paper, data_id=it.id,
    )  # fmt: skip


def _telling(it: Telling, words: Formulas) -> Child:
    """A deciding number, with its point and its margin."""
    at = (" at ", words.rich(it.case)) if it.case else None
    allowed = ("; allowed ", words.rich(it.allowed)) if it.allowed else None
    return words.rich(it.quantity), at, ": ", element("b", it.measured), allowed, f"; margin {it.margin}"


def _checked(it: Theorem, words: Formulas) -> Markup:
    """The trust in the verdicts, and the command that repeats them."""
    lines: list[tuple[str, Child]] = [
        ("Controls", it.judged),
        ("Resolution", words.rich(it.resolution) if it.resolution else None),
        ("Cross-checks", it.cross_checks or None),
        ("Command", [(code(each), " ") for each in it.reproduce] + [(f"({it.seconds})",)]),
    ]
    return element("dl", [(element("dt", name), element("dd", said)) for name, said in lines if said is not None])
