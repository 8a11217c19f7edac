"""The structure: no folder imports to its right, and no modules import each other in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import lipverify
from tests import tree_of

ROOT = Path(lipverify.__file__).parents[1]
FLOW = [
    {"errors"},
    {"foundation"},
    {"problem"},
    {"laws", "covariates"},
    {"loss"},
    {"attention"},
    {"optimum"},
    {"sampling"},
    {"limits"},
    {"scaling"},
    {"linear_transformer"},
    {"proofs"},
    {"claims"},
    {"strategies"},
    {"properties"},
    {"falsify"},
    {"report"},
    {"export"},
    {"explore"},
    {"verification"},
    {"cli"},
    {"pytest_plugin"},
    {"checks"},
]
CLAIMS = ["evidence", "ledger", "language", "plan", "run"]
"""The packages of the claims, each of which may import those before it."""
PLACE = {room: place for place, rooms in enumerate(FLOW) for room in rooms}
FACES = {"lipverify", "lipverify.__main__"}
"""The package's own face hands names on from every room, and starts the command line."""


@cache
def parsed() -> dict[str, ast.Module]:
    paths = [path for folder in ("lipverify", "checks") for path in (ROOT / folder).rglob("*.py")]
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths)
    return {name: tree_of(path) for name, path in zip(names, paths, strict=True)}


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def statements(node: ast.AST, at_import: bool) -> Iterator[ast.AST]:
    """All nodes below a node; `at_import`: only those that run when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if at_import and (is_for_types(child) or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)):
            continue
        yield child
        yield from statements(child, at_import)


@cache
def import_statements(tree: ast.Module, at_import: bool) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The imports of a module, which each test reads again."""
    return tuple(node for node in statements(tree, at_import) if isinstance(node, ast.Import | ast.ImportFrom))


def imports(tree: ast.Module, modules: dict[str, ast.Module], at_import: bool = False) -> set[str]:
    """The modules, among those given, that one imports: anywhere, or when it is itself imported."""
    found: set[str] = set()
    for node in import_statements(tree, at_import):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif node.module:
            # the folder `checks` next to the package is imported as `lipverify.checks`
            module = node.module.replace("lipverify.checks.", "checks.")
            below = {f"{module}.{alias.name}" for alias in node.names}
            found |= (below & set(modules)) or {module}
    return found & set(modules)


def room(module: str) -> str:
    """The room of a module: its folder below the package, or the top folder itself."""
    parts = module.split(".")
    return parts[1] if parts[0] == "lipverify" and len(parts) > 1 else parts[0]


def against_the_flow(modules: dict[str, ast.Module]) -> set[tuple[str, str]]:
    return {
        (name, used)
        for name, tree in modules.items()
        if name not in FACES
        for used in imports(tree, modules)
        if used not in FACES and PLACE[room(used)] > PLACE[room(name)]
    }


def claims_room(module: str) -> int:
    """The place of a module's room among those of the claims; their face stands to the right of all."""
    parts = module.split(".")
    return CLAIMS.index(parts[2]) if len(parts) > 2 else len(CLAIMS)


def against_the_claims(modules: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """Imports from a room of the claims into one to its right."""
    claims = of_claims(modules)
    pairs = {(name, used) for name, tree in claims.items() for used in imports(tree, claims)}
    return {(name, used) for name, used in pairs if claims_room(used) > claims_room(name)}


def of_claims(modules: dict[str, ast.Module]) -> dict[str, ast.Module]:
    return {name: tree for name, tree in modules.items() if name.startswith("lipverify.claims")}


def circle(modules: dict[str, ast.Module], at_import: bool = True) -> list[str] | None:
    """A circle of modules, each of which imports the next: when it is imported, or anywhere in it."""
    try:
        TopologicalSorter({name: imports(tree, modules, at_import) for name, tree in modules.items()}).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return None


def changed(**sources: str) -> dict[str, ast.Module]:
    """The modules with additional text at the start of some of them; __ stands for a dot."""
    added = {name.replace("__", "."): source for name, source in sources.items()}
    return parsed() | {name: ast.parse(f"{source}\n{ast.unparse(parsed()[name])}") for name, source in added.items()}


def test_every_package_has_its_place() -> None:
    assert {room(name) for name in parsed() if name not in FACES} == set(PLACE)


def test_nothing_imports_to_its_right() -> None:
    assert against_the_flow(parsed()) == set()


@pytest.mark.parametrize(
    "where", ["from lipverify import claims", "def f():\n    import lipverify.claims.ledger.verdict"]
)
def test_a_forbidden_import_is_found_at_any_position(where: str) -> None:
    assert {name for name, _ in against_the_flow(changed(lipverify__loss__terms=where))} >= {"lipverify.loss.terms"}


def test_no_circle() -> None:
    assert circle(parsed()) is None


def test_no_package_of_the_claims_imports_from_a_later_one() -> None:
    rooms = {claims_room(name) for name in of_claims(parsed())}
    assert rooms == set(range(len(CLAIMS) + 1))
    assert against_the_claims(parsed()) == set()


@pytest.mark.parametrize(
    "where", ["from lipverify.claims.plan import claim", "def f():\n    from lipverify.claims.run.runner import run"]
)
def test_an_import_from_a_later_package_of_the_claims_is_found(where: str) -> None:
    found = against_the_claims(changed(lipverify__claims__ledger__record=where))
    assert {name for name, _ in found} == {"lipverify.claims.ledger.record"}


def test_no_circle_among_the_claims_not_even_in_a_function_or_for_types() -> None:
    assert circle(of_claims(parsed()), at_import=False) is None
    late = "def f() -> None:\n    from lipverify.claims.ledger.record import Record"
    assert circle(of_claims(changed(lipverify__claims__ledger__symbols=late)), at_import=False) is not None


def test_a_circle_is_seen() -> None:
    modules = changed(
        lipverify__foundation__arrays="from lipverify.foundation.validation import whole",
        lipverify__foundation__validation="from lipverify.foundation.arrays import number",
    )
    assert set(circle(modules) or ()) == {"lipverify.foundation.arrays", "lipverify.foundation.validation"}


def test_an_import_within_a_function_or_for_types_closes_no_circle() -> None:
    late = "def f() -> None:\n    from lipverify.foundation.validation import whole"
    for_types = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lipverify.foundation.validation import whole"
    )
    for source in (late, for_types):
        assert circle(changed(lipverify__foundation__arrays=source)) is None


FOLDERS_WITH_A_FACE = ("lipverify.loss.exact",)
"""Code outside of such a folder imports from its `__init__`, and from nothing inside it."""


def behind_a_face(modules: dict[str, ast.Module]) -> set[tuple[str, str]]:
    return {
        (name, used)
        for name, tree in modules.items()
        for used in imports(tree, modules)
        for face in FOLDERS_WITH_A_FACE
        if used.startswith(f"{face}.") and not f"{name}.".startswith(f"{face}.")
    }


def test_nothing_outside_a_package_imports_its_private_modules() -> None:
    assert behind_a_face(parsed()) == set()


def test_an_import_of_a_private_module_is_found() -> None:
    modules = changed(lipverify__loss__scaled="def f():\n    from lipverify.loss.exact.context import weighted")
    assert behind_a_face(modules) == {("lipverify.loss.scaled", "lipverify.loss.exact.context.weighted")}


def test_quadrature_knows_no_law_and_a_context_none_and_a_variogram_no_context() -> None:
    exact = "lipverify.loss.exact"
    rooms = {name: imports(tree, parsed()) for name, tree in parsed().items() if name.startswith(f"{exact}.")}

    def used_by(room: str) -> set[str]:
        return {used for name, names in rooms.items() if name.startswith(f"{exact}.{room}.") for used in names}

    assert not {name for name in used_by("quadrature") | used_by("context") if ".problem" in name}
    assert not {name for name in used_by("quadrature") if name.startswith(f"{exact}.") and ".quadrature" not in name}
    assert not {name for name in used_by("context") if name.startswith((f"{exact}.variograms", f"{exact}.biases"))}
    assert not {name for name in used_by("variograms") if name.startswith((f"{exact}.context", f"{exact}.biases"))}
