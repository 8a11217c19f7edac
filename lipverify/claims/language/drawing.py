"""Figures, tables and sentences of a claim, as functions of what is measured for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lipverify.claims.language.family import Place
from lipverify.claims.plan.claim import Shown
from lipverify.claims.plan.measured import call_at
from lipverify.claims.plan.profile import Profile
from lipverify.foundation.calls import Call, names


def at(function: Callable[..., Any], **where: Any) -> Call:
    """A function at a point, measured to be shown; coordinates of the reading are added where it takes them."""
    return Call(function, where)


@dataclass(frozen=True)
class Drawing:
    """A function that makes a figure, a table or a sentence of measurements."""

    function: Callable[..., Any]
    measured: dict[str, Call]

    def shown(self, family: Place, profile: Profile) -> Shown:
        """With its measurements in place."""
        parameters = set(names(self.function))
        found = {name: call_at(each, family, profile, "figures") for name, each in self.measured.items()}
        given = {key: value for key, value in family.where.items() if key in parameters}
        return Shown(self.function, found, given)


def draw(function: Callable[..., Any], **measured: Call) -> Drawing:
    """A figure, a table or a sentence: the function gets the measurements by name, and the reading's coordinates."""
    return Drawing(function, measured)


def drawings_of(value: Any) -> Any:
    """Drawings from one, several, or a mapping of patterns to them."""
    if isinstance(value, Mapping):
        return {pattern: drawings_of(each) for pattern, each in value.items()}
    return (value,) if isinstance(value, Drawing) else tuple(value)
