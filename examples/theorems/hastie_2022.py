"""Surprises in high-dimensional ridgeless least squares: double descent with isotropic covariates.

Printed are limits n, d -> infinity at d/n = g. They are compared with the exact risk at finite n, by Wishart's moments.
"""

import numpy as np

from lipverify.claims import agree, bound, claim
from lipverify.covariates import Gaussian
from lipverify.linear_transformer import spectral_mean
from lipverify.prompts import Prompts, predictors, risk

PAPER = "Hastie, Montanari, Rosset, Tibshirani, Ann. Statist. 50 (2022)"


def ridgeless(g, d, snr):
    """The exact risk at n = d/g, w ~ N(0, snr I/d), noise 1, from the mean of an inverse Wishart matrix."""
    n = round(d / g)
    return max(0.0, 1 - n / d) * snr + min(n, d) / (abs(n - d) - 1), 1e-14 * (snr + 1 / abs(1 - g))


def limit(g, snr):
    return g / (1 - g) if g < 1 else (1 - 1 / g) * snr + 1 / (g - 1)


def sampled(g, d, snr, contexts, seed):
    here = Prompts(d=d, n=round(d / g), tasks=Gaussian(np.full(d, snr / d)), sigma=1.0)
    return risk(here, predictors.ridge(0.0), contexts // 20, seed)


def tuned(g, d, snr):
    """The risk of ridge regression at its best penalty, d / snr, on the eigenvalues."""
    value, error = spectral_mean(lambda t: 1 / (t + d / snr), round(d / g), d, at_zero=snr / d)
    return d * value, d * error


def tuned_limit(g, snr):
    """g m(-g / snr), with Stieltjes's transform m of the law of Marchenko and Pastur."""
    b = 1 - g + g / snr
    return (np.sqrt(b**2 + 4 * g**2 / snr) - b) / (2 * g / snr)


def excess(g, d, snr):
    value, error = tuned(g, d, snr)
    return d * (value - tuned_limit(g, snr)), d * error


# fmt: off
OVER, AT = {"g": (0.25, 0.5, 2.0, 4.0), "snr": (1.0, 5.0)}, {"g": (0.5, 2.0), "d": 20, "snr": 5.0}
PRINTED = (PAPER, "isotropic features", r"$g/(1 - g)$ for $g = d/n < 1$; $r^2 (1 - 1/g) + 1/(g - 1)$ beyond, noise 1")
claim("hastie.limit", bound(ridgeless, "R", equals=limit, within="1e-3", along={"d": (20, 2e12)}),
      agree(ridgeless, sampled, "R", over=AT), over=OVER, source=PRINTED, kind="printed", expected="supported")
EXACT = "snr*max(0, 1 - 1/g) + min(d, d/g)/(max(d/g - d, d - d/g) - 1)"
claim("hastie.finite", bound(ridgeless, "R", equals=limit, within="1e-3", truth=EXACT), over=OVER | {"d": (20, 200)},
      source=PRINTED, kind="stronger", expected="refuted",
      corrected=r"$d/(n - d - 1)$ below and $r^2 (1 - n/d) + n/(d - n - 1)$ above, at every $n$")
claim("hastie.tuned", bound(excess, "d (R_d - R)", low=0, high=1, control={"high": 0.02}),
      over=OVER | {"g": (0.5, 1.0, 2.0), "d": (10, 20)}, kind="derived", expected="supported",
      source=(PAPER, "best ridge", "the limit of the best ridge, penalty $g/r^2$: $g m(-g/r^2)$; no peak at $g = 1$"))
