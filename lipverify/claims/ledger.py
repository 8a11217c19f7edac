"""The ledger: everything that a run found, as one JSON file that the report is made from."""

from __future__ import annotations

import os
import tempfile
import textwrap
from pathlib import Path

import msgspec

from lipverify.claims.figure import Figure
from lipverify.claims.number import Number, read_back
from lipverify.claims.verdict import Allowed, Verdict
from lipverify.errors import InvalidInput

FORMAT = "lipverify-ledger-1"
Scalar = str | int | float
_MESSAGE = 200
"""Letters that an error may quote of a file."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where a claim comes from, and what is printed there (text that may hold `$LaTeX$`)."""

    paper: str
    place: str
    printed: str


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """Where a claim stands in the report: its section, and the title that all readings of it share."""

    section: str
    title: str


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A small table of a claim, such as constants that were derived; its text may hold `$LaTeX$`."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """The falsified twin of a claim on the same evidence; caught if it is refuted in every cell."""

    statement: str
    caught: bool


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of evidence: what was measured where, its error, and its own verdict."""

    where: dict[str, Scalar]
    """What tells this cell apart: `d`, `law`, ..."""
    quantity: str
    method: str
    measured: float | None
    error: float | None
    claimed: str
    allowed: Allowed
    verdict: Verdict
    margin: float | None
    control: Verdict
    note: str = ""


class CrossCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The same number by two methods that share no code: they agree, or the claim is not decided."""

    where: dict[str, Scalar]
    quantity: str
    methods: tuple[str, str]
    values: tuple[Number, Number]
    errors: tuple[Number, Number]
    agrees: bool

    def __post_init__(self) -> None:
        read_back(self, "values", "errors")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One claim and what became of it."""

    id: str
    title: str
    statement: str
    """LaTeX, without dollar signs."""
    source: Source
    assumptions: tuple[str, ...]
    verdict: Verdict
    expected: Verdict | None
    """The recorded verdict; None where the claim is new and nothing is recorded yet."""
    measured: str
    """The finding in one line, for the table."""
    claimed: str
    margin: float | None
    control: Control
    finding: str
    """What the evidence shows, in sentences that may hold `$LaTeX$`; empty when there is no more to say."""
    seconds: float
    cells: tuple[Cell, ...]
    cross_checks: tuple[CrossCheck, ...] = ()
    figures: tuple[Figure, ...] = ()
    reproduce: str = ""
    problem: str = ""
    """Why the verdict is `error`, where it is."""
    heading: Heading | None = None
    corrected: str = ""
    """What holds in place of what is printed, where the two differ; text that may hold `$LaTeX$`."""
    tables: tuple[Table, ...] = ()

    @property
    def moved(self) -> bool:
        """Whether the verdict differs from the recorded one; that of a new claim cannot."""
        return self.expected is not None and self.verdict != self.expected


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What produced the ledger."""

    versions: dict[str, str]
    machine: str
    started: str
    """ISO 8601, UTC."""
    seconds: float


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """All records of one run."""

    profile: str
    seed: int
    backend: str
    provenance: Provenance
    claims: tuple[Record, ...]
    format: str = FORMAT


class _Head(msgspec.Struct, frozen=True):
    """What is read first: it says whether the rest can be."""

    format: str = FORMAT


def write_ledger(ledger: Ledger, path: Path) -> None:
    """Write the ledger as JSON; the file appears whole or not at all."""
    text = msgspec.json.format(msgspec.json.encode(ledger), indent=1)
    write_whole(path, text)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file through a temporary neighbour, so that an interruption leaves no half of it."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def read_ledger(path: Path) -> Ledger:
    """Read a ledger back; a file that is not one is refused with the reason."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"ledger = {str(path)!r}: cannot be read ({error.strerror}).") from None
    try:
        form = msgspec.json.decode(content, type=_Head).format
        if form == FORMAT:
            return msgspec.json.decode(content, type=Ledger)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = textwrap.shorten(str(error), _MESSAGE)
        raise InvalidInput(f"ledger = {str(path)!r}: not a lipverify ledger ({what}).") from None
    shown = textwrap.shorten(repr(form), _MESSAGE)
    raise InvalidInput(f"ledger = {str(path)!r}: its format is {shown}; this version reads {FORMAT!r}.")
