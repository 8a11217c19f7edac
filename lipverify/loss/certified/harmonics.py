r"""Averages of exponentials over one token, harmonic by harmonic.

P_l is the Gegenbauer polynomial of S^{d-1} with P_l(1) = 1, and t = <x_i, x>. Then, with nu = d/2 - 1,

    E[e^{kappa t} P_l(t)] = Gamma(nu + 1) (2 / kappa)^nu I_{nu + l}(kappa)
                          = (kappa / 2)^l / (d/2)_l  0F1(d/2 + l; kappa^2 / 4),

which is entire in kappa. Source: Gegenbauer's generalisation of Poisson's integral (Watson, A treatise on the theory of
Bessel functions, 3.32); NIST Digital Library of Mathematical Functions, 10.25.2 (the power series of I) and 10.29.1
(its recurrence).
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from flint import acb, arb, ctx

Ball = Any
"""A real (arb) or complex (acb) ball of Arb."""


def exponential_averages(d: int, kappa: Ball, top: int) -> list[Ball]:
    """E[e^{kappa t} P_l(t)] for l = 0..top; `kappa` is real or complex.

    Both 0F1 and the recurrence cancel where kappa is not positive: the working precision makes up for it. All is at the
    midpoint of kappa, whose radius would grow among the terms that cancel; it enters by the slope, <= e^{|Re kappa|}.
    """
    if kappa == 0:
        return [arb(1)] + [arb(0)] * top
    bits = ctx.prec
    for step in (1, 2, 4, 8):
        with ctx.workprec(step * bits):
            averages = _downwards(d, kappa.mid(), top)
        # rounding grows with the degree, and an average may lose 16 bits
        if min(averages[0].rel_accuracy_bits(), averages[top].rel_accuracy_bits()) >= bits - 16:
            break
    spread = arb(0) if kappa.is_exact() else _spread(kappa)
    return [average + spread for average in averages]


def _downwards(d: int, kappa: Ball, top: int) -> list[Ball]:
    """The two highest by 0F1 and the others by I_{m-1} = I_{m+1} + (2 m / kappa) I_m."""
    half = arb(d) / 2
    averages = [
        (kappa / 2) ** degree / half.rising(degree) * (kappa**2 / 4).hypgeom_0f1(half + degree)
        for degree in (top + 1, top)
    ]
    for degree in range(top, 0, -1):
        averages.append(averages[-2] + (d - 2 + 2 * degree) / kappa * averages[-1])
    return averages[:0:-1]


def _spread(kappa: Ball) -> Ball:
    """A bound on |E[e^{kappa t} P_l] - E[e^{middle t} P_l]| as a complex ball about zero."""
    bound = arb(0, (abs(kappa - kappa.mid()) * abs(acb(kappa).real).exp()).abs_upper())
    return acb(bound, bound) if isinstance(kappa, acb) else bound


def combine(profile: dict[int, Ball], averages: list[Ball]) -> Ball:
    """sum_l c_l averages_l for the profile h = sum_l c_l P_l."""
    return reduce(lambda total, item: total + item[1] * averages[item[0]], profile.items(), arb(0))


def size(profile: dict[int, Ball]) -> Ball:
    """A bound on |h| for the profile h = sum_l c_l P_l, since |P_l| <= 1."""
    return reduce(lambda total, coefficient: total + abs(coefficient), profile.values(), arb(0))


def dimension(d: int, degree: int) -> Ball:
    """The number N_l of independent harmonics of degree l on S^{d-1}."""
    if degree == 0:
        return arb(1)
    return arb(2 * degree + d - 2) / degree * arb(degree + d - 3).bin(degree - 1) if d > 2 else arb(2)
