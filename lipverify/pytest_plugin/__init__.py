"""Claims as tests: `pytest checks -k window -n 2 --dist loadfile --junitxml=out.xml`.

A file of claims is a Python file that declares claims at its top level, which is recognised from its text. Every claim
is a test item, such as `checks/softmax/window.py::softmax.window-printed/affine/lower/ambient`. A claim passes if it is
supported, or refuted as recorded. It fails, and its text is shown, if it is refuted or differs from its record. An
undecided claim is skipped with the reason, and a check that raises is an error.

`-m claim` selects claims, `-m "not claim"` excludes them, and `-p no:lipverify` disables the plugin.

Every start of pytest imports this file, so it imports only modules that pytest has already imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lipverify.pytest_plugin.items import ClaimFile


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; pytest has a `--strict` of its own, so ours has another name."""
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
    """Register the marker of claims."""
    config.addinivalue_line("markers", "claim: a claim that lipverify verifies")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ClaimFile | None:
    """Collect a file of claims whose name is not that of a test module."""
    if not has_claims(file_path) or parent.session.isinitpath(file_path) or _is_test(file_path, parent):
        return None  # `pytest_pycollect_makemodule` handles those
    from lipverify.pytest_plugin.items import ClaimFile

    return ClaimFile.from_parent(parent, path=file_path)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Any:
    """Collect a file of claims that is also a test module, by its name or by request."""
    if not has_claims(module_path):
        return None
    from lipverify.pytest_plugin.items import ClaimFile, ClaimModule

    kind = ClaimModule if _is_test(module_path, parent) else ClaimFile
    return kind.from_parent(parent, path=module_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a skipped claim at its own place instead of in this package."""
    report = yield
    if report.skipped and hasattr(item, "claim") and isinstance(report.longrepr, tuple):
        report.longrepr = (str(item.path), item.location[1], report.longrepr[2])  # type: ignore[assignment]
    return report


def has_claims(path: Path) -> bool:
    """True if the text of a file declares claims; the file is not imported."""
    if path.suffix != ".py":
        return False
    try:
        with path.open("rb") as file:
            source = file.read(10**6)  # a larger file is generated data
    except OSError:
        return False
    if b"lipverify" not in source or re.search(rb"^\s*(\w+ *= *)?([\w.]+\.)?claim\(", source, re.M) is None:
        return False
    try:
        return any(map(_declares, ast.parse(source).body))
    except (SyntaxError, ValueError):
        return True  # collecting the claims will report the fault


def _declares(node: ast.stmt) -> bool:
    """True if a top-level statement, or one in its loop or condition, declares claims, and is no text that looks so."""
    if isinstance(node, ast.For | ast.If | ast.With):
        return any(map(_declares, node.body))
    made = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) else None
    return isinstance(made, ast.Call) and ast.unparse(made.func).split(".")[-1] == "claim"


def _is_test(path: Path, parent: pytest.Collector) -> bool:
    """True if the file's name is that of a test module."""
    return any(path.match(pattern) for pattern in parent.config.getini("python_files"))
