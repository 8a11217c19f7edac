"""Every public name of `lipverify.linear_transformer` with a value that breaks its rule is refused in one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lipverify.linear_transformer as lt
from lipverify.checks.linear_transformers.condition_numbers import MINIMAX
from lipverify.checks.linear_transformers.contributions import ablated
from lipverify.checks.linear_transformers.cosines import expected_alignment, mean_square_cosine
from lipverify.checks.linear_transformers.layer_counts import (
    chebyshev_log_condition_reached,
    layers_needed,
    log_condition_reached,
)
from lipverify.checks.linear_transformers.two_levels import TwoLevels, difference
from lipverify.covariates import Coordinates, Sphere
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.linear_transformer.families import Diag, family_named
from lipverify.linear_transformer.gdplusplus import second_moment, small_start, spectral_rule
from lipverify.linear_transformer.gdplusplus.spectrum import largest_seen  # internal: an eigenvalue of no context
from lipverify.linear_transformer.layer import written_out  # internal: layers of another size than the moments
from lipverify.linear_transformer.regression import NoiseLaw, noise_named
from lipverify.linear_transformer.regression.rare import POPULATION  # internal: what the rarest are drawn from
from lipverify.linear_transformer.training import PLANS, draw_sample
from lipverify.linear_transformer.training.stages import fit  # internal: a training without a start
from lipverify.prompts import Prompts

NOISE = lt.UniformNoise(1.0)
HERE = Prompts(d=5, n=20, sigma=NOISE)
PROMPTS = Prompts(d=3, n=20)
CONTEXTS = lt.draw_contexts(HERE, 8, 0, "test/refusals")
FEW = Prompts(d=5, n=4, sigma=NOISE)
NAN, INF = float("nan"), float("inf")
STEP = lt.GDPlusPlus(0.0, -0.01)

REFUSED: dict[str, tuple[Any, str]] = {
    "AdaRR": (lambda: lt.AdaRR()(lt.draw_contexts(FEW, 8, 0, "a")), "n = 4 <= d = 5"),
    "Bayes": (lambda: lt.Bayes(NOISE, nodes=0), "nodes = 0"),
    "CategoricalNoise": (lambda: lt.CategoricalNoise((NAN,)), "levels = nan"),
    "ConstRR": (lambda: lt.ConstRR(-1), "penalty = -1"),
    "Diagonal": (lambda: lt.readout(np.eye(3), [lt.Diagonal(NAN, 0, 0, 0)]), r"layers\[0\] = Diagonal\(xx=nan"),
    "GDPlusPlus": (lambda: lt.readout(np.eye(3), [STEP, lt.GDPlusPlus(INF, 0)]), r"layers\[1\] = GDPlusPlus\(xx=inf"),
    "Layer": (
        lambda: lt.trajectory(np.eye(3), [lt.Layer(np.full((1, 3, 3), NAN), np.ones((1, 3, 3)))]),
        "finite numbers",
    ),
    "SingleHead": (
        lambda: lt.readout(np.eye(3), [lt.SingleHead(1, 2, 3, "a")]),  # type: ignore[arg-type]
        "q_y='a'",
    ),
    "Tokens": (lambda: lt.forward(lt.Tokens(np.ones((2, 3)), np.ones(4)), [STEP]), r"query \(4,\)"),
    "UniformNoise": (lambda: lt.UniformNoise(-1), "sigma_max = -1"),
    "best_constant": (lambda: lt.best_constant(3), "prompts = 3"),  # type: ignore[arg-type]
    "best_step": (lambda: lt.best_step(None), "prompts = None"),  # type: ignore[arg-type]
    "column": (lambda: lt.column("uniform-9", 0, 0), "tables uniform-9"),
    "constant_ridge_loss": (lambda: lt.constant_ridge_loss(FEW), "n = 4"),
    "decades": (lambda: list(lt.decades(HERE, 0, 0, "a")), "count = 0"),
    "draw_contexts": (lambda: lt.draw_contexts(HERE, 4, -1, "a"), "seed = -1"),
    "estimate": (lambda: lt.estimate((3,), CONTEXTS), r"layers\[0\] = 3"),  # type: ignore[arg-type]
    "evaluation": (lambda: lt.evaluation(CONTEXTS, np.ones(8)), "the sum 1"),
    "forward": (lambda: lt.forward(lt.Tokens(np.ones((2, 3)), np.ones(3)), [3]), r"layers\[0\] = 3"),  # type: ignore[list-item]
    "gdplusplus_floor": (lambda: lt.gdplusplus_floor(HERE, 0), "layers = 0"),
    "known_optimum": (lambda: lt.known_optimum("uniform-0", 99), "99"),
    "grown_gdplusplus": (lambda: lt.grown_gdplusplus(HERE, 99), "depth = 99"),
    "preconditioned": (lambda: lt.preconditioned(np.full((2, 2), NAN), 5), "A = "),
    "printed": (lambda: lt.printed("uniform-9", "GD++", 1), "no entry"),
    "readout": (lambda: lt.readout(None, [STEP]), r"gram has shape \(\)"),
    "regression_named": (lambda: lt.regression_named("uniform-3@5"), "uniform-3@5"),
    "runs": (lambda: lt.runs("uniform-9"), "protocol uniform-9"),
    "spectral_mean": (lambda: lt.spectral_mean(lambda t: t * NAN, 10, 5), "no finite number"),
    "stored_tables": (lambda: lt.stored_tables("uniform-9"), "tables uniform-9"),
    "step_risk": (lambda: lt.step_risk(PROMPTS, np.eye(4)), r"A has shape \(4, 4\)"),
    "thinned": (lambda: lt.thinned(HERE, 5, 0, "a"), "contexts = 5"),
    "trainings": (lambda: lt.trainings("gamma-3", "DIAG", 1), "gamma-3"),
    "trajectory": (lambda: lt.trajectory(np.ones((2, 3)), [STEP]), r"gram has shape \(2, 3\)"),
    "tuned_ridge": (lambda: lt.tuned_ridge(lt.evaluation(lt.draw_contexts(FEW, 8, 0, "a"))), "n = 4 <= d = 5"),
}
MORE: list[tuple[Any, str]] = [
    (lambda: lt.readout(np.ones((2, 3)), [STEP]), r"gram has shape \(2, 3\)"),
    (lambda: lt.step_risk(None, np.eye(3)), "prompts = None"),  # type: ignore[arg-type]
    (lambda: lt.spectral_mean(3, 5, 5), "f = 3 is not a function"),  # type: ignore[arg-type]
    (lambda: lt.spectral_mean(np.exp, 0, 5), "n = 0"),
    (lambda: lt.evaluation(CONTEXTS, np.full(3, 1 / 3)), r"share of shape \(3,\)"),
    (lambda: lt.draw_contexts(3, 5, 0, "a"), r"prompts = 3.*Prompts\(d="),  # type: ignore[arg-type]
    (lambda: lt.evaluation(3), "contexts = 3.*draw_contexts"),  # type: ignore[arg-type]
    (lambda: lt.gdplusplus_floor(3, 2), "prompts = 3"),  # type: ignore[arg-type]
    (lambda: lt.grown_gdplusplus(3, 2), "prompts = 3"),  # type: ignore[arg-type]
    (lambda: lt.readout(np.eye(4), (3,)), r"layers\[0\] = 3.*GDPlusPlus"),  # type: ignore[arg-type]
    (lambda: lt.readout(np.eye(4), [lt.Layer(*np.zeros((2, 1, 3, 3)))]), "d = 3: this layer"),
    # layers, tokens and moments
    (lambda: lt.Layer(*np.zeros((2, 3, 3))), r"P has shape \(3, 3\)"),
    (lambda: lt.Layer(*np.zeros((2, 0, 3, 3))), r"P has shape \(0, 3, 3\)"),
    (lambda: lt.Layer(np.zeros((1, 3, 3)), np.zeros((2, 3, 3))), "must be the same"),
    (lambda: lt.Layer([[1.0]], np.zeros((1, 2, 2))), r"P has shape \(\)"),
    (lambda: written_out([lt.Layer(*np.zeros((2, 1, 3, 3)))], np.zeros((4, 4))), "made for d = 2"),
    (lambda: lt.Diagonal(0.0, 0.0, 0.0, 0.0).layer(0), "d = 0"),
    (lambda: lt.forward(lt.Tokens(np.zeros((2, 3)), np.zeros(4)), []), r"query \(4,\)"),
    (lambda: lt.forward(lt.Tokens(np.zeros((0, 3)), np.zeros(3)), []), r"context has shape \(0, 3\)"),
    (lambda: lt.trajectory(np.zeros((3, 4)), []), r"gram has shape \(3, 4\)"),
    (lambda: lt.trajectory(np.zeros(3), []), r"gram has shape \(3,\)"),
    (lambda: ablated([STEP, STEP], 2, "xy"), "layer = 2: the model has layers 0 to 1"),
    (lambda: ablated([STEP, STEP], 0, "zz"), "choose one of xx, xy, yx, yy"),
    (lambda: lt.step_risk(Prompts(d=2, n=5), np.eye(3)), "d = 2"),
    *(
        (lambda law=law: lt.draw_contexts(HERE.replace(**law), 5, 0, "a"), r"x, w ~ N\(0, I\)")
        for law in ({"covariates": Sphere()}, {"tasks": Sphere()}, {"query": Sphere()})
    ),
    (lambda: lt.preconditioned(np.ones((2, 3)), 5), "shape"),
    # GD++
    (lambda: spectral_rule(4, 5), "n = 4 < d = 5"),
    (lambda: largest_seen(20, 10, 0), "contexts = 0"),
    (lambda: lt.grown_gdplusplus(HERE, 8), "depth = 8"),
    (lambda: lt.grown_gdplusplus(FEW, 1), "n = 4 < d = 5"),
    (lambda: lt.constant_ridge_loss(HERE, -1.0), r"penalty = -1\.0"),
    (lambda: lt.gdplusplus_floor(Prompts(d=2, n=4, sigma=NOISE), 8), "layers = 8"),
    (lambda: lt.gdplusplus_floor(FEW, 1), "n = 4 < d = 5"),
    (lambda: second_moment(NoiseLaw()), "the floor is proved for"),
    (lambda: lt.known_optimum("uniform-0", 9), "use grown_gdplusplus"),
    *((lambda k=k: small_start(HERE, k), f"layers = {k}: .* from 1 to 3") for k in (0, 4)),
    # numbers of layers, levels, alignments
    (lambda: MINIMAX.weights(0.5, 2), "kappa = 0.5"),
    (lambda: MINIMAX.weights(2.0, 0), "layers = 0"),
    (lambda: layers_needed(MINIMAX, 1.0, 3), "kappa = 1.0"),
    (lambda: log_condition_reached(MINIMAX, 1.0, 3), "epsilon = 1.0"),
    (lambda: chebyshev_log_condition_reached(0.1, 3), "0.1"),
    (lambda: difference(2, 2, 1.0, -0.5, -0.1), "n = 2"),
    (lambda: TwoLevels(-1.0, 1.0), "-1.0"),
    (lambda: TwoLevels(0.0, 1.0).layers(10, "both"), "both"),
    (lambda: expected_alignment(0), "0"),
    (lambda: mean_square_cosine(3, 2), "2"),
    # samples, trainings, names
    *(
        (lambda count=count, of=of: list(lt.decades(HERE, count, 0, "a", population=of)), "must be an integer")
        for count, of in ((0, POPULATION), (17, POPULATION), (2.5, POPULATION), (3, 99))
    ),
    *((lambda count=count: draw_sample(HERE, count, 0, "a"), "multiples of 1024") for count in (0, 8, 1000, -1024)),
    (lambda: fit(Diag(HERE), [], PLANS["DIAG"][0], 0, "a"), "at least one"),
    *((lambda name=name: noise_named(name), name) for name in ("uniform", "uniform-1-2", "levels-", "levels-x")),
    *((lambda name=name: noise_named(name), name) for name in ("normal-1", "uniform--1")),
    *((lambda name=name: lt.regression_named(name), name) for name in ("uniform-2@", "uniform-2@3x8")),
    (lambda: lt.constant_ridge_loss(HERE.replace(covariates=Sphere()), 2.0), "x, w ~ N"),
    (lambda: family_named("DIAG", HERE.replace(covariates=Sphere())), "x, w ~ N"),
    (lambda: lt.trajectory(np.eye(3), STEP), "give a list of layers"),  # type: ignore[arg-type]
    (lambda: lt.grown_gdplusplus(HERE.replace(n=1e30), 1), "from 1 to 1000000000"),
    (lambda: lt.best_constant(HERE.replace(sigma=1e200)), r"levels = 1e\+200"),
]


@pytest.mark.parametrize("name", dir(lt))
def test_every_public_name_refuses_a_value_that_breaks_its_rule(name: str) -> None:
    make, words = REFUSED[name]
    with pytest.raises(InvalidInput, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


# whose fourth powers are 0 or infinite in doubles: the step was 0 with an error of 0
SMALL, LARGE = (PROMPTS.replace(covariates=Coordinates(scale=scale)) for scale in (1e-100, 1e74))
BEYOND: list[tuple[Any, str]] = [
    (lambda: lt.best_step(SMALL), "fourth moments of covariates, times the tasks', of 0: "),
    (lambda: lt.step_risk(LARGE, np.eye(3)), r"of 1\.5e\+297: "),
    (lambda: spectral_rule(400, 200), "n = 400"),
    (lambda: difference(3, 10, 1.0, -0.5, -0.1), "d = 3"),
]


@pytest.mark.parametrize(
    ("error", "make", "words"),
    [*((InvalidInput, *case) for case in MORE), *((OutOfReach, *case) for case in BEYOND)],
)
def test_other_values_are_refused_as_well(error: type[Exception], make: Any, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)
