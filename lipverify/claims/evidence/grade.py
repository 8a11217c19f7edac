"""The grade of a number with its reasons, and the grade of a claim.

`grade_of` is the only place where the grade of a number is made. It reads a `Basis`, which the cell stores, so that
`lipverify audit` comes to the same grade and the same reasons from the ledger alone. A claim has the weakest grade of
its cells, and in a report that of the claim that proves it (`lipverify.claims.ledger.outcomes`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

import msgspec

from lipverify.claims.evidence.ranges import Scalar, speaks_of, squeezed
from lipverify.claims.evidence.returned import Certified, Returned
from lipverify.foundation.ladder import ASSUMPTION
from lipverify.foundation.noted import Grade, Made

GRADES: dict[Grade, str] = {
    "proved": "a theorem that lipverify's checker certified states this number, or states the claim while the number "
    "is measured besides; its sentence stands beside the claim",
    "exact": "a value without error, as its function returned it: a fraction, an expression of SymPy, or an interval "
    "between certified ends, printed with ±; that the function computes what the title says rests on its author",
    "bounded": "an error bound that a method of lipverify made",
    "extrapolated": f"a limit, from local slopes over many decades: right {ASSUMPTION}",
    "sampled": "a 95 % confidence interval",
    "estimated": "an error without a bound, or one that the claim's own function states",
    "observed": "training, with the spread of its seeds",
    "by hand": "exact steps, and an argument in words in the document named beside the claim",
}
"""Kind of evidence for a number, the strongest first, and "by hand" apart; a claim has the weakest of its cells."""
ORDER: tuple[Grade, ...] = tuple(grade for grade in GRADES if grade != "by hand")
AUTHOR = "that it is what the claim says rests on its author"
WAY_OUT = '; method="exact" says that it follows from the bounds of lipverify that ran'
NO_SYMBOLS = ", as 0 without symbols and so for no range (to keep one, return the difference before it is simplified)"
OWN = "own function"
"""Name of the method for a claim's own function."""
METHODS = {
    "fraction": "rational",
    "symbolic": "symbolic",
    "ball": "certified",
    "theorem": "certified",
    "computed": "certified",
}
"""Name of the method for each exact form."""


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """What the number of a cell rests on: all that its grade is made from.

    Attributes
    ----------
    returned
        What the function returned for it.
    stated
        The error with which the claim uses it, in its units; None if it is infinite.
    made
        How errors were made by the methods of lipverify that ran in the function and in all that it needs, each once.
    by
        The methods of the bounds among them.
    draws
        True if the function takes `contexts`.
    derives
        True if the claim says that its function derives its numbers from bounds of lipverify.
    best
        The best grade that the claim, or the method that it names, allows; None if that is "proved".
    """

    returned: Returned = Returned()
    stated: float | None = None
    made: tuple[Made, ...] = ()
    by: tuple[str, ...] = ()
    draws: bool = False
    derives: bool = False
    best: Grade | None = None

    @property
    def method(self) -> str:
        """The method that ran; `OWN` if it is the claim's own function."""
        grade, _ = _of_number(self, "", {})
        if grade in ("proved", "exact"):
            return METHODS.get(self.returned.form, OWN)
        if self.returned.form == "library" and (self.stated is None or self.stated >= self.returned.error):
            return self.returned.method
        if grade == "sampled":
            return "montecarlo"
        return (self.by[0] if len(self.by) == 1 else "exact") if grade == "bounded" else OWN


def grade_of(
    basis: Basis, quantity: str = "", where: Mapping[str, Scalar] | None = None, *, limit: bool = False
) -> tuple[Grade, tuple[str, ...]]:
    """The grade of a number, and the reasons in sentences.

    Parameters
    ----------
    basis
        What it rests on.
    quantity
        What the claim says it is, in LaTeX: a theorem must state a number of this quantity.
    where
        The coordinates and other arguments of its function: a theorem must hold there.
    limit
        True if the number is a limit, taken from values at the points of a ray.

    Examples
    --------
    >>> grade_of(Basis(returned=Returned(form="fraction", says="1/3")))[0]
    'exact'
    >>> grade_of(Basis(stated=1e-9))
    ('estimated', ('its function states the error 1e-09 itself',))
    """
    grade, reason = _of_number(basis, quantity, where or {})
    reasons = [reason]
    if limit and grade in ("proved", "exact", "bounded"):
        grade = "extrapolated"
        reasons.append(f"it is a limit, right {ASSUMPTION}")
    if basis.best is not None and weakest([grade, basis.best]) != grade:
        grade = basis.best
        reasons.append(f'the claim allows "{grade}" at best')
    return grade, tuple(reasons)


def _of_number(basis: Basis, quantity: str, where: Mapping[str, Scalar]) -> tuple[Grade, str]:
    """The grade of a number as it was returned, and the reason."""
    one = basis.returned
    stated = math.inf if basis.stated is None else basis.stated
    inexact = ", ".join(made for made in basis.made if made != "certified")
    if one.form == "theorem" and len(one.theorems) == 1:
        return _of_theorem(one.theorems[0], quantity, where)
    if one.theorems:
        return "exact", f"returned as exact by the function, computed from numbers of certified theorems; {AUTHOR}"
    if one.form in METHODS:
        free = f", for every {', '.join(one.symbols)}" if one.symbols else NO_SYMBOLS * (one.says == "0")
        ran = f", in which inexact methods of lipverify ran ({inexact})" if inexact else ""
        return "exact", f"returned as exact by the function{ran}{free}; {AUTHOR}"
    if one.form == "library" and one.made is not None:
        if stated >= one.error:
            made: Grade = "bounded" if one.made == "certified" else one.made
            return made, f'returned by the method "{one.method}" of lipverify with its error'
        return "estimated", f"a number of lipverify with less than its error {one.error:.2g}"
    if basis.draws or "sampled" in basis.made:
        return "sampled", "it is computed from random draws"
    if basis.derives and basis.made and "estimated" not in basis.made:
        how = f"from bounds of lipverify ({', '.join(basis.by)})"
        return "bounded", f"its function derives it {how} by its own arithmetic, as the claim declares"
    return "estimated", f"its function states the error {stated:.2g} itself{WAY_OUT if basis.by else ''}"


def _of_theorem(theorem: Certified, quantity: str, where: Mapping[str, Scalar]) -> tuple[Grade, str]:
    """The grade of a number that a theorem states, if it is what the claim speaks of."""
    if doubt := _doubt(theorem, quantity, where):
        return "exact", f"a number of a certified theorem, but {doubt}; {AUTHOR}"
    bounds = "" if theorem.low == theorem.high else f", between {_short(theorem.low)} and {_short(theorem.high)}"
    return "proved", f'a certified theorem states it as "{theorem.fact}"{bounds}'


def _doubt(theorem: Certified, quantity: str, where: Mapping[str, Scalar]) -> str:
    """Why the claim's number may not be the theorem's; empty if it is."""
    if squeezed(theorem.quantity) != squeezed(quantity):
        return f"the theorem speaks of ${theorem.quantity}$"
    return next((f"it holds for {ours}" for ours in theorem.ranges if not speaks_of(ours, where)), "")


def speaks_for(basis: Basis, where: Mapping[str, Scalar]) -> bool:
    """True if the theorem of a proved number holds at the coordinates of another cell."""
    return all(speaks_of(ours, where) for theorem in basis.returned.theorems for ours in theorem.ranges)


def _short(bound: str) -> str:
    return f"{float(Fraction(bound)):.6g}"


def weakest(grades: Iterable[Grade]) -> Grade | None:
    """The weakest of some grades; "by hand", which has no place in their order, only if there is no other.

    >>> weakest(["exact", "sampled", "by hand", "bounded"]), weakest(["by hand"])
    ('sampled', 'by hand')
    """
    return max(grades, key=lambda grade: (grade in ORDER, grade in ORDER and ORDER.index(grade)), default=None)


def strongest(grades: Iterable[Grade]) -> Grade | None:
    """The strongest of some grades; "by hand" only if there is no other."""
    return min(grades, key=lambda grade: (grade not in ORDER, grade in ORDER and ORDER.index(grade)), default=None)


def of_claim(grades: Iterable[Grade], by_hand: str = "") -> Grade | None:
    """The grade of a claim: the weakest of its cells; "by hand" if these are only the exact steps of an argument."""
    grade = weakest(grades)
    return "by hand" if by_hand and grade in ("proved", "exact") else grade
