r"""The optimal w of ReLU with hardly any noise in three dimensions: w* is at most C n^{4/5}.

Letters as in `largest` and, for gamma, `five`: b = B / k_1 is sum k_l (E m_l^2 + E sum a_i^2 (1 - P_l^2)) = 2 E sum
a_i^2 gamma(h_i) + E sum_{i != j} a_i a_j Gamma(h_i, h_j), Gamma = sum k_l p_l(h_i) p_l(h_j). D and P are those of the
affine law, D = 2 E sum a_i^2 h_i, and X = E sum a_i^2 h_i^2. F = (1 + f)^{n+2}, f = e^{-w} / 2w.

**gamma.** 2h - gamma is the integral of (4/pi) asin (y/2)^{1/2}, and asin(v) / v rises: it is h^{3/2} times a function
that rises to 2^{-1/2} at h = 2. So 2h >= gamma >= 2h - h^{3/2} / 2^{1/2}, and by Cauchy's inequality

    2 E sum a_i^2 gamma(h_i) >= 2 D - (D X)^{1/2},

which rises in D, as X <= D. Likewise it is at least (2 - delta) D - 2 s X, if gamma >= (2 - delta) h - s h^2, for which
delta is taken on cells of h.

**X.** n E g^2 h^2 e^{-lambda g} lambda is (n / 2w^3) K_3 / lambda at most, K_3 = 2 E_2 - 2 E_1 (`five`), E_1 = Ein,
and E_2 <= Ein + Ein^2 / 2, as Ein / (1 - e^{-lambda}) = Ein + q <= 1 + Ein. So K_3 <= Ein^2; up to lambda = e^{2w-y}
phi <= 1 + e^{-y} / 2w - Ein / 2w: X <= F (2 / (w (n+1)) + 8 / ((n+1) (n+2))) + (4n/3) (y / 2w)^{n-1}, F with e^{-y}, as
phi <= y / 2w beyond, and E h^2 = 4/3. It falls in w.

**Pairs.** That of z gives h h'. Of |z| with C = 2 |z_i| where z_i z < 0 and c(z) = E C given z and h, Gamma is 3 E (c -
h |z|) (c' - h' |z|), of which 3 E c |z| = 2h - gamma >= 0: in all at most 2 h h' + 3 E c c'. (For t < 0 x_i is replaced
by -x_i, with 1 - |t| for h.) c falls in |z| and rises in h, c = (2/pi) (r - v acos(v / s)) with s^2 = h (2 - h) (1 -
z^2), v = (1 - h) |z|, r^2 = s^2 - v^2. If 3 E c^2 <= c_0 h^{3/2}, the second part is at most c_0 (h h')^{3/4}, and (E g
h^{3/4} e^{-lambda g})^2 <= (E g h e^{-lambda g})^{3/2} (E g e^{-lambda g})^{1/2} (Hoelder) <= Ein^{3/2} (1 -
e^{-lambda})^{1/2} w^{-7/2} / 4 lambda^2, where Ein^{3/2} (1 - e^{-lambda})^{-1/2} <= Ein (1 + Ein / 2). So

    b <= F (2 (1 + 4J) / (n+1) + 2 / w^2 + 8 / (w (n+1)) + c_0 w^{-3/2} (1 + 2w / (n+1))) + 2 n^2 2^{2-n},

as b <= 2 E sum a_i gamma(h_i) <= 4 for two tokens. From below they are at least beta (1 - 1/n) / (1 + 2 (r - 1) / n)^2
(`levels`), beta = sum k_l (1 - A_l)^2 >= 3 |G|^2 (`kink`): the part of |z| is 3 E (G - (1 - A) |z|)^2, and 3 E G |z| =
E_1 (2h - gamma) <= 1 - A.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, reduce
from itertools import pairwise

from flint import arb

from . import largest
from .chain import Ball, Bounds, Conditions, Known
from .every import FEW as LISTED
from .every import Piece, end_of_few, looked_at, polynomials, relative, unit
from .five import variogram
from .largest import BEYOND, alone, curvature, early, ein, rise_above, rise_below, steepest, steps
from .levels import sums

FEW = 128
"""Below this n is looked at one by one,"""
SIDES = 48
"""and below this w* is bounded from above by polynomials; from below up to 255 tokens."""
TILTS = tuple(arb(j) / 20 for j in (6, 7, 8, 9, 10, 12, 14, 17, 20))
"""s, with 400 cells of h for each delta."""
EDGES = [2 * (arb(j) / 400) ** 2 for j in range(401)]
"""The ends of these cells."""
CUTS = tuple(map(arb, (1, 2, 3, 5, 8)))
"""y for few tokens."""
SMALLEST, CELLS, STEPS = arb(1) / 100, 300, 150
"""c_0 is at most that of h -> 0 up to this h, from there by cells of h, with sums over z."""
GROWTH = arb(6) / 5
"""From one n to the next; n up to"""
MANY = 10**12
"""this."""
SMALL = arb(1) / 10
"""Up to this lambda q'' is bounded beyond `MANY`."""
NEAR = largest.SMALL
"""Up to this lambda all else is bounded."""
WIDTH = arb(21) / 20
"""From one w to the next where beta is bounded."""
SLIGHT = arb(2) ** -12
"""More than all terms of the order 2^{-n/2} for n >= 48."""


def start(k: Known, n: Ball | int) -> Ball:
    """C n^{4/5}."""
    return k["C"] * arb(n) ** (arb(4) / 5)


def pieces(k: Known) -> list[Piece]:
    """Noise and bias of fewer than 256 tokens, those of `few`."""
    return polynomials(3, end_of_few(k), LISTED, True)


@lru_cache(maxsize=1)
def tilted() -> list[tuple[Ball, Ball]]:
    """s and delta."""
    below = [arb(0)] + [2 - variogram(h) / h for h in EDGES[1:]]
    return [(s, reduce(arb.max, [y - s * h for h, y in zip(EDGES, below[1:], strict=False)])) for s in TILTS]


def spread(n: Ball | int, w: Ball, y: Ball) -> Ball:
    """X at most, at this w and all that are larger."""
    more = ((n + 2) * (-y).exp() / (2 * w)).exp()
    return more * (2 / (w * (n + 1)) + arb(8) / ((n + 1) * (n + 2))) + arb(4 * n) / 3 * (y / (2 * w)) ** (n - 1)


def alone_of_relu(n: int, w: Ball) -> Ball:
    """b at least, for few tokens, at this w and all that are larger.

    Of two tokens sum a_i^2 gamma(h_i) >= gamma(h_1) (1 - 2 a_1 a_2), and 2 a_1 a_2 has the integral 1 / w over h_2 >
    h_1.
    """
    if n == 2:
        near = sum((variogram(h) * ((1 - h / 2) ** 2 - (1 - more / 2) ** 2) for h, more in pairwise(EDGES)), arb(0))
        weights, rest = relative(3, True)
        return 2 * near - 2 * (sum(weights.values(), arb(0)) + rest) / w
    D, X = alone(n, w), reduce(arb.min, [spread(n, w, y) for y in CUTS])
    return reduce(arb.max, [(2 - delta) * D - 2 * s * X for s, delta in tilted()])


def few_in_three(k: Known) -> tuple[Bounds, Conditions]:
    """For 2 <= n < 128 B is at every w >= C n^{4/5} more than at some smaller w.

    Because up to some w b is, but for harmonics beyond the 24th, a polynomial through balls, and there and beyond, by
    the bound that rises in w, more than at the least of some w.
    """
    _, rest = relative(3, True)
    near = far = True
    for n in range(2, FEW):
        first = start(k, n)
        tried = [bias.upper() for w, _, bias in looked_at(pieces(k), n, slice(1, None, 2)) if w < first]
        level = reduce(arb.min, tried) + 4 * rest
        for _, curve, _, _, edges in pieces(k):
            near = near and (first > edges[-1] or curve[n - 2].above(level, first.max(edges[0]), edges[-1]))
        far = far and alone_of_relu(n, first.max(end_of_few(k))) > level
    return {}, {"B is more on the polynomials": near, "B is more beyond": far}


def at_least(C: Ball, n: Ball, J: Ball) -> Ball:
    """(n+1) b at least from C n^{4/5} on, with this 4 J."""
    w = C * n ** (arb(4) / 5)
    D = 1 + J - (n + 1) * 3 * n * ((-4 * w).exp() + (1 - n).exp())
    return 2 * D - (D * (n + 1) * spread(n, w, w)).sqrt()


@lru_cache(maxsize=1)
def crossing() -> Ball:
    """c_0.

    Up to h = 1/100 c is at most 2 r e(y), y = |z| (1 - h) / r, r^2 = h (2 - h), e(y) = ((1 - y^2)^{1/2} - y acos y) /
    pi, as s e(v / s) rises in s: so 3 E c^2 h^{-3/2} is at most 12 (2 - h)^{3/2} / (1 - h) times the integral of e^2.
    """
    heights = [arb(j) / STEPS for j in range(STEPS)]
    first = sum((missed(arb(1), y) ** 2 for y in heights), arb(0)) / STEPS
    start = 12 * arb(2).sqrt() * 2 / (1 - SMALLEST) * first
    edges = [SMALLEST ** (1 - arb(j) / CELLS) for j in range(CELLS + 1)]
    for h, more in pairwise(edges):
        r = (more * (2 - more)).sqrt()
        both = [(r * (1 - (r * y) ** 2).sqrt(), (1 - more) * r * y) for y in heights]
        square = sum(((2 * missed(s, v)) ** 2 for s, v in both), arb(0)) * r / STEPS
        start = start.max(3 * square / (h * h.sqrt()))
    return start.upper()


def missed(s: Ball, v: Ball) -> Ball:
    """E (s cos x - v)_+ for uniform x, v < s: s e(v / s)."""
    return ((s**2 - v**2).sqrt() - v * (v / s).acos()) / arb.pi()


def many_in_three(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 128 B is at every w >= C n^{4/5} more than at x n^{4/5}.

    As in `many_tokens`, from n_i to n_{i+1}: tau is at most n_{i+1}^{1/5} / 2C, all else falls in n. From 10^12 on the
    same times n^{1/5}, with q'' up to lambda = 1/10.
    """
    C, x, n, more = k["C"], k["x"], arb(FEW), True
    while not n > MANY:
        after = (n * GROWTH).mid()
        more = more and at_least(C, n, 4 * rise_below(C * n / after ** (arb(1) / 5), n + 1)) > 2 + added(
            x, n, rise_above
        )
        n = after
    fifth, e = n ** (arb(1) / 5), ein(SMALL)
    low, high = curvature(SMALL)
    J = 8 * low * C * n / ((n + 2) * fifth) * (1 - (-fifth * e / (2 * C)).exp())
    lost = added(x, n, lambda tau: high / tau + arb(3) / 4 * (-tau * e).exp())
    return {}, {
        "B is more up to n = 10^12": more,
        "B is more beyond": at_least(C, n, J) - 2 > lost,
        "1/2 <= x < C": 2 * x >= 1 and x < C,
        "tau Ein(1/10) > 2 from 10^12 on": fifth * e > 5 * x,
    }


def added(x: Ball, n: Ball, rise: Callable[[Ball], Ball]) -> Ball:
    """(n+1) b - 2 at x n^{4/5}, at most, for this n and all that are larger."""
    w = x * n ** (arb(4) / 5)
    f = (-w).exp() / (2 * w)
    J, pairs = (
        rise(n / (2 * w * (1 + f))),
        2 / w**2 + 8 / (w * (n + 1)) + crossing() * (1 + 2 * w / (n + 1)) / w ** (arb(3) / 2),
    )
    return ((n + 2) * f).exp() * (2 + 8 * J + (n + 1) * pairs) - 2 + 2 * (n + 1) * n**2 * arb(2) ** (2 - n)


def both_of_relu(k: Known) -> tuple[Bounds, Conditions]:
    """For W >= V: w* <= upper M for n >= 48, and w* >= lower M for n >= 256, M = min(k W, m n^{4/5}), W^{5/2} = Lambda.

    By `joined` w* is at least root n^{2/3}, as V = (n/2)^{2/3}; and w* < C n^{4/5}. Terms of the order 2^{-n/2} and
    e^{-4w} are less than `SLIGHT` in all.
    """
    x, first = k["lower"] * k["m"], root(k) * arb(LISTED) ** (arb(2) / 3)
    return {}, {
        "no w* < lower M": no_less(k, x, k["lower"] * k["k"]),
        "no w* > upper M": no_more(k, k["upper"] * k["k"]),
        "C <= upper m": k["C"] <= k["upper"] * k["m"],
        "e^{-4w} is slight": (6 * LISTED * first**2 + LISTED**2) * (-4 * first).exp() < SLIGHT / 2,
        "K = 2": k["K"] == 2,
    }


def root(k: Known) -> Ball:
    """w* is at least this multiple of n^{2/3}."""
    return k["least"] * k["k"] / arb(4) ** (arb(1) / 3)


def no_less(k: Known, x: Ball, xk: Ball) -> bool:
    """No w* up to x n^{4/5} is less than xk W, for n >= 256.

    As (Lambda / 18) (b(w) - b(3w)) <= n (N(3w) - N(w)) for w* = w. On each cell of w both are bounded, times w^{3/2}
    and over w: n is at least 256 and (w/x)^{5/4}, at most (w / root)^{3/2}, t is w / n at most, and w^{5/2} / n^2 is
    less than t^2 w^{1/2} and x^{5/2}; J <= kappa / tau, tau = (n+1) / 6w (1 + f). Beyond u by 3 |G|^2; there all falls.
    """
    w, q, enough = root(k) * arb(LISTED) ** (arb(2) / 3), arb(3), True
    kappa = curvature()[1] + BEYOND * (-BEYOND * ein(NEAR)).exp()
    kappa = reduce(
        arb.max, [high * rise_above(low) for low, high in steps(arb(LISTED) ** (arb(1) / 5) / (7 * x))], kappa
    )
    while enough:
        after, last = (w * WIDTH).mid(), bool(w > k["u"])
        pairs = 3 * k["G_low"] ** 2 if last else w * w.sqrt() * unit(k) * sums(k, after, 2, degree(after))[0]
        n = ((w / x) ** (arb(5) / 4)).max(LISTED)
        t, square = x / n ** (arb(1) / 5), x ** (arb(5) / 2)
        if not last:
            t = t.min(after / n)
            square = square.min(t**2 * after.sqrt())
        f, most_n = (-q * w).exp() / (2 * q * w), (after / root(k)) ** (arb(3) / 2)
        more, here = (((most_n + 2) * exponent).exp() for exponent in (f, (-w).exp() / (2 * w)))
        bias = pairs * (1 - 1 / n) / (1 + 2 * t) ** 2 - crossing() * more * (1 + 2 * q * t) / q ** (arb(3) / 2)
        bias -= more * (2 / q**2 + 8 * t / q) / w.sqrt() + 2 * (more - 1) * t * after.sqrt()
        bias -= 16 * q * kappa * more * (1 + f) * square + (here * (2 + 8 * t)).sqrt() * t + SLIGHT
        noise = 2 * steepest() * (q * (1 + f) * more - 1) + SLIGHT
        enough = unit(k) * noise * xk ** (arb(5) / 2) <= bias and f < SLIGHT
        if last:
            break
        w = after
    return enough


def degree(w: Ball) -> int:
    """The last degree of beta that is computed."""
    return min(1000, 12 + 8 * math.ceil(float(w) ** 0.5))


def no_more(k: Known, Ck: Ball) -> bool:
    """No w* up to C n^{4/5} is more than Ck W, for n >= 48.

    As n (N(w) - N(w/2)) <= (Lambda / 18) (b(w/2) - b(w)) for w* = w. By tau = n / 2w >= n^{1/5} / 2C, as in `largest`:
    the left side is at least w gain, and w^{3/2} times the difference of b at most bias. W >= V leaves w >= Ck^3
    tau^2, w >= 48 / 2 tau and w >= Ck 24^{2/3}; F - 1 times w^{1/2} falls. Beyond the last tau J at w (1 + f) / 2 is
    no more than at w.
    """
    n, C, x, e = SIDES, k["C"], NEAR, ein(NEAR)
    least_w = Ck * (arb(n) / 2) ** (arb(2) / 3)
    f = (-least_w / 2).exp() / least_w
    more = ((n + 2) * f).exp()
    gain = x / x.expm1() * n / (n + 1) * (1 - (1 - BEYOND * e / n).max(0) ** (n + 1))
    gain -= more * ((1 + f) * early(x) + 2 * BEYOND * (-2 * BEYOND * e / (1 + f)).exp())
    last = arb(3) / 4
    rows = [(BEYOND, Ck**3 * BEYOND**2, gain, last, (1 - more) * last / (2 * BEYOND))]
    enough = Ck >= 1
    for low, high in steps(arb(n) ** (arb(1) / 5) / (2 * C)):
        noise = rise_below(n / (2 * high), arb(n), "share") - more * rise_above(2 * low / (1 + f), "share")
        J = rise_below(n / (2 * high), arb(n + 1))
        rise = J - more * rise_above(2 * low / (1 + f))
        w = (Ck**3 * low**2).max(n / (2 * high)).max(least_w)
        rows.append((low, w, 2 * low * noise, J, rise * n / (n + 1) / (2 * high)))
        enough = enough and rise > 0
    for tau, w, gain, J, rise in rows:
        t = 1 / (2 * tau)
        bias = crossing() * arb(8).sqrt() * more * (1 + t) + more * (8 + 16 * t) / w.sqrt()
        bias += (2 * (more - 1) * t - 8 * rise) * w.sqrt() + ((1 + 4 * J) * more * (2 + 8 * t)).sqrt() * t + SLIGHT
        enough = enough and bias <= unit(k) * Ck ** (arb(5) / 2) * (gain - SLIGHT)
    return enough
