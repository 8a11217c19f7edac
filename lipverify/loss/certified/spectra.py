r"""The zonal covariance of a law, harmonic by harmonic.

    E f(x) f(x') = sum_l k_l P_l(<x, x'>),   k_l >= 0;   k_0 never reaches the loss.

For f(x) = h(<q, x>) with q uniform on the sphere, h = sum_l N_l c_l P_l with c_l = E[h(t) P_l(t)], and the addition
theorem gives k_l = N_l c_l^2, N_l the number of independent harmonics of degree l. Hence

    affine      k_1 = L^2 / 3d
    quadratic   k_2 = 2 (d - 1) L^2 / (d^2 (d + 2))
    cosine      k_l = N_l (E[cos(L t) P_l])^2, l even, and sum_l k_l = (1 + E cos 2Lt) / 2
    relu        k_1 = L^2 / 6d, k_l = N_l (E[|t| P_l])^2 L^2 / 6, l even, and sum_l k_l = L^2 / 3d.

Laws given by a callable are excluded: it maps doubles to doubles, so no ball around its value at a point and no bound
between points is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from flint import acb, arb, ctx

from lipverify.errors import InvalidInput
from lipverify.loss.certified.harmonics import Ball, dimension, exponential_averages
from lipverify.problem.law import Law, by_law
from lipverify.problem.laws import Affine, Cosine, Quadratic, ReLU
from lipverify.problem.own import Zonal


@dataclass(frozen=True)
class Spectrum:
    """Coefficients k_l for 1 <= l <= top, and `rest`, the sum of those beyond `top`.

    `fast` says that coefficients fall faster than any power, so that their own size tells how many matter.
    """

    coefficients: dict[int, Ball]
    top: int
    rest: Ball
    fast: bool = True

    @property
    def infinite(self) -> bool:
        """True if there are coefficients beyond `top`."""
        return not self.rest.is_zero()

    @classmethod
    def finite(cls, coefficients: dict[int, Ball]) -> Spectrum:
        """All coefficients that there are; those that are zero are dropped."""
        positive = {degree: k for degree, k in coefficients.items() if degree and k > 0}
        return cls(positive, max(positive, default=1), arb(0))

    @property
    def variance(self) -> Ball:
        """Var f(x) = sum_{l >= 1} k_l."""
        return sum(self.coefficients.values(), self.rest)


def spectrum_of(law: Law, d: int, top: int) -> Spectrum:
    """The spectrum of a law, the coefficients of an infinite one up to degree `top`."""
    known = spectrum(law, d, top)  # first, because it refuses users' functions, which `constant` samples
    return Spectrum.finite({}) if law.constant else known


@by_law
def spectrum(law: Law, d: int, top: int) -> Spectrum:
    """The same for a law that is not constant, registered by its class."""
    raise InvalidInput(
        f"law = {law!r}: method='certified' needs the law in closed form, and nothing encloses a function "
        "known only by its values in double precision; use method='exact', or Zonal(spectrum=...)."
    )


@spectrum.register(Affine)
def _affine(law: Affine, d: int, top: int) -> Spectrum:
    return Spectrum.finite({1: arb(law.L) ** 2 / (3 * d)})


@spectrum.register(Quadratic)
def _quadratic(law: Quadratic, d: int, top: int) -> Spectrum:
    return Spectrum.finite({2: 2 * (d - 1) * arb(law.L) ** 2 / (arb(d) ** 2 * (d + 2))})


@spectrum.register(Zonal)
def _zonal(law: Zonal, d: int, top: int) -> Spectrum:
    if law.spectrum is None:
        return spectrum.default(law, d, top)
    return Spectrum.finite({degree: arb(k) for degree, k in enumerate(law.spectrum)})


@spectrum.register(Cosine)
def _cosine(law: Cosine, d: int, top: int) -> Spectrum:
    """Even harmonics, c_l = Re E[e^{iLt} P_l]."""
    if law.constant:
        return Spectrum.finite({})
    L = arb(law.L)
    # the variance, about (L^2 / d)^2 for small L, has to survive its subtraction from one
    with ctx.workprec(2 * ctx.prec + 4 * max(0, math.ceil(-math.log2(float(L)))) + 4 * d.bit_length()):
        waves = exponential_averages(d, acb(0, L), top)
        squares = {degree: dimension(d, degree) * waves[degree].real ** 2 for degree in range(0, top + 1, 2)}
        double = exponential_averages(d, acb(0, 2 * L), 1)[0].real
        return _truncated(squares, top, (1 + double) / 2)


@spectrum.register(ReLU)
def _relu(law: ReLU, d: int, top: int) -> Spectrum:
    """The first harmonic from the odd half of (z)_+ = (z + |z|) / 2, even ones from the even half."""
    L = arb(law.L)
    even = takewhile(lambda item: item[0] <= top, _absolute_coefficients(d))
    squares = {degree: dimension(d, degree) * b**2 * L**2 / 6 for degree, b in even}
    return replace(_truncated({**squares, 1: L**2 / (6 * d)}, top, L**2 / (3 * d)), fast=False)


def _absolute_coefficients(d: int) -> Iterator[tuple[int, Ball]]:
    """(l, b_l), b_l = E[|t| P_l], l = 0, 2, ...: b_{l+2} = -b_l (l - 1) / (l + d + 1)."""
    half = arb(d) / 2
    degree, b = 0, half.gamma() / (arb.pi().sqrt() * (half + arb(1) / 2).gamma())
    while True:
        yield degree, b
        b *= -arb(degree - 1) / (degree + d + 1)
        degree += 2


def _truncated(squares: dict[int, Ball], top: int, total: Ball) -> Spectrum:
    """A spectrum with a known sum, without k_0; the rest is the sum of the degrees that are not listed."""
    rest = (total - sum(squares.values(), arb(0))).nonnegative_part()
    return Spectrum({degree: k for degree, k in squares.items() if degree}, top, rest)
