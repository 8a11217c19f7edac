"""The library's boundary: an unanswerable question is refused in one line, and an answerable one is not changed."""

# mypy: disable-error-code="arg-type, return-value"
# the arguments here have the wrong type on purpose

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify import Problem, growth, leading, loss_terms, optimal_matrix, optimal_window, sensitivity
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import Affine, Cosine, LowRank, Quadratic, ReLU, Ridge, Zonal
from lipverify.loss.block import block_terms
from lipverify.loss.certified import CertifiedTerms
from lipverify.loss.methods import method_named
from lipverify.optimum import critical_radius, optimal_block, optimal_scale
from lipverify.scaling import growth_of

PROBLEM = Problem(d=2, n=10, law=Affine())
LOW_RANK = Problem(d=2, n=10, law=LowRank([[1.0], [0.0]]))


class Unprintable:
    """Its text is an error, and it has an unusual name."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


JUNK: dict[str, Any] = {
    "five": 5.5,
    "minus": -3,
    "text": "wide",
    "bytes": b"1",
    "none": None,
    "true": True,
    "nan": math.nan,
    "infinity": math.inf,
    "huge": 10**400,
    "longer than python prints": 10**5000,
    "complex": 1j,
    "ragged": [[1, 2], [3]],
    "mapping": {"d": 3},
    "type": complex,
    "unprintable": Unprintable(),
    "not a function of numbers": lambda *_: "wide",
    "array": np.full((40, 40), math.nan),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Problem": (Problem, {"d": 2, "n": 10, "law": Affine(), "sigma": 1.0}),
    "Affine": (Affine, {"L": 1.0}),
    "ReLU": (ReLU, {"L": 1.0}),
    "Cosine": (Cosine, {"L": 1.0}),
    "Quadratic": (Quadratic, {"L": 1.0}),
    "Ridge": (Ridge, {"link": np.sin, "kinks": (0.5,)}),
    "Zonal": (Zonal, {"K": lambda t: 1 + t}),
    "Zonal by its spectrum": (Zonal, {"spectrum": (0.0, 1.0)}),
    "LowRank": (LowRank, {"B": [[1.0], [0.0]]}),
    "exact": (loss_terms, {"problem": PROBLEM, "w": 1.0, "method": "exact", "route": "ridge"}),
    "certified": (loss_terms, {"problem": PROBLEM, "w": 1.0, "method": "certified", "digits": 5}),
    "asymptotic": (loss_terms, {"problem": PROBLEM, "w": 1.0, "method": "asymptotic"}),
    "montecarlo": (
        loss_terms,
        {
            "problem": PROBLEM,
            "w": 1.0,
            "method": "montecarlo",
            "M": np.eye(2),
            "attention": "softmax",
            "sampling": "full",
            "contexts": 64,
            "seed": 0,
            "backend": "numpy",
            "workers": 1,
            "progress": lambda done, wanted: None,
        },
    ),
    "optimal_window": (optimal_window, {"problem": PROBLEM}),
    "optimal_scale": (optimal_scale, {"problem": PROBLEM, "offset_variance": 0.1}),
    "sensitivity": (sensitivity, {"optimum": None}),
    "leading": (leading, {"law": Affine(), "d": 3}),
    "growth": (
        growth,
        {"quantity": math.sqrt, "start": 1.0, "stop": 1e6, "points": 8, "progress": lambda done, points: None},
    ),
    "growth_of": (growth_of, {"s": 10.0 ** np.arange(8), "values": np.ones(8), "errors": np.full(8, 1e-9)}),
    "block_terms": (block_terms, {"problem": LOW_RANK, "c": 1.0, "c_perp": 1.0}),
    "optimal_block": (optimal_block, {"problem": LOW_RANK, "C": 1.0}),
    "critical_radius": (critical_radius, {"problem": LOW_RANK, "most": 8.0}),
    "optimal_matrix": (
        optimal_matrix,
        {"problem": PROBLEM, "constraint": None, "attention": "softmax", "contexts": 640, "starts": 2, "seed": 0},
    ),
}


DEAR = ("critical_radius", "optimal_block", "optimal_matrix", "optimal_scale")
"""Seconds, if an argument happens to be an answerable question."""


@pytest.mark.parametrize("junk", sorted(JUNK))
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in DEAR)) for name in sorted(CALLS)]
)
def test_an_invalid_request_is_refused_in_one_line(name: str, junk: str) -> None:
    function, right = CALLS[name]
    for argument in right:
        if right[argument] is None and JUNK[junk] is None:
            continue
        try:
            function(**right | {argument: JUNK[junk]})
        except (InvalidInput, OutOfReach) as refusal:
            message = str(refusal)
            assert "\n" not in message, argument
            assert len(message) < 400, argument


@pytest.mark.parametrize(
    "call",
    [
        lambda: optimal_window(5),
        lambda: sensitivity(5),
        lambda: leading(5),
        lambda: growth(5, 1, 1e9),
        lambda: growth(lambda s: "wide", 1, 1e9),
        lambda: growth(lambda s: None, 1, 1e9),
        lambda: growth("wide", 1, 1e9),
        lambda: growth(math.sqrt, 1, 1e9, points=8.5),
        lambda: growth(math.sqrt, 1, 1e9, points=10**10),
        lambda: growth(math.sqrt, None, 1e9),
        lambda: growth(math.sqrt, 1, 10**400),
        lambda: growth(math.sqrt, 1, 1e9, progress=5),
        lambda: loss_terms(PROBLEM, 1.0, "montecarlo", M=[[1, 2], [3]]),
        lambda: loss_terms(PROBLEM, 1.0, "montecarlo", progress=5, contexts=64),  # type: ignore[call-overload]
        lambda: loss_terms(PROBLEM, "1.0"),
        lambda: loss_terms(PROBLEM, True),
        lambda: loss_terms(PROBLEM, 10**400),
        lambda: loss_terms(PROBLEM, 1.0, "montecarlo", xp=np, backend="numpy"),
        lambda: loss_terms(PROBLEM, 1.0, "montecarlo", device="cpu"),
        lambda: PROBLEM.replace(sigma=10**400),
        lambda: PROBLEM.replace(n=10**400),
        lambda: PROBLEM.replace(d=10**400),
        lambda: Affine(L=10**400),
        lambda: Ridge(lambda z: z * math.nan),
    ],
)
def test_known_cases_are_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        call()
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_the_error_of_a_users_function_keeps_its_traceback_and_names_the_point() -> None:
    def quantity(s: float) -> float:
        return 1 / abs(s - 100.0)

    with pytest.raises(ZeroDivisionError) as raised:
        growth(quantity, 1, 1e9, points=10)
    assert any("s = 100" in note for note in raised.value.__notes__)
    assert "1 / abs(s - 100.0)" in "".join(traceback.format_exception(raised.value))


@given(n=st.integers(2**53, 10**30))
def test_a_context_length_keeps_every_digit(n: int) -> None:
    assert Problem(d=3, n=n, law=Affine()).n == n
    assert Problem(d=3, n=np.float64(n), law=Affine()).n == float(n)


def test_balls_tell_context_lengths_apart_that_doubles_do_not() -> None:
    one, other = (loss_terms(Problem(d=3, n=n, law=Affine()), 1.0, "certified", digits=40) for n in (2**53, 2**53 + 1))
    assert isinstance(one, CertifiedTerms)
    assert isinstance(other, CertifiedTerms)
    assert one.noise_ball.item() != other.noise_ball.item()


@pytest.mark.parametrize("method", ["exact", "certified", "asymptotic", "montecarlo"])
def test_a_result_shares_no_memory_with_an_argument(method: str) -> None:
    w = np.array([50.0, 60.0])
    options: dict[str, Any] = {"contexts": 64} if method == "montecarlo" else {}
    terms = loss_terms(
        Problem(d=3, n=10**6 if method == "asymptotic" else 10, law=Affine()), w, method_named(method), **options
    )
    assert not np.shares_memory(terms.w, w)
    w[:] = 0
    assert terms.w.tolist() == [50.0, 60.0]
    empty = np.empty(0)
    assert not np.may_share_memory(loss_terms(PROBLEM, empty, "montecarlo").w, empty)
