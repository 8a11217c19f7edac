"""Every public name of `lipverify.linear_transformer` with a value that breaks its rule is refused in one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lipverify.linear_transformer as lt
from lipverify.errors import InvalidInput

NOISE = lt.UniformNoise(1.0)
HERE = lt.Regression(5, 20, NOISE)
PROMPTS = lt.Prompts(n=20, covariance=np.eye(3))
CONTEXTS = lt.draw_contexts(HERE, 8, 0, "test/refusals")
FEW = lt.Regression(5, 4, NOISE)
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
    "Prompts": (lambda: lt.Prompts(n=0, covariance=np.eye(2)), "n = 0"),
    "Regression": (lambda: lt.Regression(5, 20, 1.0), "noise = 1.0"),  # type: ignore[arg-type]
    "SingleHead": (
        lambda: lt.readout(np.eye(3), [lt.SingleHead(1, 2, 3, "a")]),  # type: ignore[arg-type]
        "q_y='a'",
    ),
    "Tokens": (lambda: lt.forward(lt.Tokens(np.ones((2, 3)), np.ones(4)), [STEP]), r"query \(4,\)"),
    "UniformNoise": (lambda: lt.UniformNoise(-1), "sigma_max = -1"),
    "best_constant": (lambda: lt.best_constant(3), "regression = 3"),  # type: ignore[arg-type]
    "best_step": (lambda: lt.best_step(None), "prompts = None"),  # type: ignore[arg-type]
    "column": (lambda: lt.column("uniform-9", 0, 0), "tables uniform-9"),
    "constant_ridge_loss": (lambda: lt.constant_ridge_loss(lt.Regression(5, 4, NOISE)), "n = 4"),
    "decades": (lambda: list(lt.decades(HERE, 0, 0, "a")), "count = 0"),
    "draw_contexts": (lambda: lt.draw_contexts(HERE, 4, -1, "a"), "seed = -1"),
    "estimate": (lambda: lt.estimate((3,), CONTEXTS), r"layers\[0\] = 3"),  # type: ignore[arg-type]
    "evaluation": (lambda: lt.evaluation(CONTEXTS, np.ones(8)), "the sum 1"),
    "forward": (lambda: lt.forward(lt.Tokens(np.ones((2, 3)), np.ones(3)), [3]), r"layers\[0\] = 3"),  # type: ignore[list-item]
    "gdplusplus_floor": (lambda: lt.gdplusplus_floor(HERE, 0), "layers = 0"),
    "known_optimum": (lambda: lt.known_optimum("uniform-0", 99), "99"),
    "optimal_gdplusplus": (lambda: lt.optimal_gdplusplus(HERE, 99), "depth = 99"),
    "preconditioned": (lambda: lt.preconditioned(np.full((2, 2), NAN), 5), "A = "),
    "printed": (lambda: lt.printed("uniform-9", "GD++", 1), "no entry"),
    "readout": (lambda: lt.readout(None, [STEP]), r"gram has shape \(\)"),
    "regression_named": (lambda: lt.regression_named("uniform-3@5"), "uniform-3@5"),
    "runs": (lambda: lt.runs("uniform-9"), "protocol uniform-9"),
    "sampled_risk": (lambda: lt.sampled_risk(PROMPTS, None, 10, 0), "model = None"),  # type: ignore[arg-type]
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
    (lambda: lt.sampled_risk(None, [STEP], 10, 0), "prompts = None"),  # type: ignore[arg-type]
    (lambda: lt.sampled_risk(PROMPTS, lambda gram: gram, 10, 0), r"weights of shape \(10, 4, 4\)"),
    (lambda: lt.spectral_mean(3, 5, 5), "f = 3 is not a function"),  # type: ignore[arg-type]
    (lambda: lt.spectral_mean(np.exp, 0, 5), "n = 0"),
    (lambda: lt.evaluation(CONTEXTS, np.full(3, 1 / 3)), r"share of shape \(3,\)"),
]


@pytest.mark.parametrize("name", dir(lt))
def test_every_public_name_refuses_a_value_that_breaks_its_rule(name: str) -> None:
    make, words = REFUSED[name]
    with pytest.raises(InvalidInput, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", range(len(MORE)))
def test_other_values_are_refused_as_well(case: int) -> None:
    make, words = MORE[case]
    with pytest.raises(InvalidInput, match=words):
        make()
