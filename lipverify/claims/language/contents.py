"""The claims shipped with lipverify: the folder of their files, and its table of contents.

The folder is data (`lipverify.foundation.shipped`).
"""

from __future__ import annotations

import tomllib
from functools import cache, cached_property
from pathlib import Path

import msgspec

from lipverify.claims.ledger.record import Heading
from lipverify.foundation.shipped import CONTENTS, shipped

__all__ = ["Contents", "Section", "Stem", "contents"]


class Stem(msgspec.Struct, frozen=True):
    """A statement in the table of contents: the common start of its readings' ids, its title, and its file or files."""

    stem: str
    title: str
    file: str | tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files that declare the statement, in order."""
        return (self.file,) if isinstance(self.file, str) else self.file


class Section(msgspec.Struct, frozen=True):
    """A section of the report."""

    title: str
    statements: tuple[Stem, ...]


class Contents(msgspec.Struct, frozen=True, dict=True):
    """All statements, in printing order."""

    section: tuple[Section, ...]

    @cached_property
    def headings(self) -> dict[str, Heading]:
        """The heading of each stem, in printing order."""
        return {
            statement.stem: Heading(section=section.title, title=statement.title)
            for section in self.section
            for statement in section.statements
        }

    @cached_property
    def files(self) -> dict[str, tuple[Path, ...]]:
        """The files that declare each stem, in printing order."""
        folder, stems = shipped(), [statement for section in self.section for statement in section.statements]
        return {stem.stem: tuple(folder / file for file in stem.files) for stem in stems}


@cache
def contents() -> Contents:
    """Read the table of contents.

    >>> next(iter(contents().headings))
    'softmax.split'
    """
    return msgspec.convert(tomllib.loads((shipped() / CONTENTS).read_text("utf-8")), Contents)
