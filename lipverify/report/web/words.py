"""Text of the model as HTML; all formulas of the page are typeset together at the end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from lipverify.report.mathml import many
from lipverify.report.model import Table
from lipverify.report.readings import Remark
from lipverify.report.text import APART, Run, Text, rich
from lipverify.report.web.markup import Child, Markup, element, join
from lipverify.report.words import VERDICTS

SIGNS = {"supported": "✓", "refuted": "✗", "inconclusive": "?", "error": "!"}
_PLACE = re.compile("\x02(\\d+)\x03")
"""The placeholder of a formula until it is typeset; text of the model has no control characters."""
_BREAKS = re.compile(r"(?<=[/._,=])(?=\w)")


class Formulas:
    """Formulas in order of first use."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str, bool], int] = {}

    def place(self, run: Run, display: bool = False) -> Markup:
        """The placeholder of a formula, replaced by `fill`."""
        number = self._places.setdefault((run.source, run.text, display), len(self._places))
        return Markup(f"\x02{number}\x03")

    def fill(self, page: str) -> str:
        """The page with its formulas; a formula that cannot be typeset is shown as source."""
        found = many((source, display) for source, _, display in self._places)
        shown = [
            formula.replace("<math", f"<math{_spoken(text)}", 1) if formula else code(text)
            for formula, (_, text, _) in zip(found, self._places, strict=True)
        ]
        return _PLACE.sub(lambda place: shown[int(place[1])], page)

    def rich(self, text: Text) -> Markup:
        """Convert words, code and formulas to HTML."""
        return join(self._run(run) for run in text)

    def label(self, text: str) -> Markup:
        """Convert the text of a figure, which may contain `$LaTeX$`."""
        return self.rich(rich(text))

    def display(self, text: Text) -> Markup:
        """A displayed statement, with one line for each part, which scrolls in a narrow window."""
        parts = [tuple(part) for apart, part in groupby(text, lambda run: run == APART) if not apart]
        return join(element("div", self._part(part), class_="formula", tabindex="0") for part in parts)

    def _part(self, runs: Text) -> Markup:
        """A formula as display mathematics, or inline if it contains words."""
        alone = len(runs) == 1 and runs[0].kind == "math"
        return self.place(runs[0], True) if alone else self.rich(runs)

    def _run(self, run: Run) -> Markup:
        match run.kind:
            case "math":
                return self.place(run)
            case "code":
                return code(run.text)
            case "words":
                return join(run.text)

    def remarks(self, remarks: Iterable[Remark]) -> list[Markup]:
        """One paragraph for each text, after the names of its readings."""
        return [
            element("p", (code(each.readings), ": ") if each.readings else None, self.rich(each.text))
            for each in remarks
        ]

    def table(self, it: Table) -> Markup:
        """A table that belongs to a claim."""
        rows = [[self.rich(cell) for cell in row] for row in it.rows]
        return table(self.rich(it.caption), [self.rich(cell) for cell in it.header], rows)


def code(text: str) -> Markup:
    """A name or command, which may break after its punctuation."""
    parts = _BREAKS.split(text)
    return element("code", join([part if not k else (element("wbr"), part) for k, part in enumerate(parts)]))


def verdict(name: str, count: str = "") -> Markup:
    """A verdict as sign, word and colour, and the number of claims with it."""
    return element("span", f"{SIGNS[name]} {VERDICTS[name]}", f" {count}" if count else None, class_=f"verdict {name}")


def outcome(name: str, count: str = "") -> Markup:
    """The outcome of a statement as word and colour, and the number of its passages."""
    return element("span", name, f" {count}" if count else None, class_=f"outcome {name.replace(' ', '-')}")


def table(caption: Markup, header: Iterable[Child], rows: Iterable[Iterable[Child]]) -> Markup:
    """A table with its caption, which scrolls in a narrow window."""
    head = element("tr", [element("th", cell, scope="col") for cell in header])
    body = [element("tr", [element("td", cell) for cell in row]) for row in rows]
    whole = element("table", element("thead", head), element("tbody", body))
    above = element("figcaption", caption) if caption else None
    return element(
        "figure", above, element("div", whole, class_="wide", tabindex="0", role="region", aria_label="Table")
    )


def _spoken(latex: str) -> str:
    return str(element("i", alttext=latex))[2:].removesuffix("></i>")
