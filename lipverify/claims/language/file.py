"""A claims file: its text goes wherever its functions are to be run, and is executed there once.

A claims file is code, and verifying it runs it.
"""

from __future__ import annotations

import contextlib
import inspect
import linecache
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Literal, cast

import msgspec

from lipverify.errors import InvalidInput
from lipverify.foundation.files import content
from lipverify.foundation.noted import replay_caches
from lipverify.foundation.output import diverted
from lipverify.foundation.quoting import shown
from lipverify.foundation.shipped import shipped

HOME = "__claims_file__"
"""The name under which a module that was made from a claims file holds it."""


def start(form: Literal["exponent", "bound"]) -> str:
    """The text of a claims file to start from.

    >>> start("exponent").startswith('\"\"\"Claims of my own.')
    True
    """
    return (Path(__file__).with_name("start") / f"{form}.py.txt").read_text(encoding="utf-8")


def in_library(path: str | Path) -> bool:
    """Whether a file is one of those that come with lipverify."""
    return Path(path).expanduser().resolve().is_relative_to(shipped())


DECLARATIONS = "__declarations__"
"""The name under which the module of a claims file holds what it declares."""
_LOADING = threading.RLock()


class ClaimsFile(msgspec.Struct, frozen=True):
    """The text of a claims file, and what the command line calls it.

    As text it is its name and a digest of its content, so that the addresses of what it measures change with it.

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
        """What its module is called: no two texts, and no two paths, share a module."""
        return f"lipverify_claims_{_digest(self.text)}_{_digest(self.path)}"

    def __str__(self) -> str:
        return f"{self.name}@{_digest(self.text)}"

    def module(self) -> ModuleType:
        """The module that the text makes; executed when it is first asked for in a process."""
        with _LOADING:
            if self.module_name not in sys.modules:
                self._execute()
            return sys.modules[self.module_name]

    def _execute(self) -> None:
        module = ModuleType(self.module_name)
        module.__dict__.update({"__file__": self.path, HOME: self, DECLARATIONS: []})
        linecache.cache[self.path] = (len(self.text), None, self.text.splitlines(keepends=True), self.path)
        code = self._code()
        # records and annotations look their module up by name while it is being made
        sys.modules[self.module_name] = module
        try:
            # what a file prints must not end up in a ledger that is printed
            with diverted():
                exec(code, module.__dict__)
            replay_caches(module)
        except BaseException:
            del sys.modules[self.module_name]
            raise

    def _code(self) -> CodeType:
        """The compiled text; that of a file which comes with lipverify is kept beside it, as that of a module is."""
        if in_library(self.path):
            with contextlib.suppress(OSError):
                loader = SourceFileLoader(self.module_name, self.path)
                if loader.get_source(self.module_name) == self.text:
                    return cast(CodeType, loader.get_code(self.module_name))
        return compile(self.text, self.path, "exec", dont_inherit=True)

    def function(self, function: Callable[..., Any]) -> FileFunction:
        """A function of the file, as something that other processes can be sent.

        Raises
        ------
        InvalidInput
            If it is not at module level under its own name, where they could find it.
        """
        name = getattr(function, "__qualname__", repr(function))
        if not name.isidentifier():
            raise InvalidInput(
                f"{name} cannot be measured: other processes find a function by its name; write it with `def` at the "
                "left margin of the file."
            )
        return FileFunction(self, name)


class FileFunction(msgspec.Struct, frozen=True):
    """A function of a claims file, found by its name; it can be sent anywhere that has lipverify."""

    file: ClaimsFile
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"

    @property
    def __name__(self) -> str:
        """What addresses call it."""
        return str(self)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function itself."""
        return getattr(self.file.module(), self.name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run it; what it prints goes to standard error, and it cannot end the run."""
        with diverted():
            try:
                return self.__wrapped__(*arguments, **named)
            except SystemExit:
                raise RuntimeError(f"{self.name} ended the program ({self.place})") from None

    @property
    def place(self) -> str:
        """File and line of the definition."""
        return f"{self.file.name}:{inspect.unwrap(self.__wrapped__).__code__.co_firstlineno}"


def home_of(function: Callable[..., Any]) -> ModuleType | None:
    """The module of the claims file that a function is from, if it is from one."""
    module = sys.modules.get(getattr(function, "__module__", ""))
    return module if module is not None and hasattr(module, HOME) else None


def read_file(path: str, name: str = "claims file") -> ClaimsFile:
    """The claims file at a path; `name` is what a refusal calls it.

    Raises
    ------
    InvalidInput
        If it cannot be read, or is not UTF-8.
    """
    try:
        whole = Path(path).expanduser()
    except RuntimeError as error:  # no home
        raise InvalidInput(f"{name} = {shown(path)}: cannot be read ({error}).") from None
    made = content(name, whole)
    try:
        return ClaimsFile(path, made.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = made[: error.start].count(b"\n") + 1
        raise InvalidInput(f"{path}:{line}: not UTF-8 ({error.reason}); a {name} is Python in UTF-8.") from None


@lru_cache(maxsize=256)
def _digest(text: str) -> str:
    """Twelve digits that tell texts apart."""
    return blake2b(text.encode(), digest_size=6).hexdigest()
