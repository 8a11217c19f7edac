"""The tables of statements on the page: under the place and title of each, what is printed, measured and found."""

from __future__ import annotations

from collections.abc import Sequence

from lipverify.report.model import Reading, Section, Telling, Theorem
from lipverify.report.web.markup import Child, Markup, element
from lipverify.report.web.words import Formulas, number, outcome, verdict

_HEADER = ("printed", "measured", "to match", "verdict, range, grade")


def statements(parts: Sequence[Section], words: Formulas) -> list[Markup]:
    """A table for each section, whose headings lead to the entries."""
    head = element("thead", element("tr", [element("th", name, scope="col") for name in _HEADER]))
    return [
        element(
            "div",
            element(
                "table",
                element("caption", words.rich(part.title)) if part.title and len(parts) > 1 else None,
                head,
                element("tbody", [_place(it, words) for it in part.theorems]),
            ),
            class_="statements wide", role="group", aria_label="Statements",
        )
        for part in parts
    ]  # fmt: skip


def _place(place: Theorem, words: Formulas) -> list[Markup]:
    """The rows of one place: its heading, and a row for each claim."""
    link = element("a", words.rich(place.title), href=f"#{place.anchor}")
    outcomes = [(" ", outcome(name)) for name, _ in place.standing.outcomes]
    lines = [
        element("tr", [element("td", cell) for cell in _cells(line, words)]) for line in place.readings[: place.decided]
    ]
    return [element("tr", element("th", link, outcomes, colspan=len(_HEADER), scope="colgroup")), *lines]


def _cells(line: Reading, words: Formulas) -> tuple[Child, ...]:
    reason = ("The check broke off: " if line.verdict == "error" else "Because ", words.rich(line.problem))
    return (
        (
            element("div", words.rich(line.title)) if line.title else None,
            words.lines(line.statement),
            element("div", words.rich(line.apart), class_="faint") if line.apart else None,
        ),
        [element("div", measured(case, words)) for case in line.telling],
        [element("div", words.rich(case.allowed)) for case in line.telling],
        (
            (verdict(line.verdict), " ", words.rich(line.range)),
            element("span", "; ", line.grade, class_="standing") if line.grade else None,
            [(" ", element("strong", mark, class_="mark")) for mark in line.marks],
            element("div", reason, class_=line.verdict) if line.problem else None,
        ),
    )


def measured(case: Telling, words: Formulas) -> Child:
    """The deciding number of a quantity, and the ratio that decided where exponents are equal."""
    sign = (" = " if [run.kind for run in case.quantity] == ["math"] else ": ") if case.quantity else None
    point = (" at ", words.rich(case.case)) if case.case else None
    ratio = (element("br"), words.rich(case.ratio)) if case.ratio else None
    return words.rich(case.quantity), sign, element("b", number(case.measured)), point, ratio
