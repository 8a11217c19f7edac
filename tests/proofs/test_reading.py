"""What a reader of the checker must read: files that import nothing of other theorems, and numbered lemmas."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lipverify.foundation.shipped import shipped
from lipverify.proofs import checker

# internal: the lemmas of each kind of proof, and the folders of the theorems
from lipverify.proofs.checker.kernel import registry
from tests import ROOT
from tests.docs import lemmas

FOLDER = Path(checker.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
MOST = 1900
"""The most lines that a reader of a window theorem must read; they were 4,551 when all theorems imported each other."""
ALLOWED = {"flint"} | set(sys.stdlib_module_names)
"""What the checker imports besides itself."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_a_theorem_imports_the_kernel_and_nothing_of_another_theorem(path: Path) -> None:
    here = path.relative_to(FOLDER).parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 2:
            assert (node.module or "").partition(".")[0] == "kernel", node.module
        elif isinstance(node, ast.ImportFrom) and node.level == 1:
            assert len(here) == 2 or (here == ("__init__.py",) and (node.module or "").startswith("kernel"))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
            assert {str(name).partition(".")[0] for name in names} <= ALLOWED


def to_read(name: str) -> dict[str, int]:
    """The lines of the files that the checker imports for one proof file, in a process of its own."""
    script = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import checker\n"
        "checker.read(json.load(open(sys.argv[2])))\n"
        "files = {name: module.__file__ for name, module in sys.modules.items() if name.split('.')[0] == 'checker'}\n"
        "print(json.dumps({name: sum(1 for _ in open(path)) for name, path in files.items()}))"
    )
    arguments = [str(FOLDER.parent), str(shipped() / "proofs" / f"{name}.json")]
    ran = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, check=True)
    lines: dict[str, int] = json.loads(ran.stdout)
    return lines


ROW = re.compile(r"\| `(\w+)` \| `([\w.-]+)` \| ([\d,]+) \| ([\d,]+) \|")
ROWS = ROW.findall((ROOT / "docs" / "proofs.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_documents_count_the_lines_that_a_sceptic_must_read(row: tuple[str, str, str, str]) -> None:
    folder, name, shared, whole = row
    lines = to_read(name)
    own = {each: number for each, number in lines.items() if each.startswith(f"checker.{folder}")}
    others = {"every_n": "checker.window"}.get(folder, "checker.kernel")
    assert all(each.startswith((f"checker.{folder}", "checker.kernel", others)) for each in lines if each != "checker")
    assert (shared, whole) == (f"{sum(lines.values()) - sum(own.values()):,}", f"{sum(lines.values()):,}")
    assert folder != "window" or sum(lines.values()) <= MOST


def test_the_documents_count_the_lines_of_every_theorem() -> None:
    assert [row[0] for row in ROWS] == list(registry.THEOREMS)


def test_every_lemma_of_every_proof_file_has_a_number_of_its_own() -> None:
    numbered = [(number, rule) for module in lemmas.modules() for number, rule in module.LEMMAS.items()]
    assert len({number for number, _ in numbered}) == len({rule for _, rule in numbered}) == len(numbered)
    rules = {rule for _, rule in numbered}
    for path in (shipped() / "proofs").glob("*.json"):
        proof = checker.read(json.loads(path.read_text(encoding="utf-8")))
        assert {rule for rule, _ in checker.KINDS[proof.theorem].chain(proof)} <= rules


def test_every_number_that_the_code_cites_is_that_of_a_lemma() -> None:
    numbers = {number for module in lemmas.modules() for number in module.LEMMAS}
    cited = {number for path in FILES for number in re.findall(r"lemma (\d+\.\d+)", path.read_text(encoding="utf-8"))}
    assert len(cited) > 5
    assert cited <= numbers


def test_the_page_of_lemmas_is_that_of_the_docstrings() -> None:
    assert lemmas.PAGE.read_text(encoding="utf-8") == lemmas.page(), "run python -m tests.docs"
