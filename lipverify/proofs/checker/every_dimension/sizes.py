r"""For every dimension at once: numbers that depend on d, and attention over many tokens, up to `LAST` and beyond.

Letters as in `tokens`, a = (d-1)/2; in units L = 1. B ~ b w^-beta at many tokens, W = Lambda^{1/(a+beta)}, Lambda = n /
sigma^2, and

    k^{a+beta} = (beta b / 2a) Gamma(2a + 1) / Gamma(a + 1),    w_1 = k W,    Q = b w_1^-beta.

At w = x w_1 the leading terms are N ~ (beta/a) Q x^a and B ~ Q x^-beta, since P -> c and 2^a c = Gamma(2a) / Gamma(a):
in every dimension their sum is least at x = 1. What remains are corrections, functions of v = 1/w_1 and of

    s = 1/a,    r = a/k,

which are bounded as d grows. They are certified by balls at each d up to `LAST`; all d beyond are one ball, 0 <= s <=
1/a(LAST), 0 <= r <= 1/kappa.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flint import arb, arb_poly

from ..kernel.form import Ball, Known, Obligations, least, most
from ..kernel.polynomials import never_negative
from ..kernel.tokens import cut

LAST = 400
"""The last dimension that is certified by itself; larger ones are one ball."""
FLOOR = "1e-99"
"""The least bound of what is too small to be written down."""


@dataclass(frozen=True)
class Anywhere:
    """A law in every dimension."""

    S0: Callable[[Ball], Ball]
    """The least S0 with 2 S0 E sum a_i^2 h_i at least the part of one token in B; as a function of s, as is"""
    weight: Callable[[Ball], Ball]
    """weight s^order = beta b / 2a."""
    order: Ball
    beta: Ball
    """B ~ w^-beta."""
    centre: str
    """k^{a+beta} in words,"""
    loss: str
    """and b k^-beta (1 + beta/a)."""
    domain: str
    """Over which w a best one is best, as in lemma 6.1."""

    def slope(self, s: Ball) -> Ball:
        """beta b / 2a."""
        return self.weight(s) * power(s, self.order)


def power(x: Ball, exponent: Ball) -> Ball:
    """x >= 0 to a multiple of 1/2; the ball of x may reach below 0."""
    return x.nonnegative_part().sqrt() ** int((2 * exponent).unique_fmpz())


def density(s: Ball) -> Ball:
    """f(0) / a^{1/2}, f the density of <q, x>: f(0) = Gamma(a + 1/2) / (pi^{1/2} Gamma(a)).

    Between (1 - s/2)^{1/2} and 1, over pi^{1/2}, because log Gamma is convex.
    """
    if s.contains(0):
        return (1 - s / 2).sqrt().union(arb(1)) / arb.pi().sqrt()
    a = 1 / s
    return ((a + arb(1) / 2).lgamma() - a.lgamma()).exp() / (a * arb.pi()).sqrt()


def kinked_square() -> Ball:
    """The integral of psi^2 over x > 0, psi = E (Y - x)_+, Y normal: (2 - 2^{1/2}) / (6 pi^{1/2})."""
    return (2 - arb(2).sqrt()) / (6 * arb.pi().sqrt())


LAWS = {
    "affine": Anywhere(
        lambda s: s / (3 * (2 + s)),
        lambda s: 1 / (3 * (2 + s)),
        arb(0),
        arb(2),
        "(d-1)! / (3 d Gamma((d-1)/2))",
        "(d-1) (d+3) / (12 d k^2)",
        "over all real w",
    ),
    "quadratic": Anywhere(
        lambda s: 4 * s**2 / ((2 + s) * (2 + 3 * s)),
        lambda s: 4 / (2 + 3 * s),
        arb(1),
        arb(2),
        "8 (d-2)! / ((d+2) Gamma((d-1)/2))",
        "2 (d+3) / ((d+2) k^2)",
        "over w >= 0",
    ),
    "relu": Anywhere(
        lambda s: s / (3 * (2 + s)),
        lambda s: kinked_square() * density(s),
        arb(1) / 2,
        arb(3) / 2,
        "(2 - sqrt(2)) Gamma(d/2) (d-1)! / (6 pi Gamma((d+1)/2)^2)",
        "(2 - sqrt(2)) (d+2) Gamma(d/2) / (9 pi Gamma((d+1)/2) k^1.5)",
        "over all real w",
    ),
}
"""Affine: k_1 = 1/(3d), p = P_1'(1) = 1. Quadratic: k_2 = 2 (d-1) / (d^2 (d+2)), p = d/a, 1 - P_2 = p (h - h^2/2). Of
both S0 = k_l p, b = k_l p^2 a^2. ReLU: S0 = 1/(3d), and b = (4/3) f(0) int psi^2, of |z|/2 alone (lemma 3.1).
"""


def curve(k: Known) -> Obligations:
    """With alpha = (a^2 - a)/2, C = alpha + gamma: D >= a - alpha/w - C/w^2, A >= w / (d + w), D <= a for d >= 3.

    For every w > 0; and D <= 1/2 + 1/(8w) + over/w^2 for d = 2, w >= 2. Because D' = 2 (a - D) + D (D + 1 - 2a) / w
    (Bessel's equation): a curve whose slope is no more than that where D meets it stays below D once it is there, and
    likewise above. At w = 0 the first is -oo; D' less its slope is z^2 = w^-2 times 2 gamma + (alpha^2 - 3C) z + 2
    alpha C z^2 + C^2 z^3. For a >= 4 no coefficient is negative; below, with e = max(-alpha, 0), 2 alpha z^2 >= -e (z
    + z^3) and 2 gamma + y^3 >= 3 gamma^{2/3} y: it is >= 0 where 27 gamma^2 (C^2 - e C) >= (3C - alpha^2 + e C)^3. D
    = 0 at w = 0, and D' = a (1 - a) / w <= 0 at D = a >= 1. A' = 1 - A^2 - 2 a A / w exceeds the slope of w / (d + w)
    where they meet, and A = w/d - O(w^3). So D <= w d / (d + w), for d = 2 at w = 2 at most 1; from there on the
    slope of the last curve is no less than D' if 2/8 - 2 over + (1/64 + 3 over) z + over z^2 / 4 + over^2 z^3 <= 0 at
    z = 1/2, and so for z <= 1/2.
    """
    gamma, over, z = k["gamma"], k["over"], arb(1) / 2
    apart = 4  # from this a on D - its curve is a polynomial in a; the half integers below are looked at one by one
    alpha = arb_poly([0, arb(-1) / 2, arb(1) / 2])
    last = 2 * (arb(1) / 8 - over) + (arb(1) / 64 + 3 * over) * z + over * z**2 / 4 + over**2 * z**3
    return {}, {
        "D >= its curve, a < 4": all(above_its_curve(arb(i) / 2, gamma) for i in range(1, 2 * apart)),
        "D >= its curve, a >= 4": never_negative(alpha, apart)
        and never_negative(alpha * alpha - 3 * (alpha + gamma), apart),
        "D(2) <= its curve at d = 2": arb(1) / 2 + arb(1) / 16 + over / 4 >= 1,
        "D <= its curve at d = 2": last < 0,
    }


def above_its_curve(a: Ball, gamma: Ball) -> bool:
    """27 gamma^2 (C^2 - e C) >= (3C - alpha^2 + e C)^3 and C > e."""
    alpha = (a**2 - a) / 2
    C, e = alpha + gamma, (-alpha).max(arb(0))
    return bool(e < C and 27 * gamma**2 * (C**2 - e * C) >= (3 * C - alpha**2 + e * C) ** 3)


def centre(k: Known) -> Obligations:
    """For every d > LAST: k >= kappa a.

    Because log Gamma(x + 1) is (x + 1/2) log x - x + log(2 pi) / 2 and between 0 and 1/(12x) more, for x > 0:
    Gamma(2a + 1) / Gamma(a + 1) >= 2^{1/2} (4a/e)^a e^{-1/(12a)}. So (1 + beta s) log(k/a) >= log(4/e) + s (log(2) / 2
    + log weight - s/12) + (beta + order) s log s, and s log s falls in s where s <= 1/e.
    """
    law, end, s = LAWS[k["law"]], arb(2) / LAST, arb(0).union(arb(2) / LAST)
    bound = (4 / arb(1).exp()).log() + s * (arb(2).log() / 2 + law.weight(s).log() - s / 12)
    bound += (law.beta + law.order) * end * end.log()
    return {"kappa": most((bound / (1 + law.beta * s)).exp())}, {"1/a(LAST) <= 1/e": end * arb(1).exp() <= 1}


@dataclass(frozen=True)
class Size:
    """One dimension, or all beyond `LAST`: s, r = a/k at most, and at most 1/W and a/W; d = 0 stands for all beyond."""

    law: Anywhere
    d: int
    s: Ball
    r: Ball
    per_W: Ball
    a_per_W: Ball

    @property
    def v(self) -> Ball:
        """1/w_1."""
        return self.r * self.s * self.per_W

    @property
    def alpha(self) -> Ball:
        """alpha v."""
        return (1 - self.s) / 2 * self.r * self.a_per_W

    @property
    def alpha_per_a(self) -> Ball:
        """alpha v / a."""
        return (1 - self.s) / 2 * self.r * self.per_W

    def at_once(self) -> Size:
        """The same for W = oo."""
        return Size(self.law, self.d, self.s, self.r, arb(0), arb(0))

    def from_here(self) -> Size:
        """For this W and all that are larger."""
        return Size(self.law, self.d, self.s, self.r, arb(0).union(self.per_W), arb(0).union(self.a_per_W))


def sizes(k: Known) -> Iterator[Size]:
    """Each d up to `LAST`, and all beyond."""
    law, W, per_d = LAWS[k["law"]], k["W_least"], k["W_per_d"]
    for d in range(2, LAST + 1):
        s, per_W = 2 / (arb(d) - 1), 1 / W.max(per_d * d)
        yield Size(law, d, s, 1 / (s * centre_of(k["law"], arb(d))), per_W, per_W / s)
    s = arb(0).union(arb(2) / LAST)
    every = (s / (per_d * (2 + s))).upper().min((1 / W).upper())
    yield Size(law, 0, s, arb(0).union(1 / k["kappa"]), arb(0).union(every), arb(0).union(1 / (per_d * (2 + s))))


def centre_of(law: str, d: Ball) -> Ball:
    """k of w* ~ k W, in dimension d."""
    a, kind = (d - 1) / 2, LAWS[law]
    power = (kind.weight(1 / a) * a**-kind.order).log() + d.lgamma() - (a + 1).lgamma()
    return (power / (a + kind.beta)).exp()


def logarithm(k: Known, size: Size, x: Ball) -> Ball:
    """log of P(2w)/P(w)^2 times c, at most, at w = x w_1: 3 alpha/2w + 7 C/8w^2."""
    return 3 * size.alpha / (2 * x) + 7 * (size.alpha * size.v + k["gamma"] * size.v**2) / (8 * x**2)


def drift(k: Known, size: Size, x: Ball) -> Ball:
    """An upper bound of D / a at w = x w_1 and beyond."""
    z = size.v / x
    return 1 + z / 4 + 2 * k["over"] * z**2 if size.d == 2 else arb(1)


def noise_below(k: Known, size: Size, first: Ball) -> Ball:
    """c: the noise at x w_1 is at least (beta/a) Q c x^a for x >= first; 1 + tau_3 is Jensen's.

    log(c P(2w) / P(w)^2) >= 0 for d >= 3, and -3/16w - 7 over/8w^2 for d = 2.
    """
    z = size.v / first
    fallen = 3 * z / 16 + 7 * k["over"] * z**2 / 8 if size.d == 2 else arb(0)
    return (1 - fallen) / (1 + k["tau_3"]) ** 2


def excess_over(size: Size, c: Ball, b: Ball, x: Ball) -> Ball:
    """(beta/a) c x^a + b x^-beta - (1 + beta/a) at least, for c > 0."""
    beta = size.law.beta
    if size.d:
        noise = beta * size.s * x ** (1 / size.s)
    else:  # s x^{1/s} falls in s where log x >= s, so of all s up to the end the last decides
        end = arb(2) / LAST
        noise = beta * end * x ** (1 / end) if x.log() >= end else arb(0)
    return noise * c + b * x**-beta - 1 - beta * size.s


def corrections(k: Known) -> Obligations:
    """For w_1 first <= w <= w_1 end, end^a = (1 + a/beta)(1 + room): 1/T <= tau, (mu_3 / mu_2) / (n mu_1) <= tau_3.

    For W >= W_least, W >= W_per_d d, n >= K W^{a+beta-1}, n >= M (4/3)^a W^a. For w <= w_1 first 1 / (n mu_1) <= tau;
    T >= T_least at w_1. What lies beyond the cut of `laplace` is at most rest: in the loss at w_1 over Q, and for ReLU
    in w E sum a_i h_i / a and w^{3/2} E c |z| / f(0) as well (`ramp.ramp`). Because log(P/c) is the integral of (D - a)
    / w over (w, oo), so that log(c P(2w) / P(w)^2) <= 3 alpha/2w + 7 C/8w^2, log(c P(3w) / P(2w) P(w)) <= 7 alpha/6w +
    41 C/72w^2, log(c/P) <= alpha/w + C/2w^2. At w = x w_1, 1/T = x^a c P(2w)/P(w)^2 (beta b / a) k^-beta W^a / n; the
    second is (4/3)^a times that with the other ratio, and 1 / (n mu_1) is (2x)^a times that with the third, where 2x <=
    1, and rises in w. Beyond the cut 2 E for the noise; for the bias 28 k_l E, 0 <= 1 - P_l <= 2 and p >= 1, or for
    ReLU 20 E (1/6 + 1/3d) for pairs and 8 E / 3d for i = j, 8 E in all; 4 E for E sum a_i h_i and E c |z|. W^{beta-1}
    <= (beta b / a) k^-beta e^{..} T / K, with end^a at the end, where w <= 2 w_1; T^3 E falls for T >= 12.
    """
    T, E, law = k["T_least"], cut(k), LAWS[k["law"]]
    tau, tau_3, rest = arb(0), arb(0), arb(FLOOR)
    for size in sizes(k):
        s, r, far = size.s, size.r, logarithm(k, size, k["first"]).max(arb(0)).exp()
        whole = 2 * law.slope(s) * power(s, law.beta - 1) * (s + 1 / law.beta) * (1 + k["room"]) * far
        few = power(size.per_W, law.beta - 1) / k["K"]
        tau = tau.max(power(r, law.beta) * whole * few)
        last = (1 / k["M"]).min((arb(4) / 3) ** (1 / s) * few) if size.d else 1 / k["M"]
        tau_3 = tau_3.max(power(r, law.beta) * whole * last)
        rest = rest.max(2 * law.beta * s * far * T * E + bias_beyond(k, size, far))
        if law.beta < 2:
            share = 2 * law.weight(s) * (s + 1 / law.beta) * (1 + k["room"]) * far * r * T / k["K"]  # whole is s shares
            rest = rest.max(8 * E * (s * share) ** 2).max(arb(128).sqrt() * E * share**3 * s**2 / density(s))
    return {"tau": least(tau), "tau_3": least(tau_3), "rest": least(rest)}, {
        "tau T_least <= 1": tau * T <= 1,
        "T_least >= 12": T >= 12,
        "2 first <= 1": 2 * k["first"] <= 1,
    }


def bias_beyond(k: Known, size: Size, far: Ball) -> Ball:
    """28 k_l E, or 8 E for ReLU, over Q."""
    T, E, s, r, law = k["T_least"], cut(k), size.s, size.r, size.law
    if law.beta < 2:
        return 6 * E * law.weight(s) ** 2 * (2 * far * T * r * s / k["K"]) ** 3 * s**2
    return 28 * E * T**2 * (far * 2 * law.slope(s) * r * s**2 / k["K"]) ** 2


LEMMAS = {"9.1": curve, "9.2": centre, "9.3": corrections}
