"""Methods that check each other share only the definition of the problem."""

from __future__ import annotations

import ast
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

import lipverify
from tests import tree_of

ROOT = Path(lipverify.__file__).parent
MAY_SHARE = {
    "lipverify.errors",
    "lipverify.foundation",
    "lipverify.problem",
    "lipverify.loss.terms",
    "lipverify.loss.work",
}
"""`work` counts evaluations and performs none."""


@cache
def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{name.name}" for name in node.names} | {node.module}
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name for name in found if name.startswith(("lipverify.", "checks")) and "__" not in name}


def reachable(start: str) -> set[str]:
    seen: set[str] = set()
    queue = [start]
    while queue:
        name = queue.pop()
        for candidate in (
            ROOT.parent / (name.replace(".", "/") + ".py"),
            ROOT.parent / name.replace(".", "/") / "__init__.py",
        ):
            if candidate.exists() and name not in seen:
                seen.add(name)
                queue += imports(candidate)
    return seen


METHODS = ("exact.ridge.terms", "exact.zonal.terms", "certified", "asymptotic.terms", "montecarlo.terms", "block")


@pytest.mark.parametrize(("one", "other"), list(combinations(METHODS, 2)))
def test_methods_that_check_each_other_share_only_the_problem(one: str, other: str) -> None:
    first, second = (reachable(f"lipverify.loss.{name}") for name in (one, other))
    common = {name for name in first & second if not any(name.startswith(shared) for shared in MAY_SHARE)}
    assert common <= {"lipverify.loss"}, "the package itself holds the entry and no mathematics"
    assert len(first) > 5, "the walk sees nothing"
    assert len(second) > 5, "the walk sees nothing"
