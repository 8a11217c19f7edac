"""Stored results of trainings, so that claims about them can be checked without training.

A file `NAME.json` contains the arrays of all runs, the settings, and the time and machine, with a digest. It serves
exactly these settings: other settings, another seed or more runs are trained. A file is not trusted: before use, the
first steps of the first run are computed again, and the file is refused if they differ.
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
"""Version of the file format; files of another version are refused."""
ALIKE = 1e-6
"""Largest difference that another processor or library may make in a few steps, relative to the largest entry."""
FOLDER = "trainings"
"""Folder of the files within the data that come with lipverify."""
_making: Path | None = None

Arrays = Mapping[str, Floats]
Train = Callable[[Sequence[str], int], Arrays]
"""A function (streams, steps) that trains one run per stream and returns arrays with first axes (run, record)."""


class Doubles(msgspec.Struct, frozen=True):
    """An array of doubles as little-endian bytes, with the last axis varying fastest."""

    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, values: Floats) -> Doubles:
        """Encode an array.

        >>> Doubles.of(np.eye(2)).values.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        return cls(np.shape(values), np.asarray(values, dtype="<f8").tobytes())

    @property
    def values(self) -> Floats:
        """Decode the bytes to an array of doubles with the stored shape."""
        return np.frombuffer(self.data, dtype="<f8").reshape(self.shape).astype(np.float64)


class Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The results of a training with everything needed to repeat it.

    Attributes
    ----------
    format
        `FORMAT`.
    command
        The command that makes the file.
    name
        The name of the file, without the suffix.
    asked
        Everything that the results depend on: the problem, the settings, the streams and the seed.
    seconds, machine
        Processor time of the training, and the machine.
    arrays
        The results by name; the first axes are (run, record).
    digest
        Digest of all other fields.
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
    """The arrays of a training: read from its file if that has these settings, otherwise trained.

    Parameters
    ----------
    name
        The id of the theorem and a name that is unique among its trainings, joined by "/".
    asked
        Everything that the training depends on, including `streams`, the streams of its runs.
    train
        The training. If there is a file, it is called for the first `every` steps of the first stream only.
    steps, every
        Number of steps, and number of steps between two records.

    Raises
    ------
    InvalidInput
        If the file was edited, or the first steps of the training differ from it.
    """
    question, streams = msgspec.to_builtins(asked, enc_hook=_in_words, str_keys=True), asked["streams"]
    if _making is not None:
        return _made(_making, name, question, lambda: train(streams, steps))
    path = shipped() / FOLDER / f"{name}.json"
    if not path.exists():
        return train(streams, steps)
    way_out = f"`{_command(name)}` makes it again"
    record = read_record(path, Kept, FORMAT, f"training {name}", way_out)
    if record.asked != msgspec.json.decode(msgspec.json.encode(question)):
        return train(streams, steps)
    arrays = {key: doubles.values for key, doubles in record.arrays.items()}
    for key, begun in train(streams[:1], every).items():
        stored = arrays[key][0, : begun.shape[1]]
        if not np.max(np.abs(stored - begun[0])) <= ALIKE * np.max(np.abs(stored)):
            raise InvalidInput(f"training {name} does not begin as it does here in {key}; {way_out}.")
    return arrays


@contextmanager
def making(folder: Path) -> Iterator[None]:
    """Inside this context every training is run and written to the folder, even if its file exists."""
    global _making
    before, _making = _making, folder
    try:
        yield
    finally:
        _making = before


def _made(folder: Path, name: str, question: Any, train: Callable[[], Arrays]) -> Arrays:
    """Run a training and write its file."""
    clock = time.process_time()
    arrays = train()
    made = Kept(
        format=FORMAT,
        command=_command(name),
        name=name,
        asked=question,
        seconds=round(time.process_time() - clock, 2),
        machine=machine_here(),
        arrays={key: Doubles.of(values) for key, values in arrays.items()},
    )
    write_record(sealed(made), folder / f"{name}.json")
    return arrays


def _command(name: str) -> str:
    return f"lipverify train {name.partition('/')[0]}"


def _in_words(value: Any) -> Any:
    """Encode a function as its name and an array as its entries."""
    if callable(value):
        return str(value.__qualname__)
    return np.asarray(value).tolist()
