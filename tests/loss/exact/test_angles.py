"""The bias by two densities of an angle: both compared with their definitions, and the bias with other methods."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.laws import RBF, Affine, Cosine, Law, ReLU, Ridge
from lipverify.loss.exact import (
    Contexts,
    Parts,
    averaged_terms,
    length_slopes,
    parts_of,
    rough_terms,
)
from lipverify.loss.exact.context.averages import SERIES_TAIL, Averages, Points  # internal: phi at nodes of u
from lipverify.loss.exact.context.between import FINE, Between, pair_density  # internal: the density itself
from lipverify.loss.exact.context.contexts import powers  # internal: the weights of a density
from lipverify.loss.exact.context.others import counted  # internal: what other tokens do to two
from lipverify.loss.exact.context.short import (  # internal: the density by short sums
    Harmonics,
    Series,
    Short,
    densities_of,
    is_short,
    mean_weight,
    mean_weights,
)
from lipverify.loss.exact.ridge.angles import bias_by_angles  # internal: one method of several, on its own
from lipverify.loss.exact.ridge.task import TaskAverages, linear_averages, square_averages  # internal: closed forms
from lipverify.loss.exact.variograms.pieces import Source  # internal: where a variogram's values come from
from lipverify.loss.exact.variograms.table import tabulated  # internal: a variogram without a law
from tests.strategies import log_floats, target

KNOWN = 1e-10
PLACES = [
    (2, 2, 0.5),
    (2, 1000, 1e5),
    (3, 3, 40.0),
    (3, 10**9, 10.0),
    (5, 30, 1e4),
    (10, 100, 0.1),
    (15, 470_000, 3.5e4),
    (40, 10**6, 60.0),
]


def smooth(d: int, square: bool) -> Source:
    """The variogram of a link z or z^2, for a `tabulated` one."""
    if square:
        return Source(d, lambda theta, order: 4 / (d * (d + 2)) * np.sin(theta) ** 2)
    return Source(d, lambda theta, order: 4 / d * np.sin(theta / 2) ** 2)


def by_angles(d: int, square: bool, power: int) -> Parts:
    """The link, given only by a variogram: one that goes as theta^2 (its linear part apart), or as if it had jumps."""
    table = tabulated(smooth(d, square), power, [0.0, math.pi])
    known = 1e-12 + table.gap / table.largest
    return (
        TaskAverages(
            table.variance,
            lambda nodes: table(nodes.angle),
            relative_error=known,
            bias=lambda rules: bias_by_angles(table, rules),
        ),
    )


@settings(max_examples=15, deadline=None)
@given(
    d=st.sampled_from([2, 3, 4, 7, 15, 60]),
    n=log_floats(2, 1e12),
    w=log_floats(1e-3, 1e5),
    square=st.booleans(),
    power=st.sampled_from([1, 2]),
)
def test_links_that_need_no_angle_between_tokens(d: int, n: float, w: float, square: bool, power: int) -> None:
    """With power 1 no part is separated: then the densities give the whole bias, as a small difference."""
    exact = (square_averages(d) if square else linear_averages(d),)
    at = np.array([w])
    (one, off), (other, other_off) = (
        averaged_terms(of, d, float(round(n)), at) for of in (by_angles(d, square, power), exact)
    )
    ratio = float(abs(one.bias[0] - other.bias[0]) / (off.bias[0] + other_off.bias[0]))
    target(ratio)
    assert ratio <= 1


@pytest.mark.parametrize(("n", "w"), [(1e12, 90.0), (1e12, 200.0), (1.8e8, 90.0)])
def test_many_dimensions_count_tokens_that_are_not_the_nearest(n: float, w: float) -> None:
    """A share 1e-10 of p was once missing at d = 60: the range of psi was that of the nearest tokens."""
    exact = (linear_averages(60),)
    (one, off), (other, other_off) = (
        averaged_terms(of, 60, n, np.array([w])) for of in (by_angles(60, False, 1), exact)
    )
    assert abs(one.bias[0] - other.bias[0]) <= off.bias[0] + other_off.bias[0] <= 1e-10 * other.bias[0]


@pytest.mark.parametrize(("d", "n", "w"), PLACES)
def test_both_weights_of_pairs_are_one_less_the_squares(d: int, n: int, w: float) -> None:
    """int p = E sum_{i != j} a_i a_j = 1 - E sum a_i^2, which is one minus the noise."""
    contexts = Contexts.at(d, float(n), np.array([w]))
    density = pair_density(contexts.row(0), FINE, powers)
    noise = loss_terms(Problem(d=d, n=n, sigma=1.0, law=ReLU()), w).noise
    x, gauss = np.polynomial.legendre.leggauss(40)
    edges = np.unique(np.concatenate([density.edges, np.linspace(density.edges[0], density.edges[-1], 30)]))
    gamma = edges[:-1, None] + np.diff(edges)[:, None] * (x + 1) / 2
    area = math.sqrt(math.pi) * math.gamma((d - 1) / 2) / math.gamma(d / 2)
    total = np.sum(np.diff(edges)[:, None] / 2 * gauss * density(gamma)[0] * np.sin(gamma) ** (d - 2)) / area
    assert total == pytest.approx(1 - float(noise), rel=3e-11)


def short_density(d: int, n: float, w: float) -> Short | None:
    """The density at one w without a table, if a series or a sum over harmonics is short."""
    contexts, order = Contexts.at(d, n, np.array([w])), 40
    u, weight = contexts.nodes(order)
    phi = np.reshape(Averages(Points.grid(d, contexts.w, u), order).log_phi(), u.shape)
    single, double = (weight * factor for factor in powers(n, phi))
    return next(iter(densities_of(contexts, u, (single, double), order, is_short(contexts, False))), None)


@pytest.mark.parametrize(
    ("d", "n", "w", "kind"),
    [(3, 1e9, 5e6, Series), (2, 1e3, 10.0, Series), (3, 30.0, 3.0, Harmonics), (60, 1e9, 5.0, Harmonics)],
)
def test_windows_of_many_tokens_go_by_a_series(d: int, n: float, w: float, kind: type) -> None:
    """A hundred tokens are many; ten go by harmonics, and so do more than forty dimensions."""
    assert isinstance(short_density(d, n, w), kind)


@pytest.mark.parametrize("d", [2, 3, *(pytest.param(d, marks=pytest.mark.slow) for d in (4, 9)), 20])
@pytest.mark.parametrize("least", [1e-12, 2.0, 300.0, 1e7])
def test_mean_weights_against_mpmath(d: int, least: float) -> None:
    """E e^{-z (1 - t)} = e^{-z} I_{d/2-1}(z) Gamma(d/2) (2/z)^{d/2-1}, beyond z = 1e9 too, where SciPy's is NaN."""
    table = mean_weights(d, least)
    for z in (1e-7, 0.3, 7.0, 400.0, 1e5, 3e8, 1e12):
        with mpmath.workdps(40):
            at, nu = mpmath.mpf(z), mpmath.mpf(d) / 2 - 1
            exact = mpmath.gamma(nu + 1) * (2 / at) ** nu * mpmath.besseli(nu, at) * mpmath.exp(-at)
        assert mean_weight(d, np.array([z]))[0] == pytest.approx(float(exact), rel=4e-14)
        if z >= least:
            assert table(np.array([z]))[0] == pytest.approx(float(exact), rel=4e-14)


@settings(max_examples=40, deadline=None)
@given(d=st.sampled_from([2, 3, 4, 7, 20]), n=log_floats(2, 1e12), w=log_floats(1e-2, 1e5))
def test_short_sums_agree_with_the_table(d: int, n: float, w: float) -> None:
    """Both densities of the angle, weighted as in a bias: by means over the query at an angle, and by short sums."""
    n = float(round(n))
    contexts, density = Contexts.at(d, n, np.array([w])), short_density(d, n, w)
    if density is None:
        return
    table = pair_density(contexts.row(0), FINE, powers)
    gamma = np.linspace(table.edges[0], table.edges[-1], 402)[1:-1]
    (one, off), (other, other_off) = density(gamma), table(gamma)
    weight = gamma**2 * np.sin(gamma) ** (d - 2)
    ratio = float(weight @ np.abs(one - other)[0] / (weight @ (one * off + other * (other_off + 2e-13))[0]))
    target(ratio)
    assert ratio <= 1


@pytest.mark.parametrize(
    ("d", "n", "w"), [(3, 1e6, 1e5), (5, 1e9, 1e5), (7, 1e6, 1e6), (10, 1e9, 300.0), (10, 1e9, 1e5)]
)
def test_a_table_of_means_gives_the_density_of_a_rule_for_every_pair(d: int, n: float, w: float) -> None:
    """Where windows are narrow: with order 28 in place of 18, the rule alone would be as exact as the table."""
    effect = counted(2, Contexts.at(d, n, np.array([w])).row(0), powers)
    by_table, by_rule = Between(effect, 18, True), Between(effect, 28, False)
    assert by_table._by_table != by_table._over_phi  # else there is no table here
    gamma = np.geomspace(0.1, 8.0, 40) / math.sqrt(w) * max(1.0, math.sqrt(2 * effect.mode) / 4)
    gamma = gamma[gamma < 2]
    table, rule = (between(gamma)[0] * np.sin(gamma) ** (d - 1) for between in (by_table, by_rule))
    assert np.max(np.abs(table - rule)) <= 1e-12 * np.max(rule)
    assert np.ptp(rule) > 0.9 * np.max(rule)  # both sides of the peak are seen


@pytest.mark.parametrize("d", [2, 3, *(pytest.param(d, marks=pytest.mark.slow) for d in (4, 9)), 30])
@pytest.mark.parametrize("w", [0.3, 20.0, 3e3])
def test_two_tokens_against_mpmath(d: int, w: float) -> None:
    """With n = 2, p is the density of an angle times E 2 a_1 a_2 = E (1 / cosh z)^2 / 2, z = w b sin(gamma/2)."""
    contexts = Contexts.at(d, 2.0, np.array([w]))
    density = pair_density(contexts.row(0), FINE, powers)
    for gamma in (0.003, 0.2, 1.3, 2.9):
        if gamma < density.edges[0]:
            continue
        with mpmath.workdps(25):
            lever = w * mpmath.sin(mpmath.mpf(gamma) / 2)
            scale = min(float(1 / lever), 1.0)
            splits = [0, *(x for x in (scale, 4 * scale, 16 * scale) if x < 1.5), mpmath.pi / 2]
            norm = mpmath.beta(mpmath.mpf(1) / 2, mpmath.mpf(d - 1) / 2) / 2
            mean = mpmath.quad(
                lambda psi, lever=lever: mpmath.cos(psi) ** (d - 2) / mpmath.cosh(lever * mpmath.sin(psi)) ** 2, splits
            )
            exact = float(mean / norm / 2)
        assert density(np.array([gamma]))[0][0] == pytest.approx(exact, rel=KNOWN)


@pytest.mark.parametrize(
    "law",
    [RBF(), Ridge(lambda z: abs(z + 0.5) + abs(z - 0.6), kinks=(-0.5, 0.6)), ReLU(L=3.0), Affine(), Cosine(L=5.0)],
)
@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.slow), 50])
def test_rough_values_are_good_to_four_digits(d: int, law: Law) -> None:
    """The search for w* uses them; where one panel covered the whole angle they were once wrong by 6e-4."""
    w = np.geomspace(0.1, 1e5, 9)
    for n in (30, 10**6):
        problem = Problem(d=d, n=n, law=law)
        noise, bias = rough_terms(problem, w)
        exact = loss_terms(problem, w)
        assert np.max(np.abs(bias / exact.bias - 1)) <= 3e-5
        assert np.max(np.abs(noise / exact.noise - 1)) <= 3e-5


@pytest.mark.parametrize("d", [2, 5])
def test_rough_values_by_harmonics_are_good_to_four_digits(d: int) -> None:
    """The search for w* uses them where a cosine turns too often for the tables of the other route."""
    w = np.geomspace(0.1, 1e3, 4)
    for n in (10**4, 10**12):
        problem = Problem(d=d, n=n, law=Cosine(L=150.0), sigma=100.0)
        noise, bias = rough_terms(problem, w, route="zonal")
        exact = loss_terms(problem, w, route="zonal")
        assert np.max(np.abs(bias / exact.bias - 1)) <= 3e-5
        assert np.max(np.abs(noise / exact.noise - 1)) <= 3e-5


def test_rough_values_do_not_depend_on_the_problems_before() -> None:
    """Averages at the same w serve every n, L and sigma, and the first few of the w are enough."""
    w = np.geomspace(0.1, 1e5, 9)
    for n, L, sigma in ((10**9, 2.0, 0.1), (10**3, 1.0, 1.0), (30, 0.5, 3.0)):
        problem = Problem(d=3, n=n, law=ReLU(L=L), sigma=sigma)
        for count in (4, 9):
            exact = loss_terms(problem, w[:count])
            for rough, value in zip(rough_terms(problem, w, count), (exact.noise, exact.bias), strict=True):
                assert np.max(np.abs(rough / value - 1)) <= 3e-5


@pytest.mark.parametrize(
    "law",
    [
        Ridge(np.sign, jumps=(0.0,)),
        pytest.param(Ridge(lambda z: np.abs(z + 0.3) + np.abs(z - 0.6), kinks=(-0.3, 0.6)), marks=pytest.mark.slow),
    ],
)
def test_few_tokens_by_both_routes(law: Law) -> None:
    """By the table of the density and by harmonics, which share nothing; harmonics lose digits there."""
    problem, w = Problem(d=10, n=30, law=law), 30.0
    contexts = Contexts.at(problem.d, 30.0, np.array([w]))
    assert contexts.high[0] > SERIES_TAIL
    assert not is_short(contexts, True).any()
    one, other = (loss_terms(problem, w, route=route) for route in ("ridge", "zonal"))
    assert abs(one.bias - other.bias) <= 1e-9 * one.bias
    assert one.bias_error <= KNOWN * one.bias


@pytest.mark.parametrize("law", [Ridge(lambda z: abs(z - 0.2), kinks=(0.2,)), ReLU(), Ridge(np.sign, jumps=(0.0,))])
@pytest.mark.parametrize(("d", "n", "w"), [(3, 30.0, 5.0), (3, 30.0, 1e4), (10, 1000.0, 60.0), (2, 1e9, 300.0)])
def test_slopes_in_n_are_those_of_differences(law: Law, d: int, n: float, w: float) -> None:
    """By each way to the cross terms; those of pairs with a negative weight were left out, a third of the slope."""
    problem, parts, windows, step = Problem(d=d, n=n, law=law), parts_of(law, d), np.array([w]), 3e-4
    before, here, after = (averaged_terms(parts, d, n * math.exp(k * step), windows)[0] for k in (-1, 0, 1))
    slopes, terms = length_slopes(problem, windows), loss_terms(problem, windows)
    for name, slope in zip(("noise", "bias"), slopes, strict=True):
        rise = float(getattr(after, name)[0] - getattr(before, name)[0]) / (2 * step * float(getattr(here, name)[0]))
        assert float(slope[0] / getattr(terms, name)[0]) == pytest.approx(rise, rel=1e-5, abs=1e-7)
