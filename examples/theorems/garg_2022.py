"""What can transformers learn in-context? The baselines for linear functions, x and w normal, in units of E <w, x>^2.

Least squares, averaging and the Bayes floor at every n, also at n < d, where the prompt does not determine w.
"""

import numpy as np

from lipverify.claims import agree, at, bound, claim
from lipverify.linear_transformer import spectral_mean, step_risk
from lipverify.prompts import Prompts, predictors, risk

PAPER = "Garg, Tsipras, Liang, Valiant, NeurIPS 2022"


def ridge(d, n, sigma, penalty):
    """The exact risk of ridge regression: bias and noise on the eigenvalues of sum x x^T, a Wishart matrix."""
    return spectral_mean(lambda t: (penalty**2 + sigma**2 * t) / (t + penalty) ** 2, n, d, at_zero=1.0)


def least_squares(d, n, sigma):
    return ridge(d, n, sigma, 0.0)


def bayes(d, n, sigma):
    """The posterior mean, which is ridge regression with the variance of the noise."""
    return ridge(d, n, sigma, sigma**2)


def averaging(d, n, sigma):
    """w = (1/n) sum y x, a step of gradient descent with the identity."""
    step = step_risk(Prompts(d=d, n=n, sigma=sigma), np.eye(d))
    return step.value / d, step.error / d


def sampled(d, n, sigma, name, contexts, seed):
    """The same estimators on sampled prompts."""
    averaging = predictors.gradient_descent(1, 1.0)
    model = averaging if name == "averaging" else predictors.ridge(sigma**2 if name == "bayes" else 0.0)
    value, half_width = risk(Prompts(d=d, n=n, sigma=sigma), model, contexts // 8, seed)
    return value / d, half_width / d


# fmt: off
def fact(name, exact, words, over, **bounds):
    cells = {"d": 20, "n": (3, 60), "sigma": (0.5, 1.0)}  # at n near d rare prompts rule the mean of samples
    claim(f"garg.{name}", bound(exact, "R", **bounds),
          agree(exact, at(sampled, name=name), "R", over=cells), over={"d": (5, 20)} | over,
          source=(PAPER, "section 3, Baselines, and Figure 2", words), kind="derived", expected="supported")


fact("least-squares", least_squares, "least squares, of least norm where $n < d$",
     {"n": (2, 12, 40), "sigma": (0.0, 1.0)}, within=1e-10,
     equals="max(0, 1 - n/d) + sigma**2 * min(n, d) / d / (abs(n - d) - 1)")
fact("averaging", averaging, "averaging, $w = (1/n) \\sum_i y_i x_i$",
     {"n": (2, 10, 40), "sigma": (0.0, 1.0)}, equals="(d + 1 + sigma**2) / n", within=1e-12,
     method="exact")
fact("bayes", bayes, "at $n < d$ even the best misses $1 - n/d$, and with noise more",
     {"n": (2, 3), "sigma": (0.1, 1.0)}, low="1 - n/d", strict=True, control="1 - n/d + sigma**2 * n / d")
