"""One layer on correlated covariates: the best multiple of the identity compared with the best matrix."""

from __future__ import annotations

import numpy as np

from lipverify.covariates import Gaussian
from lipverify.linear_transformer import best_step, step_risk
from lipverify.prompts import Prompts


def one_layer(d: int, n: int, condition: float, sigma: float = 1.0) -> tuple[float, float]:
    """The minimal risk of one layer with a multiple of the identity divided by that with any matrix, by the exact method.

    Covariates have eigenvalues from 1 down to 1 / condition, in equal ratios. The risk is a quadratic in the multiple,
    whose error enters squared.
    """
    here = Prompts(d=d, n=n, covariates=Gaussian(np.geomspace(1.0, 1 / condition, d)), sigma=sigma)
    moments, noise = here.covariates.moments(d), sigma**2 * here.covariates.moments(d).second
    Lambda = moments.second
    gain = np.trace(Lambda @ Lambda)
    cost = np.trace(Lambda @ ((1 - 1 / n) * Lambda @ Lambda + (moments.fourth(np.eye(d)) + noise) / n))
    scalar, full = (step_risk(here, A) for A in (gain / cost * np.eye(d), best_step(here)))
    ratio = scalar.value / full.value
    return ratio, (scalar.error + full.error * ratio) / full.value
