"""What every proof is: a chain of lemmas with constants, each of which follows from those before it.

A lemma is a function, whose docstring is what it says and why. From what is given and the constants so far it returns
what is left to certify: constants of its own that must be at least, or at most, a ball, and conditions that must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx

FORMAT = "lipverify proof 1"
BITS = 192
Ball = Any
Bounds = dict[str, tuple[str, Ball]]
"""What the constants of a lemma must satisfy: ("at most", ball) or ("at least", ball)."""
Conditions = dict[str, bool]
Known = Mapping[str, Any]
"""What is given and what has been certified, by name: balls, and the names of laws."""
Rule = Callable[[Known], tuple[Bounds, Conditions]]
Proof = Mapping[str, Any]
Facts = Mapping[int, Mapping[str, Any]]
"""What is known, by stage."""


@dataclass(frozen=True)
class Kind:
    """A kind of proof: from what it starts, which lemmas follow, and what they prove together."""

    chain: Callable[[Proof], list[tuple[Rule, int]]]
    """The lemmas in order, each with its stage: 0 if it holds throughout."""
    given: Callable[[Proof], dict[str, Any]]
    statement: Callable[[Proof], str]
    chosen: Mapping[Rule, tuple[str, ...]]
    """The constants that a proof is free to choose; all others are bounds."""
    wrong: Callable[[Proof], list[str]] = lambda _: []
    """What makes it no proof of this kind, before any lemma is looked at."""
    gathered: Callable[[Facts, int], dict[str, Any]] = lambda facts, _: dict(facts[0])
    """What a lemma of a stage may use."""
    signed: tuple[str, ...] = ()
    """The constants that need not be positive."""


def most(ball: Ball) -> tuple[str, Ball]:
    """The constant may be this or less."""
    return "at most", ball


def least(ball: Ball) -> tuple[str, Ball]:
    """The constant may be this or more."""
    return "at least", ball


def wording(rule: Rule) -> tuple[str, str]:
    """What a lemma says, and why."""
    says, _, because = (rule.__doc__ or "").partition("\n\n")
    return " ".join(says.split()), " ".join(because.split())


def failures(kind: Kind, proof: Proof) -> list[str]:
    """What of a proof does not follow; nothing, if it is a proof."""
    wrong = kind.wrong(proof)
    if wrong:
        return wrong
    stated = [(lemma["name"], lemma["stage"], lemma["says"], lemma["because"]) for lemma in proof["lemmas"]]
    expected = [(rule.__name__, stage, *wording(rule)) for rule, stage in kind.chain(proof)]
    if stated != expected:
        return [
            "the lemmas, their order or their words are not those of the chain " + ", ".join(e[0] for e in expected)
        ]
    with ctx.workprec(BITS):
        return [failure for step in steps(kind, proof) for failure in missing(kind, *step)]


def steps(kind: Kind, proof: Proof) -> Iterator[tuple[Rule, int, dict[str, Ball], Bounds, Conditions]]:
    """Each lemma with its stage, its constants, what they must satisfy, and what else must hold."""
    facts = {0: kind.given(proof)}
    for lemma, (rule, stage) in zip(proof["lemmas"], kind.chain(proof), strict=True):
        constants = {name: arb(text) for name, text in lemma["constants"].items()}
        facts.setdefault(stage, {}).update(constants)
        yield rule, stage, constants, *rule(kind.gathered(facts, stage))


def missing(
    kind: Kind, rule: Rule, stage: int, constants: dict[str, Ball], bounds: Bounds, conditions: Conditions
) -> Iterator[str]:
    """What of one lemma is not certain."""
    where, names = f"{rule.__name__}{f' at stage {stage}' if stage else ''}: ", {*bounds, *kind.chosen.get(rule, ())}
    if set(constants) != names:
        yield where + f"constants {sorted(constants)} instead of {sorted(names)}"
        return
    for name, (side, ball) in bounds.items():
        if not (constants[name] <= ball if side == "at most" else constants[name] >= ball):
            yield where + f"{name} = {constants[name].str(12, radius=False)} must be {side} {ball.str(12)}"
    for name, ball in constants.items():
        if not ball.is_finite() or (name not in kind.signed and not ball > 0):
            yield where + f"{name} is not a positive number" + (" or 0" if name in kind.signed else "")
    yield from (where + f"not certain that {what}" for what, holds in conditions.items() if not holds)
