"""The transfer claims: exponents against derivations, verdicts against records, and evidence that was tampered with."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from checks import context_length, generalization, generalization_rays, lipschitz_necessary, lipschitz_sufficient
from checks._generalization import (
    home_factor,
    mistuning,
    mistuning_at,
    near,
    read_limit,
    slide_bounds,
    transferred_power,
)
from checks._lipschitz import SMOOTHNESS
from checks._slides import LAWS, READINGS, d
from checks._theorem3 import SIDES, powers
from lipverify.claims.claim import Claim, exponent_at
from lipverify.claims.registry import profile_named
from lipverify.claims.runner import run
from lipverify.claims.softmax import transfer
from lipverify.laws import Affine, Cosine, ReLU, law_named
from lipverify.loss.asymptotic import leading
from lipverify.optimum import Optimum, optimal_window
from lipverify.problem import Problem
from lipverify.scaling import growth_of

FILES = (generalization, generalization_rays, lipschitz_sufficient, lipschitz_necessary, context_length)
QUICK = profile_named("quick")
CLAIMS = {claim.id: claim for module in FILES for claim in module.claims(QUICK)}
SHARP = 0.1
"""A cross-check whose interval is wider than this share of the value would agree with anything."""
MEASURED = (
    "softmax.generalization-larger/affine/lower/printed/ambient",
    "softmax.generalization-larger/affine/lower/derived/intrinsic",
    "softmax.generalization-larger/affine/theta/sharp",
    "softmax.generalization-smaller/affine/lower/printed/ambient",
    "softmax.generalization-smaller/affine/lower/derived/ambient",
    "softmax.generalization-smaller/affine/lower/derived/intrinsic",
    "softmax.generalization-smaller/affine/theta/sharp",
    "softmax.generalization-smaller/relu/lower/units",
    "softmax.lipschitz-sufficient/experiment",
    "softmax.lipschitz-necessary/experiment",
    "softmax.context-length/affine/theta/tuned",
    "softmax.context-length/affine/lower/mistuned",
    "softmax.context-length/affine/fixed-window",
)


def test_what_the_bounds_of_the_sketch_imply() -> None:
    assert slide_bounds(d)["same"] == -2 / (d + 2)
    assert slide_bounds(d)["larger"] == -4 / (d + 2)
    assert sympy.simplify(slide_bounds(d)["smaller"] - (d / (2 * (d + 2)) - 1)) == 0
    # the printed exponents are half of those, and the one that has 2 for d
    printed = powers("printed", d)
    assert sympy.simplify(printed["same"] * 2 - slide_bounds(d)["same"]) == 0
    assert sympy.simplify(printed["larger"] * 2 - slide_bounds(d)["larger"]) == 0
    assert printed["smaller"].subs(d, 2) == slide_bounds(d)["smaller"].subs(d, 2)


@pytest.mark.parametrize("case", ["same", "larger", "smaller"])
@pytest.mark.parametrize("form", ["printed", "derived"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("reading", READINGS)
def test_recorded_verdicts_are_those_of_the_derived_exponents(case: str, form: str, law: str, reading: str) -> None:
    side = SIDES[case]
    claim = CLAIMS[f"softmax.generalization-{case}/{law}/{side}/{form}/{reading}"]
    sharp = transferred_power(law_named(law), law_named(law))
    room = (powers(form, READINGS[reading])[case] - sharp) * (1 if side == "upper" else -1)
    holds = all(exponent_at(room, k) >= -1e-12 for k in QUICK.dimensions)
    assert claim.expected == ("supported" if holds else "refuted")
    twin = (generalization.TWINS[side] - sharp) * (1 if side == "upper" else -1)
    assert all(exponent_at(twin, k) < 0 for k in profile_named("full").dimensions)


@pytest.mark.parametrize("trained", [Affine(), ReLU(), Cosine()])
@pytest.mark.parametrize("tested", [Affine(), ReLU(), Cosine()])
def test_transferred_powers_at_numbers(trained: Any, tested: Any) -> None:
    """The power is that of N + B of the tested law at the window of the trained one, far out."""
    source, target = leading(trained, 4), leading(tested, 4)
    names = {symbol.name: symbol for symbol in source.window.free_symbols | target.bias.free_symbols}
    at = {names[name]: 1 for name in ("L", "sigma") if name in names}
    total = (target.noise + target.bias).subs(names["w"], source.window).subs(at)
    low, high = (float(sympy.log(total.subs(names["n"], sympy.Integer(10) ** k)).evalf()) for k in (400, 410))
    slope = (high - low) / (10 * np.log(10))
    assert slope == pytest.approx(exponent_at(transferred_power(trained, tested), 4), abs=1e-9)


def test_the_cosine_is_as_smooth_as_the_law_that_stands_for_it() -> None:
    for name, law in SMOOTHNESS.items():
        assert leading(law_named(name)).beta == leading(law).beta


@given(dimension=st.integers(2, 12), beta=st.sampled_from([1.5, 2.0]), log_rho2=st.floats(-6, 6))
def test_prices_are_those_of_the_minimised_powers(dimension: int, beta: float, log_rho2: float) -> None:
    a, rho2 = (dimension - 1) / 2, float(np.exp(log_rho2))

    def loss(x: float, bias: float) -> float:
        return float(np.exp(a * x) + bias * np.exp(-beta * x))

    home, away = (minimize_scalar(loss, bracket=(-1, 1), args=(bias,), tol=1e-12) for bias in (1.0, rho2))
    exact = sympy.nsimplify(beta), sympy.Float(rho2, 30)
    assert loss(home.x, rho2) / home.fun == pytest.approx(exponent_at(home_factor(*exact), dimension), rel=1e-6)
    assert loss(home.x, rho2) / away.fun == pytest.approx(exponent_at(mistuning(*exact), dimension), rel=1e-6)
    assert exponent_at(mistuning(*exact), dimension) >= 1 - 1e-12


def test_the_price_of_the_rough_cosine_is_the_one_of_its_constants() -> None:
    assert mistuning_at(("cosine", 10.0), ("cosine", 1.0), 2) == pytest.approx(4.293143, rel=1e-6)
    assert mistuning_at(Affine(L=2.0), ("affine", 2.0), 5) == 1


def test_a_limit_is_not_read_where_there_is_none() -> None:
    s = np.geomspace(1e2, 1e12, 12)
    assert read_limit(growth_of(s, 3 * s**0.05)).interval.low is None
    low, high = read_limit(growth_of(s, 3 + s**-0.5)).interval.ends
    assert low <= 3 <= high < 3.001
    assert near(2.0).ends == pytest.approx((1.998, 2.002))


@pytest.mark.parametrize("id", MEASURED)
def test_verdicts_are_as_recorded_and_controls_are_caught(id: str) -> None:
    record = run([CLAIMS[id]], jobs=1).claims[0]
    assert (record.verdict, record.control.caught, record.problem) == (CLAIMS[id].expected, True, "")
    assert all(check.agrees and max(check.errors) <= SHARP * check.values[0] for check in record.cross_checks)
    assert record.finding


def test_every_refuted_claim_says_what_holds_instead() -> None:
    for claim in CLAIMS.values():
        assert claim.corrected or claim.expected == "supported", claim.id


def _verdict_with_window(claim: Claim, factor: float, monkeypatch: pytest.MonkeyPatch) -> str:
    def mistaken(problem: Problem) -> Optimum:
        found = optimal_window(problem)
        return msgspec.structs.replace(found, w=factor * found.w)

    monkeypatch.setattr(transfer, "optimal_window", mistaken)
    return run([claim], jobs=1).claims[0].verdict


def test_a_window_that_is_not_the_tuned_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = CLAIMS["softmax.generalization-larger/affine/theta/sharp"]
    assert _verdict_with_window(claim, 1.1, monkeypatch) == "refuted"
