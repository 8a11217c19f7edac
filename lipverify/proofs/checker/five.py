r"""The optimal w with hardly any noise in five dimensions: w* of the affine law is at most C n^{1/3}.

There t has the density 3 (1 - t^2) / 4. a_i is attention, h = 1 - t, s = w h, g = e^{-s}, m = sum a_i h_i, and b = 3d
B / L^2 = E m^2 + E sum a_i^2 h_i (2 - h_i) = D + P, D = 2 E sum a_i^2 h_i, P = E sum_{i != j} a_i a_j h_i h_j. Two
bounds of b from below rise in w, so that one w decides for all larger ones.

**By the nearest token**, of which h is h_1: m >= h_1, and a_1 rises in w for fixed tokens, so that for w' >= w b(w') >=
E h_1^2 + E a_1(w)^2 h_1 (2 - h_1). Given h_1, the others are independent, and E a_1^2 >= 1 / (1 + (n-1) mean)^2, mean =
E[e^{-w (h - h_1)} | h > h_1] (Jensen). With the density 3 h (2 - h) / 4 of h mean (1 - F(h_1)) is at most 3/4 (h_1 (2 -
h_1) / w + (2 - 2 h_1)_+ / w^2).

**By all in the window.** For lambda > 0 and x = lambda e^{-s}, let E_1 = int_0^oo (1 - e^{-x}) ds = Ein, E_2 = int s
(1 - e^{-x}) ds, E_3 = int s^2 (1 - e^{-x}) ds over s > 0: slopes in log lambda are 1 - e^{-lambda}, E_1 and 2 E_2. The
density of s is y s (1 - s / 2w), y = 3 / (2 w^2). So 1 - phi <= y E_2, phi = E e^{-lambda g}, and with K_j = int
s^{j-1} x^2 e^{-x} ds, which is the slope of E_j less that of this slope, K_3 = 2 E_2 - 2 E_1 and K_4 = 3 E_3 - 6 E_2,

    D >= (2/w) n y int (K_3 - K_4 / 2w) (1 - y E_2)_+^{n-1} dlambda / lambda,

as s^2 (1 - s / 2w) < 0 beyond 2w. With u = y E_2 n (1 - u)^{n-1} du is a law on [0, 1], and dlambda / lambda = dE_2 /
E_1:

    D >= (8/3)^{1/2} E u^{1/2} kappa - (2/3) E u K_4 / (E_1 E_2),      kappa = K_3 / (E_1 E_2^{1/2}).

K_4 <= 2 E_1 E_2, as the slope of the slope of 2 E_1 E_2 - 3 E_3 + 6 E_2 is 2 e^{-lambda} lambda E_2 + 6 (1 -
e^{-lambda} - E_1 e^{-lambda}) >= 0, E_1 <= lambda, and all of them are 0 at lambda = 0. So the last term is at most 4
/ (3 (n+1)). For kappa its infimum over all larger lambda is taken: it rises in lambda, and so for one u in w, as y
falls; and a larger n has smaller u. On a cell K_3, whose slope is 2 E_1 - 2 (1 - e^{-lambda}) >= 0, E_1 and E_2 are
taken at its ends; beyond the last one kappa >= 2^{1/2} (1 - 2 / E_1), because E_2 >= E_1^2 / 2: the slope of the
difference is E_1 e^{-lambda}.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import pairwise

from flint import arb, ctx

from .chain import Ball, Bounds, Conditions, Known
from .contexts import many_averages
from .every import at, beyond_cut, head, loss_above

FEW = 1024
"""Below this n is looked at one by one."""
PLACES = tuple(arb(j) / 2 for j in (4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 36, 40, 44, 48, 52))
"""Where few tokens have a small bias."""
PARTS, FINER = 200, 2400
"""Parts of h: this number, and with fewer tokens more."""
GROWTH = arb(6) / 5
"""From one n to the next, up to"""
MANY = 10**12
"""this."""
CELLS = 1000
"""Number of intervals of log lambda, from -9 to 5, on which kappa is bounded."""
SMALL = arb(1) / 20
"""Up to this lambda kappa >= lambda^{1/2} e^{-lambda} / 4 is used beyond `MANY`."""
SURE = 27
"""At least 1.1 times 17, and 8: of b beyond the cut (`every`)."""


def nearest(n: int, w: Ball) -> Ball:
    """b at least, at this w and all that are larger, by the nearest token."""
    found, parts = arb(0), PARTS + FINER // n
    edges = [2 * (arb(j) / parts) ** 2 for j in range(parts)]
    left = [1 - (3 * h**2 - h**3) / 4 for h in edges]
    for (h, more), (F, less) in zip(pairwise(edges), pairwise(left), strict=True):
        mean = arb(3) / 4 * (more * (2 - h) / w + (2 - 2 * h).max(0) / w**2) / less
        found += (F**n - less**n) * (h**2 + h * (2 - more) / (1 + (n - 1) * mean) ** 2)
    return found


@lru_cache(maxsize=1)
def cells() -> list[tuple[Ball, Ball]]:
    """E_2 at the ends of cells of lambda, and kappa at least from there on."""
    with ctx.workprec(256):
        found = []
        for j in range(CELLS + 1):
            x = (arb(14 * j) / CELLS - 9).exp()
            found.append((x.expint(1) + x.log() + arb.const_euler(), second(x)))
        bounds = [arb(2).sqrt() * (1 - 2 / found[-1][0])]
        for (E1, E2), (less1, less2) in pairwise(reversed(found)):
            bounds.append(bounds[-1].min(2 * (less2 - less1) / (E1 * E2.sqrt())))
        return list(zip([E2 for _, E2 in found], reversed(bounds), strict=True))


def second(x: Ball) -> Ball:
    """E_2: its series, up to lambda = e^5 with enough bits."""
    with ctx.workprec(600):
        return x * (-x).hypgeom([arb(1)] * 3, [arb(2)] * 3)


def alone(most: Ball, n: Ball, w: Ball) -> Ball:
    """D at least, at this w and all that are larger, for all tokens from n to most."""
    y, found = 3 / (2 * w**2), arb(0)
    shares = [((y * value).min(1), kappa) for value, kappa in cells()]
    powers = [(1 - u) ** most for u, _ in shares] + [arb(0)]
    for (u, kappa), (before, after) in zip(shares, pairwise(powers), strict=True):
        found += kappa * u.sqrt() * (before - after)
    return (arb(8) / 3).sqrt() * found - 4 / (3 * (n + 1))


def few_in_five(k: Known) -> tuple[Bounds, Conditions]:
    """For 2 <= n < 1024 B is at every w >= C n^{1/3} more than at some smaller w.

    Because b is at some w that is looked at less than what the nearest token leaves at C n^{1/3} and all larger w.
    """
    starts = {n: k["C"] * arb(n) ** (arb(1) / 3) for n in range(2, FEW)}
    levels = dict.fromkeys(starts, arb("inf"))
    for w in PLACES:
        for n, bias in zip(levels, many_averages(5, FEW - 1, w)[FEW - 2 :], strict=True):
            if w < starts[n]:
                levels[n] = levels[n].min(bias.upper())
    return {}, {"B is more from C n^(1/3) on": all(nearest(n, starts[n]) > level for n, level in levels.items())}


def many_in_five(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 1024 B is at every w >= C n^{1/3} more than at some smaller w.

    Because for n from n_i to n_{i+1} D at C n^{1/3} is more than b by the cut (`every`) at x n_i^{1/3}. From 10^12 on
    the same times n^{2/3}: kappa >= lambda^{1/2} e^{-lambda} / 4 up to lambda = 1/20, as K_3 >= e^{-lambda} lambda^2 /
    4 and E_1, E_2 <= lambda, so that D is at least (C n^{1/3} / 3 e^{1/20}) (1 - (1 + nc) e^{-nc}) / (n+1) - 4 / 3
    (n+1), c = y E_2(1/20); and b at most what the cut leaves, with T = n^{1/3} / R_high x^2, D_high and R_high as in
    `tilt`.
    """
    C, x, n, more = k["C"], k["x"], arb(FEW), True
    while not n > MANY:
        after, third = (n * GROWTH).mid(), n ** (arb(1) / 3)
        more = more and alone(after, n, C * third) > loss_above(arb(5), n, at(arb(5), x * third))[1]
        n = after
    third = n ** (arb(1) / 3)
    within = 3 * second(SMALL) / (2 * C**2) * third
    kept = (-SMALL).exp() * (1 - (1 + within) * (-within).exp()) * n / (n + 1)
    T = third / (k["R_high"] * x**2)
    lost = k["D_high"] ** 2 / x**2 * head(T, n, 1, 2) + k["R_high"] * k["D_high"] * x * head(T, n, 1, 1)
    later = reduce(arb.max, [kappa for value, kappa in cells() if value <= second(SMALL)])
    return {}, {
        "B is more up to n = 10^12": more,
        "B is more beyond": C / 3 * kept - 4 / (3 * third) > lost + SURE * third**2 * beyond_cut(T),
        "x < C, and w >= u beyond": x < C and k["u"] <= x * third,
        "kappa is no less later": later >= SMALL.sqrt() * (-SMALL).exp() / 4,
        "T >= 6 and 0.73 T > 2": T >= 6,
    }
