"""Pretraining task diversity: the Bayesian with M pretraining tasks, dMMSE, on new tasks in D dimensions.

Read: sections 2 and 3. As the context grows dMMSE predicts by the pretraining task next to w; its distance is exact.
"""

from functools import cache

import numpy as np
from scipy.special import chndtr, roots_genlaguerre

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent
from lipverify.covariates import Pool
from lipverify.linear_transformer import spectral_mean
from lipverify.prompts import Prompts, predictors
from lipverify.sampling import mean_with_half_width

PAPER = "Raventos, Paul, Chen, Ganguli, NeurIPS 2023, arXiv 2306.15063"


@cache
def rule(D, nodes):
    radii, weights = roots_genlaguerre(nodes, D / 2 - 1)
    t = np.exp(np.arange(-200 / D - 8, 8, 0.05))
    return weights / weights.sum(), t, np.minimum(chndtr(t, D, 2 * radii[:, None]), 1 - 1e-16)


def nearest(M, D):
    """E min_i |w - w_i|^2 / D for w, w_1, ..., w_M ~ N(0, I): the integral of P(|w - w'|^2 > t)^M."""
    rules = (rule(D, nodes) for nodes in (16, 24))
    rough, fine = (weights @ np.exp(M * np.log1p(-below)) @ t * 0.05 / D for weights, t, below in rules)
    return fine, abs(fine - rough) + 1e-9 * fine


def by_posterior(M, D, contexts, seed, n=300):
    drawn = Prompts(d=D, n=n, sigma=0.1).draw(contexts // 50, seed, "raventos")
    pools = [predictors.dmmse(Pool(M, seed=seed + j), 0.1) for j in range(len(drawn.y))]
    found = [pool.weights(drawn.x[j : j + 1], drawn.y[j : j + 1])[0] for j, pool in enumerate(pools)]
    return mean_with_half_width(np.sum((np.array(found) - drawn.task) ** 2, axis=1) / D)


def over_ridge(M, D, K):
    (value, one), (ridge, two) = nearest(M, D), spectral_mean(lambda t: 0.25 / (t + 0.25), K - 1, D, at_zero=1.0)
    return value / ridge, (one + two * value / ridge) / ridge


def picture(x=tuple(map(lambda k: 2**k, range(1, 31)))):
    curves = tuple(Series(label=f"$D = {D}$", x=x, y=tuple(float(nearest(M, D)[0]) for M in x)) for D in (4, 8, 16))
    panel = Panel(title="", xlabel="$M$", ylabel="risk$/D$", series=curves)
    return Figure(caption="dMMSE on new tasks, long contexts.", alt="Falls like a small power of M.", panels=(panel,))


# fmt: off
claim("raventos.threshold", bound(over_ridge, r"R_\infty / R_{\mathrm{ridge}}", equals=3, within=0.05),
      agree(nearest, by_posterior, "R / D", over={"M": (2, 8), "D": 8}), over={"M": 2**15, "D": 8, "K": 16},
      source=(PAPER, "section 3.1",
              r"even though dMMSE significantly underperforms relative to Ridge on $T_{True}$ at this task diversity"),
      kind="derived", expected="supported", shows=at(picture))
claim("raventos.rate", exponent(nearest, r"R_\infty", along={"M": (1e6, 1e20)}, high=0, strict=True, truth="-2/D"),
      source=(PAPER, "Figure 2", "As the pretraining task diversity increases, both dMMSE and PT approach Ridge"),
      over={"D": (4, 8)}, kind="derived", expected="supported")
