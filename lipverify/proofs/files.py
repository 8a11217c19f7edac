"""Proof files: what a proof is is data."""

from __future__ import annotations

from pathlib import Path

from lipverify.errors import InvalidInput
from lipverify.proofs import checker
from lipverify.proofs.checker import chain
from lipverify.proofs.dimensions import EveryDimension
from lipverify.proofs.envelope import Envelope, Tradeoff
from lipverify.proofs.finite import ProvedOptimum
from lipverify.proofs.record import Proof
from lipverify.proofs.window import EveryN, Theorem, Transfer

KINDS: dict[str, type[Proof]] = {
    "envelope": Envelope,
    "window": Theorem,
    "transfer": Transfer,
    "every n": EveryN,
    "tradeoff": Tradeoff,
    "every dimension": EveryDimension,
    **dict.fromkeys(("optimum", "optimum far", "optimum at zero", "scale"), ProvedOptimum),
}
"""The records of theorems that say more than their statement."""


def load(path: Path | str) -> Proof:
    """Read a proof file; `failures` of the record says whether it is a proof.

    Parameters
    ----------
    path
        A file that `Proof.save` wrote.

    Returns
    -------
    Proof
        The record of its kind.

    Raises
    ------
    InvalidInput
        If it cannot be read as one.

    >>> from lipverify.foundation.shipped import shipped
    >>> load(shipped() / "proofs" / "affine-3.json").failures()
    []
    """
    try:
        data = chain.loads(Path(path).read_text(encoding="utf-8"))
        return KINDS.get(checker.read(data).theorem, Proof)(data)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: not a proof file ({type(error).__name__}: {error}).") from None
