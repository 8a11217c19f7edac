"""What cannot be proved, and what is no question, is refused in one line that names the value and the way out."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from lipverify import Problem
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.shipped import shipped
from lipverify.laws import Affine, Cosine, Linear, Matern, Quadratic, ReLU, Ridge, Zonal
from lipverify.proofs import (
    Pieces,
    Powers,
    load,
    prove_aligned,
    prove_aligned_blocks,
    prove_envelope,
    prove_every_dimension,
    prove_every_n,
    prove_falling,
    prove_optimum,
    prove_ridge,
    prove_rising,
    prove_tradeoff,
    prove_transfer,
    prove_window,
)
from lipverify.proofs.direct import built  # internal: a proof with constants that are too tight


@cache
def committed(name: str) -> Any:
    return load(shipped() / "proofs" / f"{name}.json")


BEYOND_DOUBLES = r"^law = affine, d = .*: constants are searched in doubles.*; ask for"
OTHER_LAW = "affine, quadratic, relu"
LONG_RANGE = "larger least_window or least_tokens"
BLOCKS = "sigma from 0 to 4, 0 < C <= 1"
PIECES = r"one polynomial more|neither|number"
BENT = Zonal(spectrum=(0.0, 0.2, 0.5, 0.0, 0.25))
NEARER = "fall is not.* ask for values nearer to 1 or to the default"
FLAT = r"^law = zonal:.*, d = 2, n = 3, .*: the noise alone is above the least loss from w = .* beyond w = 30"
OUT_OF_REACH: tuple[tuple[str, Callable[[], object]], ...] = (
    ("Affine, Quadratic, ReLU", lambda: prove_window(Linear(), d=3)),
    ("larger least_lambda", lambda: prove_window(ReLU(), d=3, least_lambda=100.0)),
    ("not covered", lambda: prove_window(Affine(), d=3).window(n=100)),
    ("Pieces", lambda: prove_window(Ridge(lambda z: np.clip(z, -0.5, 0.5), kinks=(-0.5, 0.5)), 3)),
    ("RBF", lambda: prove_window(Zonal(lambda t: t**3), d=3)),
    ("spectrum=", lambda: prove_window(Zonal(Powers((1.0, 1.0, -0.1))), d=3)),
    ("Kinked", lambda: prove_window(Ridge(np.tanh), d=3)),
    ("Kinked", lambda: prove_window(Ridge(lambda z: abs(z - 0.5), kinks=(0.5,)), d=3)),
    ("Pieces", lambda: prove_window(Ridge(lambda z: np.sign(z), jumps=(0.0,)), d=3)),
    ("Matern", lambda: prove_window(Zonal(variogram=lambda r: r), d=3)),
    (BEYOND_DOUBLES, lambda: prove_window(Affine(), 100, least_lambda=1e206)),
    (BEYOND_DOUBLES, lambda: prove_window(Affine(), 3, least_lambda=1e300)),
    (BEYOND_DOUBLES, lambda: prove_window(Affine(), 1000)),
    (BEYOND_DOUBLES, lambda: prove_window(Affine(), 2, least_tokens=1e300)),
    (BEYOND_DOUBLES, lambda: prove_envelope(Affine(), 3, least_w=1e300)),
    (BEYOND_DOUBLES, lambda: prove_envelope(Affine(), 1000002, least_w=1e13)),
    (BEYOND_DOUBLES, lambda: prove_tradeoff(Affine(), 3, 1e200)),
    (BEYOND_DOUBLES, lambda: prove_transfer(prove_window(Affine(), 3), 1e300)),
    ("least_tokens", lambda: prove_tradeoff(Affine(), d=3, least_tokens=1e-4)),
    ("another L", lambda: prove_transfer(prove_window(Cosine(L=2.0), d=3), 2.0)),
    (
        r"ridge, sigma_1 = 0.5, sigma_2 = 1e\+200.* doubles, which end at 1e308",
        lambda: prove_ridge(0.5, 1e200, 2, 2, 10),
    ),
    (r"Affine\(\) and ReLU\(\)", lambda: prove_every_n(Quadratic(), 3)),
    ("smaller most_signal", lambda: prove_every_n(Affine(), 3, 1e4)),
    ("larger least_tokens", lambda: prove_every_n(Affine(), 3, least_tokens=0.5)),
    (OTHER_LAW, lambda: prove_every_dimension(Cosine(1.0))),
    (OTHER_LAW, lambda: prove_every_dimension(Matern(nu=1.5))),
    (LONG_RANGE, lambda: prove_every_dimension(Affine(), least_window=30.0, least_tokens=1e4)),
    (LONG_RANGE, lambda: prove_every_dimension(Affine(), least_window=1e4, least_tokens=0.3)),
    ("least_window", lambda: committed("dimensions-affine").window(2, 1e9)),
    ("degree 1", lambda: prove_optimum(Problem(d=3, n=10**5, law=Quadratic(L=3.0), sigma=1.0))),
    ("minutes", lambda: prove_optimum(Problem(d=3, n=10**9, law=Affine(), sigma=0.1))),
    (FLAT, lambda: prove_optimum(Problem(d=2, n=3, law=BENT, sigma=1.41))),
    ("positive", lambda: prove_rising(Problem(d=3, n=100, law=Affine()), 1.0, 2.0)),
    ("positive", lambda: prove_falling(Problem(d=3, n=10, law=Quadratic(), sigma=3.0))),  # an even law: B'(0) = 0
    ("smaller L / sigma", lambda: prove_falling(Problem(d=2, n=1000, law=ReLU(L=10.0)))),
    ("not certain that beta", lambda: prove_aligned(2, 1, 24, 0, Fraction(1, 500))),  # a large c' is better
    # at queries next to the complement a smaller c is better
    (NEARER, lambda: prove_aligned(2, 1, 2, 0.5, 1.5)),
    ("aligned blocks", lambda: prove_aligned_blocks(3, 0, 1)),
    ("y < 1", lambda: built("layers", {}, {"far": {"F": "9"}, "near": {"slope": "0.1875"}})),
)
"""The way out, and what is out of reach."""
INVALID: tuple[tuple[str, Callable[[], object]], ...] = (
    ("d = 1", lambda: prove_window(Affine(), d=1)),
    ("constant", lambda: prove_window(Affine(L=0.0), d=3)),
    ("least_lambda = nan", lambda: prove_window(Affine(), d=3, least_lambda=math.nan)),
    ("another L", lambda: prove_window(Cosine(L=2.0), d=3).covers(n=1e20, L=1.0)),
    ("it must be one of `prove_window`", lambda: prove_transfer(committed("every-affine-3"), 2.0)),
    ("ratio = 1", lambda: prove_tradeoff(Affine(), d=3, ratio=1.0)),
    ("most_signal = 0", lambda: prove_every_n(Affine(), 3, 0.0)),
    ("least_tokens = -1", lambda: prove_every_n(Affine(), 3, least_tokens=-1)),
    ("d = 1", lambda: committed("dimensions-affine").covers(1, 1e30)),
    ("the noise bounds w", lambda: prove_optimum(Problem(d=3, n=10, law=Affine(), sigma=0.0))),
    ("affine and ReLU", lambda: prove_optimum(Problem(d=4, n=30, law=BENT, sigma=2.0), 0.0)),
    ("n = 1", lambda: prove_aligned(2, 1, 1, 0, 1)),
    ("k = 2", lambda: prove_aligned(2, 2, 5, 0, 1)),
    ("d = 30", lambda: prove_aligned(30, 1, 5, 0, 1)),
    ("d = 2: a whole number from 3", lambda: prove_aligned_blocks(2, 0, 0.1)),
    (BLOCKS, lambda: prove_aligned_blocks(3, 9, 0.1)),
    (BLOCKS, lambda: prove_aligned_blocks(3, -1, 0.1)),
    (BLOCKS, lambda: prove_aligned_blocks(3, 0, 0)),
    (BLOCKS, lambda: prove_aligned_blocks(3, 0, 2)),
    (PIECES, lambda: Pieces((), ((0.0, 1.0),))),
    (PIECES, lambda: Pieces((0.5,), ((0.0,),))),
    (PIECES, lambda: Pieces((1.0,), ((0.0,), (1.0,)))),
    (PIECES, lambda: Pieces((0.2, 0.1), ((0.0,),) * 3)),
    ("Powers", lambda: Pieces((0.5,), ((0.0, 1.0), (0.0, 1.0)))),  # a smooth join
)
"""The rule, and what breaks it."""
DEAR = (FLAT, NEARER, "smaller most_signal", "larger least_tokens", "aligned blocks")
"""Seconds of search each before the refusal."""


@pytest.mark.parametrize(
    ("error", "says", "ask"),
    [
        *(pytest.param(OutOfReach, *case, marks=[pytest.mark.slow] * (case[0] in DEAR)) for case in OUT_OF_REACH),
        *((InvalidInput, *case) for case in INVALID),
    ],
)
def test_what_cannot_be_proved_is_refused_in_one_line(error: Any, says: str, ask: Callable[[], object]) -> None:
    with pytest.raises(error, match=says) as refusal:
        ask()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("law", [None, "relu", ReLU])
@pytest.mark.parametrize("prove", [prove_window, prove_every_n])
def test_what_is_no_law_is_refused(prove: Any, law: Any) -> None:
    with pytest.raises(InvalidInput, match="it must be a law, like"):
        prove(law, 3)
