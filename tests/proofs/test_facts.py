"""The numbers that theorems give: made from the proof as read, and enclosed by arithmetic."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from lipverify.errors import InvalidInput
from lipverify.foundation.shipped import shipped

# internal: what the checker reads of the same file
from lipverify.proofs import Fact, Proof, checker, load, prove_layers
from tests.proofs.controls import committed

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
FILES = sorted((shipped() / "proofs").glob("*.json"))
NUMBERS = st.fractions(-1000, 1000, max_denominator=10**6)
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
}


LAYERS = prove_layers()


def interval(first: Fraction, second: Fraction) -> Fact:
    return Fact((LAYERS,), min(first, second), max(first, second))


@given(st.tuples(NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS), st.fractions(0, 1), st.fractions(0, 1))
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("other", ["fact", "ball", "fraction", "integer"])
def test_arithmetic_encloses_every_value(
    operation: str, other: str, x: tuple[Fraction, Fraction], y: tuple[Fraction, Fraction], at: Fraction, to: Fraction
) -> None:
    first, second = interval(*x), interval(*y)
    start, end = (fact.low + (fact.high - fact.low) * share for fact, share in ((first, at), (second, to)))
    operands: dict[str, tuple[Any, Fraction]] = {
        "fact": (second, end),
        "ball": (arb(float(end), 1e-9), Fraction(float(end))),
        "fraction": (end, end),
        "integer": (int(end), Fraction(int(end))),
    }
    operand, value = operands[other]
    combine = OPERATIONS[operation]
    for pair, values in (((first, operand), (start, value)), ((operand, first), (value, start))):
        if isinstance(pair[0], arb):  # a ball does not know facts
            continue
        try:
            found = combine(*pair)
        except ZeroDivisionError:
            assert operation == "/"
            continue
        assert found.low <= combine(*values) <= found.high
        middle, error = found.pair
        assert Fraction(middle) - Fraction(error) <= found.low <= found.high <= Fraction(middle) + Fraction(error)


def test_a_computed_number_has_no_name_and_keeps_both_proofs() -> None:
    first, second = (load(shipped() / "proofs" / f"{name}.json") for name in ("affine-3", "lt-layers"))
    found = first.fact("window") * second.fact("C") / first.fact("window")
    assert found.proofs == (first, second)
    assert (found.name, found.quantity) == ("", "")


@pytest.mark.parametrize("operand", [0.5, True, "1", None, arb("inf"), arb("nan")])
def test_a_fact_combines_with_exact_numbers_alone(operand: Any) -> None:
    with pytest.raises(InvalidInput, match="is not exact"):
        prove_layers().fact("C") + operand


def test_a_name_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidInput, match="the theorem gives C;"):
        prove_layers().fact("window")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_number_of_facts_and_conditions_is_printed(path: Any) -> None:
    """Exact facts are exponents, or what a sentence means: the test of their constants is below."""
    proof = load(path)
    printed = {Fraction(text) for text in NUMBER.findall(proof.statement)} | {Fraction(1)}
    assert proof.facts
    for fact in proof.facts.values():
        assert fact.says
        assert fact.low == fact.high or {fact.low, fact.high} <= printed
    for condition in proof.ranges:
        assert {Fraction(text) for text in NUMBER.findall(condition)} <= printed | {Fraction(0)}, condition


CONSTANTS = {
    "affine-3": ("low", "high", "loss_low", "loss_high", "limit_low", "limit_high", "W_least", "K"),
    "tradeoff-affine-3": ("rise_low", "rise_high", "fall_low", "fall_high", "rho", "K", "u"),
    "every-affine-3": ("least_ratio", "largest_ratio", "least", "rho"),
    "dimensions-relu": ("low", "high", "loss_low", "loss_high", "W_least", "W_per_d", "K", "M"),
    "lt-layers": ("C",),
    "lt-cosine": ("offset", "low"),
    "lt-ridge-2-1-yx": ("K",),
    "optimum-cosine-3-2-1000-13": ("low", "high"),
    "scale-relu-3-100-offset": ("c_low", "c_high"),
    "rising-affine-3-3": ("slope_low", "slope_high", "w_1", "w_2"),
    "covariance-space": ("gain_low", "gain_high"),
}
"""The constants of the sentences; of each lemma the last one counts."""


@pytest.mark.parametrize(("name", "constant"), [(name, each) for name, them in CONSTANTS.items() for each in them])
def test_facts_and_conditions_follow_the_constants_of_the_file(name: str, constant: str) -> None:
    data = committed(name)
    changed = copy.deepcopy(data)
    for lemma in changed["lemmas"]:
        if constant in lemma["constants"]:
            lemma["constants"][constant] = str(Fraction(lemma["constants"][constant]) * 2)
    assert said(changed) != said(data)


@pytest.mark.parametrize("name", CONSTANTS)
def test_swapped_ends_are_refused(name: str) -> None:
    data = committed(name)
    pairs = [(low, low.replace("low", "high")) for low in CONSTANTS[name] if low.endswith("low") and low != "low"]
    for low, high in pairs:
        swapped = copy.deepcopy(data)
        for lemma in swapped["lemmas"]:
            constants = lemma["constants"]
            if {low, high} <= set(constants):
                constants[low], constants[high] = constants[high], constants[low]
        if swapped != data:
            assert checker.failures(swapped)


def test_another_dimension_is_refused_or_has_other_facts() -> None:
    proof = load(shipped() / "proofs" / "affine-3.json")
    other = Proof({**proof.data, "d": 4})
    assert other.failures()
    assert other.fact("window exponent").low == Fraction(2, 7) != proof.fact("window exponent").low
    assert "d = 4" in other.ranges


def said(data: Any) -> Any:
    found = checker.sentence(data)
    return found.facts, found.ranges
