"""Compiled samplers of whole contexts: sources that both CUDA and C compilers accept, and their launch."""

from __future__ import annotations

import functools
import re
from importlib.resources import files

_INCLUDE = re.compile(r'^#include "(\w+\.(?:cuh|h))"\n', re.MULTILINE)


@functools.cache
def assembled(name: str = "kernels.cu") -> str:
    """The file `name` with each header of this folder inserted once in place of its include.

    A run-time compiler then needs no search path, and a cache keyed by the text notices every change in a header.
    Compiler messages still name the file and the line.

    >>> "#include" in assembled().split("#else")[0]
    False
    """
    return _expand(name, set())


def _expand(name: str, included: set[str]) -> str:
    """A file with its includes expanded; empty if it was already included."""
    if name in included:
        return ""
    included.add(name)
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")

    def header(match: re.Match[str]) -> str:
        line = text.count("\n", 0, match.end()) + 1
        return f'{_expand(match[1], included)}\n#line {line} "{name}"\n'

    return f'#line 1 "{name}"\n' + _INCLUDE.sub(header, text)
