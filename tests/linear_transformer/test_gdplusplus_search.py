"""The stored optima of GD++: a global method and descents from anywhere find no better one."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import differential_evolution

from lipverify.errors import InvalidInput
from lipverify.foundation import Floats
from lipverify.linear_transformer import UniformNoise, gdplusplus_floor
from lipverify.linear_transformer.gdplusplus import (  # internal: the file of known optima is replaced
    POINTS,
    ExcessLoss,
    excess_loss,
    flat_weights,
    grown_gdplusplus,
    known,
    known_optimum,
    spectral_rule,
)
from lipverify.linear_transformer.gdplusplus.descents import best_ends  # internal: descents from other starts
from lipverify.linear_transformer.gdplusplus.floor import degree  # internal: the degree of its polynomials
from lipverify.linear_transformer.gdplusplus.known import VIEWS, known_path  # internal: the file is edited
from lipverify.linear_transformer.gdplusplus.orthogonal import gauss_rule  # internal: the rule that averages
from lipverify.linear_transformer.published import NOISES, regression_named
from lipverify.prompts import Prompts
from tests.linear_transformer.test_gdplusplus import stationarity

EPS = float(np.finfo(float).eps)
SILENT = Prompts(d=10, n=20, sigma=UniformNoise(0.0))


# ---- the optimum compared with a global method


def by_evolution(layers: int, noise: float, seed: int, generations: int) -> float:
    """The smallest loss above the floor by differential evolution in the logarithms of the weights, polished."""
    loss = ExcessLoss(gauss_rule(20, 10, degree(layers)), noise)

    def value(x: Floats) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.log(np.nan_to_num(loss(-np.exp(x)), nan=1e300, posinf=1e300) + 1e-300))

    bounds = [(-7.0, 0.0)] * (2 * layers - 1)
    found = differential_evolution(value, bounds, seed=seed, maxiter=generations, popsize=20, tol=1e-10)
    return best_ends(loss, [-np.exp(found.x)])[0].value


@pytest.mark.parametrize(
    ("layers", "sigma_max"),
    [(2, 3), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((2, 0), (3, 0), (3, 1), (3, 3)))],
)
def test_differential_evolution_finds_no_other_optimum(layers: int, sigma_max: int) -> None:
    """It shares the loss, and neither starts nor steps; of two layers both minima are polished to 1e-9."""
    regression = Prompts(d=10, n=20, sigma=UniformNoise(sigma_max))
    loss = ExcessLoss(gauss_rule(20, 10, degree(layers)), regression.noise.second_moment)
    ours = loss(flat_weights(known_optimum(f"uniform-{sigma_max}", layers).model))
    seeds, generations, known = ((0,), 60, 1e-9) if layers == 2 else ((0, 1), 300, 1e-6)
    theirs = min(by_evolution(layers, regression.noise.second_moment, seed, generations) for seed in seeds)
    assert ours <= theirs * (1 + 1e-9)
    assert theirs <= ours * (1 + known)


# ---- the stored optima


@pytest.mark.parametrize("noise", [each.name for each in NOISES])
def test_stored_optima_are_minima_above_their_floors(noise: str) -> None:
    """Integrated again: deeper is better, the gradient is 0; no floor exceeds the loss, one of fewer layers does."""
    found = [known_optimum(noise, layers) for layers in (1, 2, 3, 4)]
    floors = [gdplusplus_floor(regression_named(noise), layers) for layers in (1, 2, 3, 4)]
    for layers, (optimum, floor) in enumerate(zip(found, floors, strict=True), 1):
        assert optimum.loss.value + optimum.loss.error >= floor.value - floor.error
        loss = excess_loss(regression_named(noise), layers, POINTS, None)
        unfinished, curvature = stationarity(loss, flat_weights(optimum.model))
        assert unfinished < 1e-6
        assert curvature > 0
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
    text = known_path().read_text()
    path.write_text(text)
    assert known.known("uniform-0", path)["all"]
    path.with_name("edited.json").write_text(text.replace('"agreeing":', '"agreeing":1'))
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
    ends = best_ends(loss, list(signs * np.exp(rng.uniform(-7, 0, signs.shape))))
    best = known_optimum("uniform-0", layers)
    assert ends[0].value >= best.excess.value * (1 - 1e-9)
