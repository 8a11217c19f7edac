"""Texts that would stop the typesetting are refused in one line, and huge numbers are drawn without warnings."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from lipverify.errors import InvalidInput
from lipverify.report import write_report

# internal: the limits of texts; the tests try longer texts and those of the library
from lipverify.report.visible import LONGEST_FORMULA, LONGEST_TEXT, LONGEST_WORD, require_printable
from tests.ledgers import ledger, realistic, record, slopes_figure

LONG = {
    "text": "word " * LONGEST_TEXT,
    "word": "x" * (LONGEST_WORD + 1),
    "formula": "$" + "x + " * LONGEST_FORMULA + "x$",
    "emoji": "\N{GRINNING FACE}" * (LONGEST_WORD + 1),
    "faces": "\N{GRINNING FACE} " * (LONGEST_TEXT // 8),
}


@pytest.mark.parametrize("long", LONG.values(), ids=LONG.keys())
def test_work_of_minutes_is_refused_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: str
) -> None:
    monkeypatch.setattr("lipverify.report.build.build", None)
    with pytest.raises(InvalidInput, match="can be typeset") as refusal:
        write_report(ledger((record(finding=long),)), tmp_path / "report.pdf")
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert list(tmp_path.iterdir()) == []


def test_our_own_texts_are_far_from_the_limits() -> None:
    require_printable(realistic())


def test_huge_numbers_are_drawn_without_a_warning(tmp_path: Path) -> None:
    figure = slopes_figure(lambda d: 1e308 * d / 8, lambda d: -1e308 * d / 8)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        write_report(ledger((record(figures=(figure,)),)), tmp_path / "report.pdf")
    assert [str(each.message) for each in warned if issubclass(each.category, RuntimeWarning)] == []
