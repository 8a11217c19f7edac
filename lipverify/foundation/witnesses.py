"""Files of evidence that took long to make: records with a digest, one field a line, refused where they were edited."""

from __future__ import annotations

import platform
import subprocess
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from lipverify.errors import InvalidInput
from lipverify.foundation.compiling import compiler
from lipverify.foundation.files import write_whole

Record = TypeVar("Record", bound=msgspec.Struct)


def digest_of(record: Any) -> str:
    """A hash of everything in a record but its field `digest`."""
    return blake2b(msgspec.json.encode(replace(record, digest="")), digest_size=16).hexdigest()


def read_record(path: Path, kind: type[Record], form: int, said: str, way_out: str) -> Record:
    """The record in a file.

    Parameters
    ----------
    path, kind
        Where, and of which type; it has the fields `format` and `digest`.
    form
        The format that is read.
    said, way_out
        What a message calls the file, and what it says to do.

    Raises
    ------
    InvalidInput
        If there is no such file, or it is of another form, or was edited.
    """
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{said} is no regular file; remove it, or {way_out}.")
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{said} cannot be read ({error.strerror}); {way_out}.") from None
    try:
        there = msgspec.json.decode(text, type=dict[str, Any]).get("format")
        if there != form:
            raise InvalidInput(f"{said} has format {there!r}: this version reads format {form}; {way_out}.")
        found: Any = msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"{said} is no witness ({error}); {way_out}.") from None
    if digest_of(found) != found.digest:
        rule = "its digest is not that of its content: the file was edited"
        raise InvalidInput(f"{said}: digest = {found.digest!r}, {rule}; restore it, or {way_out}.")
    return found


def write_record(record: msgspec.Struct, path: Path) -> Path:
    """The file of a record, one field a line; it appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = msgspec.to_builtins(record)
    lines = (f"{_json(name)}: {_json(value)}" for name, value in fields.items())
    write_whole(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
    return path


def machine_here() -> str:
    """Processor, library and compiler: what bits depend on."""
    import scipy

    command = compiler()
    banner = _first_line([*command, "--version"]) if command else "no compiler"
    return f"{_processor()}; NumPy {np.__version__}; SciPy {scipy.__version__}; {banner}"


def _processor() -> str:
    """The model of the processor, as far as the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    numbers = [said[key] for key in ("cpu family", "model", "stepping") if key in said]
    return " ".join([said.get("model name") or platform.processor() or platform.machine(), *numbers])


def _first_line(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0].strip()


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
