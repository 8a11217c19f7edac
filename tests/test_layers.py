"""The structure: nothing imports to its right, and methods that check each other share only the problem."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import lipverify

ROOT = Path(lipverify.__file__).parent
ORDER = ["errors", "problem", "laws", "loss", "optimum", "scaling", "claims", "report", "cli"]
MAY_SHARE = {"lipverify.errors", "lipverify.problem", "lipverify.loss.terms"}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{name.name}" for name in node.names} | {node.module}
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name for name in found if name.startswith(("lipverify.", "checks")) and "__" not in name}


def modules() -> list[Path]:
    return [path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem in ORDER]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_imports_to_its_right(path: Path) -> None:
    mine = ORDER.index(path.relative_to(ROOT).parts[0].removesuffix(".py"))
    for name in imports(path):
        if name.startswith("checks"):
            # the register finds the claims that the wheel carries; nothing else knows them
            assert path.name == "registry.py"
        else:
            assert ORDER.index(name.split(".")[1]) <= mine, name


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


def test_sampling_and_quadrature_share_only_the_problem() -> None:
    exact = reachable("lipverify.loss.exact.terms") | reachable("lipverify.loss.exact.ridge")
    sampled = reachable("lipverify.loss.montecarlo")
    common = {name for name in exact & sampled if not any(name.startswith(shared) for shared in MAY_SHARE)}
    assert common == set()
    assert "lipverify.loss.exact.context" in exact, "the walk sees nothing"
