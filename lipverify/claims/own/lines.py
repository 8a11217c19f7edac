"""Which line of a claims file a refusal is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lipverify.claims.own.fault import FUNCTION, Fault
from lipverify.claims.own.file import ClaimsFile
from lipverify.claims.place import line_in

_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


def line_of(error: BaseException, file: ClaimsFile) -> int | None:
    """The line at fault: that of the keyword, where one is; else that which was being run."""
    if isinstance(error, SyntaxError):
        return error.lineno if error.filename == file.path else line_in(error, file.path)
    line = line_in(error, file.path)
    if isinstance(error, Fault):
        line = error.line or line
        return line and _keyword_line(file, line, error.keyword, error.item)
    unexpected = _UNEXPECTED.search(str(error)) if isinstance(error, TypeError) else None
    return line and _keyword_line(file, line, unexpected[1] if unexpected else "", None)


def last_line_of(file: ClaimsFile, text: str) -> int | None:
    """The last line on which a text stands by itself, such as an id."""
    nodes = ast.walk(ast.parse(file.text))
    lines = [node.lineno for node in nodes if isinstance(node, ast.Constant) and node.value == text]
    return max(lines, default=None)


def _keyword_line(file: ClaimsFile, line: int, keyword: str, item: int | None) -> int:
    """The line of a keyword, or of an item of its list, in a call that begins at `line`."""
    tree = ast.parse(file.text)
    if keyword == FUNCTION:
        return next((node.lineno for node in _decorated(tree, line)), line)
    for node in ast.walk(tree):
        for given in node.keywords if isinstance(node, ast.Call) and node.lineno == line else ():
            if given.arg == keyword:
                return _item_line(given.value, item) or given.lineno
    return line


def _item_line(value: ast.expr, item: int | None) -> int | None:
    """The line of an item, where the list is written out."""
    if item is None or not isinstance(value, ast.List | ast.Tuple) or item >= len(value.elts):
        return None
    return value.elts[item].lineno


def _decorated(tree: ast.AST, line: int) -> Iterator[ast.FunctionDef]:
    """The function with a decorator that begins at `line`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(each.lineno == line for each in node.decorator_list):
            yield node
