"""The LaTeX package: compiled with a real TeX, and an error where the text of a paper no longer matches the ledger."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.claims.ledger import Ledger, write_ledger
from lipverify.export import export_ledger

# internal: a macro's key and rounding, and one text character by character, tried on random values
from lipverify.export.package import coordinates, key, package, roundings, theorems, words
from tests.commands import Commands
from tests.ledgers import realistic

BOOK = realistic()
PAPER = r"""\documentclass[%(columns)s]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{lipverify}
\begin{document}
%(body)s
\end{document}
"""


@pytest.fixture(scope="module")
def book() -> Ledger:
    return BOOK


def compiled(folder: Path, book: Ledger, body: str, columns: str = "onecolumn") -> tuple[int, str]:
    """(exit code, log) of a paper with this body, in the folder of a ledger's package."""
    tex = shutil.which("pdflatex")
    if tex is None:
        pytest.skip("there is no pdflatex; Debian has it in texlive-latex-recommended")
    export_ledger(book, folder, ["tex"])
    (folder / "paper.tex").write_text(PAPER % {"columns": columns, "body": body}, encoding="utf-8")
    done = subprocess.run(
        [tex, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def first_constant(book: Ledger) -> tuple[str, str, str]:
    """(id, place, value) of a cell that has a value with an error."""
    for claim in book.claims:
        for cell in claim.cells:
            values = roundings(cell.measured, cell.error)
            if len(values) > 1:
                return claim.id, coordinates(cell, claim.cells), values[1]
    raise AssertionError("no cell has a value")


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_a_paper_compiles_and_nothing_is_wider_than_its_column(tmp_path: Path, book: Ledger, columns: str) -> None:
    id, where, value = first_constant(book)
    body = "\n\n".join(
        [
            *(rf"\lipverdict{{{claim.id}}}: \lipstatement{{{claim.id}}}" for claim in book.claims),
            *(rf"\lipverdict{{{stem}}}" for stem in {claim.id.partition("/")[0] for claim in book.claims}),
            rf"\lipconstant[{where}]{{{id}}}{{{value}}} \lipexpect{{{book.claims[0].id}}}{{{book.claims[0].verdict}}}",
            r"\begin{table}\input{theorems}\end{table}",
            r"\input{verdicts}" if columns == "onecolumn" else "",
        ]
    )
    code, log = compiled(tmp_path, book, body, columns)
    assert code == 0, log[-3000:]
    tables = log[log.find("theorems.tex") :]
    too_wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\) in alignment", tables)]
    too_wide += [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", tables)]
    assert max(too_wide, default=0.0) < 1.0, log[-3000:]
    assert "U+" not in (tmp_path / "verdicts.tex").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (r"\lipconstant[{place}]{{{id}}}{{123.4}}", "is not what the ledger holds"),
        (r"\lipconstant[d=99]{{{id}}}{{{value}}}", "no constant of"),
        (r"\lipexpect{{{id}}}{{inconclusive}}", "and the text expects"),
        (r"\lipverdict{{softmax.nothing}}", "no claim"),
    ],
)
def test_a_text_that_differs_from_the_ledger_does_not_compile(
    tmp_path: Path, book: Ledger, wrong: str, said: str
) -> None:
    id, where, value = first_constant(book)
    code, log = compiled(tmp_path, book, wrong.format(id=id, place=where, value=value))
    assert code != 0
    assert said in " ".join(log.split())


def test_the_digest_is_that_of_the_ledgers_file(tmp_path: Path) -> None:
    write_ledger(BOOK, tmp_path / "ledger.json")
    digest = sha256((tmp_path / "ledger.json").read_bytes()).hexdigest()
    assert digest in package(BOOK).decode()
    moved = replace(BOOK, claims=BOOK.claims[1:])
    assert digest not in package(moved).decode()


@given(st.floats(-1e12, 1e12).filter(lambda value: value == 0 or abs(value) > 1e-30), st.integers(-9, 0))
@example(106.0, 0)  # 100 has one digit that counts
def test_every_rounding_reads_back_near_the_value(value: float, places: int) -> None:
    found = roundings(value, abs(value) * 10.0**places)
    assert found
    size = math.floor(math.log10(abs(value))) if value else 0
    for digits, text in enumerate(found, start=1):
        assert abs(float(text) - value) <= 0.51 * 10.0 ** (size + 1 - digits)  # half a unit of the last digit
    assert [float(text) for text in found][-1] == pytest.approx(value, rel=10.0 ** max(places, -10), abs=1e-30)


def test_a_value_without_an_error_has_no_constant() -> None:
    assert roundings(0.4, None) == roundings(None, 0.1) == roundings(0.4, float("inf")) == []


def test_special_signs_are_typeset() -> None:
    for sign in "‡Ω≤⁴₂½′≠ℓ∞⊥":
        assert "U+" not in words(sign), sign
    assert words("\u0175 w\u0302") == "\u0175 " + r"\ensuremath{\hat{w}}"


def test_a_macro_name_contains_the_id_unchanged() -> None:
    assert key("softmax.window-printed/affine/lower") == "softmax.window-printed/affine/lower"
    assert re.fullmatch(r"[A-Za-z0-9-]+", key(r"a\b%{}"))


def test_the_command_takes_the_folder(lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reports").mkdir()
    write_ledger(BOOK, Path("reports") / "ledger.json")
    assert lipverify("export", "--latex", "paper").returncode == 0
    assert {path.name for path in Path("paper").iterdir()} == {"lipverify.sty", "theorems.tex", "verdicts.tex"}


def test_the_table_of_theorems_begins_a_paragraph() -> None:
    lines = theorems(BOOK).decode().splitlines()
    assert lines[1].startswith(r"\par\noindent")
    assert lines[-2] == r"\end{tabular}\par"
