"""A theorem as an element that opens in place: the second layer of the model, and inside it its evidence, the third."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from lipverify.foundation.quoting import counted
from lipverify.report.evidence import Agreement, Evidence, Judgement, Measurement
from lipverify.report.model import FRONT, Drawing, Reading, Symbol, Theorem, Topic
from lipverify.report.notation import Defined
from lipverify.report.text import Text
from lipverify.report.web.markup import Child, Markup, element, join
from lipverify.report.web.statements import measured
from lipverify.report.web.words import Formulas, code, outcome, table, verdict
from lipverify.report.words import SIGNS

SAFE = "/.-_~"
"""Characters of an id that stand as they are in an address, by which the page finds the claim."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The page that is being written: what all its parts share."""

    formulas: Formulas
    grades: Mapping[str, str]
    """The meaning of each grade."""
    anchors: set[str]
    """The figures already on the page: further uses link to the first one."""


def part(title: str, content: Child) -> Markup | None:
    """Content below a heading of its own; empty if there is no content."""
    return join((element("h4", title), content)) if content else None


def closed(content: Child) -> Markup:
    """Content that a browser parses only when its part opens, or at once if it runs no scripts.

    With scripts, the inside of `noscript` is text.
    """
    return element("noscript", content)


def symbols(known: Iterable[Symbol], words: Formulas) -> Markup | None:
    """Symbols and their meanings; empty if there are none."""
    entries = [(element("dt", words.rich(entry.symbol)), element("dd", words.rich(entry.meaning))) for entry in known]
    return element("dl", entries, class_="symbols") if entries else None


def figure(drawing: Drawing, page: Page) -> Markup:
    """A figure with its caption, and a description for screen readers; a link if it is on the page already."""
    words = page.formulas
    if not drawing.anchor:
        return element(
            "p",
            element("strong", "This figure could not be drawn"),
            f" ({drawing.problem}): ",
            words.rich(drawing.caption),
        )
    if drawing.anchor in page.anchors:
        return element("p", "Figure, above: ", element("a", words.rich(drawing.caption), href=f"#{drawing.anchor}"))
    page.anchors.add(drawing.anchor)
    return element(
        "figure",
        element("p", drawing.alt, class_="unseen"),
        drawn(drawing, words.rich),
        element("figcaption", words.rich(drawing.caption)),
        id=drawing.anchor,
    )


def drawn(drawing: Drawing, label: Callable[[Text], Markup]) -> Markup:
    """The panels or maps of a drawing above their legend; `label` turns text with formulas into HTML."""
    panels = [
        element(
            "div",
            element("p", label(plot.title), class_="title") if plot.title else None,
            element("p", label(plot.ylabel), class_="y-label") if plot.ylabel else None,
            Markup(plot.svg),
            element("p", label(plot.xlabel), class_="x-label") if plot.xlabel else None,
            class_="panel",
        )
        for plot in drawing.plots
    ]
    items = [element("li", Markup(sample), element("span", label(text))) for sample, text in drawing.legend]
    low, colours, high = drawing.scale or ("", "", "")
    ends = element("span", low), Markup(colours), element("span", high)
    return join((
        element("div", panels, class_="panels maps" if colours else "panels"),
        element("ul", items, class_="legend") if items else None,
        element("p", ends, class_="scale") if colours else None,
    ))  # fmt: skip


def evidence(topic: Topic, page: Page) -> Markup | None:
    """All figures, numbers and cross-checks behind the verdicts."""
    words = page.formulas
    content = [
        *(figure(drawing, page) for drawing in topic.drawings),
        *(words.table(table) for table in topic.tables),
        *(_numbers(evidence, words) for evidence in topic.evidence),
        *(_agreement(agreement, words) for agreement in topic.agreements),
    ]
    if not any(content):
        return None
    count = sum(len(evidence.rows) for evidence in topic.evidence)
    name = f"Evidence: {counted(count, 'measurement')}"
    return element("details", element("summary", name), closed(content), class_="evidence", id=topic.anchor)


def _numbers(evidence: Evidence, words: Formulas) -> Markup:
    """Measurements with the judgement of each reading; a claimed value common to all rows is printed once."""
    alone = len(evidence.readings) == 1
    header: list[Child] = [*map(words.rich, evidence.where), *evidence.varying, "measured"]
    for claimed in evidence.claimed:
        header += [] if claimed else ["claimed"]
        header.append(("margin to ", words.rich(claimed)) if claimed and not alone else "margin")
    rows = [
        [
            *map(words.rich, row.where),
            *(_field(row, name, words) for name in evidence.varying),
            row.measured,
            *(
                cell
                for claimed, judgement in zip(evidence.claimed, row.judgements, strict=True)
                for cell in _judged(judgement, claimed, words)
            ),
        ]
        for row in evidence.rows
    ]
    claimed_alike = ("; claimed ", words.rich(evidence.claimed[0])) if alone and evidence.claimed[0] else None
    notes = [(element("sup", mark), " ", words.rich(text), "; ") for mark, text in evidence.notes]
    whole = table(join((words.rich(evidence.common), claimed_alike)), header, rows)
    return join((whole, element("p", notes, class_="faint") if notes else None))


def _field(row: Measurement, name: str, words: Formulas) -> Markup:
    value = getattr(row, name)
    return join(value) if isinstance(value, str) else words.rich(value)


def _judged(judgement: Judgement, claimed: object, words: Formulas) -> list[Child]:
    """The judgement of one reading on a number: the claimed value, if it differs between rows, and the margin."""
    name, note = judgement.verdict, element("sup", judgement.note) if judgement.note else None
    margin = "equal" if (name, judgement.margin) == ("supported", "0") else judgement.margin
    margin = element("span", f"{SIGNS[name]} {margin}", class_=f"verdict {name}", title=name)
    text = join((margin, None if judgement.caught else " ‡", note))
    return [text] if claimed else [words.rich(judgement.claimed), text]


def _agreement(agreement: Agreement, words: Formulas) -> Markup:
    rows = [
        [
            *map(words.rich, row.where),
            *row.values,
            "✓ agree" if row.agrees else element("strong", "✗ differ", class_="mark"),
        ]
        for row in agreement.rows
    ]
    return table(
        join(("Cross-check: ", words.rich(agreement.common))),
        [*map(words.rich, agreement.where), *agreement.methods, "agreement"],
        rows,
    )


def theorem(content: Theorem, topic: Topic | None, page: Page) -> Markup:
    """One theorem: a summary line with its standing, and below it the details."""
    words = page.formulas
    details = None if topic is None else evidence(topic, page)
    before = (None, *content.readings)
    read_as = join(map(words.rich, content.assumptions), "; ")
    claims = [
        _claim(reading, last, content, f"{content.anchor}-{k}", page)
        for k, (reading, last) in enumerate(zip(content.readings, before, strict=False))
    ]
    return element(
        "details",
        element("summary", _headline(content, words)),
        closed((
            part("Printed", [element("blockquote", words.rich(text)) for text in content.quoted if text]),
            part("Read as", element("p", read_as) if read_as else None),
            part("What holds", element("p", words.rich(content.instead)) if content.instead else None),
            part("Why", element("p", words.rich(content.reason)) if content.reason else None),
            _picture(content, page),
            part("Claims", claims),
            [words.table(table) for table in content.tables],
            part("Symbols", symbols(_symbols(content), words)),
            _checked(content, words),
        )),
        details,
        class_="theorem", id=content.anchor, data_paper=content.paper,
    )  # fmt: skip


def _picture(content: Theorem, page: Page) -> Markup | None:
    """The figure of a theorem, or where it stands."""
    if content.pictured:
        where = "result" if content.pictured == FRONT else content.pictured
        return element("p", "Figure: ", element("a", "as above", href=f"#{where}"), ".")
    return None if content.picture is None else figure(content.picture, page)


def _symbols(theorem: Theorem) -> tuple[Symbol, ...]:
    """All symbols of a theorem. The model defines each once, but a reader who follows a link sees only one theorem."""
    return Defined().with_symbols(replace(theorem, symbols=()), theorem.stem, own=theorem.own).symbols


def _headline(content: Theorem, words: Formulas) -> Markup:
    tally = [
        element("span", outcome(name, count if count != "1" else ""), " ", words.rich(where))
        for (name, count), where in zip(content.standing.outcomes, content.standing.ranges, strict=False)
    ] or [element("span", words.rich(content.standing.ranges[0]))]
    rest = [verdict(name, count) for name, count in content.standing.others]
    return join((
        element("h3", words.rich(content.title)),
        element("span", tally, class_="tally"),
        element("span", content.paper, class_="faint"),
        element("span", "other claims: ", join(rest, " "), class_="faint rest") if rest else None,
        [element("strong", mark, class_="mark") for mark in content.marks],
    ))  # fmt: skip


def _claim(reading: Reading, last: Reading | None, theorem: Theorem, anchor: str, page: Page) -> Markup:
    """One claim with its own address; text that the claim before it already has is left out."""
    words = page.formulas
    standing = [(reading.kind, None), (reading.grade, page.grades.get(reading.grade))]
    title = words.rich(reading.title), (" (", words.rich(reading.apart), ")") if reading.apart else None
    return element(
        "article",
        element(
            "h5",
            verdict(reading.verdict), " ", element("span", words.rich(reading.range), class_="range"), " ",
            [element("span", name, title=meaning, class_="standing") for name, meaning in standing if name],
            [element("strong", mark, class_="mark") for mark in reading.marks],
            element("a", "#", href=f"#{quote(reading.id, safe=SAFE)}", class_="link", aria_label="Link to this claim"),
        ),
        element("p", title) if reading.title or reading.apart else None,
        words.display(reading.statement) if last is None or reading.statement != last.statement else None,
        [
            element("p", measured(case, words), ("; claimed ", words.rich(case.allowed)) if case.allowed else None)
            for case in reading.telling
        ],
        _grade(reading, last, words),
        _facts(reading, last, theorem, words),
        id=anchor,
        class_="reading", data_kind=reading.kind, data_grade=reading.grade, data_verdict=reading.verdict,
        data_outcome=reading.outcome, data_paper=theorem.paper, data_id=reading.id,
    )  # fmt: skip


def _grade(reading: Reading, last: Reading | None, words: Formulas) -> list[Markup]:
    """The first theorem behind a claim, unless the last claim has it; folded, the reasons and the other theorems."""
    theorems = [element("p", element("strong", "Theorem: "), words.rich(sentence)) for sentence in reading.theorems]
    shown = [] if last is not None and last.theorems == reading.theorems else theorems[:1]
    reasons = [element("p", words.rich(text)) for text in reading.reasons]
    rest = theorems[len(shown) :]
    return [*shown, *([element("details", element("summary", "Why this grade"), reasons, rest)] if reasons else [])]


def _facts(reading: Reading, last: Reading | None, theorem: Theorem, words: Formulas) -> list[Markup]:
    """What else is said of a claim, and is not said of the reading before it."""
    facts = [
        ("Read as", reading.assumptions, last and last.assumptions),
        ("Broke off" if reading.verdict == "error" else "Inconclusive", (reading.problem,), None),
        ("What holds", (reading.instead,), (theorem.instead,)),
        ("Why", (reading.reason,), (theorem.reason,) if last is None else (last.reason,)),
        ("Control", (reading.control,), last and (last.control,)),
        ("Limits", (reading.limits,), last and (last.limits,)),
    ]
    return [
        element("p", element("strong", f"{name}: "), join((words.rich(text) for text in texts), "; "))
        for name, texts, known in facts
        if any(texts) and texts != known
    ]


def _checked(theorem: Theorem, words: Formulas) -> Markup:
    lines: list[tuple[str, Child]] = [
        ("Controls", theorem.judged),
        ("Resolution", words.rich(theorem.resolution) if theorem.resolution else None),
        ("Cross-checks", theorem.cross_checks or None),
        ("Command", [(code(command), " ") for command in theorem.reproduce] + [(f"({theorem.seconds})",)]),
    ]
    return element("dl", [(element("dt", name), element("dd", text)) for name, text in lines if text is not None])
