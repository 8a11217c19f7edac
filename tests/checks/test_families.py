"""One layer on correlated covariates: the best multiple of the identity agrees with a search and with samples."""

from __future__ import annotations

import numpy as np
import pytest

from lipverify.checks.linear_transformers.preconditioning import one_layer
from lipverify.covariates import Gaussian
from lipverify.linear_transformer import best_step, step_risk
from lipverify.prompts import Prompts, predictors, risk


@pytest.mark.parametrize("condition", [pytest.param(1.0, marks=pytest.mark.slow), 5.0])
def test_no_other_multiple_is_better(condition: float) -> None:
    d, n = 4, 30
    here = Prompts(d=d, n=n, covariates=Gaussian(np.geomspace(1.0, 1 / condition, d)), sigma=1.0)
    searched = min(step_risk(here, a * np.eye(d)).value for a in np.linspace(0, 4, 4001))
    ratio, error = one_layer(d, n, condition)
    assert ratio - error <= searched / step_risk(here, best_step(here)).value <= ratio * (1 + 1e-6)


def test_the_quotient_is_that_of_sampled_prompts() -> None:
    d, n = 3, 20
    here = Prompts(d=d, n=n, covariates=Gaussian(np.geomspace(1.0, 0.1, d)), sigma=1.0)
    multiple = min(np.linspace(0, 4, 401), key=lambda a: step_risk(here, a * np.eye(d)).value)
    matrices = (multiple * np.eye(d), best_step(here))
    sampled = [risk(here, predictors.gradient_descent(1, A), 8192, seed=0) for A in matrices]
    (one, one_error), (other, other_error) = sampled
    ratio, _ = one_layer(d, n, 10.0)
    assert abs(one / other - ratio) < 2 * (one_error + other_error * ratio) / other
