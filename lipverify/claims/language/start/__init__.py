"""Claims files to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def text_of(form: Literal["exponent", "bound"]) -> str:
    """The text of a start.

    >>> text_of("exponent").startswith('\"\"\"Claims of my own.')
    True
    """
    return Path(__file__).with_name(f"{form}.py.txt").read_text(encoding="utf-8")
