"""Polynomials with integer coefficients as entries of arrays, and the terms that remain of a difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.proofs import Leftover

Objects = NDArray[Any]
"""An array of polynomials (or of plain integers), on which array code runs unchanged."""


class Polynomial:
    """A polynomial of flint as an entry of an array; NumPy would take a bare one for a sequence."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of

    def __add__(self, other: Any) -> Any:
        return Polynomial(self.of + _bare(other)) if isinstance(other, Polynomial | int) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return Polynomial(self.of - _bare(other)) if isinstance(other, Polynomial | int) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return Polynomial(self.of * _bare(other)) if isinstance(other, Polynomial | int) else NotImplemented

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: int) -> Any:
        return -self + other

    def __neg__(self) -> Any:
        return Polynomial(-self.of)

    def __pow__(self, power: int) -> Any:
        return Polynomial(self.of**power)

    def __len__(self) -> int:
        """The number of terms."""
        return len(self.of)

    def __repr__(self) -> str:
        return str(self.of)


class Symbols:
    """Free symbols by name and shape, all of one ring of polynomials over the integers.

    >>> symbols = Symbols(x=(2,), a=())
    >>> symbols.x[0] + symbols.a
    x0 + a
    """

    def __init__(self, **shapes: tuple[int, ...]) -> None:
        from flint import Ordering, fmpz_mpoly_ctx

        names = {
            name: [name + "".join(map(str, place)) for place in np.ndindex(*shape)] for name, shape in shapes.items()
        }
        ring = fmpz_mpoly_ctx.get([symbol for group in names.values() for symbol in group], Ordering.lex)
        waiting = map(Polynomial, ring.gens())
        groups = {name: [next(waiting) for _ in group] for name, group in names.items()}
        self._named = {
            name: array(groups[name]).reshape(shape) if shape else groups[name][0] for name, shape in shapes.items()
        }

    def __getattr__(self, name: str) -> Any:
        return self._named[name]


def array(entries: Any) -> Objects:
    """An array of polynomials."""
    return np.asarray(entries, dtype=object)


def total(terms: Iterable[Any]) -> Any:
    """A sum that begins with its first term, so that it stays a polynomial."""
    first, *others = terms
    for term in others:
        first = first + term
    return first


def leftover(derived: Sequence[Sequence[Any]], stated: Sequence[Sequence[Any]]) -> Leftover:
    """The terms of the difference, entry by entry.

    >>> x = Symbols(x=()).x
    >>> leftover([[(x + 1) ** 2]], [[x**2 + 1]])
    Leftover(terms=1, of=3, first='2 x', symbols=('x',), says='')
    """
    pairs = [pair for parts in zip(derived, stated, strict=True) for pair in zip(*parts, strict=True)]
    differences = [p - q for p, q in pairs]
    rings = (p.of.context() for p, _ in pairs if isinstance(p, Polynomial))
    return Leftover(
        sum(map(_count, differences)),
        sum(_count(p) for p, _ in pairs),
        _shortest(differences),
        tuple(map(str, next(rings).names())),
    )


def _bare(value: Any) -> Any:
    return value.of if isinstance(value, Polynomial) else value


def _count(p: Any) -> int:
    """Terms of a polynomial, or of a plain integer."""
    return len(p) if isinstance(p, Polynomial) else int(p != 0)


def _shortest(differences: Sequence[Any]) -> str:
    """The term with the fewest factors; of several the first in the order of the ring."""
    polynomials = [p.of for p in differences if isinstance(p, Polynomial) and len(p)]
    if not polynomials:
        return ""
    from sympy import Mul, Symbol, latex

    powers, coefficient = min(
        (term for p in polynomials for term in p.terms()),
        key=lambda term: (sum(term[0]), [-power for power in term[0]]),
    )
    factors = (Symbol(name) ** power for name, power in zip(polynomials[0].context().names(), powers, strict=True))
    return str(latex(Mul(int(coefficient), *factors)))
