"""Docstrings are written to be read where they stand; here they become what Sphinx reads, before their sections do.

Single backticks are code; an indented block after a paragraph is a formula or a table of words, printed as it is;
lines that begin with a bar are a table; everything else means itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from sphinx.application import Sphinx

FIRST, LAST = 100, 900
"""Priorities: before and after the sections are read."""
RETURNED = re.compile(r"^:returns: \*[^*]+\* -- ")
ATTRIBUTES = ("attribute", "property", "data")
_kept: dict[str, list[str]] = {}
CODE = re.compile(r"(`+)(.+?)\1")
SPECIAL = re.compile(r"[\\*|]|(?<=\w)_(?!\w)")
STARRED = re.compile(r"\*{1,2}\w+")
TABLE = re.compile(r"\|.*\|\s*")
UNDERLINE = re.compile(r"-{3,}\s*")


def plain(lines: list[str]) -> list[str]:
    r"""The lines of a docstring as reStructuredText.

    >>> plain(["The norm |x| of `x`:", "", "    a * b"])
    ['The norm \\|x\\| of ``x``:', '', '::', '', '    a * b', '']
    """
    sections = next((i for i, line in enumerate(lines[1:]) if UNDERLINE.fullmatch(line)), len(lines))
    return [*_body(lines[:sections]), *_sections(lines[sections:])]


def _body(lines: list[str]) -> Iterator[str]:
    """Convert the text before the sections: paragraphs, tables, and literal blocks."""
    for kind, group in groupby(lines, _kind_of(lines)):
        if kind == "block":
            yield from ("::", "", *group, "")
        elif kind == "table":
            yield from _table(list(group))
        else:
            yield from map(_words, group)


def _kind_of(lines: list[str]) -> Any:
    """A function that returns the kind of each line; it must be called on the lines in order."""
    state = {"kind": "words", "example": False}

    def kind(line: str) -> str:
        if line.startswith(">>> "):
            state["example"] = True
        elif not line.strip():
            state["example"] = False
        if line.strip():
            indented = line.startswith("    ") and not state["example"]
            state["kind"] = "block" if indented else "table" if TABLE.fullmatch(line) else "words"
        return "example" if state["example"] else str(state["kind"])

    return kind


def _words(line: str) -> str:
    """Escape the characters of a line that reStructuredText would interpret."""
    if line.lstrip().startswith((">>>", "...")) or STARRED.fullmatch(line):
        return line
    pieces, at = [], 0
    for match in CODE.finditer(line):
        pieces += [_escaped(line[at : match.start()]), f"``{match[2]}``"]
        at = match.end()
    return "".join([*pieces, _escaped(line[at:])])


def _escaped(text: str) -> str:
    return SPECIAL.sub(lambda match: f"\\{match[0]}", text)


def _sections(lines: list[str]) -> Iterator[str]:
    """Convert the sections; text and examples that follow one get a section each."""
    example = False
    for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        starts = bool(line[:1].strip()) and not before.strip() and not after.startswith(("    ", "---"))
        if starts and not UNDERLINE.fullmatch(line):
            yield from ("Examples", "--------") if line.startswith(">>>") else ("Notes", "-----")
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        yield line if example or UNDERLINE.fullmatch(line) else _words(line)


def _table(lines: list[str]) -> Iterator[str]:
    """Convert a table drawn with bars to a list table."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.strip()]
    yield from (".. list-table::", "   :header-rows: 1", "")
    for row in (row for row in rows if not all(set(cell) <= set("-: ") for cell in row)):
        for place, cell in enumerate(row):
            yield f"   {'* -' if place == 0 else '  -'} {_words(cell)}"
    yield ""


def convert(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the lines of one docstring in place."""
    lines[:] = plain(lines)
    if what in ATTRIBUTES:
        _kept[name] = list(lines)


def restore(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Give an attribute its own words again: what stands before their first colon is not a type.

    Of what is returned, the annotation says the type, with a link to it: once is enough.
    """
    lines[:] = _kept.pop(name) if what in ATTRIBUTES else [RETURNED.sub(":returns: ", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to autodoc."""
    app.connect("autodoc-process-docstring", convert, priority=FIRST)
    app.connect("autodoc-process-docstring", restore, priority=LAST)
    return {"parallel_read_safe": True}
