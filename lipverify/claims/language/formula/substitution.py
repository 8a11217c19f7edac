"""A formula with others in place of its symbols, as text: what was written stays as it was."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from lipverify.claims.language.formula.grammar import REMEMBERED, tree_of

ANYTHING, SUM, PRODUCT, POWER, ATOM = range(5)
"""How tightly a part holds together in Python's notation."""
_HELD: dict[type[ast.AST], int] = {ast.Add: SUM, ast.Sub: SUM, ast.Mult: PRODUCT, ast.Div: PRODUCT, ast.Pow: POWER}


@lru_cache(maxsize=REMEMBERED)
def substituted(text: str, meanings: tuple[tuple[str, str], ...]) -> str:
    """The text with others in place of symbols, in brackets where the tree would come out another.

    >>> substituted("1/D + D", (("D", "d - 1"),))
    '1/(d - 1) + (d - 1)'
    """
    meaning = dict(meanings)
    written = text.encode()
    for symbol, needed in sorted(_places(tree_of(text)), key=lambda place: place[0].col_offset, reverse=True):
        if symbol.id in meaning:
            before, after = written[: symbol.col_offset], written[symbol.end_col_offset :]
            enclosed = before.rstrip().endswith(b"(") and after.lstrip().startswith(b")")
            new = meaning[symbol.id]
            loose = not enclosed and _held(tree_of(new)) < needed
            written = before + (f"({new})" if loose else new).encode() + after
    return written.decode()


def _places(tree: ast.expr) -> Iterator[tuple[ast.Name, int]]:
    """Where symbols stand, and how tightly what is put there must hold together."""
    if isinstance(tree, ast.Name):
        yield tree, ANYTHING
    for parent in ast.walk(tree):
        children = parent.args if isinstance(parent, ast.Call) else ast.iter_child_nodes(parent)
        yield from ((child, _needed(parent, child)) for child in children if isinstance(child, ast.Name))


def _held(tree: ast.AST) -> int:
    """A sign holds no better than a sum: `2 * -d` is written 2 * (-d)."""
    if isinstance(tree, ast.BinOp):
        return _HELD[type(tree.op)]
    return SUM if isinstance(tree, ast.UnaryOp) else ATOM


def _needed(parent: ast.AST, child: ast.AST) -> int:
    if isinstance(parent, ast.Call):
        return ANYTHING
    if isinstance(parent, ast.BinOp) and not isinstance(parent.op, ast.Pow):
        return _held(parent) + (child is parent.right)
    return POWER if isinstance(parent, ast.UnaryOp) else ATOM
