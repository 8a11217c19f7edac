"""The folder of claims, proofs and trained models that comes with lipverify.

In a checkout it is `checks/`, next to the package; an installed package contains it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

__all__ = ["CONTENTS", "shipped"]

CONTENTS = "contents.toml"
"""The file that marks the folder."""


@cache
def shipped() -> Path:
    """The folder, inside the package or, in a checkout, next to it."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "checks"
    return inside if (inside / CONTENTS).exists() else (package.parent / "checks").resolve()
