"""The installation, on which a new user relies before anything runs."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from importlib import import_module

import lipverify
from tests import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = (ROOT / "README.md").read_text()


def name(requirement: str) -> str:
    return re.split(r"[<>=!\[; ]", requirement)[0]


def module(requirement: str) -> str:
    """The import name of a requirement, if it differs."""
    return {"python-flint": "flint"}.get(name(requirement), name(requirement))


def test_the_lock_holds_every_dependency() -> None:
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    extras = PROJECT["optional-dependencies"]
    wanted = {name(r) for r in PROJECT["dependencies"] + extras["test"] + extras["dev"]} - {"lipverify"}
    assert wanted <= locked


def test_the_change_log_and_the_citation_have_the_version() -> None:
    """The change log begins with the version, and the citation has it."""
    changes, citation = ((ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff"))
    assert re.search(r"^## (\S+)", changes, re.MULTILINE).group(1) == lipverify.__version__  # type: ignore[union-attr]
    assert f"\nversion: {lipverify.__version__}\n" in citation


def test_no_core_dependency_needs_a_gpu() -> None:
    assert not [r for r in PROJECT["dependencies"] if name(r).startswith(("cupy", "nvidia", "torch"))]


def test_every_core_dependency_is_imported() -> None:
    source = "".join(path.read_text() for folder in ("lipverify", "checks") for path in (ROOT / folder).rglob("*.py"))
    for requirement in PROJECT["dependencies"]:
        assert re.search(rf"^\s*(import|from) {module(requirement)}\b", source, re.MULTILINE), requirement


def test_the_readme_gives_two_commands_and_a_picture_that_is_there() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    assert any("lipverify verify" in block for block in blocks)
    assert any("pytest" in block for block in blocks)
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README)
    assert pictures
    for picture in pictures:
        assert (ROOT / picture).exists(), picture


def test_public_names_have_their_declared_types() -> None:
    """Imports for type checkers name the same objects as the imports on first use, and all of them."""
    [told] = [node for node in ast.parse(inspect.getsource(lipverify)).body if isinstance(node, ast.If)]
    imports = [node for node in told.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: str(node.module) for node in imports for alias in node.names}
    assert sorted(homes) == dir(lipverify)
    for public, home in homes.items():
        assert getattr(lipverify, public) is getattr(import_module(home), public), public
