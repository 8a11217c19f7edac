r"""Lipschitz constants of functions, directions and classes, and the optimal w that belongs to each of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import lipverify as lv
from lipverify.checks.softmax.quantities import Value
from lipverify.claims import proved_rates, proved_window

Vector = tuple[Fraction, ...]


def between_slopes(kept: str = "1") -> Any:
    """f(x) - f(x') minus its slope times z - z' in three cases of signs, and m^2 minus the square of that slope; `kept` scales it.

    f(x) = l_1 z_+ + l_2 (-z)_+ with z = <q, x> >= z'; the slope is alpha l_1 - (1 - alpha) l_2.
    """
    import sympy

    first, second, alpha, m, z, smaller = sympy.symbols("l_1 l_2 alpha m z z'")
    slope, times = alpha * first - (1 - alpha) * second, sympy.Rational(kept)
    cases = (
        (first * z - first * smaller, 1),
        (-second * z + second * smaller, 0),
        (first * z + second * smaller, z / (z - smaller)),
    )
    room = alpha * (m**2 - first**2) + (1 - alpha) * (m**2 - second**2) + alpha * (1 - alpha) * (first + second) ** 2
    return sympy.Matrix(
        [change - times * slope.subs(alpha, share) * (z - smaller) for change, share in cases]
        + [m**2 - slope**2 - times * room]
    )


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
