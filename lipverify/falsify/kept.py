"""Store counterexamples as data in a folder, so that the next search tries them first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from lipverify.claims.language.family import Place
from lipverify.claims.ledger.symbols import Scalar
from lipverify.foundation.store import read_record, sealed, write_record

FORMAT = 2
"""Version of the file format; files of other versions are refused."""
NAME = "counterexamples.json"
MOST = 20
"""Most counterexamples stored for one claim, the latest first."""


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A point at which a claim failed."""

    form: int
    where: dict[str, Scalar]
    meaning: dict[str, str] = {}


class Store(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All stored counterexamples of a folder, by the id of the claim."""

    format: int = FORMAT
    claims: dict[str, list[Kept]] = {}
    digest: str = ""

    @classmethod
    def read(cls, folder: Path) -> Store:
        """Read the store of a folder; empty if it has no such file.

        Raises
        ------
        InvalidInput
            If the file is not a store, or was edited.
        """
        path = folder / NAME
        return read_record(path, cls, FORMAT, str(path), "give another --out") if path.exists() else cls()

    def of(self, id: str) -> Iterator[tuple[int, Place]]:
        """The points at which a claim failed before, with the number of the form."""
        for each in self.claims.get(id, ()):
            yield each.form, Place(dict(each.where), dict(each.meaning))

    def added(self, id: str, form: int, place: Place) -> Store:
        """The store with one more counterexample, in first place."""
        new = Kept(form, dict(place.where), dict(place.meaning))
        others = [each for each in self.claims.get(id, ()) if each != new]
        return Store(claims={**self.claims, id: [new, *others][:MOST]})

    def write(self, folder: Path) -> None:
        """Write the store; the file appears whole or not at all."""
        write_record(sealed(self), folder / NAME)
