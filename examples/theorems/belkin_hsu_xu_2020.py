"""Two models of double descent for weak features: least squares on p of D features, exactly, at every n.

From memory. The p features in use are normal and independent of the others, whose part of the labels acts as noise.
Formulas hold at finite n, p and D; the second method fits sampled prompts.
"""

import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim
from lipverify.covariates import Coordinates
from lipverify.linear_transformer import spectral_mean
from lipverify.prompts import Prompts, predictors, risk

PAPER = "Belkin, Hsu, Xu, SIAM J. Math. Data Sci. 2 (2020), arXiv 1903.07571"


def fitted(p, n, D, sigma):
    """E (prediction - f(x))^2 for w ~ N(0, I/D), on the eigenvalues of a Wishart matrix."""
    rest = 1 - p / D
    value, error = spectral_mean(lambda t: (rest + sigma**2) / t, n, p, at_zero=1 / D)
    return p * value + rest, p * error


def sampled(p, n, D, sigma, contexts, seed):
    def weights(x, y):
        found = predictors.ridge(0.0).weights(x[:, :, :p], y)
        return np.concatenate([found, np.zeros((len(x), D - p))], axis=1)

    here = Prompts(d=D, n=n, tasks=Coordinates(scale=D**-0.5), sigma=sigma)
    return risk(here, predictors.Linear(weights), contexts // 10, seed)


def printed(p, n, D, sigma):
    """The two printed formulas minus the noise of the query."""
    rest = 1 - p / D
    seen = p / D * max(0.0, 1 - n / p) + (rest + sigma**2) * (1 + min(n, p) / (abs(n - p) - 1))
    return seen - sigma**2


def all_against_none(n, D, share):
    """The risk without features minus that with all, at share times the noise sigma^2 = 1 - (n + 1)/D."""
    value, error = fitted(D, n, D, np.sqrt(share * (1 - (n + 1) / D)))
    return 1 - value, error


def picture(n=20, D=60):
    x = (*range(1, n - 1), *range(n + 2, D + 1))
    curves = tuple(Series(label=rf"$\sigma = {s}$", x=x, y=tuple(fitted(p, n, D, s)[0] for p in x)) for s in (0, 1))
    panel = Panel(title="", xlabel="$p$", ylabel="risk", xscale="linear", series=curves)
    return Figure(caption="Double descent, $n = 20$, $D = 60$.", alt="A peak at p = n.", panels=(panel,))


# fmt: off
claim("belkin-hsu-xu.risk", bound(fitted, "R", equals=printed, within="1e-11", method="exact"),
      agree(fitted, sampled, "R", over={"p": (5, 40), "n": 20, "D": 60, "sigma": 0.5}), shows=at(picture),
      over={"p": (5, 15, 30, 60), "n": (10, 20), "D": 60, "sigma": (0.0, 0.5, 1.0)}, kind="printed",
      expected="supported", source=(PAPER, "Gaussian model", "least squares, of least norm, on $p$ of $D$ features"))
claim("belkin-hsu-xu.all", bound(all_against_none, "R_0 - R_D", low=0, strict=True, control={"share": 1.05}),
      over={"n": (10, 20), "D": (40, 60), "share": (0.5, 0.95)}, kind="printed", expected="supported",
      source=(PAPER, "the minimum", r"if $\Vert w \Vert^2/\sigma^2 > D/(D - n - 1)$, then $p = D$ is best"))
