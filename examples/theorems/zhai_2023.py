"""Stabilizing transformer training by preventing attention entropy collapse: the least entropy of attention weights.

The printed bound for scores of norm at most sigma is attained: one token above all others. Its printed rate T sigma
e^(-sigma) is for large T; at a fixed T the least entropy falls faster, like e^(-sigma sqrt(T/(T - 1))).
"""

import numpy as np
from scipy.optimize import minimize

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent

PAPER = "Zhai et al., ICML 2023, arXiv 2303.06296"  # abstract read, the rest from memory


def entropy(scores):
    a = np.exp(scores - scores.max())
    return np.log(a.sum()) - a @ (scores - scores.max()) / a.sum()


def least(T, sigma):
    """The least entropy of T centred scores of norm sigma with two values, the higher one k times, over all k."""
    k = np.arange(1, T)
    gap = sigma * np.sqrt(T / (k * (T - k)))  # between the two values
    rest = (T - k) / k * np.exp(-gap)
    values = np.log(k) + np.log1p(rest) + gap * rest / (1 + rest)
    return values.min(), 1e-13 * values.min()


def searched(T, sigma, seed):
    """The least entropy of any scores in the ball, from twenty starts."""
    random = np.random.default_rng((seed, T))

    def inside(z):
        return entropy(z * min(1.0, sigma / np.linalg.norm(z)))

    return min(minimize(inside, 2 * sigma * random.normal(size=T), method="BFGS").fun for _ in range(20)), 1e-5


def at_power(T, q):
    """The least entropy at sigma = log q."""
    return least(T, np.log(q))


# fmt: off
def picture(s=tuple(map(lambda k: k / 2, range(1, 31)))):
    curves = tuple(Series(label=f"$T = {T}$", x=s, y=tuple(float(least(T, x)[0]) for x in s)) for T in (2, 10, 100))
    panel = Panel(title="", xlabel=r"$\sigma$", ylabel="least entropy", xscale="linear", series=curves)
    return Figure(caption="The least entropy.", alt="It falls exponentially.", panels=(panel,))
B = "exp(-sigma*sqrt(T/(T - 1)))"
PRINTED = f"log(1 + (T - 1)*{B}) + sigma*sqrt(T*(T - 1))*{B}/(1 + (T - 1)*{B})"
claim("entropy.least", bound(least, "H", equals=PRINTED, within=1e-9),
      agree(least, searched, "H", over={"T": (2, 4, 6), "sigma": (1.0, 4.0)}), title="The least entropy",
      over={"T": (2, 5, 20, 100), "sigma": (0.5, 2.0, 8.0)}, kind="printed", expected="supported", shows=at(picture),
      source=(PAPER, "the lower bound of the entropy", r"with $\beta = e^{-\sigma \sqrt{T/(T - 1)}}$, and tight: "
      r"$\ln(1 + (T - 1) \beta) + \sigma \sqrt{T(T - 1)} \beta / (1 + (T - 1) \beta)$"))
claim("entropy.rate", exponent(at_power, "H", along={"q": (1e2, 1e80)}, low="-1", truth="-sqrt(T/(T - 1))"),
      over={"T": (2, 3, 5)}, kind="stronger", expected="refuted", title=r"Its rate in $q = e^\sigma$ at a fixed $T$",
      source=(PAPER, "after the bound", r"for large $\sigma$, $T$ the least entropy is $\Omega(T \sigma e^{-\sigma})$"),
      corrected=r"$\Theta(\sigma e^{-\sigma \sqrt{T/(T - 1)}})$ at a fixed $T$")
