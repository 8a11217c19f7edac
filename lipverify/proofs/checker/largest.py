r"""The optimal w with hardly any noise: in three dimensions w* of the affine law is at most C n^{2/3} for all L, sigma.

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

from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from .chain import Ball, Bounds, Conditions, Known
from .contexts import many_averages
from .every import Piece, polynomials

FEW = 64
"""Below this n is looked at one by one,"""
FEWEST = 16
"""below this by polynomials, up to w ="""
LAST = arb(21)
"""Up to this w the bias of few tokens is bounded by polynomials."""
SIDES = 80
"""Below this n w* is bounded from both sides by polynomials, from it on by closed forms,"""
LATER = 256
"""from this on more closely."""
PLACES = tuple(arb(j) / 2 for j in (5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 30, 36))
"""Where few tokens have a small bias."""
GROWTH, FINER = arb(11) / 10, arb(21) / 20
"""From one n to the next, and from one tau to the next; n up to"""
MANY = 10**10
"""this."""
SMALL = arb(1) / 50
"""Up to this lambda q'' is bounded."""
CELLS = 1400
"""Number of intervals of log lambda, from -9 to 5, for that."""
SPENT = 50
"""Where k_N or e^{-tau Ein} is less than e^-SPENT, cells are not looked at."""
SUM_BITS = 64
"""Precision of the sums over cells, in bits."""
BEYOND = arb(600)
"""tau up to which sums over cells are used."""
TINY = arb(2) ** -50
"""At least n^4 2^{3-n}, which covers all terms with e^{1-n} or 2^{-n}, for n >= 80."""


@dataclass(frozen=True)
class Cell:
    """An interval of lambda: Ein at both ends, and by how much q' and 1 - lambda / z rise."""

    first: Ball
    last: Ball
    slope: Ball
    share: Ball


@lru_cache(maxsize=1)
def cells() -> list[Cell]:
    """All lambda > 0."""
    with ctx.workprec(256):
        values = [(arb(0), -arb(3) / 4, arb(0))]
        for x in places():
            z, e = x.expm1(), ein(x)
            values.append((e, 1 / z - e * x * (2 * x).exp() / z**3, 1 - x / z))
        both = pairwise([*values, (arb("inf"), arb(0), arb(1))])
        return [Cell(a[0], b[0], b[1] - a[1], b[2] - a[2]) for a, b in both]


def places() -> list[Ball]:
    """Between them cells lie: from e^-9 to e^5."""
    return [(arb(14 * j) / CELLS - 9).exp() for j in range(CELLS + 1)]


def ein(x: Ball) -> Ball:
    """Ein: E_1(x) + log x + gamma."""
    return x.expint(1) + x.log() + arb.const_euler()


def rise_below(w: Ball, N: Ball, what: str = "slope") -> Ball:
    """int k_N dq' (J_N), or int k_N d(1 - lambda / z), at least: on a cell k_N is at least its value at the end."""
    with ctx.workprec(SUM_BITS):
        end = (2 * w).min(2 * SPENT * w / N)
        near = (cell for cell in cells()[:-1] if cell.last < end)
        return sum((getattr(cell, what) * (1 - cell.last / (2 * w)) ** N for cell in near), arb(0))


def rise_above(tau: Ball, what: str = "slope") -> Ball:
    """int e^{-tau Ein} dq', or the same of 1 - lambda / z, at most: both rise by no more than 1 in all."""
    with ctx.workprec(SUM_BITS):
        near = (cell for cell in cells() if not tau * cell.first > SPENT)
        return sum((getattr(cell, what) * (-tau * cell.first).exp() for cell in near), arb(-SPENT).exp())


def few_tokens(k: Known) -> tuple[Bounds, Conditions]:
    """For 2 <= n < 64 B is at every w >= C n^{2/3} more than at some smaller w.

    Because below sixteen tokens it is up to w = 21, piece by piece, a polynomial through balls; beyond, and for more
    tokens from C n^{2/3} on, b is at least D, and (n+1) D at least what is said above, which rises in w.
    """
    levels = {n: arb("inf") for n in range(2, FEW)}
    for w in PLACES:
        for n, bias in zip(levels, many_averages(3, FEW - 1, w)[FEW - 2 :], strict=True):
            if w < start(k, n):
                levels[n] = levels[n].min(bias.upper())
    near = all(
        start(k, n) > edges[-1] or bias[n - 2].above(levels[n], start(k, n).max(edges[0]), edges[-1])
        for _, bias, _, _, edges in pieces()
        for n in range(2, FEWEST)
    )
    far = all(alone(n, LAST if n < FEWEST else start(k, n)) > level for n, level in levels.items())
    return {}, {"B is more up to w = 21": near, "B is more beyond": far, "C 2^(2/3) < 21": start(k, 2) < LAST}


def pieces() -> list[Piece]:
    """Noise and bias of few tokens up to `LAST`."""
    return polynomials(3, float(LAST), SIDES, False)


def alone(n: int, w: Ball) -> Ball:
    """D at least, for few tokens, at this w and all that are larger."""
    left_out = 2 * arb(n).fac() * (1 + 1 / (4 * w)) / (4 * w) ** n
    return (1 + 4 * rise_below(w, arb(n + 1))) / (n + 1) - left_out


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


def curvature(x: Ball = SMALL) -> tuple[Ball, Ball]:
    """Between these q'' = lambda e^{3 lambda} V (Ein - R) / z^5 lies up to lambda = x; 11/72 at 0.

    Because V / 2 lambda, Q / (11/12 lambda^4) and z / lambda rise from 1, and (1 - e^{-lambda}) / lambda falls from 1.
    """
    e, z = x.exp(), x.expm1()
    v = ((x - 1) * e + 1 + 2 * x) / (2 * x)
    p = ((x**2 + 1) * e**2 - (4 * x**2 - 2 * x + 2) * e + 1 - 2 * x) / (arb(11) / 12 * x**4)
    return arb(11) / 72 * (1 - 1 / e) / x / v**2 * (x / z) ** 5, arb(11) / 72 * e**3 * v * p


def both_sides(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 80, W^2 >= n/2, W^3 = Lambda = n L^2 / sigma^2: lower M <= w* <= upper M, M = min(k W, n^{2/3}).

    And lower_later M <= w* <= upper_later M for n >= 256. By `every` w* is at least r n^{1/2}, r = least k / 2^{1/2},
    as W and V are at least (n/2)^{1/2}, and Lambda / 9 is at least k W. The loss is n N + (Lambda/9) b in units of
    sigma^2 / n, N = E sum a_i^2. Like D, N lies for w >= 1 between A - n (e^{-4w} + e^{1-n}) and (1 + f)^n A(w (1 +
    f)) + n 2^{1-n}, A = int k_n d(1 - lambda / z), and 1 - lambda / z rises with Ein at a rate of u (u-1) / z, u =
    lambda / (1 - e^{-lambda}). For 1 <= w <= n^{2/3} / 2 w^2 P >= 1 + w / (n+1) - off, off = 2 (n / (n-2))^2 /
    Ein(1)^2 (2w+1) e^{-2w} + n^2 e^{-1.78 (n-2)^{1/2}}: q >= 1 - 3 Ein / 4, H_w >= Ein - lambda (2w+1) e^{-2w}, and
    with c = (n-2) / 2w int Ein k_{n-2} dlambda <= 1 / (Ein(1) c)^2 + e^{-Ein(1) c} / (0.63 c - 2), as Ein >= Ein(1)
    lambda up to lambda = 1, and beyond >= Ein(1) + 0.63 log lambda. All errors fall in w and n: they are taken at n =
    80 or 256 and the least w.
    """
    root = k["least"] * k["k"] / arb(2).sqrt()
    conditions = {"K <= 2 and 18 k <= 80": k["K"] <= 2 and 18 * k["k"] <= SIDES}
    for n, low, high in ((SIDES, k["lower"], k["upper"]), (LATER, k["lower_later"], k["upper_later"])):
        w = root * arb(n).sqrt()
        room = arb(63) / 100 * (n - 2) / arb(n) ** (arb(2) / 3) - 2
        conditions |= {
            f"r n^(1/2) >= 1 and 0.63 c - 2 is enough at n = {n}": w >= 1 and (2 * w + 1) / (2 * w**2) <= room,
            f"no w* < low M from n = {n} on": no_less(n, w, low, low * k["k"]),
            f"no w* > high M from n = {n} on": no_more(n, k["C"], high * k["k"]),
            f"low <= 1/2 and C <= high from n = {n} on": 2 * low <= 1 and k["C"] <= high,
        }
    return {}, conditions


def doubled(n: int, w: Ball) -> tuple[Ball, Ball]:
    """f and (1 + f)^{n+1} at most, where b and N are bounded from above."""
    f = (-w).exp() / (2 * w)
    return f, ((n + 1) * f).exp()


def off(n: int, w: Ball) -> Ball:
    """What is off of w^2 P."""
    near = 2 * (arb(n) / (n - 2) / ein(arb(1))) ** 2
    return near * (2 * w + 1) * (-2 * w).exp() + n**2 * (-arb(178) / 100 * arb(n - 2).sqrt()).exp()


def no_less(n: int, w: Ball, x: Ball, xk: Ball) -> bool:
    """No w* from this w to x n^{2/3} is less than x k W, for this n and all that are larger.

    As (Lambda/9) (b(w) - b(2w)) <= n (N(2w) - N(w)) for w* = w. The left side is at least (Lambda/9) bias / w^2, the
    right one at most w noise. Of bias: 4 J at 2w (1 + f) is at most 4 kappa / tau, kappa the largest tau int e^{-tau
    Ein} dq' from tau = n^{1/3} / (4x (1 + f)) on.
    """
    f, more = doubled(n, 2 * w)
    first = arb(n) ** (arb(1) / 3) / (4 * x * (1 + f))
    kappa = curvature()[1] + BEYOND * (-BEYOND * ein(SMALL)).exp()
    kappa = reduce(arb.max, [high * rise_above(low) for low, high in steps(first)], kappa)
    bias = 1 - off(n, w) - more / 4 - (2 * more - 1) * x / arb(n) ** (arb(1) / 3) - 16 * kappa * more * (1 + f) * x**3
    bias -= more * w * (-2 * w).exp() / 4 + 3 * n * w**2 * (-4 * w).exp() + TINY
    noise = 2 * steepest() * (1 + 2 * f + 2 * (more - 1) * (1 + f)) + n**2 / w * (-4 * w).exp() + TINY
    return 9 * noise * xk**3 <= bias


def no_more(n: int, C: Ball, Ck: Ball) -> bool:
    """No w* up to C n^{2/3} is more than Ck W, for this n and all that are larger.

    As n (N(w) - N(w/2)) <= (Lambda/9) (b(w/2) - b(w)) for w* = w, and w >= 19/20 n^{1/2} if it were. By tau = n / 2w >=
    n^{1/3} / 2C the left side is at least w gain, the right one at most (Lambda/9) / w^2 times what is compared with
    it, as J at w (1 + f) / 2 is no more than at w. Beyond the last tau by the rates at small lambda.
    """
    w = 19 * arb(n).sqrt() / 20
    f, more = doubled(n, w / 2)
    negligible = 4 * more * w * (-w / 2).exp() + 3 * n * w**2 * (-4 * w).exp() + TINY
    left, e = n**2 * (-4 * w).exp() + TINY, ein(SMALL)
    last = SMALL / SMALL.expm1() * n / (n + 1) * (1 - (1 - BEYOND * e / n).max(0) ** (n + 1))
    last -= more * ((1 + f) * early(SMALL) + 2 * BEYOND * (-2 * BEYOND * e / (1 + f)).exp())
    gains = [(BEYOND, last)]
    for low, high in steps(arb(n) ** (arb(1) / 3) / (2 * C)):
        noise = rise_below(n / (2 * high), arb(n), "share") - more * rise_above(2 * low / (1 + f), "share")
        gains.append((low, 2 * low * noise))
    enough = all(more * (4 + 4 / tau) + negligible < 9 * Ck**3 * (gain - left) for tau, gain in gains)
    return enough and Ck >= 19 * arb(2).sqrt() / 20


def steps(first: Ball) -> list[tuple[Ball, Ball]]:
    """Parts of tau, from this one to `BEYOND`."""
    edges = [first]
    while edges[-1] < BEYOND:
        edges.append((edges[-1] * FINER).mid())
    return list(pairwise(edges))


@lru_cache(maxsize=1)
def steepest() -> Ball:
    """The largest u (u-1) / z: u and z rise; from lambda = e^5 on it is less than e^-100."""
    found = early(places()[0])
    for first, last in pairwise(places()):
        u = last / (1 - (-last).exp())
        found = found.max(u * (u - 1) / first.expm1())
    return found


def early(x: Ball) -> Ball:
    """u (u-1) / z at most up to lambda = x < 2; at least it is lambda / 2z, since u >= 1 + lambda / 2.

    As u - 1 = (lambda - 1 + e^{-lambda}) / (1 - e^{-lambda}) <= (lambda / 2) / (1 - lambda / 2), and z >= lambda.
    """
    return (1 + x / 2 / (1 - x / 2)) / 2 / (1 - x / 2)


def largest(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 2, L > 0 and sigma >= 0 the loss has a least value, and every w* that attains it is less than C n^p.

    p is 2/3 in three dimensions and 1/3 in five. N falls nowhere in w >= 0 (`windows`), so that the loss at each w >=
    C n^p is more than at some smaller one, and it is continuous. Exchange of every token by its opposite gives N(-w) =
    N(w) and B(-w) - B(w) = (4 L^2 / 3d) E sum a_i t_i, which is 0 at w = 0 and rises for fixed tokens, so that no w <
    0 is best.
    """
    return {}, {}
