"""Tests import public names, so that a move inside a package breaks none; an internal import states its reason.

A name is public if its module lists it in `__all__`, and a module is public if it has an `__all__`. `checks/` contains
data and functions of the theorems, all of them public.

Theorems in `checks/` and `examples/` import documented names alone, those of which `tests/docs/test_reference.py`
demands a whole docstring: what we write a user can write.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import pytest

from tests import ROOT
from tests.docs.test_reference import MODULES

TESTS = ROOT / "tests"
MARK = "# internal: "
"""The marker of the reason, after the import or in the line above it."""
MOST = 230
"""The documented names, at most: who adds one looks for one that nobody uses."""
STILL = {"lipverify.linear_transformer.gdplusplus", "lipverify.proofs.checker.one_problem.optima", "lipverify.cli.main"}
"""Undocumented names that theorems use: GD++ away from its optimum, the checker's balls of the slope of a bias, and the
command line that `checks` starts."""


class Imported(NamedTuple):
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


def undocumented(source: str) -> set[str]:
    """The names of the library, by import or as an attribute of `lv`, that a theorem uses and no page documents."""
    used = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lipverify":
            used |= {(node.module, alias.name) for alias in node.names}
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value).split(".")
            module = ".".join(["lipverify", *owner[1:]])
            if owner[0] == "lv" and (len(owner) == 1 or (len(owner) == 2 and find_spec(module))):
                used.add((module, node.attr))
    return {
        f"{module}.{name}"
        for module, name in used
        if not module.startswith("lipverify.checks") and (module, name) != ("lipverify", "checks")
        if module not in MODULES or name not in import_module(module).__all__
    }


def test_theorems_use_documented_names() -> None:
    paths = [path for folder in ("checks", "examples") for path in (ROOT / folder).rglob("*.py")]
    found = {str(path): undocumented(path.read_text()) for path in paths}
    assert len(found) > 100, "the walk sees nothing"
    assert {path: names - STILL for path, names in found.items() if names - STILL} == {}
    assert set().union(*found.values()) == STILL, "no theorem uses the rest any longer"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from lipverify import Problem\nfrom lipverify.checks.softmax import quantities", set()),
        ("import lipverify as lv\nlv.laws.ReLU().name, lv.Problem.n", set()),
        ("from lipverify.foundation.streams import normals", {"lipverify.foundation.streams.normals"}),
        ("def f():\n    from lipverify.optimum import transfer", {"lipverify.optimum.transfer"}),
        ("import lipverify as lv\nlv.loss.exact", {"lipverify.loss.exact"}),
        ("import lipverify as lv\nlv.verification", {"lipverify.verification"}),
    ],
)
def test_an_undocumented_name_of_a_theorem_is_seen(source: str, names: set[str]) -> None:
    assert undocumented(source) == names


def test_documented_names_are_few() -> None:
    assert sum(len(import_module(module).__all__) for module in MODULES) <= MOST
