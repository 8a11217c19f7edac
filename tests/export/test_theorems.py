"""The table of statements in LaTeX: what it holds, and an article with booktabs alone that a real TeX compiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from hashlib import sha256
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lipverify.claims.ledger import Ledger, write_ledger
from lipverify.export import export_ledger
from lipverify.export.theorems import formula, theorems, words  # internal: one text, compiled alone
from lipverify.foundation.latex import plain, symbols  # internal: the commands that formulas may have
from lipverify.report.statements import rows  # internal: the table that all reports share
from tests.commands import Commands
from tests.ledgers import ledger, realistic, record

BOOK = realistic()
pymupdf: Any = import_module("pymupdf")  # it has no types

PAPER = r"""\documentclass[%(columns)s]{article}
\usepackage{booktabs}
\begin{document}
%(body)s
\end{document}
"""
KERNEL = set(
    "par noindent begingroup endgroup footnotesize begin end dimexpr linewidth tabcolsep relax toprule midrule "  # noqa: SIM905
    "bottomrule addlinespace medskip raggedright tabularnewline multicolumn emph providecommand allowbreak ensuremath "
    "textbackslash textasciicircum textasciitilde textless textgreater textbar textquotesingle textasciigrave texttt "
    "ifdim else fi scriptsize hspace textbf "
    "ldots surd S dag ddag left right middle mbox mathop mathrm nolimits limits choose sqrt not".split()
)
"""The commands that stand around formulas, all of LaTeX itself or of booktabs."""
NAMES = (
    "100 % of R_k & {more} \\ #1 ~ ^ $",
    "Größe ≤ ½ der Λ^{1/d}, μ ∈ ℝ²",
    "x" * 300,
    r"$\input{x}$ $\alpha_k$ — “q”",
)
"""Titles with characters that LaTeX reads otherwise, letters of other alphabets, and a word of 300 letters."""


def hostile() -> Ledger:
    claims = [record(f"mine.title/{k}", title=title, file="my_claims.py") for k, title in enumerate(NAMES)]
    places = [replace(claim.source, place=title) for claim, title in zip(claims, NAMES, strict=True)]
    return ledger(tuple(replace(claim, source=place) for claim, place in zip(claims, places, strict=True)))


def long() -> Ledger:
    """A run of ninety rows, some high and some of a single line, which no page can hold."""
    high = (record(f"mine.many/{k}", title=f"Title {k} {'word ' * 20}") for k in range(30))
    short = {"statement": "a = b", "cells": (), "verdict": "error"}
    return ledger((*high, *(record(f"mine.more/{k}", title=f"T {k}", **short) for k in range(60))))


def compiled(folder: Path, book: Ledger, body: str = r"\input{theorems}", columns: str = "onecolumn") -> str:
    """The log of an article with this body, which must compile."""
    tex = shutil.which("pdflatex")
    if tex is None:
        pytest.skip("there is no pdflatex; Debian has it in texlive-latex-base, booktabs in texlive-latex-recommended")
    export_ledger(book, folder, ["tex"])
    (folder / "paper.tex").write_text(PAPER % {"columns": columns, "body": body}, encoding="utf-8")
    done = subprocess.run(
        [tex, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "body"),
    [
        ("onecolumn", r"\begin{table}\caption{C}\input{theorems}\end{table}"),
        ("onecolumn", r"Before. \input{theorems} After."),
        ("twocolumn", r"\begin{table*}\caption{C}\input{theorems}\end{table*}"),
    ],
)
def test_an_article_with_booktabs_alone_compiles_and_nothing_is_too_wide(
    tmp_path: Path, columns: str, body: str
) -> None:
    log = compiled(tmp_path, BOOK, body, columns)
    assert "Overfull" not in log
    document = pymupdf.open(tmp_path / "paper.pdf")
    text = " ".join("".join(page.get_text() for page in document).split())
    for part in ("Theorem 2. The window", "Lemma B.1", "0.40000030 ± 6.7", "refuted at d = 2; extrapolated"):
        assert part in text


@pytest.mark.slow
@pytest.mark.parametrize("book", [hostile, long])
def test_titles_of_any_text_and_long_runs_compile_and_fit_on_their_pages(tmp_path: Path, book: Ledger) -> None:
    log = compiled(tmp_path, book())  # type: ignore[operator]
    assert "Overfull" not in log


@pytest.mark.slow
def test_the_check_of_a_compiled_paper_can_fail(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Undefined control sequence"):
        compiled(tmp_path, BOOK, r"\input{theorems} \undefinedcommand")


def commands(source: str) -> set[str]:
    return set(re.findall(r"\\([A-Za-z]+)", re.sub(r"(?m)^%.*$", "", source)))


@pytest.mark.parametrize("book", [BOOK, hostile(), long()])
def test_every_command_is_of_latex_of_booktabs_or_of_a_formula(book: Ledger) -> None:
    source = theorems(book).decode()
    known = {command.lstrip("\\") for command in symbols.LATEX.values()} | symbols.FUNCTIONS | set(symbols.SIZES)
    known |= {form.latex for form in symbols.COMMANDS.values()} | set(symbols.SPACES)
    assert commands(source) <= KERNEL | known
    assert not commands(source) & {"text", "operatorname", "dfrac", "tfrac", "newcommand", "def"}
    for command in ("mathbb", "boldsymbol", "binom", "overset", "underset"):  # of amsmath and amssymb
        assert (command in commands(source)) == (rf"\providecommand\{command}" in source)


def test_the_first_line_names_what_the_preamble_needs() -> None:
    assert theorems(BOOK).decode().splitlines()[0].endswith(r"\usepackage{booktabs}")
    rare = ledger((record(statement=r"a \lesssim b"),))
    assert theorems(rare).decode().splitlines()[0].endswith(r"\usepackage{amsmath,amssymb,booktabs}")


def test_there_is_a_row_for_each_row_of_the_table_of_statements() -> None:
    found = [line.removeprefix(r"\raggedright \hspace{0pt}") for line in theorems(BOOK).decode().split("\n& ")]
    assert len(rows(BOOK)) == 6
    papers = [paper for paper, _ in groupby(row.paper for row in rows(BOOK))]
    headings = [heading for heading, _ in groupby((row.paper, row.heading) for row in rows(BOOK))]
    assert theorems(BOOK).decode().count(r"\tabularnewline") == 1 + len(papers) + len(headings) + 6
    for paper in papers:
        assert theorems(BOOK).decode().count(rf"\emph{{{words(paper)}}}") == papers.count(paper)
    for row in rows(BOOK):
        assert any(words(plain(row.place)) in cell for cell in found)
    assert any(cell.startswith("refuted at $d$ = 2; extrapolated") for cell in found)
    assert any("control not caught" in cell for cell in found)
    assert any(cell.startswith(r"exponent of $w^*$ in $\Lambda$ at $d = 2$: 0.40000030") for cell in found)


def test_a_long_run_is_several_tables_each_with_its_head() -> None:
    source = theorems(long()).decode()
    assert source.count(r"\begin{tabular}") == source.count(r"\toprule") == source.count(r"\bottomrule") > 2
    assert theorems(BOOK).decode().count(r"\begin{tabular}") == 1
    assert theorems(ledger(())).decode().endswith("% no claim\n")


@pytest.mark.parametrize(
    ("statement", "cell"),
    [
        (r"a = 1, \quad b = 2", "$a = 1$, $b = 2$"),
        (r"\frac{a, \quad b}{c} = 1", r"$\frac{a, \quad b}{c} = 1$"),
        (r"\Theta\left(n^{2/d}\right)", r"$\Theta(n^{2/d})$"),
        (r"O\left(\frac{1}{n}\right)", r"$O\left(\frac{1}{n}\right)$"),
        (r"R_k \leq \text{twice the noise, at } d = 2", "$R_k \\leq$ twice the noise, at $d = 2$"),
        (r"\operatorname{tr} M", r"$\mathop{\mathrm{tr}}\nolimits  M$"),
        (r"\operatorname{erf}(w) \binom{n}{2}", r"\mathrm{erf}"),
        (
            r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
            r"$\left(\begin{array}{*{9}{l}} a & b \\ c & d \end{array}\right)$",
        ),
        (r"f = \begin{cases} 0 & x < 0 \\ 1 \end{cases}", r"0 & x < 0 \\ 1 \end{array}\right."),
        ("a / b", r"a /\allowbreak b"),
    ],
)
def test_a_formula_can_break_and_needs_no_amsmath(statement: str, cell: str) -> None:
    assert cell in theorems(ledger((record(statement=statement),))).decode()


def test_a_long_word_may_break() -> None:
    assert re.fullmatch(r"(x{15}\\allowbreak\{\}){3}xx", words("x" * 47))
    assert words("a word of 15 letters: " + "x" * 15) == "a word of 15 letters: " + "x" * 15


def test_the_digest_is_that_of_the_ledgers_file(tmp_path: Path) -> None:
    write_ledger(BOOK, tmp_path / "ledger.json")
    digest = sha256((tmp_path / "ledger.json").read_bytes()).hexdigest()
    assert digest in theorems(BOOK).decode()
    assert digest not in theorems(replace(BOOK, claims=BOOK.claims[1:])).decode()


def test_special_signs_are_typeset() -> None:
    for sign in "‡Ω≤⁴₂½′≠ℓ∞⊥ℝ":
        assert "U+" not in words(sign), sign
    assert words("\u0175 w\u0302") == "\u0175 " + r"\ensuremath{\hat{w}}"
    assert formula("w^{1/d}") == "$w^{1/d}$"


def test_the_command_takes_the_folder(lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reports").mkdir()
    write_ledger(BOOK, Path("reports") / "ledger.json")
    assert lipverify("export", "--latex", "paper").returncode == 0
    assert {path.name for path in Path("paper").iterdir()} == {"theorems.tex"}
