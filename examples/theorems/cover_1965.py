"""Geometrical and statistical properties of systems of linear inequalities: when a line fits any labels of a context.

Random labels of N = 2d tokens are separable with chance 1/2; the transition there is sharp only as d grows.
"""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
from scipy.optimize import linprog

from lipverify.claims import Figure, Panel, Series, agree, at, bound, claim

PAPER = "Cover, IEEE Trans. Electronic Computers 14 (1965)"  # from memory


def counted(N, d, seed):
    """The separable labellings of N normal tokens in R^d over 2^N, each decided by a linear program."""
    x, found = np.random.default_rng((seed, N, d)).normal(size=(N, d)), 0
    for signs in product((1.0, -1.0), repeat=N - 1):
        labels = np.array([1.0, *signs])[:, None]
        found += linprog(np.zeros(d), A_ub=-labels * x, b_ub=-np.ones(N), bounds=(None, None)).status == 0
    return found / 2 ** (N - 1), 1e-9


def chance(N, d):
    """P(N, d) by Schlaefli's recursion, C(N + 1, d) = C(N, d) + C(N, d - 1), from C(1, d) = 2."""
    counts = [0] + [2] * d
    for _ in range(N - 1):
        counts = [0] + [counts[k] + counts[k - 1] for k in range(1, d + 1)]
    return Fraction(counts[d], 2**N)


def formula(N, d):
    r"""$2^{1 - N} \sum_{k < d} \binom{N - 1}{k}$."""
    return Fraction(sum(comb(N - 1, k) for k in range(d)), 2 ** (N - 1))


def at_load(d, share):
    return formula(round(share * 2 * d), d)


# fmt: off
def picture(x=tuple(map(lambda k: k / 40, range(20, 61)))):
    curves = tuple(Series(label=f"$d = {d}$", x=x, y=tuple(float(at_load(d, s)) for s in x)) for d in (5, 20, 100))
    panel = Panel(title="", xlabel="$N / 2d$", ylabel="$P$", xscale="linear", yscale="linear", series=curves)
    return Figure(caption="The chance of a separable labelling.", alt="Falls at N = 2d.", panels=(panel,))


COUNT = (PAPER, "the function counting theorem", r"$C(N, d) = 2 \sum_{k = 0}^{d - 1} \binom{N - 1}{k}$")
claim("separable.count", bound(counted, "P", equals=formula, within=1e-6),
      agree(counted, chance, "P", over={"N": 7, "d": (2, 3)}), over={"N": (4, 6, 7), "d": (2, 3)}, source=COUNT,
      kind="printed", expected="supported", title="The share of separable labellings")
claim("separable.capacity", bound(chance, "P", equals="1/2", within=1e-9), over={("N", "d"): [(6, 3), (200, 100)]},
      kind="printed", expected="supported", title="The capacity", source=(PAPER, "the capacity", "$P(2d, d) = 1/2$"))
claim("separable.finite", bound(at_load, "P", low=0.95, control=({"low": 0.96}, {"d": 130})),
      over={"d": (10, 50, 100), "share": 0.9}, kind="stronger", expected="refuted", shows=at(picture),
      source=(PAPER, "the capacity", r"nearly all labellings of $N < (1 - \epsilon) 2d$ are separable, as $d$ grows"),
      title="Just below the capacity", corrected="a tenth below it: from d = 123 on")
