"""Read a claims file and run its text once in every process that needs its functions.

A claims file is code, so verifying it executes it. Faults are reported with the keyword and the line.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from importlib.machinery import SourceFileLoader
from importlib.resources import files
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Literal, cast

import msgspec

from lipverify.claims.ledger.symbols import on_one_line
from lipverify.errors import InvalidInput
from lipverify.foundation.files import content
from lipverify.foundation.latex import UnreadableError, read
from lipverify.foundation.noted import replay_caches
from lipverify.foundation.output import diverted
from lipverify.foundation.quoting import shown
from lipverify.foundation.shipped import shipped

HOME = "__claims_file__"
"""The attribute of a module that refers to the claims file it was made from."""


def start(form: Literal["exponent", "bound"]) -> str:
    """The text of a template for a new claims file.

    >>> start("exponent").startswith('\"\"\"Claims of my own.')
    True
    """
    return files(__package__).joinpath("start", f"{form}.py.txt").read_text(encoding="utf-8")


def in_library(path: str | Path) -> bool:
    """True if a file is shipped with lipverify."""
    return Path(path).expanduser().resolve().is_relative_to(shipped())


DECLARATIONS = "__declarations__"
"""The attribute of a claims file's module that lists its declarations."""
_LOADING = threading.RLock()


class ClaimsFile(msgspec.Struct, frozen=True):
    """The text of a claims file, and its path as given on the command line.

    Its string form is its name and a digest of its content, so that cache addresses of its measurements change with it.

    >>> str(ClaimsFile("somewhere/my_claims.py", "x = 1"))
    'my_claims.py@46d2d0d1f6b8'
    """

    path: str
    text: str

    @property
    def name(self) -> str:
        """The last part of the path."""
        return Path(self.path).name

    @property
    def module_name(self) -> str:
        """The name of its module, unique to the text and the path."""
        return f"lipverify_claims_{_digest(self.text)}_{_digest(self.path)}"

    def __str__(self) -> str:
        return f"{self.name}@{_digest(self.text)}"

    def module(self) -> ModuleType:
        """The module made from the text, executed on first use in a process."""
        with _LOADING:
            if self.module_name not in sys.modules:
                self._execute()
            return sys.modules[self.module_name]

    def _execute(self) -> None:
        module = ModuleType(self.module_name)
        module.__dict__.update({"__file__": self.path, HOME: self, DECLARATIONS: []})
        linecache.cache[self.path] = (len(self.text), None, self.text.splitlines(keepends=True), self.path)
        code = self._code()
        # records and annotations look up their module by name while it is being executed
        sys.modules[self.module_name] = module
        try:
            # output printed by the file must not end up in a ledger printed to standard output
            with diverted():
                exec(code, module.__dict__)
            replay_caches(module)
        except BaseException:
            del sys.modules[self.module_name]
            raise

    def _code(self) -> CodeType:
        """The compiled text. For shipped files Python caches the bytecode, as it does for modules."""
        if in_library(self.path):
            with contextlib.suppress(OSError):
                loader = SourceFileLoader(self.module_name, self.path)
                if loader.get_source(self.module_name) == self.text:
                    return cast(CodeType, loader.get_code(self.module_name))
        return compile(self.text, self.path, "exec", dont_inherit=True)

    @property
    def symbols(self) -> dict[str, str]:
        r"""The symbols that the file defines, LaTeX without dollar signs, with their meanings in words.

        >>> ClaimsFile("my_claims.py", 'SYMBOLS = {"R_k": "the risk of $k$ layers"}').symbols
        {'R_k': 'the risk of $k$ layers'}
        """
        given = getattr(self.module(), "SYMBOLS", {})
        rule = "it is a mapping of symbols in LaTeX to their meanings, such as {'R_k': 'the risk of $k$ layers'}"
        if not isinstance(given, Mapping):
            raise InvalidInput(f"SYMBOLS = {shown(given)}: {rule}.")
        for symbol, meaning in given.items():
            if not (isinstance(symbol, str) and isinstance(meaning, str) and meaning.strip()):
                raise InvalidInput(f"SYMBOLS: {shown(symbol)} = {shown(meaning)}: {rule}.")
            try:
                read(symbol)
            except UnreadableError as why:
                raise InvalidInput(
                    f"SYMBOLS: {shown(symbol)} is not a symbol in LaTeX without dollar signs: {why}."
                ) from None
        return on_one_line(dict(given))

    def function(self, function: Callable[..., Any]) -> FileFunction:
        """A function of the file, in a form that can be sent to other processes."""
        name = getattr(function, "__qualname__", repr(function))
        if not name.isidentifier():
            raise InvalidInput(
                f"{name} cannot be measured: other processes find a function by its name; write it with `def` at the "
                "left margin of the file."
            )
        return FileFunction(self, name)


class FileFunction(msgspec.Struct, frozen=True):
    """A function of a claims file, found by its name; it can be sent to any process that has lipverify."""

    file: ClaimsFile
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"

    @property
    def __name__(self) -> str:
        """The name used in cache addresses."""
        return str(self)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function of the loaded file, without the diversion of its output."""
        return getattr(self.file.module(), self.name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function. Its output goes to standard error, and it cannot end the run."""
        with diverted():
            try:
                return self.__wrapped__(*arguments, **named)
            except SystemExit:
                raise RuntimeError(f"{self.name} ended the program ({self.location})") from None

    @property
    def location(self) -> str:
        """File and line of the definition."""
        return f"{self.file.name}:{inspect.unwrap(self.__wrapped__).__code__.co_firstlineno}"


def home_of(function: Callable[..., Any]) -> ModuleType | None:
    """The module of the claims file that defines a function; None if no claims file does."""
    module = sys.modules.get(getattr(function, "__module__", ""))
    return module if module is not None and hasattr(module, HOME) else None


def read_file(path: str, name: str = "claims file") -> ClaimsFile:
    """Read the claims file at a path; `name` is how error messages call it."""
    try:
        whole = Path(path).expanduser()
    except RuntimeError as error:  # no home folder
        raise InvalidInput(f"{name} = {shown(path)}: cannot be read ({error}).") from None
    made = content(name, whole)
    try:
        return ClaimsFile(path, made.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = made[: error.start].count(b"\n") + 1
        raise InvalidInput(f"{path}:{line}: not UTF-8 ({error.reason}); a {name} is Python in UTF-8.") from None


@lru_cache(maxsize=256)
def _digest(text: str) -> str:
    """Twelve digits that identify a text."""
    return blake2b(text.encode(), digest_size=6).hexdigest()


FUNCTION = "def"
"""Stands for a keyword if the declared function itself is at fault."""


class Fault(InvalidInput):
    """A declaration that breaks a rule, with the keyword at fault (or `FUNCTION`), and the item of its list.

    `line` is that of the call at fault, if it has returned, and `outer` that of the call around it, to which the
    keyword may belong.
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
        """The same fault, located in the call on this line or in a call nested in it."""
        return Fault(str(self), self.keyword, self.item, self.line or line, self.outer or (line if self.line else None))


@contextlib.contextmanager
def located(line: int) -> Iterator[None]:
    """Faults of this block are in the call on this line, or in a call nested in it."""
    try:
        yield
    except Fault as fault:
        raise fault.within(line) from None


def line_in(error: BaseException, path: str) -> int | None:
    """The innermost line of a file that was running when the exception was raised."""
    lines = [
        line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == path and line
    ]
    return lines[-1] if lines else None


def location_of(error: BaseException) -> str:
    """The line of a claims file that led to the exception, in brackets; empty if no claims file is in the traceback."""
    location = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get(HOME) is not None and frame.f_code.co_filename == frame.f_globals[HOME].path:
            location = f" ({Path(frame.f_code.co_filename).name}:{line})"
    return location


def caller_line() -> int:
    """The line on which the calling function was called."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = frame.f_back if frame is not None else None
    return frame.f_lineno if frame is not None else 0


def line_of(error: BaseException, file: ClaimsFile) -> int | None:
    """The line at fault: the line of the keyword, if there is one, or else the line that was running."""
    if isinstance(error, SyntaxError):
        return error.lineno if error.filename == file.path else line_in(error, file.path)
    line = line_in(error, file.path)
    if isinstance(error, Fault):
        line = error.line or line
        inner = line and _keyword_line(file, line, error.keyword, error.item)
        return inner or (error.outer and _keyword_line(file, error.outer, error.keyword, error.item)) or line
    unexpected = isinstance(error, TypeError) and re.search(r"unexpected keyword argument '(\w+)'", str(error))
    return line and (_keyword_line(file, line, unexpected[1] if unexpected else "", None) or line)


def _keyword_line(file: ClaimsFile, line: int, keyword: str, item: int | None) -> int | None:
    """The line of a keyword, or of an item of its list, in the call that begins at `line` or in a call nested in it."""
    tree = ast.parse(file.text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno == line]
    for call in calls:
        if keyword == FUNCTION:
            first = next((arg.id for arg in call.args if isinstance(arg, ast.Name)), None)
            return next((f.lineno for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name == first), None)
        for node in ast.walk(call):
            for given in node.keywords if isinstance(node, ast.Call) else ():
                if given.arg == keyword:
                    return _item_line(given.value, item) or given.lineno
    return None


def _item_line(value: ast.expr, item: int | None) -> int | None:
    """The line of an item, if the list is written out."""
    if item is None or not isinstance(value, ast.List | ast.Tuple) or item >= len(value.elts):
        return None
    return value.elts[item].lineno
