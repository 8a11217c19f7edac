"""The committed proofs, for functions of claims files: read, certified again, or found if there is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from lipverify.foundation.shipped import shipped

if TYPE_CHECKING:
    from lipverify.problem import Problem
    from lipverify.problem.law import Law
    from lipverify.proofs import Fact, Proof, Theorem

FOLDER = "proofs"
"""Folder of the committed proofs, within the folder of the checks."""


def proved_rates(law: str, d: int, own: Law | None = None) -> dict[str, Fact]:
    """The exponents of n N in w, of B in w, and of w* and the loss in Lambda, by the window theorem.

    Parameters
    ----------
    law, d, own
        As for `proved_window`.

    Returns
    -------
    dict[str, lipverify.proofs.Fact]
        "noise", "bias", "window" and "loss".

    Raises
    ------
    ValueError
        As `proved_window`.

    Examples
    --------
    >>> proved_rates("relu", 3)["bias"].pair
    (-1.5, 0.0)
    """
    proof = proved_window(law, d, own)
    return {name: proof.fact(f"{name} exponent") for name in ("noise", "bias", "window", "loss")}


@lru_cache(maxsize=64)
def proved_window(law: str, d: int, own: Law | None = None) -> Theorem:
    """The window theorem: the committed proof, certified again, or a new proof if there is none.

    Parameters
    ----------
    law
        The name of a law, or that of the proof files of `own`.
    d
        The dimension.
    own
        A user's law.

    Returns
    -------
    Theorem
        k_1 W < w* < k_2 W with its constants.

    Raises
    ------
    ValueError
        If the file is not a proof, or proves something else.

    Examples
    --------
    >>> proved_window("affine", 3).exponent
    0.3333333333333333
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
    """Require that a proof states one of these theorems, about exactly the given objects.

    The checker reads both, so numbers are compared by value and the theorem compared is the one that is printed.
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
"""No argument can bring them: proofs are asked for by functions of claims files, whose arguments are coordinates."""


@contextmanager
def found_anew(known: Mapping[str, Proof]) -> Iterator[dict[str, Proof]]:
    """In this block no committed proof is read: a requested proof that is not known is found and stored by name."""
    proofs = dict(known)
    token = _anew.set(proofs)
    proved_window.cache_clear()
    try:
        yield proofs
    finally:
        _anew.reset(token)
        proved_window.cache_clear()


def committed(name: str, prove: Callable[[], Proof]) -> Proof:
    """The committed proof of this name, certified again, or a new proof if there is none."""
    from lipverify.proofs import load

    anew = _anew.get()
    if anew is not None:
        if name not in anew:
            anew[name] = prove()
        return anew[name]
    path = shipped() / FOLDER / f"{name}.json"
    proof = load(path) if path.exists() else prove()
    try:
        certified(proof.text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return proof


def proved(name: str, theorem: str, given: Mapping[str, Any] | Problem, prove: Callable[[], Proof]) -> Proof:
    """The committed proof of this theorem about the given objects, or a new proof if there is none.

    Parameters
    ----------
    name
        The name of its file, without the ending.
    theorem
        The name of the theorem in proof files, such as "bias falls".
    given
        What the theorem is about: a problem, or whole numbers, floats, fractions, words and pairs of them by the names
        of the file. Numbers are compared by value.
    prove
        Finds the proof if there is no file.

    Returns
    -------
    lipverify.proofs.Proof
        A proof that was certified again.

    Raises
    ------
    ValueError
        If it is not a proof, or proves something else.

    Examples
    --------
    >>> from lipverify.proofs import prove_cosine
    >>> proved("lt-cosine", "cosine", {}, prove_cosine).failures()
    []
    """
    proof = committed(name, prove)
    if isinstance(given, Mapping):
        given = {key: _as_filed(value) for key, value in given.items()}
    else:
        from lipverify.proofs.finite import about

        given = about(given)
    stated(name, proof, (theorem,), given)
    return proof


def _as_filed(value: Any) -> Any:
    """A value in the notation of a proof file.

    >>> _as_filed((0.5, Fraction(1, 3))), _as_filed(2), _as_filed("relu")
    (['0.5', '1/3'], 2, 'relu')
    """
    if isinstance(value, tuple):
        return [_as_filed(entry) for entry in value]
    if isinstance(value, float):
        return repr(float(value))
    return str(value) if isinstance(value, Fraction) else value


def proved_optimum(name: str, problem: Problem, offset: float | None = None) -> Proof:
    """The committed proof that locates the optimum of a problem, or a new proof if there is none.

    Parameters
    ----------
    name
        The name of its file, without the ending.
    problem, offset
        As for `lipverify.proofs.prove_optimum`.

    Returns
    -------
    Proof
        A proof that was certified again.

    Raises
    ------
    ValueError
        If it is not a proof, or proves something else.

    Examples
    --------
    >>> from lipverify import Problem
    >>> from lipverify.laws import Affine
    >>> window = proved_optimum("optimum-affine-example", Problem(d=3, n=10, law=Affine())).fact("window")
    >>> round(float(window.low), 3), round(float(window.high), 3)
    (0.799, 0.799)
    """
    from lipverify.proofs import prove_optimum
    from lipverify.proofs.finite import about

    proof = committed(name, lambda: prove_optimum(problem, offset))
    kinds = ("scale",) if offset is not None else ("optimum", "optimum far", "optimum at zero")
    stated(name, proof, kinds, about(problem, offset))
    return proof


@lru_cache(maxsize=1)
def shipped_proofs() -> dict[str, str]:
    """The texts of the committed proofs by digest; none is certified here."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((shipped() / FOLDER).glob("*.json"))]
    return {sha256(text.encode()).hexdigest(): text for text in texts}


@lru_cache(maxsize=256)
def certified(text: str) -> str:
    """The digest of a proof file that the checker certified; an error if it is no proof.

    The checker certifies each text once: the processes of a run share its answer.
    """
    from lipverify.foundation.store import remembered  # loads numpy, which reading a ledger needs not

    if missing := remembered(_check, text, _Checked).missing:
        from lipverify.proofs import checker

        raise ValueError(f"no proof of {checker.statement(json.loads(text))!r}: {'; '.join(missing)}")
    return sha256(text.encode()).hexdigest()


class _Checked(msgspec.Struct, frozen=True):
    """What does not follow in a proof file."""

    missing: tuple[str, ...]


def _check(text: str) -> _Checked:
    from lipverify.proofs import checker

    return _Checked(tuple(checker.failures(json.loads(text))))
