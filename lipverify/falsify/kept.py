"""Counterexamples that were found, kept as data in a folder and tried first next time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from lipverify.claims.language.family import Place
from lipverify.claims.ledger.symbols import Scalar
from lipverify.errors import InvalidInput
from lipverify.foundation.files import content, write_whole

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

    format: str = "lipverify-counterexamples-1"
    claims: dict[str, list[Kept]] = {}

    @classmethod
    def read(cls, folder: Path) -> Store:
        """What a folder holds; nothing if it has no such file.

        Raises
        ------
        InvalidInput
            If the file is something else.
        """
        path = folder / NAME
        if not path.exists():
            return cls()
        try:
            found = msgspec.json.decode(content("counterexamples", path), type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidInput(
                f"{path}: not a file of counterexamples ({error}); remove it, or give another --out."
            ) from None
        if found.format != cls().format:
            raise InvalidInput(f"{path}: format = {found.format!r} is not {cls().format!r}; give another --out.")
        return found

    def of(self, id: str) -> Iterator[tuple[int, Place]]:
        """Where a claim failed before."""
        for each in self.claims.get(id, ()):
            yield each.form, Place(dict(each.where), dict(each.meaning))

    def added(self, id: str, form: int, place: Place) -> Store:
        """With one more, which comes first."""
        new = Kept(form, dict(place.where), dict(place.meaning))
        others = [each for each in self.claims.get(id, ()) if each != new]
        return Store(self.format, {**self.claims, id: [new, *others][:MOST]})

    def write(self, folder: Path) -> None:
        """Write it; the file appears whole or not at all."""
        write_whole(folder / NAME, msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n")
