"""ReLU in every dimension at once: its bias near b w^{-3/2}, and where w* lies.

Letters as in `sizes`, m = d - 1 and G, C, c, z as in lemma 3.1; b = 8 kinked f(0) int psi^2, linear = kinked = 1/6.
"""

from __future__ import annotations

from flint import arb

from ..kernel.form import Ball, Known, Obligations, least, most
from ..kernel.kink import gaussian_integrals
from .sizes import FLOOR, LAST, Size, density, drift, excess_over, kinked_square, logarithm, noise_below, power, sizes


def norms() -> list[Ball]:
    """L2 norms over x > 0 of psi, f, x^2 f and x Q, in closed form; f and Q are density and upper tail of N(0, 1)."""
    root = arb.pi().sqrt()
    squares = kinked_square(), 1 / (4 * root), 3 / (16 * root), (4 * arb(2).sqrt() - 5) / (12 * root)
    return [norm.sqrt() for norm in squares]


def remote(k: Known) -> Obligations:
    """For w >= w_1 first: 2 w^{a + 3/2} e^{-w/2} / c over (8 f(0) int psi^2)^{1/2} is at most tiny.

    Because it falls for w >= 2a + 3, and f(0) >= 1/pi. Beyond LAST w >= U a, c >= 2^{-a} a^a / e (log Gamma(2a) - log
    Gamma(a) >= a (log a - 1/a)), and what bounds it then falls in a where log(2U) + 3/2a < U/2.
    """
    tiny, holds = arb(FLOOR), True
    for size in sizes(k):
        a, w = 1 / size.s, k["first"] / size.v
        if size.d:
            log = (a + arb(3) / 2) * w.log() - w / 2 - ((2 * a).lgamma() - a.lgamma() - a * arb(2).log())
            holds = bool(holds and w >= 2 * a + 3)
        else:
            a, U = arb(LAST) / 2, k["first"] * k["kappa"] * k["W_least"].max(k["W_per_d"] * (LAST + 1))
            log = a * (2 * U).log() + arb(3) / 2 * (U * a).log() + 1 - U * a / 2
            holds = bool(holds and U >= 3 and (2 * U).log() + 3 / (2 * a) < U / 2)
        tiny = tiny.max(2 * log.exp() / (8 * kinked_square() / arb.pi()).sqrt())
    return {"tiny": least(tiny)}, {"w >= 2a + 3": holds, "tiny <= 1/4": tiny <= arb(1) / 4}


def corrections(size: Size) -> Ball:
    """The norm of the corrections to G0 above, over that of G0, times w / a."""
    psi, f, square, tail = norms()
    plane = size.s * (f + psi) / (arb(18).sqrt() * psi) if size.d == 2 else arb(0)
    return arb(2).sqrt() * (2 * tail + size.s * square) / psi + plane


def limits(k: Known, size: Size, x: Ball) -> tuple[Ball, Ball]:
    """P(w) / c lies between these, w = x w_1."""
    low = -(size.alpha / x + (size.alpha * size.v + k["gamma"] * size.v**2) / (2 * x**2))
    high = size.v / (8 * x) + k["over"] * size.v**2 / (2 * x**2) if size.d == 2 else arb(0)
    return low.exp(), high.exp()


def bias_above(k: Known, size: Size) -> Ball:
    """w_1^{3/2} kinked E (sum a_i C_i)^2 / b at most, without what is in `rest`."""
    low, _ = limits(k, size, arb(1))
    return ((1 + size.r * size.per_W * corrections(size)) / low + k["tiny"] / low) ** 2 * k["J2"]


def bias_below(k: Known, size: Size, x: Ball) -> Ball:
    """w^{3/2} kinked (E c^2 - 2 E c |z| m) / b at least, at w = x w_1 and beyond."""
    psi, f, square, tail = norms()
    low, high = limits(k, size, x)
    near, s, square_of_psi = size.r * size.per_W / x, size.s, kinked_square()  # near is a / w
    taken = near * (s * square + (2 + s) * f)
    if size.d not in (2, 3):
        taken += size.r * size.a_per_W / x * (2 + s) * psi + near * tail
    moment = gaussian_integrals(2)["moment"]
    norm = (1 - (1 + arb(3) / 2 * s) * near * moment / square_of_psi).max(0).sqrt() - taken / (4 * psi)
    phi, half = density(s), arb(1) / 2
    mean = 4 / (3 * (2 * arb.pi()).sqrt() * low)
    mean += (8 * square_of_psi).sqrt() * (
        (power(power(near, half), half) * corrections(size) / (2 * phi).sqrt() + k["tiny"] * arb.pi().sqrt()) / low
    )
    cross = (k["J0"] * drift(k, size, x) + k["rest"]) * near * (k["J0"] * mean + k["rest"]) / (4 * square_of_psi)
    return (norm.max(0) / (high * (1 + k["tau"] * (1 + 3 * k["tiny"])))) ** 2 - cross


def plane(size: Size) -> Ball:
    """(linear + kinked) a^2 / d w_1^2 over Q: (r / W)^{1/2} / 4 (2 + s) weight."""
    return power(size.r * size.per_W, arb(1) / 2) / (4 * (2 + size.s) * size.law.weight(size.s))


def slope_below(k: Known, size: Size, x: Ball) -> Ball:
    """D / a over 1 + tau at least, at w = x w_1 and beyond."""
    z = size.v / x
    y = size.alpha_per_a.max(0) * (1 + z) + k["gamma"] * z * size.v * size.s
    return (1 - y / x) / (1 + k["tau"])


def above(k: Known, size: Size) -> tuple[Ball, Ball]:
    """The loss at w_1 over Q, less 1 + beta/a, at most: what is left of it as W grows, and what times `plane` is."""
    beta, s, q, rise = size.law.beta, size.s, logarithm(k, size, arb(1)), drift(k, size, arb(1))
    cross = beta * size.law.S0(s) * size.r * s * k["J1"] * q.max(arb(0)).exp() * rise / k["K"]
    return beta * s * (q.exp() * k["J1"] - 1) + bias_above(k, size) - 1 + cross + k["rest"], rise**2 * k["J2"]


def excess(k: Known, size: Size, start: Ball, x: Ball) -> Ball:
    """The loss at x w_1 less that at w_1 over Q at least, by the bias from start w_1 on."""
    rest, more = above(k, size)
    flat = slope_below(k, size, start) ** 2 / x**2 - more
    noise = noise_below(k, size, k["first"])
    return excess_over(size, noise, bias_below(k, size, start), x) - rest + plane(size) * flat


def ramp(k: Known) -> Obligations:
    """For every d >= 2: low k W < w* < high k W, loss_low <= W^1.5 loss(w*) / m <= loss_high; m = b k^-1.5 (1 + 1.5/a).

    Some w* attains the least value, and this is about each. Because B is as in `kink_bias`: pairs are at most kinked
    G^2 and (linear + kinked) / d of those of h, singles as for the affine law; below, Jensen given z. The norms of
    `kink` are bounded by those of psi, f, x^2 f and x Q (triangle inequality): (m + 1) f - m x Q = (m + 1) psi + x Q, 2
    f - x Q = f + psi, r <= a/2 for d >= 4 and 0 for less. The other tokens averaged, E sum a_i C_i given z is E[g C] /
    mu_1 over 1 + E[g^2 C] / (n mu_1 E[g C]), which is at most 1 + tau (1 + 3 tiny): for t > 0 C falls in t in the mean,
    so that there Chebyshev leaves mu_2 / mu_1; P(h > 1) under g and e^{-w} mu_1 / mu_2 <= 2^a e^{-w} Z(w) / Z(2w) are
    at most tiny, as c <= a^a and Z >= 1/2. Likewise E sum a_i h_i >= D / w over 1 + tau. From above it is J0 D / w, and
    E c |z| is J0 G_mean, with d >= 2a and f(0) >= 1/pi. The loss over Q is so at most U at x = 1, and at least (beta/a)
    c x^a + b x^-beta + plane ((D/a) / (1 + tau))^2 x^-2, which is convex in log x: once it exceeds U at low < 1 or high
    > 1 it does so beyond, with b of split <= x <= 1 and of x >= 1. Where x^beta < b and c <= 1 it falls in x: from
    first to split. Below first the bias alone exceeds U: sum k_l (E[g (1 - P_l)] / mu_1)^2 falls in w, and over (1 +
    tau)^2 it is at most B (`smooth_bias`). Beyond end the noise does. All that W changes falls as it grows, but for
    `plane`, which multiplies a difference of either sign: W and all that are larger are one ball. Existence, and w < 0,
    as in `windows.window`.
    """
    first, split, one, low, high = k["first"], k["split"], arb(1), k["low"], k["high"]
    loss_high, loss_low = arb(0), arb(2)
    holds = {
        "first < split < low < 1 < high": first < split < low < one < high,
        "end <= 2 at d = 2": (4 * (1 + k["room"]) / 3) ** 2 <= 2,
        "W_least >= 1": k["W_least"] >= 1,
    }
    for largest in sizes(k):
        size = largest.from_here()
        beta, top, c = size.law.beta, 1 + size.law.beta * size.s, noise_below(k, size, first)
        rest, more = above(k, size)
        U = rest + plane(size) * more
        start, inner, outer = (bias_below(k, size, x) for x in (first, split, one))
        conditions = {
            "the bias exceeds U below first": start * first**-beta - top > U,
            "the loss falls from first to split": split**beta < start and c <= 1,
            "the loss exceeds U at split": excess(k, size, first, split) > 0,
            "the loss exceeds U at low": excess(k, size, split, low) > 0,
            "the loss exceeds U at high": excess(k, size, one, high) > 0,
            "the noise exceeds U beyond end": top * ((1 + k["room"]) * c - 1) > U,
            "w >= 2 at d = 2": size.d != 2 or size.v <= first / 2,
            "P / c >= 1/2": limits(k, size, first)[0] >= arb(1) / 2,
        }
        holds |= {what: bool(holds.get(what, True) and certain) for what, certain in conditions.items()}
        loss_high, loss_low = loss_high.max(1 + U / top), loss_low.min(c.min(inner).min(outer))
    return {"loss_high": least(loss_high), "loss_low": most(loss_low)}, holds


LEMMAS = {"11.1": remote, "11.2": ramp}
