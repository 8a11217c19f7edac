r"""The optimal w of ReLU with hardly any noise in the plane: w* is at most C (n^2 + 150), and its size before.

Letters as in `plane`, for gamma as in `five` and `three`: b = B / k_1 is sum k_l (E m_l^2 + E sum a_i^2 sin^2(l
theta_i)) = 2 E sum a_i^2 gamma(h_i) + E sum_{i != j} a_i a_j Gamma(h_i, h_j), Gamma = sum k_l p_l(h_i) p_l(h_j) >= 0
on average. D = 2 E sum a_i^2 h_i and P are those of the affine law. So b is near 2D where `plane` bounds D for all
windows, down to less than one token in each; all else is less by n^{-1} at w of the order n^2.

**From below.** gamma >= 2h - h^{3/2} / 2^{1/2} (`three`), so that b >= 2D - 2^{1/2} Z, Z = E sum a_i^2 h_i^{3/2}. As
a_i <= e^{-w (h_i - h_j)} for the nearest j, and as h_i has up to h = 1 at most the density h^{-1/2} / pi, whatever the
others are, of which the nearest has h',

    Z <= E h_1^{3/2} + n (E h' / 2w + 1 / 4w^2) / pi + 2n e^{-w} + 3 (2/3)^{n-1};

the last two if h_i > 1 and h' <= 1/2, or h' > 1/2, theta' > pi / 3. As h <= theta^2 / 2 and P(theta_1 > theta) = (1 -
theta / pi)^n, E h_1^{3/2} <= 3 pi^3 / (2^{1/2} (n+1) (n+2) (n+3)), E h' <= pi^2 / n (n+1).

**From above.** gamma <= 2h. With z = <q, x>, C = 2 |z_i| where z_i z < 0 and c = E C given z and h, Gamma <= 2 h h' + 2
E c c' (`three`). At the angle psi from the border c = sin(theta - psi)_+ for theta <= pi / 2, and psi is uniform up to
pi / 2: so 2 E c^2 = (2 theta - sin 2 theta) / pi <= c_0 h^{3/2}, c_0 = 2^{7/2} / 3 pi, because with theta = 2u the
slope 32 sin^2 u cos^2 u of 4u - sin 4u is at most that of (32/3) sin^3 u. (For t < 0 x_i is replaced by -x_i, h by a
smaller one.) By Cauchy's inequality 2 E c c' <= c_0 (h h')^{3/4}, and E g h^{3/4} e^{-lambda g} is at most (E g h
e^{-lambda g})^{3/4} (E g e^{-lambda g})^{1/4} (Hoelder). In `plane` the first factor is bounded with E / 2w where the
second has H <= E; so this bound is (2w)^{1/4} times that of E g h e^{-lambda g}, also of tokens with s > w, where h >
1. In all pairs are at most (2 / w^2 + (16 / 3 pi) w^{-3/2}) times the bound of w^2 P; and what is left out of D and P
(`left_out`) four times as much.

**By the nearest token**, as in `plane`: a_1 rises in w for fixed tokens, and gamma in h. So b at w' >= w is at least
the average of 2 gamma(h_1) a_1(w)^2, or for each h_1, as in `five`, of gamma(h_1)^2 / sum k_l + q a_1(w)^2, q = sum k_l
sin^2(l theta_1), which is gamma / 2 at the angle 2 theta_1, so where h is 2 sin^2 theta_1.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import pairwise

from flint import arb

from .chain import Ball, Bounds, Conditions, Known
from .contexts import many_averages
from .every import FEW as LISTED
from .every import relative, unit
from .five import variogram
from .levels import sums
from .plane import AT, START, above, alone, bias_below, cells, noise_below, sectors, top
from .three import WIDTH, degree

FEW, CLOSE = 150, 72
"""Below the first n w_B is looked at one by one; from the second on all tokens are bounded at once."""
PLACES = tuple(arb(j) / 2 for j in (5, 7, 9, 12, 16, 22, 32, 40, 64, 90, 128, 180, 256, 360, 512))
"""Where few tokens have a small bias."""
GOAL = 14.0
"""Of these averages are off by e^-GOAL or so."""
PARTS, FEWER = 400, 100
"""Parts of theta, where the bias has to be known well, and elsewhere."""
FARTHER, LESS = arb(7) / 5, arb(4) / 5
"""The loss is compared with that at this multiple of w_0; from one w_0 / n^2 to the next."""


def nearest(n: int, w: Ball, parts: int = FEWER) -> Ball:
    """b at least, at this w and all that are larger, by the nearest token."""
    found = arb(0)
    for (share, _, _, most), (gamma, pairs, q) in zip(alone(n, w, parts), variograms(parts), strict=True):
        a = 1 / most
        found += share * (2 * gamma * a).max(pairs + q * a)
    return found


@lru_cache(maxsize=2)
def variograms(parts: int) -> list[tuple[Ball, Ball, Ball]]:
    """By parts of theta_1: gamma, gamma^2 / sum k_l and q at least."""
    weights, rest = relative(2, True)
    total = sum(weights.values(), arb(0)) + rest
    heights = ((variogram(h), (2 * sine**2).lower().max(0).min(2)) for _, _, h, _, sine in sectors(parts))
    return [(gamma, gamma**2 / total, variogram(twice) / 2) for gamma, twice in heights]


def together(n: Ball, x: Ball) -> Ball:
    """n^2 b at least, for these and all more tokens, from x n^2 on."""
    w = x * n**2
    near = 3 * arb.pi() ** 3 / ((n + 1) * (n + 2) * (n + 3))
    far = arb.pi() / (2 * w * (n + 1)) + n / (4 * arb.pi() * w**2) + 2 * n * (-w).exp() + 3 * (arb(2) / 3) ** (n - 1)
    return 2 * bias_below(n, x, w) - n**2 * (near + arb(2).sqrt() * far)


def pairs(w: Ball, P: Ball) -> Ball:
    """All pairs at most, where w^2 P is at most this."""
    return (2 / w**2 + 16 / (3 * arb.pi() * w * w.sqrt())) * P


@lru_cache(maxsize=1)
def looked_at() -> list[tuple[Ball, list[Ball], list[Ball]]]:
    """At `PLACES` N and b of few tokens, by n from 2 on; b at most."""
    weights, rest = relative(2, True)
    both = [(w, many_averages(2, FEW - 1, w, weights, GOAL)) for w in PLACES]
    return [(w, values[: FEW - 2], [(b + 4 * rest).upper() for b in values[FEW - 2 :]]) for w, values in both]


def few_in_two(k: Known) -> tuple[Bounds, Conditions]:
    """For 2 <= n < 150 B is at every w >= C (n^2 + 150) more than at some smaller w.

    Because b is at some w that is looked at less than what is left from C (n^2 + 150) on: by the nearest token or, from
    72 tokens on, as for many.
    """
    more = True
    for n in range(2, FEW):
        stop = k["C"] * top(n)
        level = reduce(arb.min, [biases[n - 2] for w, _, biases in looked_at() if w < stop])
        far = n >= CLOSE and together(arb(n), k["C"]) > n**2 * level
        more = more and (far or nearest(n, stop, PARTS) > level)
    return {}, {"B is more from C (n^2 + 150) on": more}


def many_in_two(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 150 B is at every w >= C n^2 more than at n^2 / 50.

    Because n^2 b is there at least a number that rises in n, and at n^2 / 50 at most one that falls in n.
    """
    n = arb(FEW)
    w = AT * n**2
    _, D, P = above(n, (1 - 2 / n) / (arb.pi() * (2 * AT).sqrt()), w)
    most = 2 * n / (n - 2) * arb.pi() * (2 / AT).sqrt() * D + n**2 * pairs(w, P) + 4 * left_out(n)
    return {}, {
        "B is more": together(n, k["C"]) > most,
        "C > 1/50": k["C"] > AT,
        "E^2 >= 3 l, and 3.8 l from l = 8/3 on": all(
            (3 if place < arb(8) / 3 else arb(38) / 10) * place <= E**2
            for (_, E, _), (place, _, _) in pairwise(cells())
        ),
    }


def left_out(n: Ball) -> Ball:
    """`rest` of `plane`, with 0.747 for 0.775.

    As E^2 >= 3.8 l from l = 8/3 on (from 60 on 4 P(Gumbel > -3/2)^2 (l - 3/2)), phi is beyond l = w/3 at most 1 - (3.8
    / 6)^{1/2} / pi.
    """
    return n**2 * (n + 2) ** 2 * (arb(747) / 1000) ** (n - 2)


def both_in_two(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 72, w_0 = max(k W, L^2 / 12 sigma^2) >= w_1: no w* in [least w_1, lower w_0] or beyond upper w_0.

    w_1 = 256 k / K, and w_0 <= n^2 / 80. The loss is N + rho b in units of sigma^2, rho = L^2 / 12 sigma^2. With w_0 =
    x n^2, p = rho / w_0 <= 1, t = (k W / w_0)^2 <= 1, one of them 1, and t = 12 k^2 / x n if p is 1, (n-2) / pi (2
    w)^{1/2} times it is at w = y w_0, y = 1.4, at most tau N + (2p / y) tau w D + (c t / y^2) w^{3/2} pairs, c = 1 /
    (12 2^{1/2} pi k^2). All is compared times (n-2) / pi (2 w_0)^{1/2}. Beyond upper w_0 that of N is more, with p (x /
    2)^{1/2} / pi times n^2 b. At w = z^2 w_0, by Jensen's inequality as in `plane`, N >= n mu_2 / (1 + n mu_1)^2, E sum
    a_i^2 sin^2(l theta_i) the same with E g^2 sin^2(l theta) = (e^{-2w} / 2w) (I_1 + 3 I_3 + ... + (2l-1) I_{2l-1})(2w)
    for mu_2, as I_{j-1} - I_{j+1} = j I_j / w at 2w, and sum k_l (E m_l)^2 >= beta / (1 + 1 / n mu_1)^2, beta = sum k_l
    (1 - A_l)^2 (`levels`). R = (2 pi w)^{1/2} mu_1 falls to 1, and w^{1/2} e^{-w} I_j(w) rises, so that S, the sum of
    k_l (4 pi w)^{1/2} 2w E g^2 sin^2(l theta), does. So the loss is at least (n-2) / n times ((z + p S / 2z) / (2
    pi)^{1/2} + c beta w^{3/2} t / z^3) / (R + z (2 pi x)^{1/2})^2, which falls in z as long as 2 z^2 <= S and z^4 <= 3
    (2 pi)^{1/2} c beta w^{3/2}.
    """
    n, x, enough = arb(CLOSE), START, {"lower": True, "upper": True}
    first, z, y = LISTED * k["k"] / k["K"], k["lower"].sqrt(), FARTHER
    w, c = k["least"] * first, 1 / (12 * arb(2).sqrt() * arb.pi() * k["k"] ** 2)
    R = (2 * arb.pi() * w).sqrt() * w.bessel_i(arb(0), scaled=True)
    S, beta, root = spread(w), least_pairs(k, w), (2 * arb.pi()).sqrt()
    last = False
    while not last:
        less = x * LESS
        most = (12 * k["k"] ** 2 / (less * n)).min(1)
        last = most == 1 and less * n**2 < first
        v = y * first.max(less * n**2)
        N, D, P = above(n, (1 - 2 / n) / (arb.pi() * (2 * y * x).sqrt()), v)
        noise = noise_below(n, k["upper"] * x, k["upper"] * first)
        bias = arb(0)
        if less * n**2 >= first:  # so that `together` is used from w = 40 on
            bias = (less / 2).sqrt() / arb.pi() * together(n, k["upper"] * less).max(0)
        for p, t in ((1, arb(0)), (1, most), *([] if most < 1 else [(0, most)])):
            level = N + 2 * p / y * D + c * t / y**2 * v * v.sqrt() * pairs(v, P) + left_out(n)
            level *= n / (n - 2) * y.sqrt()
            enough["lower"] &= bool(at_least(z, x, p, t, (R, S, c * beta)) > level)
            enough["upper"] &= bool(k["upper"].sqrt() * noise + p * bias > level)
        x = less
    return {}, {
        "no w* < lower w_0": enough["lower"],
        "no w* > upper w_0": enough["upper"],
        "least w_1 >= 1, y w_1 >= 8, upper w_1 >= 40": w >= 1 and y * first >= 8 and k["upper"] * first >= 40,
        "2 lower <= S, lower^2 <= 3 (2 pi)^{1/2} c beta w^{3/2}": 2 * k["lower"] <= S
        and k["lower"] ** 2 <= 3 * root * c * beta,
    }


def at_least(z: Ball, x: Ball, p: Ball, t: Ball, at_one: tuple[Ball, Ball, Ball]) -> Ball:
    """n / pi (2 w_0)^{1/2} times the loss at w = z^2 w_0, w_0 = x n^2, by R, S and c beta w^{3/2} at some smaller w."""
    (R, S, pairs), root = at_one, (2 * arb.pi()).sqrt()
    return ((z + p * S / (2 * z)) / root + pairs * t / z**3) / (R + z * root * x.sqrt()) ** 2


def spread(w: Ball) -> Ball:
    """S at this w, of all degrees in `relative`."""
    weights, found, total = relative(2, True)[0], arb(0), arb(0)
    for j in range(1, max(weights) + 1):
        total += (2 * j - 1) * (2 * w).bessel_i(arb(2 * j - 1), scaled=True)
        found += weights.get(j, arb(0)) * total
    return (4 * arb.pi() * w).sqrt() * found


def least_pairs(k: Known, w: Ball) -> Ball:
    """w^{3/2} beta at least from this w on: on cells beta, which falls, at the end, and beyond u 2 |G|^2 (`kink`).

    As the part of |z| is 2 E (G - (1 - A) |z|)^2, and 2 E G |z| = E_1 (2h - gamma) <= 1 - A.
    """
    found, w = 2 * k["G_low"] ** 2, w.lower()
    while not w > k["u"]:
        after = (w * WIDTH).mid()
        found = found.min(w * w.sqrt() * unit(k) * sums(k, after, 2, degree(after))[0])
        w = after
    return found
