"""Answers that lipverify's files alone decide: helps, and `list` and `explain` of its own claims.

One is kept in the user's cache folder, and printed again until a file of lipverify, Python or the terminal is another.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from hashlib import blake2b
from io import StringIO
from pathlib import Path
from typing import IO, Any

from lipverify.errors import InvalidInput
from lipverify.foundation.compiling import cache_folder, is_ours
from lipverify.foundation.files import is_path, write_whole
from lipverify.foundation.shipped import shipped

SHAPING = ("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS", "JUPYTER_COLUMNS")
"""Environment variables that change colours or widths."""


def kept_answer(words: Sequence[str]) -> Path | None:
    """Where the answer to a command line is kept; None if it depends on more than lipverify's files."""
    asks_for_help = bool({"--help", "-h", "--version"} & set(words)) or not words
    asks_for_claims = words[:1] in (["list"], ["explain"]) and not any(_may_be_a_file(word) for word in words[1:])
    if not asks_for_help and not asks_for_claims:
        return None
    seen = [*words, str(sys.stdout.encoding), str(sys.stdout.isatty()), *(_width(stream) for stream in (0, 1, 2))]
    seen += [f"{name}={os.environ.get(name)}" for name in SHAPING]
    with suppress(InvalidInput, OSError, RuntimeError):  # no home is a RuntimeError
        return cache_folder() / "answers" / f"{_digest(_state())}-{_digest(seen)}"
    return None


def _width(stream: int) -> str:
    """The columns of the terminal that a stream is; a library may ask each of the three."""
    try:
        return str(os.get_terminal_size(stream).columns)
    except OSError:
        return ""


def _may_be_a_file(word: str) -> bool:
    return is_path(word) or word.endswith(".json")


def _state() -> Iterator[str]:
    """Name, time and size of every file that answers are made of, as Python asks before it compiles one anew."""
    installed = Path(sysconfig.get_path("purelib"))
    yield f"{sys.version} {installed} {installed.stat().st_mtime_ns}"  # another version of a library came or went
    for folder in (Path(__file__).parents[1], shipped()):
        for path in sorted(folder.rglob("*.*")):
            state = path.stat()
            if path.suffix != ".pyc":
                yield f"{path} {state.st_mtime_ns} {state.st_size}"


def _digest(parts: Any) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def read_answer(path: Path) -> str | None:
    """The kept answer, if only this user can have written it."""
    with suppress(OSError, UnicodeDecodeError):
        if is_ours(path.parent) and is_ours(path):
            return path.read_text(encoding="utf-8")
    return None


@contextmanager
def keeping(path: Path) -> Iterator[None]:
    """Keep what this block prints, unless it fails or ends the program; what older files answered is removed."""
    copy = _Copy(sys.stdout)
    with redirect_stdout(copy):
        yield
    with suppress(OSError, InvalidInput):  # the next command makes the answer again
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_ours(path.parent):
            write_whole(path, copy.written.getvalue().encode(), durable=False)
            for other in path.parent.iterdir():
                if other.name.partition("-")[0] != path.name.partition("-")[0]:
                    other.unlink()


class _Copy:
    """A stream that also keeps what is written to it."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream, self.written = stream, StringIO()

    def write(self, text: str) -> int:
        self.written.write(text)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
