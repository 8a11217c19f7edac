"""Tests import public names, so that a move inside a package breaks none; an internal import states its reason.

A name is public if its module lists it in `__all__`, and a module is public if it has an `__all__`. `checks/` contains
data and functions of the theorems, all of them public.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import pytest

from tests import ROOT

TESTS = ROOT / "tests"
MARK = "# internal: "
"""The marker of the reason, after the import or in the line above it."""


class Imported(NamedTuple):
    """A name that a test imports from the library."""

    name: str
    public: bool
    explained: bool


def is_public(module: str, name: str) -> bool:
    inside = f"{module}.{name}"
    if name in getattr(import_module(module), "__all__", ()) or module.startswith("lipverify.checks"):
        return True
    is_module = hasattr(import_module(module), "__path__") and find_spec(inside) is not None
    return is_module and hasattr(import_module(inside), "__all__")


@cache
def imported(source: str) -> tuple[Imported, ...]:
    """The names that a source text imports from modules of the library."""
    names = []
    lines = ["", *source.splitlines()]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lipverify":
            above, here = lines[node.lineno - 1].strip(), lines[node.lineno]
            reason = (above if above.startswith(MARK) else here).partition(MARK)[2]
            for alias in node.names:
                public = is_public(node.module, alias.name)
                names.append(Imported(f"{node.module}.{alias.name}", public, bool(reason.strip())))
    return tuple(names)


def unexplained(source: str) -> list[str]:
    return [name.name for name in imported(source) if not (name.public or name.explained)]


def test_every_internal_says_why() -> None:
    found = {str(path.relative_to(TESTS)): unexplained(path.read_text()) for path in TESTS.rglob("*.py")}
    assert len(found) > 200, "the walk sees nothing"
    assert not {path: names for path, names in found.items() if names}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from lipverify.claims.ledger import decide", []),
        ("from lipverify.claims.run import audit", []),
        ("from lipverify.claims.ledger.verdict import decide", ["lipverify.claims.ledger.verdict.decide"]),
        ("from lipverify.claims.run import run, runner", ["lipverify.claims.run.runner"]),
        ("def f():\n    from lipverify.loss.work import MANY", ["lipverify.loss.work.MANY"]),
        ("from lipverify.loss.work import MANY  # internal: a reason", []),
        ("# internal: a reason\nfrom lipverify.loss.work import MANY", []),
        ("from lipverify.loss.work import MANY  # internal: ", ["lipverify.loss.work.MANY"]),
        (
            "from lipverify import loss_terms  # internal: a reason\nfrom lipverify.loss.work import MANY",
            ["lipverify.loss.work.MANY"],
        ),
    ],
)
def test_an_internal_without_a_reason_is_seen(source: str, names: list[str]) -> None:
    assert unexplained(source) == names


def test_most_names_that_tests_import_are_public() -> None:
    """At most three in ten imports may be internal. It was two thirds, and every move broke tests of behaviour."""
    names = [name for path in TESTS.rglob("*.py") for name in imported(path.read_text())]
    internal = [name.name for name in names if not name.public]
    assert len(names) > 2000, "the walk sees nothing"
    assert 10 * len(internal) <= 3 * len(names), f"{len(internal)} of {len(names)}"
