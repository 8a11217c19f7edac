"""How do transformers learn in-context beyond simple functions? Ridge regression on top of a representation.

From memory. Here the representation is linear, r of d directions B with w = B v, v ~ N(0, I/r), so that the
optimal algorithm is ridge regression in r dimensions, whose risk is exact. Prompts are sampled in d dimensions.
"""

import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim
from lipverify.covariates import Gaussian
from lipverify.linear_transformer import spectral_mean
from lipverify.prompts import Prompts, predictors, probability, risk

PAPER = "Guo, Hu, Mei, Wang, Xiong, Savarese, Bai, ICLR 2024, arXiv 2310.10616"


def setting(d, r, n, sigma):
    B = np.linalg.qr(np.random.default_rng((d, r)).normal(size=(d, r)))[0]
    return B, Prompts(d=d, n=n, tasks=Gaussian(B @ B.T / r), sigma=sigma)


def on_top(d, r, n, sigma, contexts, seed):
    B, here = setting(d, r, n, sigma)
    return risk(here, predictors.ridge(sigma**2, prior=B @ B.T / r), contexts // 2, seed)


def in_r(d, r, n, sigma):
    return spectral_mean(lambda t: r * sigma**2 / (t + r * sigma**2), n, r, at_zero=1.0)


def bayes(d, r, n, sigma):
    """The Bayes risk in $r$ dimensions."""
    return in_r(d, r, n, sigma)[0]


def without(d, r, n, sigma, contexts, seed):
    return risk(setting(d, r, n, sigma)[1], predictors.ridge(0.0), contexts // 4, seed)


def found(d, r, n, contexts, seed):
    B, here = setting(d, r, n, 0.0)
    on_B = predictors.Linear(lambda x, y: predictors.ridge(0.0).weights(x @ B, y) @ B.T)
    return probability(here, on_B, within=1e-9, contexts=contexts // 10, seed=seed)


def picture(x=tuple(range(1, 41))):
    curves = tuple(Series(label=f"$r = {r}$", x=x, y=tuple(float(bayes(20, r, n, 0.1)) for n in x)) for r in (2, 5, 20))
    panel = Panel(title="", xlabel="$n$", ylabel="risk", xscale="linear", series=curves)
    return Figure(caption="Ridge regression on $r$ directions.", alt="Drops at n = r.", panels=(panel,))


# fmt: off
TOP = (PAPER, "the optimal algorithm", "first the representation, then ridge regression on top of it")
OVER = {"d": 20, "r": 4, "n": (2, 4, 10), "sigma": (0.2, 0.5)}
claim("guo.ridge", bound(on_top, "R", equals=bayes, within=0.03), agree(on_top, in_r, "R", over=OVER), over=OVER,
      source=TOP, title="Ridge regression on a representation", shows=at(picture), kind="derived", expected="supported")
claim("guo.found", bound(found, "P", low=0.97, control={"n": "n - 1"}), over={"d": 20, ("r", "n"): [(3, 3), (10, 10)]},
      source=TOP, title="As many tokens as the representation has dimensions", kind="derived", expected="supported")
claim("guo.without", bound(without, "R", equals="1 - n/d + sigma**2 * n/(d - n - 1)", within=0.05),
      over=OVER | {"n": (2, 10)}, source=TOP, title="Least squares without it", kind="derived", expected="supported")
