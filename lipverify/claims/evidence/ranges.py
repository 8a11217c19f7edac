"""Ranges as conditions on coordinates: "n", "n >= 2", "integer k", "L <= sigma", "n >= 100 W^2".

A claim declares its range, and evidence has one: the symbols of an expression, or the conditions of a theorem. A claim
that holds is refused unless its evidence leaves out no value of the range that it declares.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

Scalar = str | int | float
"""The value of a coordinate."""
NATURAL = {"n": (1, True), "d": (2, True), "k": (1, True), "L": (0, False), "sigma": (0, True), "w": (0, True)}
"""The least value of a coordinate, and whether it is one of its values: what a claim about every n, d, ... means."""
WHOLE = ("n", "d", "k")
"""Coordinates whose values are whole numbers."""
LARGE = "large n"
"""Declares that the claim is about all n from some number on, which the theorem states."""
KINDS = ("integer", "real", "large")
"""Words before a coordinate."""
NAME = r"[A-Za-z][A-Za-z0-9_']*"


class Bound(NamedTuple):
    """A condition on one coordinate: an end of its range, and whether the end belongs to it."""

    name: str
    relation: str
    end: float

    def within(self, value: float) -> bool:
        """True if the value meets it."""
        return {
            ">=": value >= self.end, ">": value > self.end, "<=": value <= self.end, "<": value < self.end,
            "=": value == self.end, "!=": value != self.end,
        }[self.relation]  # fmt: skip


def bounds(condition: str) -> tuple[Bound, ...]:
    """The bounds on one coordinate that a condition is; none if it is on several. A coordinate alone has any value.

    >>> bounds("n >= 2"), bounds("integer k"), bounds("L <= sigma")
    ((Bound(name='n', relation='>=', end=2.0),), (Bound(name='k', relation='>=', end=-inf),), ())
    >>> bounds("0 < C <= 1/4")
    (Bound(name='C', relation='>', end=0.0), Bound(name='C', relation='<=', end=0.25))
    """
    number = r"([-+0-9.e/]+)"
    if match := re.fullmatch(rf"(?:integer |real )?({NAME})(?: (>=|>|<=|<|=|!=) {number})?", condition):
        name, relation, end = match.groups()
        ends = [(relation, end)] if relation else [(">=", "-inf")]
    elif match := re.fullmatch(rf"{number} (<=?) ({NAME}) (<=?) {number}", condition):
        low, below, name, above, high = match.groups()
        ends = [(below.replace("<", ">"), low), (above, high)]
    elif match := re.fullmatch(rf"\|({NAME})\| (<=?) {number}", condition):
        name, relation, end = match.groups()
        ends = [(relation, end), (relation.replace("<", ">"), f"-{end}")]
    else:
        return ()
    try:
        return tuple(Bound(name, relation, _value(end)) for relation, end in ends)
    except (ValueError, ZeroDivisionError):
        return ()


def _value(text: str) -> float:
    above, _, below = text.partition("/")
    return float(above) / float(below or 1)


def left_out(declared: Sequence[str], evidence: Sequence[str]) -> str:
    """A value of the declared range that the evidence leaves out, in words; empty if it leaves out none.

    >>> left_out(["n"], ["n >= 2", "d = 3"]), left_out(["n >= 2"], ["n >= 2", "d = 3"])
    ('n = 1', '')
    >>> left_out(["n"], ["d = 3"]), left_out(["L", "large n"], ["L > 0", "n >= 100 W^2"])
    ('all n but the listed ones', '')
    """
    if not declared:
        return ""
    wanted: dict[str, list[Bound]] = {}
    for condition in declared:
        if condition != LARGE and not bounds(condition) and condition not in evidence:
            return f"what {condition} says, which is in no condition of the evidence"
        for one in bounds(condition):
            wanted.setdefault(one.name, []).append(one)
    for name in (*wanted, *(["n"] if LARGE in declared else [])):
        if not any(name in letters(known) and not re.match(rf"{name} = ", known) for known in evidence):
            return f"all {name} but the listed ones"
    missing = (_left_out_by(condition, wanted, declared) for condition in evidence)
    return next(filter(None, missing), "")


def _left_out_by(condition: str, wanted: Mapping[str, Sequence[Bound]], declared: Sequence[str]) -> str:
    """The same for one condition of the evidence; `wanted` are the declared bounds by coordinate."""
    name, _, listed = condition.partition(" = ")
    ends = bounds(condition)
    if ends and ends[0].name == "n" and LARGE in declared and not all(end.within(1e300) for end in ends):
        return LARGE
    if ends and ends[0].name in wanted:
        name = ends[0].name
        if condition.startswith("integer ") and not _is_whole(name, declared):
            return f"{name} that are no integers"
        values = _edges(name, wanted[name], ends)
        return next((f"{name} = {value:g}" for value in values if not all(end.within(value) for end in ends)), "")
    if ends and (ends[0].name in NATURAL or ends[0].end == -math.inf):
        return ""  # the claim says nothing of all its values
    if (
        condition in declared
        or _holds_later(condition, declared)
        or (listed and re.fullmatch(NAME, name) and name not in wanted)
    ):
        return ""
    return f"what breaks {condition}"


def _is_whole(name: str, declared: Sequence[str]) -> bool:
    """True if a coordinate has whole values alone, by its name or as it is declared."""
    return name in WHOLE or any(text.startswith("integer ") and name in letters(text) for text in declared)


def _edges(name: str, wanted: Iterable[Bound], known: Iterable[Bound]) -> list[float]:
    """Values of a declared range at which a bound of the evidence is most likely to fail: its ends, and the bound's."""
    least, closed = NATURAL.get(name, (-math.inf, True))
    every = list(wanted)
    if name in WHOLE or all(one.end == -math.inf for one in every):  # alone, a coordinate has its natural values
        every.append(Bound(name, ">=" if closed else ">", least))
    ends = sorted({one.end for one in (*every, *known) if math.isfinite(one.end)} | {-1e300, 1e300})
    if name in WHOLE:
        near = [end + shift for end in ends for shift in (-1, 0, 1)]
    else:  # the ends, what lies next to them, and what lies between two
        near = [math.nextafter(end, side) for end in ends for side in (-math.inf, end, math.inf)]
        near += [(low + high) / 2 for low, high in pairwise(ends)]
    return sorted((end for end in near if all(one.within(end) for one in every)), key=abs)


def _holds_later(condition: str, declared: Sequence[str]) -> bool:
    """True if the claim is about large n alone, and the condition is a lower bound that these meet."""
    alone = not any("n" in letters(other) for other in declared if other != LARGE)
    return LARGE in declared and alone and re.match(r"(?:n|W|W'|Lambda) >=? ", condition) is not None


def letters(condition: str) -> set[str]:
    """The coordinates of a condition."""
    return set(re.findall(NAME, condition)) - {*KINDS}


def speaks_of(condition: str, where: Mapping[str, Scalar]) -> bool:
    """True if nothing in a condition speaks against the coordinates of a cell.

    A condition on several coordinates is not evaluated: the cell then must not stand at a value of one, but of d.
    """
    ends, (name, _, value) = bounds(condition), condition.partition(" = ")
    if not ends and not (value and name in where):
        return not letters(condition) & set(where) - {"d", "law"}
    here = where.get(ends[0].name if ends else name)
    if here is None:
        return True
    if isinstance(here, str) or not ends:
        return value.partition(" of ")[0] == str(here)  # "cosine of L = 1", whose L is a condition of its own
    return all(end.within(here) for end in ends)


def squeezed(quantity: str) -> str:
    r"""The letters of a quantity, without the marks and spaces of its typesetting.

    >>> squeezed(r"\text{exponent of } w^* \text{ in } \Lambda"), squeezed(r"exponent of $w^*$ in $\Lambda$")
    ('exponentofw^*in\\Lambda', 'exponentofw^*in\\Lambda')
    """
    return re.sub(r"\\(?:text|mathrm)\{([^{}]*)\}|[\s$]|\\[,;! ]", r"\1", quantity).replace(" ", "")
