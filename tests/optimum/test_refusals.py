"""What breaks a rule is refused with the rule, and work beyond reach with its reason: two tables of questions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lipverify import Problem, optimal_matrix, optimal_window, sensitivity
from lipverify.checks.softmax.full_form import train_full
from lipverify.checks.softmax.lowrank_blocks import problem as low_rank_problem
from lipverify.covariates import MappedNormals, ProductOfSpheres, axes
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import Affine, LowRank, ReLU, Ridge, Zonal
from lipverify.optimum import Recipe, held_out_losses
from lipverify.optimum.block import critical_radius, optimal_block
from lipverify.optimum.matrix import SpectralBall
from lipverify.optimum.window import empirical_window

HERE = Problem(d=2, n=5, law=Affine())
SMALL = Problem(d=2, n=8, law=Affine(L=3.0))
SOFT = Problem(d=2, n=6, law=ReLU(L=2.0), sigma=0.5)
FAR = Problem(d=3, n=30, law=Affine())
PAIR = low_rank_problem("sphere", 2, 1, 5, 0.0)
NAN, INF = math.nan, math.inf
# tokens in the plane x_3 = 1: the last row of M adds the same number to all scores
PLANE = MappedNormals(
    lambda z: np.concatenate([z[..., :2] / np.hypot(z[..., :1], z[..., 1:2]), 0 * z[..., :1] + 1], -1), 2.0
)
# functions of the sign of one coordinate, without noise: more weight on tokens of the same sign is always better
SIGNS = Problem(d=3, n=5, law=LowRank(axes(3, 1)), sigma=0.0, covariates=ProductOfSpheres(axes(3, 1), 1.0, 1.0))


def matrix(of: Any = HERE, **options: Any) -> Any:
    return lambda: optimal_matrix(of, **options)


def window(of: Any = FAR, contexts: Any = 640, **options: Any) -> Any:
    return lambda: empirical_window(of, contexts=contexts, **options)


def trained(of: Any = SMALL, attention: Any = "softmax", every: Any = 1, **recipe: Any) -> Any:
    usual: dict[str, Any] = {"optimiser": "adam", "learning_rate": 0.05, "steps": 500, "batch": 256, "start": 0.1}
    return lambda: Recipe(**usual | recipe).runs(of, ["a"], attention=attention, every=every, seed=0)


INVALID: list[tuple[Any, str]] = [
    *((lambda C=C: SpectralBall(C=C), "C = ") for C in (0.0, -1.0, INF, NAN, "one", True)),
    (lambda: SpectralBall([[1.0], [1.0]], C=1.0), "orthonormal"),
    (lambda: SpectralBall([1.0, 0.0], C=1.0), "matrix"),
    (lambda: SpectralBall("B", C=1.0), "matrix"),
    (matrix(contexts=639), "contexts = 639"),
    (matrix(contexts=1e4), "contexts = 10000.0"),
    (matrix(starts=1), "starts = 1"),
    (matrix(starts=True), "starts = True"),
    (matrix(attention="hard"), "attention = 'hard'"),
    (matrix(constraint="ball"), "constraint = 'ball'"),
    (matrix(constraint=SpectralBall(axes(3, 1))), "3 rows and d = 2"),
    (matrix(HERE.replace(n=1)), "n = 1"),
    (matrix(HERE.replace(sigma=0, law=Affine(L=0.0))), "does not depend on M"),
    (matrix(HERE.replace(law=Zonal(spectrum=(0.0, 1.0)))), "covariance only"),
    (matrix("problem"), "not a Problem"),
    *((window(contexts=contexts), "contexts") for contexts in (639, 1e4, "many", True)),
    (window(HERE, M=np.zeros((2, 2))), "M = 0"),
    *((lambda C=C: optimal_block(PAIR, C), "radius") for C in (0.0, -1.0, INF, NAN, True, "wide")),
    *((lambda C=C: critical_radius(PAIR, C), "radius") for C in (0.0, -1.0, INF, NAN, True, "wide")),
    (lambda: optimal_block(low_rank_problem("sphere", 2, 1, 1, 0.0), 1.0), "n = 1"),
    (lambda: optimal_window(Problem(d=4, n=50, law=Affine(L=0.0), sigma=0.0)), "every window"),
    (lambda: sensitivity(optimal_window(Problem(d=3, n=1, law=Affine()))), "where = 'zero'"),
    (trained(optimiser="sgd"), "optimiser = 'sgd'"),
    (trained(attention="hard"), "attention = 'hard'"),
    (trained(steps=0), "steps = 0"),
    (trained(batch=2.5), "batch = 2.5"),
    (trained(every=0), "every = 0"),
    (lambda: held_out_losses(SMALL, np.eye(2)[None], held_out=63), "held_out = 63"),
    (trained(learning_rate=0.0), "learning_rate = 0.0"),
    (trained(learning_rate=INF), "learning_rate = inf"),
    (trained(learning_rate=NAN, optimiser="gd"), "learning_rate = nan"),
    (trained(start=NAN), "start = nan"),
    (trained(SMALL.replace(law=Zonal(spectrum=(0.0, 1.0)))), "covariance only"),
]


@pytest.mark.parametrize(("ask", "words"), INVALID)
def test_what_breaks_a_rule_is_refused_in_one_line(ask: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refusal:
        ask()
    assert "\n" not in str(refusal.value)


BEYOND: list[tuple[Any, str]] = [
    (matrix(SIGNS, contexts=640, starts=2), r"constraint=SpectralBall"),
    (matrix(Problem(d=3, n=5, law=Affine(L=3.0), covariates=PLANE), contexts=640, starts=3), "does not determine M"),
    *((matrix(Problem(d=5, n=n, law=Affine())), "at most") for n in (1e6, 1e30)),
    (window(FAR.replace(n=1e12), 1000), "sampling draws every token"),
    (window(FAR.replace(sigma=1e4)), "end of the grid"),
    (window(FAR.replace(law=Affine(L=0.0))), "end of the grid"),
    (lambda: sensitivity(optimal_window(FAR.replace(sigma=1e4))), "flat around w.*compare optima"),
    # without noise the loss falls almost as far as it is known
    (lambda: optimal_window(Problem(d=3, n=1e30, law=Ridge(lambda z: np.sin(20 * z)), sigma=0.0)), "any w near it"),
    (trained(SMALL.replace(n=1e8)), "at most"),
    (lambda: train_full(SOFT, ["a"], optimiser="gd", steps=20, batch=4, learning_rate=1e200), "diverged"),
]


@pytest.mark.parametrize(("ask", "words"), BEYOND)
def test_what_is_beyond_reach_is_refused_with_the_reason(ask: Any, words: str) -> None:
    with pytest.raises(OutOfReach, match=words):
        ask()
