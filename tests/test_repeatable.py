"""The default run draws the same examples everywhere: no rounding, no CPU and no clock decides what a test tries."""

from __future__ import annotations

import ast
import math
import runpy
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.claims.plan.registry import select_claims  # internal: the patterns of a command
from tests import PROFILE, ROOT, tree_of
from tests.slow.rounds import at_most
from tests.strategies import target

DEFAULT = settings(settings.get_profile("ci"), max_examples=80)
default = pytest.mark.skipif(PROFILE != "ci", reason="true of the default run alone")


Pair = tuple[float, float]


def drawn(target: Callable[[float], float] = target, sign: float = 1.0) -> list[Pair]:
    """The pairs that a test draws which asks for large ones, or with -1 for small ones."""
    pairs: list[Pair] = []

    @DEFAULT
    @given(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)))
    def asks(pair: Pair) -> None:
        pairs.append(pair)
        target(sign * sum(pair))

    asks()
    return pairs


@default
def test_what_a_test_asks_for_does_not_steer_it() -> None:
    """Hypothesis repeats parts of an example while that does not lower `target`, even in a run without search."""
    assert drawn() == drawn(sign=-1.0)
    assert drawn(hypothesis.target) != drawn(hypothesis.target, -1.0), "the power of the line above"


@default
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


def imported(path: Path) -> set[str]:
    nodes = (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom))
    return {alias.name for node in nodes if node.module == "hypothesis" for alias in node.names}


def test_tests_ask_by_the_target_that_has_no_effect_in_every_run() -> None:
    assert "given" in imported(Path(__file__))
    assert [str(path) for path in (ROOT / "tests").rglob("*.py") if "target" in imported(path)] == []


def test_the_claims_that_run_again_on_an_old_machine_exist() -> None:
    """A claim that had been removed stopped the whole comparison, after twenty minutes of everything before it."""
    named = runpy.run_path(str(ROOT / ".ci" / "same-verdicts"))["CLAIMS"]
    assert [pattern for pattern in named if not select_claims([pattern])] == []
