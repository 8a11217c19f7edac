"""What is wrong with a declaration: the keyword at fault, and the line on which it stands."""

from __future__ import annotations

import ast
import inspect
import re
import traceback
from pathlib import Path

from lipverify.claims.language.file import HOME, ClaimsFile
from lipverify.errors import InvalidInput

FUNCTION = "def"
"""In place of a keyword: the function that is declared is at fault."""


class Fault(InvalidInput):
    """A declaration that is refused.

    Parameters
    ----------
    message
        The value, the rule and the way out, in one line.
    keyword
        The keyword of the declaration at fault, `FUNCTION`, or "" for the declaration as a whole.
    item
        Which item of the keyword's list, if one of them is.
    line
        The line of the call at fault, where it is no longer being run.
    outer
        The line of the call around it, to which the keyword may belong.
    """

    def __init__(
        self,
        message: str,
        keyword: str = "",
        item: int | None = None,
        line: int | None = None,
        outer: int | None = None,
    ) -> None:
        super().__init__(message)
        self.keyword, self.item, self.line, self.outer = keyword, item, line, outer

    def within(self, line: int) -> Fault:
        """The same fault, in the call on this line, or in a call within that one."""
        return Fault(str(self), self.keyword, self.item, self.line or line, self.outer or (line if self.line else None))


def line_in(error: BaseException, path: str) -> int | None:
    """The line of a file that was being run, last of all of its lines, when the exception was raised."""
    lines = [
        line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == path and line
    ]
    return lines[-1] if lines else None


def place(error: BaseException) -> str:
    """The line of a claims file that led to the exception, in brackets; empty where no such file took part."""
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get(HOME) is not None and frame.f_code.co_filename == frame.f_globals[HOME].path:
            found = f" ({Path(frame.f_code.co_filename).name}:{line})"
    return found


def caller_line() -> int:
    """The line on which the function that asks was called."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = frame.f_back if frame is not None else None
    return frame.f_lineno if frame is not None else 0


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
