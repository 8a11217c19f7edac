r"""The optimal w with hardly any noise in the plane: w* of the affine law is at most C (n^2 + 150).

There t = cos theta, theta uniform. a_i is attention, h = 1 - t, s = w h, g = e^{-s}, and b = 6 B / L^2 = D + P, D = 2 E
sum a_i^2 h_i, P = E sum_{i != j} a_i a_j h_i h_j; phi = E e^{-lambda g}. The density of s is y s^{-1/2} (1 - s /
2w)^{-1/2} up to 2w, y = 1 / (pi (2w)^{1/2}). With l = log lambda, x = lambda e^{-s}, and integrals over all s > 0,

    E = int s^{-1/2} (1 - e^{-x}) ds,    H = int s^{-1/2} x e^{-x} ds,    F = E - H,    X = E / H.

H is the slope of E in l, and K = int s^{-1/2} x^2 e^{-x} ds that of F. By parts int s^{1/2} x e^{-x} ds = E / 2, and so
int s^{1/2} x^2 e^{-x} ds = F / 2. E is concave in lambda, and log E in l, as E is the convolution of 2 s^{1/2} and the
law of l + Gumbel, both log-concave (Prekopa): so X rises, from 1. E^2 >= 3 l; beyond l = 60, where E >= 2 P(Gumbel >
-3/2) (l - 3/2)^{1/2}, as everywhere by cells. There X <= 0.6 E^2, as H >= (l + 0.58)^{-1/2} up to a part e^{-60}
(Jensen), and Q = (X - 1) / 2 E^2 >= 0.21, as H <= (0.8 l)^{-1/2} + e^{-1000} (s below and above 0.8 l), E <= 2 (l +
0.58)^{1/2} (Jensen).

**From above**, for n > 2 and w >= 8. Up to l = w/3 phi <= 1 - y E <= e^{-yE}: what E has beyond s = 2w is at most 1.6
(2w)^{-1/2} (1 - e^{-x}), x there, and the density adds at least (pi - 2) (2w)^{1/2} times that. Beyond, phi <= 1 - y
E(w/3) <= 0.775, so that N, D and P have from there at most n, 4 n and n^2 times 0.775^{n-2}, the integrals of E x^2
e^{-x}, 4 E x^2 e^{-x} and (2 E x e^{-x})^2 over l. Before, for tokens with s <= w the density is at most y s^{-1/2} (1
+ 0.42 s / w), and int s^{3/2} x^j e^{-x} ds <= (4.1 + l_+) int s^{1/2} x^j e^{-x} ds, j = 1, 2: the mean of s rises in
l (its slope is a covariance of s and -x); at l = 0 it is at most e times 3 / 2j, as 1/e <= e^{-x} <= 1; and less l it
falls, its slope being a covariance of s and 1 / 2s. So with tau = (n-2) y, nu = n / (n-2), Gamma laws of v = tau E, and
z = 1 + 0.42 (4.1 + l_+) / w

    tau N <= 2 nu E_3 F/E^2 + 0.21 nu / w E_2 z (X - 1)/E,
    tau w D <= nu E_2 z (X - 1)/E,    w^2 P <= nu^2 / 4 E_2 z^2 X.

Of the values on the right the suprema over all smaller E are taken: so all three fall in tau, n and w. Tokens with s >
w have probability 1/2 and g <= e^{l-w} / lambda, where lambda <= E e^{w/3} / E(w/3): with r = e^{-2w/3} / (y E(w/3)) <=
4.45 e^{-2w/3} they add at most 4 2^{1/2} w r + 4 w^2 r^2 times P to P, 8 w^2 r^2 P / n to D, and a quarter of that to
N.

**From below**, for w >= 40. Up to l = w/16 phi >= 1 - q E, q = y (1 + o), o = 0.31 (0.7 / w + 1/32): up to s = w/2 the
density is at most y s^{-1/2} (1 + 0.31 s / w), int s^{1/2} (1 - e^{-x}) ds <= (0.69 + l_+ / 2) E, since its slope is E
/ 2, and the rest is at most e^{-w/3} E. And lambda^2 E g^2 e^{-lambda g} >= y K, lambda^2 E g^2 h e^{-lambda g} >= y F
/ 2w: what the integrals have beyond s = 2w is at most 2 e^{1-2w} of what they have beyond w, and the density adds a
quarter to that before 2w. E(w/16)^2 >= 3w/16, so that u = q E reaches 0.097, and with (1 - v/n)^n, which rises in n,
for all n >= m

    n y N >= (1 - 1/m) (1 + o)^{-2} int F/E^2 v^2 (1 - v/m)^m dv,
    n^2 D >= 4 pi^2 (1 + o)^{-3} int Q v^2 (1 - v/m)^m dv

up to v = 0.097 m, v = n q E. For F/E^2 the infimum over all smaller E is taken: so n y N rises in n y; for Q that over
all larger E, so that the bound of n^2 D falls in n y.

**By the nearest token**, as in `five`: for w' >= w b(w') >= E h_1^2 + E a_1(w)^2 h_1 (2 - h_1), and E a_1^2 >= 1 / (1 +
(n-1) mean)^2, mean = E[e^{-w (h - h_1)} | h > h_1]. P(h > h_1) mean is at most 1 / (pi w sin theta_1) + e^{-w cos
theta_1} / 2, as the density of h falls up to h = 1; and, as cos theta_1 - cos theta = 2 sin((theta_1 + theta)/2)
sin((theta - theta_1)/2), at most 1 / (2w min(sin theta_1, cos(theta_1 / 2))).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, reduce
from itertools import chain, pairwise, takewhile

from flint import acb, arb, ctx

from .chain import Ball, Bounds, Conditions, Known
from .contexts import many_averages
from .five import GOAL

FEW = 100
"""Below this n is looked at one by one."""
V_LEAST = arb(128) ** (arb(2) / 3)
"""V of 256 tokens."""
PLACES = tuple(arb(j) / 2 for j in (5, 7, 9, 12, 16, 22, 32, 45, 64, 90, 128, 180, 256, 720))
"""Where few tokens have a small bias."""
PARTS, FEWER = 400, 100
"""Parts of theta, where the bias has to be known well, and elsewhere."""
EDGES = tuple(arb(j) / 50 for j in range(-400, 400)) + tuple(arb(j) / 4 for j in range(32, 241))
"""Between these l cells lie."""
FARTHEST = 10
"""s^{1/2} up to which E and H are integrated."""
REACHED = arb(97) / 1000
"""u up to which noise and bias are bounded from below."""
AT, START = arb(1) / 50, arb(1) / 80
"""Multiples of n^2: where many tokens have a small bias, and up to which w_0 is compared with other w."""
SHRINK = arb(9) / 10
"""From one such multiple to the next."""


@lru_cache(maxsize=1)
def cells() -> list[tuple[Ball, Ball, Ball]]:
    """l, E and X = E / H at the ends of cells."""
    with ctx.workprec(64):
        return [(place, E, E / H) for place in EDGES for E, H in [transforms(place)]]


def transforms(place: Ball) -> tuple[Ball, Ball]:
    """E and H: integrals over s^{1/2}, and at most lambda e^{-100} / 20 beyond s = 100."""
    rest = arb(0).union((place - FARTHEST**2).exp() / (2 * FARTHEST))

    def whole(r: Ball, _: bool) -> Ball:
        return 1 - (-(place - r * r).exp()).exp()

    def slope(r: Ball, _: bool) -> Ball:
        return (place - r * r - (place - r * r).exp()).exp()

    E, H = (2 * (acb.integral(each, 0, FARTHEST, rel_tol=arb(2) ** -34).real + rest) for each in (whole, slope))
    return E, H


def above(n: Ball, tau: Ball, w: Ball) -> tuple[Ball, Ball, Ball]:
    """tau N, tau w D and w^2 P at most but for parts n 0.775^{n-2} and so on, for these and all larger n, tau and w."""
    known, nu, y = cells(), n / (n - 2), 1 / (arb.pi() * (2 * w).sqrt())
    small = limit() / (1 - known[0][0].exp()) ** 2
    before, sums = (small, small * z_of(known[0][0], w), known[0][2] * z_of(known[0][0], w) ** 2), [arb(0)] * 3
    masses = [arb(1)] * 3
    for (_, E, _), (place, after, X) in pairwise([(arb(0), arb(0), arb(1)), *known]):
        z = z_of(place, w)
        if E > 0:
            before = before[0].max((1 - 1 / X) / E), before[1].max(z * (X - 1) / E), z**2 * X
        v = tau * after
        left = (-v).exp() * (1 + v + v**2 / 2), (-v).exp() * (1 + v), (-v).exp() * (1 + v)
        sums = [found + value * (m - k) for found, value, m, k in zip(sums, before, masses, left, strict=True)]
        masses = list(left)
    # beyond the last E: F/E^2 <= 1/E, X <= 0.6 E^2, z <= E^2 / 30
    E = known[-1][1]
    N, D = sums[0] + masses[0] / E, sums[1] + (tau * E).gamma_upper(arb(5)) / (50 * tau**3)
    P = nu**2 / 4 * (sums[2] + (tau * E).gamma_upper(arb(8)) / (1500 * tau**6))
    r = arb(445) / 100 * (-2 * w / 3).exp()
    return (
        nu * (2 * N + arb(21) / 100 * D / w) + 2 * y * r**2 * P,
        nu * D + 8 * w * y * r**2 * P,
        P * (1 + 4 * arb(2).sqrt() * w * r + 4 * w**2 * r**2),
    )


def limit() -> Ball:
    """F / E^2 and (X - 1) / E at lambda = 0: (8 pi)^{-1/2}; up to lambda < 1 times 1 - lambda to 1 / (1 - lambda)^2."""
    return 1 / (8 * arb.pi()).sqrt()


def z_of(place: Ball, w: Ball) -> Ball:
    """z at this l."""
    return 1 + arb(42) / 100 * (arb(41) / 10 + place.max(0)) / w


def rest(n: Ball) -> Ball:
    """What the parts of the order 0.775^{n-2} add to n^2 b, or to tau (N + rho b) for rho <= 2w, w <= n^2 / 50."""
    return n**2 * (n + 2) ** 2 * (arb(775) / 1000) ** (n - 2)


@lru_cache(maxsize=1)
def floors() -> tuple[list[Ball], list[Ball]]:
    """F/E^2 at least on each cell and for all smaller E, and Q at least for all larger E; at last beyond the cells."""
    known = cells()
    shares, slopes = [limit() * (1 - known[0][0].exp())], [arb(21) / 100]
    for (_, _, X), (_, after, _) in pairwise(known):
        shares.append(shares[-1].min((1 - 1 / X) / after))
    for (_, _, X), (_, after, _) in reversed(list(pairwise(known))):
        slopes.append(slopes[-1].min((X - 1) / (2 * after**2)))
    return [*shares, arb(0)], [slopes[-1], *reversed(slopes)]  # beyond the last E there is only Q


def noise_below(m: Ball, x: Ball, w: Ball) -> Ball:
    """n y N at least for all n >= m, at x n^2 >= w, and for smaller x."""
    return (1 - 1 / m) / narrower(w) ** 2 * over(floors()[0], m, 1 / (arb.pi() * (2 * x).sqrt()))


def bias_below(m: Ball, x: Ball, w: Ball) -> Ball:
    """n^2 D at least for all n >= m, at x n^2 >= w, and farther."""
    off = narrower(w)
    return 4 * arb.pi() ** 2 / off**3 * over(floors()[1], m, off / (arb.pi() * (2 * x).sqrt()))


def narrower(w: Ball) -> Ball:
    """1 + o."""
    return 1 + arb(31) / 100 * (arb(7) / 10 / w + arb(1) / 32)


def over(values: list[Ball], m: Ball, tau: Ball) -> Ball:
    """The integral of v^2 (1 - v/m)^m up to v = REACHED m times a function that is constant on each cell of v / tau."""
    ends = takewhile(lambda u: not u >= REACHED, (tau / m * E for _, E, _ in cells()))
    mass = [arb(0), *(m**3 * mass_below(u.min(REACHED), m) for u in chain(ends, (REACHED,)))]
    return sum((value * (y - x) for value, (x, y) in zip(values, pairwise(mass), strict=False)), arb(0))


def mass_below(u: Ball, m: Ball) -> Ball:
    """int_0^u x^2 (1 - x)^m dx, by parts."""
    y, twice = 1 - u, 2 / ((m + 2) * (m + 3))
    return (twice - y ** (m + 1) * (u**2 + 2 * u * y / (m + 2) + twice * y**2)) / (m + 1)


@lru_cache(maxsize=2)
def sectors(parts: int) -> list[tuple[Ball, Ball, Ball, Ball, Ball]]:
    """By parts of theta: P(theta_i > theta) at both ends, h at both, and the least sine; beyond pi / 2 it falls."""
    found, angles = [], [(arb(j) / parts) ** 2 for j in range(parts + 1)]
    for F, G in pairwise(angles):
        x, y = arb.pi() * F, arb.pi() * G
        found.append((1 - F, 1 - G, 1 - x.cos(), 1 - y.cos(), x.sin().min(y.sin()).max(0)))
    return found


def alone(n: int, w: Ball, parts: int) -> Iterator[tuple[Ball, Ball, Ball, Ball]]:
    """By parts of theta_1: its probability, h_1, sine at least, and 1 / E a_1^2 at most, at this w and larger ones."""
    for F, G, h, more, sine in sectors(parts):
        mean = arb(1)
        if sine > 0 and G > 0:
            mean = mean.min(1 / (2 * w * sine.min((1 - more / 2).sqrt())) / G)
            if more < 1:
                mean = mean.min((1 / (arb.pi() * w * sine) + (-w * (1 - more)).exp() / 2) / G)
        yield F**n - G**n, h, sine, (1 + (n - 1) * mean) ** 2


def nearest(n: int, w: Ball, parts: int = FEWER) -> Ball:
    """b at least, at this w and all that are larger, by the nearest token."""
    return sum((share * (h**2 + sine**2 / most) for share, h, sine, most in alone(n, w, parts)), arb(0))


@lru_cache(maxsize=1)
def looked_at() -> list[tuple[Ball, list[Ball], list[Ball]]]:
    """At `PLACES` N and b of few tokens, by n from 2 on."""
    both = [(w, many_averages(2, FEW - 1, w, goal=GOAL)) for w in PLACES]
    return [(w, values[: FEW - 2], values[FEW - 2 :]) for w, values in both]


def few_in_plane(k: Known) -> tuple[Bounds, Conditions]:
    """For 2 <= n < 100 B is at every w >= C (n^2 + 150) more than at some smaller w.

    Because b is at some w that is looked at less than what the nearest token leaves from C (n^2 + 150) on.
    """
    more = True
    for n in range(2, FEW):
        stop = k["C"] * top(n)
        level = reduce(arb.min, [biases[n - 2].upper() for w, _, biases in looked_at() if w < stop])
        more = more and nearest(n, stop, PARTS) > level
    return {}, {"B is more from C (n^2 + 150) on": more}


def top(n: int) -> Ball:
    """n^2 + 150."""
    return arb(n**2 + 150)


def many_in_plane(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 100 B is at every w >= C n^2 more than at n^2 / 50.

    Because n^2 D is at least a number there that rises in w, and n^2 b at n^2 / 50 at most one that falls in n.
    """
    n = arb(FEW)
    _, D, P = above(n, (1 - 2 / n) / (arb.pi() * (2 * AT).sqrt()), AT * n**2)
    most = n / (n - 2) * arb.pi() * (2 / AT).sqrt() * D + P / (AT * n) ** 2 + rest(n)
    return {}, {
        "B is more": bias_below(n, k["C"], k["C"] * n**2) > most,
        "C > 1/50": k["C"] > AT,
        "E^2 >= 3 l": all(3 * place <= E**2 for (_, E, _), (place, _, _) in pairwise(cells())),
    }


def largest_in_plane(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 2, L > 0, sigma >= 0 the loss has a least value, and each w* that attains it is less than C (n^2 + 150).

    N falls nowhere in w >= 0 (`window`), so that the loss at each w >= C (n^2 + 150) is more than at some smaller one,
    and it is continuous. No w < 0 is best, as in three dimensions (`largest`): exchange of every token by its opposite
    gives N(-w) = N(w) and B(-w) - B(w) = (2 L^2 / 3) E sum a_i t_i, which is 0 at w = 0 and rises for fixed tokens.
    """
    return {}, {}


def both_sides_in_plane(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 100, w_0 = max(k W, L^2 / 12 sigma^2) >= w_1: no w* in [least w_1, lower w_0] or beyond upper w_0.

    w_1 = k 128^{2/3}, and w_0 <= n^2 / 80. The loss is N + rho b in units of sigma^2, rho = L^2 / 6 sigma^2. With w_0 =
    x n^2, p = rho / 2 w_0 <= 1, t = (k W / w_0)^{5/2} <= 1, one of them 1, and t <= 12 k^{5/2} x^{-3/2} / n^2 if p is
    1, tau times it is at w_0 at most tau N + 2 p tau w D + c t w^2 P, c = 1 / (6 2^{1/2} pi k^{5/2}). Beyond upper w_0
    N alone is more. At w = z^2 w_0, with s = b - E m^2 as in `every` (Jensen), N >= n mu_2 / (1 + n mu_1)^2, s the same
    with E g^2 sin^2 theta = e^{-2w} I_1(2w) / 2w for mu_2, and E m >= E_1 h / (1 + 1 / n mu_1), E_1 h >= 1 / 2w: for w
    >= 1, as A' = 1 - A^2 - A / w and 1 - 1 / 2w rises by more where it is A, and is more at w = 1. R = (2 pi w)^{1/2}
    mu_1 falls to 1, and S = (4 pi w)^{1/2} e^{-2w} I_1(2w) rises. So tau times the loss is there at least (n-2) / n
    times ((z + p S / z) / (2 pi)^{1/2} + c t / 4 z^4) / (R + z (2 pi x)^{1/2})^2, which falls in z.
    """
    n, x, power, enough = arb(FEW), START, arb(5) / 2, {"lower": True, "upper": True}
    first, z = k["k"] * V_LEAST, k["lower"].sqrt()
    w, c = k["least"] * first, 1 / (6 * arb(2).sqrt() * arb.pi() * k["k"] ** power)
    R = (2 * arb.pi() * w).sqrt() * w.bessel_i(arb(0), scaled=True)
    S = (4 * arb.pi() * w).sqrt() * (2 * w).bessel_i(arb(1), scaled=True)
    last = False
    while not last:
        less = x * SHRINK
        most = (12 * k["k"] ** power * less ** (-arb(3) / 2) / n**2).min(1)
        last = most == 1 and less * n**2 < first
        N, D, P = above(n, (1 - 2 / n) / (arb.pi() * (2 * x).sqrt()), first.max(less * n**2))
        for p, t in ((1, arb(0)), (1, most), *([] if most < 1 else [(0, most)])):
            level = N + 2 * p * D + c * t * P + rest(n)
            gained = (z + p * S / z) / (2 * arb.pi()).sqrt() + c * t / (4 * z**4)
            enough["lower"] &= bool(gained / (R + z * (2 * arb.pi() * x).sqrt()) ** 2 > n / (n - 2) * level)
            noise = noise_below(n, k["upper"] * x, k["upper"] * first)
            enough["upper"] &= bool((n - 2) / n * k["upper"].sqrt() * noise > level)
        x = less
    return {}, {
        "no w* < lower w_0": enough["lower"],
        "no w* > upper w_0": enough["upper"],
        "least w_1 >= 1, w_1 >= 8, upper w_1 >= 40": w >= 1 and first >= 8 and k["upper"] * first >= 40,
        "4 lower <= 1 <= 2 S": 4 * k["lower"] <= 1 and 2 * S >= 1,
    }
