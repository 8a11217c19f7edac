"""What is given to the functions that prove: a value of another kind is refused in one line, whatever it is."""

from __future__ import annotations

import inspect
import math
import re
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import cache
from time import process_time
from typing import Any

import numpy as np
import pytest

from lipverify import Problem, proofs
from lipverify.covariates import Ellipsoid
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.shipped import shipped
from lipverify.laws import RBF, Affine, Cosine, Law, Matern, ReLU, Ridge, Zonal
from lipverify.proofs import Kinked, Pieces, Powers, Rough, load

PROBLEM = Problem(d=3, n=3, law=Affine())
VALID: dict[str, dict[str, Any]] = {
    "prove_optimum": {"problem": PROBLEM, "offset": 1.0},
    "prove_falling": {"problem": PROBLEM},
    "prove_rising": {"problem": PROBLEM, "first": 12.0, "second": 24.0},
    "prove_not_isotropic": {
        "n": 9, "sigma": 1.0, "S": (Fraction(5, 3), Fraction(1, 6)), "M": (2.6, 0.87), "stop": 6.0,
    },
    "prove_not_aligned": {"n": 9, "sigma": 0.0, "M": (4.612, 1.795), "stop": 5.0},
    "prove_aligned": {"d": 2, "k": 1, "n": 5, "sigma": 0, "C": Fraction(6, 5)},
    "prove_aligned_blocks": {"d": 4, "sigma": 0, "C": Fraction(1, 5)},
    "prove_every_n": {"law": Affine(), "d": 3, "most_signal": 1.0, "least_tokens": 2.0},
    "prove_every_dimension": {"law": Affine(), "least_window": 1e4, "least_tokens": 1e4},
    "prove_envelope": {"law": Affine(), "d": 3, "least_w": 100.0, "least_tokens": 1000.0},
    "prove_tradeoff": {"law": Affine(), "d": 3, "ratio": 2.0, "least_w": 1000.0, "least_tokens": 100.0},
    "prove_transfer": {"theorem": None, "ratio": 3.0},
    "prove_window": {"law": Affine(), "d": 3, "least_lambda": 1e12, "least_tokens": 100.0},
    "prove_layers": {},
    "prove_cosine": {},
    "prove_ridge": {"sigma_1": 0.5, "sigma_2": 1.0, "level": 2, "d": 2, "n": 10**6, "first": "yx"},
}  # fmt: skip
"""Arguments with which each function proves something."""
LONG = {"prove_every_n", "prove_every_dimension", "prove_not_isotropic"} | {
    f"prove_{what}" for what in ("not_aligned", "aligned", "aligned_blocks")
}
"""Functions whose proof takes seconds."""


class Unshown:
    """An object that cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


NOTHING: tuple[Any, ...] = (
    *("x", "2", "", "2\n", b"2", math.nan, math.inf, -math.inf, True, False, np.True_, 3j, np.complex128(3)),
    *(Decimal("NaN"), [], [3.0], {}, {3}, (1, 2, 3), (None, None), (1, "x"), (True, 1), (math.nan, 1), (10**400, 1)),
    *(object(), Unshown(), range(3), iter((1, 2)), np.array([[1.0, 2.0]]), Affine, Problem, len, PROBLEM.replace),
)
"""Values of no kind that a function takes, whatever the argument."""
OTHERS: dict[str, tuple[Any, ...]] = {
    "law": (None, 0, 1.0, PROBLEM, Affine(L=0.0)),
    "problem": (None, 0, 1.0, Affine(), {"d": 3}),
    "theorem": (None, 0, PROBLEM, {}),
    "S": (None, 0, 1.0, "12", b"12", {1: 1, 2: 2}, PROBLEM),
    "M": (None, 0, 1.0, "12", b"12", {1: 1, 2: 2}, PROBLEM),
    "first": (None, 0, "xx", PROBLEM),
    **dict.fromkeys(("d", "k", "n", "level"), (None, 0, -1, 2.5, 3.0, Fraction(3), PROBLEM)),
}
"""More that is nothing for an argument, by its name; for all others numbers are asked for."""
NUMBERS = (-1, -0.5, 10**400, -(10**400), Fraction(10**400), PROBLEM, None, np.array([1.0, 2.0]))
OPTIONAL = {("prove_optimum", "offset"), ("prove_every_dimension", "least_window")} | {
    ("prove_window", name) for name in ("least_lambda", "least_tokens")
}
"""Arguments that may be None."""
EXTREME = (0, -0.0, 1e308, 1e-308, 5e-324, 1e100, 1e-100, 2, np.float64(3), np.float32(3), np.int64(3), Fraction(1, 3))
"""Numbers that may be refused or not."""


@cache
def valid(name: str) -> dict[str, Any]:
    theorem = {"theorem": proofs.prove_window(Affine(), 3)} if name == "prove_transfer" else {}
    return VALID[name] | theorem


def outcome(name: str, **changed: Any) -> str:
    """What a function says of these arguments: one line, and no error but those of this library."""
    try:
        return str(getattr(proofs, name)(**valid(name) | changed).statement)
    except (InvalidInput, OutOfReach) as error:
        said = f"{type(error).__name__}: {error}"
        assert "\n" not in said
        return said


def test_every_function_that_proves_is_here() -> None:
    assert {name for name in dir(proofs) if name.startswith("prove_")} == set(VALID)
    for name in VALID:
        assert {*valid(name)} == {*inspect.signature(getattr(proofs, name)).parameters}


@pytest.mark.parametrize(("name", "argument"), [(name, each) for name in VALID for each in VALID[name]])
def test_a_value_of_another_kind_is_refused_with_its_name(name: str, argument: str) -> None:
    kind = "" if (name, argument) == ("prove_rising", "first") else argument
    for value in (*NOTHING, *OTHERS.get(kind, NUMBERS)):
        if value is None and (name, argument) in OPTIONAL:
            continue
        said = outcome(name, **{argument: value})
        assert said.startswith("InvalidInput: "), (value, said)
        assert re.search(rf"\b{argument}\b", said), said
        assert len(said) < 400, said


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        pytest.param(name, each, marks=[pytest.mark.slow] if name in LONG else [])
        for name in VALID
        for each in VALID[name]
    ],
)
def test_a_number_of_any_size_ends_in_a_proof_or_in_one_line(name: str, argument: str) -> None:
    for value in EXTREME:
        assert len(outcome(name, **{argument: value})) < 800


@pytest.mark.parametrize("name", ["prove_optimum", "prove_falling", "prove_rising"])
@pytest.mark.parametrize(
    "change",
    [
        {"d": 10**6}, {"n": 1}, {"n": 1e30}, {"n": 10**30}, {"sigma": 0.0}, {"sigma": 1e300}, {"sigma": 1e100},
        {"sigma": 1e10}, {"sigma": 5e-324}, {"sigma": 1e-100}, {"law": Affine(L=1e100)}, {"law": Affine(L=1e-100)},
        {"law": Affine(L=0.0)}, {"law": Cosine(L=1e5)}, {"law": Matern()}, {"law": Affine() + ReLU()},
        {"law": Zonal(spectrum=(0.0,) + 450 * (0.001,))},
    ],
    ids=str,
)  # fmt: skip
def test_an_extreme_problem_ends_in_a_proof_or_in_one_line(name: str, change: dict[str, Any]) -> None:
    problem = PROBLEM.replace(**change)
    rest = {"offset": None} if name == "prove_optimum" else {}
    start = process_time()
    said = outcome(name, problem=problem, **rest)
    assert process_time() - start < 10
    assert said.startswith(("InvalidInput", "OutOfReach")) or problem.sigma < 1 or name == "prove_rising"


@pytest.mark.parametrize("name", ["prove_optimum", "prove_falling", "prove_rising"])
def test_a_problem_beyond_the_sphere_is_refused(name: str) -> None:
    """No theorem is about other covariates, and the file of a proof does not say which ones it is about."""
    elsewhere = PROBLEM.replace(covariates=Ellipsoid([4, 1, 1]))
    assert outcome(name, problem=elsewhere).startswith("InvalidInput: a proof about one problem needs tokens on the")


def test_an_empty_range_is_refused() -> None:
    assert outcome("prove_rising", first=24.0, second=12.0).startswith("OutOfReach")
    assert outcome("prove_rising", first=12.0, second=12.0).startswith("OutOfReach")
    assert outcome("prove_not_isotropic", stop=1.0).startswith("OutOfReach")
    assert outcome("prove_aligned", k=2).startswith("InvalidInput: k = 2: a whole number from 1 to 1")
    assert outcome("prove_tradeoff", ratio=1.0).startswith("InvalidInput: ratio = 1.0")


NUMPY = np.float64(0.5)
SOME: Any = np.array([0, 1, 2])


@pytest.mark.parametrize(
    ("law", "plain"),
    [
        (Ridge(Kinked(NUMPY, np.float64(1.0)), kinks=(0.0,)), Ridge(Kinked(0.5, 1.0), kinks=(0.0,))),
        (Ridge(Powers(SOME)), Ridge(Powers((0.0, 1.0, 2.0)))),
        (Ridge(Pieces((NUMPY,), ((1,), (0,))), jumps=(0.5,)), Ridge(Pieces((0.5,), ((1,), (0,))), jumps=(0.5,))),
        (Matern(nu=np.float64(1.5), length=NUMPY, variance=NUMPY), Matern(nu=1.5, length=0.5, variance=0.5)),
        (RBF(length=NUMPY), RBF(length=0.5)),
        (Cosine(L=NUMPY), Cosine(L=0.5)),
        (Zonal(spectrum=SOME), Zonal(spectrum=(0.0, 1.0, 2.0))),
        (Zonal(variogram=Rough(NUMPY)), Zonal(variogram=Rough(0.5))),
    ],
    ids=repr,
)
def test_a_law_of_numpy_numbers_is_that_of_python_numbers(law: Law, plain: Law) -> None:
    assert outcome("prove_envelope", law=law, least_w=1e4) == outcome("prove_envelope", law=plain, least_w=1e4)
    assert "<= n N / (sigma^2 w^1) <=" in outcome("prove_envelope", law=law, least_w=1e4)


@pytest.mark.parametrize("s", [0.5 + 1e-12, 0.3, 0.25000001])
def test_a_variogram_of_nearly_a_known_order_is_refused(s: float) -> None:
    """The theorem would be about another law."""
    assert outcome("prove_envelope", law=Zonal(variogram=Rough(s))).startswith(f"OutOfReach: s = {s!r}")


@cache
def theorem(name: str) -> Any:
    return proofs.prove_envelope(ReLU(), 3, least_w=1000.0) if name == "envelope" else load(PROOFS / f"{name}.json")


PROOFS = shipped() / "proofs"
QUESTIONS: dict[tuple[str, str], dict[str, Any]] = {
    **{("affine-3", method): {"n": 1e12, "L": 1.0, "sigma": 1.0} for method in ("covers", "window")},
    ("cosine-3", "window"): {"n": 1e12, "L": 1.0, "sigma": 1.0},
    **{
        ("every-affine-3", method): {"n": 10, "L": 1.0, "sigma": 1.0}
        for method in ("covers", "window", "least", "scale")
    },
    ("dimensions-affine", "multiples"): {"d": 3},
    **{("dimensions-affine", method): {"d": 3, "n": 1e13, "L": 1.0, "sigma": 1.0} for method in ("covers", "window")},
    ("envelope", "covers"): {"n": 1e9, "w": 2000.0},
    ("envelope", "noise"): {"n": 1e9, "w": 2000.0, "sigma": 1.0},
    ("envelope", "bias"): {"n": 1e9, "w": 2000.0, "L": 1.0},
}
"""Questions that each theorem answers."""


@pytest.mark.parametrize(
    ("name", "method", "argument"), [(*place, each) for place, given in QUESTIONS.items() for each in given]
)
def test_a_theorem_answers_about_finite_numbers_and_refuses_all_else(name: str, method: str, argument: str) -> None:
    ask, given = getattr(theorem(name), method), QUESTIONS[name, method]
    assert np.all(np.isfinite(ask(**given)))
    for value in (*NOTHING, 10**400, Fraction(10**400)):
        with pytest.raises(InvalidInput, match=rf"^{argument} = ") as raised:
            ask(**given | {argument: value})
        assert "\n" not in str(raised.value)
    for value in (0, -1, *EXTREME):
        with suppress(InvalidInput, OutOfReach):
            assert np.all(np.isfinite(ask(**given | {argument: value})))
