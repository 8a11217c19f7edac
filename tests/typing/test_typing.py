"""Type checkers refuse wrong uses of the public interface, and accept the code of the documents and of the examples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.documents import blocks

pytestmark = pytest.mark.slow
REFUSED = (Path(__file__).parent / "refused.py.txt").read_text("utf-8")
MARK = "  # refused"
PAGES = ("README.md", "docs/tour.md", "docs/your-own-claims.md", "docs/testing.md")
FILES = ("examples/theorems/*.py", "lipverify/claims/language/start/*.py.txt")
UNTYPED = {"useLibraryCodeForTypes": False}
"""What pyright guesses of SciPy, which has no types, depends on the order of the files."""
Found = dict[str, set[int]]


def errors(checker: str, folder: Path) -> Found:
    """The lines of each file that a checker refuses with its default settings, the bodies of all functions included."""
    (folder / "pyrightconfig.json").write_text(json.dumps(UNTYPED))
    arguments = {
        "mypy": ["--config-file=", "--check-untyped-defs", "--ignore-missing-imports", "--output=json", "."],
        "pyright": ["--pythonpath", sys.executable, "--outputjson"],
    }
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    command = [sys.executable, "-m", checker, *arguments[checker]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: Found = {}
    for name, line in _mypy(done.stdout) if checker == "mypy" else _pyright(done.stdout):
        found.setdefault(name, set()).add(line)
    return found


def _mypy(printed: str) -> list[tuple[str, int]]:
    messages: list[dict[str, Any]] = [json.loads(line) for line in printed.splitlines()]
    return [(each["file"], each["line"]) for each in messages if each["severity"] == "error"]


def _pyright(printed: str) -> list[tuple[str, int]]:
    report = json.loads(printed)
    assert report["summary"]["filesAnalyzed"] > 0
    errors = [each for each in report["generalDiagnostics"] if each["severity"] == "error"]
    return [(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in errors]


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_every_wrong_use_is_refused_and_the_code_of_the_documents_is_accepted(checker: str, tmp_path: Path) -> None:
    (tmp_path / "refused.py").write_text(REFUSED)
    for page in PAGES:
        python = "\n".join(block.body for block in blocks((ROOT / page).read_text("utf-8")) if block.kind == "python")
        (tmp_path / f"{Path(page).stem.lower().replace('-', '_')}_page.py").write_text(python)
    for path in (path for pattern in FILES for path in ROOT.glob(pattern)):
        (tmp_path / path.name.removesuffix(".txt")).write_text(path.read_text("utf-8"))
    wrong = {line for line, text in enumerate(REFUSED.splitlines(), 1) if text.endswith(MARK)}
    assert len(wrong) >= 70
    assert errors(checker, tmp_path) == {"refused.py": wrong}
