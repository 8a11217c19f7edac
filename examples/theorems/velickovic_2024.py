"""Softmax is not enough (for sharp out-of-distribution): coefficients of attention disperse if scores are bounded."""

import numpy as np
from scipy.optimize import minimize

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent

PAPER = "Velickovic, Perivolaropoulos, Barbero, Pascanu, ICML 2025, arXiv 2410.01104"  # from notes on it


def largest(n, u):
    """The largest coefficient that scores of spread u = delta/theta allow: one score at the top, the others below."""
    value = 1 / (1 + (n - 1) * np.exp(-u))
    return value, 1e-15 * value


def searched(n, u, seed):
    """The same by a search over all scores between 0 and u, the maximum of ten."""

    def loss(scores):
        a = np.exp(scores - u) / np.exp(scores - u).sum()
        return -a[0], -a[0] * (np.eye(n)[0] - a)

    starts = np.random.default_rng((seed, n)).uniform(0, u, size=(10, n))
    return max(-minimize(loss, start, jac=True, bounds=[(0, u)] * n).fun for start in starts), 1e-6


def needed(u, eps):
    """The least number of items at which no coefficient exceeds eps, by bisection, over exp(u)/eps."""
    low, high = 1, int(4 * np.exp(u) / eps) + 4
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if largest(middle, u)[0] < eps else (middle, high)
    return high / (np.exp(u) / eps), 1e-15 * high


def cooled(n, s):
    return largest(n, s * np.log(n))


# fmt: off
def picture(n=tuple(map(lambda k: 2.0**k, range(1, 21)))):
    curves = [Series(label=rf"$\delta/\theta = {u}$", x=n, y=tuple(float(largest(m, u)[0]) for m in n)) for u in (1, 5)]
    cold = Series(label=r"$1.2 \log n$", x=n, y=tuple(float(cooled(m, 1.2)[0]) for m in n), style="dashed")
    panel = Panel(title="", xlabel="$n$", ylabel="largest coefficient", series=(*curves, cold))
    return Figure(caption="The largest coefficient.", alt="Falls like 1/n, but not if cooled.", panels=(panel,))


BOUND = (PAPER, "the theorem on dispersion", r"every coefficient is at most $\frac{1}{n} \exp(\delta/\theta)$")
claim("dispersion.bound", bound(largest, r"\alpha", high="exp(u)/n", control={"high": "0.95*exp(u)/n"}),
      agree(largest, searched, r"\alpha", over={"n": (5, 30), "u": (1.0, 5.0)}), title="The largest coefficient",
      over={"n": (10_000, 1_000_000), "u": (1.0, 5.0)}, source=BOUND, kind="printed", expected="supported",
      shows=at(picture))
claim("dispersion.length", bound(needed, r"n \epsilon e^{-\delta/\theta}", low=0.9, high=1, control={"high": 0.9}),
      over={"u": (1.0, 5.0, 10.0), "eps": (0.01, 0.001)}, kind="printed", expected="supported",
      title="The length from which all coefficients are small",
      source=(PAPER, "after the theorem", r"below $\epsilon$ for $n > \exp(\delta/\theta)/\epsilon$"))
claim("dispersion.cooled", exponent(cooled, r"\alpha", along={"n": (1e4, 1e30)}, equals="min(0, s - 1)",
      truth="min(0, s - 1)"), source=BOUND,
      over={"s": (0.0, 0.5, 0.9, 1.5)}, kind="derived", expected="supported", title="If the temperature falls with n")
