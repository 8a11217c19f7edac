"""Cross-checks: the same quantity by two functions that share no method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lipverify.claims.language.family import Place, filled, named_in, places
from lipverify.claims.language.fault import Fault
from lipverify.claims.language.place import caller_line
from lipverify.claims.ledger.plain import plain
from lipverify.claims.plan.claim import CrossPlan, Side_by_side
from lipverify.claims.plan.measured import Measured, measured_by, number
from lipverify.claims.plan.profile import Profile


@dataclass(frozen=True)
class Agreement:
    """The same quantity by two functions that share no method."""

    functions: tuple[Callable[..., Any], Callable[..., Any]]
    quantity: str
    of: tuple[str, str]
    methods: tuple[str, str]
    over: Any
    given: Mapping[str, Any]
    error: float | None
    line: int

    def _measured(self, function: Callable[..., Any], place: Place, here: Place) -> Measured:
        told = {name for of in self.of for name in named_in(of)}
        needed = [name for name in place.where if name not in told]
        try:
            return measured_by(function, needed, (*here.where, *self.given), (), "agrees")
        except Fault as fault:
            raise fault.within(self.line) from None

    def plans(self, family: Place, profile: Profile) -> Iterator[CrossPlan]:
        """A cross-check at each point."""
        for place in places(self.over, profile):
            here = family.joined(place)
            both = [self._measured(each, place, here) for each in self.functions]
            takes = [{k: v for k, v in self.given.items() if k in each.takes} for each in both]
            plans = [each.at(here, given, profile) for each, given in zip(both, takes, strict=True)]

            def read(one: Any, other: Any, here: Place = here) -> Side_by_side:
                (a, spread), (b, other_spread) = (
                    number(result, filled(of, here.where), self.error, f"{self.quantity} at {here}")
                    for result, of in zip((one, other), self.of, strict=True)
                )
                return (a, b), (spread, other_spread)

            quantity = f"${self.quantity}$"
            yield CrossPlan(here.where, plain(quantity), self.methods, (plans[0], plans[1]), read, quantity)


def agree(
    one: Callable[..., Any],
    other: Callable[..., Any],
    quantity: str,
    *,
    of: str | tuple[str, str] = "",
    methods: tuple[str, str] = ("exact", "montecarlo"),
    over: Any = None,
    given: Mapping[str, Any] | None = None,
    error: float | None = None,
) -> Agreement:
    """A cross-check: two functions must give the same quantity within their errors, or the claim is not decided.

    Parameters
    ----------
    one, other
        The functions, called by name with the coordinates; both return (value, error) or a mapping of such.
    quantity
        What both give, in LaTeX.
    of
        Which quantity of a mapping, as for `exponent`; a pair where the two call it differently.
    methods
        How each measures.
    over
        Where they are compared, beside the coordinates of the reading.
    """
    pair = (of, of) if isinstance(of, str) else of
    return Agreement((one, other), quantity, pair, methods, over, given or {}, error, caller_line())
