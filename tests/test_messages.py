"""Messages name functions and classes by what an import finds."""

from __future__ import annotations

import ast
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module, util
from pathlib import Path

import pytest

import lipverify
from tests import ROOT

NAME = re.compile(r"(?<![\w.])((?:[a-z]\w*\.)*)([A-Za-z]\w{2,})(\(?)")
MODULES = [
    f"lipverify.{module.name}" for module in pkgutil.iter_modules(lipverify.__path__) if module.name != "__main__"
]
PUBLIC = {name for module in ("lipverify", *MODULES) for name in getattr(import_module(module), "__all__", ())}


def messages(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in alone else None
        if isinstance(text, str) and " " in text and "import " not in text:
            yield text


def lost(text: str, package: str) -> Iterator[str]:
    """The names of public functions and classes in a message that neither `lipverify`, nor the package whose message
    it is, nor the path before the name has.
    """
    for path, name, call in NAME.findall(text):
        if name in PUBLIC and ("_" in name or (call and name[0].isupper())):
            homes = [path.rstrip(".")] if path else ["lipverify", package]
            if not any(found(home, name) for home in homes):
                yield path + name


def found(home: str, name: str) -> bool:
    return (
        home.partition(".")[0] == "lipverify"
        and util.find_spec(home) is not None
        and hasattr(import_module(home), name)
    )


def test_the_search_finds_a_name_without_its_module() -> None:
    text = "use empirical_window, lipverify.optimum.empirical_window, lipverify.loss.empirical_window or optimal_matrix"
    assert list(lost(text, "lipverify.problem")) == ["empirical_window", "lipverify.loss.empirical_window"]
    assert list(lost("use Matern(nu=2)", "lipverify.loss")) == ["Matern"]
    assert list(messages('"""f of x."""\nraise ValueError(f"use {x} of y")')) == ["use ", " of y"]


@pytest.mark.parametrize("path", sorted((ROOT / "lipverify").rglob("*.py")), ids=lambda path: path.stem)
def test_a_message_names_what_can_be_imported(path: Path) -> None:
    package = ".".join(path.relative_to(ROOT).parts[:2]).removesuffix(".py")
    assert [name for text in messages(path.read_text()) for name in lost(text, package)] == []
