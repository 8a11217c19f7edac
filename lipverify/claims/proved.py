"""Rates that are proved: exponents of noise, bias and optimal window that a certified window theorem fixes.

Its envelopes hold N between multiples of w^{(d-1)/2} / n and B between multiples of w^-beta, and itself w* between
multiples of W = Lambda^{1/((d-1)/2 + beta)}, for all n beyond explicit numbers: the exponents are exact. The loss
at w*, on tasks of any fixed L'/L, is N + (L'/L)^2 B there, between multiples of L^2 W^-beta.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lipverify.claims.ran import ProvedNumber, nearest, outwards, proof_file
from lipverify.foundation.shipped import shipped

if TYPE_CHECKING:
    from lipverify.problem import Problem
    from lipverify.problem.law import Law
    from lipverify.proofs import Proof, ProvedOptimum, Theorem

FOLDER = "proofs"
"""Where in the folder of the checks the committed proofs are."""


def proved_rates(law: str, d: int, own: Law | None = None) -> dict[str, ProvedNumber]:
    """The exponents of n N in w, of B in w, and of w* and the loss in Lambda.

    >>> proved_rates("relu", 3)["bias"].pair
    (-1.5, 0.0)
    """
    proof = proved_window(law, d, own)
    a, beta = Fraction(proof.d - 1, 2), Fraction(repr(proof.beta))
    rates = {"noise": a, "bias": -beta, "window": 1 / (a + beta), "loss": -beta / (a + beta)}
    numbers = {name: between(proof, rate, rate) for name, rate in rates.items()}
    doubles = {name: nearest(rate) for name, rate in rates.items()}
    return {
        name: number if (near := doubles[name]) is None else ProvedNumber(near, near, number.proof)
        for name, number in numbers.items()
    }


@lru_cache(maxsize=64)
def proved_window(law: str, d: int, own: Law | None = None) -> Theorem:
    """The window theorem: from the committed proof, which is certified again; where there is none, found now.

    The law is the one of that name, or if it is a law of one's `own`, that one, and the name that of its proofs.
    """
    from lipverify.problem.written import law_named
    from lipverify.proofs import Theorem, prove_window
    from lipverify.proofs.record import named

    meant = own or law_named(law)
    proof = committed(f"{law}-{d}", lambda: prove_window(meant, d))
    if not isinstance(proof, Theorem):
        raise ValueError(f"{law}-{d}.json: not a window theorem: {proof.statement}")
    stated(f"{law}-{d}", proof, ("window",), {"law": named(meant), "d": d})
    return proof


def stated(name: str, proof: Proof, theorems: Collection[str], about: Mapping[str, Any]) -> None:
    """Compare what a proof states with what a claim needs: one of these theorems, about exactly this.

    Both are read by the checker: numbers are compared, not how they are written, and what is read is what is printed.

    Raises
    ------
    ValueError
        If it states something else.
    """
    from lipverify.proofs import checker

    read = checker.read(proof.data)
    entries = about if "law" in checker.KINDS[read.theorem].keys else {"given": about}
    if (
        read.theorem not in theorems
        or checker.KINDS[read.theorem].about({"theorem": read.theorem, **entries}) != read.about
    ):
        wanted = f"{' or '.join(theorems)} for {dict(about)}"
        raise ValueError(f"{name}.json: not a proof of {wanted}: {proof.statement}")


_anew: ContextVar[dict[str, Proof] | None] = ContextVar("_anew", default=None)


@contextmanager
def found_anew() -> Iterator[dict[str, Proof]]:
    """Within this no committed proof is read: each that is asked for is found now, and stands here by its name."""
    proofs: dict[str, Proof] = {}
    token = _anew.set(proofs)
    proved_window.cache_clear()
    try:
        yield proofs
    finally:
        _anew.reset(token)
        proved_window.cache_clear()


def committed(name: str, found: Callable[[], Proof]) -> Proof:
    """The committed proof of this name, which is certified again; where there is none, found now.

    Raises
    ------
    ValueError
        If it is no proof.
    """
    from lipverify.proofs import load

    anew = _anew.get()
    if anew is not None:
        if name not in anew:
            anew[name] = found()
        return anew[name]
    path = shipped() / FOLDER / f"{name}.json"
    proof = load(path) if path.exists() else found()
    missing = proof.failures()
    if missing:
        raise ValueError(f"{path}: {'; '.join(missing)}")
    return proof


def proved(name: str, theorem: str, given: dict[str, Any], found: Callable[[], Proof]) -> Proof:
    """The committed proof of this theorem about what is given; where there is none, found now.

    Raises
    ------
    ValueError
        If it is no proof, or one of something else.
    """
    proof = committed(name, found)
    stated(name, proof, (theorem,), given)
    return proof


def proved_optimum(name: str, problem: Problem, offset: float | None = None) -> ProvedOptimum:
    """The committed proof of where the optimum of a problem is; where there is none, found now.

    Raises
    ------
    ValueError
        If it is no proof, or one of something else.
    """
    from lipverify.proofs import ProvedOptimum, prove_optimum
    from lipverify.proofs.finite import about

    proof = committed(name, lambda: prove_optimum(problem, offset))
    if not isinstance(proof, ProvedOptimum):
        raise ValueError(f"{name}.json: not a proof about an optimum: {proof.statement}")
    kinds = ("scale",) if offset is not None else ("optimum", "optimum far", "optimum at zero")
    stated(name, proof, kinds, about(problem, offset))
    return proof


def between(proof: Proof, low: float | Fraction, high: float | Fraction) -> ProvedNumber:
    """The number of which a proof says that it lies between these; it is proved wherever a claim's function returns it.

    Raises
    ------
    ValueError
        If it is no proof.

    >>> theorem = proved_window("affine", 3)
    >>> between(theorem, 1.0, 2.0).pair
    (1.5, 0.5000000000000008)
    """
    record = proof_file(proof)
    if record.digest not in _CERTIFIED:
        missing = proof.failures()
        if missing:
            raise ValueError(f"no proof of {proof.statement!r}: {'; '.join(missing)}")
        _CERTIFIED.add(record.digest)
    return outwards(Fraction(*low.as_integer_ratio()), Fraction(*high.as_integer_ratio()), record)


_CERTIFIED: set[str] = set()
"""Digests of the proofs that this process has certified."""
