"""Transformers as statisticians: the best penalty of ridge regression in context, and the layers that it takes.

Read: section 3.1. Ridge regression is exact, on the eigenvalues of a Wishart matrix; descent is run step by step.
"""

import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim
from lipverify.covariates import Coordinates
from lipverify.linear_transformer import spectral_mean
from lipverify.prompts import Prompts, predictors, risk

PAPER = "Bai, Chen, Wang, Xiong, Mei, NeurIPS 2023, arXiv 2306.04637"


def ridge(d, n, sigma, share=1.0):
    """The risk for w ~ N(0, I/d) of (ICRidge) with share times the printed lambda; N lambda is added to X^T X."""
    penalty = share * d * sigma**2
    return spectral_mean(lambda t: (penalty**2 + d * sigma**2 * t) / (t + penalty) ** 2, n, d, at_zero=1.0)


def sampled(d, n, sigma, contexts, seed, share=1.0):
    here = Prompts(d=d, n=n, tasks=Coordinates(scale=d**-0.5), sigma=sigma)
    return risk(here, predictors.ridge(share * d * sigma**2), contexts // 4, seed)


def excess(d, n, sigma, share=1.0):
    """The smaller of the risks at 5 % more and 5 % less penalty, minus the risk."""
    (low, one), (here, two), (high, three) = (ridge(d, n, sigma, share * factor) for factor in (0.95, 1.0, 1.05))
    return min(low, high) - here, max(one, three) + two


def layers(kappa, digits):
    """Steps of descent until every direction of a spectrum from 1 to kappa has an error below 10^-digits."""
    low, high, steps, rate = 1.0, 1.0, 0, 2 / (1 + kappa)
    while max(abs(low), abs(high)) > 10.0**-digits:
        low, high, steps = low * (1 - rate), high * (1 - rate * kappa), steps + 1
    return steps / (kappa * digits * np.log(10)), 1 / (kappa * digits * np.log(10))


def by_logarithm(kappa, digits):
    return 1 / np.log1p(2 / (kappa - 1)) / kappa, 1 / (kappa * digits * np.log(10))


def picture():
    x = tuple(np.geomspace(0.1, 10, 31).tolist())
    curves = tuple(Series(label=f"$N = {n}$", x=x, y=tuple(ridge(20, n, 1.0, s)[0] for s in x)) for n in (10, 20, 40))
    panel = Panel(title="", xlabel=r"$\lambda N / (d \sigma^2)$", ylabel="risk", yscale="linear", series=curves)
    return Figure(caption="The risk has its minimum at 1.", alt="Curves with their minimum at 1.", panels=(panel,))


# fmt: off
claim("bai.penalty", bound(excess, r"\min(R(0.95 \lambda), R(1.05 \lambda)) - R(\lambda)", low=0, strict=True,
      control={"share": 1.1}, method="exact"), agree(ridge, sampled, "R", over={"d": 10, "n": (5, 20), "sigma": 1.0}),
      over={"d": (5, 20), "n": (2, 10, 40), "sigma": (0.5, 1.0)}, kind="printed", expected="supported",
      shows=at(picture), source=(PAPER, "section 3.1", r"given by ridge regression [...] $\lambda = d\sigma^2/N$"))
COUNT = r"L / (\kappa \log(1/\epsilon))"
claim("bai.layers", bound(layers, COUNT, equals="1/2", within="1/100", along={"kappa": (10, 3e3)}),
      agree(layers, by_logarithm, COUNT, over={"kappa": (5, 50), "digits": 6}), over={"digits": (3, 6)}, kind="sharp",
      source=(PAPER, "Corollary 5", r"$\mathcal{O}(\kappa \log(\kappa N/\sigma))$-layer"), expected="supported")
