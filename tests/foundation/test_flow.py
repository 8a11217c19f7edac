"""The structure: no folder imports to its right, no circle, and methods that check each other share no mathematics."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
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
    {"prompts"},
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


def changed(sources: dict[str, str]) -> dict[str, ast.Module]:
    """The modules with additional text at the start of some of them."""
    return parsed() | {name: ast.parse(f"{source}\n{ast.unparse(parsed()[name])}") for name, source in sources.items()}


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


def test_every_package_has_its_place() -> None:
    assert {room(name) for name in parsed() if name not in FACES} == set(PLACE)
    assert {claims_room(name) for name in of_claims(parsed())} == set(range(len(CLAIMS) + 1))


RULES = {"flow": against_the_flow, "claims": against_the_claims, "face": behind_a_face}
"""Imports to the right, from a later package of the claims, and of private modules."""


@pytest.mark.parametrize("rule", RULES)
def test_no_import_is_against_a_rule(rule: str) -> None:
    assert RULES[rule](parsed()) == set()


@pytest.mark.parametrize(
    ("rule", "module", "where"),
    [
        ("flow", "lipverify.loss.terms", "from lipverify import claims"),
        ("flow", "lipverify.loss.terms", "def f():\n    import lipverify.claims.ledger.verdict"),
        ("claims", "lipverify.claims.ledger.record", "from lipverify.claims.plan import claim"),
        ("claims", "lipverify.claims.ledger.record", "def f():\n    from lipverify.claims.run.runner import run"),
        ("face", "lipverify.loss.scaled", "def f():\n    from lipverify.loss.exact.context import weighted"),
    ],
)
def test_an_import_against_a_rule_is_found_at_any_position(rule: str, module: str, where: str) -> None:
    found = RULES[rule](changed({module: where}))
    assert module in {name for name, _ in found}
    assert rule == "flow" or len({name for name, _ in found}) == 1


LATE = "def f() -> None:\n    "
FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
ARRAYS, VALIDATION = "lipverify.foundation.arrays", "lipverify.foundation.validation"
WHOLE = f"from {VALIDATION} import whole"
"""`validation` imports from `arrays`."""


def test_there_is_no_circle_and_among_the_claims_not_even_in_a_function_or_for_types() -> None:
    assert circle(parsed()) is None
    assert circle(of_claims(parsed()), at_import=False) is None


def test_a_circle_is_seen_and_an_import_within_a_function_or_for_types_closes_none() -> None:
    modules = changed({ARRAYS: WHOLE, VALIDATION: f"from {ARRAYS} import number"})
    assert set(circle(modules) or ()) == {ARRAYS, VALIDATION}
    for before in (LATE, FOR_TYPES):
        assert circle(changed({ARRAYS: before + WHOLE})) is None
    late = {"lipverify.claims.ledger.symbols": f"{LATE}from lipverify.claims.ledger.record import Record"}
    assert circle(of_claims(changed(late)), at_import=False) is not None


def test_quadrature_knows_no_law_and_a_context_none_and_a_variogram_no_context() -> None:
    exact = "lipverify.loss.exact"
    rooms = {name: imports(tree, parsed()) for name, tree in parsed().items() if name.startswith(f"{exact}.")}

    def used_by(room: str) -> set[str]:
        return {used for name, names in rooms.items() if name.startswith(f"{exact}.{room}.") for used in names}

    assert not {name for name in used_by("quadrature") | used_by("context") if ".problem" in name}
    assert not {name for name in used_by("quadrature") if name.startswith(f"{exact}.") and ".quadrature" not in name}
    assert not {name for name in used_by("context") if name.startswith((f"{exact}.variograms", f"{exact}.biases"))}
    assert not {name for name in used_by("variograms") if name.startswith((f"{exact}.context", f"{exact}.biases"))}


# Methods that check each other share only the definition of the problem.


MAY_SHARE = tuple(f"lipverify.{name}" for name in ("errors", "foundation", "problem", "loss.terms", "loss.work"))
"""`work` counts evaluations and performs none."""
METHODS = ("exact.ridge.terms", "exact.zonal.terms", "certified", "asymptotic.terms", "montecarlo.terms", "block")


@cache
def reachable(start: str) -> set[str]:
    """The modules that one imports, and those that these import, with the packages named in the imports."""
    seen: set[str] = set()
    queue = [start]
    while queue:
        name = queue.pop()
        if name in parsed() and name not in seen | FACES:
            seen.add(name)
            named = (getattr(node, "module", None) for node in import_statements(parsed()[name], False))
            queue += imports(parsed()[name], parsed()) | {str(module) for module in named}
    return seen


@pytest.mark.parametrize(("one", "other"), list(combinations(METHODS, 2)))
def test_methods_that_check_each_other_share_only_the_problem(one: str, other: str) -> None:
    first, second = (reachable(f"lipverify.loss.{name}") for name in (one, other))
    common = {name for name in first & second if not name.startswith(MAY_SHARE)}
    assert common <= {"lipverify.loss"}, "the package itself holds the entry and no mathematics"
    assert min(len(first), len(second)) > 5, "the walk sees nothing"
