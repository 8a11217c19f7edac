r"""Identities for every size at once: polynomials in matrices whose numbers of rows and columns are symbols.

A token matrix X is d by n for every d and n, and a product such as X y y^T is a word in its letters. No entry is
written out, so two sides that agree as sums of words agree for all sizes and all values of the letters. A 1 by 1 factor
commutes and equals its transpose. Further properties of the letters (X r = 0, D A = A D for diagonal matrices, |x|^2 =
1) are rules that replace a part of a word. Coefficients are fractions.

A sum over tokens is a product: sum_i a_i x_i = X a, sum_i x_i x_i^T = X X^T, and sum_i a_i^2 t_i = 1^T A A D 1 with
diagonal matrices A, D and the column 1 of ones. Two means need no law: over a centred vector with a given covariance
(`mean`), and over numbers whose joint law is that of their negatives (`even`).

    >>> s = letters(X="d n", r="n 1", v="d 1")
    >>> y = s.X.T @ s.v + s.r  # labels, with residuals that are orthogonal to the covariates
    >>> s.X @ y - s.X @ s.X.T @ s.v
    X r
    >>> (s.X @ y - s.X @ s.X.T @ s.v).where({(s.X, s.r): 0})
    0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import msgspec

from lipverify.errors import InvalidInput

ONE = "1"
"""The size of numbers, columns and rows."""


@dataclass(frozen=True, order=True)
class Letter:
    """A matrix by its name, its numbers of rows and columns as names of sizes, and whether it is transposed."""

    name: str
    rows: str
    columns: str
    flipped: bool = False
    symmetric: bool = False

    @property
    def T(self) -> Letter:
        """The transpose: the same letter if it is symmetric or a number."""
        if self.symmetric or self.rows == self.columns == ONE:
            return self
        return replace(self, rows=self.columns, columns=self.rows, flipped=not self.flipped)

    def __str__(self) -> str:
        return f"{self.name}^T" if self.flipped else self.name


Word = tuple[Letter, ...]
Term = tuple[tuple[Word, ...], Word]
"""The factors that are numbers, in order, and the rest: a matrix, a column, a row, or a column times a row."""


class Leftover(msgspec.Struct, frozen=True):
    """The terms that remain of the difference of two sides, as `leftover` counts them.

    Attributes
    ----------
    terms, of
        The number of terms of the difference, and of the derived side. If `terms` is 0, the sides are equal.
    first
        A shortest term that remains.
    symbols
        The free symbols.
    says
        The equation, if it is short enough to be written out.

    Examples
    --------
    >>> str(Leftover(terms=1, of=3, first="2 x"))
    '1 of 3 terms are left of the difference of two sides, such as 2 x'
    """

    terms: int
    of: int
    first: str = ""
    symbols: tuple[str, ...] = ()
    says: str = ""

    def __str__(self) -> str:
        example = f", such as {self.first}" if self.first else ""
        equation = f": {self.says}" if self.says else ""
        return f"{self.terms} of {self.of} terms are left of the difference of two sides{example}{equation}"


class Words:
    """A sum of words of one shape, with coefficients; made by `letters`, by sums, products and transposes."""

    __slots__ = ("columns", "rows", "terms")

    def __init__(self, rows: str, columns: str, terms: Mapping[Term, Fraction]) -> None:
        self.rows, self.columns = rows, columns
        self.terms = {term: value for term, value in terms.items() if value}

    @property
    def T(self) -> Words:
        """The transpose."""
        flipped = {(numbers, _transposed(rest)): value for (numbers, rest), value in self.terms.items()}
        return Words(self.columns, self.rows, flipped)

    def __add__(self, other: Any) -> Words:
        return _sum(self.rows, self.columns, [*self.terms.items(), *self._like(other).terms.items()])

    def __sub__(self, other: Any) -> Words:
        return self + -self._like(other)

    def __rsub__(self, other: Any) -> Words:
        return self._like(other) - self

    def __neg__(self) -> Words:
        return Words(self.rows, self.columns, {term: -value for term, value in self.terms.items()})

    def __mul__(self, other: Any) -> Words:
        """The product with a number: an integer, a fraction, or words of one row and one column."""
        if isinstance(other, int | Fraction) and not isinstance(other, bool):
            return Words(self.rows, self.columns, {term: value * other for term, value in self.terms.items()})
        if not isinstance(other, Words):
            return NotImplemented
        if other.is_number:
            return other._times(self, self.rows, self.columns)
        return self._times(other, other.rows, other.columns) if self.is_number else self @ other

    __radd__, __rmul__ = __add__, __mul__

    def __matmul__(self, other: Words) -> Words:
        if self.columns != other.rows:
            shapes = f"{self.rows} x {self.columns} times {other.rows} x {other.columns}"
            raise InvalidInput(f"{shapes}: the sizes in the middle must be the same.")
        return self._times(other, self.rows, other.columns)

    def __pow__(self, power: int) -> Words:
        result = identity(self.rows)
        for _ in range(power):
            result = result @ self
        return result

    @property
    def is_number(self) -> bool:
        """True if it has one row and one column."""
        return self.rows == self.columns == ONE

    def _times(self, other: Words, rows: str, columns: str) -> Words:
        """The product, of this shape: of two matrices, or of a number and any words."""
        pairs = product(self.terms.items(), other.terms.items())
        return _sum(
            rows,
            columns,
            (
                (_term(rows, columns, rest + next_rest, numbers + others), value * next_value)
                for ((numbers, rest), value), ((others, next_rest), next_value) in pairs
            ),
        )

    def _like(self, other: Any) -> Words:
        """`other` in this shape: a number stands for itself times the identity."""
        if isinstance(other, int | Fraction) and self.rows == self.columns:
            return identity(self.rows) * other
        if not isinstance(other, Words) or (other.rows, other.columns) != (self.rows, self.columns):
            raise InvalidInput(f"{other!r} cannot be added to words of shape {self.rows} x {self.columns}.")
        return other

    def where(self, rules: Mapping[tuple[Words, ...], Words | int]) -> Words:
        """The words after replacing products of adjacent letters by the rules, each also read transposed."""
        known: dict[Word, Words] = {}
        for letters_, replaced_by in rules.items():
            word = tuple(_letter(factor) for factor in letters_)
            rows, columns = word[0].rows, word[-1].columns
            back = _transposed(word)
            meant = known[word] = Words(rows, columns, {}) + (replaced_by or Words(rows, columns, {}))
            if rows != columns or meant != _product(back, identity(rows), ()):  # T A = A T would be undone
                known[back] = meant.T
        done: dict[Term, Fraction] = {}
        waiting = list(self.terms.items())
        read = 0
        while waiting and read < 20_000:  # letters: a rule that produces what it replaces has no end
            term, value = waiting.pop()
            read += 1 + _length(term)
            replaced = _replaced(self.rows, self.columns, term, known)
            if replaced is None:
                done[term] = done.get(term, Fraction(0)) + value
            else:
                waiting += [(new, value * factor) for new, factor in replaced.terms.items()]
        if waiting:
            raise InvalidInput(f"rules = {rules}: they have no end; let each replace a product by something simpler.")
        return Words(self.rows, self.columns, done)

    def mean(self, vector: Words, covariance: Words) -> Words:
        """The mean over a centred column with this covariance, of words that are at most quadratic in it."""
        letter = _letter(vector)
        result = Words(self.rows, self.columns, {})
        for (numbers, rest), value in self.terms.items():
            inside = [k for k, word in enumerate((*numbers, rest)) for place in word if place in (letter, letter.T)]
            if not inside:
                result = result + Words(self.rows, self.columns, {(numbers, rest): value})
            elif len(inside) == 2 and len(set(inside)) == 2 and max(inside) < len(numbers):
                row, column = (_before(numbers[k], letter) for k in inside)
                others = tuple(word for k, word in enumerate(numbers) if k not in inside)
                constant = Words(self.rows, self.columns, {(others, rest): value})
                result = result + constant * (row @ covariance @ column.T)
            elif len(inside) != 1:
                raise InvalidInput(f"{self!r}: a mean over {letter} is taken of numbers of degree 0, 1 and 2 in it.")
        return result

    def even(self, *symmetric: Words) -> Words:
        """The mean over letters whose joint law is that of their negatives: terms of odd degree in them are 0.

        Terms of even degree are unchanged.
        """
        odd = {letter for words in symmetric for letter in (_letter(words), _letter(words).T)}

        def degree(term: Term) -> int:
            return sum(letter in odd for word in (*term[0], term[1]) for letter in word)

        return Words(self.rows, self.columns, {term: v for term, v in self.terms.items() if degree(term) % 2 == 0})

    def without(self, *zero: Words) -> Words:
        """The words with these letters set to 0."""
        gone = {letter for words in zero for letter in (_letter(words), _letter(words).T)}
        kept = {
            term: value
            for term, value in self.terms.items()
            if not any(letter in gone for word in (*term[0], term[1]) for letter in word)
        }
        return Words(self.rows, self.columns, kept)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Words):
            return NotImplemented
        return (self.rows, self.columns, self.terms) == (other.rows, other.columns, other.terms)

    def __hash__(self) -> int:
        return hash((self.rows, self.columns, frozenset(self.terms.items())))

    def __repr__(self) -> str:
        terms = (_written(term, value) for term, value in sorted(self.terms.items()))
        return " + ".join(terms).replace("+ -", "- ") or "0"


def letters(symmetric: Iterable[str] = (), **shapes: str) -> Any:
    """Matrices, columns and numbers of any size as letters, whose sums and products are words.

    Parameters
    ----------
    symmetric
        The names of the matrices that are their own transposes.
    shapes
        The shapes by name: "d n" is d by n, "d 1" a column, "" a number.

    Returns
    -------
    types.SimpleNamespace
        The letters as attributes; `+`, `-`, `*`, `@`, `**` and `.T` combine them.

    Raises
    ------
    ValueError
        If a shape is not two sizes.

    Examples
    --------
    >>> s = letters(X="d n", a="n 1", c="")
    >>> s.c * s.X @ s.a, (s.X @ s.a).T @ (s.X @ s.a)
    (c X a, (a^T X^T X a))
    """
    own = set(symmetric)
    made = {}
    for name, shape in shapes.items():
        rows, columns = shape.split() if shape else (ONE, ONE)
        made[name] = _single(Letter(name, rows, columns, symmetric=name in own))
    return SimpleNamespace(**made)


def identity(size: str) -> Words:
    """The identity matrix of a size, as a word.

    Parameters
    ----------
    size
        The size by its letter, such as "d".

    Returns
    -------
    Words
        A matrix that can be added to words of this shape.

    Raises
    ------
    InvalidInput
        If it is combined with words of another shape.

    Examples
    --------
    >>> s = letters(A="d d")
    >>> (identity("d") + s.A) @ s.A
    A + A A
    """
    return Words(size, size, {((), ()): Fraction(1)})


def leftover(derived: Sequence[Words] | Words, stated: Sequence[Words] | Words, sizes: str) -> Leftover:
    """The terms that remain of the difference of two sides; none: they are equal for all sizes and letters.

    Parameters
    ----------
    derived, stated
        The sides: words, or as many parts of each.
    sizes
        The letters of the sizes, which the result names as free.

    Returns
    -------
    Leftover
        The number of terms that remain of all parts together.

    Raises
    ------
    ValueError
        If the sides have different numbers of parts.

    Examples
    --------
    >>> s = letters(X="d n", Y="d n")
    >>> found = leftover((s.X + s.Y) @ (s.X + s.Y).T, s.X @ s.X.T + s.Y @ s.Y.T + 2 * s.X @ s.Y.T, "d n")
    >>> found.terms, found.of, found.first, found.symbols
    (2, 4, '-X Y^T', ('d', 'n'))
    """
    left_hand, right_hand = ((side,) if isinstance(side, Words) else side for side in (derived, stated))
    sides = list(zip(left_hand, right_hand, strict=True))
    remaining = [item for p, q in sides for item in (p - q).terms.items()]
    return Leftover(
        terms=len(remaining),
        of=sum(len(p.terms) for p, _ in sides),
        first=_written(*min(remaining, key=lambda item: (_length(item[0]), item[0]))) if remaining else "",
        symbols=tuple(sizes.split()),
        says="; ".join(f"{p!r} = {q!r}" for p, q in sides),
    )


def _letter(words: Words) -> Letter:
    """The one letter of these words."""
    monomials = [(*numbers, rest) for numbers, rest in words.terms]
    factors = [letter for monomial in monomials for word in monomial for letter in word]
    if len(factors) != 1 or list(words.terms.values()) != [1]:
        raise InvalidInput(f"{words!r} is not one letter; a rule is about a product of letters.")
    return factors[0] if factors[0].rows == words.rows and factors[0].columns == words.columns else factors[0].T


def _transposed(word: Word) -> Word:
    return tuple(letter.T for letter in reversed(word))


def _term(rows: str, columns: str, word: Word, numbers: tuple[Word, ...]) -> Term:
    """A word in its normal form: cut at every row or column, with the numbers taken out.

    A number is written directly or transposed, whichever comes first.
    """
    pieces: list[Word] = []
    start = 0
    for k, letter in enumerate(word, 1):
        if letter.columns == ONE:
            pieces.append(word[start:k])
            start = k
    last: Word = word[start:]
    scalars = list(numbers)
    first: Word = ()
    for index, piece in enumerate(pieces):
        if index == 0 and rows != ONE:
            first = piece
        else:
            scalars.append(min(piece, _transposed(piece)))
    return tuple(sorted(scalars)), first + last


def _sum(rows: str, columns: str, terms: Iterable[tuple[Term, Fraction]]) -> Words:
    result: dict[Term, Fraction] = {}
    for term, value in terms:
        result[term] = result.get(term, Fraction(0)) + value
    return Words(rows, columns, result)


def _before(word: Word, letter: Letter) -> Words:
    """The row p of a number p e or e^T p^T."""
    line = word if word[-1] == letter else _transposed(word)
    if line[-1] != letter:
        raise InvalidInput(f"{' '.join(map(str, word))}: {letter} does not stand at its end.")
    if len(line) == 1:
        raise InvalidInput(f"{letter} is a number by itself; a mean is taken over a column.")
    return Words(ONE, letter.rows, {_term(ONE, letter.rows, line[:-1], ()): Fraction(1)})


def _replaced(rows: str, columns: str, term: Term, rules: Mapping[Word, Words]) -> Words | None:
    """The term with one product replaced by a rule; None if no rule applies."""
    numbers, rest = term
    for index, word in enumerate((*numbers, rest)):
        for pattern, value in rules.items():
            for k in range(len(word) - len(pattern) + 1):
                if word[k : k + len(pattern)] == pattern:
                    before, after = word[:k], word[k + len(pattern) :]
                    top = before[0].rows if before else value.rows
                    end = after[-1].columns if after else value.columns
                    middle = _product(before, value, after)
                    if index == len(numbers):
                        return Words(ONE, ONE, {(numbers, ()): Fraction(1)}) * middle
                    assert top == end == ONE
                    others = Words(rows, columns, {(numbers[:index] + numbers[index + 1 :], rest): Fraction(1)})
                    return middle * others
    return None


def _product(before: Word, value: Words, after: Word) -> Words:
    result = value
    for letter in reversed(before):
        result = _single(letter) @ result
    for letter in after:
        result = result @ _single(letter)
    return result


def _single(letter: Letter) -> Words:
    return Words(letter.rows, letter.columns, {_term(letter.rows, letter.columns, (letter,), ()): Fraction(1)})


def _length(term: Term) -> int:
    return sum(map(len, term[0])) + len(term[1])


def _written(term: Term, value: Fraction) -> str:
    """A term as text."""
    numbers = [str(word[0]) if len(word) == 1 else f"({' '.join(map(str, word))})" for word in term[0]]
    text = " ".join([*numbers, *map(str, term[1])])
    if not text:
        return str(value)
    sign = "-" if value < 0 else ""
    return sign + (text if abs(value) == 1 else f"{abs(value)} {text}")
