r"""The largest optimal w in three dimensions: w* of the affine law is at most C n^{2/3}, whatever L and sigma are.

There t is uniform on [-1, 1]. a_i is attention, h = 1 - t, g = e^{-s}, s = w h, and b = 3d B / L^2 = D + P, D = 2 E sum
a_i^2 h_i, P = E sum_{i != j} a_i a_j h_i h_j. For lambda > 0, with z for D of the other modules,

    Ein = int_0^lambda (1 - e^{-y}) / y dy,    K = Ein - 1 + e^{-lambda},    q = Ein / z,    z = e^lambda - 1.

1/S^2 is the integral of lambda e^{-lambda S}: with x = lambda e^{-s} and x_0 = lambda e^{-2w}, phi = E e^{-lambda g} is
1 - (Ein - Ein(x_0)) / 2w, and

    D = (n / w^2) int (K_w / lambda) phi^{n-1} dlambda,               K_w = int_0^{2w} s x^2 e^{-x} ds,
    P = (n (n-1) / 4w^4) int (H_w^2 / lambda) phi^{n-2} dlambda,      H_w = int_0^{2w} s x e^{-x} ds.

Over all s >= 0 these are K and Ein: their slopes in log lambda are int_0^lambda x e^{-x} dx and 1 - e^{-lambda}.

**q as a function of Ein is convex, and falls from 1 to 0.** Its slope q' = 1/z - Ein lambda e^{2 lambda} / z^3 begins
at -3/4 and tends to 0, and dq' / dlambda = e^{2 lambda} V (Ein - R) / z^4, R = 2 z^2 e^{-lambda} / V, V = (lambda - 1)
e^lambda + 1 + 2 lambda = 2 lambda + sum_{k > 1} (k-1) lambda^k / k!. Ein = R at 0, and the slope of Ein - R is z
e^{-lambda} Q / (lambda V^2), Q = (lambda^2 + 1) e^{2 lambda} - (4 lambda^2 - 2 lambda + 2) e^lambda + 1 - 2 lambda, of
which the k-th derivative at 0 is 0 up to k = 3, and then 2^k + 2^{k-2} k (k-1) - 4k (k-1) + 2k - 2: 22, and more.

**By parts**, as dlambda / lambda = dEin / (1 - e^{-lambda}): with k_N = (1 - Ein / 2w)_+^N and J_N = int k_N dq',

    int (K / lambda) k_N dlambda = int (Ein - 1 + q) k_N dEin = 4w^2 (1/4 + J_{N+2}) / ((N+1) (N+2)),

since int k_N = 2w / (N+1) and int Ein k_N = 4w^2 / ((N+1) (N+2)). k_N, and so J_N, rises in w.

**From below**: (n+1) D >= 1 + 4 J_{n+1} - (n+1) left out. Because phi >= 1 - Ein / 2w; K_w is at least K less lambda^2
int_{2w}^oo s e^{-2s} ds = lambda^2 (w + 1/4) e^{-4w}; and as Ein >= log lambda, with y = 2w - log lambda, left out is
at most n (w + 1/4) / w^2 times the integral of e^{-2y} (y / 2w)^{n-1} over all y > 0, 2 n! (1 + 1/4w) / (4w)^n in all;
or for w >= 2 at most 3n (e^{-4w} + e^{1-n}), as lambda <= 1 adds e^{-4w} / 2, and that integrand is for y <= 2w no more
than e^{-4w}, or than e^{1-n} if it is largest before. Both fall in w.

**From above**, for n >= 3, w >= 1: (n+1) b <= (1 + f)^{n+1} (1 + 4 J + 4/w + (n+1) / w^2) + (n+1) n^2 2^{2-n}, f =
e^{-w} / 2w, J = int e^{-tau Ein} dq', tau = (n+1) / (2w (1 + f)). Because up to lambda = e^w phi <= 1 + f - Ein / 2w,
K_w <= K, H_w <= Ein, and Ein^2 dlambda / lambda = (Ein^2 + Ein q) dEin, q <= 1. Beyond, phi <= phi(e^w) <= 1/2, and the
same with two tokens is E sum a_i^2 h_i <= 1 and E sum_{i != j} a_i a_j h_i h_j <= E m^2 <= 7/6, m = sum a_i h_i, which
falls in w.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from .chain import Ball, Bounds, Conditions, Kind, Known, Malformed, Proof, Rule, exactly, shown
from .contexts import STRIP, many_averages
from .curves import curves

FEW = 64
"""Below this n is looked at one by one,"""
FEWEST = 16
"""below this by polynomials, up to w ="""
LAST = 22
PIECES = 6
"""on so many pieces."""
PLACES = tuple(arb(j) / 2 for j in (5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 30, 36))
"""Where few tokens have a small bias."""
GROWTH = arb(21) / 20
"""From one n to the next, up to"""
MANY = 10**10
"""this."""
SMALL = arb(1) / 50
"""Up to this lambda q'' is bounded."""
CELLS = 1400


@lru_cache(maxsize=1)
def cells() -> list[tuple[Ball, Ball, Ball]]:
    """On cells of all lambda: Ein at both ends, and by how much q' rises."""
    with ctx.workprec(256):
        values = [(arb(0), -arb(3) / 4)]
        for j in range(CELLS + 1):
            x = (arb(14 * j) / CELLS - 9).exp()
            z, e = x.expm1(), ein(x)
            values.append((e, 1 / z - e * x * (2 * x).exp() / z**3))
        return [(a[0], b[0], b[1] - a[1]) for a, b in pairwise([*values, (arb("inf"), arb(0))])]


def ein(x: Ball) -> Ball:
    """Ein: E_1(x) + log x + gamma."""
    return x.expint(1) + x.log() + arb.const_euler()


def rise_below(w: Ball, N: Ball) -> Ball:
    """J_N at least: on each cell k_N is at least its value at the end."""
    shares = [(rise, 1 - last / (2 * w)) for _, last, rise in cells()[:-1]]
    return sum((rise * share**N for rise, share in shares if share > 0), arb(0))


def rise_above(tau: Ball) -> Ball:
    """int e^{-tau Ein} dq' at most."""
    return sum((rise * (-tau * first).exp() for first, _, rise in cells()), arb(0))


def few_tokens(k: Known) -> tuple[Bounds, Conditions]:
    """For 2 <= n < 64 B is at every w >= C n^{2/3} more than at some smaller w.

    Because below sixteen tokens it is up to w = 22, piece by piece, a polynomial through balls; beyond, and for more
    tokens from C n^{2/3} on, b is at least D, and (n+1) D at least what is said above, which rises in w.
    """
    levels = {n: arb("inf") for n in range(2, FEW)}
    for w in PLACES:
        for n, bias in zip(levels, many_averages(3, FEW - 1, w)[FEW - 2 :], strict=True):
            if w < start(k, n):
                levels[n] = levels[n].min(bias.upper())
    first = start(k, 2)
    edges = [(first + (LAST - first) * j / PIECES).mid() for j in range(PIECES + 1)]
    edges[0] = arb(first.lower())
    bounds = [4 / arb(STRIP).cos() ** 2] * (FEWEST - 2)
    near = True
    for low, high in pairwise(edges):
        found = curves(lambda w: many_averages(3, FEWEST - 1, w)[FEWEST - 2 :], bounds, low, high)
        for n, curve in enumerate(found, 2):
            near = near and (start(k, n) > high or curve.above(levels[n], start(k, n).max(low), high))
    far = True
    for n, level in levels.items():
        w = arb(LAST) if n < FEWEST else start(k, n)
        left_out = 2 * arb(n).fac() * (1 + 1 / (4 * w)) / (4 * w) ** n
        far = far and (1 + 4 * rise_below(w, arb(n + 1))) / (n + 1) - left_out > level
    return {}, {"B is more up to w = 22": near, "B is more beyond": far, "C 2^(2/3) < 22": first < LAST}


def start(k: Known, n: int) -> Ball:
    """C n^{2/3}."""
    return k["C"] * arb(n) ** (arb(2) / 3)


def many_tokens(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 64 B is at every w >= C n^{2/3} more than at x n^{2/3}.

    Because (1 - tau Ein / n)^{n+1} rises in n, and falls in tau, which at w = C n^{2/3} is at most n_{i+1}^{1/3} / 2C
    for n from n_i to n_{i+1}; all else falls in n from n_i on. From 10^10 on the same times n^{1/3}: up to lambda =
    1/50 q'' lies between c and c', so that 4 J is at least 4c times the integral of k up to Ein(1/50), and at most 4c'
    / tau + 3 e^{-tau Ein(1/50)}.
    """
    C, x, n, more = k["C"], k["x"], arb(FEW), True
    while not n > MANY:
        after = (n * GROWTH).mid()
        gained = 4 * rise_below(C * n / after ** (arb(1) / 3), n + 1) - left_out(C, n)
        more = more and gained > added(x, n, rise_above)
        n = after
    third, e = n ** (arb(1) / 3), ein(SMALL)
    low, high = curvature()
    gained = 8 * low * C * n / (n + 2) * (1 - (-third * e / (2 * C)).exp()) - third * left_out(C, n)
    lost = third * added(x, n, lambda tau: high / tau + arb(3) / 4 * (-tau * e).exp())
    return {}, {
        "B is more up to n = 10^10": more,
        "B is more beyond": gained > lost,
        "1/2 <= x < C": 2 * x >= 1 and x < C,
        "tau Ein(1/50) > 2 from 10^10 on": third * e > 5 * x,
    }


def left_out(C: Ball, n: Ball) -> Ball:
    """(n+1) times what is left out of D from C n^{2/3} on, at most; it falls in n."""
    return (n + 1) * 3 * n * ((-4 * C * n ** (arb(2) / 3)).exp() + (1 - n).exp())


def added(x: Ball, n: Ball, rise: Any) -> Ball:
    """(n+1) b - 1 at x n^{2/3}, at most, for this n and all that are larger."""
    w = x * n ** (arb(2) / 3)
    f = (-w).exp() / (2 * w)
    factor = ((n + 1) * f).exp()
    J = rise(n ** (arb(1) / 3) / (2 * x * (1 + f)))
    return factor * (1 + 4 * J + 4 / w + (n + 1) / w**2) - 1 + (n + 1) * n**2 * arb(2) ** (2 - n)


def curvature() -> tuple[Ball, Ball]:
    """Between these q'' = lambda e^{3 lambda} V (Ein - R) / z^5 lies up to `SMALL`; 11/72 at 0.

    Because V / 2 lambda, Q / (11/12 lambda^4) and z / lambda rise from 1, and (1 - e^{-lambda}) / lambda falls from 1.
    """
    x = SMALL
    e, z = x.exp(), x.expm1()
    v = ((x - 1) * e + 1 + 2 * x) / (2 * x)
    p = ((x**2 + 1) * e**2 - (4 * x**2 - 2 * x + 2) * e + 1 - 2 * x) / (arb(11) / 12 * x**4)
    return arb(11) / 72 * (1 - 1 / e) / x / v**2 * (x / z) ** 5, arb(11) / 72 * e**3 * v * p


def largest(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 2, L > 0 and sigma >= 0 the loss has a least value, and every w* that attains it is less than C n^{2/3}.

    Because N falls nowhere in w >= 0 (`windows`), so that the loss at each w >= C n^{2/3} is more than at some smaller
    one, and it is continuous. Exchange of every token by its opposite gives N(-w) = N(w) and B(-w) - B(w) = (4 L^2 /
    3d) E sum a_i t_i, which is 0 at w = 0 and rises for fixed tokens, so that no w < 0 is best.
    """
    return {}, {}


THEOREMS: dict[str, tuple[Rule, ...]] = {"largest window": (few_tokens, many_tokens, largest)}


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Of the affine law in three dimensions alone."""
    given = exactly("given", stated["given"], ("law", "d"))
    if given["law"] != "affine" or type(given["d"]) is not int or given["d"] != 3:
        raise Malformed("the largest window is known of the affine law with d = 3")
    return {"law": "affine", "d": 3}


def statement(proof: Proof) -> str:
    """The theorem."""
    return (
        "affine, d = 3: over all real w the loss has a least value, and every w* that attains it has w* < "
        f"{shown(proof.constants(few_tokens)['C'])} n^(2/3), for all n >= 2, all L > 0 and all sigma >= 0"
    )


KIND = Kind(
    chain=lambda proof: [(rule, 0) for rule in THEOREMS[proof.theorem]],
    about=about,
    given=dict,
    statement=statement,
    chosen={few_tokens: ("C",), many_tokens: ("x",)},
)
