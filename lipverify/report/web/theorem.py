"""A theorem as an element that opens in place: the second layer of the model, and inside it the third."""

from __future__ import annotations

from msgspec.structs import replace

from lipverify.report.model import Reading, Row, Symbol, Telling, Theorem, Topic
from lipverify.report.notation import Defined
from lipverify.report.web.addresses import claim_anchor
from lipverify.report.web.evidence import evidence
from lipverify.report.web.markup import Child, Markup, element, join
from lipverify.report.web.parts import Place, figure, part, symbols
from lipverify.report.web.words import Formulas, code, outcome, verdict


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
