"""Record the signatures of the installed CuPy: `python tests/stand_in/record.py > signatures.json`. No driver is
needed.

A signature is text: names in their order, `=` after those with a default, `/`, `*` and `**` as in Python. Compiled
functions have no Python signature; the first line of their documentation contains it.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from importlib import import_module
from typing import Any

MODULES = ("", "linalg", "cuda", "cuda.runtime", "cuda.nvrtc", "cuda.compiler", "cuda.memory")
CLASSES = ("ndarray", "RawModule", "cuda.Device", "cuda.Event", "cuda.MemoryPool")
CALLED = "RawKernel.__call__"


def signature(value: Any) -> str | None:
    """The signature of a callable as text; None if nothing states it."""
    if type(value).__name__ == "ufunc":
        return f"ufunc {value.nin}"
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return documented(inspect.getdoc(value) or "")
    marks: list[str] = []
    keyword = False
    for place, each in enumerate(parameters):
        if each.kind is each.KEYWORD_ONLY and not keyword and not any(mark.startswith("*") for mark in marks):
            marks.append("*")
        keyword = keyword or each.kind is each.KEYWORD_ONLY
        star = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
        marks.append(star + each.name + ("=" if each.default is not each.empty else ""))
        after = list(parameters)[place + 1 : place + 2]
        if each.kind is each.POSITIONAL_ONLY and not (after and after[0].kind is each.POSITIONAL_ONLY):
            marks.append("/")
    return ", ".join(marks)


def documented(text: str) -> str | None:
    """The signature in the first line of a documentation: `RawModule(str code=None, *, tuple options=())`."""
    match = re.match(r"[\w.]*?(\w+)\((.*?)\)(?: ->.*)?$", text.splitlines()[0]) if text else None
    if match is None:
        return None
    marks = []
    for part in re.split(r",\s*(?![^(]*\))", match[2].replace("\\", "")):
        name, equals, _ = part.partition("=")
        if name.strip() and name.strip().split()[-1] != "self":
            marks.append(name.strip().split()[-1] + equals)
    return ", ".join(marks)


def recorded() -> dict[str, Any]:
    """Version, and signatures by dotted name."""
    cupy = import_module("cupy")
    found: dict[str, str] = {}
    for name in (*MODULES, *CLASSES):
        holder = cupy
        for part in filter(None, name.split(".")):
            holder = getattr(holder, part)
        for each in sorted(dir(holder)):
            if each.startswith("_"):
                continue
            value = getattr(holder, each)
            text = signature(value) if callable(value) else None
            if text is not None:
                found[".".join(filter(None, (name, each)))] = text
    # `function((grid), (block), (arguments))`
    found[CALLED] = documented(inspect.getdoc(cupy.RawKernel.__call__) or "") or ""
    return {"version": cupy.__version__, "signatures": found}


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, where the stand-in has the name of the recorded package
    json.dump(recorded(), sys.stdout, indent=1)
    print()
