"""Values as messages quote them; it needs no library, so that a refusal waits for none."""

from __future__ import annotations

from typing import Any

LONGEST = 80
"""Letters of a value that a message shows."""
LONGEST_PROBLEM = 2000
"""The same of what an exception says."""


def shown(value: Any) -> str:
    """A value as a message quotes it: on one line, and no longer than can be read.

    >>> shown(10**400)
    '1000000000000000000000000000000000000...000000000000000000000000000000000000000'
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer of more digits than Python prints, or an object that cannot be shown
        text = f"<{type(value).__name__}>"
    half = (LONGEST - 3) // 2
    return text if len(text) <= LONGEST else f"{text[: half - 1]}...{text[-half - 1 :]}"


def counted(number: int, noun: str) -> str:
    """So many of something, in words.

    >>> counted(1, "claim"), counted(0, "claim")
    ('1 claim', '0 claims')
    """
    return f"{number} {noun}" + "s" * (number != 1)


def told(error: BaseException) -> str:
    """The type of an exception and what it says, as far as a ledger and its readers need it.

    What UTF-8 cannot write is escaped; an exception that raises when it is asked is told by its type.

    >>> told(ValueError("w = -1"))
    'ValueError: w = -1'
    >>> told(type(100_000 * "E", (Exception,), {})("no")).endswith("EEE... (100000 letters): no")
    True
    """
    try:
        said = str(error)
    except Exception:
        said = "it cannot say why"
    return f"{_cut(type(error).__name__)}: {_cut(said)}"


def _cut(text: str) -> str:
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_PROBLEM else f"{text[:LONGEST_PROBLEM]}... ({len(text)} letters)"
