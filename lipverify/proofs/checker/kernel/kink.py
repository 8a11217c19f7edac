"""The bias of ReLU and of any two lines that meet at 0: B ~ w^{-3/2}. In units L = 1; letters as in `tokens`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from flint import acb, arb

from .form import Ball, Known, Obligations, least, most
from .harmonics import harmonics, slope, smooth_below, spread
from .tokens import cut, moment_limit


def kink(k: Known) -> Obligations:
    """For w >= u: G_low <= w^{3/4} |G| <= G_high, w^{3/2} E |z| G <= G_mean, G(z) = E[g C | z] / mu_1.

    Here z = <q, x>, z_i = <q, x_i>, C = 2 |z_i| where z_i z < 0, else 0, and |.| is the L2 norm over z. Because under
    g / mu_1, s = w h is Gamma(a) with weight (1 - h/2)^{a-1} / Z on h < 2, Z = P/c, and for z > 0, -z_i = sqrt(1-z^2)
    Y sqrt(1-h/2) / sqrt(w) - z (1-h) with Y = N(0, 1), 2 s = Y^2 + chi^2_{d-2}. To first order G is G0 = 2 E
    (sqrt(1-z^2) Y / sqrt(w) - z)_+; with z = x / sqrt(w + x^2) its norm is an integral over x of (E (Y - x)_+)^2.
    Above, on h <= 1/2: (X - z + z h)_+ <= (X - z)_+ + z h 1{X > z/2}, and (d = 2) weight <= 1 + h/3; h > 1/2 has
    probability w^a e^{-w/2} / P at most, and C <= 2. Below: weight >= 1 - r h (Bernoulli), sqrt(1-h/2) >= 1 - h/2,
    and (X (1 - h/2) - z)_+ >= (X - z)_+ - X (h/2) 1{X > z}. The triangle inequality adds the norms of the
    corrections, and E |z| G is at most E |z| G0 <= 4 f_z(0) w^{-3/2} / (3 sqrt(2 pi)) and their norms times that of
    z, d^{-1/2}; f_z is the density of z.
    """
    d, a, u = k["d"], k["a"], k["u"]
    at_zero, integrals = (d / 2).gamma() / (arb.pi().sqrt() * a.gamma()), gaussian_integrals(int(d.unique_fmpz()))
    main, moment, above, plane, below = (integrals[name] for name in ("main", "moment", "above", "plane", "below"))
    far = 2 * u ** (a + arb(3) / 4) * (-u / 2).exp() / (moment_limit(d) * k["Z_low"])
    plane_and_above = ((16 * at_zero * above).sqrt() + ((4 * at_zero * plane / 9).sqrt() if d == 2 else 0)) / u
    upper = ((8 * at_zero * main).sqrt() + plane_and_above) / k["Z_low"] + far
    lower = (8 * at_zero * (main - (a + arb(3) / 2) * moment / u)).sqrt() - (at_zero * below / 2).sqrt() / u
    first = 4 * at_zero / (3 * (2 * arb.pi()).sqrt() * k["Z_low"])
    return {
        "G_low": most(lower / k["Z_high"]),
        "G_high": least(upper),
        "G_mean": least(first + u ** (arb(3) / 4) * (plane_and_above / k["Z_low"] + far) / d.sqrt()),
    }, {"u >= 2a + 3": u >= 2 * a + 3}


@lru_cache
def gaussian_integrals(d: int) -> dict[str, Ball]:
    """Over x > 0: of psi^2, x^2 psi^2, x^2 (m Q + x f)^2, (2 f - x Q)^2 and the square of what is taken off below.

    f and Q are the density and the upper tail of N(0, 1), psi = f - x Q = E (Y - x)_+, m = d - 1. Cut at 30, beyond
    which all are below 1e-300, since psi <= f and Q <= f there.
    """
    m, r = d - 1, acb(0 if d <= 3 else max(2, d - 3)) / 4

    def f(x: Ball) -> Ball:
        return (-x * x / 2).exp() / (2 * acb.pi()).sqrt()

    def tail(x: Ball) -> Ball:
        return (x / acb(2).sqrt()).erfc() / 2

    integrands: dict[str, Callable[[Ball], Ball]] = {
        "main": lambda x: (f(x) - x * tail(x)) ** 2,
        "moment": lambda x: (x * (f(x) - x * tail(x))) ** 2,
        "above": lambda x: (x * (m * tail(x) + x * f(x))) ** 2,
        "plane": lambda x: (2 * f(x) - x * tail(x)) ** 2,
        "below": lambda x: ((x * x + m + 1) * f(x) + 2 * r * ((m + 1) * f(x) - m * x * tail(x))) ** 2,
    }
    return {name: integral(function) + arb(0, "1e-300") for name, function in integrands.items()}


def integral(function: Callable[[Ball], Ball]) -> Ball:
    """The integral over (0, 30) of a function that is analytic in the whole plane."""
    return acb.integral(lambda x, _: function(x), 0, 30).real


def kink_bias(k: Known) -> Obligations:
    """For w >= u, T >= T_least: b_low / w^{3/2} + b_plus / w^2 <= B <= b_high / w^{3/2} + b_next / w^2 + s w^{a-1} / n.

    Also B >= far for w <= u. Because f is a multiple of z and one of |z|, of mean squares `linear` and `kinked` (ReLU,
    z_+ = (z + |z|) / 2: 1/6 each; A z + C |z|: A^2 and C^2), and z has a symmetric law, B = linear E V^2 + kinked E
    K^2, V = sum a_i (z_i - z) as for the affine law, K = sum a_i (|z_i| - |z|) = sgn(z) V + sum a_i C_i. In pairs K is
    a C-part minus |z| times an h-part, both >= 0: its square is at most the sum of theirs. Below (Jensen given z): E
    K^2 >= E (c - |z| m)^2, c = E[sum a_i C_i | z], m = E sum a_i h_i <= M / w, and E c |z| by the cut. Beyond the cut
    sum a_i E_q C_i^2 <= r H_{3/2} w^{-3/2}, r = 2^{3/2} pi^2 / 3d; far: degree 1 of z and degree 2 of |z| alone, as in
    `smooth_bias`.
    """
    d, u, jensen, both = k["d"], k["u"], (1 + 1 / k["y"]) ** 2, k["linear"] + k["kinked"]
    square = arb(8).sqrt() * arb.pi() ** 2 / (3 * d) * k["H_3/2"]
    cross = 2 * k["M"] * (k["J0"] * k["G_mean"] / u + 2 * cut(k) * (square / d).sqrt() / u ** (arb(1) / 4))
    even = even_weights(d, 2)[2] * smooth_below(
        k, slope(d, 2) ** 2, slope(d, 2) ** 2 * (slope(d, 2) - 1) * (d - 1) / (d + 1)
    )
    return {
        "b_low": most(k["kinked"] * (k["G_low"] ** 2 / jensen - cross)),
        "b_plus": most(both * k["D_low"] ** 2 / (d * jensen)),
        "b_high": least(k["kinked"] * (k["G_high"] ** 2 * k["J2"] + 5 * cut(k) * square)),
        "b_next": least(both * (k["D_high"] ** 2 * k["J2"] + 5 * cut(k) * k["H_2"]) / d),
        "s": least(spread(k, both / d)),
        "far": most((k["linear"] * k["D_low"] ** 2 / d + k["kinked"] * even.max(0)) / (u**2 * jensen)),
    }, {"G_low > 0": k["G_low"] > 0}


def even_weights(d: Ball, last: int) -> dict[int, Ball]:
    """k_l = N_l (E |t| P_l)^2 of |z| for l = 0, 2, ... to `last`; of all l the sum is E z^2 = 1/d.

    E |t| P_{l+2} = -(l-1) / (l+d+1) E |t| P_l.
    """
    mean, weights = (d / 2).gamma() / (arb.pi().sqrt() * ((d + 1) / 2).gamma()), {}
    for degree in range(0, last + 1, 2):
        weights[degree] = harmonics(d, degree) * mean**2
        mean *= -arb(degree - 1) / (degree + d + 1)
    return weights


LEMMAS = {"3.1": kink, "3.2": kink_bias}
