"""Pretraining: optimisers compared with their formulas, descent to the optimum, addresses, refusals."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify import Problem, loss_terms, optimal_window
from lipverify.covariates import Ellipsoid, axes
from lipverify.errors import OutOfReach
from lipverify.foundation.optimisers import OPTIMISERS, Adam, Moments  # internal: one step against its formula
from lipverify.laws import Affine, Law, LowRank, ReLU
from lipverify.optimum import Recipe, held_out_losses
from lipverify.optimum.matrix.sampled import draw_loss  # internal: losses computed again at the addresses of a training
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
SMALL = Problem(d=2, n=8, law=Affine(L=3.0))


def trained(
    problem: Problem, *streams: str, every: int, attention: Any = "softmax", seed: int = 0, **recipe: Any
) -> Any:
    """M along a training, for each stream: (run, record, d, d)."""
    usual: dict[str, Any] = {"optimiser": "adam", "learning_rate": 0.05, "batch": 16, "start": 0.1}
    return Recipe(**usual | recipe).runs(problem, streams or [""], attention=attention, every=every, seed=seed)


@given(rate=log_floats(1e-4, 1.0), size=log_floats(1e-3, 1e3), seed=st.integers(0, 2**32))
def test_the_first_step_of_adam_has_a_closed_form(rate: float, size: float, seed: int) -> None:
    """m / (1 - beta1) = g and v / (1 - beta2) = g^2: the change is -rate g / (|g| + eps)."""
    g = size * np.random.default_rng(seed).standard_normal((3, 3))
    moments, change = Adam(rate).step(Moments.none(3, 3), g)
    wanted = -rate * g / (np.abs(g) + 1e-8)
    error = float(np.max(np.abs(change - wanted))) / rate
    target(error)
    assert error <= 8 * EPS
    assert moments.steps == 1


@given(beta1=st.floats(0, 0.99), beta2=st.floats(0, 0.99), seed=st.integers(0, 2**32), steps=st.integers(1, 20))
def test_adam_is_weighted_means_of_all_gradients(beta1: float, beta2: float, seed: int, steps: int) -> None:
    """After t steps: sum_s beta^{t-s} g_s / sum_s beta^{t-s}, and the same of squares."""
    gradients = np.random.default_rng(seed).standard_normal((steps, 2, 2))
    adam, moments, change = Adam(0.1, beta1, beta2), Moments.none(2, 2), np.zeros((2, 2))
    for g in gradients:
        moments, change = adam.step(moments, g)

    def mean(beta: float, values: Any) -> Any:
        weights = beta ** np.arange(steps - 1, -1, -1.0)
        return np.tensordot(weights, values, 1) / weights.sum()

    wanted = -0.1 * mean(beta1, gradients) / (np.sqrt(mean(beta2, gradients**2)) + 1e-8)
    # a mean that cancels leaves the rounding of its terms, divided by a root that is at least that of the last square
    scale = 0.1 * np.max(np.abs(gradients)) / np.sqrt((1 - beta2) * gradients[-1] ** 2)
    error, bound = float(np.max(np.abs(change - wanted) / scale)), 4 * steps * EPS / (1 - max(beta1, beta2))
    target(error / bound)
    assert error <= bound


def test_gradient_descent_takes_the_gradient_of_its_step() -> None:
    """Two steps, by hand; the control is the gradient of the other step."""
    [M] = trained(SMALL, "gd", optimiser="gd", steps=2, batch=100, learning_rate=0.7, every=1, seed=3)
    gradients = [draw_loss(SMALL, "softmax", 100, 3, f"gd/training/{t}")(M[t])[1] for t in range(2)]
    np.testing.assert_allclose(M[1], M[0] - 0.7 * gradients[0], rtol=64 * EPS)
    np.testing.assert_allclose(M[2], M[1] - 0.7 * gradients[1], rtol=64 * EPS)
    unseen = draw_loss(SMALL, "softmax", 64, 3, "gd/held-out")
    losses = held_out_losses(SMALL, M, held_out=64, seed=3, stream="gd")
    np.testing.assert_allclose(losses, [unseen(each)[0] for each in M], rtol=64 * EPS)
    assert not np.allclose(gradients[0], gradients[1], rtol=1e-3)


BATCH = 256


def noise_of_steps(problem: Problem, w: float) -> Any:
    """Covariance of the entries of a batch's gradient at M = w I, from 100 batches: known to a seventh of itself."""
    batches = (draw_loss(problem, "softmax", BATCH, 0, f"noise/{k}") for k in range(100))
    return np.cov([batch(w * np.eye(2))[1].ravel() for batch in batches], rowvar=False)


@pytest.mark.parametrize(
    ("optimiser", "learning_rate", "law", "n"),
    [("adam", 0.05, Affine(L=3.0), 30), ("gd", 8.0, Affine(L=3.0), 30), ("adam", 0.1, ReLU(L=2.0), 100)],
)
def test_training_ends_near_the_optimum(
    optimiser: str, learning_rate: float, law: Law, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps rate (H u + noise) end with u of variance rate c / (2 h), and a loss rate tr(C) / 4 above the minimum.

    The noise has variance c, the loss curvature h. Adam's rate is its own over the root of the mean square of a
    gradient, which is noise in the end; with beta2 = 0.9 it has forgotten the start by then.
    """
    problem = Problem(d=2, n=n, law=law)
    best = optimal_window(problem)
    monkeypatch.setitem(OPTIMISERS, "adam", partial(Adam, beta2=0.9))
    [M] = trained(problem, optimiser=optimiser, learning_rate=learning_rate, steps=300, batch=BATCH, every=100)
    assert M.shape == (4, 2, 2)
    losses = held_out_losses(problem, M)
    C, along = noise_of_steps(problem, best.w), np.eye(2).ravel() / math.sqrt(2)
    rate = learning_rate if optimiser == "gd" else learning_rate / math.sqrt(np.diag(C).mean())
    step = 0.05 * best.w
    low, least, high = loss_terms(problem, best.w + step * np.array([-1, 0, 1])).total
    h = float(low + high - 2 * least) / step**2 / 2  # in u = sqrt(2) w, the coordinate of M along the identity
    assert rate * h * 300 > 10, "what the start leaves is e^-10 of itself"
    spread = math.sqrt(rate * float(along @ C @ along) / (2 * h)) / math.sqrt(2)
    assert abs(np.trace(M[-1]) / 2 - best.w) <= 4 * spread
    assert 4 * spread < 0.1 * best.w, "a rate, a factor or a sign would show"
    # the excess is a sum of four squares: it exceeds five times its mean once in 2000 seeds; the contexts of the loss
    # know it to a tenth
    assert abs(losses[-1] - best.loss) <= 5 * rate * float(np.trace(C)) / 4 + 0.1 * best.loss
    assert losses[0] > 2 * best.loss


def test_a_larger_lipschitz_constant_grows_faster() -> None:
    how: dict[str, Any] = {"optimiser": "gd", "steps": 20, "batch": 256, "learning_rate": 0.5, "every": 20}
    norms = [np.linalg.norm(trained(SMALL.replace(law=Affine(L=L)), **how)[0, -1]) for L in (1.0, 3.0)]
    assert norms[1] > 2 * norms[0]


@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_general_problems_are_trained(attention: Any) -> None:
    """Not isotropic: the learned matrix has the direction that the functions use."""
    problem = Problem(d=2, n=10, law=LowRank(axes(2, 1), Affine(L=3.0)), covariates=Ellipsoid([1.0, 2.0]))
    [M] = trained(problem, steps=150, batch=64, attention=attention, every=150, start=0.01)
    first, last = held_out_losses(problem, M, attention=attention)
    assert last < 0.9 * first
    assert M[-1][0, 0] > 5 * np.max(np.abs(M[-1] - np.diag(np.diag(M[-1]))))


@pytest.mark.parametrize("batch", [16, pytest.param(40_000, marks=pytest.mark.slow)])
def test_runs_are_functions_of_their_addresses(batch: int) -> None:
    """Also where a batch is evaluated a part at a time."""
    how: dict[str, Any] = {"steps": 5, "batch": batch, "every": 2}
    together, alone = trained(SMALL, "a", "b", **how), [trained(SMALL, stream, **how)[0] for stream in "ab"]
    assert together.shape == (2, 4, 2, 2)
    np.testing.assert_allclose(together, alone, rtol=1e-12)
    assert np.array_equal(alone[0], trained(SMALL, "a", **how)[0])
    assert not np.any(together[0] == together[1])
    assert not np.any(together[0] == trained(SMALL, "a", seed=1, **how)[0])
    rarely = trained(SMALL, "a", **how | {"every": 5})[0]
    assert np.array_equal(rarely, alone[0][[0, -1]])


@pytest.mark.parametrize(
    ("attention", "learning_rate"), [("linear", 1e3), ("linear", 1e300), ("softmax", 1e12), ("softmax", 1e308)]
)
def test_divergence_names_the_step_and_the_rate(attention: Any, learning_rate: float) -> None:
    with pytest.raises(OutOfReach, match=rf"step \d+ with .* = {re.escape(f'{learning_rate:g}')} .*smaller") as refusal:
        trained(SMALL, optimiser="gd", attention=attention, learning_rate=learning_rate, steps=100, every=100)
    assert "training diverges" in str(refusal.value)
