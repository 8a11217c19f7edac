"""Packages that import a name on first use, so that importing the package itself costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import CodeType
from typing import Any


def lazy() -> None:
    """Import the public names of the package that calls this on first use: its `__getattr__`, `__dir__` and `__all__`.

    They are what it imports under `if TYPE_CHECKING:`, read from the compiled code, because a package may be installed
    without its source. A name must differ from every module's name, because importing that module would replace it.
    """
    frame = sys._getframe(1)
    code, names = frame.f_code, frame.f_globals
    package = names["__name__"]

    def attribute(name: str) -> Any:
        if name == "__all__":
            return sorted(_origins(code))
        origin = _origins(code).get(name)
        if origin is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        names[name] = import_module(f"{package}.{name}") if origin == package else getattr(import_module(origin), name)
        return names[name]

    # an assignment in the package itself would let type checkers accept every attribute, misspelt ones too
    names.update(__getattr__=attribute, __dir__=directory(package))


@cache
def _origins(code: CodeType) -> dict[str, str]:
    """The names that the code of a package imports from the library, each with the module it comes from."""
    from dis import get_instructions  # a command that asks for no name of a package does not need it

    origins, module = {}, ""
    for step in get_instructions(code):
        if step.opname == "IMPORT_NAME":
            module = step.argval
        elif step.opname == "IMPORT_FROM" and module.startswith("lipverify") and module != __name__:
            origins[step.argval] = module
    return origins


def directory(package: str) -> Callable[[], list[str]]:
    """Make the `__dir__` of a package or module (PEP 562): its `__all__`, without the names that it only imports."""

    def listed() -> list[str]:
        return sorted(import_module(package).__all__)

    return listed
