"""Trainings as data: what a training gives, in a file, so that claims about it need no training.

A file `NAME.json` holds the arrays of all runs, what was asked for, and what it took, under a digest. It answers one
question: other settings, another seed or more runs are trained. It is not taken on trust: whoever reads it takes the
first steps of the first run anew, and refuses what does not begin so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.provenance import machine_here
from lipverify.foundation.shipped import shipped
from lipverify.foundation.store import read_record, sealed, write_record

FORMAT = 1
"""The version of the file's form; another one is refused."""
ALIKE = 1e-6
"""How far a few steps by another processor or library may lead from these, relative to the largest entry."""
FOLDER = "trainings"
"""Below the data that come with lipverify."""
_making: Path | None = None

Arrays = Mapping[str, Floats]
Train = Callable[[Sequence[str], int], Arrays]
"""Train the runs of some streams for so many steps: arrays whose first axes are (run, record)."""


class Doubles(msgspec.Struct, frozen=True):
    """An array of doubles by its bytes, little-endian, the last axis first."""

    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, values: Floats) -> Doubles:
        """An array, as it is written.

        >>> Doubles.of(np.eye(2)).values.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        return cls(np.shape(values), np.asarray(values, dtype="<f8").tobytes())

    @property
    def values(self) -> Floats:
        """The bytes as doubles, in the shape that is kept beside them."""
        return np.frombuffer(self.data, dtype="<f8").reshape(self.shape).astype(np.float64)


class Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A training with all that it takes to make it again.

    Attributes
    ----------
    format
        `FORMAT`.
    command
        What makes it.
    name
        Its file, without the suffix.
    asked
        Everything that it depends on: the problem, the settings, the streams and the seed.
    seconds, machine
        Processor time that it took, and where.
    arrays
        What it gave, by name; the first axes are (run, record).
    digest
        Of all else.
    """

    format: int
    command: str
    name: str
    asked: Any
    seconds: float
    machine: str
    arrays: dict[str, Doubles]
    digest: str = ""


def kept(name: str, asked: Mapping[str, Any], train: Train, *, steps: int, every: int) -> Arrays:
    """The arrays of a training: from its file, if the file answers this question, else trained.

    Parameters
    ----------
    name
        The id of the theorem that it is for, then what tells it apart, joined by "/".
    asked
        Everything that the training depends on, with `streams`, those of its runs.
    train
        Trains; asked for the first `every` steps of the first stream where there is a file.
    steps, every
        How many steps, and after how many a record is made.

    Raises
    ------
    InvalidInput
        If the file was edited, or training begins otherwise than it says.
    """
    question, streams = msgspec.to_builtins(asked, enc_hook=_in_words, str_keys=True), asked["streams"]
    if _making is not None:
        return _made(_making, name, question, lambda: train(streams, steps))
    path = shipped() / FOLDER / f"{name}.json"
    if not path.exists():
        return train(streams, steps)
    way_out = f"`{_command(name)}` makes it anew"
    found = read_record(path, Kept, FORMAT, f"training {name}", way_out)
    if found.asked != msgspec.json.decode(msgspec.json.encode(question)):
        return train(streams, steps)
    arrays = {each: doubles.values for each, doubles in found.arrays.items()}
    for each, begun in train(streams[:1], every).items():
        there = arrays[each][0, : begun.shape[1]]
        if not np.max(np.abs(there - begun[0])) <= ALIKE * np.max(np.abs(there)):
            raise InvalidInput(f"training {name} does not begin as it does here in {each}; {way_out}.")
    return arrays


@contextmanager
def making(folder: Path) -> Iterator[None]:
    """Within it every training is made and written to the folder, whatever files there are."""
    global _making
    before, _making = _making, folder
    try:
        yield
    finally:
        _making = before


def _made(folder: Path, name: str, question: Any, train: Callable[[], Arrays]) -> Arrays:
    """A training, and its file."""
    clock = time.process_time()
    arrays = train()
    made = Kept(
        format=FORMAT,
        command=_command(name),
        name=name,
        asked=question,
        seconds=round(time.process_time() - clock, 2),
        machine=machine_here(),
        arrays={each: Doubles.of(values) for each, values in arrays.items()},
    )
    write_record(sealed(made), folder / f"{name}.json")
    return arrays


def _command(name: str) -> str:
    return f"lipverify train {name.partition('/')[0]}"


def _in_words(value: Any) -> Any:
    """A function by its name, an array by its entries."""
    if callable(value):
        return str(value.__qualname__)
    return np.asarray(value).tolist()
