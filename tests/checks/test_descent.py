"""The optimal matrix of linear attention on correlated tokens: it equals that of regression and its gradient is 0."""

from __future__ import annotations

import numpy as np
import pytest

from lipverify.checks.softmax import preconditioner
from lipverify.covariates import Gaussian
from lipverify.linear_transformer import best_step
from lipverify.prompts import Prompts


@pytest.mark.parametrize("n", [2, 10, 1000])
def test_on_linear_tasks_it_is_the_best_step_of_regression(n: int) -> None:
    tasks = Gaussian(np.eye(3) / 9)  # E l^2 q q^T = I/9
    prompts = Prompts(d=3, n=n, covariates=Gaussian(preconditioner.SIGMA), tasks=tasks, sigma=preconditioner.LITTLE)
    assert preconditioner.preconditioner("affine", n) == pytest.approx(best_step(prompts), rel=1e-10, abs=1e-10)
    assert preconditioner.preconditioner("affine", n, 0.9) != pytest.approx(best_step(prompts), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("trace", [1.0, 0.5])
def test_the_gradient_on_relu_tasks_vanishes_only_at_the_closed_form(trace: float) -> None:
    """The mean slope of the loss in every entry of M, in standard errors, from tokens, links and labels drawn here."""
    random, n, count = np.random.default_rng(0), 6, 200_000
    root = np.linalg.cholesky(preconditioner.SIGMA)
    x = random.normal(size=(count, n + 1, 3)) @ root.T
    q = random.normal(size=(count, 3))
    z = np.einsum("cnd,cd->cn", x, q / np.linalg.norm(q, axis=1)[:, None])
    up, down = random.uniform(-1, 1, (2, count, 1))
    f = np.where(z > 0, up * z, -down * z)
    y = f[:, :n] + preconditioner.LITTLE * random.normal(size=(count, n))
    g = np.einsum("cn,cnd->cd", y, x[:, :n]) / n
    off = np.einsum("ci,ij,cj->c", g, preconditioner.preconditioner("relu", n, trace), x[:, n]) - f[:, n]
    slopes = off[:, None, None] * g[:, :, None] * x[:, n, None, :]
    away = np.abs(slopes.mean(axis=0)) / (slopes.std(axis=0) / np.sqrt(count))
    assert away.max() < 4 if trace == 1.0 else away.max() > 10
