"""The installation, on which a new user relies before anything runs."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import lipverify
from tests import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, BUILD = PYPROJECT["project"], PYPROJECT["build-system"]["requires"]
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


def test_the_python_versions_of_the_classifiers_are_those_of_ci() -> None:
    rows = re.findall(r'^  "(3\.\d+)": (lowest|locked)$', (ROOT / ".ci" / "matrix.yml").read_text(), re.MULTILINE)
    named = re.findall(r"Programming Language :: Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert [version for version, _ in rows] == named
    assert rows[0] == (PROJECT["requires-python"].removeprefix(">="), "lowest")


def test_ci_covers_every_dependency_at_its_lowest_version() -> None:
    extras = PROJECT["optional-dependencies"]
    wanted = {name(r) for r in PROJECT["dependencies"] + extras["dask"] + extras["data"] + extras["testing"] + BUILD}
    rows = re.search(r'^covered="\n(.*?)^"$', (ROOT / ".ci" / "versions").read_text(), re.MULTILINE | re.DOTALL)
    assert rows is not None
    covered = {row.split()[0]: row.split()[1:] for row in rows[1].splitlines()}
    assert sorted(covered) == sorted(wanted)
    for test in (test for tests in covered.values() for test in tests):
        path, _, function = test.partition("::")
        assert f"def {function}(" in (ROOT / path).read_text() if function else (ROOT / path).exists(), test


def test_every_dependency_has_a_lower_bound_and_before_its_version_1_an_upper_one() -> None:
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    for requirement in [*PROJECT["dependencies"], *(r for e in PROJECT["optional-dependencies"].values() for r in e)]:
        if name(requirement) != "lipverify":
            assert ">=" in requirement, requirement
            assert "<" in requirement or not locked.get(name(requirement), "").startswith("0."), requirement


def test_the_description_of_the_package_has_no_link_that_is_dead_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative link or picture is dead on the package's page. Its code is that of the README, which is tested."""
    monkeypatch.chdir(ROOT)
    folder = pytest.importorskip("hatchling.build").prepare_metadata_for_build_wheel(str(tmp_path))
    description = (tmp_path / folder / "METADATA").read_text().partition("\n\n")[2]
    links = re.findall(
        r"""\]\(\s*([^)\s]+)|(?:src|href)=["']?([^"'\s>]+)|^\[[^\]]+\]:\s*(\S+)""", description, re.MULTILINE
    )
    targets = ["".join(link) for link in links]
    assert targets
    assert [target for target in targets if not target.startswith("https://")] == []
    for code in re.findall(r"```\w+\n(.*?)```", description, re.DOTALL):
        assert code in README


def test_public_names_have_their_declared_types() -> None:
    """Imports for type checkers name the same objects as the imports on first use, and all of them."""
    [told] = [node for node in ast.parse(inspect.getsource(lipverify)).body if isinstance(node, ast.If)]
    imports = [node for node in told.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: str(node.module) for node in imports for alias in node.names}
    assert sorted(homes) == dir(lipverify)
    for public, home in homes.items():
        assert getattr(lipverify, public) is getattr(import_module(home), public), public
