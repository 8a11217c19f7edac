"""The page: one file that loads nothing, and whose security policy allows only its own style and script."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib import resources

from lipverify.claims.ledger.record import Ledger
from lipverify.report import build
from lipverify.report.drawing import hatches
from lipverify.report.drawings import Drawings
from lipverify.report.looks import colour_rule
from lipverify.report.model import Report
from lipverify.report.web.markup import Child, Markup, element
from lipverify.report.web.statements import statements
from lipverify.report.web.theorem import Page, figure, symbols, theorem
from lipverify.report.web.words import Formulas, outcome

_FACETS = {"paper": "Paper", "kind": "Kind", "outcome": "Outcome", "verdict": "Verdict", "grade": "Grade"}
"""The properties by which claims can be filtered, and the titles of the fields."""


def web_page(ledger: Ledger) -> bytes:
    """The report on a ledger as HTML, evidence included; the same ledger gives the same bytes."""
    formulas = Formulas()
    report = build.build(ledger, Drawings(paper=False).add, evidence=True)
    context = Page(formulas=formulas, grades=report.grades, anchors=set())
    side = element("div", _filters(report), _contents(report, formulas), class_="side")
    main = _main(report, context)
    body = element(
        "body",
        element("a", "Skip to the theorems", href="#theorems", class_="skip"),
        element("svg", hatches(), width=0, height=0, aria_hidden="true", class_="hatches"),
        _header(report, formulas),
        element("div", side, main, class_="sheet"),
        element("footer", element("p", f"Written by {report.made_by} from a ledger; nothing is fetched to read it.")),
        element("div", id="tip", role="status", hidden=True),
    )  # fmt: skip
    return formulas.fill(_document(report, body)).encode()


def _document(report: Report, body: Markup) -> str:
    shades = sorted(set(re.findall(r"\bs-([0-9a-f]{6})\b", body)))
    style = _file("page.css") + "\n".join(map(colour_rule, shades))
    script = _file("page.js")
    allowed = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=allowed),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", report.title),
        element("style", Markup(style)),
    )
    return "<!DOCTYPE html>\n" + element(
        "html",
        head,
        Markup(body.removesuffix("</body>")),
        element("script", Markup(script)),
        Markup("</body>"),
        lang="en",
    )


def _file(name: str) -> str:
    return resources.files("lipverify.report.web").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The digest of an inline style or script, the only one that the browser accepts."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _header(report: Report, words: Formulas) -> Markup:
    themes = [
        element("option", name, value=value)
        for value, name in (("", "as the system"), ("light", "light"), ("dark", "dark"))
    ]
    return element(
        "header",
        element("h1", words.rich(report.heading)),
        element(
            "p",
            report.author or report.made_by,
            " ",
            element("label", "Colours ", element("select", themes, id="theme")),
            class_="faint",
        ),
    )


def _filters(report: Report) -> Markup:
    theorems = [it for section in report.sections for it in section.theorems]
    claims = [(it, reading) for it in theorems for reading in it.readings]
    values = {
        "paper": [it.paper for it, _ in claims],
        **{name: [getattr(reading, name) for _, reading in claims] for name in ("kind", "outcome", "verdict", "grade")},
    }
    fields = [
        element(
            "label",
            title,
            element("select", element("option", "all", value=""), _options(values[name], report), name=name),
        )
        for name, title in _FACETS.items()
    ]
    typed = element(
        "label", "Words", element("input", type="search", name="words", autocomplete="off", spellcheck="false")
    )
    open_all = element("button", "Open all", type="button", name="open")
    form = element(
        "form",
        typed,
        fields,
        element("p", f"{len(claims)} claims", id="found", role="status", aria_live="polite"),
        element("p", element("button", "Show all", type="reset"), " ", open_all),
        id="filters", role="search", aria_label="Find claims",
    )  # fmt: skip
    return _part("Find", form)


def _part(title: str, content: Markup) -> Markup:
    """A part that is always open, and a line that opens it in a narrow window."""
    return element("details", element("summary", element("h2", title)), content, open=True)


def _options(values: list[str], report: Report) -> list[Markup]:
    """The values with their numbers of claims, in the order of the model's own lists."""
    order = [*report.outcomes, *report.words, *report.grades]
    known = sorted(filter(None, dict.fromkeys(values)), key=lambda name: order.index(name) if name in order else -1)
    return [element("option", f"{report.words.get(name, name)} ({values.count(name)})", value=name) for name in known]


def _contents(report: Report, words: Formulas) -> Markup:
    links: list[tuple[Child, str]] = [("What was asked", "result")]
    links += [
        (words.rich(section.title), f"section-{k}") for k, section in enumerate(report.sections, 1) if section.title
    ]
    links += [
        ("Notation", "notation"),
        ("How verdicts are made", "verdicts"),
        ("Sources", "sources"),
        ("Provenance", "provenance"),
    ]
    entries = [element("li", element("a", name, href=f"#{target}")) for name, target in links]
    return element("nav", _part("Contents", element("ul", entries)), aria_label="Contents", class_="unfiltered")


def _main(report: Report, page: Page) -> Markup:
    words, front = page.formulas, report.front
    topics = {topic.theorem: topic for topic in report.topics}
    counts = [
        element("li", element("button", outcome(name), f" {count}", type="button", value=name))
        for name, count in front.counts
        if count
    ]
    return element(
        "main",
        element(
            "section",
            element("h2", "What was asked", id="result"),
            element("ul", counts, class_="counts", aria_label="Passages") if counts else None,
            [element("p", words.rich(text)) for text in front.summary],
            statements(report.sections, words) if report.sections else None,
            [figure(picture, page) for picture in front.pictures],
            class_="unfiltered",
        ),
        [
            element(
                "section",
                element("h2", words.rich(section.title) if section.title else "Claims", id=f"section-{k}"),
                [theorem(it, topics.get(it.anchor), page) for it in section.theorems],
                class_="theorems",
            )
            for k, section in enumerate(report.sections, 1)
        ],
        _back(report, words),
        id="theorems", tabindex="-1",
    )  # fmt: skip


def _back(report: Report, words: Formulas) -> list[Markup]:
    methods = [(element("dt", name), element("dd", words.rich(meaning))) for name, meaning in report.methods]
    grades = [
        (element("dt", name), element("dd", meaning)) for name, meaning in (report.outcomes | report.grades).items()
    ]
    sources = [element("p", element("em", name), ": ", words.rich(text)) for name, text in report.references]
    made = [(element("dt", name), element("dd", value)) for name, value in report.provenance]
    parts: list[tuple[str, str, Child]] = [
        ("notation", "Notation", symbols(report.notation, words)),
        ("verdicts", "How verdicts are made", ([element("p", words.rich(rule)) for rule in report.rules],
            element("p", words.rich(report.legend)), element("h3", "Outcomes and grades"), element("dl", grades),
            element("h3", "Methods"), element("dl", methods))),
        ("sources", "Sources", sources),
        ("provenance", "Provenance", element("dl", made)),
    ]  # fmt: skip
    return [
        element("section", element("h2", title, id=anchor), content, class_="unfiltered")
        for anchor, title, content in parts
    ]
