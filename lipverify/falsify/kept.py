"""Counterexamples that were found, kept as data in a folder and tried first next time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from lipverify.claims.language.family import Place
from lipverify.claims.ledger.symbols import Scalar
from lipverify.foundation.store import read_record, sealed, write_record

FORMAT = 2
"""The version of the file's form; another one is refused."""
NAME = "counterexamples.json"
MOST = 20
"""So many are kept of one claim, the latest first."""


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a claim failed."""

    form: int
    where: dict[str, Scalar]
    meaning: dict[str, str] = {}


class Store(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is kept in a folder, by the id of the claim."""

    format: int = FORMAT
    claims: dict[str, list[Kept]] = {}
    digest: str = ""

    @classmethod
    def read(cls, folder: Path) -> Store:
        """What a folder holds; nothing if it has no such file.

        Raises
        ------
        InvalidInput
            If the file is something else, or was edited.
        """
        path = folder / NAME
        return read_record(path, cls, FORMAT, str(path), "give another --out") if path.exists() else cls()

    def of(self, id: str) -> Iterator[tuple[int, Place]]:
        """Where a claim failed before."""
        for each in self.claims.get(id, ()):
            yield each.form, Place(dict(each.where), dict(each.meaning))

    def added(self, id: str, form: int, place: Place) -> Store:
        """With one more, which comes first."""
        new = Kept(form, dict(place.where), dict(place.meaning))
        others = [each for each in self.claims.get(id, ()) if each != new]
        return Store(claims={**self.claims, id: [new, *others][:MOST]})

    def write(self, folder: Path) -> None:
        """Write it; the file appears whole or not at all."""
        write_record(sealed(self), folder / NAME)
