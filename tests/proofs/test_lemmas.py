"""Every lemma compared with the exact method, forty digits and sampling, over its range; none shares code with it."""

from __future__ import annotations

import math
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lipverify as lv
from lipverify.errors import OutOfReach
from lipverify.laws import RBF, Affine, Cosine, Law, Matern, Quadratic, ReLU, Ridge, Zonal
from lipverify.proofs import Kinked, Pieces, Powers, prove_envelope
from lipverify.proofs.envelope import Envelope  # internal: the record that prove_envelope returns
from tests.strategies import target

LAWS: dict[str, Law] = {
    "affine": Affine(),
    "quadratic": Quadratic(),
    "relu": ReLU(),
    "cosine": Cosine(L=2.0),
    "zonal": Zonal(spectrum=(0.0, 1.0, 0.5, 0.0, 0.25)),
    "kinked": Ridge(Kinked(0.1, 1.0), kinks=(0.0,)),
    "link": Ridge(Powers((0.0, 1.0, 2.0, 1.0))),
    "powers": Zonal(Powers((1.0, 1.0, 0.5))),
    "rbf": RBF(length=1.0),
    "kinks": Ridge(Pieces((-0.25, 0.5), ((0.5,), (1.0, 2.0), (2.5, -1.0))), kinks=(-0.25, 0.5)),
    "jumps": Ridge(Pieces((0.25,), ((0.0, 1.0), (-1.0, 0.5))), jumps=(0.25,)),
    "matern-0.5": Matern(nu=0.5),
    "matern-1.5": Matern(nu=1.5, length=2.0),
    "matern-2.5": Matern(nu=2.5, variance=3.0),
}
ROUNDING = 1e-9
"""The exact method's own relative error is at most 1e-9 here; the envelopes hold for the true values."""
KERNELS = ("powers", "rbf")
SLOWER = {"rbf": 1, "relu": 8, "kinked": 8, "kinks": 16, "jumps": 64, "matern-0.5": 4, "matern-1.5": 4, "matern-2.5": 4}
"""The factor by which the least w is larger where a lower bound has to be positive."""
dimensions = st.integers(2, 20)
decades = st.floats(0, 6)


@cache
def envelope(law: str, d: int, least_w: float, least_tokens: float) -> Envelope:
    return prove_envelope(LAWS[law], d, least_w=least_w, least_tokens=least_tokens)


@st.composite
def envelopes(draw: st.DrawFn) -> Envelope:
    d, law = draw(dimensions), draw(st.sampled_from(sorted(LAWS)))
    start, tokens = draw(st.sampled_from((2, 10, 100))), draw(st.sampled_from((100.0, 1e3, 1e5)))
    # the smooth error of ReLU's kink falls like d / u: its lower bound is positive from a few d^2 on
    least_w = float(start * (d * d + 4 if law != "affine" else d + 4)) * SLOWER.get(law, 1)
    try:
        return envelope(law, d, least_w, tokens)
    except OutOfReach:
        assume(False)
        raise


@settings(deadline=None, max_examples=20)
@given(envelopes(), decades, decades)
def test_both_terms_lie_within_the_envelope(proved: Envelope, wider: float, more: float) -> None:
    w = proved.least_w * 10 ** (wider / 2) * (1 + 1e-12)
    n = math.ceil(proved.least_tokens * w**proved.noise_power * 10**more * (1 + 1e-12))
    assume(n <= 1e30)
    terms = lv.loss_terms(lv.Problem(d=proved.d, n=n, law=LAWS[proved.law.partition(":")[0]], sigma=1.0), w)
    near = []
    for (low, high), value, error in (
        (proved.noise(n, w), float(terms.noise), float(terms.noise_error)),
        (proved.bias(n, w), float(terms.bias), float(terms.bias_error)),
    ):
        if proved.law.partition(":")[0] in KERNELS:
            assume(error < 1e-3 * value)  # its harmonics are sums that cancel where the window is narrow
            error += ROUNDING * value
        else:
            assert error < ROUNDING * value
            error = ROUNDING * value
        assert low - error <= value <= high + error
        near += [low / value, value / high]
    target(max(near))


@settings(deadline=None, max_examples=40)
@given(dimensions, st.sampled_from((1.0, 10.0, 1e3)), decades)
def test_tilt_and_moments_at_forty_digits(d: int, start: float, wider: float) -> None:
    proved = envelope("affine", d, d * (d + 4) * start, 1e3)
    k, w = proved.stages[0], mpmath.mpf(proved.least_w) * mpmath.mpf(10) ** wider
    with mpmath.workdps(40):
        nu, a = mpmath.mpf(d) / 2 - 1, (mpmath.mpf(d) - 1) / 2

        def moment(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.gamma(nu + 1) * (2 / x) ** nu * mpmath.exp(-x) * mpmath.besseli(nu, x)

        D = w * (1 - mpmath.besseli(nu + 1, w) / mpmath.besseli(nu, w))
        limit = mpmath.gamma(nu + 1) * 2**nu / mpmath.sqrt(2 * mpmath.pi)
        Z, R = w**a * moment(w) / limit, w**-a * moment(2 * w) / moment(w) ** 2
        g = w * (D - a)
    assert k["D_low"] <= D <= k["D_high"]
    assert k["g_low"] <= g <= k["g_high"]
    assert k["Z_low"] <= Z <= k["Z_high"]
    assert k["R_low"] <= R <= k["R_high"]
    target(float(max(k["D_low"] / D, D / k["D_high"], k["R_low"] / R, R / k["R_high"])))


@settings(deadline=None, max_examples=40)
@given(st.floats(40, 1e5), decades, st.sampled_from(((0, 1, "J0"), (1, 1, "J1"), (1, 2, "J2"))), st.floats(0, 3))
def test_cut_integrals_for_every_number_of_tokens_beyond_the_least(
    least: float, wider: float, which: tuple[int, int, str], more: float
) -> None:
    power, j, name = which
    proved = envelope("affine", 3, 100.0, least)
    T = proved.constants["T_least"] * 10**wider
    n = T * 10**more
    x, step = np.linspace(0, min(T, 60.0), 200_001, retstep=True)
    exponent = -(1 - j / n) * (x - x**2 / (2 * T))
    integral = float(np.trapezoid(x**power * np.exp(exponent)) * step)
    # the trapezoidal rule is off by step^2 / 12 times the change of slope, which is about 1 over this range
    assert integral <= proved.constants[name] + step**2
    target(integral / proved.constants[name])


@pytest.mark.parametrize("d", [2, 3, 5])
def test_averages_of_deficits_by_sampling(d: int) -> None:
    """M of `scale` at the least number of tokens: at least the mean, and at most a third above it."""
    proved, rng = envelope("affine", d, 20.0, 60.0), np.random.default_rng(7)
    w = proved.least_w
    n = math.ceil(proved.least_tokens * w**proved.noise_power)
    drawn = []
    for _ in range(200):
        x = rng.standard_normal((n, d))
        h = 1 - x[:, 0] / np.linalg.norm(x, axis=1)
        a = np.exp(-w * h)
        drawn.append(float(a @ h / a.sum()))
    mean, error = np.mean(drawn), np.std(drawn) / math.sqrt(len(drawn))
    assert error < 0.02 * mean  # the power to detect a third
    assert mean - 4 * error <= proved.constants["M"] / w <= 4 / 3 * (mean + 4 * error)


def links(law: str, d: int, z: np.ndarray) -> list[np.ndarray]:
    """The link functions of a law at <q, x>, d = 2 or 3, each with an independent amplitude of size 1."""
    # E_q P_l(<q, x>) P_l(<q, x'>) is P_l(<x, x'>) over the number of harmonics
    first, second = z, 2 * z**2 - 1 if d == 2 else (3 * z**2 - 1) / 2
    fourth = 8 * z**4 - 8 * z**2 + 1 if d == 2 else (35 * z**4 - 30 * z**2 + 3) / 8
    harmonics = zip((first, second, fourth), (2, 2, 2) if d == 2 else (3, 5, 9), (1.0, 0.5, 0.25), strict=True)
    return {
        "affine": [z / math.sqrt(3)],
        "quadratic": [z**2],
        "cosine": [np.cos(2 * z)],
        "relu": [np.maximum(z, 0) / math.sqrt(3), np.maximum(-z, 0) / math.sqrt(3)],
        "zonal": [math.sqrt(k * count) * P for P, count, k in harmonics],
        "kinked": [0.55 * z + 0.45 * np.abs(z)],
        "link": [z + 2 * z**2 + z**3],
        # t + t^2 / 2 by its harmonics: t^2 = (1 + (d - 1) P_2) / d
        "powers": [math.sqrt(d) * first, math.sqrt((2, 5)[d - 2] * (d - 1) / d / 2) * second],
    }[law]


SAMPLED = sorted(set(LAWS) - set(SLOWER) | {"relu", "kinked"})


@cache
def sampled(d: int, n: int, w: float) -> tuple[list[float], dict[str, list[float]]]:
    """Noise, and bias by law, of the same 1000 contexts, or 400 of many tokens."""
    rng = np.random.default_rng(11)
    noise: list[float] = []
    bias: dict[str, list[float]] = {law: [] for law in SAMPLED}
    for _ in range(1000 if d == 2 else 400):
        points, q = rng.standard_normal((n + 1, d)), rng.standard_normal(d)
        points /= np.linalg.norm(points, axis=1)[:, None]
        a = np.exp(w * (points[1:] @ points[0] - 1))
        a /= a.sum()
        noise.append(float(a @ a))
        z = points @ q / np.linalg.norm(q)
        for law, drawn in bias.items():
            drawn.append(sum(float(a @ f[1:] - f[0]) ** 2 for f in links(law, d, z)))
    return noise, bias


@pytest.mark.parametrize("law", SAMPLED)
@pytest.mark.parametrize("d", [2, 3])
def test_both_terms_by_sampling_whole_contexts(law: str, d: int) -> None:
    """At the least w and n the means over contexts lie within the envelope; a factor of 2 would be detected."""
    proved = envelope(law, d, 60.0, 60.0)
    w, n = proved.least_w, math.ceil(proved.least_tokens * proved.least_w**proved.noise_power)
    noise, bias = sampled(d, n, w)
    for (low, high), drawn in ((proved.noise(n, w), noise), (proved.bias(n, w), bias[law])):
        mean, error = np.mean(drawn), np.std(drawn) / math.sqrt(len(drawn))
        assert error < 0.1 * mean
        assert low - 4 * error <= mean <= high + 4 * error


def kink_by_quadrature(d: int, w: float) -> tuple[float, float]:
    """(w^{3/4} |G|, w^{3/2} E |z| G): tokens by Gauss-Laguerre nodes and midpoints in the direction, z by midpoints."""
    from scipy.special import roots_genlaguerre

    a = (d - 1) / 2
    s, weight = roots_genlaguerre(60, a - 1)
    h = s / w
    weight = np.where(h < 2, weight * np.maximum(1 - h / 2, 0) ** (a - 1), 0)
    weight /= weight.sum()
    angles = (np.arange(4000) + 0.5) * np.pi / 4000  # r = cos(angle) on the sphere of R^{d-1}
    spread = np.sin(angles) ** (d - 3)
    spread /= spread.sum()
    z = (np.arange(1000 if d == 2 else 400) + 0.5) / 400 * min(1.0, 9 / math.sqrt(w))
    density = math.gamma(d / 2) / (math.sqrt(math.pi) * math.gamma(a)) * (1 - z**2) ** (a - 1)
    G = np.zeros_like(z)
    for i, each in enumerate(z):
        along = np.sqrt((1 - each**2) * h * (2 - h))[:, None] * np.cos(angles)[None, :] - (each * (1 - h))[:, None]
        G[i] = 2 * weight @ (np.maximum(along, 0) @ spread)
    step = float(z[1] - z[0])
    return (math.sqrt(2 * float(density @ G**2) * step) * w**0.75, 2 * float(density @ (z * G)) * step * w**1.5)


@pytest.mark.parametrize("d", [3, 4, 5, 8])
def test_the_kink_by_quadrature(d: int) -> None:
    proved = envelope("relu", d, 50.0 * d, 1e3)
    k = proved.stages[0]
    for w in (proved.least_w, 4 * proved.least_w):
        size, mean = kink_by_quadrature(d, w)
        # midpoints: 400 in z and 4000 in the direction leave less than 1e-4
        assert k["G_low"] * (1 - 1e-4) <= size <= k["G_high"] * (1 + 1e-4)
        assert mean <= k["G_mean"] * (1 + 1e-4)
        assert k["G_high"] < 1.3 * k["G_low"]
        assert k["G_mean"] < 3 * mean  # by the norms of its corrections, which are negligible in the bias
