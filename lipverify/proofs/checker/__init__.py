"""Certifies a proof file again: with python-flint and the standard library, in a separate process.

    python lipverify/proofs/checker FILE ...

kernel            the form of a proof, attention as balls; its note says how to read a proof
window            the optimal window for every n beyond explicit numbers
every_n           the same for every number of tokens
every_dimension   the same in every dimension at once
one_problem       where the loss of one problem is least, over all w
low_rank          tasks that depend on a few directions: the one matrix that is best
layers            linear transformers: layers, cosines and ridge for every size

Read the kernel and the folder of the theorem that you doubt: no folder imports another one. Functions are the lemmas,
their docstrings what they say and why.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .kernel import form
from .kernel.form import Fact, Malformed, Proof, Sentence
from .kernel.registry import KINDS

__all__ = ["KINDS", "Fact", "Malformed", "Proof", "failures", "main", "read", "sentence", "statement", "steps"]


def read(stated: Any) -> Proof:
    """A proof from the entries of its file; `Malformed` if they are none."""
    return form.read(KINDS, stated)


def failures(stated: Any) -> list[str]:
    """What of a proof does not follow; nothing, if it is a proof."""
    try:
        proof = read(stated)
        return form.failures(KINDS[proof.theorem], proof)
    except Malformed as error:
        return [str(error)]
    except Exception as error:  # whatever a lemma cannot compute is not certified
        return [f"it cannot be computed ({type(error).__name__}: {error})"]


def steps(stated: Any) -> Iterator[Any]:
    """Each lemma with its stage, its constants, what they must satisfy, and what else must hold."""
    proof = read(stated)
    return form.steps(KINDS[proof.theorem], proof)


def sentence(stated: Any) -> Sentence:
    """The theorem of a proof, from its constants, with its numbers and conditions; proved if nothing is missing."""
    proof = read(stated)
    return KINDS[proof.theorem].sentence(proof)


def statement(stated: Any) -> str:
    """That sentence alone."""
    return sentence(stated).text


def main(paths: list[str]) -> int:
    """Check proof files; 0 if all are proofs, 1 if one is not, 2 if one cannot be read or none is named."""
    if not paths or {"-h", "--help"} & set(paths):
        print((__doc__ or "").strip(), file=sys.stdout if paths else sys.stderr)
        return 0 if paths else 2
    worst = 0
    for path, name in zip(paths, [each if each.isprintable() else ascii(each) for each in paths], strict=True):
        try:
            proof = read(form.load(Path(path)))
            found = form.failures(KINDS[proof.theorem], proof)
            says = "rejected" if found else f"proved: {KINDS[proof.theorem].sentence(proof).text}"
            print(f"{name}: {says}", *found, sep="\n  ")
            worst = max(worst, bool(found))
        except Exception as error:  # whatever it is, it is this file's: the next one is read
            print(f"{name}: not a proof file ({type(error).__name__}: {error})", file=sys.stderr)
            worst = 2
    return worst
