"""Variograms between sums of powers, compared with the laws themselves by routes that share nothing with the lemmas."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lipverify as lv
from lipverify.errors import InvalidInput
from lipverify.laws import Matern, Ridge, Zonal
from lipverify.proofs import Pieces, Rough, checker, prove_envelope, prove_tradeoff, prove_transfer, prove_window
from lipverify.proofs.checker.kernel.form import BITS  # internal: the precision at which the checker works

# internal: the bounds of each law are compared with the law itself
from lipverify.proofs.checker.window import laws, roughness

# internal: the powers between which a variogram lies
from lipverify.proofs.checker.window.variogram import known_powers
from lipverify.proofs.record import named  # internal: a law's name in a proof file
from tests.proofs.controls import every_control_is_rejected, window_lies_between
from tests.strategies import target

places = st.sampled_from([Fraction(k, 10) for k in range(-9, 10)])
numbers = st.sampled_from([Fraction(k, 4) for k in range(-8, 9)])
CLIP = Ridge(Pieces((-0.5, 0.5), ((-0.5,), (0.0, 1.0), (0.5,))), kinks=(-0.5, 0.5))
BESIDE = Ridge(Pieces((0.5,), ((0.5, -1.0), (-0.5, 1.0))), kinks=(0.5,))
SIGN = Ridge(np.sign, jumps=(0.0,))
FIELDS = [Zonal(variogram=Rough(s)) for s in (0.25, 0.5, 0.75)]


@st.composite
def pieces(draw: st.DrawFn) -> Pieces:
    """One to three breaks; polynomials of degree 2 at most, in half of the cases without jumps."""
    at = sorted(draw(st.sets(places, min_size=1, max_size=3)))
    polynomials = [[draw(numbers), draw(numbers), draw(st.sampled_from([Fraction(0), Fraction(1, 2)]))]]
    joined = draw(st.booleans())
    for z in at:
        slope, bend = draw(numbers), draw(st.sampled_from([Fraction(0), Fraction(-1, 2)]))
        before = sum(c * z**j for j, c in enumerate(polynomials[-1]))
        start = before - slope * z - bend * z**2 if joined else draw(numbers)
        polynomials.append([start, slope, bend])
    try:
        return Pieces(tuple(map(float, at)), tuple(tuple(map(float, each)) for each in polynomials))
    except InvalidInput:
        assume(False)
        raise


def between(law: str, d: int, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both sums of powers."""
    with ctx.workprec(BITS):
        bounds, conditions = laws.LAWS[laws.family(law)].about(laws.start(law, d))  # type: ignore[misc]
    assert all(conditions.values())
    k = {name: float(ball.mid()) for name, (_, ball) in bounds.items()}
    return tuple(  # type: ignore[return-value]
        k[f"A_{side}"] * r**2 + sum(k[f"c{j}_{side}"] * r**j for j in known_powers(k)) for side in ("low", "high")
    )


def variogram(link: Any, d: int, theta: float) -> tuple[float, float]:
    """E (h(z) - h(z'))^2 by midpoints, and a bound on the error from a jump or a kink in a cell: q's part in the plane
    of both.

    Its length rho has 1 - rho^2 = v^{2/(d-2)}, v uniform; its direction is uniform.
    """
    phi = (np.arange(4000) + 0.5) * 2 * math.pi / 4000
    rho = np.ones(1) if d == 2 else np.sqrt(1 - ((np.arange(300) + 0.5) / 300) ** (2 / (d - 2)))
    z, other = rho[:, None] * np.cos(phi), rho[:, None] * np.cos(phi - theta)
    squares = (link(z) - link(other)) ** 2
    coarse = squares[::2] if d > 2 else squares[:, ::2]
    return float(squares.mean()), 4 * abs(float(squares.mean() - coarse.mean())) + 2e-3 * float(squares.max())


@settings(deadline=None, max_examples=30)
@given(pieces(), st.integers(2, 8), st.floats(0.02, 3.1))
def test_the_variogram_of_pieces_lies_between_its_powers(h: Pieces, d: int, theta: float) -> None:
    law = named(Ridge(h, kinks=h.at))
    r = 2 * math.sin(theta / 2)
    value, error = variogram(h, d, theta)
    low, high = (float(each[0]) for each in between(law, d, np.array([r])))
    assert low - error <= value <= high + error
    target(max(abs(value) / max(abs(high), 1e-9), abs(low) / max(abs(value), 1e-9)) * (error < 0.05 * value))


@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize(
    ("law", "exact"),
    [
        # the sign jumps where q crosses the plane: the angle over pi; and |z| by its kernel of degree 1
        (SIGN, lambda angle, d: 4 * angle / math.pi),
        (
            Ridge(Pieces((0.0,), ((0.0, -1.0), (0.0, 1.0))), kinks=(0.0,)),
            lambda angle, d: 2 / d - 4 / (math.pi * d) * (np.sin(angle) + (math.pi / 2 - angle) * np.cos(angle)),
        ),
    ],
    ids=["sign", "absolute value"],
)
def test_known_variograms_lie_close_between_their_powers(law: Ridge, exact: Any, d: int) -> None:
    angle = np.concatenate([np.geomspace(1e-3, 3, 50), [math.pi]])
    low, high = between(named(law), d, 2 * np.sin(angle / 2))
    V = exact(angle, d)
    assert np.all(low <= V * (1 + 1e-9) + 1e-15)
    assert np.all(high * (1 + 1e-9) + 1e-15 >= V)
    assert np.all(high - low <= 0.9 * V.max())
    near = angle < 0.1
    assert np.all((high - low)[near] <= 2e-3 * V[near])


@settings(deadline=None, max_examples=40)
@given(st.sampled_from([0.5, 1.5, 2.5]), st.floats(0.05, 5), st.floats(0.1, 5), st.floats(-4, 0.30))
def test_the_variogram_of_a_field_lies_between_its_powers(nu: float, length: float, variance: float, at: float) -> None:
    law, r = Matern(nu=nu, length=length, variance=variance), np.array([10**at])
    low, high = between(named(law), 3, r)
    V = law.variogram(r)
    slack = 1e-12 * float(np.max(np.abs([low, high, V]))) * max(1.0, float(r[0]) / length) ** 6
    assert low - slack <= V <= high + slack


@pytest.mark.parametrize("d", [2, 3, 4, 8])
def test_distances_by_sampling(d: int) -> None:
    """The variogram at one token that attention selects, and at two: within the lemma, whose bounds are within a
    tenth.
    """
    law, rng, a = "matern-1.5", np.random.default_rng(3), (d - 1) / 2
    proved = prove_envelope(Matern(nu=1.5), d, least_w=60.0 * (d * d + 4))
    assert laws.family(proved.law) == law
    k, w = proved.stages[0], proved.least_w

    def drawn(count: int) -> np.ndarray:
        # s = w h under e^{-s} s^{a-1} (1 - s/2w)^{a-1}: weights of gamma variables, here within (1 - 0.1)^{+-a}
        s = rng.gamma(a, size=count)
        weight = np.maximum(1 - s / (2 * w), 0) ** (a - 1)
        s = rng.choice(s, size=count, p=weight / weight.sum())
        h = s / w
        u = rng.standard_normal((count, d - 1))
        u /= np.linalg.norm(u, axis=1)[:, None]
        return np.column_stack([1 - h, np.sqrt(h * (2 - h))[:, None] * u])

    one, other = drawn(400_000), drawn(400_000)
    apex = np.eye(d)[0]
    for name, x in (("one", one - apex), ("two", one - other)):
        distance = np.linalg.norm(x, axis=1)
        for j in (3, 4, 5):
            values = w ** (j / 2) * distance**j
            mean, error = values.mean(), 5 * values.std() / math.sqrt(len(values))
            assert error < 0.05 * mean
            assert k[f"{name}{j}_low"] - error <= mean <= k[f"{name}{j}_high"] + error
            assert k[f"{name}{j}_high"] < 1.15 * k[f"{name}{j}_low"]


@pytest.mark.parametrize("law", [CLIP, SIGN, Matern(nu=0.5), Matern(nu=1.5), Matern(nu=2.5), *FIELDS], ids=str)
@pytest.mark.parametrize("d", [2, 3, 5])
def test_every_control_of_every_lemma_is_rejected(law: Any, d: int) -> None:
    every_control_is_rejected(prove_window(law, d).data)


ROUGH = [CLIP, BESIDE, SIGN, *FIELDS, *(Matern(nu=nu, length=0.8) for nu in (0.5, 1.5, 2.5))]


@settings(deadline=None, max_examples=4)
@given(st.sampled_from(ROUGH), st.floats(0, 5))
def test_the_optimal_window_of_the_circle_lies_between_the_proved_lines(law: Any, more: float) -> None:
    window_lies_between(law, 2, more)


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(st.sampled_from(ROUGH), st.sampled_from((2, 3, 5)), st.floats(0, 5))
def test_the_optimal_window_lies_between_the_proved_lines(law: Any, d: int, more: float) -> None:
    window_lies_between(law, d, more)


@pytest.mark.parametrize("law", [SIGN, *FIELDS, *(Matern(nu=nu) for nu in (0.5, 1.5, 2.5))], ids=str)
@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.slow), 8])
def test_proved_bounds_tend_to_the_derived_constant(law: Any, d: int) -> None:
    beta = laws.beta(named(law))
    derived = float(lv.leading(law, d).window_constant)
    proved = [
        prove_window(law, d, least_lambda=W ** ((d - 1) / 2 + beta), least_tokens=K)
        for W, K in ((1e8, 1e5), (1e10, 1e7))
    ]
    for each in proved:
        assert each.low < derived < each.high
        assert each.fact("limit").low <= derived * (1 + 1e-11)
        assert derived <= each.fact("limit").high * (1 + 1e-11)
    assert proved[1].high / proved[1].low < min(1.05, proved[0].high / proved[0].low)


def test_pieces_that_are_two_lines_at_zero_have_the_limit_of_those() -> None:
    for d in (2, 3, 7):
        one, other = (
            prove_window(Ridge(Pieces((0.0,), ((0.0, 0.1), (0.0, 1.0)))), d),
            prove_window(Ridge(lv.proofs.Kinked(0.1, 1.0)), d),
        )
        assert one.fact("limit").pair[0] == pytest.approx(other.fact("limit").pair[0], rel=1e-10)


def test_consequences_of_envelopes_hold_for_variograms_too() -> None:
    proved = prove_window(CLIP, 3, least_lambda=1e6**2.5)
    cost = prove_transfer(proved, 3.0).fact("cost")
    assert 1 < cost.low < cost.high < 3
    found = prove_tradeoff(SIGN, 3, least_w=1e6, least_tokens=1e4)
    noise, bias = found.fact("noise"), found.fact("bias")
    assert bias.low < 2**-0.5 < bias.high < 1 < noise.low < 2 < noise.high


@pytest.mark.parametrize(
    "text",
    ["", "0.5", "0.5|1", "0.5|0,1|1,2|3", "1|0|1", "0.5,0.2|0|1|2", "0.5|x|1", "0.5|nan|1", "0|0|0", "0|0,1|0,1"],
)
def test_pieces_that_are_none_are_no_proof(text: str) -> None:
    data = dict(prove_window(SIGN, 3).data)
    for name in ("jumps", "kinks"):
        data["law"] = f"{name}:{text}"
        with suppress(ValueError):  # which the program reports as an invalid proof file
            assert checker.failures(data)


def test_kinks_are_not_taken_for_jumps_and_other_pieces_need_another_proof() -> None:
    data = prove_window(CLIP, 3).data
    for law in ("kinks:0.0|-1.0|1.0", "kinks:-0.5,0.5|-0.51|0.0,1.02|0.51", data["law"].replace("kinks", "jumps")):
        assert checker.failures(data | {"law": law}), law


def test_densities_integrate_to_one() -> None:
    z = (np.arange(2000) + 0.5) / 1000 - 1
    for D in (4, 5, 9):
        total = sum(float(roughness.density(arb(D), Fraction(float(each))).mid()) for each in z) / 1000
        assert total == pytest.approx(1, abs=1e-4)
