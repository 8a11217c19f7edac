"""Transformers learn to implement preconditioned gradient descent: the global minimum of one layer, x ~ N(0, Sigma).

The printed matrix is a minimum at every n; with label noise, which adds to the trace and is not treated, it is none.
"""

import numpy as np

from lipverify.claims import agree, bound, claim, identity
from lipverify.covariates import Gaussian
from lipverify.linear_transformer import best_step, step_risk
from lipverify.prompts import Prompts, predictors, risk

PAPER = "Ahn, Cheng, Daneshmand, Sra, NeurIPS 2023"


def prompts(d, n, sigma):
    """Sigma = U diag(lambda) U^T with any U."""
    U, lam = np.linalg.qr(np.random.default_rng(d).normal(size=(d, d)))[0], np.arange(1.0, d + 1) / d
    return U, lam, Prompts(d=d, n=n, covariates=Gaussian(U * lam @ U.T), sigma=sigma)


def printed(d, n, noise=0.0, more=1):
    U, lam, _ = prompts(d, n, 0.0)
    return U @ np.diag(1 / ((n + more) / n * lam + (lam.sum() + noise) / n)) @ U.T


def off(d, n, sigma=0.0, noise=0.0, more=1):
    """The best of all matrices times the inverse of the printed one, minus I. Error: d eps times condition numbers."""
    _, lam, here = prompts(d, n, sigma)
    gap = best_step(here) @ np.linalg.inv(printed(d, n, noise, more)) - np.eye(d)
    return np.abs(gap).max(), 64 * d * np.finfo(float).eps * (lam.max() / lam.min()) ** 2


def off_with_noise(d, n, sigma, share=1.0):
    return off(d, n, sigma, noise=share * sigma**2)


def loss(d, n, sigma):
    """The risk of the printed preconditioner divided by the minimal risk."""
    here = prompts(d, n, sigma)[2]
    mine, best = step_risk(here, printed(d, n)), step_risk(here, best_step(here))
    return mine.value / best.value, (mine.error + best.error * mine.value / best.value) / best.value


def sampled_loss(d, n, sigma, contexts, seed):
    best = step_risk(here := prompts(d, n, sigma)[2], best_step(here)).value
    value, half_width = risk(here, predictors.gradient_descent(1, printed(d, n)), contexts, seed)
    return value / best, half_width / best


# fmt: off
SAID = r"$A = U \mathrm{diag}(\frac{n+1}{n} \lambda_i + \frac{1}{n} \sum_k \lambda_k)^{-1} U^T$ is a global minimum"
THEOREM, OVER = (PAPER, "Theorem 1", SAID), {"d": (2, 5), "n": (5, 20)}
claim("ahn.one-layer", identity(off, r"\mathbf{A}^* \mathbf{A}^{-1} - \mathbf{I}", control={"more": 0.99}),
      over=OVER, kind="printed", source=THEOREM, expected="supported")
claim("ahn.one-layer/noise", identity(off_with_noise, r"\mathbf{A}^* / \mathbf{A} - I", control={"share": 0.99}),
      over=OVER | {"sigma": (0.5, 1.0)}, kind="derived", source=THEOREM, expected="supported")
claim("ahn.one-layer/noise/cost", bound(loss, "R / R^*", low=1.001, control=1.05, method="exact"),
      agree(loss, sampled_loss, "R / R^*", over=OVER | {"sigma": 1.0}),
      over=OVER | {"sigma": 1.0}, kind="derived", source=THEOREM, expected="supported")
