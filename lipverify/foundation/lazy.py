"""Packages that import a name when it is first used, so that importing them costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy(
    package: str, names: Mapping[str, str], modules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package (PEP 562); the directory is its `__all__`.

    Parameters
    ----------
    package
        Its `__name__`.
    names
        The public names, and the module below the package that each comes from; none may be called as a module
        of the package is, which would take its place.
    modules
        Modules of the package that are public as such.

    >>> attribute, directory = lazy("lipverify.loss", {"LossTerms": "terms"}, modules=["exact"])
    >>> attribute("LossTerms").__module__
    'lipverify.loss.terms'
    >>> directory()
    ['Cost', 'LossTerms', 'METHODS', 'budget', 'loss_cost', 'loss_terms']
    """

    def attribute(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{names[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute, directory(package)


def directory(package: str) -> Callable[[], list[str]]:
    """The `__dir__` of a package or a module (PEP 562): its `__all__`, and nothing that it only imports.

    >>> directory("lipverify.scaling")()
    ['Growth', 'growth', 'growth_of']
    """

    def listed() -> list[str]:
        return sorted(import_module(package).__all__)

    return listed
