"""Proofs that need no search: a few constants are chosen, and every other bound is as tight as its digits allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import ctx

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation import validation
from lipverify.foundation.validation import number, whole
from lipverify.proofs import checker
from lipverify.proofs.checker.kernel import form
from lipverify.proofs.record import Proof
from lipverify.proofs.search import balls, in_doubles, lemma_of, rounded

Choices = Mapping[str, Mapping[str, str]]


def headed(theorem: str, given: Mapping[str, Any], lemmas: list[dict[str, Any]]) -> dict[str, Any]:
    return {"format": form.FORMAT, "theorem": theorem, "given": dict(given), "lemmas": lemmas}


def hypotheses(theorem: str, given: Mapping[str, Any]) -> tuple[form.Proof, dict[str, Any]]:
    """A theorem as the checker reads it, without a lemma yet, and its hypotheses as balls.

    InvalidInput has the checker's reason.
    """
    try:
        proof = checker.read(headed(theorem, given, []))
    except form.Malformed as error:
        raise InvalidInput(f"{error}: the checker certifies {theorem!r} for no other.") from None
    with ctx.workprec(form.BITS):
        return proof, checker.KINDS[theorem].given(proof.about)


def in_words(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in given.items())


def built(theorem: str, given: Mapping[str, Any], chosen: Choices) -> Proof:
    """The proof of a theorem from its choices, lemma by lemma, checked; OutOfReach if a lemma does not follow."""
    about_it = f"{theorem}, {in_words(given)}" if given else theorem
    about, facts = hypotheses(theorem, given)
    lemmas: list[dict[str, Any]] = []
    with in_doubles(about_it), ctx.workprec(form.BITS):
        for rule, stage in checker.KINDS[theorem].chain(about):
            constants = dict(chosen.get(rule.__name__, {}))
            facts |= balls(constants)
            bounds, conditions = rule(facts)
            if not all(ball.is_finite() for _, ball in bounds.values()):
                false = ", ".join(what for what, holds in conditions.items() if not holds)
                raise OutOfReach(
                    f"{about_it}: {rule.__name__} does not follow from the hypotheses: not certain that {false}."
                )
            constants |= {name: rounded(ball, side) for name, (side, ball) in bounds.items()}
            facts |= balls(constants)
            lemmas.append(lemma_of(rule, stage, constants))
    proof = Proof(headed(theorem, given, lemmas))
    if failures := proof.failures():
        raise OutOfReach(
            f"{about_it}: {failures[0]}; this does not follow from the hypotheses: ask for values nearer to 1 or to "
            "the default."
        )
    return proof


def prove_layers() -> Proof:
    """Theorem 5.1 for every condition number and every accuracy.

    Returns
    -------
    Proof
        The statement and its lemmas; the constants by name.

    Raises
    ------
    OutOfReach
        If a constant cannot be certified.

    Examples
    --------
    >>> prove_layers().constants["C"]
    3.65737934537
    """
    return built("layers", {}, {"far": {"F": "2.39"}, "near": {"slope": "0.1875"}})


def prove_cosine() -> Proof:
    """Theorem 4.2 for every number of tokens and every dimension, with its limit.

    Returns
    -------
    Proof
        The statement and its lemmas.

    Raises
    ------
    OutOfReach
        If a constant cannot be certified.

    Examples
    --------
    >>> prove_cosine().statement
    'n E cos^2 <= d + 4 for all n >= 1 and d >= 1, and as n grows its limit is at least d + 4 for every d'
    """
    return built("cosine", {}, {"majorant": {"C": "5"}})


def prove_ridge(sigma_1: float, sigma_2: float, level: int, d: int, n: int, first: str = "yx") -> Proof:
    """Theorem 5.2 with a rate: E |w - w_ridge|^2 / d <= K / n for every number of tokens from n on.

    Parameters
    ----------
    sigma_1, sigma_2
        The two levels of noise, >= 0.
    level
        1 or 2: the one at which the prompts are.
    d, n
        The dimension, and the least number of tokens.
    first
        Which weight acts first, "yx" or "yy".

    Returns
    -------
    Proof
        The statement with K.

    Raises
    ------
    InvalidInput
        If an argument is not of its kind.

    Examples
    --------
    >>> prove_ridge(0.5, 1.0, level=2, d=2, n=10**6).statement
    'E |w - w_ridge|^2 / d <= 2.77883430745 / n at sigma_2 of (0.5, 1), d = 2, yx first, for all n >= 1000000'
    """
    given = {
        "sigma_1": repr(number("sigma_1", sigma_1, "a level of noise", least=0)),
        "sigma_2": repr(number("sigma_2", sigma_2, "a level of noise", least=0)),
        "level": str(whole("level", level, 1, "the level of noise at which the prompts are", most=2)),
        "d": str(whole("d", d, 1, "the dimension")),
        "n": str(whole("n", n, 1, "the least number of tokens")),
        "first": validation.chosen("first", first, ("yx", "yy")),
    }
    return built("ridge", given, {})
