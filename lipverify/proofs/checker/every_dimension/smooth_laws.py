r"""The optimal window in every dimension at once, with constants as functions of d: affine and quadratic laws, ReLU.

Letters as in `sizes`. Here are the laws of one harmonic P_l of weight k_l; p = P_l'(1), S0 = k_l p, S1 = k_l p^2, b =
S1 a^2, in units L = 1. Corrections are certified for every W of a range at its two ends: what is compared is convex
and concave in v. `ramp` is about ReLU.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import arb

from ..kernel import form
from ..kernel.form import Ball, Known, Obligations, Rule, least, most
from ..kernel.tokens import laplace
from .ramp import ramp, remote
from .sizes import LAWS, Size, centre, corrections, curve, drift, excess_over, logarithm, noise_below, sizes


def above(k: Known, size: Size) -> Ball:
    """U - (1 + 2/a): the loss at w_1 over Q, less what it tends to, at most."""
    q, s = logarithm(k, size, arb(1)), size.s
    cross = 2 * size.law.S0(s) * size.r * s * k["J1"] * q.max(arb(0)).exp() * upper(k, size) / k["K"]
    return 2 * s * (q.exp() * k["J1"] - 1) + (k["J2"] * upper(k, size) ** 2 - 1) + cross + k["rest"]


def upper(k: Known, size: Size) -> Ball:
    """D(w)/a, or for the quadratic law A, at most, for w >= w_1."""
    return drift(k, size, arb(1)) if size.law.order == 0 else arb(1)


def below(k: Known, size: Size, first: Ball, last: Ball) -> tuple[Ball, Ball]:
    """c and b: the loss at w = x w_1 is at least (2/a) Q c x^a + Q b x^-2, first <= x <= last; both at most 1 + v/2a.

    D/a and A = 1 - D/w as in lemma 9.1.
    """
    v, z = size.v, size.v / first
    if size.law.order == 0:
        nearest = (size.alpha_per_a / first).max(size.alpha_per_a / last) if size.d == 2 else size.alpha_per_a / first
        y = nearest + size.alpha_per_a * v / first**2 + k["gamma"] * v * z * size.s / first
    else:
        y = size.r * size.per_W / first * drift(k, size, first)
    return noise_below(k, size, first), (1 - 2 * y) / (1 + k["tau"]) ** 2


def far_below(k: Known, size: Size) -> Ball:
    """B over Q, less 1 + 2/a, at any w <= first w_1 at least.

    E[g (1 - P_l)] / (p mu_1) is 1 - A, which falls in w, or for the quadratic law a A/w >= a / (d + w).
    """
    share = 1 - 2 * (2 + size.s) * size.r * size.per_W / k["first"]
    if size.law.order == 0:
        share = below(k, size, k["first"], k["first"])[1] * (1 + k["tau"]) ** 2
    return share / (k["first"] * (1 + k["tau"])) ** 2 - 1 - 2 * size.s


def window(k: Known) -> Obligations:
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
        for here in (size, size.at_once()):
            U = above(k, here)
            start, inner, outer = (below(k, here, *ends) for ends in ((first, split), (split, one), (one, arb(2))))
            z = here.v / first
            conditions = {
                "the bias exceeds U below first": far_below(k, here) > U,
                "the loss falls from first to split": split**2 < start[1] and start[0] <= 1,
                "the loss exceeds U at split": excess_over(here, *start, split) > U,
                "the loss exceeds U at low": excess_over(here, *inner, low) > U,
                "the loss exceeds U at high": excess_over(here, *outer, high) > U,
                "the noise exceeds U beyond end": (2 * here.s + 1) * ((1 + k["room"]) * outer[0] - 1) > U,
                "y <= 1/4": start[1] >= arb(3) / 4,
                "w >= 2 and D/a <= 3/2 at d = 2": here.d != 2
                or (z <= arb(1) / 2 and z / 4 + 2 * k["over"] * z**2 <= arb(1) / 2),
            }
            holds |= {what: bool(holds.get(what, True) and certain) for what, certain in conditions.items()}
            loss_high = loss_high.max(1 + U / (1 + 2 * here.s))
            loss_low = loss_low.min(inner[0].min(inner[1])).min(outer[0].min(outer[1]))
    return {"loss_high": least(loss_high), "loss_low": most(loss_low)}, holds


LEMMAS = {"10.1": window}
THEOREMS = {"every dimension": (curve, laplace, centre, corrections)}


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    law = form.exactly("given", stated["given"], ("law",))["law"]
    if type(law) is not str or law not in LAWS:
        raise form.Malformed(f"law {repr(law)[:60]}: in every dimension one of {', '.join(LAWS)}")
    return {"law": law}


def decides(law: str) -> tuple[Rule, ...]:
    """The lemmas that say where w* is, the last one between which lines."""
    return (window,) if LAWS[law].beta == 2 else (remote, ramp)


def sentence(proof: form.Proof) -> form.Sentence:
    name = proof.about["law"]
    law, (*_, last), chosen = LAWS[name], decides(name), proof.constants(corrections)
    beta, k = Fraction(float(law.beta)), proof.constants(last)
    words = {key: form.shown(value) for key, value in ({**chosen, **k}).items()}
    power, shift = form.shown(beta), form.shown(2 * beta - 1)
    W, W_per_d, n, farther = (
        *(f"W >= {words['W_least']}", f"W >= {words['W_per_d']} d"),
        f"n >= {words['K']} W^({'(d+1)/2' if law.beta == 2 else 'd/2'})",
        f"n >= {words['M']} (4/3)^((d-1)/2) W^((d-1)/2)",
    )
    text = (
        "{name}, every d >= 2: {domain} the loss has a least value, and every w* that attains it has {low} k W < w* < "
        "{high} k W and {loss_low} m <= loss(w*) W^{power} / L^2 <= {loss_high} m, W = (n L^2 / "
        "sigma^2)^(2/(d+{shift})), k^((d+{shift})/2) = {centre}, m = {loss}, for all n and all L, sigma > 0 with "
    ).format(**words, name=name, domain=law.domain, power=power, shift=shift, centre=law.centre, loss=law.loss)
    least_loss, says = rf"\mathcal{{L}}(w^*) W^{{{power}}} / (m_d L^2)", f"two multiples of m L^2 / W^{power}"
    found = {
        "window": form.Fact("w^* / (k_d W)", k["low"], k["high"], "w* lies between two multiples of k W"),
        "loss": form.Fact(least_loss, k["loss_low"], k["loss_high"], f"the loss at w* lies between {says}"),
        "shift": form.exact("2 / e - d", 2 * beta - 1, "W is the power e of n L^2 / sigma^2"),
    }
    sought = (law.domain.removeprefix("over "),) if law.domain == "over w >= 0" else ()
    about = f"law = {name}", "d >= 2", "L > 0", "sigma > 0", *sought
    return form.Sentence(f"{text}{W}, {W_per_d}, {n} and {farther}", found, (*about, W, W_per_d, n, farther))


KIND = form.Kind(
    chain=lambda proof: [(rule, 0) for rule in (*THEOREMS[proof.theorem], *decides(proof.about["law"]))],
    about=about,
    given=dict,
    sentence=sentence,
    chosen={
        curve: ("gamma", "over"),
        laplace: ("T_least",),
        corrections: ("W_least", "W_per_d", "K", "M", "first", "room"),
        window: ("split", "low", "high"),
        ramp: ("split", "low", "high"),
    },
)
