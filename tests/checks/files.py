"""The functions of a theorem's file, for tests."""

from __future__ import annotations

from types import ModuleType

from lipverify.claims.language import read_file
from lipverify.foundation.shipped import shipped


def functions_of(name: str) -> ModuleType:
    """The module that a file of `checks/` makes, by its path there."""
    return read_file(str(shipped() / name)).module()
