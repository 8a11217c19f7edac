"""What the processes of a run find out once: results of pure functions of plain records, in a folder that they share.

A result is kept under the function's name and the content of its question, number by number, and read back to the last
bit, so that nobody can tell whether it was read or found. Outside of a run nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any, TypeVar

import msgspec

Question = TypeVar("Question")
Answer = TypeVar("Answer", bound=msgspec.Struct)
OURS = __name__.partition(".")[0]
_folder: Path | None = None


@contextmanager
def remembering() -> Iterator[Path]:
    """A folder for one run, in which this process remembers; it is gone afterwards."""
    with TemporaryDirectory(prefix=f"{OURS}-") as folder:
        before = _folder
        remember_in(Path(folder))
        try:
            yield Path(folder)
        finally:
            remember_in(before)


@contextmanager
def forgetting() -> Iterator[None]:
    """Within it nothing is remembered or recalled: what is found in another way must not pass for the usual answer."""
    before = _folder
    remember_in(None)
    try:
        yield
    finally:
        remember_in(before)


def remember_in(folder: Path | None) -> None:
    """Remember what is found from now on in this folder, or nothing."""
    global _folder
    _folder = folder


def remembered(find: Callable[[Question], Answer], question: Question, answer: type[Answer], **known: Any) -> Answer:
    """`find(question)`, an `answer` whose fields are `known` or numbers and text; found by one process of a run.

    Only questions that consist of this library's own records and of plain values are known by their content; what
    holds a function, or a class of somebody else's, is found each time.

    >>> class Asked(msgspec.Struct, frozen=True):
    ...     x: float
    >>> class Answered(msgspec.Struct, frozen=True):
    ...     square: float
    >>> remembered(lambda asked: Answered(asked.x**2), Asked(3.0), Answered)
    Answered(square=9.0)
    """
    content = None if _folder is None else _content(question)
    if _folder is None or content is None:
        return find(question)
    path = _folder / blake2b(f"{find.__module__}.{find.__qualname__} {content!r}".encode(), digest_size=16).hexdigest()
    with suppress(OSError, msgspec.DecodeError):
        return answer(**known, **msgspec.msgpack.decode(path.read_bytes()))
    found = find(question)
    kept = {name: getattr(found, name) for name in answer.__struct_fields__ if name not in known}
    # a full disk costs time and nothing else; a file appears whole
    with suppress(OSError), NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(msgspec.msgpack.encode(kept))
        file.close()
        Path(file.name).replace(path)
    return found


def _content(value: Any) -> Any:
    """All that a value is made of, as text and numbers; None if it holds something else."""
    if value is None:
        return "nothing"
    if type(value) in (bool, int, float, str):
        return value
    if isinstance(value, tuple | list):
        parts = [_content(each) for each in value]
    elif isinstance(value, msgspec.Struct) and type(value).__module__.partition(".")[0] == OURS:
        parts = [_content(getattr(value, name)) for name in value.__struct_fields__]
    else:
        return None
    kind = type(value)
    return None if None in parts else (kind.__module__, kind.__qualname__, *parts)
