"""Cells that ask whether an identity holds: what is left of it, and what is left of its falsified twins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lipverify.claims.claim import CellPlan, Reading, Task
from lipverify.claims.ledger import Scalar, Source
from lipverify.claims.linear_transformers.identities import Identity
from lipverify.claims.verdict import Allowed, Interval

NOTHING = Allowed(low=0.0, high=0.0)
NOTHING_OF_A_TWIN = Allowed(high=0.0)
"""The same range for what is never negative, and another value: a cell reads the statement at one, the twin at the other."""
WITHIN_ROUNDING = Allowed(low=0.0, high=1.0)
WITHIN_ROUNDING_OF_A_TWIN = Allowed(high=1.0)

TERMS = "terms left of the difference of the two sides"
ENTRIES = "entries that differ, in exact arithmetic"
ROUNDING = "largest difference over the bound on rounding"
Measured = Callable[[Any], tuple[float, float]]
"""Reads (value, error) off a result."""


def paper(place: str, printed: str) -> Source:
    """A place in the paper of Vladymyrov et al."""
    return Source(paper="V", place=place, printed=printed)


REBUTTAL = paper(
    "Rebuttal to the third review (on section 5.3)",
    r"$\omega_{xy}$ controls how the current prediction $y_t^l$ affects $x_t^{l+1}$ of the next layer; it does not change $y_t^{l+1}$, "
    r"and it takes at least two layers for this effect to reach $y_t^{l+2}$",
)


def symbolic_cell(where: dict[str, Scalar], task: Task) -> CellPlan:
    """No term of a polynomial in free symbols may be left over."""
    return _cell(where, task, TERMS, "no term", (NOTHING, NOTHING_OF_A_TWIN), "symbolic")


def exact_cell(where: dict[str, Scalar], task: Task) -> CellPlan:
    """No entry may differ at drawn integers or fractions."""
    return _cell(where, task, ENTRIES, "none", (NOTHING, NOTHING_OF_A_TWIN), "symbolic")


def rounding_cell(where: dict[str, Scalar], task: Task) -> CellPlan:
    """In floating point the two sides may differ by rounding, of which a bound is known."""
    return _cell(where, task, ROUNDING, "≤ 1", (WITHIN_ROUNDING, WITHIN_ROUNDING_OF_A_TWIN), "identity")


def number_cell(
    where: dict[str, Scalar],
    task: Task,
    quantity: str,
    read: Measured,
    claimed: tuple[str, Allowed],
    control: Allowed,
    *,
    twin: Measured | None = None,
    method: str = "identity",
) -> CellPlan:
    """A number with its error against what is allowed; the twin claims another range, or another number of the same result."""

    def reading(result: Any, allowed: Allowed) -> Reading:
        return Reading(Interval.around(*(twin if twin and allowed == control else read)(result)))

    return CellPlan(
        where=where,
        task=task,
        quantity=quantity,
        read=reading,
        claimed=claimed[0],
        allowed=claimed[1],
        control=control,
        method=method,
    )


def about(value: float, share: float = 1e-9) -> Allowed:
    """A number and room for its rounding, far less than what tells readings apart."""
    room = share * max(1.0, abs(value))
    return Allowed(low=value - room, high=value + room)


def left_over(results: Mapping[str, Any]) -> str:
    """What the symbolic cells of a claim found, in a few words."""
    found = [result for result in results.values() if isinstance(result, Identity)]
    most = max(found, key=lambda one: one.stated)
    if most.stated == 0:
        return f"no term is left over (sides of up to {max(one.of for one in found):.0f})"
    return f"up to {most.stated:.0f} of {most.of:.0f} terms are left over"


def _cell(
    where: dict[str, Scalar], task: Task, quantity: str, claimed: str, ranges: tuple[Allowed, Allowed], method: str
) -> CellPlan:
    stated, twin = ranges

    def read(found: Identity, allowed: Allowed) -> Reading:
        left = found.twin if allowed == twin else found.stated
        if quantity == ROUNDING:
            # the bound is itself known to a percent: its own rounding, and a coarse unit in place of epsilon
            return Reading(Interval.around(left, 0.01 * left), f"one side is {found.of:.2g} bounds")
        first = f"; a shortest one is ${found.first}$" if found.first else ""
        return Reading(Interval(left, left), f"one side has {found.of:.0f}{first}")

    return CellPlan(
        where=where,
        task=task,
        quantity=quantity,
        read=read,
        claimed=claimed,
        allowed=stated,
        control=twin,
        method=method,
    )
