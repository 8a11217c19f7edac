"""Compile a C source with the user's compiler and load it; the library is compiled once and kept in the user's cache.

Its name is a hash of everything it depends on: the source, the flags, the compiler, and the macros that the compiler
defines (its version and, with `-march=native`, the processor's instructions). It is loaded if only the user can write
it, and the record next to it states this command, content and source; else it is compiled again.
"""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp

from lipverify.errors import InvalidInput, OutOfReach

WAY_OUT = "set CC to another compiler, or use --backend numpy."

Accept = Callable[[ctypes.CDLL], bool]


class _Failure(Exception):
    """The compiler or the loader refused one set of flags; the message is theirs."""


def compiler() -> list[str] | None:
    """The command of the C compiler: CC, which may contain flags, or cc, gcc or clang, the first installed."""
    for candidate in [os.environ["CC"]] if os.environ.get("CC", "").strip() else ("cc", "gcc", "clang"):
        name, *flags = shlex.split(candidate)
        path = shutil.which(name)
        if path is not None:
            return [path, *flags]
    return None


def has_compiler() -> bool:
    """True if a C compiler is installed."""
    return compiler() is not None


def require_compiler() -> list[str]:
    """The command of the C compiler; refused if there is none."""
    command = compiler()
    if command is None:
        raise InvalidInput(
            "backend = 'native': no C compiler was found (cc, gcc or clang, or set CC); use --backend numpy."
        )
    return command


def cache_folder() -> Path:
    """Where compiled libraries are kept: `lipverify` in the user's cache folder."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "lipverify"
    root = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(root) if os.path.isabs(root) else Path.home() / ".cache") / "lipverify"


def compiled(source: str, accept: Accept) -> ctypes.CDLL:
    """Compile a C source, or take it from the cache, and load it; a library that `accept` refuses is compiled again."""
    command = require_compiler()
    flags = ("-std=gnu11", "-O3", "-ffp-contract=fast", "-fno-math-errno", "-fwrapv", "-shared", "-fPIC")
    failure: _Failure | None = None
    for target in (("-march=native",), ()):  # then without, for a compiler that does not know the flag
        try:
            return _loaded([*command, *flags, *target], source, accept)
        except _Failure as failed:
            failure = failure or failed
    message = f"backend = 'native': {command[0]} does not compile the code ({failure}); {WAY_OUT}"
    raise InvalidInput(message) from failure


def _loaded(command: Sequence[str], source: str, accept: Accept) -> ctypes.CDLL:
    """Load the library of one compiler command, from the cache if possible."""
    macros = _run([*command, "-dM", "-E", "-x", "c", os.devnull])
    key = blake2b("\0".join([*command, macros, source]).encode(), digest_size=16).hexdigest()
    failure: OSError | None = None
    with closing(_folders()) as folders:
        for folder in folders:
            for path in folder.glob(f"{key}-*.so"):
                kept = _opened(path, _record(command, source, path.stem.partition("-")[2]), accept)
                if kept is not None:
                    return kept
            try:
                return _fresh(command, source, folder, key, accept)
            except OSError as error:  # not writable, full, or mounted without the right to execute
                failure = error
    raise _Failure(_first_error(str(failure)))


def _folders() -> Generator[Path]:
    """The cache folder, if it is trusted, and then a temporary folder (a loaded library survives its removal)."""
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_ours(folder):
            yield folder
    except (OSError, RuntimeError):  # no home is a RuntimeError
        pass
    with TemporaryDirectory(prefix="lipverify-", ignore_cleanup_errors=True) as private:
        yield Path(private)


def is_ours(path: Path) -> bool:
    """True if a file or folder belongs to the user, is not a link, and nobody else can write it."""
    state = path.lstat()
    if not hasattr(os, "getuid"):  # Windows: the cache is below the user's profile, which is private
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return not stat.S_ISLNK(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & others


def _record(command: Sequence[str], source: str, content: str) -> bytes:
    """The record next to a cached library: the command, and digests of source and library."""
    made_of = blake2b(source.encode(), digest_size=16).hexdigest()
    return json.dumps({"command": list(command), "source": made_of, "library": content}, indent=1).encode()


def _opened(path: Path, record: bytes, accept: Accept) -> ctypes.CDLL | None:
    """Load a cached library; None if others could have written it, its record differs, or it fails the test."""
    try:
        sidecar = path.with_suffix(".json")
        ours = is_ours(path.parent) and is_ours(path) and is_ours(sidecar)
        if ours and sidecar.read_bytes() == record and path.stem.partition("-")[2] == _digest(path):
            kept = ctypes.CDLL(str(path))
            if accept(kept):
                return kept
    except OSError:
        pass
    return None


def _fresh(command: Sequence[str], source: str, folder: Path, key: str, accept: Accept) -> ctypes.CDLL:
    """Compile into a folder and load; the folder keeps the library only if it passes the test."""
    path = _compiled(command, source, folder, key)
    made = ctypes.CDLL(str(path))
    if not accept(made):
        path.unlink(missing_ok=True)
        path.with_suffix(".json").unlink(missing_ok=True)
        raise OutOfReach(f"backend = 'native': what {command[0]} made of the code computes wrongly; {WAY_OUT}")
    return made


def _compiled(command: Sequence[str], source: str, folder: Path, key: str) -> Path:
    """Compile into a folder under a name that states the content; the file appears whole or not at all."""
    handle, name = mkstemp(suffix=".tmp", dir=folder)
    os.close(handle)
    made = Path(name)
    try:
        _run([*command, "-x", "c", "-", "-lm", "-o", name], source)
        content = _digest(made)
        path = folder / f"{key}-{content}.so"
        made.chmod(0o700)  # a linker goes by the umask
        os.replace(made, path)
        made.touch(mode=0o600)  # the name is free again
        made.write_bytes(_record(command, source, content))
        os.replace(made, path.with_suffix(".json"))
    finally:
        made.unlink(missing_ok=True)
    return path


def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _run(command: Sequence[str], text: str = "") -> str:
    try:
        environment = {**os.environ, "LC_ALL": "C"}
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=environment)
    except OSError as error:
        raise _Failure(str(error)) from error
    if done.returncode != 0:
        raise _Failure(_first_error(done.stderr) or f"exit status {done.returncode}")
    return done.stdout


def _first_error(text: str) -> str:
    """The first line of a compiler's output that mentions an error, or else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
