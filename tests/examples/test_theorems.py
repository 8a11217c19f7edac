"""Theorems of other papers, as users' files: each verifies as recorded, is short, and uses only public names."""

from __future__ import annotations

import ast
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Commands
from tests.examples.listing import LIST, PAGE, listing, theorems

ROOMS = ("claims", "covariates", "linear_transformer", "prompts", "sampling")
PUBLIC = {"lipverify", *(f"lipverify.{room}" for room in ROOMS)}
OTHERS = {"numpy", "scipy", "sympy", "mpmath", "functools", "fractions", "itertools", "math"}
QUICK = {"von_oswald_2023", "zhang_frei_bartlett_2024"}
"""Files that are verified whenever the tests run; the others take up to ten seconds each."""
FILES = [
    pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else [pytest.mark.slow]) for path in theorems()
]


@pytest.mark.parametrize("path", FILES)
def test_a_theorem_verifies_as_a_user_would(
    path: Path, lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = lipverify("verify", str(path), "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    records = json.loads((tmp_path / "reports" / "ledger.json").read_text())["claims"]
    assert records
    for record in records:
        assert record["verdict"] == record["expected"] != "inconclusive", record["id"]
        assert record["control"]["caught"], record["id"]
    methods = {check["methods"][1] for record in records for check in record["cross_checks"]}
    # an identity compares by itself: its number is the difference of two computations
    ends = {(cell["allowed"]["low"], cell["allowed"]["high"]) for record in records for cell in record["cells"]}
    proved = {record["grade"] for record in records} == {"proved"}
    assert methods or proved or ends == {(0.0, 0.0)}, "nothing independent stands beside it"
    assert (tmp_path / "reports" / "report.pdf").read_bytes().startswith(b"%PDF")


def imported(path: Path) -> list[tuple[str, str]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            found += [(str(node.module), alias.name) for alias in node.names]
    return found


@pytest.mark.parametrize("path", theorems(), ids=lambda path: path.stem)
def test_a_theorem_is_sixty_lines_in_the_public_interface(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60
    for module, name in imported(path):
        if module.partition(".")[0] in OTHERS:
            continue
        assert module in PUBLIC, module
        public: Any = import_module(module)
        assert not name or name in public.__all__, f"{module}.{name}"


def test_the_list_is_that_of_the_files() -> None:
    found = LIST.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert found.group() == listing(), "python -m tests.examples.listing writes it again"
