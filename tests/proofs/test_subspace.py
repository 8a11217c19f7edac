"""The best matrix for tasks that depend on a few directions: lemmas against the exact method, and false statements."""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.checks.softmax.lowrank_blocks import problem as low_rank_problem
from lipverify.checks.softmax.lowrank_radius import mixed_gain  # internal: the quantity of a claim
from lipverify.loss.block import block_terms
from lipverify.proofs import checker

# internal: curves, and bounds beyond them, of which a lemma uses only the signs
from lipverify.proofs.checker.kernel import curves, form

# internal: averages over contexts; a lemma has only their bounds
from lipverify.proofs.checker.kernel.contexts import STRIP, averages

# internal: the lemmas about matrices, compared with sampling
from lipverify.proofs.checker.low_rank import subspace
from lipverify.proofs.finite import in_subspace  # internal: the statement of one proof, to be changed
from tests.proofs.controls import committed, controls, rejected
from tests.reference import statements

CASES = {"two": (2, 1, 2, "0", "6/5"), "noise": (2, 1, 2, "1/2", "1"), "three": (3, 2, 20, "0", "9/5")}
FILES = {"two": "lowrank-best-2-1-2", "noise": "lowrank-best-2-1-2-noise", "three": "lowrank-best-3-2-20"}


def known(name: str, near: str = "3") -> dict[str, Any]:
    d, k, n, sigma, C = CASES[name]
    given = form.balls(subspace.about({"given": in_subspace(d, k, n, Fraction(sigma), Fraction(C))}))
    return given | {"near": arb(near), "reach": arb(2)}


@pytest.mark.parametrize("name", ["two", pytest.param("noise", marks=pytest.mark.slow)])
def test_every_bound_is_tight_and_a_wrong_choice_is_rejected(name: str) -> None:
    proof = committed(FILES[name])
    tried = {what for what, control in controls(proof) if rejected(proof, control)}
    assert tried == {"descent at stage 0: fall", "descent at stage 0: level", "half at stage 0: share"}
    for lemma, constant, text in ((0, "near", "1"), (1, "reach", "0.5"), (1, "reach", "2.4")):
        control = copy.deepcopy(proof)
        control["lemmas"][lemma]["constants"][constant] = text
        assert checker.failures(control), (constant, text)


@settings(deadline=None, max_examples=6)
@given(st.sampled_from(sorted(CASES)), st.floats(0.1, 2.5), st.floats(0, 2.5))
def test_the_curves_give_the_loss_of_the_exact_method(name: str, c: float, c_perp: float) -> None:
    d, k, n, sigma, _ = CASES[name]
    given = known(name)
    problem = low_rank_problem("sphere", d, k, n, float(Fraction(sigma)))
    exact = block_terms(problem, np.array([c, 0.0]), np.array([c_perp, 0.0]))
    # |z|^2 is Beta(k/2, (d-k)/2): by angles for d = 2, and |z|^2 = 1 - v^2, v uniform, for d = 3 and k = 2
    u = (np.arange(200) + 0.5) / 200
    s = np.cos(np.pi * u / 2) ** 2 if d == 2 else 1 - np.polynomial.legendre.leggauss(60)[0] ** 2
    weight = np.full(200, 1 / 200) if d == 2 else np.polynomial.legendre.leggauss(60)[1] / 2
    total = 0.0
    for z, p in zip(np.sqrt(s), weight, strict=True):
        omega = math.hypot(c * z, c_perp * math.sqrt(1 - z * z))
        h, gamma, e = (float(curve.over(arb(omega), arb(omega)).mid()) for curve in subspace.loss(given))
        total += p * (-2 * h * c * z * z + gamma * (c * z) ** 2 + e * omega**2) / k
    assert total == pytest.approx(float(exact.total[0] - exact.total[1]), abs=2e-6 if d == 2 else 1e-7)


@settings(deadline=None, max_examples=8)
@given(st.sampled_from(sorted(CASES)), st.floats(0, 1))
def test_bounds_beyond_the_curves_hold_between_their_places(name: str, share: float) -> None:
    d, k, n, sigma, _ = CASES[name]
    found = subspace.ladder(known(name))
    ends = [*(float(part.omega) for part, *_ in found[1:]), 60.0]
    for i in (0, len(found) // 2, len(found) - 1):
        part, spread, gap = found[i]
        omega = arb(float(part.omega) + share * (ends[i] - float(part.omega)))
        at = averages(d, n, omega, (1, 2))
        beta = at.alone[2] / d
        alpha = subspace.moment(at, (d - 1) * beta)
        excess = k * (beta - arb(1) / (d * n) + float(Fraction(sigma)) ** 2 * (at.noise - arb(1) / n))
        assert not 1 - at.mean[1] > part.F
        assert not spread > excess
        assert not spread + gap > excess + alpha - beta  # the two together are what `half` uses
        # the identity by which beta is bounded
        assert ((1 - at.mean[1]) - omega * (at.mean[2] / d - beta)).contains(0)


@pytest.mark.parametrize(("d", "n"), [(2, 2), (3, 7), (5, 12)])
def test_the_largest_coordinate_is_that_of_samples(d: int, n: int) -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((100_000, n, d))
    t = (x[:, :, 0] / np.linalg.norm(x, axis=2)).max(axis=1)
    for ball, drawn in zip(subspace.largest(d, n), (t, (1 - t**2) / (d - 1)), strict=True):
        assert abs(drawn.mean() - float(ball)) < 5 * drawn.std() / math.sqrt(len(drawn))


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_coefficients_at_zero_are_those_of_the_curves(name: str) -> None:
    """The closed forms of the claim for every n, against balls at one n."""
    d, k, n, sigma, _ = CASES[name]
    h, gamma, e = (float(curve.over(arb(0), arb(0)).mid()) for curve in subspace.loss(known(name)))
    unit = (n - 1) / (d**2 * (d + 2) * n**3)
    assert h == pytest.approx((n - 1) / (d * n), rel=1e-9)
    assert gamma == pytest.approx(unit * (d * n**2 + 2 * (n - 2) ** 2 + 4), rel=1e-9)
    assert e == pytest.approx(
        k * (unit * ((d - 2) * n + 6) + float(Fraction(sigma)) ** 2 * (n - 1) / (d * n**2)), rel=1e-9
    )
    bend = float(subspace.loss(known(name))[0].slope(2).over(arb(0), arb(0)).mid()) / 2
    assert bend == pytest.approx(-unit * ((n - 2) ** 2 + d * n + 2), rel=1e-6)


def test_the_lemmas_reject_each_violation() -> None:
    """A line, or a part, for which K < 0 somewhere is not accepted."""
    line = subspace.Line(arb(0), arb(1), arb("-0.2"), arb("-0.1"), arb("-0.3"))
    one, rng = arb(1), np.random.default_rng(7)
    for _ in range(300):
        spread, twice, share, omega = (arb(float(x)) for x in rng.uniform(0.01, 2, 4))
        if subspace.positive(spread, twice, share, omega, line):
            z, x = np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41))
            K = float(spread) + 0.2 * z**2 - (float(twice) - 0.1 * float(omega)) * z * x + float(share) * x**2
            assert K.min() > 0
        part = subspace.Part(one, one, one, (twice,), (share,), (spread,))
        if subspace.past(part, line, arb(1), arb(2)):
            p = np.linspace(2, 60, 400)
            # lambda_0 = g(C) - C lambda_1
            assert ((float(share) + float(spread)) * p**2 - 2 * float(twice) * p + 0.3 + 0.1 * (p - 1)).min() > -1e-9


def test_a_curve_of_high_degree_is_enclosed_where_ends_are_no_exact_numbers() -> None:
    """Ends that are balls, as 3.6 is, once made such bounds worthless: coefficients are as large as 2^75
    here, and 2^310 for the longest curve of a proof."""
    found = curves.even_curves(lambda w: [1 / (1 + w**2 / 5)], [1 / arb(STRIP).cos()], arb("4.5"), 1e-9)[0]
    with ctx.workprec(53):
        low, high = arb("3.6"), arb("3.7")
        assert found.over(low, high).rad() < 1e-2
        assert found.over(low, low).rad() < 1e-8
        assert found.over(-low, -low).overlaps(found.over(low, low))
        twice = curves.combined([(arb(2), found), (arb(1), found)]).over(low, low)
        assert twice.overlaps(3 * found.over(low, low))


def test_the_evaluator_finds_the_proved_true_and_a_tiny_ball_and_a_large_one_false() -> None:
    said = checker.statement(committed(FILES["two"]))
    assert statements.wrong(said) == []
    tiny = said.replace("n = 2", "n = 24").replace("1.2", "0.002")
    large = said.replace("n = 2", "n = 9").replace("1.2", "5")
    for false in (tiny, large, said.replace("M = 1.2", "M = 1.1")):
        assert any(statements.faults(false)), false


def of_output(d: int, n: int, omega: float) -> dict[str, float]:
    """h, alpha, beta and E sum a_i^2 at one omega, by balls."""
    at = averages(d, n, arb(omega), (1, 2))
    beta = at.alone[2] / d
    alpha = subspace.moment(at, (d - 1) * beta)
    found = {"h": (1 - at.mean[1]) / arb(omega), "alpha": alpha, "beta": beta, "noise": at.noise}
    return {name: float(ball.mid()) for name, ball in found.items()}


PLACES = (0.2, 1.0, 3.0, 9.0)


@pytest.mark.parametrize(("d", "n"), [(3, 2), (3, 24), (4, 9), (8, 60)])
def test_the_parts_of_the_loss_are_monotone_from_three_dimensions_on(d: int, n: int) -> None:
    found = [of_output(d, n, omega) for omega in PLACES]
    for name, sign in {"h": -1, "alpha": 1, "beta": 1, "noise": 1}.items():
        assert all(np.diff([sign * each[name] for each in found]) > 0), name


def test_on_the_circle_the_variance_across_falls() -> None:
    assert np.diff([of_output(2, 60, omega)["beta"] for omega in PLACES]).min() < 0


ANGLES, WEIGHTS = np.polynomial.legendre.leggauss(300)


def weighted(d: float, omega: float, shift: Any) -> tuple[Any, ...]:
    """Nodes t, their weights, and Y = e^(omega t + shift), for one token on S^{d-1}."""
    t, p = np.sin(np.pi / 2 * ANGLES), WEIGHTS * np.cos(np.pi / 2 * ANGLES) ** (d - 2)
    return t, p / p.sum(), np.exp(omega * t + shift)


@pytest.mark.parametrize(("d", "n", "omega"), [(3, 2, 1.5), (3, 24, 6.0), (5, 7, 3.0)])
def test_the_variance_across_is_an_integral_over_u(d: int, n: int, omega: float) -> None:
    """beta = n (n - 1) int u^(n-2) W du, by which its slope is a mean of covariances."""
    t, p, Y = weighted(d, omega, np.linspace(-omega - 16, omega + 5, 2500)[:, None])
    u, W = (p * np.exp(-Y)).sum(axis=1), (p * (1 - t**2) / (d - 1) * (-np.expm1(-Y) - Y * np.exp(-Y))).sum(axis=1)
    total = -n * (n - 1) * np.trapezoid(u ** (n - 2) * W, u)
    assert total == pytest.approx(of_output(d, n, omega)["beta"], rel=1e-4)


@settings(deadline=None, max_examples=60)
@given(st.floats(2.01, 9), st.floats(0.05, 20), st.floats(-8, 4))
def test_that_covariance_is_positive_from_three_dimensions_on_and_not_below(
    d: float, omega: float, place: float
) -> None:
    def covariance(d: float, shift: float) -> float:
        t, p, Y = weighted(d, omega, shift)
        mu = p * Y * np.exp(-Y)
        H = (1 - t**2) * Y / (mu * (1 - t**2) * Y).sum()
        return float((mu * H * (t - (mu * t).sum() / mu.sum())).sum())

    assert covariance(max(d, 3.0), place - omega if place < 0 else place) > -1e-9
    assert omega < 12 or covariance(2.0, -omega - 8) < 0


@settings(deadline=None, max_examples=8)
@given(st.sampled_from([2, 3, 30]), *(st.floats(0.01, 1) for _ in range(2)), st.floats(-2, 0.8))
def test_no_score_across_is_better_than_none_at_any_query(n: int, s: float, share: float, far: float) -> None:
    """The loss at a query for C = 1/10, d = 3, k = 1: with p along B of length C s share, and omega larger."""
    C, p = 0.1, 0.1 * s * share

    def loss(p: float, omega: float) -> float:
        at = of_output(3, n, omega)
        return -2 * s * p * at["h"] + (at["alpha"] - at["beta"]) * (p / omega) ** 2 + at["beta"]

    assert loss(p, p + 10**far) > loss(C * s, C * s) - 1e-12


def test_an_entry_that_mixes_the_spaces_gains_by_the_law_of_large_numbers() -> None:
    """The coefficient of eps^2, against the loss of the limit n -> infinity at a small eps; d = 3, k = 1."""
    scale, eps = 40.0, 0.02
    assert mixed_gain(3, 1.0)[0] < 0 < mixed_gain(3, scale)[0]
    g, v, phi = 3 * scale, ANGLES**3, (np.arange(64) + 0.5) / 64 * 2 * np.pi  # nodes next to v = 0
    V, P = np.meshgrid(v, phi)
    z, p = np.sqrt(1 - V**2) * np.cos(P), eps * V
    omega = np.hypot(p, eps * z - g * V)
    h = (1 / np.tanh(omega) - 1 / omega) / omega
    gain = (3 * ANGLES**2 * WEIGHTS / 2 * (2 * z * h * p - (h * p) ** 2).mean(axis=0)).sum()
    assert g**2 * gain / eps**2 == pytest.approx(mixed_gain(3, scale)[0], rel=0.02)
