"""The folder of claims, proofs and trained models: `checks/`, next to the package in a checkout, else inside of it."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from lipverify.errors import InvalidInput

__all__ = ["CONTENTS", "shipped", "table"]

CONTENTS = "contents.toml"
"""The file that marks the folder."""


def shipped() -> Path:
    """The folder; refused if lipverify was installed without it or without source files, which a verification needs."""
    package = Path(__file__).resolve().parents[1]
    folders = (package / "checks", package.parent / "checks")
    folder = next((folder for folder in folders if (folder / CONTENTS).is_file()), None)
    if folder is None or not __file__.endswith(".py"):
        raise InvalidInput(f"{package}: the theorems or source files are missing; install lipverify from its wheel.")
    return folder


@cache
def table() -> dict[str, Any]:
    """The file that marks the folder, which every measurement on a trained model reads."""
    return tomllib.loads((shipped() / CONTENTS).read_text("utf-8"))
