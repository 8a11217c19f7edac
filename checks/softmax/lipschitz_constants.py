r"""Lipschitz constants of functions, directions and classes, and the optimal w that belongs to each of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import lipverify as lv
from lipverify.checks.softmax.quantities import Value
from lipverify.claims import proved_rates, proved_window

Vector = tuple[Fraction, ...]


def constant_of(l_1: int, l_2: int, smaller: str = "no") -> Fraction:
    """Lip(f) - max(|l_1|, |l_2|) for f(x) = l_1 <q, x>_+ + l_2 <-q, x>_+ on R^d, exactly; `smaller` subtracts the minimum.

    Between x = 0 and x' = q, or x' = -q, the quotient is |l_1| or |l_2|. No other pair has a larger one: |f(x) - f(x')|
    is at most the largest slope times |<q, x - x'>|, which is at most |x - x'|.
    """
    q, origin = (Fraction(3, 5), Fraction(4, 5)), (Fraction(0), Fraction(0))

    def f(x: Vector) -> Fraction:
        z = dot(q, x)
        return l_1 * max(z, Fraction(0)) + l_2 * max(-z, Fraction(0))

    found = max(abs(f(x) - f(origin)) for x in (q, tuple(-a for a in q)))
    return found - (min if smaller == "yes" else max)(abs(l_1), abs(l_2))


UNITS = tuple((Fraction(a, 5), Fraction(b, 5)) for a, b in ((5, 0), (3, 4), (4, 3), (-4, 3), (0, 5)))
"""Unit vectors of the plane with rational entries."""


def along_direction(relevant: int, s: int) -> Fraction:
    """max over a of Lip_s(f) for f(x) = a^T B^T x, in R^4 with B its first two axes; s in col(B) or orthogonal to it.

    f(s s^T x) is linear in s^T x, so one pair x, x' gives Lip_s(f) = |a^T B^T s|. Among unit vectors a the one along
    B^T s maximises it, by Cauchy and Schwarz, and it is among the vectors tried.
    """
    zero, unit = (Fraction(0), Fraction(0)), UNITS[s]
    direction = (*unit, *zero) if relevant else (*zero, *unit)
    x, other = tuple(map(Fraction, (1, 2, -1, 3))), tuple(map(Fraction, (0, -1, 2, 5)))
    gap = dot(direction, x) - dot(direction, other)

    def f(a: Vector, at: Vector) -> Fraction:
        return dot(a, at[:2])

    def projection(at: Vector) -> Vector:
        return tuple(dot(direction, at) * entry for entry in direction)

    return max(abs((f(a, projection(x)) - f(a, projection(other))) / gap) for a in UNITS)


def dot(one: Vector, other: Vector) -> Fraction:
    """<one, other>."""
    return sum((a * b for a, b in zip(one, other, strict=True)), start=Fraction(0))


def ratio_of_windows(d: int, n: float, L: float) -> Value:
    """w* of the affine class with l ~ Unif[-L, L] divided by that of linear tasks whose slope is always 1."""
    affine, linear = (
        lv.optimal_window(lv.Problem(d=d, n=n, law=law, sigma=1.0)) for law in (lv.laws.Affine(L=L), lv.laws.Linear())
    )
    return affine.w / linear.w, (affine.w_error / affine.w + linear.w_error / linear.w) * affine.w / linear.w


BROKEN: dict[str, tuple[Any, Any]] = {
    "beside": ((0.5,), ((0.5, -1.0), (-0.5, 1.0))),
    "clip": ((-0.5, 0.5), ((-0.5,), (0.0, 1.0), (0.5,))),
    "step": ((0.5,), ((0.0,), (1.0,))),
}
"""Pieces of |z - 1/2|, of z clipped at both ends, and of a step at 1/2: a kink elsewhere, two kinks, a jump."""


def proved_exponents(link: str, d: int) -> dict[str, Any]:
    """The exponents of B in w and of w* in Lambda for f(x) = h(<q, x>), proved for every n, L and sigma in a range."""
    return proved_rates(link, d, broken(link))


def broken(link: str) -> lv.laws.Ridge:
    """The law of a link of pieces."""
    from lipverify.proofs import Pieces

    h = Pieces(*BROKEN[link])
    return lv.laws.Ridge(h, **{"jumps" if h.jumps else "kinks": h.at})


def proved_ratio(d: int) -> Any:
    """w* of the affine class with L = 1 divided by that of linear tasks with slope 1, for every n and sigma in a range.

    Both have the same covariance up to a factor: that of the affine class with L = 1 and with L^2 = 3.
    """
    from flint import arb, fmpq

    w = proved_window("affine", d).fact("window")
    return w / w * arb(3) ** -arb(fmpq(2, d + 3))
