"""Every Python block of the documents runs, in the order in which it is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCUMENTS = [
    path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if BLOCK.search(path.read_text())
]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_blocks_of_a_document_run(path: Path) -> None:
    names: dict[str, object] = {}
    for block in BLOCK.findall(path.read_text()):
        exec(compile(block, str(path), "exec"), names)


def test_there_are_documents() -> None:
    assert {path.name for path in DOCUMENTS} >= {"README.md", "sampling.md"}
