r"""Certified critical points of the expected loss of GD++: all of two layers, and given ones of deeper models.

With e = 1 + t g, s = E sigma^2 and M[f] = int f rho dt the loss is, up to a constant, the polynomial of the weights

    1/2 M[t (t + s) g^2] + M[t g],

whose coefficients are rational: the moments M[t^k] are whole numbers. So are those of its derivatives,

    G_j = M[(e + s g) e_j],    H_jk = M[(e_k + s g_k) e_j + (e + s g) e_jk].

*Given points.* Krawczyk's test in balls of Arb: where K(X) = x - Y G(x) + (1 - Y H(X)) (X - x) lies inside the box X,
there is exactly one critical point in X. The signs of the pivots of H over the box are those of its eigenvalues.

*All of two layers.* With the weights (a, b, c) = (yx_1, xx_1, yx_2) and h = (1 + a t)(1 + b t)^2, g = a + c h. The loss
is a square in c, so that c = -N/D with N = M[t (1 + (t + s) a) h] and D = M[t (t + s) h^2] > 0. The rest of the
other equations is two polynomials in a and b; their resultants have all critical a and all critical b among their
real roots, which are isolated, and pairs that are no solution are excluded by balls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
from flint import arb, arb_mat, arb_poly, ctx, fmpq, fmpq_mpoly_ctx, fmpq_poly
from scipy.integrate import solve_ivp

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.linear_transformer.gdplusplus.floor import degree, second_moment
from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss
from lipverify.linear_transformer.gdplusplus.moments import density_moments
from lipverify.linear_transformer.gdplusplus.orthogonal import gauss_rule
from lipverify.linear_transformer.regression.contexts import Regression, require_regression

PRECISION = 704
"""Working precision in bits: the sums over the moments of four layers, up to t^80, lose about 300 to cancellation."""
RADIUS = 2.0**-330
"""Relative radius of the box about a point. The Hessian over it, sums over moments, is about 300 bits wider."""
NEWTON, LAST = 12, RADIUS / 256
"""Newton steps from a point with a few correct digits, each of which doubles them; none is made where it would be
smaller than this, relatively, which leaves Krawczyk's test room in its box."""

DURATION = 1e4
"""Duration of gradient flow: in the units of the data the slowest direction of four layers needs a tenth of it."""
NEAR = 1e-2
"""Largest relative distance between the end of a descent and its certified point."""


class CriticalPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A certified critical point of the expected loss.

    Attributes
    ----------
    weights
        (yx_1, xx_1, yx_2, ...), 2 L - 1 numbers, as doubles; there is no other critical point within `RADIUS`.
    index
        The number of negative eigenvalues of the Hessian; the others are positive. 0 at a strict local minimum.
    """

    weights: tuple[float, ...]
    index: int


class Derivatives(NamedTuple):
    """The gradient G (a list) and the Hessian H (a list of lists), as balls."""

    gradient: list[arb]
    hessian: list[list[arb]]


@dataclass(frozen=True)
class Jet:
    """A polynomial in t with its first and second derivatives in the weights."""

    value: Any
    first: list[Any]
    second: list[list[Any]]

    def __mul__(self, other: Jet) -> Jet:
        every = range(len(self.first))
        lower = [
            [
                self.second[j][k] * other.value + self.first[j] * other.first[k]
                + self.first[k] * other.first[j] + self.value * other.second[j][k]
                for k in range(j + 1)
            ]
            for j in every
        ]  # fmt: skip
        return Jet(
            self.value * other.value,
            [self.first[j] * other.value + self.value * other.first[j] for j in every],
            mirrored(lower),
        )

    def widened(self) -> Jet:
        """The same with one more weight, on which it does not depend."""
        nothing = arb_poly([])
        return Jet(
            self.value, [*self.first, nothing],
            [*([*row, nothing] for row in self.second), [nothing] * (len(self.first) + 1)],
        )  # fmt: skip

    def one_plus(self, weight: arb) -> Jet:
        """1 + weight times this one, where the weight is the last."""
        first = [weight * slope for slope in self.first]
        first[-1] += self.value
        second = [[weight * slope for slope in row] for row in self.second]
        for k, slope in enumerate(self.first):  # on the diagonal twice
            second[-1][k] += slope
            second[k][-1] += slope
        return Jet(1 + weight * self.value, first, second)


def mirrored(lower: list[list[Any]]) -> list[list[Any]]:
    """The symmetric matrix of which these are the rows up to the diagonal."""
    size = range(len(lower))
    return [[lower[max(j, k)][min(j, k)] for k in size] for j in size]


def derivatives(weights: Sequence[arb], s: fmpq, moments: Sequence[Any]) -> Derivatives:
    """The exact gradient and Hessian at weights (yx_1, xx_1, yx_2, ...), balls or exact."""
    count, e, tau = len(weights), Jet(arb_poly([1]), [], []), Jet(arb_poly([0, 1]), [], [])
    for k, weight in enumerate(weights):
        e, tau = e.widened(), tau.widened()
        factor = tau.one_plus(weight)
        if k % 2 == 0:
            e = e * factor
        else:
            tau = tau * factor * factor

    def shifted(f: arb_poly) -> arb_poly:
        """f + s g for f = 1 + t g, or f = t g."""
        return f + arb(s) * arb_poly(f.coeffs()[1:])

    weighted, moved = shifted(e.value), [shifted(slope) for slope in e.first]
    size = max(map(len, (weighted, *moved, *e.first)))

    def rows(polynomials: Sequence[arb_poly]) -> arb_mat:
        return arb_mat([[*f.coeffs(), *[0] * (size - len(f))] for f in polynomials])

    # M[f g] is the coefficients of f times the matrix of the moments M[t^{i + j}] times those of g
    hankel, first = arb_mat([moments[i : i + size] for i in range(size)]), rows(e.first)
    by_e = hankel * rows([weighted]).transpose()
    bent = iter((rows([e.second[j][k] for j in range(count) for k in range(j + 1)]) * by_e).entries())
    steep = rows(moved) * (hankel * first.transpose())
    return Derivatives(
        (first * by_e).entries(), mirrored([[steep[j, k] + next(bent) for k in range(j + 1)] for j in range(count)])
    )


def certified(regression: Regression, weights: Sequence[float] | Floats) -> CriticalPoint:
    """The critical point near some weights (2 L - 1,), proved to exist and to be the only one in its box.

    Raises
    ------
    OutOfReach
        If Krawczyk's test does not pass there, or an eigenvalue of the Hessian may be 0.

    >>> from lipverify.linear_transformer.regression.noise import UniformNoise
    >>> point = certified(Regression(10, 20, UniformNoise(0.0)), [-0.03])
    >>> point.index, round(point.weights[0] * 31, 12)  # the best single layer: -1/31
    (0, -1.0)
    """
    require_regression(regression)
    s = second_moment(regression.noise)
    moments = _moments(regression.n, regression.d, (len(weights) + 1) // 2)
    with ctx.workprec(PRECISION):
        x = [arb(float(weight)) for weight in weights]
        for _ in range(NEWTON):
            derived = derivatives(x, s, moments)
            step = arb_mat(derived.hessian).mid().solve(arb_mat([[slope] for slope in derived.gradient]).mid())
            if all(bool(abs(step[j, 0]) < abs(weight) * LAST) for j, weight in enumerate(x)):
                break
            x = [(weight - step[j, 0]).mid() for j, weight in enumerate(x)]
        else:
            raise OutOfReach(f"weights = {tuple(map(float, weights))}: Newton's method does not converge near there.")
        box = [weight + arb(0, float(abs(weight)) * RADIUS) for weight in x]
        over = derivatives(box, s, moments)
        inverse, count = arb_mat(derived.hessian).mid().inv().mid(), len(x)
        unit = arb_mat([[int(j == k) for k in range(count)] for j in range(count)])
        widths = arb_mat([[end - middle] for end, middle in zip(box, x, strict=True)])
        gradient = arb_mat([[slope] for slope in derived.gradient])
        moved = (unit - inverse * arb_mat(over.hessian)) * widths - inverse * gradient
        if not all(bool((x[j] + moved[j, 0] - x[j]).abs_upper() < (box[j] - x[j]).abs_upper()) for j in range(count)):
            raise OutOfReach(f"weights = {tuple(map(float, weights))}: Krawczyk's test does not pass near there.")
        return CriticalPoint(weights=tuple(map(float, x)), index=_negative(over.hessian))


def two_layers(regression: Regression) -> tuple[CriticalPoint, ...]:
    """All critical points of two layers, with a proof that none is missed, ordered by the number of directions down.

    Raises
    ------
    OutOfReach
        If a pair of roots is neither excluded nor certified.

    >>> from lipverify.linear_transformer.regression.noise import UniformNoise
    >>> [point.index for point in two_layers(Regression(10, 20, UniformNoise(5.0)))]
    [0, 1]
    """
    require_regression(regression)
    s, moments = second_moment(regression.noise), _moments(regression.n, regression.d, 2)
    points = []
    for candidate in _two_layer_candidates(s, moments):
        points.append(certified(regression, candidate))
        if not np.allclose(points[-1].weights, candidate, rtol=NEAR, atol=0):
            raise OutOfReach(f"weights = {tuple(candidate)}: the critical point of these roots is not certified.")
    return tuple(sorted(points, key=lambda point: point.index))


@cache
def small_start(regression: Regression, layers: int) -> CriticalPoint:
    """The certified end of gradient flow from weights 0, the limit of plain training with small weights and steps.

    Raises
    ------
    OutOfReach
        If the flow did not end near a critical point that can be certified.

    >>> from lipverify.linear_transformer.regression.noise import UniformNoise
    >>> silent = Regression(10, 20, UniformNoise(0.0))
    >>> small_start(silent, 1) == certified(silent, [-0.03])
    True
    """
    loss = on_gauss_nodes(regression, layers)

    def downhill(_: float, weights: Floats) -> Floats:
        deviations, jacobian = loss.deviations(weights)
        return -deviations @ jacobian

    flow = solve_ivp(downhill, (0.0, DURATION), np.zeros(2 * layers - 1), method="LSODA", rtol=1e-5, atol=1e-10)
    end = flow.y[:, -1]
    point = certified(regression, end)
    if not np.allclose(point.weights, end, rtol=NEAR, atol=0):
        raise OutOfReach(
            f"after time {DURATION:g} gradient flow is not near a critical point yet: {tuple(map(float, end))}."
        )
    return point


def on_gauss_nodes(regression: Regression, layers: int) -> ExcessLoss:
    """The loss up to a constant; Gauss's rule is exact for its degree."""
    require_regression(regression)
    rule = gauss_rule(regression.n, regression.d, degree(layers))
    return ExcessLoss(rule, regression.noise.second_moment)


def _two_layer_candidates(s: fmpq, moments: Sequence[fmpq]) -> Iterator[Floats]:
    """A finite set that contains all critical points of two layers: all pairs of roots that balls do not exclude."""
    ring = fmpq_mpoly_ctx.get(("a", "b"), "lex")
    a, b = ring.gens()
    zero, unit = ring.constant(0), ring.constant(1)

    def times(*factors: Sequence[Any]) -> list[Any]:
        """The product of two polynomials in t, given by coefficients."""
        product = [unit]
        for factor in factors:
            longer = [zero] * (len(product) + len(factor) - 1)
            for i, x in enumerate(product):
                for j, y in enumerate(factor):
                    longer[i + j] += x * y
            product = longer
        return product

    def mean(*factors: Sequence[Any]) -> Any:
        return sum((coefficient * moment for coefficient, moment in zip(times(*factors), moments, strict=False)), zero)

    t, shifted, first, scaled = [zero, unit], [ring.constant(s), unit], [unit, a], [unit, b]
    residual, h, k = [unit + s * a, a], times(first, scaled, scaled), times([zero, unit], scaled, scaled)
    N, D = mean(t, residual, h), mean(t, shifted, h, h)
    in_a = [mean(t, residual), mean(t, residual, k) + mean(t, shifted, h), mean(t, shifted, h, k)]
    in_b = [mean(t, t, first, scaled, residual), mean(t, t, shifted, first, scaled, h)]
    equations = (in_a[0] * D * D - in_a[1] * N * D + in_a[2] * N * N, in_b[0] * D - in_b[1] * N)
    with ctx.workprec(PRECISION):
        roots = [_real_roots(equations[0].resultant(equations[1], gone), kept) for gone, kept in (("b", 0), ("a", 1))]
        for x in roots[0]:
            for y in roots[1]:
                if all(_at(equation, x, y).contains(0) for equation in equations):
                    yield np.asarray([float(x), float(y), float(-_at(N, x, y) / _at(D, x, y))])
        # with c = 0 the second layer does nothing, and the derivative in c still has to vanish
        still: fmpq = -moments[1] / (moments[2] + s * moments[1])
        for y in _real_roots(N.subs({"a": still}), 1):
            yield np.asarray([float(still.p) / float(still.q), float(y), 0.0])


def _real_roots(polynomial: Any, index: int) -> list[arb]:
    """The isolated real roots of a polynomial in one of the variables."""
    coefficients = {exponents[index]: c for exponents, c in zip(polynomial.monoms(), polynomial.coeffs(), strict=True)}
    flat = fmpq_poly([coefficients.get(k, fmpq(0)) for k in range(max(coefficients) + 1)])
    _, factors = flat.numer().factor()
    roots: list[Any] = [root for factor, _ in factors if factor.degree() for root in factor.complex_roots()]
    return [root.real for root, _ in roots if root.imag == 0]


def _at(polynomial: Any, a: arb, b: arb) -> arb:
    """The value of a polynomial in (a, b)."""
    return sum(
        (arb(c) * a**i * b**j for (i, j), c in zip(polynomial.monoms(), polynomial.coeffs(), strict=True)), arb(0)
    )


def _negative(hessian: list[list[arb]]) -> int:
    """The number of negative eigenvalues: by Sylvester's law the pivots of symmetric elimination have their signs."""
    rows, count = [list(row) for row in hessian], 0
    for k in range(len(rows)):
        pivot = rows[k][k]
        if pivot.contains(0):
            raise OutOfReach("a pivot of the Hessian may be 0, so the point may be degenerate.")
        count += bool(pivot < 0)
        for j in range(k + 1, len(rows)):
            share = rows[j][k] / pivot
            rows[j] = [x - share * y for x, y in zip(rows[j], rows[k], strict=True)]
    return count


@cache
def _moments(n: int, d: int, layers: int) -> tuple[fmpq, ...]:
    """M[t^k] up to the order that the Hessian for this number of layers needs."""
    return tuple(density_moments(n, d, 2 * degree(layers) + 2))
