"""In-context linear regression demystified: two softmax heads of opposite signs take a debiased gradient step."""

import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent
from lipverify.linear_transformer import spectral_mean
from lipverify.prompts import Prompts, predictors, risk


def step(d, n, sigma):
    """A gradient step on covariates minus their mean, at its best rate."""
    return predictors.Linear(lambda x, y: (y[:, None] @ (x - x.mean(axis=1)[:, None]))[:, 0] / (n + d + sigma**2))


def exact(d, n, sigma):
    """Its risk over d, from the first two moments of a Wishart matrix with n - 1 degrees of freedom."""
    rate, first, second = n / (n + d + sigma**2), (n - 1) / n, (n - 1) * (n + d) / n**2
    return 1 - 2 * rate * first + rate**2 * (second + sigma**2 * first / n), 1e-14


def measured(d, n, sigma, contexts, seed, w=0):
    """The risk of the step over d or, with w, of heads w I and -w I minus it, on the same prompts and queries."""
    here, plain, c = Prompts(d=d, n=n, sigma=sigma), step(d, n, sigma), n / (n + d + sigma**2) / (2 * w or 1)
    heads = predictors.softmax_attention(w * np.array([np.eye(d), -np.eye(d)]), heads=(c, -c))
    found = risk(here, heads, contexts, seed, less=lambda *p: plain(*p)) if w else risk(here, plain, contexts, seed)
    return found[0] / d, found[1] / d


def single(d, n, sigma, contexts, seed):
    """The least risk of one head with its best factor, over some w, divided by that of the step."""
    x, y, query, target, _ = Prompts(d=d, n=n, sigma=sigma).draw(contexts // 4, seed)
    found = [predictors.softmax_attention(w)(x, y, query) for w in np.arange(0.3, 0.9, 0.1)]
    squares = [((f * target).mean() / (f**2).mean() * f - target) ** 2 for f in found]
    best = min(squares, key=np.mean) / (d * exact(d, n, sigma)[0])
    return best.mean(), 1.96 * best.std() / len(best) ** 0.5


def over_bayes(d, n, s):
    bayes, error = spectral_mean(lambda t: 1 / (s**2 * t + 1), n, d, at_zero=1.0)
    return exact(d, n, 1 / s)[0] / bayes, exact(d, n, 1 / s)[0] / bayes**2 * error


# fmt: off
def picture(n=(8, 16, 32, 64)):
    y = {"two heads": exact, "Bayes": lambda d, m, sigma: (exact(d, m, sigma)[0] / over_bayes(d, m, 1 / sigma)[0],)}
    curves = tuple(Series(label=k, x=n, y=tuple(float(y[k](5, m, 0.5)[0]) for m in n)) for k in y)
    panel = Panel(title="", xlabel="$n$", ylabel="risk over $d$", series=curves)
    return Figure(caption="Two softmax heads and the Bayes risk.", alt="Two heads fall more slowly.", panels=(panel,))
OVER = (SIZES := {("d", "n"): [(5, 20), (10, 40)]}) | {"sigma": (0.1, 0.5)}
SAID = ("He, Pan, Chen, Yang, ICML 2025, arXiv 2503.12734", "abstract",  # which was read
        "debiased gradient descent: outperforms a single head, nearly Bayes optimal up to a factor")
claim("two-heads.step", bound(measured, "R - R_1", equals=0, within=2e-3, control={"w": 0.5}), source=SAID,
      over=OVER | {"w": 0.05}, kind="printed", expected="supported", title="Two heads take the step")
claim("two-heads.risk", bound(exact, "R_1", equals="(d + 1 + sigma**2)/(n + d + sigma**2)", within=1e-9),
      agree(exact, measured, "R_1", over=OVER), source=SAID, over=OVER, kind="derived",
      expected="supported", shows=at(picture))
claim("two-heads.single", bound(single, "R / R_1", low=1.5, control={"low": 2.5}), over=OVER, source=SAID,
      kind="printed", expected="supported", title="One head")
claim("two-heads.factor", exponent(over_bayes, "R_1 / R_B", along={"s": (1e2, 1e6)}, equals=0, truth=2), over=SIZES,
      source=SAID, kind="stronger", expected="refuted", title="The factor", corrected="it grows like $s^2$")
