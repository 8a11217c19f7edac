"""The window theorem compared with the optimal w of the exact method, and with the derived constants."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lipverify as lv
from lipverify.errors import OutOfReach
from lipverify.laws import RBF, Affine, Cosine, Law, Quadratic, ReLU, Ridge, Zonal
from lipverify.proofs import (
    Fact,
    Kinked,
    Powers,
    Theorem,
    checker,
    prove_every_dimension,
    prove_tradeoff,
    prove_transfer,
    prove_window,
)
from tests.proofs.controls import changed, every_control_is_rejected, window_lies_between
from tests.strategies import target

LAWS: dict[str, Callable[..., Affine | Quadratic | ReLU]] = {"affine": Affine, "quadratic": Quadratic, "relu": ReLU}


@cache
def theorem(law: str, d: int, W: float) -> Theorem:
    power = (d - 1) / 2 + (1.5 if law == "relu" else 2)
    return prove_window(LAWS[law](), d, least_lambda=W**power)


@settings(deadline=None, max_examples=12)
@given(
    st.sampled_from(sorted(LAWS)),
    st.sampled_from((2, 3, 5, 8)),
    st.sampled_from((1e3, 1e4, 1e5)),
    st.floats(0, 8),
    st.floats(0, 3),
)
def test_the_optimal_window_lies_between_the_proved_lines(
    law: str, d: int, W: float, more: float, noisier: float
) -> None:
    """At every Lambda beyond the least, and from the largest L / sigma that is covered to a thousandth of it."""
    proved = theorem(law, d, W)
    lam = proved.least_lambda * 10**more * (1 + 1e-9)
    W = lam**proved.exponent
    n = math.ceil(
        proved.least_tokens * W ** (proved.noise_power + max(proved.beta, 1.0) - 1) * 10**noisier * (1 + 1e-9)
    )
    assume(n <= 1e30)
    sigma = 1 / math.sqrt(lam / n)
    assume(proved.covers(n, 1.0, sigma))
    found = lv.optimal_window(lv.Problem(d=d, n=n, law=LAWS[law](), sigma=sigma))
    low, high = proved.window(n, 1.0, sigma)
    assert low - found.w_error < found.w < high + found.w_error
    least, most = (bound * W**-proved.beta for bound in ends(proved.fact("loss")))
    assert least - found.loss_error < found.loss < most + found.loss_error
    target(abs(math.log(found.w / math.sqrt(low * high))) / math.log(high / low))


def test_without_enough_tokens_the_window_leaves_the_lines() -> None:
    """The reason why least_tokens counts tokens divided by W^{beta-1}: a hundred tokens in a window and hardly any
    noise.
    """
    proved = theorem("affine", 8, 1e4)
    W = 1e4
    n = round(100 * W**proved.noise_power)
    lam = W ** (1 / proved.exponent)
    found = lv.optimal_window(lv.Problem(d=8, n=n, law=Affine(), sigma=1 / math.sqrt(lam / n)))
    assert not proved.covers(n, 1.0, 1 / math.sqrt(lam / n))
    assert found.w < 0.75 * proved.low * W


def ends(fact: Fact) -> tuple[float, float]:
    return float(fact.low), float(fact.high)


@pytest.mark.parametrize("law", sorted(LAWS))
@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_proved_bounds_tend_to_the_derived_constant(law: str, d: int) -> None:
    proved = [theorem(law, d, W) for W in (1e4, 1e5, 1e6)]
    ratios = [each.high / each.low for each in proved]
    assert ratios[0] > ratios[1] > ratios[2] > 1
    assert ratios[2] < 1.04
    derived = float(lv.leading(LAWS[law](), d).window_constant)
    low, high = ends(proved[0].fact("limit"))
    assert low <= derived * (1 + 1e-12)
    assert derived <= high * (1 + 1e-12)
    assert high / low < 1 + 1e-10
    assert all(each.low < derived < each.high for each in proved)


@pytest.mark.parametrize("L", [0.5, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("d", [2, 3, 8])
def test_the_cosine_law_at_each_L(d: int, L: float) -> None:
    proved = prove_window(Cosine(L=L), d)
    assert "for all n and all sigma > 0 with" in proved.statement
    n = proved.least_lambda * 2 / L**2
    assert proved.covers(n)
    assert proved.high / proved.low < 1.15
    found = lv.optimal_window(lv.Problem(d=d, n=round(n), law=Cosine(L=L), sigma=1.0))
    low, high = proved.window(round(n))
    assert low < found.w < high


@pytest.mark.parametrize("law", ["affine", "relu"])
@pytest.mark.parametrize("ratio", [0.2, 1 / 3, 1.0, 3.0, 7.0])
def test_the_loss_of_another_constants_w_is_within_the_proved_bounds(law: str, ratio: float) -> None:
    # internal: the loss of a window elsewhere, which the theorem bounds
    from lipverify.optimum.transfer import transferred_loss

    proved = prove_transfer(theorem(law, 3, 1e4), ratio)
    n = round(proved.least_lambda * max(1, ratio**-2) * 4)
    assert proved.covers(n, 1.0)
    assert proved.covers(n, ratio)
    tuned, own = (lv.optimal_window(lv.Problem(d=3, n=n, law=LAWS[law](L=L), sigma=1.0)) for L in (1.0, ratio))
    away, _ = transferred_loss(tuned, lv.Problem(d=3, n=n, law=LAWS[law](L=ratio), sigma=1.0))
    low, high = ends(proved.fact("cost"))
    assert low - 1e-9 <= away / own.loss <= high + 1e-9
    assert high / low < 1.6  # the ratio of high to low at this least_lambda, to the powers a and -beta


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(
    st.sampled_from((2, 3, 5)),
    st.lists(st.floats(0, 2), min_size=1, max_size=3).filter(lambda each: sum(each) > 0.1),
    st.floats(0, 6),
)
def test_a_law_by_its_spectrum_has_its_window_between_the_lines(d: int, spectrum: list[float], more: float) -> None:
    law = Zonal(spectrum=(1.0, *spectrum))
    least = 1e5 ** ((d + 3) / 2)
    try:
        prove_window(law, d, least_lambda=least)
    except OutOfReach:
        assume(False)
    window_lies_between(law, d, more, least)


def test_the_affine_law_by_its_spectrum_has_the_same_theorem() -> None:
    one, other = prove_window(Zonal(spectrum=(0.0, 1 / 9)), d=3), prove_window(Affine(), d=3)
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)


def test_the_factor_of_a_law_by_its_spectrum_is_free() -> None:
    proved = prove_window(Zonal(spectrum=(0.0, 1.0, 0.5)), d=3)
    n, L = 1e10, 10.0
    assert proved.window(n, L) == pytest.approx(proved.window(n * L**2))
    assert prove_transfer(proved, 2.0).fact("cost").low > 1


@pytest.mark.parametrize("d", [2, 3, 6])
def test_declared_laws_have_the_theorems_of_those_that_they_are(d: int) -> None:
    cubic = {1: 1.0 + 0.3 * 3 / (d + 2), 3: 0.3 * (d - 1) / (d + 2)}  # t + 0.3 t^3 in P_1 and P_3
    for one, other in (
        (Ridge(Powers((5.0, 0.0, 1.0))), Quadratic()),
        (Ridge(Powers((0.0, 1.0))), Zonal(spectrum=(0.0, 1 / d))),
        (Zonal(Powers((7.0, 1.0))), Zonal(spectrum=(0.0, 1.0))),
        (Zonal(Powers((0.0, 1.0, 0.0, 0.3))), Zonal(spectrum=(0.0, cubic[1], 0.0, cubic[3]))),
        (Ridge(abs, kinks=(0.0,)), Ridge(Kinked(-1.0, 1.0), kinks=(0.0,))),
    ):
        first = prove_window(one, d)
        second = prove_window(other, d)
        assert (first.low, first.high) == pytest.approx((second.low, second.high), rel=1e-6)


def test_half_a_line_is_relu_with_another_factor() -> None:
    """Its parts are 1/4 each, those of ReLU 1/6: the square of L is 3/2 times as large."""
    one, other = prove_window(Ridge(Kinked(0.0, 1.0), kinks=(0.0,)), d=3), prove_window(ReLU(), d=3)
    assert float(one.fact("limit").low) == pytest.approx(float(other.fact("limit").low) * 1.5**other.exponent, rel=1e-9)


@pytest.mark.parametrize(
    ("law", "d"),
    [
        (Ridge(Kinked(0.1, 1.0), kinks=(0.0,)), 2),
        (Ridge(abs, kinks=(0.0,)), 2),
        *((law, d) for law in (Ridge(Powers((0.0, 1.0, 2.0))), RBF(length=0.7)) for d in (2, 3)),
    ],
    ids=str,
)
def test_a_declared_law_has_its_window_between_the_lines(law: Law, d: int) -> None:
    # for covariances the exact method computes w* only where the window is wider
    W, beta = 1e3 if isinstance(law, Zonal) else 1e4, 1.5 if getattr(law, "kinks", ()) else 2.0
    window_lies_between(law, d, math.log10(1.1), W ** ((d - 1) / 2 + beta))


@pytest.mark.parametrize("d", [20, 30])
@pytest.mark.parametrize("law", sorted(LAWS))
def test_many_dimensions_are_reached(law: str, d: int) -> None:
    proved = prove_window(LAWS[law](), d, least_lambda=(1e4 if d == 20 else 1e5) ** ((d - 1) / 2 + 2))
    assert 0.5 < proved.low / proved.fact("limit").low < 1 < proved.high / proved.fact("limit").high < 2


@settings(deadline=None, max_examples=12)
@given(st.sampled_from(sorted(LAWS)), st.sampled_from((2, 3, 5, 8)), st.floats(0, 4), st.floats(0, 3))
def test_the_noise_rises_and_the_bias_falls_as_is_proved(law: str, d: int, wider: float, more: float) -> None:
    proved = prove_tradeoff(LAWS[law](), d, least_w=1500.0)
    w = proved.least_w * 10 ** (wider / 2) * (1 + 1e-12)
    n = math.ceil(proved.constants["K"] * (2 * w) ** (proved.noise_power + proved.beta - 1) * 10**more * (1 + 1e-9))
    assume(n <= 1e30)
    terms = lv.loss_terms(lv.Problem(d=d, n=n, law=LAWS[law](), sigma=1.0), [w, 2 * w])
    near = []
    for (low, high), values in ((ends(proved.fact("noise")), terms.noise), (ends(proved.fact("bias")), terms.bias)):
        quotient = float(values[1] / values[0])
        assert low * (1 - 1e-9) <= quotient <= high * (1 + 1e-9)
        near += [low / quotient, quotient / high]
    target(max(near))


def test_every_control_of_the_tradeoff_is_rejected() -> None:
    proved = prove_tradeoff(ReLU(), d=3)
    every_control_is_rejected(proved.data)
    assert checker.failures(changed(proved.data, -1, "rho", "1"))


@pytest.mark.parametrize("W", [1e30, 1e300])
def test_a_range_is_proved_where_the_last_bits_of_its_number_count(W: float) -> None:
    """The search once had other balls of such numbers than the checker, which then refused its bounds."""
    assert prove_every_dimension(Affine(), least_window=W).failures() == []
