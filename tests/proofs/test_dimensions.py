"""The window theorem in every dimension: its lemmas agree with Bessel functions and with sums over all tokens."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.laws import Affine, Law, Quadratic, ReLU
from lipverify.proofs import EveryDimension, prove_every_dimension, prove_window

# internal: the test compares each lemma of a proof file with Bessel functions
from lipverify.proofs.checker.every_dimension import ramp, sizes, smooth_laws

# internal: the form of a proof, of which a test changes parts
from lipverify.proofs.checker.kernel import form
from tests.proofs.controls import committed, every_control_is_rejected
from tests.reference import statements

LAWS: dict[str, Law] = {"affine": Affine(), "quadratic": Quadratic(), "relu": ReLU()}
SMOOTH = ("affine", "quadratic")
RANGES = ((1e4, 1e4), (1e3, 100.0))
"""W_least and K for smooth laws."""
CASES = (*((law, W, K) for law in SMOOTH for W, K in RANGES), ("relu", 1e6, 1e4), ("relu", 1e4, 1e4))


@cache
def proof(law: str, W: float | None = None, K: float = 1e4) -> EveryDimension:
    """The committed proof, or that of another range."""
    if W is None:
        return EveryDimension(committed(f"dimensions-{law}"))
    return prove_every_dimension(LAWS[law], least_window=W, least_tokens=K)


def known(law: str, W: float | None = None, K: float = 1e4) -> dict[str, Any]:
    return {"law": law, **{name: arb(text) for name, text in proof(law, W, K).stated.items()}}


@pytest.mark.parametrize("law", [*SMOOTH, pytest.param("relu", marks=pytest.mark.slow)])
def test_every_control_of_every_lemma_is_rejected(law: str) -> None:
    every_control_is_rejected(proof(law).data)


@pytest.mark.parametrize(("law", "W", "K"), CASES[:-2])
def test_the_evaluator_finds_it_true_at_its_border(law: str, W: float, K: float) -> None:
    """ReLU takes seconds, in the slow test below."""
    assert statements.wrong(proof(law, W, K).statement) == []


@pytest.mark.slow
@pytest.mark.parametrize(("law", "W", "K"), CASES)
def test_the_evaluator_finds_the_theorem_true_up_to_fifty_and_in_large_dimensions(
    law: str, W: float, K: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = (100, 399, 400, 401, 402, 1000, 3000)
    monkeypatch.setattr(statements, "DIMENSIONS", (*range(2, 51), *large) if law in SMOOTH else (*range(2, 14), *large))
    assert statements.wrong(proof(law, W, K).statement) == []


@pytest.mark.parametrize("law", [*SMOOTH, pytest.param("relu", marks=pytest.mark.slow)])
def test_the_evaluator_finds_false_statements_false(law: str) -> None:
    """The false statements have bounds on w* or the loss past the optimum, or formulas of another law or power."""
    said, k = proof(law).statement, {name: form.shown(Fraction(text)) for name, text in proof(law).stated.items()}
    other = {"affine": "quadratic", "quadratic": "affine", "relu": "affine"}[law]
    far = {"relu": 10.0}.get(law, 1.0)
    for wrong in (
        said.replace(k["low"], f"{1 + 0.003 * far}"),
        said.replace(k["high"], f"{1 - 0.003 * far}"),
        said.replace(k["loss_low"], f"{1 + 0.0004 * far}"),
        said.replace(k["loss_high"], f"{1 - 0.0004 * far}"),
        said.replace(sizes.LAWS[law].centre, sizes.LAWS[other].centre),
        said.replace(sizes.LAWS[law].loss, sizes.LAWS[other].loss),
        said.replace(law, other),
        said.replace(f"W >= {k['W_least']}, W >= {k['W_per_d']} d", "W >= 10, W >= 0.1 d"),
        said.replace("n >= 10000 W", "n >= 1 W") if law in SMOOTH else said.replace("W^(d/2)", "W^((d+1)/2)"),
        said.replace("W^2 /" if law in SMOOTH else "W^1.5 /", "W^1.7 /"),
    ):
        assert wrong != said
        assert any(statements.faults(wrong)), wrong
    if law == "quadratic":
        assert any(statements.faults(said.replace("over w >= 0", "over all real w")))


@pytest.mark.parametrize("d", [2, 3, 5, 8])
@pytest.mark.parametrize("law", SMOOTH)
def test_sums_in_logarithms_are_those_over_tokens(law: str, d: int) -> None:
    n, w = 10 ** (d + 6), 700.0
    N, B, *_ = statements.terms(law, d, n, w)
    assert statements.one_harmonic(law, d, math.log(n), w) == pytest.approx((N, B), rel=1e-11)


@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_two_lines_of_many_tokens_are_those_of_harmonics(d: int) -> None:
    n, w = 10 ** (d + 6), 300.0
    N, B, *_ = statements.terms("relu", d, n, w)
    assert statements.ramp(d, math.log(n), w) == pytest.approx((N, B), rel=1e-4)


@given(st.sampled_from((2, 3, 4, 5, 6, 7, 8, 9, 10, 30, 101, 1000)), st.floats(-6, 16))
def test_the_curves_hold_on_the_whole_ray(d: int, log_w: float) -> None:
    k, a, w = known("affine"), mpmath.mpf(d - 1) / 2, mpmath.exp(log_w)
    with mpmath.workdps(40):
        A = mpmath.besseli(mpmath.mpf(d) / 2, w) / mpmath.besseli(mpmath.mpf(d) / 2 - 1, w)
        D, alpha = w * (1 - A), (a * a - a) / 2
        gamma, over = float(k["gamma"]), float(k["over"])
        assert a - alpha / w - (alpha + gamma) / w**2 <= D
        assert w / (d + w) <= A
        if d > 2:
            assert a + 1e-30 >= D  # at d = 3 the difference is 2 w e^{-2w}, below rounding for large w
        elif w >= 2:
            assert 0.5 + 1 / (8 * w) + over / w**2 >= D


@settings(max_examples=8)
@given(st.sampled_from(sorted(LAWS)), st.floats(math.log(401), math.log(1e8)))
def test_the_common_bound_contains_the_centre_in_larger_dimensions(law: str, log_d: float) -> None:
    d = math.floor(math.exp(log_d))
    k = math.exp(statements.centre_and_unit(law, d)[0] / ((d - 1) / 2 + proof(law).beta))
    assert k * (1 + 1e-9) >= float(known(law)["kappa"]) * (d - 1) / 2
    with ctx.workprec(form.BITS):
        assert float(sizes.centre_of(law, arb(d))) == pytest.approx(k, rel=1e-9)


@pytest.mark.parametrize(("W", "K"), RANGES)
@pytest.mark.parametrize("law", SMOOTH)
def test_noise_and_bias_lie_beyond_their_bounds(law: str, W: float, K: float) -> None:
    """At the border of the range, for w = x w_1, in dimensions with their own ball and in those that share one."""
    k = known(law, W, K)
    with ctx.workprec(form.BITS):
        all_sizes = {size.d: size for size in sizes.sizes(k)}
        for d in (2, 3, 4, 7, 20, 50, 400, 401, 1500):
            size, a = all_sizes.get(d, all_sizes[0]), (d - 1) / 2
            U = float(smooth_laws.above(k, size).upper()) + 1 + 2 / a
            log_k = statements.centre_and_unit(law, d)[0] * 2 / (d + 3)
            log_W = math.log(max(W, 10 * d))
            log_n = max(math.log(K) + (a + 1) * log_W, math.log(1e3) + a * (math.log(4 / 3) + log_W))
            S1 = 1 / (3 * d) if law == "affine" else 8 / ((d - 1) * (d + 2))
            Q = S1 * a**2 * math.exp(-2 * (log_k + log_W))
            sigma_square = math.exp(log_n - (a + 2) * log_W)
            for x in (0.44, 0.6, 0.89, 0.91, 0.99, 1.0, 1.01, 1.1, 1.5):
                N, B = statements.one_harmonic(law, d, log_n, x * math.exp(log_k + log_W))
                ends = (k["first"], k["split"]) if x < 0.9 else (k["split"], arb(1)) if x < 1 else (arb(1), arb(2))
                c, b = (float(each.lower()) for each in smooth_laws.below(k, size, *ends))
                if 1e-200 < x**a <= 1 + a / 2:  # smaller x underflow; larger x have no bound
                    assert sigma_square * N / Q >= 2 / a * c * x**a * (1 - 1e-9), (d, x)
                    assert b * x**-2 * (1 - 1e-9) <= B / Q, (d, x)
                if x == 1:
                    assert (sigma_square * N + B) / Q <= U * (1 + 1e-9), d
                    assert (sigma_square * N + B) / Q >= U * 0.99, d


@pytest.mark.parametrize("W", [1e4, pytest.param(1e6, marks=pytest.mark.slow)])
def test_noise_and_bias_of_two_lines_lie_beyond_their_bounds(W: float) -> None:
    """As for smooth laws. Below `first` the bias alone exceeds the loss at the optimum."""
    k = known("relu", W)
    with ctx.workprec(form.BITS):
        all_sizes = {size.d: size for size in sizes.sizes(k)}
        for d in (2, 3, 4, 5, 7, 20, 50, 400, 401, 1500):
            largest, a = all_sizes.get(d, all_sizes[0]), (d - 1) / 2
            rest, more = ramp.above(k, largest)
            U = float((rest + ramp.plane(largest) * more).upper()) + 1 + 1.5 / a
            root, least = statements.CENTRES["relu", sizes.LAWS["relu"].centre, sizes.LAWS["relu"].loss](d)
            log_k, log_W = root / (a + 1.5), math.log(max(W, 100 * d))
            log_n = max(math.log(1e4) + (a + 0.5) * log_W, math.log(1e3) + a * (math.log(4 / 3) + log_W))
            Q = least / (1 + 1.5 / a) * math.exp(-1.5 * (log_k + log_W))
            sigma_square = math.exp(log_n - (a + 1.5) * log_W)
            for x in (0.36, 0.6, 0.84, 0.86, 0.99, 1.0, 1.01, 1.1, 1.5):
                N, B = statements.ramp(d, log_n, x * math.exp(log_k + log_W))
                start = k["first"] if x < 0.85 else k["split"] if x < 1 else arb(1)
                c, b = (
                    float(sizes.noise_below(k, largest, k["first"]).lower()),
                    float(ramp.bias_below(k, largest, start).lower()),
                )
                if d <= sizes.LAST:  # in the ball of all larger d `plane` is that of one d
                    b += float((ramp.plane(largest) * ramp.slope_below(k, largest, start) ** 2).lower()) * x**-0.5
                    assert 1.02 * b * x**-1.5 >= B / Q, (d, x)  # power: the bound is within 2 %
                if 1e-200 < x**a <= 1 + a / 1.5:
                    assert sigma_square * N / Q >= 1.5 / a * c * x**a * (1 - 1e-9), (d, x)
                    assert b * x**-1.5 <= B / Q * (1 + 1e-4), (d, x)
                if x == 1 and d <= sizes.LAST:
                    assert U * 0.99 <= (sigma_square * N + B) / Q <= U * (1 + 1e-4), d


@pytest.mark.parametrize("law", LAWS)
def test_each_larger_dimension_satisfies_the_bound_of_the_common_ball(
    law: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The conditions hold if the shared ball begins after d = 1200. If it begins earlier, it is too wide."""
    lines = {name: proof(law).stated[name] for name in ("low", "high")}
    for last, certain in ((1200, True), (60 if law in SMOOTH else 8, False)):
        for module in (sizes, ramp):
            monkeypatch.setattr(module, "LAST", last)
        k = known(law) | {name: arb(text) for name, text in lines.items()}
        with ctx.workprec(form.BITS):
            k["kappa"] = sizes.centre(k)[0]["kappa"][1].lower()
            decides = smooth_laws.decides(law)
            assert all(all(rule(k)[1].values()) for rule in decides) is certain


def test_one_dimension_of_it_is_the_theorem_of_that_dimension() -> None:
    """Both theorems enclose w*, so their intervals overlap, and one contains the limit of the other."""
    for law in LAWS:
        for d in (2, 3, 5, 8):
            low, high = proof(law).multiples(d)
            alone = prove_window(LAWS[law], d)
            assert max(low, alone.low) < min(high, alone.high)
            assert low < alone.fact("limit").low <= alone.fact("limit").high < high


def test_the_range_of_the_theorem() -> None:
    theorem = proof("affine")
    assert theorem.covers(2, 1e4 * 1e6 * 1.001)
    assert not theorem.covers(2, 1e10, L=2.0)
    assert not theorem.covers(2, 1e9)
    assert not theorem.covers(2, -1.0)
    low, high = theorem.window(2, 1.001e10)
    assert low < 0.38842710 * 1.001e10**0.4 < high
