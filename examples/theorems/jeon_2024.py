"""An information-theoretic analysis of in-context learning: what n tokens tell about a linear task, and its bound.

From memory. The error, summed over tokens, is I(w; D) = E log det(I + X^T X / (d sigma^2)) / 2 for w ~ N(0, I/d). It is
exact here; its proportional limit is that of Verdu and Shamai (1999). The second method adds it up token by token.
"""

import numpy as np

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim
from lipverify.linear_transformer import spectral_mean
from lipverify.prompts import Prompts
from lipverify.sampling import mean_with_half_width

PAPER = "Jeon, Lee, Lei, Van Roy, ICML 2024, arXiv 2401.15530"


def attained(d, n, sigma):
    """The information, divided by its bound."""
    value, error = spectral_mean(lambda t: np.log1p(t / (d * sigma**2)), n, d)
    return float(value / np.log1p(n / (d * sigma**2))), error / np.log1p(n / (d * sigma**2))


def by_predictions(d, n, sigma, contexts, seed):
    x = Prompts(d=d, n=n).draw(contexts // 8, seed, "jeon").x
    P, total = np.broadcast_to(np.eye(d) / d, (len(x), d, d)), np.zeros(len(x))
    for k in range(n):  # the posterior covariance P, and the predictive variance in units of sigma^2
        gain = np.einsum("cij,cj->ci", P, x[:, k])
        variance = 1 + np.einsum("ci,ci->c", gain, x[:, k]) / sigma**2
        P = P - np.einsum("ci,cj,c->cij", gain, gain, 1 / (sigma**2 * variance))
        total += np.log(variance)
    return mean_with_half_width(total / d / np.log1p(n / (d * sigma**2)))


def off_limit(d, n, sigma):
    """d times the limit of Verdu and Shamai minus the value."""
    (value, error), c, snr = attained(d, n, sigma), n / d, sigma**-2
    F = (np.sqrt(snr * (1 + c**0.5) ** 2 + 1) - np.sqrt(snr * (1 - c**0.5) ** 2 + 1)) ** 2 / 4
    limit = (c * np.log(1 + snr - F) + np.log(1 + snr * c - F) - F / snr) / np.log1p(c * snr)
    return d * (limit - value), d * error


def picture(x=tuple(range(2, 62, 3))):
    curves = ((s, tuple(attained(10, n, s)[0] for n in x)) for s in (0.5, 1.0, 2.0))
    series = tuple(Series(label=rf"$\sigma = {s}$", x=x, y=y) for s, y in curves)
    panel = Panel(title="", xlabel="$n$", ylabel="of the bound", xscale="linear", yscale="linear", series=series)
    return Figure(caption="The part of the bound that is attained, $d = 10$.", alt="Least near n = d.", panels=(panel,))


# fmt: off
BOUND = (PAPER, "linear regression", r"the error of $n$ tokens is at most $\frac{d}{2n} \log(1 + n/(d \sigma^2))$")
RATIO, SIGMA = r"2 I(w; D) / (d \log(1 + n/(d \sigma^2)))", {"sigma": (0.5, 1.0)}
claim("jeon.bound", bound(attained, RATIO, high=1, control={"high": 0.9}),
      agree(attained, by_predictions, RATIO, over={"d": 10, "n": (5, 20), "sigma": 1.0}), source=BOUND, kind="printed",
      over=SIGMA | {("d", "n"): [(5, 20), (10, 40), (20, 80)]}, expected="supported", shows=at(picture))
claim("jeon.limit", bound(off_limit, "d (r - r_d)", low=0, high=0.3, control={"high": 0.03}), source=BOUND,
      over=SIGMA | {("d", "n"): [(5, 5), (20, 8), (20, 20), (20, 80)]}, kind="derived", expected="supported")
claim("jeon.attained", bound(attained, RATIO, equals=1, within=0.06, control=(None, {"n": 40})), source=BOUND,
      over=SIGMA | {"d": 10, "n": (5, 10)}, kind="stronger", expected="refuted",
      corrected="at $n = d$ a fifth less, in the proportional limit too")
