r"""The leading bias of laws given by their variogram V, from the expansion of V at 0.

With many tokens in a window, two of them are at x + z / sqrt(w) and x + z' / sqrt(w), z and z' standard normals in the
tangent space R^m, m = d - 1, and B is the mean of (V_i + V_j - V_ij) / 2. A power A r^{2s} of V gives

    A w^{-s} E|z|^{2s} (1 - 2^{s-1}),    E|z|^{2s} = 2^s Gamma(m/2 + s) / Gamma(m/2),

which is 0 for s = 1. If V = a_2 r^2 + a_4 r^4 + ... has no power between, the curvature of the sphere enters: with
V_ij averaged over directions, r^2 alone gives (a_2 / 4) (m / w)^2 and r^4 gives -a_4 m (m + 2) / w^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from lipverify.errors import OutOfReach
from lipverify.loss.asymptotic.links import meant, read, unswitched
from lipverify.loss.asymptotic.sphere import Expr, d, w
from lipverify.problem.fields import RBF, Matern
from lipverify.problem.own import Zonal

r = sympy.Symbol("r", positive=True)
NEAR = sympy.Rational(99, 100)
"""A covariance with a switch, such as np.clip, is read on its branch from this t to 1; a variogram as near to 0."""


@dataclass(frozen=True)
class Increments:
    """V as a sum of powers: pairs (A, p) of A r^p, p rising, up to the first beyond r^4."""

    powers: tuple[tuple[Expr, Expr], ...]

    def bias(self) -> Expr:
        """The leading bias."""
        m = d - 1
        singular = [(A, p / 2) for A, p in self.powers if p < 4 and p != 2]
        if singular:
            A, s = singular[0]
            mean = 2**s * sympy.gamma(m / 2 + s) / sympy.gamma(m / 2)
            return sympy.simplify(A * (1 - 2 ** (s - 1))) * mean * w**-s
        a_2, a_4 = (sum((A for A, p in self.powers if p == power), sympy.Integer(0)) for power in (2, 4))
        constant = sympy.factor(a_2 / 4 * m**2 - a_4 * m * (m + 2))
        if constant == 0:
            raise OutOfReach("the variogram has no power up to r^4 that gives a bias; use method='exact'.")
        return constant / w**2


def increments_of(V: Expr) -> Increments:
    """The powers of an expression in r."""
    powers: list[tuple[Expr, Expr]] = []
    rest = sympy.expand(V)
    while rest != 0 and len(powers) < 6 and not (powers and powers[-1][1] >= 4):
        try:
            A, p = rest.leadterm(r)
        except (ValueError, NotImplementedError, TypeError):
            A, p = sympy.nan, sympy.nan
        if A.has(r) or not (sympy.sympify(A).is_finite and sympy.sympify(p).is_positive):
            raise OutOfReach(f"the variogram {V} does not begin with powers of r at 0; use method='exact'.")
        powers.append((sympy.simplify(A), p))
        rest = sympy.simplify(rest - A * r**p)
    return Increments(tuple(powers))


def matern(law: Matern) -> Increments:
    nu, variance, length = (meant(parameter) for parameter in (law.nu, law.variance, law.length))
    z = sympy.sqrt(2 * nu) * r / length
    polynomial = {1: sympy.Integer(1), 3: 1 + z, 5: 1 + z + z**2 / 3}[int(2 * nu)]
    return increments_of(2 * variance * (1 - polynomial * sympy.exp(-z)))


def rbf(law: RBF) -> Increments:
    variance, length = meant(law.variance), meant(law.length)
    return increments_of(2 * variance * (1 - sympy.exp(-(r**2) / (2 * length**2))))


def zonal(law: Zonal) -> Increments:
    """The variogram from a user's covariance or variogram, read by calling it with a symbol."""
    if law.variogram is not None:
        return increments_of(unswitched(read(law.variogram, (0.0, 2.0), r), sympy.Integer(0), 1 - NEAR, r))
    t = sympy.Symbol("t", real=True)
    K = unswitched(read(law.K, (-1.0, 1.0), t), NEAR, sympy.Integer(1), t)
    return increments_of(2 * (K.subs(t, 1) - K.subs(t, 1 - r**2 / 2)))
