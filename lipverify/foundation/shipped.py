"""The data that come with lipverify: files of claims and trained models, in one folder.

In a checkout it is `checks/` beside the package; an installed package carries it inside.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

__all__ = ["CONTENTS", "shipped"]

CONTENTS = "contents.toml"
"""The file by which the folder is told."""


@cache
def shipped() -> Path:
    """The folder, inside the package or, in a checkout, beside it."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "checks"
    return inside if (inside / CONTENTS).exists() else (package.parent / "checks").resolve()
