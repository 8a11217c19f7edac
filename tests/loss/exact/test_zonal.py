"""The second exact route: its spectra compared with closed forms, and its terms with the first route."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import eval_gegenbauer, hyp0f1

from lipverify import LossTerms, Problem, loss_terms, optimal_window
from lipverify.errors import OutOfReach
from lipverify.foundation.harmonics import dimension  # internal: the number of harmonics, compared with counting
from lipverify.laws import Affine, Cosine, Law, Matern, Quadratic, ReLU, Ridge, Zonal
from lipverify.loss.exact import deficits, spectrum_of
from lipverify.loss.exact.zonal import sums, terms  # internal: series of kernels; how many harmonics a refusal computes
from lipverify.loss.exact.zonal.projection import of_links  # internal: a spectrum that has a closed form, projected
from lipverify.problem.fine import sighted  # internal: a hidden feature must stay hidden
from tests.strategies import lengths, log_floats, target

EPS = float(np.finfo(float).eps)


def disagreement(one: LossTerms, other: LossTerms) -> float:
    noise = np.abs(one.noise - other.noise) / (one.noise_error + other.noise_error)
    bias = np.abs(one.bias - other.bias) / (one.bias_error + other.bias_error)
    return float(max(np.max(noise), np.max(bias)))


def routes(problem: Problem, w: float) -> tuple[LossTerms, LossTerms]:
    return loss_terms(problem, w, route="ridge"), loss_terms(problem, w, route="zonal")


@pytest.mark.parametrize("d", [2, 3, 5, 50])
def test_deficits_are_one_minus_gegenbauer_polynomials(d: int) -> None:
    near = np.array([1e-9, 1e-3, 0.5, 1.0, 1.7, 2.0])
    for degree, deficit in enumerate(islice(deficits(d, near), 12), 1):
        if d == 2:
            theta = 2 * np.arcsin(np.sqrt(near / 2))
            expected = 2 * np.sin(degree * theta / 2) ** 2
        else:
            a = (d - 2) / 2
            expected = 1 - eval_gegenbauer(degree, a, 1 - near) / eval_gegenbauer(degree, a, 1.0)
        # what the subtraction leaves of polynomials that are at most one in absolute value
        assert deficit == pytest.approx(expected, rel=0, abs=4 * degree * EPS)
        # next to the pole 1 - P_l = l (l + d - 2) / (d - 1) near, up to l^2 near; a subtraction leaves seven digits
        at_pole = degree * (degree + d - 2) / (d - 1) * near[0]
        assert deficit[0] == pytest.approx(at_pole, rel=degree**2 * near[0] + EPS)


def test_deficits_keep_their_digits_at_high_degrees() -> None:
    theta = np.array([1e-4, 1e-2, 0.5, 2.0, 3.1])
    degree = 20_000
    deficit = next(islice(deficits(2, 2 * np.sin(theta / 2) ** 2), degree - 1, None))
    # the angle itself is rounded, and its sine is as steep as the degree
    assert deficit == pytest.approx(2 * np.sin(degree * theta / 2) ** 2, rel=0, abs=4 * degree * EPS)


def test_harmonics_are_counted() -> None:
    for d in (2, 3, 4, 9):
        for degree in range(1, 20):
            count = math.comb(degree + d - 1, degree) - (math.comb(degree + d - 3, degree - 2) if degree > 1 else 0)
            assert dimension(d, degree) == count


@pytest.mark.parametrize("d", [2, 3, 8])
def test_spectra_sum_to_the_covariance(d: int) -> None:
    theta = np.array([0.0, 0.3, 1.2, 2.0, math.pi])
    t = np.cos(theta)
    relu = (np.sin(theta) + (np.pi - theta) * t) / (3 * np.pi * d)

    def cosine(x: np.ndarray) -> np.ndarray:
        return (hyp0f1(d / 2, -9 * (1 - x) / 2) + hyp0f1(d / 2, -9 * (1 + x) / 2)) / 2

    for law, kernel in ((Affine(), t / (3 * d)), (ReLU(), relu), (Cosine(L=3.0), cosine(t))):
        spectrum = spectrum_of(law, d, 400)
        increments = sum(k * deficit for k, deficit in zip(spectrum.k, deficits(d, 1 - t), strict=False))
        slack = spectrum.error.sum() * 2 + 2 * spectrum.tail + spectrum.tail_error + 64 * EPS * abs(kernel[0])
        assert np.all(np.abs(kernel[0] - kernel - increments) <= slack)
        assert 2 * spectrum.tail < 1e-5 * kernel[0]


@pytest.mark.parametrize("law", [Affine(), ReLU(), Cosine(L=3.0), Quadratic()], ids=lambda law: law.name)
@pytest.mark.parametrize("d", [2, 3, 6])
def test_closed_forms_agree_with_projection(law: Affine, d: int) -> None:
    known, projected = spectrum_of(law, d, 12), of_links(law, d, 12)
    size = min(known.k.size, projected.k.size)
    assert size >= 1
    assert np.all(np.abs(known.k[:size] - projected.k[:size]) <= known.error[:size] + projected.error[:size])
    assert known.total == pytest.approx(projected.total, rel=16 * EPS)


@pytest.mark.parametrize(
    ("d", "w", "at", "route", "most"),
    [
        (2, 5.0, 0.5, "zonal", 0.01),
        (3, 5.0, 0.5, "zonal", 0.01),
        pytest.param(5, 20.0, 0.0, None, math.inf, marks=pytest.mark.slow),
    ],
)
def test_a_kink_that_is_not_declared_shows_in_the_error(d: int, w: float, at: float, route: Any, most: float) -> None:
    """Neither harmonics nor the table of a smooth link follow a kink that is too weak to be found."""

    def link(z: Any) -> Any:
        return np.exp(np.asarray(z, dtype=float)) + np.abs(np.asarray(z, dtype=float) - at) / 500  # no formula

    hidden, declared = Ridge(link), Ridge(link, kinks=(at,))
    assert sighted(hidden) == hidden
    terms = loss_terms(Problem(d=d, n=1e6, law=hidden), w, route=route)
    known = loss_terms(Problem(d=d, n=1e6, law=declared), w, route="ridge")
    assert disagreement(known, terms) <= 1
    assert (1e-6 if route is None else 1e-9) * terms.bias < terms.bias_error < most * terms.bias


@pytest.mark.parametrize("law", [Affine(L=0.0), Cosine(L=0.0), Zonal(spectrum=(2.0,)), Ridge(lambda z: 0 * z + 2)])
def test_constant_functions_have_no_bias(law: Law) -> None:
    terms = loss_terms(Problem(d=3, n=10, law=law), [0.0, 2.0], route="zonal")
    assert np.all(np.abs(terms.bias) <= terms.bias_error)
    assert np.all(terms.bias_error < 1e-25)
    assert abs(terms.noise[0] - 0.1) <= terms.noise_error[0]


@pytest.mark.parametrize(("n", "w"), [(1, 7.0), (5, 0.0), (5, 5e-324), (5, 1e-15), (1e30, 1e-300)])
def test_equal_weights(n: float, w: float) -> None:
    terms = loss_terms(Problem(d=3, n=n, law=ReLU(L=3.0), sigma=2.0), w, route="zonal")
    # v (E z_+^2 + E z_-^2 - 2 (E z_+)^2), with v = L^2 / 3 and z uniform on [-1, 1]
    variance = 3 * (1 / 3 - 2 / 16)
    assert abs(terms.noise - 4 / n) <= terms.noise_error
    assert abs(terms.bias - (1 + 1 / n) * variance) <= terms.bias_error + 4 * w
    assert terms.total_error <= 1e-12 * terms.total


@settings(max_examples=12)
@given(d=st.integers(2, 30), n=lengths(), w=log_floats(1e-3, 3e3), L=log_floats(0.1, 20))
def test_the_two_routes_agree_everywhere(d: int, n: float, w: float, L: float) -> None:
    tokens = n / w ** ((d - 1) / 2)
    assume(tokens > 10 or w < 30)
    for law in (Affine(), Cosine(L=L), *([ReLU()] if tokens > 1000 and n >= 1e4 else [])):
        ratio = disagreement(*routes(Problem(d=d, n=n, law=law), w))
        target(ratio, label=law.name)
        assert ratio <= 1


def test_a_law_known_by_its_covariance_has_an_optimal_window() -> None:
    zonal = optimal_window(Problem(d=3, n=1e5, law=Zonal(spectrum=(0.0, 1 / 9))))
    ridge = optimal_window(Problem(d=3, n=1e5, law=Affine()))
    assert abs(zonal.w - ridge.w) <= zonal.w_error + ridge.w_error
    assert ridge.w_error <= 1e-8 * ridge.w


def test_a_spectrum_off_by_1e_9_is_seen() -> None:
    """The control: the agreement above has the power to fail."""
    d = 5
    right, wrong = (1 / (3 * d) * factor for factor in (1.0, 1 + 1e-9))
    terms = loss_terms(Problem(d=d, n=1e4, law=Affine()), 20.0, route="ridge")
    good, bad = (loss_terms(Problem(d=d, n=1e4, law=Zonal(spectrum=(0.0, k))), 20.0) for k in (right, wrong))
    assert disagreement(terms, good) <= 1 < disagreement(terms, bad)


@pytest.mark.parametrize("law", [Matern(nu=0.5), Ridge(lambda z: np.abs(z - 0.3), kinks=(0.3,))])
def test_work_of_minutes_is_refused_without_the_whole_spectrum(law: Law, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty thousand harmonics were once computed to refuse a sum over them, fifteen seconds' work."""
    counts: list[int] = []

    def counted(law: Law, d: int, most: int) -> Any:
        counts.append(most)
        return spectrum_of(law, d, most)

    monkeypatch.setattr(terms, "spectrum_of", counted)
    for measure in (terms.counts_of, lambda problem, w: terms.zonal_terms(problem, np.array([w]))):
        with pytest.raises(OutOfReach, match="minutes of work"):
            measure(Problem(d=3, n=4, law=law), 3000.0)
    assert max(counts) < 1000


@pytest.mark.parametrize(("d", "w"), [(2, 0.3), (3, 40.0), (10, 3e3)])
def test_kernels_by_series_are_those_at_single_points(d: int, w: float) -> None:
    """Where lambda <= 1, many points share powers of g; one point has exponentials."""
    u = np.linspace(-30.0, 0.0, 60)[None]
    rule = sums.nodes(d, w, np.array([sums.SHARED_BELOW]))
    values = np.ascontiguousarray(rule.near[..., rule.live])
    singles = [sums._kernels(rule, u[:, i : i + 1]) for i in range(u.size)]
    for together, alone in zip(sums._kernels(rule, u), zip(*singles, strict=True), strict=True):
        expected = np.concatenate([kernel.of(values) for kernel in alone], axis=-1)
        assert np.max(np.abs(together.of(values) / expected - 1)) <= 2e-14
    phi = np.concatenate([sums.log_phi(rule, u[:, i : i + 1]) for i in range(u.size)], axis=-1)
    assert np.max(np.abs(sums.log_phi(rule, u) / phi - 1)) <= 2e-14
