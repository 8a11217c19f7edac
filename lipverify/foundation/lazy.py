"""Packages that import a name on first use, so that importing the package itself costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy(
    package: str, names: Mapping[str, str], modules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the `__getattr__` and the `__dir__` of a package (PEP 562); `__dir__` lists its `__all__`.

    Parameters
    ----------
    package
        Its `__name__`.
    names
        Each public name with the module of the package that defines it. A name must differ from every module's name,
        because importing that module would replace it.
    modules
        Public modules of the package.

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
    """Make the `__dir__` of a package or module (PEP 562): its `__all__`, without the names that it only imports.

    >>> directory("lipverify.scaling")()
    ['Growth', 'growth', 'growth_of']
    """

    def listed() -> list[str]:
        return sorted(import_module(package).__all__)

    return listed
