"""Every code block of every document runs and prints the output shown, and every name in a document exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from lipverify.loss.methods import TABLE  # internal: a page that registers a method leaves none behind
from tests import ROOT
from tests.documents import NotAsShownError, blocks, documents, run

DOCUMENTS = documents()
ELSEWHERE = {
    "README.md": "an installation; and commands of the tour",
    "testing.md": "runs of pytest: tests/testing/test_plugin.py",
    "data.md": "commands on a ledger: tests/export/test_export.py",
}
"""Pages with shell blocks that other tests run, or that cannot run here, with the reason."""
QUICK = {"method.md", "sampling.md", "verdicts.md"}
"""Pages with blocks that run in a second. The other pages take up to twenty seconds."""
MENTIONED = re.compile(r"`(lipverify(?:\.\w+)+)(?:\(\))?`")
PATHS = re.compile(r"`((?:lipverify|checks|tests|benchmarks|examples|docs|\.ci)/[\w./*-]+)`")
"""Files and folders of the repository; a star, or a part in capitals, stands for any name."""


def page(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "page.md"
    path.write_text(text)
    return path


def marked(path: Path) -> Any:
    """A page as a parameter, marked slow if its blocks are slow."""
    runs = any(block.runs for block in blocks(path.read_text()))
    quick = path.name in QUICK or path.parent.name == "findings"
    marks = [pytest.mark.slow] if runs and not quick else []
    return pytest.param(path, marks=marks, id=str(path.relative_to(ROOT)))


@pytest.mark.parametrize("path", [marked(path) for path in DOCUMENTS])
def test_the_blocks_of_a_document_give_the_shown_output(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    if path.name in ELSEWHERE:
        text = text.replace("```sh\n", "```text\n")
    (tmp_path / path.name).write_text(text)
    folder = tmp_path / "folder"
    folder.mkdir()
    expected = sum(block.runs for block in blocks(text))
    with mock.patch.dict(TABLE):  # what a page registers must not affect other pages
        assert run(tmp_path / path.name, folder) == expected


def test_there_are_documents_and_they_run_something() -> None:
    running = {path.name for path in DOCUMENTS if any(block.runs for block in blocks(path.read_text()))}
    pages = {"tour.md", "method.md", "sampling.md", "extending.md", "verdicts.md", "running.md", "clusters.md"}
    assert running >= pages | {"README.md"}


def faults(text: str) -> list[str]:
    """The paths and names in a text that do not exist, and whether a fence is no block."""
    found = [path for path in PATHS.findall(text) if not any(ROOT.glob(re.sub(r"\b[A-Z]+\b", "*", path)))]
    found += [name for name in MENTIONED.findall(text) if not exists(name)]
    fences, directives = (len(re.findall(pattern, text, re.MULTILINE)) for pattern in (r"^```", r"^```+\{"))
    return found if fences == 2 * (len(blocks(text)) + directives) else [*found, "a fence is no block"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_exists_and_every_fence_is_a_block(path: Path) -> None:
    assert faults(path.read_text()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`lipverify/claims/nowhere.py`, `checks/*/noise.py`", ["lipverify/claims/nowhere.py"]),
        ("`lipverify.laws.Tent`, `lipverify.loss_terms()`", ["lipverify.laws.Tent"]),
        ("```python\nx\n```\n\n```\n", ["a fence is no block"]),
    ],
)
def test_what_does_not_exist_is_seen(text: str, found: list[str]) -> None:
    assert faults(text) == found


def exists(name: str) -> bool:
    """True if a dotted name is a module or an attribute of a module.

    >>> exists("lipverify.laws.ReLU"), exists("lipverify.laws.Tent"), exists("lipverify.tour.md")
    (True, False, False)
    """
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found is not None
    return False


RIGHT = """
```python
x = 6 * 7
print(x, "± 2e-15")
```

```output
42 ± 1e-15
```

```sh
lipverify --version
```

```output
0...
```
"""
FAULTS = {
    "another output": ("```output\n42", "```output\n43"),
    "an error that is much larger": ("± 1e-15", "± 4e-16"),
    "an error that is not shown": (" ± 1e-15", ""),
    "an output that is only the beginning": ("```output\n42 ± 1e-15\n", "```output\n4\n"),
    "an exception": ("6 * 7", "6 / 0"),
    "a name that does not exist": ("print(x,", "from lipverify import nothing\nprint(x,"),
    "a command that does not exist": ("lipverify --version", "lipverify nothing"),
    "a refusal": ("lipverify --version", "lipverify loss --d 1 --n 1 --w 1"),
    "an option that does not exist": ("--version", "--nothing"),
    "another exit code": ("```sh", "<!-- exits with 3 -->\n```sh"),
    "a command that is not run": ("lipverify --version", "rm -r everything"),
    "a misspelt kind": ("```python", "```pyhton"),
}


def test_a_page_without_a_fault_runs(tmp_path: Path) -> None:
    assert run(page(tmp_path, RIGHT), tmp_path) == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_page_is_seen(fault: str, tmp_path: Path) -> None:
    broken = RIGHT.replace(*FAULTS[fault])
    assert broken != RIGHT
    with pytest.raises(NotAsShownError, match=r"page\.md:\d+"):
        run(page(tmp_path, broken), tmp_path)


def test_a_block_that_is_not_run_says_why(tmp_path: Path) -> None:
    text = RIGHT.replace("```sh\nlipverify --version", "<!-- not run: it is dear -->\n```sh\nrm -r everything")
    assert run(page(tmp_path, text), tmp_path) == 1
