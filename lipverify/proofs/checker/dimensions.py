r"""The optimal window in every dimension at once, with constants as functions of d: affine and quadratic laws.

Letters as in `tokens`, a = (d-1)/2. One harmonic P_l of weight k_l; p = P_l'(1), S0 = k_l p, S1 = k_l p^2, in units L =
1. W = Lambda^{1/(a+2)}, Lambda = n / sigma^2, and

    k^{a+2} = a S1 Gamma(2a + 1) / Gamma(a + 1),    w_1 = k W,    Q = S1 a^2 / w_1^2.

At w = x w_1 the leading terms are N ~ (2/a) Q x^a and B ~ Q x^-2, since P -> c and 2^a c = Gamma(2a) / Gamma(a): in
every dimension their sum is least at x = 1. What remains are corrections, functions of v = 1/w_1 and of

    s = 1/a,    r = a/k,

which are bounded as d grows. They are certified by balls at each d up to `LAST`; all d beyond are one ball, 0 <= s <=
1/a(LAST), 0 <= r <= 1/kappa. They are certified for every W of a range at its two ends: what is compared is convex and
concave in v.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from flint import arb, arb_poly

from .chain import Ball, Bounds, Conditions, Kind, Known, Malformed, Proof, Rule, exactly, least, most, shown
from .tokens import cut, laplace
from .transformers import never_negative

LAST = 400
"""The last dimension that is certified by itself; larger ones are one ball."""
APART = 4
"""From this a on `curve` is a polynomial in a; the half integers below are certified one by one."""
FLOOR = "1e-99"
"""Of `rest`, which has thousands of zeros and is written down."""


@dataclass(frozen=True)
class Harmonic:
    """A law of one degree, the same in every dimension.

    Attributes
    ----------
    S0, weight, order
        S0, and weight s^order = a S1, as functions of s.
    centre, loss
        k^{(d+3)/2} and a (a+2) S1 / k^2 in words.
    domain
        Over which w a best one is best, as in `windows.window`.
    """

    S0: Callable[[Ball], Ball]
    weight: Callable[[Ball], Ball]
    order: int
    centre: str
    loss: str
    domain: str


LAWS = {
    "affine": Harmonic(
        lambda s: s / (3 * (2 + s)),
        lambda s: 1 / (3 * (2 + s)),
        0,
        "(d-1)! / (3 d Gamma((d-1)/2))",
        "(d-1) (d+3) / (12 d k^2)",
        "over all real w",
    ),
    "quadratic": Harmonic(
        lambda s: 4 * s**2 / ((2 + s) * (2 + 3 * s)),
        lambda s: 4 / (2 + 3 * s),
        1,
        "8 (d-2)! / ((d+2) Gamma((d-1)/2))",
        "2 (d+3) / ((d+2) k^2)",
        "over w >= 0",
    ),
}
"""Affine: k_1 = 1/(3d), p = 1. Quadratic: k_2 = 2 (d-1) / (d^2 (d+2)), p = d/a, 1 - P_2 = p (h - h^2/2)."""


def curve(k: Known) -> tuple[Bounds, Conditions]:
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
    alpha = arb_poly([0, arb(-1) / 2, arb(1) / 2])
    last = 2 * (arb(1) / 8 - over) + (arb(1) / 64 + 3 * over) * z + over * z**2 / 4 + over**2 * z**3
    return {}, {
        "D >= its curve, a < 4": all(above_its_curve(arb(i) / 2, gamma) for i in range(1, 2 * APART)),
        "D >= its curve, a >= 4": never_negative(alpha, APART)
        and never_negative(alpha * alpha - 3 * (alpha + gamma), APART),
        "D(2) <= its curve at d = 2": arb(1) / 2 + arb(1) / 16 + over / 4 >= 1,
        "D <= its curve at d = 2": last < 0,
    }


def above_its_curve(a: Ball, gamma: Ball) -> bool:
    """27 gamma^2 (C^2 - e C) >= (3C - alpha^2 + e C)^3 and C > e."""
    alpha = (a**2 - a) / 2
    C, e = alpha + gamma, (-alpha).max(arb(0))
    return bool(e < C and 27 * gamma**2 * (C**2 - e * C) >= (3 * C - alpha**2 + e * C) ** 3)


def centre(k: Known) -> tuple[Bounds, Conditions]:
    """For every d > LAST: k >= kappa a.

    Because log Gamma(x + 1) is (x + 1/2) log x - x + log(2 pi) / 2 and between 0 and 1/(12x) more, for x > 0:
    Gamma(2a + 1) / Gamma(a + 1) >= 2^{1/2} (4a/e)^a e^{-1/(12a)}. So (1 + 2s) log(k/a) >= log(4/e) + s (log(2) / 2 +
    log weight - s/12) + (2 + order) s log s, and s log s falls in s where s <= 1/e.
    """
    law, end, s = LAWS[k["law"]], arb(2) / LAST, arb(0).union(arb(2) / LAST)
    bound = (4 / arb(1).exp()).log() + s * (arb(2).log() / 2 + law.weight(s).log() - s / 12)
    bound += (2 + law.order) * end * end.log()
    return {"kappa": most((bound / (1 + 2 * s)).exp())}, {"1/a(LAST) <= 1/e": end * arb(1).exp() <= 1}


@dataclass(frozen=True)
class Size:
    """One dimension, or all beyond `LAST`: s, r = a/k at most, and at most 1/W and a/W; d = 0 stands for all beyond."""

    law: Harmonic
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

    @property
    def slope(self) -> Ball:
        """a S1."""
        return self.law.weight(self.s) * self.s**self.law.order

    def at_once(self) -> Size:
        """The same for W = oo."""
        return Size(self.law, self.d, self.s, self.r, arb(0), arb(0))


def sizes(k: Known) -> Iterator[Size]:
    """Each d up to `LAST`, and all beyond."""
    law, W, per_d = LAWS[k["law"]], k["W_least"], k["W_per_d"]
    for d, s, r in head(k["law"]):
        per_W = 1 / W.max(per_d * d)
        yield Size(law, d, s, r, per_W, per_W / s)
    s = arb(0).union(arb(2) / LAST)
    every = (s / (per_d * (2 + s))).upper().min((1 / W).upper())
    yield Size(law, 0, s, arb(0).union(1 / k["kappa"]), arb(0).union(every), arb(0).union(1 / (per_d * (2 + s))))


@cache
def head(law: str) -> list[tuple[int, Ball, Ball]]:
    """d, s and r = a/k for each d up to `LAST`."""
    return [(d, 2 / (arb(d) - 1), (arb(d) - 1) / 2 / centre_of(law, arb(d))) for d in range(2, LAST + 1)]


def centre_of(law: str, d: Ball) -> Ball:
    """k."""
    a, kind = (d - 1) / 2, LAWS[law]
    power = (kind.weight(1 / a) * a**-kind.order).log() + d.lgamma() - (a + 1).lgamma()
    return (power / (a + 2)).exp()


def logarithm(k: Known, size: Size, x: Ball) -> Ball:
    """log of P(2w)/P(w)^2 times c, at most, at w = x w_1: 3 alpha/2w + 7 C/8w^2."""
    return 3 * size.alpha / (2 * x) + 7 * (size.alpha * size.v + k["gamma"] * size.v**2) / (8 * x**2)


def corrections(k: Known) -> tuple[Bounds, Conditions]:
    """For w_1 first <= w <= w_1 end, end^a = (1 + a/2)(1 + room): 1/T <= tau, (mu_3 / mu_2) / (n mu_1) <= tau_3.

    For W >= W_least, W >= W_per_d d, n >= K W^{a+1}, n >= M (4/3)^a W^a. For w <= w_1 first 1 / (n mu_1) <= tau; T >=
    T_least at w_1, where what lies beyond the cut of `laplace` is at most rest Q. Because log(P/c) is the integral of
    (D - a) / w over (w, oo), so that log(c P(2w) / P(w)^2) <= 3 alpha/2w + 7 C/8w^2, log(c P(3w) / P(2w) P(w)) <= 7
    alpha/6w + 41 C/72w^2, log(c/P) <= alpha/w + C/2w^2. At w = x w_1, 1/T = x^a c P(2w)/P(w)^2 2 a S1 W^a / (k^2 n);
    the second is (4/3)^a times that with the other ratio, and 1 / (n mu_1) is (2x)^a times that with the third, where
    2x <= 1, and rises in w. Beyond the cut 2 E for the noise; 28 k_l E for the bias, 0 <= 1 - P_l <= 2, where w_1 = k
    W <= 2 a S1 e^{..} T / (k K) and p >= 1; T^2 E falls for T >= 8.
    """
    T, E = k["T_least"], cut(k)
    tau, tau_3, rest = arb(0), arb(0), arb(FLOOR)
    for size in sizes(k):
        s, r, far = size.s, size.r, logarithm(k, size, k["first"]).max(arb(0)).exp()
        base = 2 * size.slope * r**2 * s * far
        whole = base * (s + arb(1) / 2) * (1 + k["room"])
        few = size.per_W / k["K"]
        tau = tau.max(whole * few)
        tau_3 = tau_3.max(whole * (1 / k["M"]).min((arb(4) / 3) ** (1 / s) * few if size.d else 1 / k["M"]))
        rest = rest.max(4 * s * far * T * E + 28 * E * T**2 * (far * 2 * size.slope * r * s**2 / k["K"]) ** 2)
    return {"tau": least(tau), "tau_3": least(tau_3), "rest": least(rest)}, {
        "tau T_least <= 1": tau * T <= 1,
        "T_least >= 8": T >= 8,
        "2 first <= 1": 2 * k["first"] <= 1,
    }


def above(k: Known, size: Size) -> Ball:
    """U - (1 + 2/a): the loss at w_1 over Q, less what it tends to, at most."""
    q, s = logarithm(k, size, arb(1)), size.s
    cross = 2 * size.law.S0(s) * size.r * s * k["J1"] * q.max(arb(0)).exp() * upper(k, size) / k["K"]
    return 2 * s * (q.exp() * k["J1"] - 1) + (k["J2"] * upper(k, size) ** 2 - 1) + cross + k["rest"]


def upper(k: Known, size: Size) -> Ball:
    """D(w)/a, or for the quadratic law A, at most, for w >= w_1."""
    if size.d == 2 and size.law.order == 0:
        return 1 + size.v / 4 + 2 * k["over"] * size.v**2
    return arb(1)


def below(k: Known, size: Size, first: Ball, last: Ball) -> tuple[Ball, Ball]:
    """c and b: the loss at w = x w_1 is at least (2/a) Q c x^a + Q b x^-2, first <= x <= last; both at most 1 + v/2a.

    log(c P(2w) / P(w)^2) >= 0 for d >= 3, and -3/16w - 7 over/8w^2 for d = 2. D/a and A = 1 - D/w as in `curve`.
    """
    v, z = size.v, size.v / first
    fallen = 3 * z / 16 + 7 * k["over"] * z**2 / 8 if size.d == 2 else arb(0)
    if size.law.order == 0:
        nearest = (size.alpha_per_a / first).max(size.alpha_per_a / last) if size.d == 2 else size.alpha_per_a / first
        y = nearest + size.alpha_per_a * v / first**2 + k["gamma"] * v * z * size.s / first
    else:
        y = size.r * size.per_W / first * (1 + z / 4 + 2 * k["over"] * z**2 if size.d == 2 else arb(1))
    return (1 - fallen) / (1 + k["tau_3"]) ** 2, (1 - 2 * y) / (1 + k["tau"]) ** 2


def far_below(k: Known, size: Size) -> Ball:
    """B over Q, less 1 + 2/a, at any w <= first w_1 at least.

    E[g (1 - P_l)] / (p mu_1) is 1 - A, which falls in w, or for the quadratic law a A/w >= a / (d + w).
    """
    share = 1 - 2 * (2 + size.s) * size.r * size.per_W / k["first"]
    if size.law.order == 0:
        share = below(k, size, k["first"], k["first"])[1] * (1 + k["tau"]) ** 2
    return share / (k["first"] * (1 + k["tau"])) ** 2 - 1 - 2 * size.s


def at(size: Size, pair: tuple[Ball, Ball], x: Ball) -> Ball:
    """(2/a) c x^a + b x^-2 - (1 + 2/a) at least, for c > 0; s x^{1/s} falls in s where log x >= s, and is >= 0."""
    c, b = pair
    if size.d:
        noise = 2 * size.s * x ** (1 / size.s)
    else:
        end = arb(2) / LAST
        noise = 2 * end * x ** (1 / end) if x.log() >= end else arb(0)
    return noise * c + b / x**2 - 1 - 2 * size.s


def window(k: Known) -> tuple[Bounds, Conditions]:
    """For every d >= 2: low k W < w* < high k W, and loss_low <= W^2 loss(w*) k^2 / (a (a+2) S1) <= loss_high.

    Some w* attains the least value, and this is about each. Because 1/S^2 is convex, under the weights g^2: N >= n
    mu_2 / ((n - 1) mu_1 + mu_3/mu_2)^2; under g (1 - P_l) likewise E sum a_i (1 - P_l) >= E[g (1 - P_l)] / mu_1 over
    1 + tau, where y <= 1/4 and D/a <= 3/2, so that E[g^2 (1 - P_l)] / E[g (1 - P_l)] <= mu_2 / mu_1; in any case over
    1 + 1 / (n mu_1). B >= k_l times its square. At w_1 the cut of `laplace`, E[g^2 (1 - P_l)] / mu_2 = p D(2w) / 2w
    or p a A(2w) / 2w. So the loss over Q is at most U at x = 1, and at least (2/a) c x^a + b x^-2, which is convex in
    log x: once it exceeds U at low < 1 or high > 1 it does so beyond, with c and b of split <= x <= 1 and of 1 <= x
    <= end. Where x^2 < b and c <= 1 it falls in x: from first to split. Below first the bias alone exceeds U, beyond
    end the noise, which rises in w for fixed tokens (Chebyshev). U is convex in v, c and b are concave: v = 0 and the
    largest v decide. (2/a) x^a + x^-2 is least at x = 1. Existence, and w < 0, as in `windows.window`.
    """
    first, split, one, low, high = k["first"], k["split"], arb(1), k["low"], k["high"]
    loss_high, loss_low = arb(0), arb(2)
    holds = {
        "first < split < low < 1 < high": first < split < low < one < high,
        "end <= 2 at d = 2": (5 * (1 + k["room"]) / 4) ** 2 <= 2,
        "W_least >= 1": k["W_least"] >= 1,
    }
    for size in sizes(k):
        for each in (size, size.at_once()):
            U = above(k, each)
            start, inner, outer = (below(k, each, *ends) for ends in ((first, split), (split, one), (one, arb(2))))
            z = each.v / first
            found = {
                "the bias exceeds U below first": far_below(k, each) > U,
                "the loss falls from first to split": split**2 < start[1] and start[0] <= 1,
                "the loss exceeds U at split": at(each, start, split) > U,
                "the loss exceeds U at low": at(each, inner, low) > U,
                "the loss exceeds U at high": at(each, outer, high) > U,
                "the noise exceeds U beyond end": (2 * each.s + 1) * ((1 + k["room"]) * outer[0] - 1) > U,
                "y <= 1/4": start[1] >= arb(3) / 4,
                "w >= 2 and D/a <= 3/2 at d = 2": each.d != 2
                or (z <= arb(1) / 2 and z / 4 + 2 * k["over"] * z**2 <= arb(1) / 2),
            }
            holds |= {what: bool(holds.get(what, True) and certain) for what, certain in found.items()}
            loss_high = loss_high.max(1 + U / (1 + 2 * each.s))
            loss_low = loss_low.min(inner[0].min(inner[1])).min(outer[0].min(outer[1]))
    return {"loss_high": least(loss_high), "loss_low": most(loss_low)}, holds


THEOREMS: dict[str, tuple[Rule, ...]] = {"every dimension": (curve, laplace, centre, corrections, window)}


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    """The law."""
    law = exactly("given", stated["given"], ("law",))["law"]
    if type(law) is not str or law not in LAWS:
        raise Malformed(f"law {repr(law)[:60]}: in every dimension one of {', '.join(LAWS)}")
    return {"law": law}


def statement(proof: Proof) -> str:
    """The theorem, each constant from the lemma that certifies it."""
    law, k = LAWS[proof.about["law"]], {name: shown(value) for name, value in proof.constants(window).items()}
    k |= {name: shown(value) for name, value in proof.constants(corrections).items()}
    return (
        f"{proof.about['law']}, every d >= 2: {law.domain} the loss has a least value, and every w* that attains it "
        f"has {k['low']} k W < w* < {k['high']} k W and {k['loss_low']} m <= loss(w*) W^2 / L^2 <= {k['loss_high']} m, "
        f"W = (n L^2 / sigma^2)^(2/(d+3)), k^((d+3)/2) = {law.centre}, m = {law.loss}, for all n and all L, sigma > 0 "
        f"with W >= {k['W_least']}, W >= {k['W_per_d']} d, n >= {k['K']} W^((d+1)/2) and n >= {k['M']} (4/3)^((d-1)/2) "
        "W^((d-1)/2)"
    )


KIND = Kind(
    chain=lambda proof: [(rule, 0) for rule in THEOREMS[proof.theorem]],
    about=about,
    given=dict,
    statement=statement,
    chosen={
        curve: ("gamma", "over"),
        laplace: ("T_least",),
        corrections: ("W_least", "W_per_d", "K", "M", "first", "room"),
        window: ("split", "low", "high"),
    },
)
