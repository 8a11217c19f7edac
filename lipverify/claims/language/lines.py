"""Which line of a claims file a refusal is about."""

from __future__ import annotations

import ast
import re

from lipverify.claims.language.fault import FUNCTION, Fault
from lipverify.claims.language.file import ClaimsFile
from lipverify.claims.language.place import line_in

_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


def line_of(error: BaseException, file: ClaimsFile) -> int | None:
    """The line at fault: that of the keyword, where one is; else that which was being run."""
    if isinstance(error, SyntaxError):
        return error.lineno if error.filename == file.path else line_in(error, file.path)
    line = line_in(error, file.path)
    if isinstance(error, Fault):
        line = error.line or line
        inner = line and _keyword_line(file, line, error.keyword, error.item)
        return inner or (error.outer and _keyword_line(file, error.outer, error.keyword, error.item)) or line
    unexpected = _UNEXPECTED.search(str(error)) if isinstance(error, TypeError) else None
    return line and (_keyword_line(file, line, unexpected[1] if unexpected else "", None) or line)


def _keyword_line(file: ClaimsFile, line: int, keyword: str, item: int | None) -> int | None:
    """The line of a keyword, or of an item of its list, in the call that begins at `line` or in one within it."""
    tree = ast.parse(file.text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno == line]
    for call in calls:
        if keyword == FUNCTION:
            first = next((each.id for each in call.args if isinstance(each, ast.Name)), None)
            return next((f.lineno for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name == first), None)
        for node in ast.walk(call):
            for given in node.keywords if isinstance(node, ast.Call) else ():
                if given.arg == keyword:
                    return _item_line(given.value, item) or given.lineno
    return None


def _item_line(value: ast.expr, item: int | None) -> int | None:
    """The line of an item, where the list is written out."""
    if item is None or not isinstance(value, ast.List | ast.Tuple) or item >= len(value.elts):
        return None
    return value.elts[item].lineno
