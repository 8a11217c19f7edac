"""Compile times of each theorem in Coq: `python benchmarks/compiling.py [NAMES ...]`, names of proof files.

Processor seconds for the libraries and for the part of an export that belongs to one theorem, and the number of facts
that it assumes. By default one theorem of each kind, which takes three minutes.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from lipverify.foundation.shipped import shipped
from lipverify.proofs import coq

NAMES = (
    "affine-3",
    "affine-8",
    "quadratic-3",
    "cosine-3",
    "tradeoff-affine-3",
    "relu-3",
    "lt-cosine",
    "lt-ridge-1-1-yx",
)


def main(names: list[str]) -> None:
    coq.require_coqc()
    library = coq.library("attention")
    print(f"{compiled(library):6.1f} s  attention.v, which theorems on attention need")
    for module in coq.WHOLE:
        print(f"{compiled(coq.exported((), [module])):6.1f} s  {module}: no hypothesis")
    head = library.partition("Definition")[0] + "Require Import attention.\n"
    for name in names:
        data = json.loads((shipped() / "proofs" / f"{name}.json").read_text(encoding="utf-8"))
        own = coq.modules([data])
        if coq.EXPORTS[data["theorem"]].libraries != ("attention",):
            seconds = compiled(coq.exported([data]))
        else:
            seconds = compiled(head + own, library)
        facts = len(re.findall("^Hypothesis ", own, flags=re.MULTILINE))
        print(f"{seconds:6.1f} s  {name}: {facts} hypotheses")


def compiled(text: str, library: str = "") -> float:
    """Processor seconds to compile a file, after a library that is not counted."""
    with TemporaryDirectory() as folder:
        for name, each in {"attention": library, "theorem": text}.items():
            Path(folder, f"{name}.v").write_text(each, encoding="utf-8")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(["coqc", "-q", f"{name}.v"], cwd=folder, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main(sys.argv[1:] or list(NAMES))
