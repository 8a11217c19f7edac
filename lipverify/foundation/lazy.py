"""Packages that import a name on first use, so that importing the package itself costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def lazy(package: str, *defined: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the `__getattr__` and the `__dir__` of a package (PEP 562), and with them its `__all__`.

    The imports that the package writes under `if TYPE_CHECKING:`, for type checkers, are its public names, and those
    that are made on first use; they are read from its source. Each is written `name as name`, by which type checkers
    know that it is public. A name must differ from every module's name, because importing that module would replace it.

    Parameters
    ----------
    package
        Its `__name__`.
    defined
        Further public names, which the package defines itself.

    >>> attribute, directory = lazy("lipverify.loss")
    >>> attribute("LossTerms").__module__
    'lipverify.loss.terms'
    >>> directory()
    ['Cost', 'LossTerms', 'budget', 'loss_cost', 'loss_terms']
    """

    def attribute(name: str) -> Any:
        if name == "__all__":
            return sorted([*_origins(package), *defined])
        origin = _origins(package).get(name)
        if origin is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = import_module(f"{package}.{name}") if origin == package else getattr(import_module(origin), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute, directory(package)


@cache
def _origins(package: str) -> dict[str, str]:
    """The names that a package imports under `if TYPE_CHECKING:`, each with the module it comes from.

    >>> _origins("lipverify.problem")["ReLU"]
    'lipverify.problem.laws'
    """
    import ast  # a command that asks for no name of a package does not need it

    loader: Any = sys.modules[package].__loader__
    tree = ast.parse(loader.get_source(package))
    blocks = [node.body for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    imports = [node for body in blocks for node in body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def directory(package: str) -> Callable[[], list[str]]:
    """Make the `__dir__` of a package or module (PEP 562): its `__all__`, without the names that it only imports.

    >>> directory("lipverify.scaling")()
    ['Growth', 'growth', 'growth_of']
    """

    def listed() -> list[str]:
        return sorted(import_module(package).__all__)

    return listed
