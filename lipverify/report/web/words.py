"""Text of the model as HTML; all formulas of the page are typeset together at the end, as MathML, by the compiler of
the PDF.

A formula reaches it as data and is evaluated only as mathematics, in a folder without other files.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import typst

from lipverify.report.model import Table
from lipverify.report.text import APART, Run, Text, formula, rich
from lipverify.report.web.markup import Child, Markup, element, join
from lipverify.report.words import SIGNS, VERDICTS

_CLOSING = {"(": ")", "[": "]", "{": "}", "⟨": "⟩"}
_SCRIPTS = ("msup", "msub", "msubsup")
_EACH = b"""#for (source, block) in json("formulas.json") {
  html.elem("li", math.equation(block: block, eval(source, mode: "math").body))
}"""


def many(formulas: Iterable[tuple[str, bool]]) -> list[str]:
    """Formulas as `(Typst source, display)`, compiled together; an empty string for each that the compiler refuses."""
    sources = list(formulas)
    try:
        return _compiled(sources)
    except typst.TypstError:
        if len(sources) == 1:
            return [""]
        half = len(sources) // 2
        return many(sources[:half]) + many(sources[half:])


def _compiled(formulas: Sequence[tuple[str, bool]]) -> list[str]:
    """The MathML of each formula; `typst.TypstError` if one of them cannot be set."""
    with tempfile.TemporaryDirectory(prefix="lipverify-") as folder:
        Path(folder, "formulas.json").write_bytes(msgspec.json.encode(formulas))
        page = typst.Compiler(root=folder).compile(_EACH, format="html")
    assert isinstance(page, bytes), "HTML is one file"
    items = re.findall(r"<li>(.*?)</li>", page.decode(), re.DOTALL)
    compiled = ["".join(map(_readable, re.findall(r"<math[ >].*?</math>", item, re.DOTALL))) for item in items]
    assert len(compiled) == len(formulas), "each formula is an item of its own"
    return compiled


def _readable(formula: str) -> str:
    """Adjust a formula: brackets that stretch together, primes close to their symbol, words with their spaces."""
    tree = ElementTree.fromstring(formula)
    for row in list(tree.iter()):
        _gather(row)
    for script in tree.iter("msup"):
        if script[1].text == "\u2032":  # the prime is already raised
            script.tag = "mrow"
            script[1].attrib |= {"lspace": "0em", "rspace": "0em"}
    for space in tree.iter("mi"):  # the page forbids inline styles
        for styled in space.findall("span"):
            space.remove(styled)
            space.tag, space.text = "mtext", styled.text
    for words in tree.iter("mtext"):
        words.text = (words.text or "").replace(" ", "\u00a0")  # a browser would trim a space
    return ElementTree.tostring(tree, encoding="unicode")


def _gather(row: ElementTree.Element) -> None:
    """Group the content of brackets below the exponent of the closing one: one bracket in a script does not stretch."""
    opened: list[ElementTree.Element] = []
    for part in list(row):
        if part.tag == "mo" and part.text in _CLOSING:
            opened.append(part)
        elif opened and _CLOSING[opened[-1].text or ""] == _last(part):
            begin = opened.pop()
            if part.tag in _SCRIPTS:
                first, last = (list(row).index(end) for end in (begin, part))
                inside = ElementTree.Element("mrow")
                inside.extend([*list(row)[first:last], part[0]])
                for moved in list(row)[first:last]:
                    row.remove(moved)
                part[0] = inside


def _last(part: ElementTree.Element) -> str | None:
    base = part[0] if part.tag in _SCRIPTS and len(part) else part
    return base.text if base.tag == "mo" else None


class Formulas:
    """Formulas in order of first use."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str, bool], int] = {}

    def placeholder(self, run: Run, display: bool = False) -> Markup:
        """The placeholder of a formula, replaced by `fill`."""
        number = self._numbers.setdefault((run.source, run.text, display), len(self._numbers))
        return Markup(f"\x02{number}\x03")

    def fill(self, page: str) -> str:
        """The page with its formulas; a formula that cannot be typeset is shown as source."""
        compiled = many((source, display) for source, _, display in self._numbers)
        typeset = [
            formula.replace("<math", f'<math alttext="{escape(text)}"', 1) if formula else code(text)
            for formula, (_, text, _) in zip(compiled, self._numbers, strict=True)
        ]
        # text of the model has no control characters
        page = re.sub("\x02(\\d+)\x03", lambda match: typeset[int(match[1])], page)
        # MathML does not count as the text that a heading of a column must have
        return page.replace('<th scope="col"><math alttext=', '<th scope="col"><math aria-label=')

    def rich(self, text: Text) -> Markup:
        """Convert words, code and formulas to HTML; a formula and the comma after it stay in one line."""
        html = join(self._run(run) for run in text)
        return Markup(re.sub("(\x02\\d+\x03[,.;:)]+)", r'<span class="kept">\1</span>', html))

    def label(self, text: str) -> Markup:
        """Convert the text of a figure, which may contain `$LaTeX$`."""
        return self.rich(rich(text))

    def display(self, text: Text) -> Markup:
        """A displayed statement, with one line for each part, which scrolls in a narrow window."""
        return join(element("div", self._part(part), class_="formula", tabindex="0") for part in _parts(text))

    def lines(self, text: Text) -> list[Markup]:
        """A statement in a table, with one line for each part."""
        return [element("div", self.rich(part)) for part in _parts(text)]

    def _part(self, runs: Text) -> Markup:
        """A formula as display mathematics, or inline if it contains words."""
        alone = len(runs) == 1 and runs[0].kind == "math"
        return self.placeholder(formula(runs[0].text), True) if alone else self.rich(runs)

    def _run(self, run: Run) -> Markup:
        match run.kind:
            case "math":
                return self.placeholder(run)
            case "code":
                return code(run.text)
            case "words":
                return join(run.text)

    def table(self, it: Table) -> Markup:
        rows = [[self.rich(cell) for cell in row] for row in it.rows]
        return table(self.rich(it.caption), [self.rich(cell) for cell in it.header], rows)


def _parts(text: Text) -> list[Text]:
    """The independent parts of a statement."""
    return [tuple(part) for apart, part in groupby(text, lambda run: run == APART) if not apart]


def number(text: str) -> Markup:
    """A number with its powers of ten as exponents."""
    parts = re.split(r"e(−?\d+)", text)
    return join([("×10", element("sup", part)) if k % 2 else part for k, part in enumerate(parts)])


def code(text: str) -> Markup:
    """A name or command, which may break after its punctuation."""
    parts = re.split(r"(?<=[/._,=])(?=\w)", text)
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
        "figure", above, element("div", whole, class_="wide", tabindex="0", role="group", aria_label="Table")
    )
