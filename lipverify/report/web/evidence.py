"""The third layer inside a theorem: all figures, numbers and cross-checks behind its verdicts."""

from __future__ import annotations

from collections.abc import Iterable

from lipverify.foundation.quoting import counted
from lipverify.report.evidence import Agreement, Evidence, Judgement, Measurement
from lipverify.report.model import Theorem, Topic
from lipverify.report.readings import Remark
from lipverify.report.web.markup import Child, Markup, element, join
from lipverify.report.web.parts import Place, figure, part
from lipverify.report.web.words import SIGNS, Formulas, code, table


def evidence(it: Topic, of: Theorem, place: Place) -> Markup | None:
    """All figures, numbers and cross-checks behind the verdicts, and the sources of readings that are not printed."""
    words = place.formulas
    seen = [("as under ", element("a", "another theorem", href=f"#{place.ids[a]}"), ". ") for a in it.agreed_before]
    drawn = join((element("a", name.replace("-", " "), href=f"#{name}") for name in it.drawn_before), ", ")
    content = [
        part("Printed, of other readings", words.remarks(_unsaid(it.sources, of.sources))),
        *(figure(each, place) for each in it.drawings),
        *(words.table(each) for each in it.tables),
        *(_numbers(each, words) for each in it.evidence),
        *(_agreement(each, words) for each in it.agreements),
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
    return [each for each in remarks if each.text not in known]


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
