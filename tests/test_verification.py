"""`lipverify.verify`: the same ledger as from the command, its display, and the title and author of a report."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pymupdf
import pytest
from msgspec.structs import asdict, replace

import lipverify
from lipverify.claims.ledger import Ledger, read_ledger, write_ledger
from lipverify.claims.run.audit import audit
from lipverify.errors import InvalidInput
from lipverify.verification import Verification
from tests.commands import Commands

OWN = """
from lipverify.claims import bound, claim

TITLE = "Squares: $x^2$"
AUTHOR = "A. Author"

def square(x):
    return x * x, 1e-12

claim("mine.square", bound(square, "q", high="x", control="x / 20"), over={"x": (0.25, 0.5)},
      source=("Notes", "Lemma 1", "q"), kind="printed", expected="supported")
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "mine.py"
    path.write_text(OWN)
    return path


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


@pytest.fixture(scope="module")
def ledger(own: Path) -> Verification:
    return lipverify.verify(own, "softmax.split", jobs=0, quiet=True)


@pytest.mark.usefixtures("no_reports")
def test_it_is_the_ledger_of_the_command(ledger: Verification, own: Path, tmp_path: Path, command: Commands) -> None:
    assert command("verify", str(own), "softmax.split", "--out", str(tmp_path), "--jobs", "0").returncode == 0
    written = read_ledger(tmp_path / "ledger.json")
    assert [replace(each, seconds=0) for each in written.claims] == [replace(each, seconds=0) for each in ledger.claims]
    assert not audit(ledger)


def test_it_can_be_written_and_read(ledger: Verification, tmp_path: Path) -> None:
    write_ledger(ledger, tmp_path / "ledger.json")
    assert read_ledger(tmp_path / "ledger.json") == Ledger(**asdict(ledger))


def test_progress_goes_to_standard_error_only(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lipverify.verify(own, jobs=0)
    said = capsys.readouterr()
    assert said.out == ""
    assert "mine.square" in said.err
    lipverify.verify(own, jobs=0, quiet=True)
    assert capsys.readouterr() == ("", "")


def test_a_figure_has_a_pair_of_axes_for_each_claim(ledger: Verification) -> None:
    assert [ax.get_title() for ax in ledger.plot().axes] == ["mine.square: supported", "softmax.split: supported"]
    (ax,) = ledger.plot("mine.square").axes
    assert ax.get_title() == "mine.square: supported"
    assert "mine.square" in ledger._repr_html_()


def test_a_data_frame_has_the_numbers_of_the_claims(ledger: Verification) -> None:
    pytest.importorskip("pandas")
    claims = ledger.to_dataframe().set_index("id")
    assert list(claims.index) == ["mine.square", "softmax.split"]
    assert {str(claims[name].dtype) for name in ("value", "error", "low", "high")} == {"float64"}
    assert claims.loc["mine.square", ["value", "error", "high"]].tolist() == [0.25, pytest.approx(1e-12, 1e-3), 0.5]
    assert math.isnan(claims.loc["mine.square", "low"])
    cells = ledger.to_dataframe("cells")
    assert cells[cells.id == "mine.square"].x.tolist() == [0.25, 0.5]
    with pytest.raises(InvalidInput, match="table = 'rows' is not known; choose one of: cells, claims"):
        ledger.to_dataframe(cast(Any, "rows"))


def test_without_pandas_the_way_out_is_named(ledger: Verification, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InvalidInput, match=r"needs pandas, which is not installed: pip install pandas\.$"):
        ledger.to_dataframe()


def test_title_and_author_stand_on_the_report(ledger: Verification, tmp_path: Path) -> None:
    report: Any = pymupdf.open(stream=ledger.report(tmp_path / "report.pdf").read_bytes(), filetype="pdf")  # type: ignore[no-untyped-call]
    first = report[0].get_text()
    assert report.metadata["author"] == "A. Author"
    assert first.split()[:1] == ["Squares:"]
    assert "A. Author" in first
    page = ledger.report(tmp_path / "report.html").read_text()
    assert "<h1>Squares: <math" in page
    assert "A. Author" in page


def test_the_command_says_them_too(own: Path, tmp_path: Path, command: Commands) -> None:
    named = ("--title", "Of mine", "--author", "B. Author")
    assert command("verify", str(own), "--out", str(tmp_path), "--jobs", "0", *named).returncode == 0
    found = read_ledger(tmp_path / "ledger.json")
    assert (found.title, found.author) == ("Of mine", "B. Author")
    again = tmp_path / "again.html"
    assert command("report", str(tmp_path / "ledger.json"), "--out", str(again), "--title", "Other").returncode == 0
    assert "<h1>Other</h1>" in again.read_text()
    assert "B. Author" in again.read_text()


def test_a_title_is_under_the_digest(ledger: Verification, tmp_path: Path) -> None:
    assert [each.where for each in audit(replace(ledger, title="Another"))]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda own: lipverify.verify("nothing.like-it"), "claim = 'nothing.like-it' is not known"),
        (lambda own: lipverify.verify(cast(Any, ["softmax.split"])), "give ids and paths as text, one after the other"),
        (lambda own: lipverify.verify(own, jobs=-1), "jobs = -1: the number of processes"),
        (lambda own: lipverify.verify(own, seed=-1), "seed = -1"),
        (lambda own: lipverify.verify(own, profile=cast(Any, "slow")), "profile = 'slow' is not known"),
        (lambda own: lipverify.verify(own, limit=0), "limit = 0"),
        (lambda own: lipverify.verify(own, title="a\nb"), "title = 'a\\nb': give a text of one line"),
        (lambda own: lipverify.verify(own, author="a" * 201), "give a text of one line, of at most 200 letters"),
    ],
)
def test_bad_input_is_refused_before_anything_is_measured(
    call: Callable[[Path], object], message: str, own: Path
) -> None:
    with pytest.raises(InvalidInput) as refused:
        call(own)
    assert message in str(refused.value)


def test_a_title_that_is_no_text_is_refused_with_its_file(own: Path) -> None:
    path = own.with_name("numbered.py")
    path.write_text(OWN.replace('"Squares: $x^2$"', "7"))
    with pytest.raises(InvalidInput, match=r"numbered.py: TITLE = 7: give a text of one line"):
        lipverify.verify(path)


def test_impossible_requests_to_a_ledger_are_explained(ledger: Verification, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match=r"'mine\.squares' is not in this ledger; similar ids: mine\.square, "):
        ledger["mine.squares"]
    with pytest.raises(KeyError, match=r"'split' is not in this ledger; similar ids: softmax\.split, "):
        ledger.plot("split")
    with pytest.raises(InvalidInput, match=r"ends in .pdf or .html"):
        ledger.report(tmp_path / "report.docx")
    with pytest.raises(InvalidInput, match=r"it is a folder"):
        ledger.report(tmp_path)
