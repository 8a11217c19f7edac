"""The report: what it prints is what the ledger says, and the same ledger prints the same bytes."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import unicodedata
from decimal import Decimal
from importlib import import_module
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, target
from hypothesis import strategies as st

from lipverify.claims import Band, Figure, HeatMap, Panel, Region, Series, Source
from lipverify.claims.ledger import (
    VERDICTS,
    Allowed,
    Ledger,
    Provenance,
    Record,
    Scalar,
    Verdict,
    read_ledger,
    write_ledger,
)
from lipverify.claims.ledger.figure import Layer
from lipverify.claims.ledger.reach import at
from lipverify.foundation.latex import UnreadableError, symbols, typst_math
from lipverify.report import digits, words, write_report
from lipverify.report.build import build
from lipverify.report.drawings import Drawings, joined
from lipverify.report.figures import draw
from lipverify.report.looks import series_looks
from lipverify.report.model import Drawing, Report, Symbol, Theorem
from lipverify.report.notation import symbols_in
from lipverify.report.readings import heading, names
from lipverify.report.text import Run, Text, printable, rich
from lipverify.report.theorem import telling_figure
from lipverify.report.typeset import typeset
from lipverify.report.web import web_page
from tests import ROOT
from tests.ledgers import (
    RATES,
    cell,
    control,
    ledger,
    placed,
    realistic,
    record,
    slopes_figure,
    terms_figure,
)

pymupdf: Any = import_module("pymupdf")  # it has no types
replace = msgspec.structs.replace

HOSTILE = (
    '#import "x"',
    '#read("/etc/passwd")',
    '$#read("/etc/passwd")$',
    "#panic()",
    "$",
    "$$",
    "\\",
    "\\$ \\( \\u{41}",
    "*_@<>`~",
    "] } ) [ { (",
    "// gone /* gone */",
    "= heading",
    "a\u202eb \u0000 \ud800",
    "中 😀 é σ²",
    "x" * 300,
    "ab-/" * 100,
)


def pdf(book: Ledger, folder: Path, name: str = "report.pdf", *, evidence: bool = True) -> bytes:
    write_report(book, folder / name, evidence=evidence)
    return (folder / name).read_bytes()


def pages(content: bytes) -> list[Any]:
    return list(pymupdf.open(stream=content, filetype="pdf"))


def squeezed(text: str) -> str:
    """Text without spaces or the difference between an italic letter and an upright one."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def text_of(content: bytes) -> str:
    return squeezed("".join(page.get_text() for page in pages(content)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def book() -> Ledger:
    return realistic()


@pytest.fixture(scope="module")
def printed(book: Ledger, folder: Path) -> bytes:
    return pdf(book, folder)


def model(book: Ledger) -> Report:
    """The model, its figures not drawn."""
    blank = Drawing(file="", width=1.0, caption=(), alt="a")
    return build(book, lambda _: blank, evidence=True)


def theorems(report: Report) -> list[Theorem]:
    return [theorem for section in report.sections for theorem in section.theorems]


# ---- numbers ----

printed_number = re.compile(r"([−\d.e]+) ± ([−\d.e]+)")
finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200)


def value_of(text: str) -> Decimal:
    return Decimal(text.replace("−", "-"))


@given(value=finite, error=st.floats(1e-200, 1e200))
@example(value=0.3333312, error=2e-6)
@example(value=1e-3, error=20.0)
@example(value=0.0, error=9.7)
@example(value=999.96, error=0.096)
def test_a_printed_interval_is_that_of_the_ledger(value: float, error: float) -> None:
    match = printed_number.fullmatch(digits.with_error(value, error))
    assert match is not None
    shown, half = value_of(match[1]), value_of(match[2])
    exact, true_half = Decimal(repr(value)), Decimal(repr(error))
    assert true_half <= half <= Decimal("1.5") * true_half
    # Half a unit of the last printed digit, which is the error's own or the fifteenth.
    unit = max(Decimal(1).scaleb(half.normalize().adjusted()), abs(exact) * Decimal("1e-14"))
    off = abs(shown - exact)
    target(float(off / unit))
    assert off <= unit / 2


def test_numbers_that_are_not_there_or_not_numbers_are_said_to_be_so() -> None:
    assert digits.with_error(None, 1.0) == "–"
    assert digits.with_error(math.nan, 1.0) == "not a number"
    assert digits.with_error(math.inf, None) == "∞"
    assert digits.with_error(0.25, math.nan) == "0.25 ± not a number"
    assert digits.signed(-math.inf) == "−∞"


def test_every_cell_and_cross_check_is_printed_with_its_own_numbers(book: Ledger, printed: bytes) -> None:
    rows = [squeezed(row) for row in rows_of(printed)]
    cells = [c for claim in book.claims for c in claim.cells]
    assert len(cells) >= 20
    for claim in book.claims:
        for c in claim.cells:
            parts = [digits.with_error(c.measured, c.error), digits.signed(c.margin)]
            assert any(all(on_page(p) in row for p in parts) for row in rows), parts
        for check in claim.cross_checks:
            parts = [digits.with_error(v, e) for v, e in zip(check.values, check.errors, strict=True)]
            assert any(all(on_page(p) in row for p in parts) for row in rows), parts


def on_page(number: str) -> str:
    """A number of the ledger's report as the page's text has it: its power of ten is set as one."""
    return squeezed(number).replace("e", "×10")


def rows_of(content: bytes) -> list[str]:
    """The words of each page that share a base line, from left to right."""
    rows: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for number, page in enumerate(pages(content)):
        for x, _, _, bottom, word, *_ in page.get_text("words"):
            rows.setdefault((number, round(bottom / 3)), []).append((x, word))
            rows.setdefault((number, round(bottom / 3) + 1), []).append((x, word))
    return ["".join(word for _, word in sorted(row)) for row in rows.values()]


def test_no_number_in_the_evidence_is_foreign_to_the_ledger(book: Ledger, printed: bytes) -> None:
    """Each printed `value ± error` belongs to some number of the ledger."""
    expected = {on_page(digits.with_error(c.measured, c.error)) for r in book.claims for c in r.cells} | {
        on_page(digits.with_error(v, e))
        for r in book.claims
        for check in r.cross_checks
        for v, e in zip(check.values, check.errors, strict=True)
    }
    evidence = "\n".join(page.get_text() for page in pages(printed))
    found = {squeezed(m[0]) for m in re.finditer(r"^[−\d.×]+\s±\s[−\d.×]+$", evidence, re.MULTILINE)}
    assert len(found) >= 8
    assert found <= expected


# ---- the same ledger, the same bytes; another ledger, other bytes ----

PRINT = """
import sys
from pathlib import Path
from lipverify.claims.ledger.record import read_ledger
import lipverify.report
heavy = {"matplotlib", "typst", "numpy", "sympy"} & set(sys.modules)
assert not heavy, heavy
lipverify.report.write_report(read_ledger(Path(sys.argv[1])), Path(sys.argv[2]), evidence=True)
assert "matplotlib.pyplot" not in sys.modules
"""


def test_the_same_ledger_gives_the_same_bytes_in_any_process(book: Ledger, printed: bytes, folder: Path) -> None:
    assert pdf(book, folder, "again.pdf") == printed
    write_ledger(book, folder / "ledger.json")
    out = folder / "elsewhere.pdf"
    subprocess.run(
        [sys.executable, "-c", PRINT, folder / "ledger.json", out],
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "12345", "SOURCE_DATE_EPOCH": "1", "TZ": "Asia/Tokyo"},
    )
    assert out.read_bytes() == printed


def small() -> Record:
    panel = Panel(title="t", xlabel="x", ylabel="y", series=(Series(label="s", x=(1.0, 2.0), y=(1.0, 2.0)),))
    return record(figures=(Figure(caption="c", alt="a", panels=(panel,)),))


def with_cell(claim: Record, **changes: object) -> Record:
    first, *rest = claim.cells
    return replace(claim, cells=(replace(first, **changes), *rest))


def with_point(claim: Record) -> Record:
    (figure,) = claim.figures
    (panel,) = figure.panels
    (series,) = panel.series
    series = replace(series, y=(1.0, 2.02))
    return replace(claim, figures=(replace(figure, panels=(replace(panel, series=(series,)),)),))


TAMPERED = {
    "measured": lambda claim: with_cell(claim, measured=0.4000013),
    "error": lambda claim: with_cell(claim, error=3e-6),
    "margin": lambda claim: with_cell(claim, margin=-0.11),
    "where": lambda claim: with_cell(claim, where={"d": 9, "law": "affine"}),
    "verdict": lambda claim: with_cell(claim, verdict="supported"),
    "control": lambda claim: with_cell(claim, control=control(claim.cells[0].interval, true=True, caught=False)),
    "seconds": lambda claim: replace(claim, seconds=9.0),
    "cross-check": lambda claim: replace(
        claim,
        cross_checks=(replace(claim.cross_checks[0], values=(0.0123457, 0.012349)),),
    ),
    "point": with_point,
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_ledger_changes_the_report(name: str, folder: Path) -> None:
    claim = small()
    assert pdf(ledger((claim,)), folder) != pdf(ledger((TAMPERED[name](claim),)), folder)


# ---- what the reader sees ----


def test_the_front_holds_the_result(book: Ledger, printed: bytes) -> None:
    shown = squeezed("".join(page.get_text() for page in pages(printed)))
    first = shown[: shown.index("states,underwhichconditions")]  # the first theorem has the first table of readings
    for each in {claim.heading for claim in book.claims if claim.heading is not None}:
        assert squeezed(each.title) in first
    for shown in ("6claims", "TheoptimalwindowThewindowasprinted", "falseasprinted", "extrapolated"):
        assert shown in first
    assert first.count(squeezed("≠ recorded:")) == 2
    assert first.count(squeezed("‡ control not caught")) == 1


def test_a_refuted_claim_says_where_and_no_claim_is_called_proved(printed: bytes) -> None:
    text = text_of(printed)
    assert squeezed("refuted at d = 2") in text
    # the word stands in the list of grades alone: no claim of this ledger is of that grade
    assert text.count("proved") == sum(said.count("proved") for said in words.HOW_VERDICTS_ARE_MADE) == 1


def test_where_a_claim_is_refuted_is_said_of_the_points_that_refute_and_of_no_other() -> None:
    points = [{"d": 2, "law": "relu"}, {"d": 3, "law": "affine"}]
    bad = [cell(2, "relu", Allowed(low=k), "", where=where, verdict="refuted") for k, where in enumerate(points)]
    good = cell(2, "relu", Allowed(low=9), "", where={"d": 9, "law": "cosine"}, verdict="supported")
    (reading,) = theorems(model(ledger((record(cells=(*bad, good), verdict="refuted"),))))[0].readings
    assert words_of(reading.range) == "at (d, law) = (2, relu), (3, affine)"


def words_of(text: Text) -> str:
    return "".join(run.text for run in text)


# ---- three layers: the front, a page for each theorem, the evidence ----


def test_every_claim_is_read_once_and_in_the_order_of_the_ledger(book: Ledger) -> None:
    report = model(book)
    assert [words_of(section.title) for section in report.sections] == [
        "The optimal window",
        "The terms of the loss",
        "",
    ]
    assert sorted(r.id for t in theorems(report) for r in t.readings) == sorted(claim.id for claim in book.claims)
    assert [t.stem for t in theorems(report)] == list(dict.fromkeys(claim.id.split("/")[0] for claim in book.claims))
    anchors = [t.anchor for t in theorems(report)]
    assert [row.anchor for part in report.front.parts for row in part.rows] == anchors
    assert [topic.theorem for topic in report.topics] == anchors
    assert [t.topic for t in theorems(report)] == [topic.anchor for topic in report.topics]


def test_a_section_that_returns_later_in_the_ledger_is_one_section() -> None:
    stems = ("softmax.bias-lower", "softmax.window-printed", "softmax.values-ignore-covariates")
    report = model(ledger(placed(tuple(record(stem) for stem in stems))))
    assert [[t.stem for t in s.theorems] for s in report.sections] == [[stems[0], stems[2]], [stems[1]]]


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("corrected", ["", "$w^* = 1$"])
def test_the_standing_is_that_of_the_passages(verdict: Verdict, corrected: str) -> None:
    """A claim that nobody printed says nothing of a passage, whatever its verdict is."""
    claims = (
        record("a.b/1", kind="stronger", verdict="refuted", grade="observed"),
        record("a.b/2", kind="printed", verdict=verdict, corrected=corrected, grade="sampled"),
        record("a.b/3", kind="printed", verdict="supported", corrected="", grade="bounded"),
    )
    found = model(ledger(claims)).front.parts[0].rows[0].standing
    became = {"supported": "holds as printed", "refuted": "false as printed"}.get(verdict, "open")
    assert found.outcomes == ((became, "1"),)
    assert (found.kind, found.grade, found.others) == ("printed", "sampled", (("refuted", "1"),))
    lone = model(ledger((claims[0],))).front.parts[0].rows[0].standing
    assert (lone.kind, lone.outcomes, lone.others) == ("stronger", (), (("refuted", "1"),))


def test_what_holds_instead_is_said_of_what_differs_and_of_nothing_else() -> None:
    claims = (
        record("a.b/1", verdict="refuted", corrected="one"),
        record("a.b/2", verdict="supported", corrected="two"),
        record("a.b/3", verdict="supported", corrected=""),
    )
    (theorem,) = theorems(model(ledger(claims)))
    assert [words_of(reading.instead) for reading in theorem.readings] == ["one", "two", ""]
    assert words_of(theorem.instead) == "one"


def test_the_telling_case_is_the_smallest_that_refutes_wherever_it_stands(book: Ledger) -> None:
    (reading, *_) = theorems(model(book))[0].readings
    assert words_of(reading.telling[0].case) == "d = 2"
    first = book.claims[0].cells[0]
    assert reading.telling[0].measured == digits.with_error(first.measured, first.error)
    assert reading.telling[0].margin == digits.signed(first.margin) != digits.signed(book.claims[0].cells[-1].margin)
    cells = tuple(cell(d, "relu", Allowed(low=9.0), "") for d in (5, 3, 10, 4))
    (theorem,) = theorems(model(ledger((record(cells=cells, verdict="refuted"),))))
    assert words_of(theorem.readings[0].telling[0].case) == "d = 3, ReLU law"


def test_without_a_refutation_the_case_is_the_closest() -> None:
    cells = tuple(cell(d, "relu", Allowed(high=1.0), "") for d in (2, 3, 4))
    (theorem,) = theorems(model(ledger((record(cells=cells, verdict="supported"),))))
    assert words_of(theorem.readings[0].telling[0].case) == "d = 2, ReLU law"


def test_readings_nearest_to_print_come_first() -> None:
    claims = (record("a.b/1", kind="sharp"), record("a.b/2", kind="printed"), record("a.b/3", kind="convention"))
    (theorem,) = theorems(model(ledger(claims)))
    assert [reading.label for reading in theorem.readings] == ["2", "3", "1"]


def test_a_table_of_a_claim_is_shown_once(printed: bytes, book: Ledger) -> None:
    tables = [table for theorem in theorems(model(book)) for table in theorem.tables]
    assert [[len(row) for row in table.rows] for table in tables] == [[2, 2]]
    assert text_of(printed).count(squeezed("Sharp rates; d is free.")) == 1


def test_a_table_without_a_finding_is_shown_too() -> None:
    (theorem,) = theorems(model(ledger((record(verdict="supported", tables=(RATES,)),))))
    assert len(theorem.tables) == 1


def test_formulas_of_one_statement_stand_each_for_itself() -> None:
    (theorem,) = theorems(model(ledger((record(statement=r"a = 1, \quad b = 2"),))))
    assert [run.text for run in theorem.readings[0].statement] == ["a = 1", ", ", "b = 2"]
    torn = r"x = \begin{cases} a, \quad b \end{cases}"
    (theorem,) = theorems(model(ledger((record(statement=torn),))))
    assert [run.text for run in theorem.readings[0].statement] == [torn]


@pytest.mark.parametrize(
    ("latex", "runs"),
    [
        (r"a \leq b \quad \text{for every } w", ["a \\leq b", " for every ", "w"]),
        (
            r"|r| \leq \tfrac{1}{2} \text{, what one step leaves, after } w > 0",
            [None, ", what one step leaves, after ", "w > 0"],
        ),
        (r"\frac{\text{made for it}}{b} = 1", [r"\frac{\text{made for it}}{b} = 1"]),
        (r"a \text{ at } b > 2 \text{, six with } c", ["a", " at ", "b > 2", ", six with ", "c"]),
        (r"a = O(b), \quad \text{and so } c", ["a = O(b)", ", and so ", "c"]),
        (r"a = \text{rounding}", [r"a = \text{rounding}"]),
        (r"a = 1, \qquad b = 2", [r"a = 1, \qquad b = 2"]),
    ],
)
def test_words_of_a_statement_stand_outside_of_its_formulas(latex: str, runs: list[str | None]) -> None:
    """A formula breaks no words, so that they would lie over what stands beside it; within a formula they stay."""
    (theorem,) = theorems(model(ledger((record(statement=latex),))))
    found = [run.text for run in theorem.readings[0].statement]
    assert len(found) == len(runs)
    assert all(text in (None, seen) for text, seen in zip(runs, found, strict=True))


def test_the_evidence_is_left_out_unless_it_is_asked_for(book: Ledger, printed: bytes, folder: Path) -> None:
    blank = Drawing(file="", width=1.0, caption=(), alt="a")
    short = build(book, lambda _: blank)
    assert not short.topics
    assert not any(theorem.topic for theorem in theorems(short))
    content = pdf(book, folder, "short.pdf", evidence=False)
    assert len(pages(content)) < len(pages(printed))
    assert squeezed("Cross-check:") in text_of(content), "how many numbers agree is said in any case"
    assert squeezed("is data beside this report") in text_of(content)
    assert squeezed("is data beside this report") not in text_of(printed)


@pytest.mark.parametrize("layers", list(permutations(("theorem", "front", "evidence"))))
def test_a_theorem_shows_the_figure_that_is_meant_for_it(layers: tuple[Layer, ...]) -> None:
    drawn: list[Figure] = []

    def draw(figure: Figure) -> Drawing:
        drawn.append(figure)
        return Drawing(file=f"{figure.layer}.svg", width=1.0, caption=(), alt="a")

    figures = tuple(replace(slopes_figure(None, None), layer=layer, caption=layer) for layer in layers)
    report = build(ledger((record(figures=figures),)), draw, evidence=True)
    (theorem,) = theorems(report)
    assert theorem.picture is not None
    assert theorem.picture.file == "theorem.svg"
    assert [picture.file for picture in report.front.pictures] == ["front.svg"]
    assert {drawing.file for drawing in report.topics[0].drawings} == {"front.svg", "evidence.svg"}
    (bare,) = theorems(build(ledger((record(figures=()),)), draw))
    assert bare.picture is None


def test_every_symbol_is_defined_on_the_page_where_it_first_stands_and_only_there() -> None:
    claims = (
        record("softmax.one/a", statement=r"w^* = \Omega(\Lambda^{1/d})"),
        record("softmax.two/a", statement=r"\Lambda \to \infty, \quad \mathbf{B} = 1"),
        record("lt.three/a", statement=r"\omega_{xx} + d = 0"),
    )
    report = model(ledger(claims))
    defined = [{words_of(each.symbol) for each in theorem.symbols} for theorem in theorems(report)]
    before = {words_of(each.symbol) for each in report.front.symbols}
    assert r"\Lambda" in before | defined[0]
    assert r"\Lambda" not in defined[1]
    assert r"\mathbf{B}" in defined[1]
    # linear transformers have letters of their own: d is there another dimension
    assert {"d", r"\omega_{xx}, \omega_{xy}, \omega_{yx}, \omega_{yy}"} <= defined[2]
    known: set[int] = set()
    pages: list[tuple[Any, str]] = [(report.front, ""), *((t, t.stem) for t in theorems(report))]
    for page, stem in pages:
        known |= {k for k, entry in enumerate(words.NOTATION) if entry in entries(page.symbols)}
        used = set(symbols_in(page))
        for k, entry in enumerate(words.NOTATION):
            assert k in known or not (entry.holds_for(stem, True) and entry.names & used), (stem, entry.symbol)


def test_the_letters_of_a_claims_file_are_its_own() -> None:
    """Whatever her statements are called: their family may be named like one of lipverify's."""
    for id in ("mine.one/a", "softmax.one/a", "lt.one", "softmaxes.one"):
        claim = record(id, statement=r"\Lambda = \Omega(\sigma^2)", file="hers.py")
        book = ledger((claim,))
        report = model(book)
        symbols = [*report.front.symbols, *(each for page in theorems(report) for each in page.symbols)]
        assert [words_of(each.symbol) for each in symbols] == [r"\Omega, \mathcal{O}, \Theta"]
        assert b"standard deviation of the label noise" not in web_page(book)
    ours = model(ledger((record("softmax.one/a", statement=r"\sigma^2 = 1"),)))
    assert any("standard deviation" in words_of(each.meaning) for each in ours.notation)


def entries(symbols_: tuple[Symbol, ...]) -> list[words.Entry]:
    said = {(words_of(each.symbol), words_of(each.meaning)) for each in symbols_}
    return [e for e in words.NOTATION if (words_of(rich(e.symbol)), words_of(rich(e.meaning))) in said]


def test_a_theorem_is_torn_at_most_once(printed: bytes, book: Ledger) -> None:
    """The command that repeats a theorem, at its end, is on the page of its name or on the next one."""
    texts = [squeezed(page.get_text()) for page in pages(printed)]
    for theorem in theorems(model(book)):
        (end,) = [k for k, text in enumerate(texts) if squeezed(f"lipverify verify {theorem.stem}") in text][:1]
        assert squeezed(words_of(theorem.title)) in "".join(texts[max(end - 1, 0) : end + 1]), theorem.stem


def test_a_short_theorem_is_not_torn(folder: Path) -> None:
    """Where a page has no room for all of it, it begins on the next one."""
    names = [f"Theorem of number {k:02d}" for k in range(20)]
    claims = [
        record(
            f"a.b{k:02d}", title=name, figures=(), cells=record().cells[:1], reproduce=f"lipverify verify a.b{k:02d}"
        )
        for k, name in enumerate(names)
    ]
    texts = [
        squeezed(page.get_text()) for page in pages(pdf(ledger(tuple(claims)), folder, "short.pdf", evidence=False))
    ]
    ends = []
    for k, name in enumerate(names):
        start = max(j for j, text in enumerate(texts) if squeezed(name) in text)  # the first page lists it too
        assert squeezed(f"lipverify verify a.b{k:02d}") in texts[start], name
        ends.append(start)
    assert len(set(ends)) > 3, "several pages, and theorems that share one"
    assert len(set(ends)) < len(ends)


def test_readings_of_one_measurement_share_a_table_and_no_others_do() -> None:
    same = (record("a.b/lower"), record("a.b/upper", title="other"))
    (topic,) = model(ledger(same)).topics
    (table,) = topic.evidence
    assert table.readings == ("lower", "upper")
    assert all(len(row.judgements) == 2 for row in table.rows)
    first = same[1].cells[0]
    for change in ({"measured": 0.123}, {"error": 0.5}, {"method": "other"}, {"quantity": "q"}, {"where": {"d": 99}}):
        moved = replace(same[1], cells=(replace(first, **change), *same[1].cells[1:]))
        (topic,) = model(ledger((same[0], moved))).topics
        assert len(topic.evidence) == 2, change


def test_numbers_in_a_text_are_set_as_powers_and_nothing_else_is() -> None:
    assert [(run.kind, run.text) for run in rich("1.774(3)e-7 of 1e+09, v1e5, 2e, uniform-3e5 `1e5` $1e5$")] == [
        ("math", r"1.774(3) \times 10^{-7}"), ("words", " of "), ("math", "10^{9}"),
        ("words", ", v1e5, 2e, uniform-3e5 "), ("code", "1e5"), ("words", " "), ("math", "1e5"),
    ]  # fmt: skip


def test_why_a_claim_is_open_is_said_in_formulas() -> None:
    """The quantity and the place as everywhere else on the page, and not as a terminal writes them."""
    where: dict[str, Scalar] = {"sigma_1": 0.5, "noise": "uniform-3", "law": "relu"}
    one = replace(record().cells[0], quantity="L_a / L_b", quantity_latex=r"$L_a / L_b$", where=where)
    place = at(where)
    for first, last in (("", " is 1 ± 2, across"), ("the control, ", ""), ("a and b disagree on ", ": 1, 2")):
        said = f"{first}L_a / L_b{' > 1 is not told apart' if not last else ''} at {place}{last}"
        broken = record(cells=(one,), verdict="inconclusive", problem=said)
        (reading,) = theorems(model(ledger((broken,))))[0].readings
        assert [run.text for run in reading.problem if run.kind == "math"] == [
            "L_a / L_b", r"\sigma_{1} = 0.5", r"\sigma_{\max} = 3",
        ]  # fmt: skip
        assert "ReLU law" in words_of(reading.problem)
    (reading,) = theorems(model(ledger((record(verdict="error", problem="KeyError: $x$"),))))[0].readings
    assert [run.kind for run in reading.problem] == ["code"]


def test_a_theorem_shows_the_figure_of_the_readings_nearest_to_print() -> None:
    """Of several of one layer; and of those the one with most points that are measured."""

    def drawn(label: str, count: int) -> Figure:
        x = tuple(map(float, range(count)))
        series = Series(label=label, x=x, y=x, error=x, style="errorbars")
        return Figure(caption=label, alt="", panels=(Panel(title="", xlabel="", ylabel="", series=(series,)),))

    readings = (
        record("a.b/other", kind="stronger", figures=(drawn("stronger", 9),)),
        record("a.b/one", kind="printed", figures=(drawn("one point", 1),)),
        record("a.b/more", kind="printed", figures=(drawn("printed", 5),)),
    )
    shown = telling_figure(readings)
    assert shown is not None
    assert shown.caption == "printed"


def test_a_row_of_evidence_says_where_it_was_measured() -> None:
    (table,) = model(ledger((record(),))).topics[0].evidence
    assert [words_of(heading) for heading in table.where] == ["d"]
    assert [words_of(row.where[0]) for row in table.rows] == [str(c.where["d"]) for c in record().cells]
    assert "affine law" in words_of(table.common)
    mixed = replace(record(), cells=(record().cells[0], replace(record().cells[1], where={"n": 5})))
    (table,) = model(ledger((mixed,))).topics[0].evidence
    assert [words_of(row.where[0]) for row in table.rows] == ["d = 2, affine law", "n = 5"]


def test_what_readings_share_is_said_once_and_what_they_do_not_by_name() -> None:
    shared, own = record("a.b/affine/lower"), record("a.b/relu/lower", source=Source(paper="V", place="p", printed="q"))
    (topic,) = model(ledger((shared, own))).topics
    assert [remark.readings for remark in topic.assumptions] == [""] * len(shared.assumptions)
    assert [remark.readings for remark in topic.sources] == ["affine", "relu"]
    assert len(topic.agreements) == 2
    assert not topic.drawings, "the only figure stands on the theorem's page"


def test_cross_checks_and_figures_of_an_earlier_statement_are_referred_to() -> None:
    (shown, *_) = record().figures
    more = (shown, replace(shown, caption="how it settles", layer="evidence"))
    report = build(ledger((record("a.b", figures=more), record("a.c", figures=more))), Drawings().add, evidence=True)
    first, second = report.topics
    assert first.drawings
    assert not second.drawings
    assert second.drawn_before == (first.drawings[0].anchor,)
    assert not second.agreements
    assert second.agreed_before == (first.anchor,)


labels = st.lists(
    st.tuples(*(st.sampled_from(words) for words in (("affine", "relu"), ("lower", "upper"), ("x", "y")))),
    min_size=1, max_size=8, unique=True,
)  # fmt: skip


@given(labels=labels, chosen=st.integers(1, 255))
def test_a_name_means_the_readings_that_it_was_made_for(labels: list[tuple[str, ...]], chosen: int) -> None:
    readings = [replace(BLANK, id=f"a.b/{'/'.join(parts)}") for parts in labels]
    some = [reading for k, reading in enumerate(readings) if chosen >> k & 1]
    if not some:
        return
    name = names(some, readings)
    kinds = [set(kind.split("/")) for kind in name.removeprefix("all but ").split(", ")] if name else [set()]
    meant = [r for r in readings if any(kind <= set(r.id.split("/")) for kind in kinds)]
    if name.startswith("all but "):
        meant = [r for r in readings if r not in meant]
    assert meant == some


BLANK = record()


def test_figures_of_one_measurement_become_one_unless_a_label_would_lie() -> None:
    def figure(label: str, y: float) -> Figure:
        measured = Series(label="measured", x=(1.0,), y=(1.0,))
        claimed = Series(label=label, x=(1.0,), y=(y,))
        panel = Panel(title="t", xlabel="x", ylabel="y", series=(measured, claimed))
        return Figure(caption="c", alt="a", panels=(panel,))

    (both,) = joined((figure("lower", 1.0), figure("upper", 2.0), figure("lower", 1.0)))
    assert [series.label for series in both.panels[0].series] == ["measured", "lower", "upper"]
    assert len(joined((figure("claimed", 1.0), figure("claimed", 2.0)))) == 2
    other = replace(figure("lower", 1.0), caption="of something else")
    assert len(joined((figure("upper", 1.0), other))) == 2


def test_a_ledger_from_before_headings_is_read_and_printed(book: Ledger, folder: Path) -> None:
    old = msgspec.json.decode(msgspec.json.encode(book))
    for claim in old["claims"]:
        for field in ("heading", "corrected", "tables"):
            del claim[field]
    path = folder / "old.json"
    path.write_bytes(msgspec.json.encode(old))
    again = read_ledger(path)
    assert all(claim.heading is None for claim in again.claims)
    assert squeezed("softmax.bias-lower") in text_of(pdf(again, folder, "old.pdf"))


def test_a_long_table_of_statements_begins_a_page_and_repeats_its_header(folder: Path) -> None:
    claims = tuple(record(f"stem.s{k}/a", figures=(), cells=(), cross_checks=()) for k in range(130))
    content = pages(pdf(ledger(claims), folder))
    header = [squeezed("statement outcome of its passages kind grade page") in squeezed(p.get_text())
              for p in content[:3]]  # fmt: skip
    assert header == [False, True, True]


def test_the_file_is_tagged_archivable_and_described(book: Ledger, printed: bytes) -> None:
    document = pymupdf.open(stream=printed, filetype="pdf")
    catalog = document.xref_object(document.pdf_catalog())
    assert "/MarkInfo" in catalog
    assert "/Lang (en-GB)" in catalog
    assert "pdfaid:part" in document.get_xml_metadata()
    assert document.metadata["title"].startswith("Numerical verification")
    assert document.metadata["author"] == "lipverify 0.1.0"
    alt = next(figure.alt for claim in book.claims for figure in claim.figures)
    objects = "".join(document.xref_object(k) for k in range(1, document.xref_length()))
    assert alt in objects


# ---- ledgers that are empty, broken or hostile ----


def test_an_empty_ledger_says_so(folder: Path) -> None:
    assert squeezed("The ledger holds no claims") in text_of(pdf(ledger(()), folder))


def test_a_check_that_broke_says_why(printed: bytes) -> None:
    assert squeezed("OutOfReach: w = 1e9: the recursion overflows") in text_of(printed)


def hostile_record(text: str) -> Record:
    panel = Panel(
        title=text,
        xlabel=text,
        ylabel=text,
        series=(Series(label=text, x=(1.0, 2.0), y=(-1.0, math.nan)),),
        bands=(Band(label=text, low=-1.0),),
    )
    first = cell(2, text, Allowed(), text, quantity=text, method=text, note=text)
    check = replace(record().cross_checks[0], where={text: text}, quantity=text, agrees=False)
    return record(
        text,
        title=text,
        statement=text,
        source=Source(paper=text, place=text, printed=text),
        assumptions=(text, text),
        measured=text,
        claimed=text,
        finding=text,
        reproduce=text,
        problem=text,
        cells=(first, replace(first, where={text: text}, claimed=text + "x", measured=None)),
        cross_checks=(replace(check, methods=(text, text)),),
        figures=(Figure(caption=text, alt=text, panels=(panel,)),),
    )


@pytest.fixture(scope="module")
def hostile(folder: Path) -> bytes:
    text = HOSTILE[-1]
    made = Provenance(versions={text: text, "lipverify": HOSTILE[1]}, machine=text, started=text, seconds=math.nan)
    claims = tuple(hostile_record(text) for text in HOSTILE)
    return pdf(Ledger(profile=text, seed=0, backend=text, provenance=made, claims=claims), folder, "h.pdf")


def test_hostile_text_is_printed_as_it_is(hostile: bytes) -> None:
    text = text_of(hostile)
    assert text.count(squeezed('#read("/etc/passwd")')) > 20
    assert squeezed('#import "x"') in text
    assert "//gone/*gone*/" in text
    assert "=heading" in text
    assert "root:" not in text
    assert "U+202E" in text
    assert "U+0000" in text


@pytest.mark.parametrize("name", ["printed", "hostile"])
def test_nothing_leaves_the_page(name: str, request: pytest.FixtureRequest) -> None:
    content = pages(request.getfixturevalue(name))
    seen = 0
    for page in content:
        # Punctuation may hang into the margin by up to half a letter.
        frame = pymupdf.Rect(49, 36, page.rect.x1 - 49, page.rect.y1 - 25)
        for x0, y0, x1, y1, word, *_ in page.get_text("words"):
            seen += 1
            assert frame.x0 <= x0, (page.number, word)
            assert x1 <= frame.x1, (page.number, word)
            assert frame.y0 <= y0, (page.number, word)
            assert y1 <= frame.y1, (page.number, word)
    assert seen > 500


def test_a_figure_that_cannot_be_drawn_leaves_its_caption_and_the_reason(folder: Path) -> None:
    broken = Series(label="s", x=(1.0, 2.0), y=(1.0,))
    panel = Panel(title="t", xlabel="x", ylabel="y", series=(broken,))
    claim = record(figures=(Figure(caption="kept caption", alt="a", panels=(panel,)),))
    text = text_of(pdf(ledger((claim,)), folder))
    assert squeezed("This figure could not be drawn") in text
    assert squeezed("kept caption") in text


def test_a_formula_that_the_typesetter_refuses_is_shown_as_its_source() -> None:
    report = model(ledger((record(figures=()),)))
    broken = replace(report, front=replace(report.front, summary=((Run("math", "the source", "nonsense(x)"),),)))
    assert squeezed("the source") in text_of(typeset(broken, {}))


@pytest.mark.parametrize("changes", [{"title": r"$\,$"}, {"title": "\n"}, {"title": "", "id": ""}])
def test_a_heading_that_shows_nothing_does_not_lose_the_report(changes: dict[str, str], folder: Path) -> None:
    claim = replace(record(figures=(), finding="kept finding"), **changes)
    assert squeezed("kept finding") in text_of(pdf(ledger((claim,)), folder))


def test_a_claim_without_words_for_a_title_has_its_statement_as_a_formula() -> None:
    said, statement = "w* = Θ(n^(2/(d + 3)))", r"w^* = \Theta\left(n^{2/(d + 3)}\right)"
    for title, kind in ((said, "math"), ("the window grows", "words")):
        (run,) = heading((record(title=title, statement=statement, heading=None),))
        assert run.kind == kind
        assert run.text == (statement if kind == "math" else title)


def test_a_figure_that_two_readings_share_is_drawn_once() -> None:
    drawings = Drawings()
    first, again = (drawings.add(slopes_figure(None, None)) for _ in range(2))
    other = drawings.add(slopes_figure(float, None))
    assert first == again
    assert other.file != first.file
    assert len(drawings.files) == 2


# ---- formulas ----


def test_every_word_of_the_vocabulary_is_typeset(folder: Path) -> None:
    names = [*symbols.CHARACTERS, *symbols.OPERATORS, *symbols.NAMED, *symbols.BELOW]
    formulas = [rf"a \{name} b" for name in (*names, *symbols.SPACES, *symbols.SILENT)]
    formulas += [rf"\{name}{{x}}" for name in (*symbols.DECORATIONS, *symbols.UPRIGHT)]
    formulas += [rf"\{name}( x" for name in symbols.SIZES]
    formulas += [rf"{{\{name} x + y}}" for name in symbols.SWITCHES]
    formulas += [rf"a \not{relation} b" for relation in symbols.NEGATED]
    formulas += [
        r"a \bmod b \pmod{c}",
        r"\xrightarrow{d}",
        r"\nicefrac12 + \dbinom{n}{k}",
        r"\mathop{x}_{\substack{i}}",
    ]
    formulas += [
        r"\left\{ a \,\middle|\, \frac{1}{2} \right.",
        r"\begin{aligned} a &= b \\ &\le c \end{aligned}",
        r"f = \begin{cases} a & \text{if } x > 0 \\ b & \text{else} \end{cases}",
        r"\begin{pmatrix} A & b \\ v^\top & c \end{pmatrix}",
        r"\sqrt[3]{x} + \binom{n}{k} + \overset{d}{=} + \underset{n}{x} + f''_i^2",
        r"\operatorname*{argmin}_v x + \mathbf{E} + {}^2 x",
    ]
    runs = [rich(f"${formula}$") for formula in formulas]
    assert {run.kind for (run,) in runs} == {"math"}
    empty = model(ledger(()))
    report = replace(empty, front=replace(empty.front, summary=tuple(runs)))
    broken = replace(report, front=replace(report.front, summary=(*runs, (Run("math", "s", "nonsense(x)"),))))
    # A formula that does not compile would be turned into code and show its backslash.
    assert "\\" not in text_of(typeset(broken, {}))


@pytest.mark.parametrize(
    ("formula", "means"),
    [
        (r"{\rm Var} x", r"\mathrm{Var} x"),
        (r"\rm x", r"\mathrm{x}"),
        (r"{\cal L}^2", r"\mathcal{L}^2"),
        (r"a \not= b", r"a \neq b"),
        (r"a \not\in b", r"a \notin b"),
        (r"\cfrac{a}{b}", r"\frac{a}{b}"),
        (r"\Omega\left(n^{1}\right)", r"\Omega\left(n\right)"),
        (r"\mathcal{O}\left(\Lambda^{1} \log n\right)", r"\mathcal{O}\left(\Lambda \log n\right)"),
    ],
)
def test_formulas_written_in_other_ways_are_set_alike(formula: str, means: str) -> None:
    assert typst_math(formula) == typst_math(means)


def test_a_raised_one_that_may_be_an_index_stays() -> None:
    assert typst_math("w^{1}") != typst_math("w")
    assert typst_math(r"\Omega\left(n^{1/2}\right)") != typst_math(r"\Omega\left(n\right)")


def test_a_reason_is_two_sentences_and_conditions_stand_with_their_reading() -> None:
    claims = (
        record("a.b/1", assumptions=("shared", "of one"), finding="It is $1.5$. So is 0.5. Not this."),
        record("a.b/2", assumptions=("shared", "of two"), finding="Another."),
    )
    (theorem,) = theorems(model(ledger(claims)))
    assert words_of(theorem.reason) == "It is 1.5. So is 0.5."
    assert [words_of(text) for text in theorem.assumptions] == ["shared"]
    assert [[words_of(text) for text in each.assumptions] for each in theorem.readings] == [["of one"], ["of two"]]


def test_an_argument_without_braces_is_one_digit_as_in_latex() -> None:
    assert typst_math("x^3.5") == typst_math("x^{3}.5")
    assert typst_math(r"\frac12") == "frac(1, 2)"


@pytest.mark.parametrize(
    "formula",
    [r"\unknown", r"\frac{a}", "{", "}", "a & b", r"\left( a", r"\begin{x}a\end{x}", "a^b^c", "",
     r"\text{#x}", "#x", "x" * 60, "{" * 500, r"\frac" * 500, "\x00", r"\begin{cases}"],
)  # fmt: skip
def test_what_is_not_understood_is_refused(formula: str) -> None:
    with pytest.raises(UnreadableError):
        typst_math(formula)


ALLOWED = re.compile(
    r'"(?:[^"\\]|\\.)*"'  # a string
    r"|\\u\{[0-9a-f]+\}|\\ "  # one character, a new line
    r"|#none|#h\(-1em/6\)|#\d\.\dem"
    r"|[A-Za-z0-9. (),;:&]",
    re.DOTALL,
)
CALLS = {"frac", "attach", "lr", "mid", "binom", "sqrt", "root", "op", "limits", "upright", "bold"}
CALLS |= {"cases", "mat", "class", *symbols.DECORATIONS.values()}
pieces = st.sampled_from(
    ["#", "$", "\\", '"', "{", "}", "(", ")", "^", "_", "&", "\\\\", "\\text", "\\mathrm", "\\left",
     "\\right", "\\frac", "\\begin{cases}", "\\end{cases}", "eval", "read", "/", "..", ":", ",",
     ";", "//", "/*", "a", "1", " ", "'", "\\operatorname", "]", "[", "\u202e", "σ", "@", "<", ">"]
)  # fmt: skip


@given(st.lists(pieces, max_size=14).map("".join))
@example(r'\text{"}) #read("/etc/passwd")')
@example(r"read(a: b, ..c)")
def test_no_formula_can_carry_code(formula: str) -> None:
    try:
        source = typst_math(formula)
    except UnreadableError:
        return
    assert ALLOWED.sub("", source) == ""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', source)
    called = set(re.findall(r"([A-Za-z.]+)\(", bare))
    assert called <= CALLS | {"h"}


# ---- figures ----


def test_a_family_of_series_gets_colours_that_differ_in_grey() -> None:
    looks = series_looks(terms_figure())
    family = [looks[f"$d = {d}$"].color for d in range(2, 9)]
    lightness = [0.299 * r + 0.587 * g + 0.114 * b for r, g, b, _ in family]
    steps = [b - a for a, b in pairwise(lightness)]
    # Seven shades between dark and light: a step of at least half the even one.
    assert min(steps) > (lightness[-1] - lightness[0]) / 6 / 2
    assert lightness[-1] - lightness[0] > 0.4


def test_one_label_looks_the_same_in_all_panels_and_two_labels_never_do() -> None:
    looks = series_looks(terms_figure())
    assert len({(str(k.color), k.marker, str(k.dashes)) for k in looks.values()}) == len(looks)


@pytest.mark.parametrize("low", [None, 0.1, -3.0])
@pytest.mark.parametrize("high", [None, 0.9, 40.0])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_band_is_drawn_whatever_bounds_it(low: float | None, high: float | None, scale: str) -> None:
    plain = slopes_figure(None, None)
    panel = replace(plain.panels[0], yscale=scale, bands=(Band(label="b", low=low, high=high),))
    bare = replace(panel, bands=())
    assert draw(replace(plain, panels=(panel,))) != draw(replace(plain, panels=(bare,)))


def test_a_region_between_two_curves_is_drawn_and_widens_nothing() -> None:
    plain = slopes_figure(None, None)
    (x, y) = (plain.panels[0].series[0].x, plain.panels[0].series[0].y)
    region = Region(label="r", x=x, low=tuple(v / 2 for v in y), high=tuple(9e9 * v for v in y))
    panel = replace(plain.panels[0], regions=(region,), bands=())
    drawn = draw(replace(plain, panels=(panel,)))
    assert drawn != draw(replace(plain, panels=(replace(panel, regions=()),)))
    other = replace(panel, regions=(replace(region, high=tuple(2e9 * v for v in y)),))
    # both reach far beyond the axes, whose ticks are those of the series alone
    assert b"10^{9}" not in drawn
    assert re.findall(rb"<text.*?</text>", drawn) == re.findall(
        rb"<text.*?</text>", draw(replace(plain, panels=(other,)))
    )


def test_points_that_have_no_place_are_counted_in_the_caption() -> None:
    series = Series(label="s", x=(1.0, 2.0, 0.0), y=(1.0, -1.0, 1.0))
    panel = Panel(title="t", xlabel="x", ylabel="y", series=(series,))
    drawing = Drawings().add(Figure(caption="c.", alt="", panels=(panel,)))
    assert "2 points" in "".join(run.text for run in drawing.caption)
    assert drawing.alt


@given(st.text(max_size=20))
def test_no_invisible_character_reaches_the_page(text: str) -> None:
    shown = printable(text)
    hidden = [c for c in shown if not c.isprintable() and c != "\n"]
    assert hidden == []


def test_every_verdict_has_its_word() -> None:
    from lipverify.report import words

    assert set(words.VERDICTS) == set(VERDICTS)


@pytest.mark.parametrize(
    ("formula", "means"),
    [
        (r"w^{\frac{2}{d+3}}", r"w^{2/\left(d+3\right)}"),
        (r"w^{\frac{d}{2} - \frac{1}{2}}", "w^{d/2 - 1/2}"),
        (r"w^{\frac{d-1}{2}}", r"w^{\left(d-1\right)/2}"),
        (r"w^{2 \frac{1}{2}}", r"w^{2 \left(1/2\right)}"),
        (r"w^{\frac{1}{2} x}", r"w^{\left(1/2\right) x}"),
        (r"w^{\frac{\frac{1}{2}}{3}}", r"w^{\left(1/2\right)/3}"),
        (r"w^{\frac{1}{\frac{2}{3}}}", r"w^{1/\left(2/3\right)}"),
    ],
)
def test_a_fraction_in_a_script_is_on_one_line_and_means_the_same(formula: str, means: str) -> None:
    assert typst_math(formula) == typst_math(means)


@pytest.mark.parametrize("label", [r"$\Omega$", r"$\langle x \rangle$", "σ²", "ⅷ"])
def test_a_letter_that_the_page_would_not_show_is_drawn_as_an_outline(label: str) -> None:
    panel = Panel(title=label, xlabel="x", ylabel="y", series=(Series(label="s", x=(1.0, 2.0), y=(1.0, 2.0)),))
    assert b"<text" not in draw(Figure(caption="c", alt="a", panels=(panel,)))
    plain = replace(panel, title=r"$\Lambda^{1/d}$")
    assert b"<text" in draw(Figure(caption="c", alt="a", panels=(plain,)))


def sheet(*values: float) -> Figure:
    rows = tuple(values[k : k + 2] for k in range(0, len(values), 2))
    return Figure(caption="c", alt="a", maps=(HeatMap(title="$P$", values=rows, rows=("a", "b"), columns=("c", "d")),))


def test_a_heat_map_draws_the_same_bytes_and_every_value_has_its_colour() -> None:
    flat, other = draw(sheet(0.0, 1.0, 2.0, 3.0)), draw(sheet(0.0, 1.0, 2.0, 2.9))
    assert draw(sheet(0.0, 1.0, 2.0, 3.0)) == flat != other


def test_a_heat_map_with_both_signs_has_white_at_nothing() -> None:
    signed = draw(sheet(-1.0, 0.0, 0.5, 2.0)).decode()
    assert "#f7f6f6" in signed or "#f6f7f7" in signed, "the middle of the scale"
    assert draw(sheet(-1.0, 0.0, 0.5, 2.0)) != draw(sheet(1.0, 0.0, 0.5, 2.0))


def test_a_value_that_is_not_finite_leaves_its_cell_blank() -> None:
    assert b"#d9d9d9" in draw(sheet(1.0, math.nan, 0.5, math.inf))


def test_the_table_of_passages_is_that_of_the_ledger(folder: Path) -> None:
    claims = (
        record("a.b/1", kind="printed", verdict="refuted", corrected="two thirds", source=Source("P", "Lemma 7", "x")),
        record("a.b/2", kind="convention", verdict="supported", reading="wide", source=Source("P", "Figure 8", "x")),
        record("a.b/3", kind="stronger", verdict="refuted", source=Source("P", "Lemma 9", "x")),
    )
    report = model(ledger(claims))
    assert [(row.outcome, row.grade != "") for row in report.passages] == [
        ("false as printed", True),
        ("holds in one of its readings", True),
    ]
    shown = squeezed("".join(page.get_text() for page in pages(pdf(ledger(claims), folder))))
    _, _, table = shown.partition("printedinoutcome")
    for text in ("Lemma 7", "false as printed", "Figure 8", "holds in one of its readings"):
        assert squeezed(text) in table
    assert [(words_of(row.instead), words_of(row.holds)) for row in report.passages] == [
        ("two thirds", ""),
        ("", "wide"),
    ]
    assert squeezed("What holds: two thirds") in shown
    assert "Lemma9" not in table.partition("Evidence")[0]
