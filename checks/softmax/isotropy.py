r"""The identities behind the proof that a multiple of the identity is the best matrix, for every n and d."""

from __future__ import annotations

from typing import Any


def longer_projection(kept: str = "1") -> Any:
    """The difference of two tokens' weights, summed over the signs of both projections, minus `kept` times a positive form.

    P = e^(r |t_i|) >= Q = e^(r |t_j|) >= 1, and R > 0 is the sum over all other tokens, with any signs.
    """
    import sympy

    P, Q, R = sympy.symbols("P Q R", positive=True)
    derived = sum((p - q) / (p + q + R) for p in (P, 1 / P) for q in (Q, 1 / Q))
    first, second = (P + Q + R) * (P + Q + R * P * Q), (P * Q + 1 + R * Q) * (P * Q + 1 + R * P)
    return derived - sympy.Rational(kept) * R * (P - Q) * (P * Q - 1) * (1 / first + 1 / second)


def concave(kept: str = "1") -> Any:
    """F'' of F(alpha) = rho sin(alpha) arcsin(rho cos(alpha)), minus `kept` times a form that is <= 0 on [0, pi/2] for rho <= 1.

    A is the arcsine and e its cosine; m and k, the tangents of half the angle and half of A, express both.
    """
    import sympy

    A, c, s, e, rho = sympy.symbols("A c s e rho")

    def slope(of: Any) -> Any:
        moves = {c: -s, s: c, A: -rho * s / e, e: rho**2 * c * s / e}  # e^2 = 1 - rho^2 c^2
        return sum(sympy.diff(of, each) * moved for each, moved in moves.items())

    stated = -rho * s * (A + 2 * rho * c / e + rho * c * (1 - rho**2) / e**3)
    m, k = sympy.symbols("m k", positive=True)
    cosine = (1 - m**2) / (1 + m**2)
    halves = {c: cosine, s: 2 * m / (1 + m**2), e: (1 - k**2) / (1 + k**2), rho: 2 * k / (1 + k**2) / cosine}
    return (slope(slope(rho * s * A)) - sympy.Rational(kept) * stated).subs(halves)
