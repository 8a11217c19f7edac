"""The folder of claims, proofs and trained models: `checks/`, next to the package in a checkout, else inside of it."""

from __future__ import annotations

from pathlib import Path

from lipverify.errors import InvalidInput

__all__ = ["CONTENTS", "shipped"]

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
