"""The search for the best GD++: many descents at once, their starts, a global method, the stored optima."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import differential_evolution

from lipverify.errors import InvalidInput
from lipverify.foundation import Floats
from lipverify.linear_transformer import Regression, UniformNoise, gdplusplus_floor, optimal_gdplusplus
from lipverify.linear_transformer.gdplusplus import (  # internal: the file of known optima is replaced
    ExcessLoss,
    flat_weights,
    grown_gdplusplus,
    known,
    known_optimum,
    residual,
    spectral_rule,
)

# internal: one descent and its derivatives, out of a search's many
from lipverify.linear_transformer.gdplusplus.descents import descended, deviations_of, raced

# internal: the starts of a search, and the global method's coordinates
from lipverify.linear_transformer.gdplusplus.exploring import deepened, folded, moved, places_of, ranges, weights_at
from lipverify.linear_transformer.gdplusplus.floor import degree  # internal: the degree of its polynomials

# internal: the file of known optima is written again
from lipverify.linear_transformer.gdplusplus.known import VIEWS, known_path, write_known
from lipverify.linear_transformer.gdplusplus.orthogonal import gauss_rule  # internal: the rule that averages
from lipverify.linear_transformer.published import NOISES, regression_named
from tests.linear_transformer.test_gdplusplus import weights
from tests.strategies import target

EPS = float(np.finfo(float).eps)
SILENT = Regression(10, 20, UniformNoise(0.0))


# ---- many descents at once


@settings(max_examples=40)
@given(flat=st.integers(1, 4).flatmap(weights), noise=st.sampled_from([0.0, 0.3, 8.0]))
def test_deviations_of_a_batch_are_those_of_one(flat: Floats, noise: float) -> None:
    """Products of factors that share the root of a weight, compared with logarithms, which have its relative error."""
    loss = ExcessLoss(gauss_rule(20, 10, degree((len(flat) + 1) // 2)), noise)
    t = loss.rule.t
    [row], [slope] = deviations_of(loss, flat[None])
    wanted, wanted_slope = loss.deviations(flat)
    # a factor near 0 has no digits left: errors are set by the largest product
    log_root = (loss.rule.log_weights + np.log1p(noise / t)) / 2
    largest = np.exp(np.minimum(residual(np.abs(flat), t).log + log_root, 600.0))
    allowed = 512 * len(flat) * EPS * (largest + np.exp(log_root)) * (1 + np.abs(loss.rule.log_weights))
    kept = np.isfinite(wanted) & np.isfinite(row) & (largest < 1e200)
    assert kept.any()
    worst = float(np.max((np.abs(row - wanted) / allowed)[kept]))
    target(worst)
    assert worst <= 1
    errors = np.abs(slope - wanted_slope)[kept].max(axis=0)
    assert np.all(errors <= 1e-9 * np.abs(wanted_slope)[kept].max(axis=0))


def test_a_batch_descends_as_one_does() -> None:
    """Two layers without noise: most starts end in the three existing minima, and the best is the known one."""
    loss = ExcessLoss(gauss_rule(20, 10, 4), 0.0)
    rng = np.random.default_rng(0)
    ends = descended(loss, folded(rng, 40, 2, 60.0, 100.0), 200)
    floor = gdplusplus_floor(SILENT, 2)
    assert ends.values[0] + floor.value == pytest.approx(0.2679421583, rel=1e-9)
    assert np.all(np.diff(ends.values) >= 0)
    assert raced(loss, folded(rng, 40, 2, 60.0, 100.0)).values[0] == pytest.approx(ends.values[0], rel=1e-9)


# ---- starts


@given(seed=st.integers(0, 10**6), layers=st.integers(1, 6), R=st.floats(5.0, 500.0))
def test_places_and_weights_are_inverse(seed: int, layers: int, R: float) -> None:
    places = np.random.default_rng(seed).uniform(0.05, 1.2, (3, 2 * layers - 1))
    wide = np.full(3, R)
    assert np.allclose(places_of(weights_at(places, wide), wide), places, rtol=1e-9)


def test_a_place_is_where_the_zero_lies() -> None:
    """At position 1/2 of the range 100 the first layer maps t = 50 to 0, and folds at 75 onto a ninth."""
    [flat] = weights_at(np.asarray([[0.5, 0.75, 1.0]]), np.asarray([100.0]))
    assert np.exp(residual(flat, np.asarray([50.0])).log)[0] < 1e-12
    assert flat[1] == pytest.approx(-1 / 75)
    assert flat[2] == pytest.approx(-9 / 100, rel=1e-3)  # the search for the largest tau uses a grid
    assert ranges(flat[None])[0] == pytest.approx(100.0)


def test_moves_and_layers_put_in_keep_their_shapes() -> None:
    rng = np.random.default_rng(1)
    models = folded(rng, 4, 3, 60.0, 300.0)
    assert moved(rng, 7, models).shape == (7, 5)
    assert deepened(rng, 9, models).shape == (9, 7)
    assert np.all(np.isfinite(deepened(rng, 9, models[:, :1])))


# ---- the optimum compared with a global method


def by_evolution(layers: int, noise: float, seed: int, generations: int) -> float:
    """The smallest loss above the floor by differential evolution in the positions and the range, polished."""
    loss = ExcessLoss(gauss_rule(20, 10, degree(layers)), noise)

    def value(x: Floats) -> float:
        flat = weights_at(x[None, :-1], np.exp(x[-1:]))
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.log(np.nan_to_num(loss(flat[0]), nan=1e300, posinf=1e300) + 1e-300))

    bounds = [(0.02, 1.5) if place % 2 == 0 else (0.3, 3.0) for place in range(2 * layers - 1)] + [(3.0, 6.5)]
    found = differential_evolution(value, bounds, seed=seed, maxiter=generations, popsize=20, tol=1e-10)
    flat = weights_at(found.x[None, :-1], np.exp(found.x[-1:]))
    return float(descended(loss, flat, 300).values[0])


@pytest.mark.parametrize(
    ("layers", "sigma_max"),
    [(2, 3.0), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((2, 0.0), (3, 0.0), (3, 1.0), (3, 3.0)))],
)
def test_differential_evolution_finds_no_other_optimum(layers: int, sigma_max: float) -> None:
    """It shares the loss, and neither starts nor steps; of two layers both minima are polished to 1e-9."""
    regression = Regression(10, 20, UniformNoise(sigma_max))
    loss = ExcessLoss(gauss_rule(20, 10, degree(layers)), regression.noise.second_moment)
    ours = loss(flat_weights(optimal_gdplusplus(regression, layers)[-1].model))
    seeds, generations, known = ((0,), 60, 1e-9) if layers == 2 else ((0, 1), 300, 1e-6)
    theirs = min(by_evolution(layers, regression.noise.second_moment, seed, generations) for seed in seeds)
    assert ours <= theirs * (1 + 1e-9)
    assert theirs <= ours * (1 + known)


@pytest.mark.slow
def test_four_layers_from_other_starts() -> None:
    """Another seed ends in the same minimum, by several routes; growing layer by layer does not find it."""
    one, other = (optimal_gdplusplus(SILENT, 4, seed=seed)[-1] for seed in (0, 1))
    assert one.loss.value == pytest.approx(3.9759164648e-4, rel=1e-9)
    assert other.loss.value == pytest.approx(one.loss.value, rel=1e-9)
    assert len(one.routes) >= 2
    assert len(other.routes) >= 2
    assert grown_gdplusplus(SILENT, 4)[-1].loss.value > 2 * one.loss.value


def test_the_search_agrees_with_itself() -> None:
    *_, three = optimal_gdplusplus(SILENT, 3)
    assert three.loss.value == pytest.approx(0.0170379676, rel=1e-8)
    assert three.agreeing >= 5
    assert len(three.routes) >= 2


# ---- the stored optima


@pytest.mark.parametrize("noise", [each.name for each in NOISES])
def test_stored_optima_are_minima_above_their_floors(noise: str) -> None:
    """Integrated again: deeper is better, the gradient is 0; no floor exceeds the loss, one of fewer layers does."""
    found = [known_optimum(noise, layers) for layers in (1, 2, 3, 4)]
    floors = [gdplusplus_floor(regression_named(noise), layers) for layers in (1, 2, 3, 4)]
    for optimum, floor in zip(found, floors, strict=True):
        assert optimum.loss.value + optimum.loss.error >= floor.value - floor.error
        assert optimum.unfinished < 1e-6
        assert optimum.curvature > 0
    for shallow, deep in pairwise(found):
        assert deep.excess.value < shallow.excess.value
    assert found[1].loss.value < floors[0].value - floors[0].error


@pytest.mark.parametrize(
    "view", [pytest.param(each, marks=pytest.mark.slow if each == "1e9" else ()) for each in VIEWS]
)
def test_stored_optima_are_no_worse_than_grown_ones(view: str) -> None:
    grown = grown_gdplusplus(SILENT, 3, VIEWS[view])
    for layers, each in enumerate(grown, 1):
        found = known_optimum("uniform-0", layers, VIEWS[view])
        assert found.loss.value <= each.loss.value + each.loss.error + found.loss.error


def test_a_file_of_optima_is_read_as_written_and_refused_when_edited(tmp_path: Path) -> None:
    path = tmp_path / "gdplusplus.json"
    optima = known.known("uniform-0", known_path())
    for noise in ("uniform-3", "uniform-0"):
        write_known(path, noise, known.known(noise, known_path()))
    assert optima == known.known("uniform-0", path)
    text = path.read_text()
    assert list(json.loads(text)) == ["uniform-0", "uniform-3"]
    path.with_name("edited.json").write_text(text.replace('"agreeing":', '"agreeing":1', 1))
    with pytest.raises(InvalidInput, match="is not that of its content"):
        known.known("uniform-0", path.with_name("edited.json"))
    path.with_name("older.json").write_text(text.replace('"format":2', '"format":1'))
    with pytest.raises(InvalidInput, match="has format 1"):
        known.known("uniform-0", path.with_name("older.json"))
    path.with_name("notes.json").write_text("notes")
    with pytest.raises(InvalidInput, match="holds no records"):
        known.known("uniform-0", path.with_name("notes.json"))
    assert known.known("uniform-0", tmp_path / "none.json") == known.known("uniform-9", path) == {}


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), layers=st.integers(2, 3))
def test_no_descent_from_anywhere_is_better(seed: int, layers: int) -> None:
    """Random weights, of both signs, followed to the end, compared with the stored optimum."""
    rng = np.random.default_rng(seed)
    loss = ExcessLoss(spectral_rule(20, 10, 3**layers, points=8), 0.0)
    signs = rng.choice([-1.0, -1.0, -1.0, 1.0], (20, 2 * layers - 1))
    start = weights_at(1 / signs * np.exp(rng.uniform(-4, 1, signs.shape)), np.exp(rng.uniform(3, 6, 20)))
    ends = descended(loss, start, 100)
    best = known_optimum("uniform-0", layers)
    assert ends.values[0] >= best.excess.value * (1 - 1e-9)
