r"""A proof as a record: its statement, its lemmas, its file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from flint import arb, fmpq, fmpz

from lipverify.errors import InvalidInput
from lipverify.foundation.files import write_whole
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import number, whole
from lipverify.problem.law import Law
from lipverify.proofs import checker
from lipverify.proofs.checker.kernel.form import LARGEST
from lipverify.proofs.checker.window import laws
from lipverify.proofs.declared import declared

SMALLEST = 1e-140
"""L and sigma are at least this, as the square of a smaller number is no double of full precision."""


@dataclass(frozen=True)
class Lemma:
    """One lemma of a chain: the name of its rule, its statement, its reason, and the constants that are certified.

    Its stage is 0 if it holds for all w, and i if it is about w from the i-th least w on.
    """

    name: str
    stage: int
    says: str
    because: str
    constants: dict[str, float]


Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Fact:
    r"""A number of a theorem's sentence, made from the proof as it was read; or one that is computed from such numbers.

    Sums, differences, products and quotients with whole numbers, fractions, balls of python-flint and other facts
    enclose every value that the operands may have. They have no name and no quantity, and keep the proofs of both.

    Attributes
    ----------
    proofs
        The proofs that it rests on.
    name, quantity
        Its name in the theorem, and its letters in LaTeX.
    low, high
        The exact numbers between which it lies; the same number if it is exact.
    says
        What the sentence says of it.
    ranges
        The conditions under which it holds.

    Examples
    --------
    >>> from lipverify.proofs import prove_layers
    >>> C = prove_layers().fact("C")
    >>> float(C.low), (C - 3).pair[0], C.quantity
    (3.65737934537, 0.65737934537, 'C')
    """

    proofs: tuple[Proof, ...]
    low: Fraction
    high: Fraction
    name: str = ""
    quantity: str = ""
    says: str = ""
    ranges: tuple[str, ...] = ()

    @property
    def pair(self) -> tuple[float, float]:
        """The double nearest to the middle, and an upper bound of its distance from any point of the interval."""
        middle = float((self.low + self.high) / 2)
        distance = max(abs(Fraction(middle) - end) for end in (self.low, self.high))
        error = float(distance)
        return middle, beyond(error) if Fraction(error) < distance else error

    def __add__(self, other: Any) -> Fact:
        return self._with(other, lambda x, y: (x[0] + y[0], x[1] + y[1]))

    def __sub__(self, other: Any) -> Fact:
        return self._with(other, lambda x, y: (x[0] - y[1], x[1] - y[0]))

    def __mul__(self, other: Any) -> Fact:
        return self._with(other, product)

    def __truediv__(self, other: Any) -> Fact:
        return self._with(other, lambda x, y: product(x, inverse(y)))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Fact:
        return self * -1 + other

    def __rtruediv__(self, other: Any) -> Fact:
        return Fact(self.proofs, *inverse((self.low, self.high))) * other

    def _with(self, other: Any, combine: Callable[[Interval, Interval], Interval]) -> Fact:
        """A number computed from both."""
        others = other.proofs if isinstance(other, Fact) else ()
        proofs = (*self.proofs, *(proof for proof in others if proof not in self.proofs))
        return Fact(proofs, *combine((self.low, self.high), ends(other)))


def product(first: Interval, second: Interval) -> Interval:
    products = [x * y for x in first for y in second]
    return min(products), max(products)


def inverse(interval: Interval) -> Interval:
    low, high = interval
    if low <= 0 <= high:
        raise ZeroDivisionError(f"the divisor may be 0: it lies between {float(low)} and {float(high)}")
    return 1 / high, 1 / low


def ends(number: Any) -> Interval:
    """The ends of a fact, of a ball, or of an exact number twice."""
    if isinstance(number, Fact):
        return number.low, number.high
    if isinstance(number, int | Fraction) and not isinstance(number, bool):
        return Fraction(number), Fraction(number)
    if isinstance(number, fmpz | fmpq):
        return Fraction(str(number)), Fraction(str(number))
    if isinstance(number, arb) and number.is_finite():
        (low, down), (high, up) = number.lower().man_exp(), number.upper().man_exp()
        return Fraction(int(low)) * Fraction(2) ** int(down), Fraction(int(high)) * Fraction(2) ** int(up)
    raise InvalidInput(f"{number!r} is not exact; combine facts with whole numbers, fractions and finite balls.")


@dataclass(frozen=True)
class Proof:
    """A proof as data: what `check-proof` certifies again.

    Attributes
    ----------
    data
        The proof file as decoded JSON: format, theorem, hypotheses, and the lemmas with their constants.

    Examples
    --------
    >>> from lipverify.proofs import prove_cosine
    >>> proof = prove_cosine()
    >>> proof.failures(), [lemma.name for lemma in proof.lemmas][:1]
    ([], ['majorant'])
    >>> changed = Proof({**proof.data, "lemmas": proof.data["lemmas"][1:]})  # without its first lemma
    >>> bool(changed.failures())
    True
    """

    data: dict[str, Any]

    @property
    def statement(self) -> str:
        """The theorem in one sentence, with its numbers."""
        return checker.statement(self.data)

    @property
    def ranges(self) -> tuple[str, ...]:
        """The conditions under which the sentence holds, of which its words are made."""
        return checker.sentence(self.data).ranges

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """The numbers that the sentence gives, by name."""
        said = checker.sentence(self.data)
        return {
            name: Fact((self,), fact.low, fact.high, name, fact.quantity, fact.says, fact.ranges or said.ranges)
            for name, fact in said.facts.items()
        }

    def fact(self, name: str) -> Fact:
        """One of these numbers.

        Raises
        ------
        InvalidInput
            If the sentence gives no number of this name; the message has those that it gives.
        """
        if name not in self.facts:
            raise InvalidInput(f"fact = {shown(name)}: the theorem gives {', '.join(self.facts)}; {self.statement}.")
        return self.facts[name]

    @property
    def lemmas(self) -> tuple[Lemma, ...]:
        """The chain of lemmas."""
        return tuple(
            Lemma(
                **{name: lemma[name] for name in ("name", "stage", "says", "because")},
                constants={name: nearest(text) for name, text in lemma["constants"].items()},
            )
            for lemma in self.data["lemmas"]
        )

    @property
    def text(self) -> str:
        """The proof file as text."""
        return json.dumps(self.data, indent=1) + "\n"

    def failures(self) -> list[str]:
        """The steps that do not follow, by `lipverify.proofs.checker`; empty if the proof is valid."""
        return checker.failures(self.data)

    def save(self, path: Path | str) -> None:
        """Write the proof file; only a regular file is replaced."""
        write_whole(Path(path), self.text.encode())

    @cached_property
    def constants(self) -> dict[str, float]:
        """All constants by name; of those that each stage has, the last stage's."""
        return {name: value for lemma in self.lemmas for name, value in lemma.constants.items()}


@dataclass(frozen=True)
class LawProof(Proof):
    """A proof about one law in one dimension."""

    @property
    def law(self) -> str:
        """The name of the law; followed by L after a colon if the law changes its shape with L, and by k_l if it is
        zonal.
        """
        return str(self.data["law"])

    def constant(self, L: float | None) -> float:
        """The L to use: any for most laws, 1 by default; for a law that changes its shape with L, its own.

        Raises
        ------
        InvalidInput
            If it is not the law's own.
        """
        own, L = laws.own_constant(self.law), L if L is None else number("L", L, "the Lipschitz constant")
        if own and L is not None and nearest(own) != L:
            raise InvalidInput(
                f"L = {L:g}: this is about {self.law}, which is another law for another L; prove it for that."
            )
        return nearest(own) if own else 1.0 if L is None else L

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return int(self.data["d"])

    @property
    def noise_power(self) -> float:
        """The exponent a = (d-1)/2 of N ~ w^a / n."""
        return (self.d - 1) / 2

    @property
    def beta(self) -> float:
        """The exponent beta of B ~ w^-beta."""
        return laws.beta(self.law)

    @property
    def exponent(self) -> float:
        """e = 1 / ((d-1)/2 + beta), W = Lambda^e."""
        return 1 / (self.noise_power + self.beta)


def nearest(text: str) -> float:
    """The double next to a number of a proof file, which may be a fraction.

    >>> nearest("5/2"), nearest("1e-9")
    (2.5, 1e-09)
    """
    return float(Fraction(text)) if "/" in text else float(text)


def below(value: float) -> float:
    """The next double below: a stated decimal lies between its neighbours."""
    return math.nextafter(value, -math.inf)


def beyond(value: float) -> float:
    """The next double above."""
    return math.nextafter(value, math.inf)


def context(n: float, L: float, sigma: float) -> tuple[float, float, float]:
    """What a theorem is asked about: any numbers, also such as it does not cover."""
    return (
        number("n", n, "the number of tokens"),
        number("L", L, "the Lipschitz constant", below=1 / SMALLEST),
        number("sigma", sigma, "the noise", below=1 / SMALLEST),
    )


def subject(law: Law, d: int) -> tuple[str, int]:
    """The name of a law in the checker, and the ambient dimension."""
    return named(law), whole("d", d, 2, "the ambient dimension", LARGEST)


def named(law: Law) -> str:
    """The name of a law in the checker."""
    if not isinstance(law, Law):
        raise InvalidInput(f"law = {shown(law)}: it must be a law, like lipverify.laws.Affine() or ReLU().")
    if law.constant:
        raise InvalidInput(f"law = {law!r} is constant: there is no bias to balance the noise, so give L > 0.")
    return declared(law)
