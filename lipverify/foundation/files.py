"""Files of the user's: what is asked of one before it is read, written or shared."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lipverify.errors import InvalidInput
from lipverify.foundation.quoting import shown

LARGEST = 2**29
"""Bytes of a file that is read whole: a hundred times those of the largest ledger of ours."""


def content(name: str, path: Path, way_out: str = "") -> bytes:
    """The bytes of a regular file; a pipe or a device, which may never end, is refused, and so is what is too large.

    A refusal ends with `way_out`, such as how a file of this kind is made.
    """
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
    """Refuse a path that no file can be written to: a folder, a device, a name that is too long."""
    try:
        kind = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        kind = stat.S_IFREG
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{name} = {shown(str(path))}: cannot be written ({reason(error)}).") from None
    if not stat.S_ISREG(kind):
        what = "it is a folder" if stat.S_ISDIR(kind) else "it is no regular file"
        raise InvalidInput(f"{name} = {shown(str(path))}: {what}; give the name of a file.")
    longest = os.pathconf(path.parent, "PC_NAME_MAX") if hasattr(os, "pathconf") and path.parent.exists() else 255
    if len(os.fsencode(path.name)) > longest - len(".") - len(".") - RANDOM:
        raise InvalidInput(f"{name} = {shown(str(path))}: its name is too long; {longest - 2 - RANDOM} bytes at most.")


RANDOM = 8
"""Letters that make the name of a temporary neighbour its own."""


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder for one run, where the system can tell; the second that wants it is refused.

    The lock is one on the folder, which ends with this process, whatever ends that, and leaves nothing behind.
    """
    try:
        import fcntl

        held = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInput(
                f"out = {shown(str(folder))}: another run is writing there; wait for it, or choose another --out."
            ) from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(held)


def reason(error: Exception) -> str:
    """What the system says, in a few words."""
    return str(getattr(error, "strerror", None) or error)
