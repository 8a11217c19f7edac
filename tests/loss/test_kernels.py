"""Attention with other kernels, compared with softmax's own routes, sampling and closed forms; and refusals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.attention import Box, Epanechnikov, Kernel, NormalisedLinear, Rational
from lipverify.errors import OutOfReach
from lipverify.laws import Affine, Linear, ReLU
from lipverify.loss.methods import instead_of_exact  # internal: the route that the exact method takes
from tests.strategies import log_floats, target


@dataclass(frozen=True)
class Exponential(Kernel):
    """Softmax, as a user's kernel; `rate` is 1 unless a fault is requested."""

    rate: float = 1.0

    def weight(self, u: Any, w: float) -> Any:
        return np.exp(-self.rate * u)


KERNELS = st.one_of(
    st.just(Box()), st.just(Epanechnikov()), st.builds(Rational, log_floats(0.2, 20)), st.just(Exponential())
)


def worst(one: Any, other: Any) -> float:
    """The distance of two records in units of the sum of their errors."""
    pairs = [
        (getattr(each, name), getattr(each, f"{name}_error")) for each in (one, other) for name in ("bias", "noise")
    ]
    ratios = [abs(a - b) / (e + f) for (a, e), (b, f) in zip(pairs[:2], pairs[2:], strict=True)]
    return float(np.max(ratios))


@settings(max_examples=40, deadline=None)
@given(
    d=st.integers(2, 40),
    n=st.one_of(st.integers(1, 30), log_floats(1, 1e30).map(round)),
    w=st.one_of(st.just(0.0), log_floats(1e-6, 1000)),
    law=st.sampled_from([Affine(L=2.0), Linear()]),
)
def test_the_exponential_kernel_is_softmax(d: int, n: int, w: float, law: Any) -> None:
    problem = Problem(d=d, n=n, law=law, sigma=1.0)
    try:
        found = loss_terms(problem, w, attention=Exponential())
    except OutOfReach:  # so few tokens in a window that weights differ by powers of ten
        assert w > 10
        return
    ratio = worst(found, loss_terms(problem, w))
    target(ratio)
    assert ratio <= 1


def test_a_fault_is_seen() -> None:
    problem = Problem(d=3, n=20, law=Affine(), sigma=1.0)
    assert worst(loss_terms(problem, 3.0, attention=Exponential(1.0001)), loss_terms(problem, 3.0)) > 1e6


@settings(max_examples=25, deadline=None)
@given(kernel=KERNELS, d=st.integers(2, 8), n=st.integers(1, 40), w=log_floats(1e-3, 30))
def test_quadrature_and_sampling_agree(kernel: Kernel, d: int, n: int, w: float) -> None:
    problem = Problem(d=d, n=n, law=Affine(), sigma=1.0)
    try:
        exact = loss_terms(problem, w, attention=kernel)
    except OutOfReach:  # so few tokens in a window that weights differ by powers of ten
        assert w > 10
        return
    drawn = loss_terms(problem, w, "montecarlo", attention=kernel, contexts=2000, stream=f"{kernel}/{d}/{n}/{w}")
    ratio = worst(exact, drawn)
    target(ratio)
    assert ratio <= 1.5  # a 95 % interval, valid at every number of samples, in one of many examples
    assert drawn.bias_error <= 2.5
    assert drawn.noise_error <= 1


@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize("n", [1, 4, 10**6])
def test_a_box_counts_its_tokens(d: int, n: int) -> None:
    """E 1/m over the m > 0 tokens in the window, as a sum of the binomial law."""
    w = 3.0
    from scipy.special import betainc
    from scipy.stats import binom

    p = float(betainc((d - 1) / 2, (d - 1) / 2, 1 / (2 * w)))
    m = (
        np.arange(1, n + 1)
        if n < 10
        else np.arange(round(n * p - 40 * (n * p) ** 0.5), round(n * p + 40 * (n * p) ** 0.5))
    )
    known = float(np.sum(binom.pmf(m, n, p) / m))
    found = loss_terms(Problem(d=d, n=n, law=Linear(), sigma=1.0), w, attention=Box())
    assert found.noise == pytest.approx(known, rel=1e-9)
    assert found.noise_error < 1e-9 * known


def test_an_empty_window_misses_the_whole_task() -> None:
    """w large: no token is in the window, the prediction is 0 and the bias E f(x)^2 = 1/d."""
    for method in ("exact", "montecarlo"):
        found = loss_terms(Problem(d=5, n=3, law=Linear(), sigma=1.0), 1e5, method, attention=Epanechnikov())
        assert abs(found.bias - 0.2) <= found.bias_error + 1e-9
        assert found.noise <= found.noise_error + 1e-9


@pytest.mark.parametrize("d", [2, 5])
def test_positive_scores_over_their_sum_see_a_share_of_linear_tasks(d: int) -> None:
    """Many tokens: the average of x_i (1 + w t_i) is w x / d, and 1 for the sum: B = (1 - w/d)^2 / d."""
    for w in (0.0, 0.5, 0.99):
        found = loss_terms(Problem(d=d, n=1e25, law=Linear(), sigma=0.0), w, attention=NormalisedLinear())
        assert found.bias == pytest.approx((1 - w / d) ** 2 / d, rel=1e-9)


def test_other_laws_are_sampled() -> None:
    """A rational kernel of a large power is nearly softmax: e^{-u} within u^2 / (2 power)."""
    problem = Problem(d=3, n=10, law=ReLU(), sigma=1.0)
    found = loss_terms(problem, 1.0, "montecarlo", attention=Rational(1e6), contexts=20_000)
    assert worst(found, loss_terms(problem, 1.0)) <= 1.5
    with pytest.raises(OutOfReach, match="use method='montecarlo'"):
        loss_terms(problem, 1.0, attention=Rational(1e6))


def test_arrays_and_their_shapes() -> None:
    problem = Problem(d=3, n=10, law=Affine(), sigma=2.0)
    found = loss_terms(problem, [[0.5, 1.0], [2.0, 4.0]], attention=Box())
    assert found.bias.shape == found.noise_error.shape == (2, 2)
    assert found.noise[1, 0] == loss_terms(problem, 2.0, attention=Box()).noise
    assert loss_terms(problem, [], attention=Box()).bias.shape == (0,)


def test_weights_that_underflow_are_refused() -> None:
    problem = Problem(d=3, n=2, law=Linear(), sigma=1.0)
    for method in ("exact", "montecarlo"):
        with pytest.raises(OutOfReach, match="smaller w"):
            loss_terms(problem, 1e6, method, attention=Exponential())


def test_a_second_method_keeps_the_kernel() -> None:
    problem = Problem(d=3, n=9, law=Affine(), sigma=1.0)
    usual = loss_terms(problem, 2.0, attention=Box())
    with instead_of_exact("route zonal") as other:
        assert loss_terms(problem, 2.0, attention=Box()).noise == usual.noise
    assert other.used == 0
