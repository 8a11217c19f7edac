r"""Export theorems to the proof assistant Coq, which proves numbers and algebra; facts of analysis are hypotheses.

`attention.v` derives theorems on the optimal w from facts of analysis (Jensen, Bessel, the Laplace representation), and
`transformers.v` derives two theorems on linear transformers. Both hold for all constants that satisfy some
inequalities. For a proof file, `exported` writes its constants, a proof of each inequality (by the library Interval),
and the theorem. `refusal` runs coqc, so that no file is written that Coq rejects.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lipverify.errors import OutOfReach
from lipverify.proofs import checker
from lipverify.proofs.checker.chain import Proof
from lipverify.proofs.coq.algebra import WHOLE, cosine, ridge
from lipverify.proofs.coq.dimensions import every_dimension
from lipverify.proofs.coq.problems import WRITTEN, problem
from lipverify.proofs.coq.text import library
from lipverify.proofs.coq.windows import window

__all__ = ["EXPORTS", "WHOLE", "exported", "library", "modules", "refusal", "require_coqc"]


class Export(NamedTuple):
    """The export of one kind of theorem: the libraries that it needs, in order, and the function that writes it."""

    libraries: tuple[str, ...]
    write: Callable[[Proof], Iterator[str]]
    about: str


OF_WINDOWS = Export(
    ("attention",),
    window,
    "affine, quadratic, ReLU, cosine and zonal laws, links of polynomials and of polynomial pieces, kernels, Matern "
    "fields and rough-0.5",
)
OF_PROBLEMS = Export(("attention", "curves"), problem, "one problem with isotropic tokens")
EXPORTS = {
    "window": OF_WINDOWS,
    "envelope": OF_WINDOWS,
    "tradeoff": OF_WINDOWS,
    "transfer": OF_WINDOWS,
    "every dimension": Export(("attention", "dimensions", "ramp"), every_dimension, "affine and quadratic laws, ReLU"),
    **dict.fromkeys(WRITTEN, OF_PROBLEMS),
    "cosine": Export(("majorant", "transformers"), cosine, "Theorem 4.2"),
    "ridge": Export(("majorant", "transformers"), ridge, "Theorem 5.2 at a rate"),
}
"""Kinds of proof files that can be exported; `WHOLE` has the theorems that need no proof file."""
LIBRARIES = ("attention", "dimensions", "ramp", "curves", "sums", *WHOLE, "transformers")
"""All libraries, in the order in which a file includes them; `sums` is the beginning of `algebra.v`."""
IMPORT = re.compile(r"^(?:From \w+ Require Import [\w ]+|Import ListNotations|Open Scope R_scope)\.\n", re.MULTILINE)
"""Imports of the libraries. A file has them once, at its beginning, because a later import would hide our names."""
MODULE = re.compile(r"^Module (\w+)\.\n(.*?)^End \1\.", re.MULTILINE | re.DOTALL)
THEOREM = re.compile(r"^Theorem (\w+)", re.MULTILINE)
AXIOMS = ("Uint63.", "PrimInt63.", "ClassicalDedekindReals.", "Classical_Prop.classic", "FunctionalExtensionality.")
"""Axioms that a theorem may use: classical logic, Coq's real numbers, and machine integers."""
INSTALL = "install Coq 8.16 with Interval (apt-get install --no-install-recommends coq libcoq-interval)"


def exported(proofs: Sequence[Mapping[str, Any]], wholes: Iterable[str] = ()) -> str:
    """Write a Coq file: the libraries, then for each proof its constants, its inequalities and its theorem.

    Parameters
    ----------
    proofs
        Proof files.
    wholes
        Modules of `algebra.v`, which assume nothing.

    Raises
    ------
    OutOfReach
        If no export is written for one of the theorems, or for its law.
    """
    for proof in proofs:
        if proof["theorem"] not in EXPORTS:
            law = proof.get("law") or proof.get("given", {}).get("law")
            raise OutOfReach(
                f"theorem {proof['theorem']!r}{f' of law {law}' if law else ''}: it has no export to Coq; those that "
                f"have one are {', '.join(EXPORTS)} (`prove --law affine --d 3`), and the claims of {', '.join(WHOLE)}."
            )
    needed = {*wholes, *(name for proof in proofs for name in EXPORTS[proof["theorem"]].libraries)}
    needed |= {name for whole in needed & {*WHOLE} for name in WHOLE[whole].needs}
    algebra = library("algebra")
    its = {found[1]: found[0] for found in MODULE.finditer(algebra)}
    its["sums"] = algebra[: algebra.index("Module ")].strip()
    needed |= {"sums"} if needed & {*WHOLE} else set()
    parts = [its.get(name) or library(name) for name in LIBRARIES if name in needed]
    text = "\n\n".join((*parts, modules(proofs)))
    return "".join(dict.fromkeys(IMPORT.findall(text))) + IMPORT.sub("", text)


def modules(proofs: Sequence[Mapping[str, Any]]) -> str:
    """Write a Coq module for each distinct proof; modules of the same name are numbered."""
    found: dict[str, str] = {}
    for data in proofs:
        name, text = module(data)
        same = [each for each in found if re.fullmatch(rf"{name}(_v\d+)?", each)]
        if text not in (found[each] for each in same):
            found[f"{name}_v{len(same) + 1}" if same else name] = text
    return "\n".join(f"Module {name}.\n{text}\nEnd {name}.\n" for name, text in found.items())


def module(data: Mapping[str, Any]) -> tuple[str, str]:
    """The name and the body of the Coq module of a proof."""
    proof = checker.read(data)
    statement = checker.statement(data).replace("*)", "* )")  # which would end the comment
    name = re.sub(r"\W", "_", "_".join(map(str, (proof.theorem, *proof.about.values()))))
    return name, "\n".join((f"(* {statement} *)", *EXPORTS[proof.theorem].write(proof)))


def refusal(text: str, folder: str | Path | None = None) -> str | None:
    """The reason why coqc rejects a file; None if it compiles and uses only the axioms of Coq's own libraries.

    Parameters
    ----------
    text
        The text of the file.
    folder
        The folder in which it is compiled, a new one by default. It may hold compiled libraries that the file requires.

    Raises
    ------
    OutOfReach
        If no coqc is installed, or it has no library Interval.
    """
    require_coqc()
    theorems = [f"{of}.{name}" for of, inside in MODULE.findall(text) for name in THEOREM.findall(inside)]
    asked = "".join(f"Print Assumptions {theorem}.\n" for theorem in theorems)
    with tempfile.TemporaryDirectory(dir=folder) as own:
        path = Path(own, "proof.v")
        path.write_text(text + asked, encoding="utf-8")
        command = ["coqc", "-q", "-R", str(folder or own), "", str(path)]
        ended = subprocess.run(command, cwd=own, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if ended.returncode == 0:
        used = re.findall(r"^([\w.]+)\s+:", ended.stdout, re.MULTILINE)
        foreign = sorted(name for name in set(used) if not name.startswith(AXIOMS))
        return f"it assumes {', '.join(foreign)}" if foreign else None
    if "Cannot find a physical path" in ended.stderr:
        raise OutOfReach(f"coqc has no library Interval: nothing is exported that was not compiled; {INSTALL}.")
    where, _, why = ended.stderr.rpartition("Error:")
    line = int((re.findall(r"line (\d+), characters", where) or ["0"])[-1])
    lemma = re.findall(r"^(?:Lemma|Theorem) (\w+)", "\n".join(text.splitlines()[:line]), re.MULTILINE)
    return (
        f"{lemma[-1] if lemma else 'its beginning'}: {' '.join(why.split())[:200] or f'exit code {ended.returncode}'}"
    )


def require_coqc() -> None:
    """Raise OutOfReach if coqc is not installed."""
    if shutil.which("coqc") is None:
        raise OutOfReach(f"coqc is not installed: nothing is exported that was not compiled; {INSTALL}.")
