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
words        sums of products of matrices of any size, as identities
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.proofs.declared import (
        Kinked as Kinked,
        Pieces as Pieces,
        Powers as Powers,
        Rough as Rough,
    )
    from lipverify.proofs.dimensions import (
        EveryDimension as EveryDimension,
        prove_every_dimension as prove_every_dimension,
    )
    from lipverify.proofs.direct import (
        prove_cosine as prove_cosine,
        prove_layers as prove_layers,
        prove_ridge as prove_ridge,
    )
    from lipverify.proofs.envelope import prove_envelope as prove_envelope, prove_tradeoff as prove_tradeoff
    from lipverify.proofs.files import load as load
    from lipverify.proofs.finite import (
        prove_aligned as prove_aligned,
        prove_aligned_blocks as prove_aligned_blocks,
        prove_falling as prove_falling,
        prove_not_aligned as prove_not_aligned,
        prove_not_isotropic as prove_not_isotropic,
        prove_optimum as prove_optimum,
        prove_rising as prove_rising,
    )
    from lipverify.proofs.record import Fact as Fact, Proof as Proof
    from lipverify.proofs.window import (
        EveryN as EveryN,
        Theorem as Theorem,
        prove_every_n as prove_every_n,
        prove_transfer as prove_transfer,
        prove_window as prove_window,
    )
    from lipverify.proofs.words import (
        Leftover as Leftover,
        identity as identity,
        leftover as leftover,
        letters as letters,
    )

lazy()
