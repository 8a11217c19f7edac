r"""The bias at large w: the nearest token receives all attention, and a larger w does not bring it closer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Value, problem, terms

EPS = float(np.finfo(float).eps)


def nearest(law: str, d: int, n: float) -> Value:
    """B / L^2 as w -> infinity: E (f(x_1) - f(x))^2 with x_1 the token nearest to x.

    A token is nearer than r with probability P(r) = I_{r^2/4}(m, m), m = (d - 1)/2, so n log(1 - P) of the nearest one
    is -v with v exponential; v = y^(d-1) makes the integrand smooth. V = 2 (K(1) - K(t)) loses digits where r is small.
    """
    from scipy.integrate import quad
    from scipy.special import betaincinv

    K, m = lv.laws.law_named(law).covariance(d), (d - 1) / 2

    def moved(y: float) -> float:
        t = 1 - 2 * betaincinv(m, m, -math.expm1(-(y ** (d - 1)) / n))
        V = 2 * (K(np.ones(1)) - K(np.array([t])))[0]
        return float(V * math.exp(-(y ** (d - 1))) * (d - 1) * y ** (d - 2))

    rounding = 8 * EPS * float(K(np.ones(1))[0])
    value, error = quad(
        moved, 0.0, 50 ** (1 / (d - 1)), epsrel=1e-10, epsabs=rounding
    )  # the rest of the integral is below e^-50
    return value, error + rounding


def narrow(law: str, d: int, n: float) -> Value:
    """B / L^2 by the general exact method, at w = 10^5 n^(2/(d - 1)), where a second token rarely has weight."""
    return terms(law, d, n, 1e5 * n ** (2 / (d - 1)))["B"]


def first_of_two(law: str, d: int, n: float) -> Value:
    """B / L^2 from the nearest token alone; a second one has weight if its squared distance is at most 1/w larger: P < 1e-4."""
    value, error = nearest(law, d, n)
    return value, error + 1e-4 * value


def slope_beyond(law: str, d: int, n: float) -> Value:
    """d log B / d log w from 4 n^(2/(d-1)) to twice that, where the nearest token has most of the attention."""
    w = 4 * n ** (2 / (d - 1)) * np.array([1.0, 2.0])
    terms = lv.loss_terms(problem(law, d, n), w)
    error = float(np.sum(terms.bias_error / terms.bias))
    return float(np.log(terms.bias[1] / terms.bias[0]) / np.log(2)), error / float(np.log(2))


def proved_slope_beyond(law: str, d: int, n: int) -> Any:
    """d log B / d log w from that w on, to three digits, by balls."""
    from lipverify.claims import proved
    from lipverify.proofs import prove_rising

    here, w = problem(law, d, n), float(f"{4 * n ** (2 / (d - 1)):.3g}")
    name = f"rising-{law}-{d}-{n}"
    proof = proved(name, "bias rises", here, lambda: prove_rising(here, w, 2 * w))
    if (proof.constants["w_1"], proof.constants["w_2"]) != (w, 2 * w):
        raise ValueError(f"{name}.json: not from w = {w:g} to {2 * w:g}: {proof.statement}")
    return proof.fact("slope")


def over_nearest(d: int, n: int, w: float, times: int = 1) -> Any:
    """The bias of the ReLU law at w divided by `times` its limit, the bias of the nearest neighbour; d = 3, by balls.

    t = <x_i, x> is uniform on [-1, 1], that of the nearest token has the distribution ((1 + t) / 2)^n, and with t = cos
    u K(t) = (sin u + (pi - u) cos u) / (9 pi) at L = 1: the bias of the nearest neighbour is 2 (K(1) - E K(t)).
    """
    from flint import acb, arb

    if d != 3:
        raise ValueError(f"d = {d}: the bias of the nearest neighbour is enclosed at d = 3 only")
    here = lv.loss_terms(lv.Problem(d=d, n=n, law=lv.laws.ReLU(L=1.0), sigma=0.0), w, "certified", digits=3)

    def weighted(u: Any, _: Any) -> Any:
        cosine, sine = u.cos(), u.sin()
        return n * ((1 + cosine) / 2) ** (n - 1) / 2 * sine * (sine + (acb.pi() - u) * cosine)

    mean = acb.integral(weighted, 0, acb.pi()).real / (9 * arb.pi())
    return arb(float(here.bias), float(here.bias_error)) / (times * 2 * (arb(1) / 9 - mean))
