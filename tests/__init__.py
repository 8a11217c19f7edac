"""The tests, in the same folders as the code, and the helpers that they share."""

import ast
import os
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The repository."""
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
"""The profile of Hypothesis, see `tests/conftest.py`."""


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file, parsed once for all tests of a process."""
    return ast.parse(path.read_text(encoding="utf-8"))
