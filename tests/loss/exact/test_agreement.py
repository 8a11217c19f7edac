"""One loss by two ways: by two routes, by a name and by a function, by two formulas, in two units.

The two differ by their errors at most, and the errors are as small as is stated beside the law.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.special import eval_gegenbauer, hyp0f1

from lipverify import Problem, loss_terms
from lipverify.laws import RBF, Affine, Cosine, Law, Linear, Matern, Quadratic, ReLU, Ridge, Zonal
from tests.loss.exact.test_fields import MATERN

BOTH, RIDGE = ("ridge", "zonal"), ("ridge", "ridge")
CASES: list[Any] = []
Places = Iterable[tuple[int, float, Any]]


def case(
    name: str,
    one: Law,
    places: Places,
    other: Law | None = None,
    routes: tuple[Any, Any] = (None, None),
    known: float = math.inf,
    other_known: float = math.inf,
    times: float = 1.0,
    slow: bool = False,
) -> None:
    """The bias of one law is `times` that of another at each (d, n, w); `known` bounds its relative error."""
    laws, bounds = (one, one if other is None else other), (known, other_known)
    for d, n, w in places:
        values, marks = (laws, routes, bounds, times, d, n, w), [pytest.mark.slow] * slow
        CASES.append(pytest.param(*values, id=f"{name}-{d}-{n:g}-{w}", marks=marks))


def half_line(z: Any) -> Any:
    return np.maximum(z, 0)


# By both routes.

law: Law
link: Any
GRID = [(2, 1e4, 20.0), (3, 100, 10.0), (5, 3, 5.0), (2, 2, 8.0), (8, 1e30, 3e3), (20, 1e30, 100.0), (3, 1e30, 1e-3)]
for law in (Affine(), Quadratic(L=0.5), Cosine(L=3.0), ReLU(), Cosine(L=30.0)):
    case(str(law), law, GRID, routes=BOTH, other_known=1e-10)
OFF = Ridge(lambda z: np.abs(z - 0.5), kinks=(0.5,))
case("off the equator", OFF, [(3, 1e6, 50.0), (2, 1e5, 7.0), (4, 1e12, 200.0)], routes=BOTH, other_known=1e-5)
# many harmonics over the whole sphere, a very narrow density, few tokens, narrow windows, and with too few nodes for
# its harmonics both halves of a rule have the same error
for L, *place in (
    (20.0, 2, 3, 0.25),
    (1.0, 400, 2, 0.9),
    (5.0, 3, 7, 300.0),
    (3.0, 2, 1e30, 1e9),
    (100.0, 2, 3, 0.25),
):
    case(f"cosine {L:g}", Cosine(L=L), [tuple(place)], routes=BOTH, other_known=1e-11)  # type: ignore[list-item]
GAP = Ridge(lambda z: z + eval_gegenbauer(20, 0.5, z))
case("a gap in the spectrum", GAP, [(3, 1e5, 50.0)], routes=BOTH, other_known=1e-9)
case(
    "few tokens", ReLU(L=1.0), [(2, 2, 10.0), (3, 3, 10.0), (3, 4, 5.0)],
    routes=BOTH, known=5e-11, other_known=5e-11,
)  # fmt: skip
case("few tokens", ReLU(L=1.0), [(4, 5, 20.0)], routes=BOTH, known=5e-11, other_known=5e-11, slow=True)
# the variogram bends at angles of a thousandth, where its pieces were once not small enough
JUMPS = Ridge(lambda z: np.sign(z - 0.3) + np.sign(z - 0.302), jumps=(0.3, 0.302))
case("two jumps", JUMPS, [(2, 30, 3.0)], routes=BOTH, known=2e-10)
case("two jumps", JUMPS, [(3, 30, 3.0)], routes=BOTH, known=2e-10, slow=True)
ALMOST = Ridge(lambda z: np.abs(z) - np.abs(z - 0.003), kinks=(0.0, 0.003))
case("almost a jump", ALMOST, [(2, 30, 3.0)], routes=BOTH, known=1e-8)
case("almost a jump", ALMOST, [(3, 30, 3.0)], routes=BOTH, known=1e-8, slow=True)
# the floor of 3z jumps at z = 1 too, and 1 - t rounds to 0 within 1e-8 of it: on the circle that showed
FLOOR = Ridge(lambda z: 3 * z - np.floor(3 * z), jumps=(-2 / 3, -1 / 3, 0.0, 1 / 3, 2 / 3))
case("floor", FLOOR, [(2, 10, 1.0)], routes=BOTH, known=5e-10, other_known=5e-10)
# sixty-four nodes do not resolve a steep place near a kink: the error was once a hundredth of the value and more
HILL = Ridge(lambda z: np.exp(-200 * z * z) + abs(z - 0.1), kinks=(0.1,))
case("a hill at a kink", HILL, [(2, 1000, 10.0)], routes=BOTH, known=1e-9)
STEP = Ridge(lambda z: np.tanh(10 * z) + abs(z - 0.1), kinks=(0.1,))
case("a step at a kink", STEP, [(7, 1000, 10.0)], routes=BOTH, known=1e-9)
# a square wave of five jumps: two of them meet at about twenty angles
WAVE = Ridge(lambda z: np.sign(np.sin(np.pi * np.asarray(z) / 0.35)), jumps=(-0.7, -0.35, 0.0, 0.35, 0.7))
SQUARE_WAVE = [(d, n, w) for d in (2, 3, 10) for n, w in ((30, 3.0), (1e6, 1.0))]
case("a square wave", WAVE, SQUARE_WAVE, routes=BOTH, known=1e-10)


def root(s: float, k: float = 0.0) -> Ridge:
    """A root alone, or one in a wave: rules of up to 44 nodes do not resolve both, a hundredth of the value once."""
    return Ridge(lambda z: np.abs(z) ** s if k == 0 else np.cos(k * z) - abs(z - 0.5) ** s, kinks=(0.5 * (k > 0),))


ROOTS = [(s, 0.0, 1e5, (20.0,)) for s in (0.2, 0.5, 0.8)]
for s, k, n, windows in ROOTS + [(s, k, 94.0, (10.0, 2e3)) for s in (0.2, 0.7) for k in (5.0, 12.0)]:
    case(f"root {s} {k:g}", root(s, k), [(2, n, windows[0])], routes=BOTH)
    case(f"root {s} {k:g} by default", root(s, k), [(2, n, w) for w in windows], routes=(None, "ridge"), known=1e-6)

# A user's function and a law by name.

PLACES = [(2, 1e4, 20.0), (3, 1e6, 10.0), (5, 1e30, 1e6), (5, 1e30, 1e-3)]
# the kink that is declared but absent is averaged by the rule over all angles
for own, named, ratio in (
    (Ridge(lambda z: z), Affine(), 1 / 3),
    (Ridge(lambda z: z**2), Quadratic(), 1.0),
    (Ridge(lambda z: np.cos(3 * z)), Cosine(L=3.0), 1.0),
    (Ridge(half_line, kinks=(0.0,)), ReLU(), 2 / 3),
    (Ridge(lambda z: z, kinks=(-1.0, 1.0)), Affine(), 1 / 3),
    (Ridge(lambda z: np.abs(z - 1), kinks=(1.0,)), Affine(), 1 / 3),
    (Ridge(lambda z: 1 - z, kinks=(0.3,)), Affine(), 1 / 3),
):
    case(f"{named.name}-{len(own.kinks)}", own, PLACES, named, known=1e-8, times=1 / ratio)
for d in (2, 3, 8, 40):
    crowds = [(d, 1e6, 1e2), (d, 1e12, 1e3), (d, 30, 1e4 if d <= 3 else 10.0)]
    case("relu", Ridge(half_line, kinks=(0.0,)), crowds, ReLU(L=math.sqrt(1.5)), known=1e-10, slow=d == 8)
# V is smooth at 0, where a kink was declared, and the bias was once wrong by 32 times its error
for kinks in ((0.2,), (-0.3, 0.6), (0.5,), (0.7,)):
    near_0 = [(2, 1e12, 1e5), (2, 1e30, 1e8), (3, 1e16, 1e6)]
    unit = 1 / Quadratic(L=1.0).amplitude_variance
    square = Ridge(lambda z: z**2, kinks=kinks)
    case(f"{kinks}", square, near_0, Quadratic(L=1.0), known=1e-6, times=unit, slow=kinks[0] >= 0.5)


def rounded(offset: float) -> Ridge:
    """Second differences of a rounded line vanish on the grid; that was once a Python error."""
    return Ridge(lambda z: (offset + z) - offset)


for offset in (1e5, 1e6):
    case(f"{offset:g}", rounded(offset), [(3, 100, 5.0)], Linear(), known=1e-8, slow=offset < 1e6)
# polynomials of NumPy compare by value and have no hash; tables of laws are cached by one
for polynomial in (Ridge(np.polynomial.Polynomial([0.0, 1.0])), Zonal(np.polynomial.Polynomial([0.0, 1 / 3]))):
    case(type(polynomial).__name__, polynomial, [(3, 100, 3.0)], Linear(), known=1e-9)


def waves(d: int) -> Any:
    """The covariance of the cosine law with L = 2."""
    return lambda t: (hyp0f1(d / 2, -2 * (1 - t)) + hyp0f1(d / 2, -2 * (1 + t))) / 2


def arc(t: np.ndarray) -> Any:
    """The covariance of ReLU in three dimensions, which is not smooth at t = 1."""
    theta = np.arccos(np.clip(t, -1, 1))
    return (np.sin(theta) + (np.pi - theta) * np.cos(theta)) / (9 * np.pi)


def cubic(t: np.ndarray) -> Any:
    """1 + P_2 / 4 + P_3 / 2 in four dimensions."""
    return 1.0 + (0.25 * (4 * t**2 - 1) + 0.5 * (6 * t**3 - 3 * t)) / 3


for d in (3, 10):
    case("cosine by kernel", Zonal(waves(d)), [(d, 1e4, [0.0, 10.0])], Cosine(L=2.0), known=1e-5)
by_spectrum = Zonal(spectrum=(1.0, 0.0, 0.25, 0.5))
case("cubic by kernel", Zonal(cubic), [(4, 1000, w) for w in (0.0, 3.0, 50.0)], by_spectrum, known=1e-9)
case("relu by kernel", Zonal(arc), [(3, 1e6, 20.0)], ReLU(), known=1e-4)

# With all digits and with those that a formula leaves.

FIELDS: dict[float, Law] = {0.5: Matern(nu=0.5), 1.5: Matern(nu=1.5), 2.5: Matern(nu=2.5), math.inf: RBF()}
for nu, field in FIELDS.items():
    for d, n in ((2, 1e6), (3, 1e30), (10, 1e30)):
        every = [(d, n, np.array([1.0, 1e3, 1e6, 1e9]))]
        case(f"nu = {nu}", field, every, Zonal(partial(MATERN[nu], a=1.0)), RIDGE, slow=d == 3)


def poisson(rho: float) -> tuple[Law, Law]:
    """Poisson's kernel on the circle as a variogram without cancellation, and as K."""
    near = 1 - rho

    def variogram(r: Any) -> Any:
        return 2 * (1 + rho) / near * (rho * r**2 / (near**2 + rho * r**2))

    return Zonal(variogram=variogram), Zonal(K=lambda t: (1 - rho**2) / (1 - 2 * rho * t + rho**2))


for power, w, n in ((2, 1e4, 1e4), (4, 1e8, 1e6), (3, 10.0, 100.0), (5, 1e9, 1e3)):
    kept, given = poisson(1 - 10.0**-power)
    case(f"poisson {power}", kept, [(2, n, w)], given, known=1e-8)


def three(kink: float) -> Ridge:
    kinks = (kink, 0.42, 0.4375)
    return Ridge(lambda z: sum(abs(z - c) for c in kinks), kinks=kinks)


# between |z| = 0 and |z| = 1e-20 there is no room for a node
case("almost at 0", three(1e-20), [(2, 2, 1.0)], three(0.0))
# declared and undeclared: the errors were once as large as the values, and one step was taken for a root at 1
STEEP: list[tuple[Any, tuple[float, ...]]] = [
    (lambda z: np.tanh(200 * z), (-0.1, -0.025, 0.0, 0.025, 0.1)),
    (lambda z: np.arctan(1000 * z), (-0.1, -0.01, 0.0, 0.01, 0.1)),
    (lambda z: np.tanh(100 * (z - 0.5)) + np.tanh(100 * (z + 0.5)), (-0.6, -0.5, -0.4, 0.4, 0.5, 0.6)),
    (lambda z: 1 / (1 + np.exp(-60 * (z - 0.7))), (0.5, 0.7, 0.9)),
]
for j, (link, places) in enumerate(STEEP):
    case(f"steep {j}", Ridge(link), [(2, 30, 1e3)], Ridge(link, kinks=places), RIDGE, known=1e-6, slow=j == 3)


def sized(link: Any, size: float) -> Ridge:
    """The error of windows with few tokens was once absolute: five thousand times the bias of a law of size 1e-8."""
    return Ridge(lambda z: size * link(z), kinks=(0.8,))


for link in (lambda z: np.maximum(z - 0.8, 0), lambda z: np.where(z > 0.8, 1.0, 0.0)):
    for size in (1e-8, 1e8):
        case(
            f"size {size}", sized(link, size), [(10, 100, 10.0)], Ridge(link, kinks=(0.8,)), RIDGE, known=1e-10,
            other_known=1e-10, times=size**2,
        )  # fmt: skip


@pytest.mark.parametrize(("laws", "routes", "bounds", "times", "d", "n", "w"), CASES)
def test_two_ways_to_a_loss_agree(
    laws: tuple[Law, Law], routes: Any, bounds: tuple[float, float], times: float, d: int, n: float, w: Any
) -> None:
    one, other = (
        loss_terms(Problem(d=d, n=n, law=law), w, route=route) for law, route in zip(laws, routes, strict=True)
    )
    bias, error = times * other.bias, times * other.bias_error
    assert np.all(np.abs(one.bias - bias) <= one.bias_error + error)
    assert np.all(np.abs(one.noise - other.noise) <= one.noise_error + other.noise_error)
    assert np.all(one.bias_error <= bounds[0] * one.bias)
    if bounds[1] < math.inf:
        assert np.all(error <= bounds[1] * bias)
        assert np.all(other.noise_error <= 1e-10 * other.noise)
        assert np.all(other.total_error <= bounds[1] * other.total)
