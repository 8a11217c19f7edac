"""Read and write the user's files safely: regular files only, written whole, one run a folder."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lipverify.errors import InvalidInput
from lipverify.foundation.quoting import shown

LARGEST = 2**29
"""Largest file, in bytes, that is read: a hundred times the largest ledger of this project."""


def is_path(pattern: str) -> bool:
    """True if a pattern is the path of a claims file and not a pattern for ids.

    >>> is_path("my_claims.py"), is_path("softmax.split"), is_path("*/ambient")
    (True, False, False)
    """
    in_a_folder = os.sep in pattern and Path(pattern).exists()
    return in_a_folder or pattern.endswith(".py") or pattern.startswith(("/", ".", "~"))


def content(name: str, path: Path, way_out: str = "") -> bytes:
    """Read a regular file of at most `LARGEST` bytes; a pipe may never end. A refusal ends with `way_out`."""
    try:
        state = path.stat()
        if stat.S_ISREG(state.st_mode) and state.st_size <= LARGEST:
            return path.read_bytes()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{name} = {shown(str(path))}: cannot be read ({reason(error)}){way_out}.") from None
    if stat.S_ISREG(state.st_mode):
        rule = f"it has {state.st_size:.1e} bytes, at most {LARGEST:.1e} are read"
    else:
        rule = f"it is {'a folder' if stat.S_ISDIR(state.st_mode) else 'no regular file'}"
    raise InvalidInput(f"{name} = {shown(str(path))}: cannot be read ({rule}){way_out}.")


def require_target(name: str, path: Path) -> None:
    """Refuse a path that cannot be written as a file: a folder, a pipe, a device, a socket, a name that is too long."""
    try:
        kind = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        kind = stat.S_IFREG
        if path.is_symlink():
            raise InvalidInput(f"{name} = {shown(str(path))}: it is a link to nothing; remove it first.") from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{name} = {shown(str(path))}: cannot be written ({reason(error)}).") from None
    if not stat.S_ISREG(kind):
        what = "it is a folder" if stat.S_ISDIR(kind) else "it is no regular file"
        raise InvalidInput(f"{name} = {shown(str(path))}: {what}; give the name of a file, or remove it first.")
    longest = os.pathconf(path.parent, "PC_NAME_MAX") if hasattr(os, "pathconf") and path.parent.exists() else 255
    longest -= 10  # the name of the temporary file has two dots and eight random letters more
    if len(os.fsencode(path.name)) > longest:
        raise InvalidInput(f"{name} = {shown(str(path))}: its name is too long; {longest} bytes at most.")


def require_targets(name: str, paths: Iterable[Path]) -> None:
    """Refuse the first path that cannot be written as a file, before any work for these files begins."""
    for path in paths:
        require_target(name, path)


def write_whole(path: Path, made: bytes, *, durable: bool = True) -> None:
    """Write a file, or the one that a link names, by way of a temporary one: whole or not at all."""
    require_target("out", path)
    target = path.resolve() if path.is_symlink() else path
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            file.write(made)
            file.flush()
            if durable:
                os.fsync(file.fileno())
            os.chmod(file.name, 0o644)
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


@contextmanager
def locked(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """Lock a folder, or a file that is made for it: True if no other process has it, or where there are no locks."""
    try:
        import fcntl

        held = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o600)
    except (ImportError, OSError):
        yield True
        return
    try:
        alone = True
        try:
            fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            alone = False
        except OSError:  # a file system without locks
            pass
        yield alone
    finally:
        os.close(held)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Lock a folder for one run; a second run in the same folder is refused, where the file system supports locks."""
    with locked(folder) as alone:
        if not alone:
            rule = "another run is writing there; wait for it, or choose another --out"
            raise InvalidInput(f"out = {shown(str(folder))}: {rule}.")
        yield


def reason(error: Exception) -> str:
    """The system's reason for an error, in a few words."""
    return str(getattr(error, "strerror", None) or error)
