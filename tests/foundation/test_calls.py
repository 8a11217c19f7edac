"""Functions that are handed what others return."""

from __future__ import annotations

from lipverify.claims import needs
from lipverify.foundation.calls import Call, needed


def halves(depth: int) -> list[Call]:
    return [Call(half, {"depth": depth - 1}), Call(half, {"depth": depth - 2})] if depth > 1 else []


@needs(smaller=halves)
def half(depth: int, place: str, smaller: list[int]) -> int:
    return sum(smaller) if smaller else depth


def test_what_is_needed_follows_from_the_arguments_that_the_maker_takes() -> None:
    assert needed(half, {"depth": 5, "place": "here"}) == {
        "smaller": (Call(half, {"depth": 4}), Call(half, {"depth": 3}))
    }
    assert needed(half, {"depth": 1, "place": "here"}) == {"smaller": ()}


def test_a_function_without_needs_needs_nothing() -> None:
    assert needed(len, {}) == {}
