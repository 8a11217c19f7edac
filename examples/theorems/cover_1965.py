"""Geometrical and statistical properties of systems of linear inequalities: when a line fits any labels of a context.

C(N, d) of the 2^N labellings of N tokens in general position are linearly separable. So random labels are separable
with chance 1/2 at N = 2d, the capacity; the transition is sharp only as d grows.
"""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
from scipy.optimize import linprog

from lipverify.claims import agree, bound, claim

PAPER = "Cover, IEEE Trans. Electronic Computers 14 (1965)"


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


def at_load(d, share):
    """P at N = share * 2d tokens."""
    N = round(share * 2 * d)
    return Fraction(sum(comb(N - 1, k) for k in range(d)), 2 ** (N - 1))


def formula(N, d):
    r"""$2^{1 - N} \sum_{k < d} \binom{N - 1}{k}$."""
    return float(Fraction(sum(comb(N - 1, k) for k in range(d)), 2 ** (N - 1)))


# fmt: off
COUNT = (PAPER, "the function counting theorem", r"$C(N, d) = 2 \sum_{k = 0}^{d - 1} \binom{N - 1}{k}$")
claim("separable.count", bound(counted, "P", equals=formula, within=1e-6),
      agree(counted, chance, "P", over={"N": 7, "d": (2, 3)}), over={"N": (4, 6, 7), "d": (2, 3)}, source=COUNT,
      kind="printed", expected="supported", title="The share of separable labellings")
PAIRS, HALF = [(2, 1), (6, 3), (20, 10), (200, 100)], "$P(2d, d) = 1/2$: two labels a dimension"
claim("separable.capacity", bound(chance, "P", equals="1/2", within=1e-9), over={("N", "d"): PAIRS}, kind="printed",
      expected="supported", title="The capacity", source=(PAPER, "the capacity", HALF))
claim("separable.finite", bound(at_load, "P", low=0.95, control=({"low": 0.96}, {"d": 130})),
      over={"d": (10, 50, 100), "share": 0.9}, kind="stronger", expected="refuted", title="Just below the capacity",
      source=(PAPER, "the capacity", r"nearly all labellings of $N < (1 - \epsilon) 2d$ are separable, as $d$ grows"),
      corrected="a tenth below it: from d = 123 on")
