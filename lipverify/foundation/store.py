"""Results on disk: sealed by a digest, verified whenever they are read, written whole or not at all.

A record is evidence that was expensive to compute, as JSON: a file with one field a line, or one line of a file with
many records. A file whose name ends in .xz is compressed; `xz -dc FILE` prints it. A row is the result of one
measurement of a run that may be interrupted, in SQLite, by its address.
Remembered answers are shared by the processes of one run, by the content of the question, in a folder that is deleted
with the run.
"""

from __future__ import annotations

import lzma
import sqlite3
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from lipverify.errors import InvalidInput
from lipverify.foundation.files import locked, write_whole

Record = TypeVar("Record", bound=msgspec.Struct)
Question = TypeVar("Question")
Answer = TypeVar("Answer", bound=msgspec.Struct)

SEAL = 16
"""Bytes of a digest; two results with one digest do not occur by chance."""
OURS = __name__.partition(".")[0]


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=SEAL).digest()


# ---- records


def sealed(record: Record) -> Record:
    """The record with the digest of all its other fields in `digest`."""
    return replace(record, digest=_digest_of(record))


def _digest_of(record: Any) -> str:
    return _digest(msgspec.json.encode(replace(record, digest=""))).hex()


def read_record(path: Path, kind: type[Record], form: int, subject: str, way_out: str, name: str = "") -> Record:
    """Read a record from its file, or by `name` from a file of many; refused if of another form or edited."""
    try:
        text = _text(path, subject, way_out)
        if name:
            text = _records(text)[name]
        there = msgspec.json.decode(text, type=dict[str, Any]).get("format")
        if there != form:
            raise InvalidInput(f"{subject} has format {there!r}: this version reads format {form}; {way_out}.")
        record: Any = msgspec.json.decode(text, type=kind)
    except (KeyError, msgspec.MsgspecError) as error:
        rule = f"{path.name} has none of this name" if isinstance(error, KeyError) else str(error)
        raise InvalidInput(f"{subject} cannot be read ({rule}); {way_out}.") from None
    if _digest_of(record) != record.digest:
        rule = "its digest is not that of its content: the file was edited"
        raise InvalidInput(f"{subject}: digest = {record.digest!r}, {rule}; restore it, or {way_out}.")
    return record


def names_in(path: Path) -> tuple[str, ...]:
    """The names of the records in a file of many; empty if there is no such file."""
    if not path.exists():
        return ()
    try:
        return tuple(_records(_text(path, str(path), "remove it")))
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"{path} holds no records ({error}); restore it, or remove it.") from None


def write_record(record: msgspec.Struct, path: Path, name: str = "") -> None:
    """Write a record to its own file, or under a name into a file of many, without changing the others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not name:
        _write(path, {field: _json(value) for field, value in msgspec.to_builtins(record).items()})
        return
    with locked(path.parent, wait=True):  # two processes add to one file one after the other
        there = {name: _records(_text(path, str(path), ""))[name].decode() for name in names_in(path)}
        _write(path, dict(sorted({**there, name: _json(record)}.items())))


def _write(path: Path, lines: dict[str, str]) -> None:
    text = ("{\n" + ",\n".join(f"{_json(name)}: {text}" for name, text in lines.items()) + "\n}\n").encode()
    write_whole(path, lzma.compress(text) if path.suffix == ".xz" else text)


def _text(path: Path, subject: str, way_out: str) -> bytes:
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{subject} is no regular file; remove it, or {way_out}.")
    try:
        content = path.read_bytes()
        return _decompressed(content) if path.suffix == ".xz" else content
    except (OSError, lzma.LZMAError) as error:
        rule = error.strerror if isinstance(error, OSError) else f"{path.name} is damaged: {error}"
        raise InvalidInput(f"{subject} cannot be read ({rule}); {way_out}.") from None


_decompressed = lru_cache(maxsize=32)(lzma.decompress)


@lru_cache(maxsize=32)
def _records(text: bytes) -> dict[str, bytes]:
    return {name: bytes(raw) for name, raw in msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items()}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# ---- rows


def packed(value: Any) -> bytes:
    """A value as bytes under their digest."""
    content = msgspec.msgpack.encode(value, enc_hook=_plain)
    return _digest(content) + content


def unpacked(content: bytes, kind: Any) -> Any:
    """The unpacked value, to the last bit; `msgspec.DecodeError` if the bytes or their type are not as packed."""
    if _digest(content[SEAL:]) != content[:SEAL]:
        raise msgspec.DecodeError("the digest is not that of the content")
    return msgspec.msgpack.decode(content[SEAL:], type=kind)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic) and not isinstance(plain := value.item(), np.generic):  # not a long double
        return plain
    raise NotImplementedError(f"results of type {type(value).__name__} are not kept")


class Rows:
    """Results by address in one file, each written as soon as it is computed, with the code that made it."""

    def __init__(self, path: Path, made_by: str, what: str, *, resume: bool = True) -> None:
        self.path, self.made_by = path, made_by
        self.resume, self._own = resume, set[str]()
        there = path.exists()
        self.problem = ""
        """The reason why results are no longer kept, if there is one: a full disk must not end the run."""
        try:
            self._rows = sqlite3.connect(path, isolation_level=None)
            weakref.finalize(self, self._rows.close)  # from 3.13 on, Python warns of a connection that nobody closed
            # no WAL: its shared memory ends a process whose file another one cuts (SIGBUS)
            self._rows.execute("PRAGMA journal_mode=TRUNCATE")
            self._rows.execute("PRAGMA synchronous=NORMAL")
            self._rows.execute(
                "CREATE TABLE IF NOT EXISTS finished (address TEXT, made_by TEXT, result BLOB, PRIMARY KEY (address))"
            )
            self._rows.execute("SELECT address, made_by, result FROM finished LIMIT 1")
        except sqlite3.Error as error:
            refusal = f"does not hold {what} ({error}); remove it"
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                refusal = f"is open in another program ({error}); close it there"
            elif not there:
                refusal = f"cannot be written ({error}: is the disk full?); make room"
                self._unlink()
            raise InvalidInput(f"{str(path)!r} {refusal}, or choose another --out.") from None

    def read(self, address: str, kind: Any) -> Any:
        """The result of this address; None if there is no intact one of this type."""
        if not self.resume and address not in self._own:
            return None
        query = "SELECT result FROM finished WHERE address = ? AND made_by = ?"
        with suppress(sqlite3.Error, msgspec.DecodeError, TypeError):
            row = self._rows.execute(query, (address, self.made_by)).fetchone()
            return unpacked(row[0], kind) if row is not None else None
        return None

    def write(self, address: str, result: Any, kind: Any) -> None:
        """Keep a result that can be read again as this type."""
        try:
            content = packed(result)
            unpacked(content, kind)
        except Exception:  # it has a type, a size or a depth that a row cannot have
            return
        try:
            insert = "INSERT OR REPLACE INTO finished (address, made_by, result) VALUES (?, ?, ?)"
            self._rows.execute(insert, (address, self.made_by, content))
            self._own.add(address)
        except sqlite3.Error as error:
            self.problem = str(error)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write all results of this block at its end, which takes as long as to write one."""
        try:
            with self._rows:
                self._rows.execute("BEGIN")
                yield
        except sqlite3.Error as error:
            self.problem = str(error)

    @property
    def count(self) -> int:
        """The number of results that these settings and this code have made."""
        with suppress(sqlite3.Error):
            query = "SELECT COUNT(*) FROM finished WHERE made_by = ?"
            return int(self._rows.execute(query, (self.made_by,)).fetchone()[0])
        return 0

    @property
    def empty(self) -> bool:
        """True if no results are kept, from any settings."""
        with suppress(sqlite3.Error):
            return self._rows.execute("SELECT 1 FROM finished LIMIT 1").fetchone() is None
        return False

    def remove(self) -> None:
        """Close and delete the file, if the folder still allows that; a file left behind is harmless."""
        self._rows.close()
        self._unlink()

    def _unlink(self) -> None:
        for suffix in ("", "-journal"):
            with suppress(OSError):
                self.path.with_name(self.path.name + suffix).unlink()


# ---- remembered answers of a run

_folder: Path | None = None


@contextmanager
def remembering() -> Iterator[Path]:
    """A folder for one run, in which this process remembers answers; it is deleted afterwards."""
    with TemporaryDirectory(prefix=f"{OURS}-") as folder, _remembering_in(Path(folder)):
        yield Path(folder)


@contextmanager
def forgetting() -> Iterator[None]:
    """Recall nothing in this block, so that a result by another method cannot pass for the usual answer."""
    with _remembering_in(None):
        yield


@contextmanager
def _remembering_in(folder: Path | None) -> Iterator[None]:
    before = _folder
    remember_in(folder)
    try:
        yield
    finally:
        remember_in(before)


def remember_in(folder: Path | None) -> None:
    """Remember answers in this folder from now on, or nothing."""
    global _folder
    _folder = folder


def remembered(find: Callable[[Question], Answer], question: Question, answer: type[Answer], **known: Any) -> Answer:
    """`find(question)`, an `answer` whose fields are `known` or numbers and text; computed by one process of a run.

    An answer is kept by the function's name and the content of its question, and read back to the last bit. Only
    questions of this library's own records and plain values are kept; one that holds a function or a user's class is
    computed anew.
    """
    content = None if _folder is None else _content(question)
    if _folder is None or content is None:
        return find(question)
    path = _folder / _digest(f"{find.__module__}.{find.__qualname__} {content!r}".encode()).hex()
    with suppress(OSError, msgspec.DecodeError):
        return answer(**known, **unpacked(path.read_bytes(), dict[str, Any]))
    result = find(question)
    kept = {name: getattr(result, name) for name in answer.__struct_fields__ if name not in known}
    with suppress(OSError):  # a full disk costs only time
        write_whole(path, packed(kept), durable=False)
    return result


def _content(value: Any) -> Any:
    """All components of a value, as text and numbers; None if it contains anything else."""
    if value is None:
        return "nothing"
    if type(value) in (bool, int, float, str):
        return value
    if isinstance(value, tuple | list):
        parts = [_content(part) for part in value]
    elif isinstance(value, msgspec.Struct) and type(value).__module__.partition(".")[0] == OURS:
        parts = [_content(getattr(value, name)) for name in value.__struct_fields__]
    else:
        return None
    kind = type(value)
    return None if None in parts else (kind.__module__, kind.__qualname__, *parts)
