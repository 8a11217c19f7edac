"""What stands beside the theorems: fields that leave only some claims in sight, and the contents."""

from __future__ import annotations

from lipverify.report.model import Report
from lipverify.report.web.markup import Child, Markup, element
from lipverify.report.web.words import Formulas

_FACETS = {"paper": "Paper", "kind": "Kind", "outcome": "Outcome", "verdict": "Verdict", "grade": "Grade"}
"""What a claim can be chosen by, and the titles of the fields."""


def filters(report: Report) -> Markup:
    """Fields that leave only some claims in sight."""
    theorems = [it for section in report.sections for it in section.theorems]
    claims = [(it, each) for it in theorems for each in it.readings]
    values = {
        "paper": [it.paper for it, _ in claims],
        **{name: [getattr(each, name) for _, each in claims] for name in ("kind", "outcome", "verdict", "grade")},
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
    """What is open beside the theorems, and a line to open above them where the window is narrow."""
    return element("details", element("summary", element("h2", title)), content, open=True)


def _options(values: list[str], report: Report) -> list[Markup]:
    """Each value with how many claims have it, the order of the model's own lists first."""
    order = [*report.outcomes, *report.words, *report.grades]
    known = sorted(filter(None, dict.fromkeys(values)), key=lambda name: order.index(name) if name in order else -1)
    return [element("option", f"{report.words.get(name, name)} ({values.count(name)})", value=name) for name in known]


def contents(report: Report, words: Formulas) -> Markup:
    """Links to the parts of the page."""
    links: list[tuple[Child, str]] = [("What was asked", "theorems")]
    links += [
        (words.rich(section.title), f"section-{k}") for k, section in enumerate(report.sections, 1) if section.title
    ]
    links += [
        ("Notation", "notation"),
        *([("Passages", "passages")] if report.passages else []),
        ("How verdicts are made", "verdicts"),
        ("Sources", "sources"),
        ("Provenance", "provenance"),
    ]
    entries = [element("li", element("a", name, href=f"#{target}")) for name, target in links]
    return element("nav", _part("Contents", element("ul", entries)), aria_label="Contents")
