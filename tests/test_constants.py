"""Every number of the package that has a name says what it is, and is used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import lipverify
from tests import tree_of

ROOT = Path(lipverify.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")


def names_of(statement: ast.stmt) -> list[str]:
    """The names that an assignment binds, if all are those of constants."""
    targets = {ast.Assign: "targets", ast.AnnAssign: "target"}.get(type(statement))
    if targets is None:
        return []
    bound = getattr(statement, targets)
    parts = [part for target in (bound if isinstance(bound, list) else [bound]) for part in ast.walk(target)]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if all(CONSTANT.fullmatch(name) for name in names) else []


def is_numeric(value: ast.expr | None) -> bool:
    """True for numbers, and for sequences, tables, arithmetic and calls of `np` and `math` made of them."""
    match value:
        case ast.Constant():
            return isinstance(value.value, int | float) and not isinstance(value.value, bool)
        case ast.Tuple() | ast.List():
            return bool(value.elts) and all(map(is_numeric, value.elts))
        case ast.Dict():
            return bool(value.values) and all(map(is_numeric, value.values))
        case ast.UnaryOp():
            return is_numeric(value.operand)
        case ast.BinOp():
            return is_numeric(value.left) or is_numeric(value.right)
        case ast.Call():
            return any(map(is_numeric, value.args))
        case ast.ListComp() | ast.GeneratorExp():
            return is_numeric(value.elt)
        case _:
            return False


def unexplained(source: str) -> Iterator[tuple[int, str]]:
    """The lines and names of numbers without a string below them, and without a comment above or beside them."""
    tree, lines = ast.parse(source), source.splitlines()
    for statement, following in pairwise([*tree.body, ast.Pass()]):
        names = names_of(statement)
        if not names or not is_numeric(getattr(statement, "value", None)):
            continue
        below = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        beside = any("#" in line for line in lines[statement.lineno - 1 : statement.end_lineno])
        above = lines[statement.lineno - 2].lstrip().startswith("#") if statement.lineno > 1 else False
        if not (below or beside or above):
            yield statement.lineno, ", ".join(names)


def test_every_number_says_what_it_is() -> None:
    found = [(str(file.relative_to(ROOT)), *number) for file in FILES for number in unexplained(file.read_text())]
    assert found == []


def test_every_number_is_used() -> None:
    """In its own file, or imported from it, or as an attribute of a module."""
    others = [file for folder in ("tests", "checks", "benchmarks") for file in (ROOT.parent / folder).rglob("*.py")]
    read: dict[Path, set[str]] = {}
    elsewhere: set[str] = set()
    imported: set[tuple[str | None, str]] = set()
    for file in (*FILES, *others):
        names = read.setdefault(file, set())
        for part in ast.walk(tree_of(file)):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                names.add(part.id)
            elif isinstance(part, ast.Attribute):
                elsewhere.add(part.attr)
            elif isinstance(part, ast.ImportFrom):
                imported |= {(part.module, alias.name) for alias in part.names}
    unused = []
    for file in FILES:
        module = ".".join(file.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        unused += [
            f"{module}.{name}"
            for statement in tree_of(file).body
            if is_numeric(getattr(statement, "value", None))
            for name in names_of(statement)
            if name not in read[file] and name not in elsewhere and (module, name) not in imported
        ]
    assert unused == []


def test_a_number_without_a_sentence_is_found() -> None:
    source = (
        'A = 1.0\nB, C = 2, (3, 4)\n"""Two numbers."""\nD = np.geomspace(1, 2)  # a grid\nE = {"x": -1}\nF = "text"\n'
    )
    assert list(unexplained(source)) == [(1, "A"), (5, "E")]
