"""The form of every proof: a chain of lemmas with constants, each of which follows from those before it.

A lemma is a function; its docstring is the statement and the reason. From the hypotheses and the constants so far, it
returns the facts to certify: its constants that must be at least, or at most, a ball, and conditions that must hold.
A file is read once, into a `Proof` of numbers: lemmas are certified and statements printed from that, never from text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb, ctx, fmpq

FORMAT = "lipverify proof 1"
BITS = 192
"""Precision of the checker's balls, in bits: with fewer, less would be proved, and nothing false."""
NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?|-?[0-9]{1,40}/[1-9][0-9]{0,39}")
"""A decimal or a fraction of two whole numbers."""
LARGEST = 10**9
"""The largest dimension or other size; a number of tokens may be any whole number of forty digits."""
FALLING = r"|{w \leq w^* : B'(w) < 0}| / w^*"
"""The share of the w up to w* at which the bias falls."""
Ball = Any
Bounds = dict[str, tuple[str, Ball]]
"""Bounds on the constants of a lemma, by name: ("at most", ball) or ("at least", ball)."""
Conditions = dict[str, bool]
Obligations = tuple[Bounds, Conditions]
Known = Mapping[str, Any]
"""The hypotheses and the certified constants, by name: balls, and the names of laws."""
Rule = Callable[[Known], Obligations]
Facts = Mapping[int, Mapping[str, Any]]
"""The known facts, by stage."""


class Malformed(ValueError):
    """A file, or a part of one, that is not of the form of a proof."""

    def __init__(self, reason: str) -> None:
        super().__init__(cut(reason))


@dataclass(frozen=True)
class Stated:
    """A lemma as a proof states it."""

    name: str
    stage: int
    says: str
    because: str
    constants: Mapping[str, Fraction]


@dataclass(frozen=True)
class Proof:
    """A proof that has been read: all of it that is used, and all that a statement may print."""

    theorem: str
    about: Mapping[str, Any]
    """The names and exact numbers that the theorem is about."""
    lemmas: tuple[Stated, ...]

    def constants(self, rule: Rule, stage: int = 0) -> Mapping[str, Fraction]:
        """The constants of one lemma of one stage; an error if there is not exactly one."""
        (lemma,) = (stated for stated in self.lemmas if (stated.name, stated.stage) == (rule.__name__, stage))
        return lemma.constants


@dataclass(frozen=True)
class Fact:
    """A number that the sentence of a theorem gives: between two bounds, or exact if they are equal."""

    quantity: str
    """Its letters, in LaTeX."""
    low: Fraction
    high: Fraction
    says: str
    """What the sentence says of it, in words."""
    ranges: tuple[str, ...] = ()
    """The conditions under which it holds, if they are not those of the theorem."""


def exact(quantity: str, value: Fraction | int, says: str, ranges: tuple[str, ...] = ()) -> Fact:
    """A number without error, such as an exponent, or 1 for a share that is all."""
    return Fact(quantity, Fraction(value), Fraction(value), says, ranges)


BEST = {
    name: exact(quantity, value, "the loss is least at C BB^T alone")
    for name, quantity, value in (
        ("c", "c^* / C", 1),
        ("rest", r"\|\mathbf{M}^* - c^* \mathbf{B} \mathbf{B}^\top\|", 0),
    )
}
"""What it means that the loss of some matrices M is least at C BB^T alone."""


@dataclass(frozen=True)
class Sentence:
    """What a theorem says."""

    text: str
    facts: Mapping[str, Fact]
    """Its numbers by name,"""
    ranges: tuple[str, ...]
    """and the conditions under which it holds, of which its words are made."""


@dataclass(frozen=True)
class Kind:
    """A kind of proof: its hypotheses, its chain of lemmas, and the theorem that they prove."""

    chain: Callable[[Proof], list[tuple[Rule, int]]]
    """The lemmas in order, each with its stage: 0 if it holds throughout."""
    about: Callable[[Mapping[str, Any]], dict[str, Any]]
    """The subject of the theorem (law, d, ...), from the entries of the file; `Malformed` if it is of another kind."""
    sentence: Callable[[Proof], Sentence]
    chosen: Mapping[Rule, tuple[str, ...]]
    """The constants that a proof is free to choose; all others are bounds."""
    given: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda about: balls(about)
    """The hypotheses of the lemmas: the subject, as balls."""
    keys: tuple[str, ...] = ("given",)
    """The entries of the file that hold the subject."""
    gathered: Callable[[Facts, int], dict[str, Any]] = lambda facts, _: dict(facts[0])
    """The facts that a lemma of a stage may use."""
    signed: tuple[str, ...] = ()
    """The constants that need not be positive."""


def most(ball: Ball) -> tuple[str, Ball]:
    """The constant may be this or less."""
    return "at most", ball


def least(ball: Ball) -> tuple[str, Ball]:
    """The constant may be this or more."""
    return "at least", ball


def wording(rule: Rule) -> tuple[str, str]:
    """The statement of a lemma, and the reason."""
    says, _, because = (rule.__doc__ or "").partition("\n\n")
    return " ".join(says.split()), " ".join(because.split())


def cut(reason: str) -> str:
    """A reason without its middle, if it is long."""
    return reason if len(reason) <= 600 else f"{reason[:300]}...{reason[-300:]}"


def load(path: Path) -> Any:
    """Read JSON from a file that is no longer than a proof can be; a repeated key is an error."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise Malformed(f"keys {sorted(key for key, _ in pairs)}: one stands twice")
        return dict(pairs)

    most_letters = 10**6  # fifty times those of the longest proof of `checks`
    with path.open(encoding="utf-8") as file:
        text = file.read(most_letters + 1)
    if len(text) > most_letters:
        raise Malformed(f"a proof has at most {most_letters} letters")
    return json.loads(text, object_pairs_hook=once)


def exactly(what: str, stated: Any, keys: Collection[str]) -> dict[str, Any]:
    """A record with these keys, no fewer and no more."""
    if type(stated) is not dict or set(stated) != set(keys):
        has = sorted(stated) if type(stated) is dict else repr(stated)[:60]
        raise Malformed(f"{what}: it has the keys {', '.join(sorted(keys)) or 'of an empty record'}, not {has}")
    return stated


def number(stated: Any) -> Fraction:
    """The exact value of a number, which a file holds as a string.

    >>> number("0.125"), number("-1e2"), number("5/3")
    (Fraction(1, 8), Fraction(-100, 1), Fraction(5, 3))
    """
    if type(stated) is not str or not NUMBER.fullmatch(stated):
        raise Malformed(f"{repr(stated)[:60]}: a number is a string, '12.5', '1e-9' or '5/3', of forty digits at most")
    return Fraction(stated)


def law_and_numbers(stated: Any) -> tuple[str, list[Fraction]]:
    """The name of a law, and the numbers after its colon.

    >>> law_and_numbers("zonal:0,0.5")
    ('zonal', [Fraction(0, 1), Fraction(1, 2)])
    """
    if type(stated) is not str or stated.count(",") >= 400:  # a check takes seconds
        raise Malformed(f"law {repr(stated)[:60]}: a name, or a name, a colon and at most 400 numbers")
    name, colon, after = stated.partition(":")
    return name, [number(text) for text in after.split(",")] if colon else []


def size(name: str, stated: Any, smallest: int, largest: int = LARGEST) -> int:
    """A whole number: as such, or as a string of its digits."""
    value = Fraction(stated) if type(stated) is int else number(stated)
    if value.denominator != 1 or not smallest <= value <= largest:
        raise Malformed(f"{name} = {repr(stated)[:60]}: a whole number from {smallest} to {largest}")
    return int(value)


def ball(value: Fraction) -> Ball:
    return arb(fmpq(value.numerator, value.denominator))


def balls(about: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a theorem as balls; a law by its name, and whole numbers."""
    return {name: ball(value) if isinstance(value, Fraction) else value for name, value in about.items()}


def shown(value: Fraction | int) -> str:
    """The exact text of a number: a decimal, or if none is exact a fraction in brackets, as 1/3 W has two readings.

    >>> shown(Fraction(1000001, 2)), shown(Fraction(5, 3)), shown(Fraction("1e27")), shown(Fraction("1.50e-9"))
    ('500000.5', '(5/3)', '1e+27', '1.5e-9')
    """
    value = Fraction(value)
    bits = value.denominator.bit_length()  # a product of twos and fives has fewer of either
    if 10**bits % value.denominator:
        return f"({value.numerator}/{value.denominator})"
    with localcontext(prec=bits + value.numerator.bit_length()):  # the decimal has fewer digits: nothing is rounded
        decimal = (Decimal(value.numerator) / value.denominator).normalize()
    return f"{decimal:f}" if -7 < decimal.adjusted() < 16 else f"{decimal}".lower().replace("e-0", "e-")


def read(kinds: Mapping[str, Kind], stated: Any) -> Proof:
    """A proof from the entries of its file.

    Raises
    ------
    Malformed
        If an entry is missing, unknown or not of its type, or it is no theorem that is known here.
    """
    if type(stated) is not dict or stated.get("format") != FORMAT:
        raise Malformed(f"a file of the form {FORMAT!r} says so as its format")
    theorem = stated.get("theorem")
    if type(theorem) is not str or theorem not in kinds:
        raise Malformed(f"theorem {repr(theorem)[:60]}: one of {', '.join(kinds)}")
    kind = kinds[theorem]
    exactly("a proof", stated, {"format", "theorem", "lemmas", *kind.keys})
    if type(stated["lemmas"]) is not list:
        raise Malformed("lemmas are a list")
    return Proof(theorem, kind.about(stated), tuple(lemma(entry) for entry in stated["lemmas"]))


def lemma(stated: Any) -> Stated:
    exactly("a lemma", stated, ("name", "stage", "says", "because", "constants"))
    for name, kind in {"name": str, "stage": int, "says": str, "because": str, "constants": dict}.items():
        if type(stated[name]) is not kind:
            raise Malformed(f"{name} of a lemma: {repr(stated[name])[:60]} is not of type {kind.__name__}")
    return Stated(**{**stated, "constants": {name: number(text) for name, text in stated["constants"].items()}})


def failures(kind: Kind, proof: Proof) -> list[str]:
    """The steps of a proof that do not follow; empty if it is valid."""
    stated = [(lemma.name, lemma.stage, lemma.says, lemma.because) for lemma in proof.lemmas]
    expected = [(rule.__name__, stage, *wording(rule)) for rule, stage in kind.chain(proof)]
    if stated != expected:
        names = ", ".join(rule.__name__ for rule, _ in kind.chain(proof))
        return [cut(f"the lemmas, their order or their words are not those of the chain {names}")]
    with ctx.workprec(BITS):
        return [failure for step in steps(kind, proof) for failure in missing(kind, *step)]


def steps(kind: Kind, proof: Proof, known: int = 0) -> Iterator[tuple[Rule, int, dict[str, Ball], Bounds, Conditions]]:
    """Each lemma beyond those known with its stage, its constants, the bounds on them, and its other conditions."""
    facts = {0: kind.given(proof.about)}
    for i, (stated, (rule, stage)) in enumerate(zip(proof.lemmas, kind.chain(proof), strict=True)):
        constants = {name: ball(value) for name, value in stated.constants.items()}
        facts.setdefault(stage, {}).update(constants)
        if i >= known:
            yield rule, stage, constants, *rule(kind.gathered(facts, stage))


def missing(
    kind: Kind, rule: Rule, stage: int, constants: dict[str, Ball], bounds: Bounds, conditions: Conditions
) -> Iterator[str]:
    """The bounds and conditions of one lemma that are not certain."""
    where, names = f"{rule.__name__}{f' at stage {stage}' if stage else ''}: ", {*bounds, *kind.chosen.get(rule, ())}
    if set(constants) != names:
        yield cut(where + f"constants {sorted(constants)} instead of {sorted(names)}")
        return
    for name, (side, bound) in bounds.items():
        if not (constants[name] <= bound if side == "at most" else constants[name] >= bound):
            yield where + f"{name} = {constants[name].str(12, radius=False)} must be {side} {bound.str(12)}"
    for name, value in constants.items():
        if name not in kind.signed and not value > 0:
            yield where + f"{name} is not a positive number"
    yield from (where + f"not certain that {what}" for what, holds in conditions.items() if not holds)
