"""Claims as tests: `pytest checks -k window -n 2 --junitxml=out.xml`.

A file of claims is a Python file that declares claims at its top level, found by a look at its text. Every claim is a
test item, `checks/softmax/window.py::softmax.window-printed/affine/lower/ambient`. One that is supported, or refuted as
recorded, passes; one that is refuted or not as recorded fails with the claim's text; one that is not decided is skipped
with the reason; and a check that breaks is an error. `-m claim` selects claims, `-m "not claim"` leaves them out,
`-p no:lipverify` switches all of this off.

This file is read whenever pytest starts anywhere, so it imports nothing but what pytest has imported already.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lipverify.pytest_plugin.items import ClaimFile

CLAIMS = re.compile(rb"^(\w+ *= *)?([\w.]+\.)?claim\(", re.M)
"""How a file says that it has claims."""
LARGEST_SOURCE = 10**6
"""Bytes; no one writes a file of claims that is larger, and data that calls itself Python is not read."""
SHARED = pytest.StashKey[TemporaryDirectory[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options; pytest has a `--strict` of its own."""
    group = parser.getgroup("lipverify", "claims about in-context learning")
    group.addoption(
        "--lipverify-profile",
        choices=("quick", "full"),
        default="quick",
        help="How much evidence to gather for a claim.",
    )
    group.addoption("--lipverify-seed", type=int, default=0, metavar="N", help="Seed of all sampled evidence.")
    group.addoption(
        "--lipverify-strict",
        action="store_true",
        help="A refuted claim fails even if it is recorded as refuted; pytest's own --strict does that too.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker that all claims have."""
    config.addinivalue_line("markers", "claim: a claim that lipverify verifies")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ClaimFile | None:
    """A file of claims that is no test module by its name."""
    if not has_claims(file_path) or parent.session.isinitpath(file_path) or _is_test(file_path, parent):
        return None  # `pytest_pycollect_makemodule` is asked for those
    from lipverify.pytest_plugin.items import ClaimFile

    return ClaimFile.from_parent(parent, path=file_path)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Any:
    """A file of claims that is also a test module, by its name or because it was asked for."""
    if not has_claims(module_path):
        return None
    from lipverify.pytest_plugin.items import ClaimFile, ClaimModule

    kind = ClaimModule if _is_test(module_path, parent) else ClaimFile
    return kind.from_parent(parent, path=module_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A claim that is skipped is told to be where it is, and not in this package."""
    report = yield
    if report.skipped and hasattr(item, "claim") and isinstance(report.longrepr, tuple):
        report.longrepr = (str(item.path), item.location[1], report.longrepr[2])  # type: ignore[assignment]
    return report


def has_claims(path: Path) -> bool:
    """Whether a file says that it has claims; it is not imported for that."""
    if path.suffix != ".py":
        return False
    try:
        with path.open("rb") as file:
            source = file.read(LARGEST_SOURCE)
    except OSError:
        return False
    if b"lipverify" not in source or CLAIMS.search(source) is None:
        return False
    try:
        return any(_declares(node) for node in ast.parse(source).body)
    except (SyntaxError, ValueError):
        return True  # reading its claims says what is wrong


def _declares(node: ast.stmt) -> bool:
    """Whether a statement at the top level, and not a text that looks like one, declares claims."""
    made = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) else None
    return isinstance(made, ast.Call) and ast.unparse(made.func).split(".")[-1] == "claim"


def _is_test(path: Path, parent: pytest.Collector) -> bool:
    """Whether the name is that of a test module."""
    return any(path.match(pattern) for pattern in parent.config.getini("python_files"))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """With pytest-xdist: a folder where the processes share what they measured."""
    stash = node.config.stash
    folder = stash.setdefault(SHARED, None) or TemporaryDirectory(prefix="lipverify-")
    stash[SHARED] = folder
    node.workerinput["lipverify_folder"] = folder.name


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the shared folder."""
    folder = config.stash.get(SHARED, None)
    if folder is not None:
        folder.cleanup()
