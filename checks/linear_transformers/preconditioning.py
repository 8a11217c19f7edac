"""One layer on correlated covariates: the best multiple of the identity compared with the best matrix."""

from __future__ import annotations

import numpy as np

from lipverify.linear_transformer import Prompts, best_step, step_risk


def one_layer(d: int, n: int, condition: float, sigma: float = 1.0) -> tuple[float, float]:
    """The minimal risk of one layer with a multiple of the identity divided by that with any matrix, by the exact method.

    Covariates have eigenvalues from 1 down to 1 / condition, in equal ratios. The risk is a quadratic in the multiple,
    whose error enters squared.
    """
    here = Prompts(n, np.geomspace(1.0, 1 / condition, d), sigma=sigma)
    gain = np.trace(here.Q @ here.Lambda @ here.S)
    cost = np.trace(here.Q @ (here.Lambda @ here.S @ here.Lambda + here.spread))
    scalar, full = (step_risk(here, A) for A in (gain / cost * np.eye(d), best_step(here)))
    ratio = scalar.value / full.value
    return ratio, (scalar.error + full.error * ratio) / full.value
