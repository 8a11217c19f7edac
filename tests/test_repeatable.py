"""The default run draws the same examples everywhere: no rounding, no CPU and no clock decides what a test tries."""

from __future__ import annotations

import ast
import math
import os
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings, target
from hypothesis import strategies as st

from tests import ROOT
from tests.slow.test_differences import at_most

DEFAULT = settings(settings.get_profile("ci"), max_examples=200)


def drawn(sign: float = 1.0, profile: settings = DEFAULT) -> list[float]:
    """The numbers that a test draws which asks for large ones, or with -1 for small ones."""
    numbers: list[float] = []

    @profile
    @given(st.floats(0, 1e6))
    def asks(x: float) -> None:
        numbers.append(x)
        target(sign * x)

    asks()
    return numbers


def test_what_a_test_asks_for_does_not_steer_it() -> None:
    assert drawn(1.0) == drawn(-1.0)
    searching = settings(DEFAULT, phases=(Phase.generate, Phase.target))
    assert drawn(1.0, searching) != drawn(-1.0, searching), "the power of the line above"


@pytest.mark.skipif(os.environ.get("HYPOTHESIS_PROFILE", "ci") != "ci", reason="a search draws them")
def test_numbers_of_a_module_that_another_test_imports_are_not_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hypothesis draws them one time in twenty, so a test depended on those that ran before it in its process."""
    before = drawn()
    (tmp_path / "of_another.py").write_text(f"NUMBERS = {[k + 0.123 for k in range(100)]}\n")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("of_another")
    assert drawn() == before


def test_a_failing_example_is_reported_as_it_was_drawn() -> None:
    """Shrinking takes up to five minutes: here the example is tried once, and once more for the report."""
    tried = []

    @DEFAULT
    @given(st.floats(0, 1e6))
    def fails(x: float) -> None:
        tried.append(x)
        assert x < 1000.5

    with pytest.raises(AssertionError):
        fails()
    assert sum(x >= 1000.5 for x in tried) <= 3


def test_a_limit_in_seconds_is_refused_in_a_test_of_every_run() -> None:
    with pytest.raises(AssertionError, match="only in tests marked nightly"), at_most(60.0):
        pass
    with at_most(math.inf):
        pass


def steered(source: str) -> list[str]:
    """The calls that turn the search for large values of `target` on, whatever the profile is."""
    keywords = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.keyword))
    return [ast.unparse(node) for node in keywords if node.arg == "phases" and "target" in ast.unparse(node)]


def test_no_test_turns_the_search_on() -> None:
    files = {path.name: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    assert [name for name, source in files.items() if steered(source)] == [Path(__file__).name]
