"""Hopfield networks is all you need: patterns that softmax attention stores and retrieves.

For orthogonal patterns the fixed point is exact, and sqrt(N/(N - 1)) takes the place of the printed constant 2e.
"""

import numpy as np
from mpmath import mp, mpf
from scipy.optimize import brentq
from scipy.special import lambertw

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim

PAPER = "Ramsauer et al., ICLR 2021"  # read: Theorems 3 and 5


def capacity(K, d, p=0.001, root=False):
    """s = a + ln b, and c = b / W_0(exp(s)), or by the equation that c solves, b/c = a + ln c; beta = 1."""
    a, b = 2 / (d - 1) * (1 + np.log(2 * K**2 * p * (d - 1))), 2 * K**2 / 5
    if root:
        return brentq(lambda c: b / c - a - np.log(c), 1e-3, 1e3, xtol=1e-13), 1e-11
    return {"c": (b / lambertw(b * np.exp(a)).real, 1e-13), "s": (a + np.log(b), 1e-13)}


def retrieval(N, beta):
    """The distance of a fixed point from its pattern over (N - 1) exp(-beta Delta): N orthogonal patterns of norm 1."""
    with mp.workdps(30 + int(beta)):
        q, none = mpf(0), mp.exp(-mpf(beta))
        for _ in range(60):  # q is the weight of each other pattern
            other = none ** (1 - N * q)
            q = other / (1 + (N - 1) * other)
        return float(q / none * mp.sqrt(mpf(N) / (N - 1))), 1e-12


def by_attention(N, beta):
    """The same by iterating softmax attention with the patterns as keys and values."""
    X, state = np.eye(N), np.eye(N)[0]
    for _ in range(60):
        weights = np.exp(beta * (X @ state))
        state = X.T @ (weights / weights.sum())
    return np.linalg.norm(state - X[0]) / ((N - 1) * np.exp(-beta)), 1e-14 * np.exp(beta)


# fmt: off
def picture(beta=tuple(range(5, 16))):
    curves = tuple(Series(label=f"$N = {N}$", x=beta, y=tuple(retrieval(N, b)[0] for b in beta)) for N in (3, 10, 30))
    panel = Panel(title="", xlabel=r"$\beta$", ylabel="$2e$ error / bound", xscale="linear", series=curves)
    return Figure(caption="The error of retrieval.", alt="It falls towards 1.", panels=(panel,))
NUMBERS = {("K", "d"): {(3, 20): {"c_0": "3.1546", "s": "1.27"}, (1, 75): {"c_0": "1.3718", "s": "-0.95"}}}
claim("hopfield.capacity", bound(capacity, "c", of="c", low="c_0", high="c_0 + 1e-4", control={"low": "c_0 + 1e-4"}),
      bound(capacity, r"a + \ln b", of="s", low="s", high="s + 0.01", control={"low": "s + 0.01"}),
      agree(capacity, at(capacity, root=True), "c", of=("c", ""), over=NUMBERS),
      over=NUMBERS, kind="printed", expected="supported",
      title="The numbers of the capacity", source=(PAPER, "Theorem 3",
      r"$c \geq 3.1546$ for $K = 3$, $d = 20$ ($a + \ln b > 1.27$); $1.3718$ for $K = 1$, $d = 75$ ($< -0.94$)"))
ERROR, FAR = r"\|x_i - x_i^*\| e^{\beta \Delta} / (N - 1)", {"N": (3, 10, 100), "beta": (10.0, 20.0)}
claim("hopfield.retrieval", bound(retrieval, ERROR, high="2*e", control={"high": "sqrt(N/(N - 1))"}, over=FAR),
      bound(retrieval, ERROR, along={"beta": (5, 500)}, equals="sqrt(N/(N - 1))", within=1e-3, over={"N": (2, 10)}),
      agree(retrieval, by_attention, ERROR, over={"N": (3, 10), "beta": (6.0, 9.0)}),
      kind="printed", expected="supported", shows=at(picture), title="The error of retrieval, and its limit",
      source=(PAPER, "Theorem 5", r"$\|x_i - x_i^*\| \leq 2 e (N - 1) M \exp(-\beta \Delta_i)$"))
