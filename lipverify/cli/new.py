"""`new`: the start of a file of one's own."""

from __future__ import annotations

from pathlib import Path

from lipverify.claims.language.file import start
from lipverify.errors import InvalidInput


def write_claim(path: Path, bound: bool) -> int:
    """Write a claims file to start from; nothing is ever overwritten."""
    if path.suffix != ".py":
        raise InvalidInput(f"path = {str(path)!r}: a claims file is Python; give a name that ends in .py.")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(start("bound" if bound else "exponent").replace("my_claims.py", path.name))
    except FileExistsError:
        raise InvalidInput(f"path = {str(path)!r}: it is there and is not overwritten; give another name.") from None
    except OSError as error:
        raise InvalidInput(f"path = {str(path)!r}: it cannot be written ({error.strerror}).") from None
    print(f"{path}: a start; `lipverify verify {path}` verifies it")
    return 0
