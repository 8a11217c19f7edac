"""Proof files: proofs as data."""

from __future__ import annotations

from pathlib import Path

from lipverify.errors import InvalidInput
from lipverify.proofs import checker
from lipverify.proofs.checker.kernel import form
from lipverify.proofs.dimensions import EveryDimension
from lipverify.proofs.envelope import Envelope
from lipverify.proofs.record import Proof
from lipverify.proofs.window import EveryN, Theorem

KINDS: dict[str, type[Proof]] = {
    "envelope": Envelope,
    "window": Theorem,
    "transfer": Theorem,
    "every n": EveryN,
    "tradeoff": Envelope,
    "every dimension": EveryDimension,
}
"""The record types of theorems that have methods of their own, by the theorem's name."""


def load(path: Path | str) -> Proof:
    """Read a proof file; `failures` of the record tells whether the proof is valid.

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
        If it is not a proof file.

    Examples
    --------
    >>> from lipverify.foundation.shipped import shipped
    >>> load(shipped() / "proofs" / "affine-3.json").failures()
    []
    """
    try:
        data = form.load(Path(path))
        return KINDS.get(checker.read(data).theorem, Proof)(data)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: not a proof file ({type(error).__name__}: {error}).") from None
