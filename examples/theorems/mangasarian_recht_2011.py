"""Probability of a unique integer solution: tasks w in {-1, 1}^d from n tokens, by the least maximum norm.

From memory. Panwar, Ahuja and Goyal (ICLR 2024) learn these tasks in context. Linear programs count the tasks found.
"""

from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog
from scipy.special import bdtr

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim

PAPER = "Mangasarian, Recht, European J. Oper. Res. 214 (2011)"


def found(d, n, draw):
    """The share of sign vectors w, up to the sign, for which no z != 0 has X z = 0 and w_j z_j <= 0 for every j."""
    X, signs = np.random.default_rng((draw, d, n)).normal(size=(n, d)), product((1, -1), repeat=d - 1)
    count = sum(linprog(np.ones(d), A_eq=X * (1, *w), b_eq=np.zeros(n), bounds=(-1, 0)).fun > -1e-9 for w in signs)
    return Fraction(int(count), 2 ** (d - 1))


def wendel(d, n):
    """$P(B < n)$, $B$ binomial with $d - 1$ trials of probability 1/2."""
    return float(bdtr(n - 1, d - 1, 0.5))


def by_orthants(d, n, draw):
    """The same for d - n = 2: the orthants that the plane X z = 0 meets, by its angles."""
    z = np.linalg.svd(np.random.default_rng((draw, d, n)).normal(size=(n, d)))[2][n:]
    angles = np.sort(np.arctan2(z[0], -z[1]) % np.pi)
    middle = (angles + np.append(angles[1:], angles[0] + np.pi)) / 2
    met = {tuple(np.sign(np.cos(t) * z[0] + np.sin(t) * z[1])) for t in (*middle, *(middle + np.pi))}
    return Fraction(2**d - len(met), 2**d)


def probability(d, share):
    return wendel(d, round(share * d)), 1e-12


def picture():
    x = tuple((np.arange(1, 61) / 60).tolist())
    curves = tuple(Series(label=f"$d = {d}$", x=x, y=tuple(probability(d, s)[0] for s in x)) for d in (10, 100, 1000))
    panel = Panel(title="", xlabel="$n/d$", ylabel="found", xscale="linear", yscale="linear", series=curves)
    return Figure(caption="The share of tasks that are found.", alt="Steps at one half.", panels=(panel,))


# fmt: off
LIMIT = (PAPER, "the threshold", r"the probability tends to 1 if $n > d/2$ and to 0 if $n < d/2$")
claim("mangasarian-recht.probability", bound(found, "P", equals=wendel, within="1e-9"),
      agree(found, by_orthants, "P", over={("d", "n"): [(4, 2), (6, 4)], "draw": (0, 1)}), kind="printed",
      over={("d", "n"): [(4, 1), (4, 2), (5, 3), (6, 3), (6, 5)], "draw": 0}, shows=at(picture), expected="supported",
      source=(PAPER, "the probability", r"normal equations determine $w \in \{-1, 1\}^d$: a binomial tail"))
claim("mangasarian-recht.threshold", bound(probability, "P", low=0.97, control={"share": 0.49}), source=LIMIT,
      over={"d": 10_000, "share": (0.51, 0.55)}, kind="derived", expected="supported", title="Half of d tokens")
claim("mangasarian-recht.threshold/finite", bound(probability, "P", equals=1, within=0.05, control=(None, {"d": 200})),
      over={"d": 20, "share": 0.6}, source=LIMIT, kind="stronger", expected="refuted",
      corrected=r"the threshold is $\sqrt{d}$ wide: at $d = 20$ it takes 14 tokens")
