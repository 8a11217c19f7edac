r"""Certified critical points of the expected loss of GD++: all of two layers, and where small weights end.

With e = 1 + t g, s = E sigma^2 and M[f] = int f rho dt the loss is, up to a constant,

    1/2 M[t (t + s) g^2] + M[t g],

a polynomial of the weights whose coefficients are rational, as the moments M[t^k] are whole numbers.

*Given points.* Krawczyk's test in balls of Arb: where K(X) = x - Y G(x) + (1 - Y H(X)) (X - x) lies inside the box X,
there is exactly one critical point in X. The signs of the pivots of H over the box are those of its eigenvalues.

*All of two layers.* The loss is a square in the last weight c, whose best value is -N/D. The rest of the other
equations is two polynomials in a and b; their resultants have all critical a and all critical b among their real roots,
which are isolated, and pairs that are no solution are excluded by balls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import msgspec
import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mpoly_ctx, fmpq_poly
from scipy.integrate import solve_ivp

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import whole
from lipverify.linear_transformer.gdplusplus.floor import degree, second_moment
from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss
from lipverify.linear_transformer.gdplusplus.orthogonal import density_moments, gauss_rule
from lipverify.linear_transformer.regression.contexts import require_regression
from lipverify.problem.prompts import Prompts

PRECISION, RADIUS = 704, 2.0**-330
"""Working precision in bits, and relative radius of the box about a point: sums over moments lose up to 300 bits."""


class CriticalPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A certified critical point of the expected loss: (yx_1, xx_1, yx_2, ...), 2 L - 1 doubles, and the number of
    negative eigenvalues of the Hessian, 0 at a strict local minimum. No other critical point is within `RADIUS`.
    """

    weights: tuple[float, ...]
    index: int


def slopes(regression: Prompts, layers: int) -> list[Any]:
    """The exact gradient of the loss of a number of layers, as polynomials of the weights."""
    require_regression(regression)
    # of four the polynomial has a hundred thousand terms
    layers = whole("layers", layers, 1, "the number of layers of a certified critical point", 3)
    ring = fmpq_mpoly_ctx.get(tuple(f"w{k}" for k in range(2 * layers - 1)), "lex")
    s = second_moment(regression.noise)
    moments = density_moments(int(regression.n), regression.d, 2 * degree(layers) + 2)
    one, nothing = ring.constant(1), ring.constant(0)

    def times(f: list[Any], g: list[Any]) -> list[Any]:
        """The product of two polynomials in t, given by coefficients."""
        product = [nothing] * (len(f) + len(g) - 1)
        for i, x in enumerate(f):
            for j, y in enumerate(g):
                product[i + j] += x * y
        return product

    e, tau = [one], [nothing, one]
    for k, weight in enumerate(ring.gens()):
        factor = [one, *(weight * x for x in tau[1:])]
        e, tau = (times(e, factor), tau) if k % 2 == 0 else (e, times(tau, times(factor, factor)))
    g = e[1:]
    square = zip(times(g, g), moments[1:], moments[2:], strict=False)
    loss = sum((x * (high + s * low) for x, low, high in square), nothing) / 2
    loss = sum((x * moment for x, moment in zip(g, moments[1:], strict=False)), loss)
    return [loss.derivative(j) for j in range(2 * layers - 1)]


def at(polynomial: Any, weights: Sequence[arb]) -> arb:
    """The value of a polynomial of the weights, in balls."""
    terms = zip(polynomial.monoms(), polynomial.coeffs(), strict=True)
    return sum((arb(c) * prod(x**i for x, i in zip(weights, powers, strict=True) if i) for powers, c in terms), arb(0))


def certified(gradient: Sequence[Any], weights: Sequence[float] | Floats) -> CriticalPoint:
    """The critical point near some weights (2 L - 1,), proved to exist and to be the only one in its box."""
    count, shown = len(weights), tuple(map(float, weights))
    unit = arb_mat([[int(j == k) for k in range(count)] for j in range(count)])
    bends = [[slope.derivative(k) for k in range(j + 1)] for j, slope in enumerate(gradient)]

    def hessian(place: Sequence[arb]) -> arb_mat:
        lower = [[at(bend, place) for bend in row] for row in bends]
        return arb_mat([[lower[max(j, k)][min(j, k)] for k in range(count)] for j in range(count)])

    with ctx.workprec(PRECISION):
        x = [arb(weight) for weight in shown]
        for _ in range(12):  # each of Newton's steps doubles the correct digits
            G, H = arb_mat([[at(slope, x)] for slope in gradient]), hessian(x)
            step = H.mid().solve(G.mid())
            # a smaller step leaves Krawczyk's test room in its box
            if all(bool(abs(step[j, 0]) < abs(weight) * (RADIUS / 256)) for j, weight in enumerate(x)):
                break
            x = [(weight - step[j, 0]).mid() for j, weight in enumerate(x)]
        else:
            raise OutOfReach(f"weights = {shown}: Newton's method does not converge near there.")
        box = [weight + arb(0, float(abs(weight)) * RADIUS) for weight in x]
        inverse, over = H.mid().inv().mid(), hessian(box)
        widths = arb_mat([[end - middle] for end, middle in zip(box, x, strict=True)])
        moved = (unit - inverse * over) * widths - inverse * G
        if not all(bool(moved[j, 0].abs_upper() < (box[j] - x[j]).abs_upper()) for j in range(count)):
            raise OutOfReach(f"weights = {shown}: Krawczyk's test does not pass near there.")
        return CriticalPoint(weights=tuple(map(float, x)), index=_negative(over.tolist()))


def two_layers(regression: Prompts) -> tuple[CriticalPoint, ...]:
    """All critical points of two layers, with a proof that none is missed, ordered by the number of directions down.

    >>> from lipverify.problem.noise import UniformNoise
    >>> [point.index for point in two_layers(Prompts(d=10, n=20, sigma=UniformNoise(5.0)))]
    [0, 1]
    """
    gradient, otherwise = slopes(regression, 2), "the critical point of these roots is not certified."
    points = [_near(gradient, each, otherwise) for each in _pairs(gradient)]
    return tuple(sorted(points, key=lambda point: point.index))


def small_start(regression: Prompts, layers: int) -> CriticalPoint:
    """The certified end of gradient flow from weights 0, the limit of plain training with small weights and steps.

    It is refused for more than three layers, or if the flow did not end near a critical point that can be certified.

    >>> from lipverify.problem.noise import UniformNoise
    >>> end = small_start(Prompts(d=10, n=20, sigma=UniformNoise(0.0)), 1)
    >>> end.index, round(end.weights[0] * 31, 12)  # the best single layer: -1/31
    (0, -1.0)
    """
    gradient, loss = slopes(regression, layers), on_gauss_nodes(regression, layers)

    def downhill(_: float, weights: Floats) -> Floats:
        deviations, jacobian = loss.deviations(weights)
        return -deviations @ jacobian

    # in the units of the data the slowest direction needs a tenth of this time
    flow = solve_ivp(downhill, (0.0, 1e4), np.zeros(2 * layers - 1), method="LSODA", rtol=1e-5, atol=1e-10)
    return _near(gradient, flow.y[:, -1], "after time 10000 gradient flow is not near a critical point yet.")


def on_gauss_nodes(regression: Prompts, layers: int) -> ExcessLoss:
    """The loss up to a constant; Gauss's rule is exact for its degree."""
    rule = gauss_rule(int(regression.n), regression.d, degree(layers))
    return ExcessLoss(rule, regression.noise.second_moment)


def _near(gradient: Sequence[Any], weights: Floats, otherwise: str) -> CriticalPoint:
    """The certified point, refused if it is further than a percent from these weights."""
    point = certified(gradient, weights)
    if not np.allclose(point.weights, weights, rtol=1e-2, atol=0):
        raise OutOfReach(f"weights = {tuple(map(float, weights))}: {otherwise}")
    return point


def _pairs(gradient: Sequence[Any]) -> Iterator[Floats]:
    """A finite set that contains all critical points of two layers: all pairs of roots that balls do not exclude."""

    def powers(polynomial: Any) -> list[Any]:
        """The coefficients of 1, c and c^2, polynomials in a and b."""
        slope = polynomial.derivative(2)
        return [part.subs({"w2": 0}) for part in (polynomial, slope, slope.derivative(2) / 2)]

    in_a, in_b, (N, D, _) = (powers(slope) for slope in gradient)
    # the derivative in b has the factor c
    equations = (in_a[0] * D * D - in_a[1] * N * D + in_a[2] * N * N, in_b[1] * D - in_b[2] * N)
    with ctx.workprec(PRECISION):
        roots = [_real_roots(equations[0].resultant(equations[1], gone), kept) for gone, kept in (("w1", 0), ("w0", 1))]
        for x in roots[0]:
            for y in roots[1]:
                place = (x, y, arb(0))
                if all(at(equation, place).contains(0) for equation in equations):
                    yield np.asarray([float(x), float(y), float(-at(N, place) / at(D, place))])
        # with c = 0 the second layer does nothing, and the derivative in c still has to vanish
        first = in_a[0]  # linear in a, without b
        still: fmpq = -first.subs({"w0": 0}).coeffs()[0] / first.derivative(0).coeffs()[0]
        for y in _real_roots(N.subs({"w0": still}), 1):
            yield np.asarray([float(still.p) / float(still.q), float(y), 0.0])


def _real_roots(polynomial: Any, index: int) -> list[arb]:
    """The isolated real roots of a polynomial in one of the variables."""
    coefficients = {exponents[index]: c for exponents, c in zip(polynomial.monoms(), polynomial.coeffs(), strict=True)}
    flat = fmpq_poly([coefficients.get(k, fmpq(0)) for k in range(max(coefficients) + 1)])
    _, factors = flat.numer().factor()
    roots: list[Any] = [root for factor, _ in factors if factor.degree() for root in factor.complex_roots()]
    # no rounding decides: the polynomial equals its conjugate, so a root that is alone in a ball about the real axis is
    # real; Arb refines until each is alone, and then sets the imaginary part of a real one to exactly 0
    return [root.real for root, _ in roots if root.imag == 0]


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
