"""The number of layers that Theorem 5.1 needs, for every condition number and every accuracy.

k^2 is the condition number, and a layer of the best xx leaves k'^2 - 1 = P(k)^2 / 27, P = (k-1)(k+2)(2k+1) / (k(k+1))
= 2k + 1 - 2/k - 2/(k+1), which rises in k.
"""

from __future__ import annotations

from flint import arb, arb_poly

from ..kernel.form import Known, Obligations, least
from ..kernel.polynomials import never_negative


def far(k: Known) -> Obligations:
    """From any k, log(k^2) / log(27/4) + approach - 1 layers, rounded up, bring k to F or below.

    Because k' <= r (k + 1), r = (4/27)^{1/2}, for k >= F, so that with the fixed point f = r / (1 - r), k' - f <= r
    (k - f): after m layers k - f is at most r^m k, and at most F - f if m >= log(k / (F - f)) / log(1/r). k' <= r (k +
    1) is k'^2 = 1 + P^2 / 27 <= (4/27) (k + 1)^2, a polynomial in k.
    """
    x, F, r = arb_poly([0, 1]), k["F"], (arb(4) / 27).sqrt()
    room = (x * (x + 1)) ** 2 * (4 * (x + 1) ** 2 - 27) - ((x - 1) * (x + 2) * (2 * x + 1)) ** 2
    return {"approach": least(1 - 2 * (F - r / (1 - r)).log() / (arb(27) / 4).log())}, {
        "k' <= r (k + 1) for k >= F": never_negative(room, F),
        "F > f": r / (1 - r) < F,
    }


def near(k: Known) -> Obligations:
    """For every k >= 1 a layer takes y = slope (k^2 - 1) to y^2 or less; from k <= F one leaves y at most.

    Because P^2 / 27 <= slope (k^2 - 1)^2, a polynomial in k with (k - 1)^2 taken off; P rises in k.
    """
    x, F = arb_poly([0, 1]), k["F"]
    room = 27 * k["slope"] * (x * (x + 1) ** 2) ** 2 - ((x + 2) * (2 * x + 1)) ** 2
    P = (F - 1) * (F + 2) * (2 * F + 1) / (F * (F + 1))
    return {"y": least(k["slope"] * P**2 / 27)}, {"P^2 / 27 <= slope (k^2 - 1)^2 for k >= 1": never_negative(room, 1)}


def squares(k: Known) -> Obligations:
    """For every epsilon <= 1/2, log_2 log(1/epsilon) + squarings - 1 layers, rounded up, take y to epsilon slope.

    Because j layers leave y^{2^j}, and the last step (k^2 - 1) / (k^2 + 1) <= y^{2^j} / (2 slope) is epsilon at most if
    2^j >= log(1 / (2 slope epsilon)) / log(1/y), where 1 / (2 slope) = half and log(half / epsilon) <= log(1/epsilon)
    (1 + log(half) / log 2).
    """
    half, two = 1 / (2 * k["slope"]), arb(2).log()
    return {"squarings": least(((1 + half.log() / two) / -k["y"].log()).log() / two + 1)}, {
        "y < 1": k["y"] < 1,
        "half > 1": half > 1,
    }


def layers(k: Known) -> Obligations:
    """For every kappa >= 1, epsilon <= 1/2: at most log(kappa) / log(27/4) + log_2 log(1/epsilon) + C layers.

    Because layers that bring k below F, one that leaves y, those that square it and the last gradient step add up, and
    kappa = k^2. A number of layers is no less than 0: both bounds have room for that, at kappa = 1 and epsilon = 1/2.
    """
    two = arb(2).log()
    return {"C": least(k["approach"] + k["squarings"] + 2)}, {
        "approach > 0": k["approach"] > 0,
        "squarings + log_2 log 2 > 0": k["squarings"] + two.log() / two > 0,
    }


LEMMAS = {"16.1": far, "16.2": near, "16.3": squares, "16.4": layers}
