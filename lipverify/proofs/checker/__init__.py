"""Certifies a proof file again: with python-flint and the standard library, in a separate process.

    python lipverify/proofs/checker FILE ...

chain            the form of a proof, and its missing steps; read it first, then the kind of proof that you doubt
windows          the optimal window for every n beyond explicit numbers, from noise and bias between explicit functions
tokens           for windows: attention over many tokens, the noise
harmonics        for windows: the bias of smooth laws
kink             for windows: the bias of ReLU
variogram        for windows: the bias of any law whose variogram lies between two sums of powers
roughness        for variogram: Matern fields, kinks and jumps between their powers
laws             for windows: the lemmas that each law needs
dimensions       the optimal window in every dimension at once
sizes            for dimensions: the numbers that depend on d, for each d and for all larger ones
ramp             for dimensions: ReLU
transformers     linear transformers: layers, cosines and ridge for every size
optima           one problem: where its loss is least, over all w
circle           one problem on the circle: matrices that do better than all of a form
subspace         tasks that depend on a few directions: the one matrix that is best
blocks           the same for every number of tokens, among matrices that do not mix these directions with others
every            for windows: every number of tokens, from slopes of noise and bias
levels           for windows: the same for ReLU, from the loss at two places
contexts         for every, optima, circle and subspace: attention at one w, as balls
curves           for every, optima, circle and subspace: functions on whole intervals of w

Each module is read by itself: its functions are the lemmas, their docstrings what they say and why.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import blocks, chain, circle, dimensions, optima, subspace, transformers, windows
from .chain import Fact, Kind, Malformed, Proof

__all__ = [
    "KINDS",
    "Fact",
    "Kind",
    "Malformed",
    "Proof",
    "blocks",
    "chain",
    "circle",
    "dimensions",
    "facts",
    "failures",
    "main",
    "optima",
    "ranges",
    "read",
    "statement",
    "steps",
    "subspace",
    "transformers",
    "windows",
]

KINDS: dict[str, Kind] = {
    theorem: module.KIND
    for module in (windows, dimensions, transformers, optima, circle, subspace, blocks)
    for theorem in module.THEOREMS
}
"""The kind of each theorem, by its name."""


def read(stated: Any) -> Proof:
    """A proof from the entries of its file; `Malformed` if they are none."""
    return chain.read(KINDS, stated)


def failures(stated: Any) -> list[str]:
    """What of a proof does not follow; nothing, if it is a proof."""
    try:
        proof = read(stated)
        return chain.failures(KINDS[proof.theorem], proof)
    except Malformed as error:
        return [str(error)]
    except Exception as error:  # whatever a lemma cannot compute is not certified
        return [f"it cannot be computed ({type(error).__name__}: {error})"]


def steps(stated: Any) -> Iterator[Any]:
    """Each lemma with its stage, its constants, what they must satisfy, and what else must hold."""
    proof = read(stated)
    return chain.steps(KINDS[proof.theorem], proof)


def statement(stated: Any) -> str:
    """The theorem of a proof, from its constants."""
    proof = read(stated)
    return KINDS[proof.theorem].statement(proof)


def facts(stated: Any) -> dict[str, Fact]:
    """The numbers of that sentence by name; proved if nothing is missing."""
    proof = read(stated)
    return KINDS[proof.theorem].facts(proof)


def ranges(stated: Any) -> tuple[str, ...]:
    """The conditions under which it holds, in plain text."""
    proof = read(stated)
    return KINDS[proof.theorem].ranges(proof)


def main(paths: list[str]) -> int:
    """Check proof files; 0 if all are proofs, 1 if one is not, 2 if one cannot be read or none is named."""
    if not paths or {"-h", "--help"} & set(paths):
        print((__doc__ or "").strip(), file=sys.stdout if paths else sys.stderr)
        return 0 if paths else 2
    worst = 0
    for path, name in zip(paths, [each if each.isprintable() else ascii(each) for each in paths], strict=True):
        try:
            proof = read(chain.load(Path(path)))
            found = chain.failures(KINDS[proof.theorem], proof)
            says = "rejected" if found else f"proved: {KINDS[proof.theorem].statement(proof)}"
            print(f"{name}: {says}", *found, sep="\n  ")
            worst = max(worst, bool(found))
        except Exception as error:  # whatever it is, it is this file's: the next one is read
            print(f"{name}: not a proof file ({type(error).__name__}: {error})", file=sys.stderr)
            worst = 2
    return worst
