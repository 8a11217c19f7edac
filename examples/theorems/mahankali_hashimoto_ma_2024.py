"""One step of gradient descent is the best that one layer of linear self-attention can do: its rate, its risk."""

import numpy as np

from lipverify.claims import agree, bound, claim, identity
from lipverify.covariates import Gaussian
from lipverify.linear_transformer import best_step, preconditioned, spectral_mean, step_risk
from lipverify.prompts import Prompts, predictors, risk

PAPER = "Mahankali, Hashimoto, Ma, ICLR 2024"
EPS = np.finfo(float).eps


def rate(d, n, sigma, more=1):
    """The step on the mean gradient; for the sum over tokens it is divided by n."""
    return n / (n + d + more + sigma**2)


def covariance(d, skew):
    return np.diag(np.arange(1.0, d + 1) ** skew) + skew / (2 * d)


def off(d, n, sigma, skew, more=1):
    """The best of all matrices minus the rate times the inverse covariance, for x ~ N(0, K) and w ~ N(0, K^-1)."""
    K = covariance(d, skew)
    best = best_step(Prompts(d=d, n=n, covariates=Gaussian(K), tasks=Gaussian(np.linalg.inv(K)), sigma=sigma))
    return np.abs(best @ K - rate(d, n, sigma, more) * np.eye(d)).max(), 64 * d * EPS * np.linalg.cond(K) ** 2


def over_bayes(d, n, sigma):
    """The risk of the best step divided by that of the posterior mean, ridge regression with sigma^2; the control is
    its limit in n.
    """
    step = step_risk(Prompts(d=d, n=n, sigma=sigma), rate(d, n, sigma) * np.eye(d))
    bayes, error = spectral_mean(lambda t: sigma**2 / (t + sigma**2), n, d, at_zero=1.0)
    return step.value / (d * bayes), (step.error + step.value * error / bayes) / (d * bayes)


def over_bayes_sampled(d, n, sigma, contexts, seed):
    """The same quotient, both on sampled prompts; half-widths added."""
    here, layer = Prompts(d=d, n=n, sigma=sigma), preconditioned(rate(d, n, sigma) * np.eye(d), n)
    models = predictors.transformer([layer]), predictors.ridge(sigma**2)
    (step, one), (bayes, other) = (risk(here, model, contexts, seed) for model in models)
    return step / bayes, step / bayes * (one / step + other / bayes)


# fmt: off
OVER = {"d": (2, 5, 10), "n": (5, 20, 200), "sigma": (0.0, 1.0)}
claim("mahankali.isotropic", identity(off, r"\mathbf{A}^* - \eta \mathbf{I}", control={"more": 0.99}),
      over=OVER | {"skew": 0.0}, kind="printed", expected="supported",
      source=(PAPER, "isotropic covariates", r"for $x \sim N(0, I)$: one step of gradient descent with a rate $\eta$"))
claim("mahankali.skewed", identity(off, r"\mathbf{A}^* K - \eta \mathbf{I}", control={"more": 0.99}),
      over=OVER | {"skew": (0.5, 1.0)}, kind="printed", expected="supported",
      source=(PAPER, "other covariances", r"for $x \sim N(0, K)$, $w \sim N(0, K^{-1})$: one step with $\eta K^{-1}$"))
claim("mahankali.not-ridge", bound(over_bayes, "R / R_B", low=1, control="(d + 1 + sigma**2) / sigma**2"),
      agree(over_bayes, over_bayes_sampled, "R / R_B", over={"d": 5, "n": 20, "sigma": 1.0}),
      over={"d": (5, 10), "n": (5, 20, 80), "sigma": (0.5, 1.0)}, kind="derived", expected="supported",
      source=(PAPER, "abstract", "with enough capacity ridge regression is learned; one layer learns one step"))
