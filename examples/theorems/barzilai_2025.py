"""Beyond benign overfitting in Nadaraya-Watson interpolators: weights r^-beta at distance r, labels flipped with p.

The paper bounds the error for beta > d by powers of p. In the limit of long contexts it is exact: the d-th powers of
the distances are a Poisson process, so that the vote is a stable law; the error is of order p for every beta > d.
"""

import numpy as np
from scipy.integrate import quad

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim, exponent

PAPER = "Barzilai, Kornowski, Shamir, arXiv 2025"  # read: Theorem 4.1


def error(r, q):
    """The chance that the vote, a stable law of index a = 1/r = d/beta and skewness 1 - 2p, is negative; q = 1/p."""
    a, p, t = 1 / r, 1 / q, np.tan(np.pi / (2 * r))
    value = np.arctan2(2 * p * t, 1 + (1 - 2 * p) * t**2) / (np.pi * a)  # arctan(t) - arctan((1 - 2p) t)
    return value, 1e-15 * value * (1 + t)


def over_noise(r, q):
    value, stated = error(r, q)
    return value * q, stated * q


def inverted(r, q):
    """The same chance by Gil-Pelaez's integral over the characteristic function."""
    a, lean = 1 / r, (1 - 2 / q) * np.tan(np.pi / (2 * r))
    value = quad(lambda v: np.exp(-v) * np.sin(lean * v) / v, 0, np.inf, epsabs=1e-12, limit=400)[0]
    return 0.5 - value / (np.pi * a), 1e-9


def sampled(r, d, q, contexts, seed):
    """Votes of 400 tokens, uniform in a cube around the query; the interval holds a binomial share."""
    random = np.random.default_rng((seed, d, int(10 * r)))
    x = random.uniform(-1, 1, size=(contexts // 2, 400, d))
    labels = np.where(random.random(x.shape[:2]) < 1 / q, -1.0, 1.0)
    wrong = np.mean((labels * np.sum(x**2, axis=2) ** (-r * d / 2)).sum(axis=1) < 0)
    return wrong, 2.2 * (wrong * (1 - wrong) / len(x)) ** 0.5


# fmt: off
def picture(p=tuple(map(lambda k: k / 80, range(1, 40)))):
    curves = [Series(label=rf"$\beta = {r} d$", x=p, y=tuple(float(error(r, 1 / q)[0]) for q in p)) for r in (1.1, 2)]
    curves.append(Series(label="one neighbour", x=p, y=p, style="dashed"))
    panel = Panel(title="", xlabel="$p$", ylabel="error", xscale="linear", yscale="linear", series=tuple(curves))
    return Figure(caption="The error in long contexts.", alt="Below p, and lower near d.", panels=(panel,))


OVER, RAY = {"r": (1.2, 1.5, 2.0, 4.0)}, {"q": (1e2, 1e10)}
BOUNDS = (PAPER, "Theorem 4.1", r"for $\beta > d$ between $C_1 p^c$ and $C_2 p$, $c = (8 \cdot 2^r/(r - 1))^{1/(r-1)}$")
claim("interpolators.tempered",
      exponent(error, "L", along=RAY, low="-(8*2**r/(r - 1))**(1/(r - 1))", high="-1", control={"high": "-1.04"}),
      agree(error, inverted, "L", over={"r": (1.5, 2.0, 4.0), "q": (3.0, 10.0)}),
      agree(error, at(sampled, d=3), "L", over={"r": (2.0, 3.0), "q": 5.0}),
      over=OVER, source=BOUNDS, kind="printed", expected="supported", title="Tempered overfitting",
      shows=at(picture))
claim("interpolators.tempered/sharp", bound(over_noise, "L / p", along=RAY, equals="r*sin(pi/r)/pi", within=1e-3),
      over=OVER, source=BOUNDS, kind="sharp", expected="supported", title="Tempered overfitting, its constant")
