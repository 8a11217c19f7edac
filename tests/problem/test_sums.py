"""Sums, multiples and mixtures of laws, and laws as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms, optimal_window
from lipverify.errors import InvalidInput
from lipverify.laws import (
    RBF,
    Affine,
    Cosine,
    Law,
    Linear,
    Quadratic,
    ReLU,
    Ridge,
    Sampled,
    Sum,
    Zonal,
    law_named,
    mixture,
)
from lipverify.problem.written import law_written  # internal: laws as text, and back
from tests.commands import Commands
from tests.strategies import target

CLOSED = (Affine(L=2.0), Linear(L=0.5), ReLU(L=1.5), Cosine(L=3.0), Quadratic(), Zonal(spectrum=(0.1, 0.5, 0.2)))


def terms(law: Law, d: int = 3, n: float = 40, w: Any = 4.0, **how: Any) -> Any:
    return loss_terms(Problem(d=d, n=n, law=law), w, **how)


def missed(one: Any, other: Any) -> float:
    """The difference of the biases in units of the sum of both errors."""
    return float(np.max(abs(one.bias - other.bias) / (one.bias_error + other.bias_error)))


@settings(max_examples=6, deadline=None)
@given(st.sampled_from(CLOSED), st.sampled_from(CLOSED), st.integers(2, 6), st.floats(0.1, 3.0))
@example(ReLU(), ReLU(), 3, 2.0)
def test_the_bias_of_a_sum_is_that_of_its_covariance(one: Law, other: Law, d: int, factor: float) -> None:
    law = factor * one + other
    by_parts, whole = terms(law, d), terms(Zonal(law.covariance(d)), d)
    target(missed(by_parts, whole))
    assert missed(by_parts, whole) <= 1
    wrong = terms(Sum(((factor, one), (1.0, other))), d)  # the factor in place of its square
    assert factor in (0.0, 1.0) or abs(factor - 1) < 1e-3 or missed(wrong, whole) > 1


@pytest.mark.parametrize("law", [ReLU() + 2 * Cosine(L=3.0), mixture({Cosine(L=2.0): 0.5, Quadratic(): 0.5})])
def test_a_sum_is_sampled_as_it_is_computed(law: Sum) -> None:
    exact, sampled = terms(law), terms(law, method="montecarlo", contexts=4000)
    assert missed(exact, sampled) <= 2
    assert float(sampled.bias_error) < 0.1 * float(exact.bias)
    assert missed(terms(2 * law), sampled) > 2


def test_a_sum_of_functions_that_are_drawn_whole_has_the_loss_of_the_sum() -> None:
    def both(rng: Any, contexts: int, d: int) -> Any:
        p, q = (rng.standard_normal((contexts, 1, d)) for _ in range(2))
        p, q = (each / np.linalg.norm(each, axis=-1, keepdims=True) for each in (p, q))
        return lambda x: 2 * np.cos(3 * (p * x).sum(axis=-1)) + ((q * x).sum(axis=-1)) ** 2

    whole = terms(Sampled(both, extent=5.0), method="montecarlo", contexts=20_000)
    assert missed(terms(2 * Cosine(L=3.0) + Quadratic()), whole) <= 2
    assert missed(terms(Cosine(L=3.0) + Quadratic()), whole) > 2


def test_closed_covariances_are_those_of_the_links() -> None:
    for law, d in ((Affine(), 2), (ReLU(), 3), (Cosine(L=3.0), 7), (Quadratic(), 2), (Cosine(L=3.0), 2)):
        assert missed(terms(law, d, route="ridge"), terms(Zonal(law.covariance(d)), d)) <= 1
    with pytest.raises(InvalidInput, match="no closed form"):
        Ridge(np.tanh).covariance(3)


def test_sums_are_simplified() -> None:
    assert -2 * ReLU(L=1.5) == ReLU(L=3.0)
    assert 2 * RBF(length=0.5, variance=1.5) == RBF(length=0.5, variance=6.0)
    assert (ReLU() + Affine()) + Cosine() == ReLU() + (Affine() + Cosine())
    assert (0 * Cosine()).constant
    assert float(terms(0 * Cosine()).bias) == 0.0
    assert optimal_window(Problem(d=3, n=40, law=Affine() + 0 * Cosine())).w == pytest.approx(
        optimal_window(Problem(d=3, n=40, law=Affine())).w, rel=1e-7
    )


def test_a_law_and_a_number_have_no_sum() -> None:
    with pytest.raises(TypeError):
        ReLU() + 1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("relu + 2*cosine(3)", ReLU() + 2 * Cosine(L=3.0)),
        ("-0.5*quadratic(L=4)", Quadratic(L=2.0)),
        ("relu(2) + zonal(0, 1)", ReLU(L=2.0) + Zonal(spectrum=(0.0, 1.0))),
        ("kinked(-0.5, 0.5)", law_written("kinked(-0.5, 0.5)")),
    ],
)
def test_a_law_is_read_from_its_text(text: str, law: Law) -> None:
    assert law_written(text) == law
    assert law_named(text if "(" in text else f"({text})") == law


@pytest.mark.parametrize(
    "text",
    ["", "2", "relu +", "relu(1, 2)", "__import__('os')", "relu.name", "relu**2", "relu - affine", "power(0)",
     "wave(-1)", "kinked()", "kinked(2)", "zonal(-1)", "series()",
     "(" * 400, "relu+" * 400 + "relu", "cosine(True)", "power(2.5)"],
)  # fmt: skip
def test_an_invalid_text_of_a_law_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        law_written(text)
    assert "\n" not in str(refused.value)


LAWS_FILE = """
import numpy as np
from lipverify.laws import Cosine, ReLU, Ridge
both = 2 * Cosine(L=3.0) + ReLU()
number = 3
def steep(L):
    return Ridge(lambda z: np.tanh(L * z))
"""


def test_the_command_line_takes_a_law_of_a_file(lipverify: Commands, tmp_path: Path) -> None:
    path = tmp_path / "my.py"
    path.write_text(LAWS_FILE)

    def loss(law: str, *more: str) -> Any:
        return lipverify("loss", "--d", "3", "--n", "40", "--w", "4", "--law", law, *more, "--json")

    same = [loss(f"{path}:both").stdout, loss("2*cosine(3) + relu").stdout]
    assert same[0] == same[1] != ""
    assert loss(f"{path}:steep", "--L", "2").stdout != loss(f"{path}:steep").stdout != ""
    for law, says in (("nix", "its laws are both, steep."), ("number", "must be a law"), ("both", "leave out --L")):
        done = loss(f"{path}:{law}", "--L", "2")
        assert done.returncode == 2
        assert says in done.stderr
        assert done.stderr.count("\n") == 1
    assert "law file = 'missing.py': cannot be read" in loss("missing.py:both").stderr
    path.write_text(LAWS_FILE + "\n1 / 0\n")
    assert "my.py:9: ZeroDivisionError" in loss(f"{path}:both").stderr


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("relu + 2*cosine(3", r"'relu \+ 2\*cosine\(3' \('\(' was never closed.*: a law is written as"),
        ("cosine(3))", r"'cosine\(3\)\)' \(unmatched '\)'.*: a law is written as"),
        ("cosine(3]", r"'cosine\(3\]' \(closing parenthesis '\]'.*: a law is written as"),
        ("relu + matern(1)", "nu = 1"),
    ],
)
def test_what_is_wrong_in_a_text_is_named(text: str, fault: str) -> None:
    with pytest.raises(InvalidInput, match=fault):
        law_written(text)
