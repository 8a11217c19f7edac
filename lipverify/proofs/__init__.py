"""Theorems with explicit constants, for every n: proved, written down, and certified again.

checker   the lemmas, each with its reason and the facts to certify; runs without the rest, `python checker FILE`
declared  links and kernels that declare their form
search    finds the constants; the proofs do not depend on how
record    a proof as a record: statement, lemmas, file
envelope  explicit bounds of N and B as functions of n and w
window    bounds of the optimal w* by two multiples of Lambda^e
dimensions  the same in every dimension at once
finite    one problem: its minimum, and matrices with a smaller loss than a claimed form
direct    theorems on linear transformers, and others that need no search for constants
controls     a false statement near each lemma, which the checker must reject
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.proofs.declared import Gaussian, Kinked, Pieces, Powers, Rough
    from lipverify.proofs.dimensions import EveryDimension, prove_every_dimension
    from lipverify.proofs.direct import prove_cosine, prove_layers, prove_ridge
    from lipverify.proofs.envelope import Envelope, Tradeoff, prove_envelope, prove_tradeoff
    from lipverify.proofs.files import load
    from lipverify.proofs.finite import (
        ProvedOptimum,
        prove_aligned,
        prove_aligned_blocks,
        prove_falling,
        prove_not_aligned,
        prove_not_isotropic,
        prove_optimum,
        prove_rising,
    )
    from lipverify.proofs.record import Lemma, Proof
    from lipverify.proofs.window import (
        EveryN,
        EverySignal,
        Theorem,
        Transfer,
        prove_every_n,
        prove_every_signal,
        prove_transfer,
        prove_window,
    )

__all__ = [
    "Envelope",
    "EveryDimension",
    "EveryN",
    "EverySignal",
    "Gaussian",
    "Kinked",
    "Lemma",
    "Pieces",
    "Powers",
    "Proof",
    "ProvedOptimum",
    "Rough",
    "Theorem",
    "Tradeoff",
    "Transfer",
    "load",
    "prove_aligned",
    "prove_aligned_blocks",
    "prove_cosine",
    "prove_envelope",
    "prove_every_dimension",
    "prove_every_n",
    "prove_every_signal",
    "prove_falling",
    "prove_layers",
    "prove_not_aligned",
    "prove_not_isotropic",
    "prove_optimum",
    "prove_ridge",
    "prove_rising",
    "prove_tradeoff",
    "prove_transfer",
    "prove_window",
]

__getattr__, __dir__ = lazy(__name__)
