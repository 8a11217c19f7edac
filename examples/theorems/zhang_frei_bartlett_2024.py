"""Trained transformers learn linear models in context: one layer of linear attention on covariates N(0, Lambda).

Layer and risk hold as printed at every n (training) and m (test); under another covariance the risk stays above 0.
"""

import numpy as np

from lipverify.claims import agree, bound, claim, exponent, identity
from lipverify.covariates import Gaussian
from lipverify.linear_transformer import best_step, step_risk
from lipverify.prompts import Prompts, predictors, risk

PAPER = "Zhang, Frei, Bartlett, JMLR 25 (2024)"


def spectrum(d, decay):
    return np.arange(1.0, d + 1) ** -decay


def gamma(d, n, decay, trace=1):
    """The spectrum of Gamma = (1 + 1/n) Lambda + tr(Lambda) I / n, as printed."""
    return (1 + 1 / n) * spectrum(d, decay) + trace * spectrum(d, decay).sum() / n


def minimum(d, n, decay, trace=1):
    """The best of all matrices times Gamma, minus I. Error: d eps times the condition number of Lambda Gamma."""
    off = best_step(Prompts(d=d, n=n, covariates=Gaussian(spectrum(d, decay)))) * gamma(d, n, decay, trace) - np.eye(d)
    return np.abs(off).max(), 64 * d * np.finfo(float).eps * d ** (2 * decay)


def exact(d, n, decay, test, m=None):
    """The risk of Gamma^-1 on prompts of m tokens with another spectrum: exact, for any training."""
    found = step_risk(Prompts(d=d, n=m or n, covariates=Gaussian(spectrum(d, test))), np.diag(1 / gamma(d, n, decay)))
    return found.value, found.error


def forward_pass(d, n, decay, test, m, contexts, seed):
    step = predictors.gradient_descent(1, np.diag(1 / gamma(d, n, decay)))
    return risk(Prompts(d=d, n=m, covariates=Gaussian(spectrum(d, test))), step, contexts, seed)


def printed(d, n, decay, test, m):
    """One term in 1/m and one in 1/n^2, averaged over w."""
    a, g = spectrum(d, decay), gamma(d, n, decay)
    return sum((a.sum() + a) * a**2 / g**2) / m + sum(a * ((a + a.sum()) / g) ** 2) / n**2


# fmt: off
OVER = {"d": 5, ("decay", "test"): [(1.0, 1.0)], "n": (10, 40), "m": (5, 20, 80)}
claim("zhang-frei-bartlett.minimum", identity(minimum, r"\mathbf{A}^* \Gamma - \mathbf{I}", control={"trace": 0.999}),
      over={"d": (2, 5, 10), "n": (5, 20, 1000), "decay": (0.5, 1.0)}, kind="printed", expected="supported",
      title="The global minimum of one layer",
      source=(PAPER, "Theorem 4.1", r"$\Gamma^{-1}$, $\Gamma = (1 + 1/n) \Lambda + I \, \mathrm{tr} \Lambda / n$"))
claim("zhang-frei-bartlett.risk", bound(exact, "R", equals=printed, within="1e-12"),
      agree(exact, forward_pass, "R", over=OVER | {"m": 20}), over=OVER, kind="printed", title="Its risk",
      expected="supported", source=(PAPER, "Theorem 4.2", "the risk at m tokens: one term in $1/m$, one in $1/n^2$"))
claim("zhang-frei-bartlett.covariate-shift", exponent(exact, "R", along={"n": (1e2, 1e12)}, equals=0, truth=0),
      kind="printed", over={"d": 5, "decay": 1.0, "test": (0.0, 0.5, 2.0)}, expected="supported",
      source=(PAPER, "section 4.2", "covariate shifts are not tolerated: the risk does not go to 0"),
      title="Under another covariance")
