r"""All critical points of GD++ below a loss: branch and bound in interval arithmetic, for two and three layers.

On Gauss's nodes t_i (see `floor`) the expected loss of L layers is a sum of squares,

    floor + 1/2 sum_i W_i (e(t_i) - T_i)^2,    W_i = w_i (1 + s/t_i),    T_i = s/(t_i + s),

and nodes and weights are balls. `boxes.c` halves boxes of weights until each holds no critical point of a loss below
the bound, or provably exactly one. It asks of a box: do the residuals, one by one and together, leave an excess within
the bound; do the equations G = 0 leave a point, each solved for its own weight, and all by Krawczyk's test.

*The boxes hold every model below the bound.* There |e(z) - c(z)| <= r(z), where c interpolates 1 at 0 and T_i at t_i,
and r^2 = 2 (bound - floor) sum_i l_i(z)^2 / W_i by Cauchy and Schwarz. It is verified in balls that c > r on [-Z, Z],
so no factor 1 + a_l tau_l has a zero there: |a_l| max_{|z| <= Z} |tau_l(z)| < 1. The weight of a fold may be any
number: a fold is either 1 + v r tau or, divided by its weight, v + r tau, with |v| <= 1, and both are searched.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx, fmpq
from scipy.linalg import eigvalsh_tridiagonal

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats, address
from lipverify.foundation.compiling import compiled
from lipverify.foundation.validation import number
from lipverify.linear_transformer.gdplusplus.critical import NEAR, CriticalPoint, certified
from lipverify.linear_transformer.gdplusplus.floor import degree, gdplusplus_floor, second_moment
from lipverify.linear_transformer.gdplusplus.orthogonal import WANTED, recurrence
from lipverify.linear_transformer.regression.contexts import Regression, require_regression

DEPTHS = (2, 3)
"""Numbers of layers within reach: three layers take a minute or some, four have seven weights and 40 nodes."""
LANES = 8
"""Doubles in the widest vector: nodes are filled up to a multiple, with weight 0."""
RATIOS = (1 / 40, 1 / 8)
"""r of the folds: their zeros are near 1/r in good models, so that v is near -1/2."""
ZERO_FREE, PIECES = 1, 64
"""Z, below the smallest node, and the intervals of [-Z, Z] on which c > r is verified."""
BRACKET = 2.0**-90
"""Relative half width of the intervals in which a sign change encloses a node."""
GATE = 0.2
"""Krawczyk's test is tried when no weight moves the root of twice the loss by more; a third of it costs as much."""
AT_ONCE = 200_000
"""Boxes between two looks at the limit."""
CAPACITY = 4096
"""Boxes with one critical point, those of a point on a boundary counted twice."""


class Below(NamedTuple):
    """All critical points with an expected loss below a bound, and the number of boxes in the search."""

    points: tuple[CriticalPoint, ...]
    boxes: int


class Nodes(NamedTuple):
    """Balls of t_i, W_i and T_i."""

    t: list[arb]
    W: list[arb]
    T: list[arb]


def all_below(regression: Regression, layers: int, loss: float, limit: int = 10**8) -> Below:
    """Find all critical points of two or three layers with an expected loss below a bound; none is missed.

    Parameters
    ----------
    regression
        n >= d tokens in R^d and the law of the noise.
    layers
        2 or 3.
    loss
        The bound on the adjusted loss. The number of boxes grows with it, by a half for each tenth of the excess.
    limit
        Largest number of boxes.

    Raises
    ------
    InvalidInput
        If an argument is out of range, or there is no C compiler.
    OutOfReach
        If boxes are left at the limit, or a critical point lies at infinity or cannot be certified.

    >>> from lipverify.linear_transformer.regression.noise import UniformNoise
    >>> found = all_below(Regression(10, 20, UniformNoise(5.0)), 2, 0.5)
    >>> [point.index for point in found.points]
    [0]
    """
    require_regression(regression)
    loss = number("loss", loss, "the bound", above=0)
    if layers not in DEPTHS:
        raise InvalidInput(f"layers = {layers}: branch and bound is within reach for {' and '.join(map(str, DEPTHS))}.")
    floor = gdplusplus_floor(regression, layers)
    excess = np.nextafter(loss - np.nextafter(floor.value - floor.error, -np.inf), np.inf)
    if excess <= 0:  # not even a polynomial of that degree is below the bound
        return Below((), 0)
    nodes = gauss_nodes(regression, degree(layers))
    _require_zero_free(nodes, excess)
    code, boxes, points = _code(layers), 0, list[CriticalPoint]()
    for far in product((False, True), repeat=layers - 1):
        boxes_left, taken = _search(code, nodes, far, float(excess), limit - boxes)
        boxes += taken
        for box in boxes_left:
            point = _in_box(regression, box, far)
            # a box may reach beyond the bound
            if _excess(nodes, point.weights) <= excess and not any(
                np.allclose(point.weights, known.weights, rtol=1e-12, atol=0) for known in points
            ):
                points.append(point)
    return Below(tuple(sorted(points, key=lambda point: (point.index, point.weights))), boxes)


def gauss_nodes(regression: Regression, count: int) -> Nodes:
    """Gauss's nodes t_i with W_i and T_i, as balls; a change of sign encloses each node."""
    polynomials, s = recurrence(regression.n, regression.d, count), second_moment(regression.noise)
    diagonal, squares = ([float(x) for x in part] for part in (polynomials.diagonal, polynomials.squares[1:]))
    near = eigvalsh_tridiagonal(diagonal, [x**0.5 for x in squares])
    with ctx.workprec(WANTED):
        t = [_enclosed(polynomials, arb(float(node))) for node in near]
        # the orthonormal polynomials at a node give its weight for t rho(t) dt
        mass = [1 / sum((p * p / norm for p, norm in _polynomials(polynomials, node)[:-1]), arb(0)) for node in t]
        return Nodes(t, [w / x * (1 + arb(s) / x) for w, x in zip(mass, t, strict=True)], [arb(s) / (x + s) for x in t])


def _polynomials(coefficients: Any, t: arb) -> list[tuple[arb, arb]]:
    """The monic orthogonal polynomials at t and their squared norms; the zeros of the last polynomial are the nodes."""
    before, now, norm, pairs = arb(0), arb(1), coefficients.squares[0], list[tuple[arb, arb]]()
    for k, diagonal in enumerate(coefficients.diagonal):
        pairs.append((now, norm))
        before, now = now, (t - diagonal) * now - (coefficients.squares[k] * before if k else 0)
        norm = norm * coefficients.squares[k + 1] if k + 1 < len(coefficients.squares) else norm
    return [*pairs, (now, norm)]


def _enclosed(coefficients: Any, t: arb) -> arb:
    """The zero of the last polynomial near t: by the secant rule, then proved by a change of sign."""
    step = t * BRACKET
    for _ in range(8):
        here, there = (_polynomials(coefficients, x)[-1][0] for x in (t, t + step))
        t = (t - here * step / (there - here)).mid()
    below, above = (_polynomials(coefficients, t + sign * t * BRACKET)[-1][0] for sign in (-1, 1))
    if not below * above < 0:
        raise OutOfReach(f"no change of sign encloses the node near {float(t)}.")
    return t * (1 + arb(0, BRACKET))


def _require_zero_free(nodes: Nodes, excess: float) -> None:
    """Verify that every polynomial within the excess is positive on [-Z, Z]."""
    with ctx.workprec(WANTED):
        for piece in range(-PIECES, PIECES):
            z = (arb(fmpq(2 * piece + 1, 2)) + arb(0, 0.5)) * ZERO_FREE / PIECES
            ratios = [z / x for x in nodes.t]
            middle = math.prod((1 - ratio for ratio in ratios), start=arb(1))
            square = arb(0)
            for i, x in enumerate(nodes.t):
                cardinal = math.prod(((z - y) / (x - y) for j, y in enumerate(nodes.t) if j != i), start=ratios[i])
                middle += nodes.T[i] * cardinal
                square += cardinal * cardinal / nodes.W[i]
            if not middle > (2 * arb(excess) * square.abs_upper()).sqrt():
                raise OutOfReach(
                    f"loss = floor + {excess:.6g}: models may have a zero near {float(z):.3g}; use a smaller loss."
                )


def _excess(nodes: Nodes, weights: Sequence[float]) -> float:
    """The loss of these weights beyond the floor."""
    with ctx.workprec(WANTED):
        total = arb(0)
        for t, W, T in zip(*nodes, strict=True):
            e, tau = arb(1), t
            for k, weight in enumerate(weights):
                factor = 1 + arb(weight) * tau
                e, tau = (e, tau * factor * factor) if k % 2 else (e * factor, tau)
            total += W * (e - T) ** 2 / 2
        return float(total)


def _search(code: Any, nodes: Nodes, far: tuple[bool, ...], excess: float, limit: int) -> tuple[Floats, int]:
    """The boxes (count, P, 2) with one critical point for one choice of folds, and the number of boxes taken."""
    rule = np.zeros((6, -(-len(nodes.t) // LANES) * LANES))
    rule[:2] = 1.0
    for row, balls in enumerate(nodes):
        for column, ball in enumerate(balls):
            rule[2 * row, column] = np.nextafter(float(ball.lower()), -np.inf)
            rule[2 * row + 1, column] = np.nextafter(float(ball.upper()), np.inf)
    reach, high = float(ZERO_FREE), list[float]()
    for r, is_far in zip(RATIOS, (*far, None), strict=False):
        high.append(1.01 / reach)  # |a| max |tau| < 1, and rounding
        if is_far is None:
            break
        high.append(1.0)
        # the largest |tau| while |z| <= Z: at worst the far fold has its zero at three quarters, as Chebyshev's cubic
        reach = reach**3 * r**2 / 16 if is_far else reach * (1 - reach * r) ** 2
    if len(high) % 2 == 0:
        high.append(1.01 / reach)
    bounds, boxes, counts = np.asarray(high), np.zeros((CAPACITY, len(high), 2)), np.zeros(3, dtype=np.int64)
    code.set_problem(address(rule), address(np.asarray(RATIOS)), address(np.asarray(far, dtype=np.intc)), excess)
    lowest = -bounds
    waiting = code.begin(address(lowest), address(bounds))
    while waiting and counts[0] < limit:
        waiting = code.search(AT_ONCE, GATE, address(boxes), CAPACITY, address(counts))
        if waiting < 0 or counts[1] == CAPACITY or counts[2]:
            break
    if waiting or counts[2]:
        rule_ = f"{waiting} boxes wait and {counts[2]} cannot be halved after {counts[0]}"
        raise OutOfReach(f"far folds {far}: {rule_}; use a smaller loss or a larger limit.")
    return boxes[: counts[1]], int(counts[0])


def _in_box(regression: Regression, box: Floats, far: tuple[bool, ...]) -> CriticalPoint:
    """The certified critical point of a box."""
    middle = box.mean(axis=1)
    point = certified(regression, _weights(middle, far))
    if not np.allclose(_weights(middle, far), point.weights, rtol=NEAR, atol=0):
        raise OutOfReach(f"weights = {tuple(_weights(middle, far))}: the critical point of a box is not certified.")
    here = _variables(np.asarray(point.weights), far)
    if not np.all((box[:, 0] < here) & (here < box[:, 1])):
        raise OutOfReach(f"weights = {point.weights}: the certified critical point is not in its box {box.tolist()}.")
    return point


def _weights(variables: Floats, far: tuple[bool, ...]) -> Floats:
    """The weights (yx_1, xx_1, yx_2, ...) from the variables of the search."""
    weights, scale = np.empty_like(variables), 1.0  # tau of the search is scale times that of the model
    for k, variable in enumerate(variables):
        if k % 2 == 0:
            weights[k] = variable * scale
        elif far[k // 2]:
            weights[k], scale = RATIOS[k // 2] / variable * scale, scale * variable**2
        else:
            weights[k] = RATIOS[k // 2] * variable * scale
    return weights


def _variables(weights: Floats, far: tuple[bool, ...]) -> Floats:
    """The variables of the search from weights: the inverse of `_weights`."""
    variables, scale = np.empty_like(weights), 1.0
    for k, weight in enumerate(weights):
        if k % 2 == 0:
            variables[k] = weight / scale
        elif far[k // 2]:
            variables[k] = RATIOS[k // 2] / weight * scale
            scale *= variables[k] ** 2
        else:
            variables[k] = weight / scale / RATIOS[k // 2]
    return variables


@cache
def _code(layers: int) -> Any:
    """The compiled search for a number of layers."""
    width = -(-degree(layers) // LANES) * LANES
    source = (files(__package__) / "boxes.c").read_text(encoding="utf-8")
    return _typed(compiled(f"#define NODES {width}\n#define LAYERS {layers}\n{source}", _accepted))


def _accepted(made: ctypes.CDLL) -> bool:
    """True if the library has its functions. Its results need no test here, because each is certified afterwards."""
    return all(hasattr(made, name) for name in ("set_problem", "begin", "search"))


def _typed(made: ctypes.CDLL) -> Any:
    pointer = ctypes.c_void_p
    made.set_problem.argtypes, made.set_problem.restype = (pointer, pointer, pointer, ctypes.c_double), None
    made.begin.argtypes, made.begin.restype = (pointer, pointer), ctypes.c_int
    made.search.argtypes = (ctypes.c_long, ctypes.c_double, pointer, ctypes.c_long, pointer)
    made.search.restype = ctypes.c_long
    return made
