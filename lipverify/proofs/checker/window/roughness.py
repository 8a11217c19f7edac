r"""Sums of powers below and above the variogram of a law: fields, and ridge laws f(x) = h(<q, x>) of pieces.

A piecewise polynomial h has breaks at z_i, where it jumps by s_i and its slope by D_i; |h'| <= M and |h''| <= M'
between them, x_i = 1 - z_i^2. With K_d[h](t) = E h(<q, x>) h(<q, x'>) on the sphere of R^d, <x, x'> = t,

    d/dt K_d[h] = K_{d+2}[h'] / d,

term by term in harmonics (P_l' is a multiple of P_{l-1} two dimensions up), for distributions too: where h' and h''
have point masses, K of them is the joint density of z = <q, x> and z' = <q, x'> there. With eta = 1 - t, theta the
angle of x and x', q = (1 - (z^2 + z'^2 - 2 t z z') / (1 - t^2))_+ it is (D-2) / (2 pi) q^{(D-4)/2} / (1 - t^2)^{1/2}
in R^D, and that of z alone is f_D. q <= the lesser of both x_i, is 0 where theta is less than the angle alpha between
arccos z and arccos z', and for z = z' x_i - q lies between 0 and eta / 2. V = 2 int_0^h K' d eta, d theta = d eta / (1
- t^2)^{1/2}. A function of r with a power series whose coefficients are >= 0, less its first term, is at most its
value at r = 2 in proportion to the next power.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb, arb_poly

from ..kernel.form import Ball, Bounds, Known, Malformed, Obligations, ball, least, most, number

Interval = tuple[Ball, Ball]


def matern(k: Known) -> Obligations:
    """V of the field lies between A r^2 + sum_j cj_low r^j and A r^2 + sum_j cj_high r^j, for all r >= 0.

    Because with z = (2 nu)^{1/2} r / length V / 2 variance is 1 - e^{-z}, 1 - (1 + z) e^{-z} or 1 - (1 + z + z^2 / 3)
    e^{-z}, whose slopes are e^{-z}, z e^{-z} and (z/3) (1 + z) e^{-z}; the partial sums of e^{-z} and of (1 + z) e^{-z}
    = 1 - z^2/2 + z^3/3 - z^4/8 + ... lie above and below them in turn.
    """
    zero, one = arb(0), arb(1)
    known: dict[float, tuple[Ball, dict[int, Interval]]] = {
        0.5: (-one / 2, {1: (one, one), 3: (zero, one / 6)}),
        1.5: (one / 2, {3: (-one / 3, -one / 3), 4: (one / 8, one / 8), 5: (-one / 30, zero)}),
        2.5: (one / 6, {4: (-one / 24, -one / 24), 5: (one / 45, one / 45), 6: (-one / 144, zero)}),
    }
    square, terms = known[float(k["nu"])]
    size, rate = 2 * k["variance"], (2 * k["nu"]).sqrt() / k["length"]
    scaled: dict[float, Interval] = {
        j: (size * low * rate**j, size * high * rate**j) for j, (low, high) in terms.items()
    }
    return stated((size * square * rate**2,) * 2, scaled), {}


def rough(k: Known) -> Obligations:
    """V = r^{2s}: of a field that is as rough everywhere, 0 < s < 1, nothing is left.

    Because for 0 < s < 1 r^{2s} is the variogram of a field on R^d (Schoenberg), and so on its sphere.
    """
    one = arb(1)
    return stated((arb(0), arb(0)), {float(2 * k["beta"]): (one, one)}), {"0 < s < 1": 0 < k["beta"] < 1}


def stated(square: Interval, terms: Mapping[float, Interval]) -> Bounds:
    """The constants A and c_j of a variogram."""
    names = {"A": square} | {f"c{j:g}": interval for j, interval in terms.items()}
    lows = {f"{name}_low": most(low) for name, (low, _) in names.items()}
    return lows | {f"{name}_high": least(high) for name, (_, high) in names.items()}


def jumps(k: Known) -> Obligations:
    """V of the pieces lies between c1 r + c2_low r^2 + c3_low r^3 and c1 r + c2_high r^2 + c3_high r^3.

    Because K' = K_{d+2}[h'] / d. A jump by itself gives s^2 / pi times int q^e d theta, e = (d-2)/2, x^e - q^e <= m
    x^{e-1} eta / 2, m = max(e, 1) (0 if z_i = 0): x^e theta, r <= theta <= r + (pi - 2) r^3 / 8, less up to m x^{e-1}
    (pi / 16) r^3. Two jumps: s s' x^e / pi times at most theta where r > rho = 2 sin(alpha / 2), theta <= (pi / 2) r^3
    / rho^2. All else in K' is at most (2 sum |s_i| f_{d+2}(z_i) M + M^2) / d = N, and r^2 N in V.
    """
    d, pi = k["d"], arb.pi()
    h, e = k["pieces"], (d - 2) / 2
    single, rest = arb(0), [arb(0), arb(0)]
    for z, s, _ in h.breaks:
        x = 1 - ball(z) ** 2
        single += ball(s) ** 2 * x**e / pi
        rest[0] -= ball(s) ** 2 * e.max(1) * x ** (e - 1) / 16 if z else 0
    rest[1] += single * (pi - 2) / 8
    for (z, s, _), (z_, s_, _) in pairs(h):
        rest[int(s * s_ > 0)] += ball(s * s_) * narrower(z, z_) ** e / (2 * distance(z, z_) ** 2)
    masses = sum((abs(ball(s)) * density(d + 2, z) for z, s, _ in h.breaks), arb(0))
    N = (2 * masses * ball(h.steepest(1)) + ball(h.steepest(1)) ** 2) / d
    nothing = arb(0), arb(0)
    return stated(nothing, {1: (single, single), 2: (-N, N), 3: (rest[0], rest[1])}), {
        "some jump": any(s for _, s, _ in h.breaks)
    }


def kinks(k: Known) -> Obligations:
    """V of the pieces lies between A r^2 + c3 r^3 + c4_low r^4 + c5_low r^5 and the same with c4_high and c5_high.

    Because A = K'(1) = E_{d+2} h'^2 / d, and V = 2 h K'(1) - 2 int_0^h (h - eta) K'' d eta, K'' = K_{d+4}[h''] / (d
    (d+2)). A kink by itself gives -D^2 / (pi d) times int_0^theta (cos p - cos theta) q^{d/2} dp, x^{d/2} - q^{d/2} <=
    (d/4) x^{d/2-1} eta (0 if z_i = 0): x^{d/2} times r^3 / 3 to r^3 / 3 + (pi - 8/3) r^5 / 32, less up to (d/2)
    x^{d/2-1} (pi / 128) r^5. Two kinks: -D D' x^{d/2} / (pi d) times at most the same integral where r > rho = 2
    sin(alpha / 2), (pi / 8) r^5 / rho^2. All else in K'' is at most (2 sum |D_i| f_{d+4}(z_i) M' + M'^2) / (d (d+2)) =
    N, and r^4 N / 4 in V.
    """
    d, pi = k["d"], arb.pi()
    h = k["pieces"]
    single, rest = arb(0), [arb(0), arb(0)]
    for z, _, D in h.breaks:
        x = 1 - ball(z) ** 2
        single += ball(D) ** 2 * x ** (d / 2) / (pi * d)
        rest[1] += ball(D) ** 2 * x ** (d / 2 - 1) / 256 if z else 0
    rest[0] -= single * (pi - arb(8) / 3) / 32
    for (z, _, D), (z_, _, D_) in pairs(h):
        rest[int(D * D_ < 0)] -= ball(D * D_) * narrower(z, z_) ** (d / 2) / (8 * d * distance(z, z_) ** 2)
    masses = sum((abs(ball(D)) * density(d + 4, z) for z, _, D in h.breaks), arb(0))
    N = (2 * masses * ball(h.steepest(2)) + ball(h.steepest(2)) ** 2) / (d * (d + 2))
    square = squared_slope(d, h) / d
    return stated((square, square), {3: (-single / 3,) * 2, 4: (-N / 4, N / 4), 5: (rest[0], rest[1])}), {
        "no jump, some kink": not any(s for _, s, _ in h.breaks) and any(D for *_, D in h.breaks)
    }


@dataclass(frozen=True)
class Pieces:
    """A piecewise polynomial: its breaks in order, inside (-1, 1), and the coefficients of one piece more."""

    at: tuple[Fraction, ...]
    polynomials: tuple[tuple[Fraction, ...], ...]

    @property
    def breaks(self) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Each with the jump of the value and of the slope."""
        changes = []
        for z, (left, right) in zip(self.at, pairwise(self.polynomials), strict=True):
            jump, turn = (value(right, z, order) - value(left, z, order) for order in (0, 1))
            changes.append((z, jump, turn))
        return changes

    def steepest(self, order: int) -> Fraction:
        """A bound on the derivative of this order within the pieces, |z| <= 1."""
        return max(sum(map(abs, derived(polynomial, order)), Fraction(0)) for polynomial in self.polynomials)


def read(text: str) -> Pieces:
    """Breaks, and the coefficients of each piece from z^0 on: "0.5|0.5,-1|-0.5,1" is |z - 0.5|.

    >>> read("0.5|0.5,-1|-0.5,1").breaks
    [(Fraction(1, 2), Fraction(0, 1), Fraction(2, 1))]
    """
    at, *polynomials = (tuple(map(number, part.split(","))) for part in text.split("|"))
    inside = list(at) == sorted(set(at)) and all(abs(z) < 1 for z in at)
    if not inside or len(polynomials) != len(at) + 1:
        raise Malformed(f"{text!r}: breaks in order, inside (-1, 1), and one piece more than breaks")
    return Pieces(at, tuple(polynomials))


def derived(polynomial: tuple[Fraction, ...], order: int) -> tuple[Fraction, ...]:
    return tuple(math.perm(j, order) * c for j, c in enumerate(polynomial))[order:]


def value(polynomial: tuple[Fraction, ...], z: Fraction, order: int) -> Fraction:
    return sum((c * z**j for j, c in enumerate(derived(polynomial, order))), Fraction(0))


Break = tuple[Fraction, Fraction, Fraction]


def pairs(h: Pieces) -> list[tuple[Break, Break]]:
    return [(a, b) for a in h.breaks for b in h.breaks if a is not b and a[0] != b[0]]


def narrower(z: Fraction, z_: Fraction) -> Ball:
    return 1 - ball(max(abs(z), abs(z_))) ** 2


def distance(z: Fraction, z_: Fraction) -> Ball:
    """2 sin(alpha / 2)."""
    return 2 * ((ball(z).acos() - ball(z_).acos()) / 2).sin()


def density(D: Ball, z: Fraction) -> Ball:
    """f_D at z: of <q, x> on the sphere of R^D."""
    return (D / 2).gamma() / (arb.pi().sqrt() * ((D - 1) / 2).gamma()) * (1 - ball(z) ** 2) ** ((D - 3) / 2)


def squared_slope(d: Ball, h: Pieces) -> Ball:
    """E_{d+2} h'^2, z = sin p: its density times dz is f_{d+2}(0) cos(p)^d dp."""
    total, ends = arb(0), [Fraction(-1), *h.at, Fraction(1)]
    for polynomial, (start, stop) in zip(h.polynomials, pairwise(ends), strict=True):
        slope = arb_poly([ball(c) for c in derived(polynomial, 1)]) ** 2
        coefficients = [acb(coefficient) for coefficient in slope.coeffs()]

        def weighted(p: Ball, _: bool, coefficients: list[Ball] = coefficients) -> Ball:
            total = acb(0)
            for coefficient in reversed(coefficients):
                total = total * p.sin() + coefficient
            return total * p.cos() ** int(d.unique_fmpz())

        total += acb.integral(weighted, ball(start).asin(), ball(stop).asin()).real
    return total * density(d + 2, Fraction(0))


LEMMAS = {"4.1": matern, "4.2": rough, "4.3": jumps, "4.4": kinks}
