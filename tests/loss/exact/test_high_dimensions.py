"""Stated errors hold in high dimensions, where gamma ratios, powers of the density and weights round the most."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from lipverify import Problem, loss_terms
from lipverify.foundation.sphere import LARGEST_EXACT, half_beta  # internal: compared with Arb
from lipverify.laws import Affine, Cosine, Law, LowRank, Quadratic, ReLU
from lipverify.loss.block import block_terms
from lipverify.loss.exact import spectrum_of
from lipverify.loss.exact.zonal import sums  # internal: a rounding error is injected there
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
LAWS: dict[str, Law] = {"affine": Affine(), "quadratic": Quadratic(), "relu": ReLU(), "cosine": Cosine(L=2.0)}
ROUTES = ("ridge", "zonal")
DIGITS = 17
"""A ball of 10^-17 is more accurate than any double: the difference is the error of the route."""


def worst(d: int, n: int, w: float, law: Law, route: Any) -> float:
    """The larger of true error / claimed error of both terms, by balls."""
    problem = Problem(d=d, n=n, law=law, sigma=0.7)
    terms, balls = loss_terms(problem, w, route=route), loss_terms(problem, w, method="certified", digits=DIGITS)
    ratios = []
    for term in ("bias", "noise"):
        value, error = float(getattr(terms, term)), float(getattr(terms, f"{term}_error"))
        truth, radius = float(getattr(balls, term)), float(getattr(balls, f"{term}_error"))
        assert 0 < error < 1e-8 * value, "an error this large would cover anything"
        ratios.append((abs(value - truth) - radius) / error)
    return max(ratios)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    ("law", "d", "n", "w"),
    [
        ("relu", 560, 1000, 0.0),
        ("quadratic", 867, 100, 0.1),
        ("relu", 1000, 1, 0.5),
        ("relu", 166, 10**6, 1.0),
        ("affine", 948, 50, 2.0),
        ("cosine", 867, 10**4, 0.3),
    ],
)
def test_known_cases_are_within_their_errors(law: str, d: int, n: int, w: float, route: str) -> None:
    assert worst(d, n, w, LAWS[law], route) <= 1


@example(law="relu", route="ridge", d=1000, n=10**12, w=3.0)
@settings(max_examples=20, deadline=None)
@given(
    law=st.sampled_from(sorted(LAWS)),
    route=st.sampled_from(ROUTES),
    d=st.integers(2, 1000),
    n=st.integers(1, 10**12),
    w=st.one_of(st.just(0.0), log_floats(1e-3, 3.0)),
)
def test_every_dimension_is_within_its_error(law: str, route: str, d: int, n: int, w: float) -> None:
    assume(n > 50 or law != "relu")  # a ball of the relu law takes long where windows hold few tokens
    ratio = worst(d, n, w, LAWS[law], route)
    target(ratio, label="true error / claimed error")
    assert ratio <= 1


def test_logarithms_of_gamma_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def rounded(m: int) -> float:
        return math.sqrt(math.pi) * math.exp(float(gammaln(m / 2) - gammaln((m + 1) / 2)) + 8 * EPS * m * math.log(m))

    monkeypatch.setattr(sums, "half_beta", rounded)
    assert worst(867, 100, 0.1, Quadratic(), "zonal") > 1


@given(m=st.one_of(st.integers(1, 2000), st.integers(LARGEST_EXACT - 50, LARGEST_EXACT + 50), st.just(10**7)))
def test_beta_of_a_half_is_rounded_a_few_times(m: int) -> None:
    with ctx.workprec(200):
        truth: Any = (arb(1) / 2).gamma() * (arb(m) / 2).gamma() / (arb(m + 1) / 2).gamma()
        off = abs(float(half_beta(m) / truth - 1))
    target(off / EPS)
    # two roots, a sum, and two quotients, or fewer
    assert off <= 3 * EPS


@given(d=st.integers(2, 1000), L=log_floats(1e-3, 300.0))
def test_the_harmonics_of_a_cosine_sum_to_its_variance(d: int, L: float) -> None:
    spectrum = spectrum_of(Cosine(L=L), d, 64)
    with ctx.workprec(4000):
        # E cos(c z) = Gamma(d/2) (2/c)^{d/2-1} J_{d/2-1}(c), and Var cos(L z) = (1 + E cos(2 L z)) / 2 - (E cos L z)^2
        once, twice = (
            (arb(d) / 2).gamma() * (2 / arb(c)) ** (arb(d) / 2 - 1) * arb(c).bessel_j(arb(d) / 2 - 1)
            for c in (arb(L), 2 * arb(L))
        )
        truth = (1 + twice) / 2 - once**2
        off = abs(float((spectrum.total - truth) / truth))
    allowed = float(np.sum(spectrum.error)) / spectrum.total + spectrum.k.size * EPS
    target(off / allowed)
    assert off <= allowed


@example(d=300, k=1, n=1000, c=5.0)
@example(d=1000, k=1, n=100, c=0.1)
@settings(max_examples=10, deadline=None)
@given(d=st.integers(2, 1000), k=st.integers(1, 50), n=st.integers(2, 10**9), c=log_floats(0.01, 10.0))
def test_the_reduction_of_low_rank_is_within_its_error(d: int, k: int, n: int, c: float) -> None:
    k = min(k, d)
    reduced = block_terms(Problem(d=d, n=n, law=LowRank(np.eye(d)[:, :k])), c, c)
    full = loss_terms(Problem(d=d, n=n, law=Affine(L=math.sqrt(3.0))), c)
    # with one scale every direction is alike, and E (a^T B^T x)^2 = 1/d as for the affine law of L^2 = 3
    ratio = max(
        abs(float(getattr(reduced, term) - getattr(full, term)))
        / float(getattr(reduced, f"{term}_error") + getattr(full, f"{term}_error"))
        for term in ("bias", "noise")
    )
    target(ratio, label="true error / claimed error")
    assert ratio <= 1


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("d", [100_000, 220_000, 300_000, 1_000_000])
def test_a_small_window_parameter_leaves_the_loss_of_none(law: str, d: int) -> None:
    """|B(w) - B(0)| <= 2 w B(0) / d^{1/2} or so: here all of a context lies within a hundredth of the equator."""
    problem = Problem(d=d, n=1000, law=LAWS[law])
    small, none = loss_terms(problem, 1e-3), loss_terms(problem, 0.0)
    assert abs(small.bias - none.bias) <= small.bias_error + none.bias_error + 1e-5 * none.bias
