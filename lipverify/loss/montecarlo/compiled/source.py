"""The source as one text, made of the files beside this module."""

from __future__ import annotations

import functools
import re
from importlib.resources import files

_INCLUDE = re.compile(r'^#include "(\w+\.(?:cuh|h))"\n', re.MULTILINE)


@functools.cache
def assembled(name: str = "kernels.cu") -> str:
    """The file `name` with the headers beside it put in place of their includes, each once.

    A compiler at run time then needs no search path, and a cache of what it compiled, which is addressed by
    the text, cannot miss a change in a header. Its messages still name the file and the line.

    >>> "#include" in assembled().split("#else")[0]
    False
    """
    return _expand(name, set())


def _expand(name: str, seen: set[str]) -> str:
    """A file with its includes expanded, or nothing if it was seen before."""
    if name in seen:
        return ""
    seen.add(name)
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")

    def header(match: re.Match[str]) -> str:
        line = text.count("\n", 0, match.end()) + 1
        return f'{_expand(match[1], seen)}\n#line {line} "{name}"\n'

    return f'#line 1 "{name}"\n' + _INCLUDE.sub(header, text)
