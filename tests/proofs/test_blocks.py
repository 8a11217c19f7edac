"""The best matrix that does not mix, for every number of tokens: lemmas against balls, and false statements."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.proofs import checker, prove_aligned_blocks
from lipverify.proofs.checker.kernel.contexts import averages  # internal: see above

# internal: sums of series, of which a lemma uses only the signs, and averages to compare them with
from lipverify.proofs.checker.low_rank import blocks, subspace
from tests.proofs.controls import committed, controls
from tests.reference import statements


def test_every_bound_is_tight_and_a_wrong_choice_is_rejected() -> None:
    proof = committed("lowrank-blocks-3")
    tried = {what for what, control in controls(proof) if checker.failures(control)}
    bounds = {"across at stage 0: steep", "along at stage 0: fall", "beyond at stage 0: more"}
    assert tried == bounds | {"across at stage 0: stop"}
    for stop in ("0.2", "0.7", "1.2", "1.4", "30"):
        control = copy.deepcopy(proof)
        control["lemmas"][0]["constants"]["stop"] = stop
        assert checker.failures(control), stop


def test_smaller_balls_and_less_noise_need_no_other_proof() -> None:
    assert prove_aligned_blocks(3, Fraction(1, 4), Fraction(1, 50)).failures() == []


@settings(deadline=None, max_examples=12)
@given(st.sampled_from([3, 5]), st.sampled_from([2, 5, 15, 16, 40, 900]), st.floats(0.05, 1.0))
def test_the_series_are_the_averages_over_contexts(d: int, n: int, omega: float) -> None:
    at = averages(d, n, arb(omega), (1, 2))
    beta = at.alone[2] / d
    alpha = subspace.moment(at, (d - 1) * beta)
    start = arb(1) / n
    whole = blocks.tokens(d)[14:] if n >= blocks.SINGLE else [blocks.tokens(d)[n - 2]]

    def value(tokens: blocks.Tokens, terms: dict[str, Any], lowest: int) -> Any:
        return tokens.sum(terms, lambda _: 1, lowest, arb(omega))

    # of intervals of 1/n only one contains it
    assert any(
        value(each, {"F": 1}, 1).overlaps((1 - at.mean[1]) / arb(omega))
        and value(each, {"alpha": 1, "beta": -1}, 2).overlaps((alpha - beta) / arb(omega) ** 2)
        and value(each, {"beta": 1}, 2).overlaps((beta - start / d) / arb(omega) ** 2)
        and value(each, {"N": 1}, 2).overlaps((at.noise - start) / arb(omega) ** 2)
        for each in whole
    )
    if n < blocks.SINGLE and omega < 0.6:
        assert value(whole[0], {"F": 1}, 1).rad() < 1e-6


@pytest.mark.parametrize("d", [3, 8])
def test_the_first_coefficients_are_the_closed_forms(d: int) -> None:
    for n in (2, 7, 100):
        unit, found = fmpq(n - 1, d**2 * (d + 2) * n**3), blocks.coefficients(d)
        F, alpha, beta, N = ([each(fmpq(1, n)) for each in found[name]] for name in ("F", "alpha", "beta", "N"))
        assert (alpha[0], beta[0], N[0]) == (fmpq(1, d * n), fmpq(1, d * n), fmpq(1, n))
        assert (F[1], F[3]) == (fmpq(n - 1, d * n), -unit * ((n - 2) ** 2 + d * n + 2))
        assert beta[2] == unit * ((d - 2) * n + 6)
        assert alpha[2] - beta[2] == unit * (d * n**2 + 2 * (n - 2) ** 2 + 4)
        assert N[2] == fmpq(n - 1, d * n**2)


def test_a_weighted_sum_is_the_slope_and_its_tail_is_counted() -> None:
    tokens, omega = blocks.tokens(3)[3], arb("0.9")

    def signal(at: Any) -> Any:
        return tokens.sum({"F": 1}, lambda _: 1, 1, at) * at

    step = arb("1e-6")
    slope = (signal(omega + step) - signal(omega - step)) / (2 * step)
    assert abs(tokens.sum({"F": 1}, lambda j: j, 1, omega).mid() - slope.mid()) < 1e-5
    radii = [float(tokens.sum({"F": 1}, lambda j: j, 1, arb(at)).rad()) for at in ("0.5", "0.9", "1.2")]
    assert radii[0] < 1e-10 < radii[1] < 1e-2 < radii[2]


@pytest.mark.slow
def test_the_evaluator_finds_the_proved_true_and_the_same_in_large_balls_false() -> None:
    said = checker.statement(committed("lowrank-blocks-3"))
    assert statements.wrong(said) == []
    noisy = said.replace("sigma = 0", "sigma = 4").replace("0.25", "4")
    for false in (said.replace("0.25", "5"), said.replace("k < 3", "k < 4"), noisy):
        assert statements.wrong(false), false
