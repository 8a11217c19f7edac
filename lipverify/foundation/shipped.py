"""The folder of claims, proofs and trained models that comes with lipverify.

In a checkout it is `checks/`, next to the package; an installed package contains it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lipverify.errors import InvalidInput

__all__ = ["CONTENTS", "shipped"]

CONTENTS = "contents.toml"
"""The file that marks the folder."""


@cache
def shipped() -> Path:
    """The folder, inside the package or, in a checkout, next to it.

    Raises
    ------
    InvalidInput
        If lipverify was installed without the folder or without source files, on which a verification depends too.
    """
    package = Path(__file__).resolve().parents[1]
    folders = (package / "checks", package.parent / "checks")
    folder = next((folder for folder in folders if (folder / CONTENTS).is_file()), None)
    if folder is None or not __file__.endswith(".py"):
        raise InvalidInput(f"{package}: the theorems or source files are missing; install lipverify from its wheel.")
    return folder
