"""Claims files to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def text_of(kind: Literal["scaling", "bound"]) -> str:
    """The text of a start.

    >>> text_of("scaling").startswith('\"\"\"Claims of my own.')
    True
    """
    return Path(__file__).with_name(f"{kind}.txt").read_text(encoding="utf-8")
