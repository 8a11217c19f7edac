"""The doctests in the modules of `checks/`: `--doctest-modules` runs only those of the library."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from lipverify.foundation.shipped import shipped

MODULES = [
    ".".join(("lipverify.checks", *path.relative_to(shipped()).with_suffix("").parts))
    for path in sorted(shipped().rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
