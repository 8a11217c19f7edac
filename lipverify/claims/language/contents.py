"""The claims shipped with lipverify: the files of each statement, and the headings in the order of the report.

A theorem file names its statements by the common start of their ids (the stem):
`HEADINGS = {"softmax.window-printed": (3, 1, "The optimal window, as printed")}` is the first of section 3. Other files
that have claims of this stem need nothing. The files are read as text: only those of a wanted claim are executed.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import msgspec

from lipverify.claims.ledger.record import Heading
from lipverify.foundation.shipped import shipped, table

HEADINGS = re.compile(r"^HEADINGS = (\{.*?\})$", re.MULTILINE | re.DOTALL)
STEM = re.compile(r"\bclaim\(\s*\"([^\"/{]+)(\{?)")


class Contents(msgspec.Struct, frozen=True):
    """The heading of each stem, and the files that declare it, its own first; both in printing order."""

    headings: dict[str, Heading]
    files: dict[str, tuple[Path, ...]]


@cache
def contents() -> Contents:
    """Read the table of contents.

    >>> next(iter(contents().headings))
    'softmax.split'
    """
    sections = table()["sections"]
    texts = {path: path.read_text("utf-8") for path in sorted(shipped().rglob("*.py"))}
    homes = [
        (place, stem, path)
        for path, text in texts.items()
        for found in HEADINGS.findall(text)
        for stem, place in ast.literal_eval(found).items()
    ]
    starts = {path: set(STEM.findall(text)) for path, text in texts.items()}
    files: dict[str, tuple[Path, ...]] = {}
    for _, stem, home in sorted(homes):
        files[stem] = (home, *(path for path in texts if path != home and _declares(starts[path], stem)))
    headings = {stem: Heading(section=sections[k - 1], title=title) for (k, _, title), stem, _ in sorted(homes)}
    return Contents(headings, files)


def _declares(starts: set[tuple[str, str]], stem: str) -> bool:
    """True if a file has claims of this stem; an id such as "a.b-{side}" stands for several."""
    return any(stem == start or (several and stem.startswith(start)) for start, several in starts)
