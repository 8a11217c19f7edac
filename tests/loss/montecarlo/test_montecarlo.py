"""Sampling: closed forms, addresses, other array libraries, and agreement with the exact method."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any, ClassVar

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.covariates import Covariates, Ellipsoid, MappedNormals, ProductOfSpheres, Sphere, axes
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation import generator, normals, uniforms
from lipverify.foundation.means.betting import Tally  # internal: which interval was taken
from lipverify.foundation.means.checked import CheckedTally  # internal: the default kind of interval
from lipverify.foundation.means.samples import ROUNDING  # internal: the rounding that a bounded sample may have
from lipverify.foundation.sphere import on_sphere  # internal: points on the sphere, as samplers draw them
from lipverify.foundation.streams import standard_normals  # internal: normals from the smallest and the largest bits
from lipverify.laws import (
    RBF,
    Affine,
    Cosine,
    Law,
    Linear,
    LowRank,
    Matern,
    Quadratic,
    ReLU,
    Ridge,
    Sampled,
    Sum,
    Zonal,
    mixture,
)
from lipverify.loss.montecarlo.accuracy import tally_of, until  # internal: counts, not an error, decide
from lipverify.loss.montecarlo.fields import Fields  # internal: values of a field at points of the test's own
from lipverify.loss.montecarlo.full import Full  # internal: samples one by one, which the mean does not show
from lipverify.loss.montecarlo.reduced import QUERIES, Reduced, projected  # internal: sample by sample
from lipverify.loss.montecarlo.samples import softmax_bounds  # internal: the bounds that each sample has to obey
from lipverify.loss.montecarlo.terms import (  # internal: sample by sample
    DEFAULT_CONTEXTS,
    INTERVALS,
    SAMPLINGS,
    sampler,
)

# internal: sums over a grid of w against sums at each w
from lipverify.loss.montecarlo.windows import LOST_BITS, Workspace, grid_of, merged, softmax_sums
from lipverify.optimum.window import empirical_window
from lipverify.problem.law import summands  # internal: the parts of a sum of laws
from tests.strategies import laws, log_floats, target

EXAMPLES = 12


def seed_of(*parameters: object) -> int:
    """A seed that is a function of the parameters, so that a search cannot find an unlucky one."""
    return int.from_bytes(blake2b("/".join(map(str, parameters)).encode(), digest_size=4).digest(), "little")


@settings(max_examples=EXAMPLES)
@given(
    d=st.integers(2, 8),
    n=st.integers(2, 60),
    law=st.one_of(laws(), log_floats(0.1, 6.0).map(Cosine), log_floats(0.1, 10.0).map(Quadratic), st.just(Linear(2.0))),
    w=log_floats(0.05, 10.0),
    sampling=st.sampled_from(SAMPLINGS),
)
def test_sampled_and_exact_terms_agree(d: int, n: int, law: Law, w: float, sampling: str) -> None:
    """False alarms: 0.001 in all, shared by the examples and the two terms; each interval is taken at its level."""
    problem = Problem(d=d, n=n, law=law)
    drawn = sampler(problem, np.array([w]), sampling=sampling, seed=seed_of(d, n, law, w), stream="agree")
    tally = tally_of(drawn, 4000)
    value, half_width = tally.interval(level=1 - 0.001 / (2 * EXAMPLES))
    exact = loss_terms(problem, w)
    truth = np.array([float(exact.noise) / problem.sigma**2, float(exact.bias) / drawn.unit])
    assert np.all(half_width < 0.6 * value), "too blunt to see anything"
    assert np.all(np.abs(value - truth) <= half_width)


@pytest.mark.parametrize("law", [Affine(), ReLU(), Ridge(np.tanh)])
def test_reduced_and_full_sampling_agree_where_they_share_no_draw(law: Law) -> None:
    """Three laws, three windows, two terms, at 1e-4 each: 0.002 false alarms, once and for all."""
    problem, w = Problem(d=6, n=40, law=law), np.array([0.5, 4.0, 32.0])
    reduced, full = (sampler(problem, w, sampling=sampling, stream=sampling) for sampling in SAMPLINGS)
    (one, one_width), (other, other_width) = (tally_of(s, 8000).interval(level=1 - 1e-4) for s in (reduced, full))
    units = np.repeat([1.0, reduced.unit / full.unit], 3)
    assert np.all(one_width < 0.2 * one)
    assert np.all(np.abs(units * one - other) <= units * one_width + other_width)


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_tokens_have_closed_forms(n: int) -> None:
    """One token: noise sigma^2, bias the variance of f(x_1) - f(x). Two at w = 0: halves and (1 + 1/2) L^2 / 3d."""
    d, L, sigma = 3, 2.0, 0.5
    terms = loss_terms(Problem(d=d, n=n, law=Affine(L=L), sigma=sigma), [0.0], "montecarlo", contexts=20_000)
    assert terms.noise[0] == pytest.approx(sigma**2 / n, rel=1e-14)
    assert terms.noise_error[0] < 1e-13 * sigma**2
    truth = L**2 / (3 * d) * (1 + 1 / n)
    assert terms.bias_error[0] < 0.05 * truth
    assert abs(terms.bias[0] - truth) <= terms.bias_error[0]


@given(
    n=st.integers(1, 40),
    d=st.integers(2, 6),
    w=log_floats(1e-9, 1e4),
    law=laws(),
    stream=st.integers(0, 100).map(str),
    sampling=st.sampled_from(SAMPLINGS),
)
def test_samples_lie_within_their_bounds(n: int, d: int, w: float, law: Law, stream: str, sampling: str) -> None:
    drawn = sampler(Problem(d=d, n=n, law=law), np.array([w]), sampling=sampling, stream=stream)
    samples = drawn.chunk(0)[:50]
    low, high = drawn.bounds()
    target(float(np.max(samples[:, 0] / high[0])))
    assert np.all(samples >= low - ROUNDING * high)
    assert np.all(samples <= high + ROUNDING * high)


def test_the_bound_of_the_noise_is_reached_by_half_the_tokens_on_either_side() -> None:
    """Tokens at t = 1 and t = -1 with n / (1 + e^{2w}) of the former: the case of equality."""
    n, w = 4, math.log(3) / 2
    a = np.array([3.0, 1.0, 1.0, 1.0]) / 6
    _, high = softmax_bounds(Problem(d=2, n=n, law=Affine()), np.array([w]), 4.0, math.inf)
    assert high[0] == pytest.approx(float(np.sum(a * a)), rel=1e-15)


def test_the_bound_of_a_bundle_of_linear_tasks_is_reached_by_one_token_on_the_circle() -> None:
    """The error of a context is 2 (1 - t), and the four queries of a bundle have t, s, -t and -s."""
    drawn = sampler(Problem(d=2, n=1, law=Affine()), np.array([3.0]), sampling="reduced")
    np.testing.assert_allclose(drawn.chunk(0)[:50, 1], drawn.bounds()[1][1], rtol=1e-12)


@pytest.mark.parametrize(("n", "w"), [(2, 1e6), (10, 1e7)])
def test_an_event_that_no_context_showed_is_within_the_error(n: int, w: float) -> None:
    """Every draw has a single nearest token, to rounding, but the mean is less than one."""
    problem = Problem(d=3, n=n, law=Affine())
    sampled = loss_terms(problem, w, "montecarlo", contexts=1000)
    assert float(sampled.noise) == 1.0
    exact = loss_terms(problem, w)
    assert float(exact.noise) < 1 - 100 * np.finfo(float).eps
    assert abs(float(sampled.noise) - float(exact.noise)) <= float(sampled.noise_error)


def test_accuracy_out_of_reach_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lipverify.loss.montecarlo.terms.MOST_DRAWS", 10**5)
    with pytest.raises(OutOfReach, match=r"after 4000 the half-width is 0\.\d+ of the value"):
        loss_terms(Problem(d=3, n=10, law=Affine()), 2.0, "montecarlo", rtol=1e-3)


def test_the_default_number_of_contexts_is_bounded() -> None:
    seen: list[int] = []
    loss_terms(Problem(d=2, n=1, law=Affine()), 1.0, "montecarlo", progress=lambda done, wanted: seen.append(wanted))
    assert set(seen) == {DEFAULT_CONTEXTS}


def test_a_chunk_is_a_function_of_its_address() -> None:
    assert np.array_equal(uniforms(1, "a", 2, (5,)), uniforms(1, "a", 2, (5,)))
    assert np.array_equal(uniforms(1, "a", 2, (5,))[:3], uniforms(1, "a", 2, (3,)))
    for other in (uniforms(2, "a", 2, (5,)), uniforms(1, "b", 2, (5,)), uniforms(1, "a", 3, (5,))):
        assert not np.any(uniforms(1, "a", 2, (5,)) == other)


class Extremes:
    """A generator whose uniforms are the smallest and the largest that there are."""

    def random(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.resize([0.0, 1 - 2.0**-53], shape)


def test_no_normal_is_infinite() -> None:
    """The largest uniform, after its shift, must not be rounded to 1."""
    x = standard_normals(Extremes(), (2,))  # type: ignore[arg-type]
    assert np.all(np.isfinite(x))
    assert x[0] < -8 < 8 < x[1]


def test_normals_are_normal() -> None:
    x = np.sort(normals(0, "normality", 0, (20_000,)))
    from scipy.special import ndtr

    distance = np.max(np.abs(ndtr(x) - (np.arange(x.size) + 0.5) / x.size))
    assert distance < 1.95 / math.sqrt(x.size)  # Kolmogorov: exceeded with probability 1e-3, once and for all


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_more_contexts_begin_with_the_same_ones(sampling: str) -> None:
    drawn = sampler(Problem(d=5, n=1000, law=ReLU()), np.array([3.0]), sampling=sampling, stream="x")
    few, many = tally_of(drawn, drawn.size + 3), tally_of(drawn, 2 * drawn.size)
    assert isinstance(few, Tally)
    assert isinstance(many, Tally)
    assert np.array_equal(few.stages[0].first, many.stages[0].first)
    again = np.concatenate([drawn.chunk(1), drawn.chunk(0)])  # in another order
    assert np.array_equal(again[drawn.size :], drawn.chunk(0))
    assert np.array_equal(again[: drawn.size], drawn.chunk(1))


@pytest.mark.parametrize("options", [{"contexts": 9000}, {"rtol": 0.2}, {"contexts": 3000, "sampling": "full"}])
def test_threads_change_nothing(options: dict[str, Any]) -> None:
    problem = Problem(d=4, n=300, law=ReLU())
    one, four = (loss_terms(problem, [1.0, 2.0, 30.0], "montecarlo", workers=k, **options) for k in (1, 4))
    for name in ("noise", "bias", "noise_error", "bias_error"):
        assert np.array_equal(getattr(one, name), getattr(four, name))


@pytest.mark.parametrize(
    "options", [{}, {"sampling": "full"}, {"M": np.diag([1.0, 2.0, 0.5])}, {"attention": "linear"}]
)
def test_every_operation_is_of_the_array_standard_and_stays_on_its_device(options: dict[str, Any]) -> None:
    problem, w = Problem(d=3, n=20, law=ReLU()), np.array([0.5, 5.0, 1.0, 2.0])
    device = array_api_strict.Device("device1")
    plain = loss_terms(problem, w, "montecarlo", contexts=200, **options)
    other = loss_terms(problem, w, "montecarlo", contexts=200, xp=array_api_strict, device=device, **options)
    np.testing.assert_allclose(other.bias, plain.bias, rtol=1e-12)
    np.testing.assert_allclose(other.noise, plain.noise, rtol=1e-12)


@pytest.mark.parametrize("covariates", [Ellipsoid([4.0, 1.0, 0.5]), ProductOfSpheres(axes(3, 1), c_u=2.0)])
def test_other_covariates_stay_on_their_device(covariates: Covariates) -> None:
    problem = Problem(d=3, n=20, law=LowRank(axes(3, 2), Cosine(4.0)), covariates=covariates)
    device = array_api_strict.Device("device1")
    plain = loss_terms(problem, 2.0, "montecarlo", contexts=200)
    other = loss_terms(problem, 2.0, "montecarlo", contexts=200, xp=array_api_strict, device=device)
    np.testing.assert_allclose(other.bias, plain.bias, rtol=1e-12)


def test_accuracy_on_request_is_reached() -> None:
    terms = loss_terms(Problem(d=3, n=10, law=Affine()), 2.0, "montecarlo", rtol=0.05)
    assert float(terms.bias_error) <= 0.05 * float(terms.bias)
    assert float(terms.noise_error) <= 0.05 * float(terms.noise)


@pytest.mark.parametrize("ask", [lambda **o: loss_terms(w=2.0, method="montecarlo", **o), empirical_window])
@pytest.mark.parametrize(
    ("law", "n", "minutes", "hours"),
    [
        (RBF(), 2_000, 3 * 10**5, 10**8),
        (Zonal(K=np.exp), 2_000, 3 * 10**5, 10**8),
        (Affine(), 10**6, 10**5, 10**7),
    ],
    ids=["field", "kernel", "ridge law"],
)
def test_work_of_minutes_warns_and_work_of_hours_is_refused(
    ask: Callable[..., object], law: Law, n: int, minutes: int, hours: int
) -> None:
    """Pairs of tokens count for laws given by a covariance or variogram; nothing is sampled here."""
    problem = Problem(d=3, n=n, law=law)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="minutes on one processor"):
            ask(problem=problem, contexts=minutes)
        with pytest.raises(OutOfReach, match="at most 1e"):
            ask(problem=problem, contexts=hours)


@pytest.mark.parametrize("ask", [lambda **o: loss_terms(w=2.0, method="montecarlo", **o), empirical_window])
def test_the_warning_points_at_the_line_of_the_caller(
    ask: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sampled: the warning is turned into an error, which ends the call."""

    def show(message: object, category: object, filename: str, *rest: object) -> None:
        raise LookupError(filename)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", show)
        with pytest.raises(LookupError) as shown:
            ask(problem=Problem(d=3, n=10**6, law=Affine()), contexts=10**5)
    assert shown.value.args == (__file__,)


def test_the_default_contexts_of_a_field_are_as_many_as_its_pairs_allow() -> None:
    """Of 500 tokens only 40 were used, and the interval was as wide as three quarters of the bias."""
    drawn: list[int] = []
    for n, pairs in ((60, 60**2), (500, 8 * 500)):
        problem = Problem(d=3, n=n, law=RBF())
        found = loss_terms(problem, 2.0, "montecarlo", progress=lambda done, total: drawn.append(total))
        assert drawn[-1] == round(4e7 / (3 * n + 4 * pairs))
        exact = loss_terms(problem, 2.0)
        assert abs(found.bias - exact.bias) <= found.bias_error < 0.05 * exact.bias


@pytest.mark.parametrize("n", [20, 90])
@pytest.mark.parametrize(
    "law",
    [
        ReLU() + RBF(),
        2 * Matern(nu=1.5) + Zonal(np.exp) + Cosine(L=3.0),
        mixture({RBF(): 0.25, Ridge(np.tanh): 0.75}),
        Zonal(spectrum=(0.0, 1.0, 0.5)),
    ],
)
def test_sums_of_kernel_laws_and_drawn_laws_are_sampled(law: Law, n: int) -> None:
    """All pairs of 20 tokens, a few of 90; the test detects a sum without either part."""
    w, problem = np.array([0.5, 6.0]), Problem(d=3, n=n, law=law)
    found, exact = loss_terms(problem, w, "montecarlo", contexts=4000), loss_terms(problem, w)
    assert np.all(np.abs(found.bias - exact.bias) <= 1.5 * found.bias_error)
    assert np.all(np.abs(found.noise - exact.noise) <= 1.5 * found.noise_error)
    for weight, part in summands(law) if isinstance(law, Sum) else ():
        alone = weight * loss_terms(problem.replace(law=part), w).bias
        assert np.all(exact.bias - alone > found.bias_error)


@pytest.mark.parametrize("law", [Matern(nu=0.5), RBF(length=0.3), Zonal(K=np.exp)])
def test_pairs_with_a_few_tokens_have_the_mean_of_all_pairs(law: Law) -> None:
    """Token by token: one context's sum over all pairs, and means over 8 of them, 2000 times on the same context."""
    fields = Fields(Problem(d=3, n=80, law=law), np.array([1.0, 9.0]))
    assert not fields.all_pairs
    points = standard_normals(generator(0, "partners", 0), (1, 80, 3))
    tokens = points / np.linalg.norm(points, axis=2, keepdims=True)
    a = np.exp(fields.w[:, None] * tokens[:, None, :, 0])
    a /= a.sum(axis=2, keepdims=True)
    together = np.repeat(tokens, 2000, axis=0), np.repeat(a, 2000, axis=0)
    few = fields._with_partners(together[1], together[0], 0)
    error = few.std(axis=0) / math.sqrt(2000)
    assert np.all(error < 0.01 * few.mean(axis=0))
    assert np.all(np.abs(few.mean(axis=0) - fields._among(a, tokens)[0]) < 4 * error)


@dataclass(frozen=True)
class Events:
    """Samples that are 1 with a small probability, else 0: the most skewed that there are."""

    stream: str
    size: int = 512
    probability: ClassVar[float] = 0.02

    @classmethod
    def at(cls, repetition: int, look: str) -> Events:
        return cls(f"stop/{repetition}/{look}")

    def bounds(self, log_chance: float = math.inf) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(1), np.ones(1)

    def chunk(self, index: int) -> np.ndarray:
        return (uniforms(0, self.stream, index, (self.size, 1)) < self.probability).astype(float)


@pytest.mark.parametrize(("kind", "sizes"), [(Tally, 50), (CheckedTally, 20)])
def test_intervals_cover_when_sampling_stops_as_soon_as_they_are_narrow_enough(kind: type[Tally], sizes: int) -> None:
    """150 intervals at 95 %: a true 5 % of misses exceeds 7.5 + 3.3 * 2.7 with probability 5e-4; 5 % is asked for."""
    misses, misses_of_half, repetitions = 0, 0, 150
    counts: list[int] = []
    for repetition in range(repetitions):
        at = partial(Events.at, repetition)
        mean, half_width, _ = until(at, 0.6, 40, 10**6, lambda done, total: counts.append(total), kind=kind)
        assert half_width[0] <= 0.6 * mean[0]
        misses += bool(abs(mean[0] - Events.probability) > half_width[0])
        misses_of_half += bool(abs(mean[0] - Events.probability) > half_width[0] / 2)
    assert misses <= 0.05 * repetitions
    assert misses_of_half > 0.05 * repetitions, "power: intervals of half the width would be noticed"
    assert len(set(counts)) > sizes, "the number of samples is decided by what is seen"


def test_a_bundle_is_four_contexts_with_one_set_of_tokens() -> None:
    """Together they vary about as little as four independent contexts, or less: they are not copies."""
    problem, w = Problem(d=4, n=30, law=ReLU()), np.array([4.0])
    drawn = Reduced(problem, grid_of(w), stream="bundle")
    x = np.concatenate([drawn.chunk(k) for k in range(12)])
    full = Full(problem, w, stream="bundle")
    y = np.concatenate([full.chunk(k) for k in range(8)])
    assert np.all(y.var(axis=0) / x.var(axis=0) > 0.7 * QUERIES)


@pytest.mark.parametrize("d", [2, 3, 4, 9, 1000])
def test_projections_have_the_moments_of_the_sphere(d: int) -> None:
    """E a^2, E a^4, E ab, E a^2 b^2: 20 numbers at 4.5 standard errors, 1.4e-4 false alarms, once and for all."""
    u = uniforms(0, f"moments/{d}", 0, (2, 100_000))
    a, b = projected(u[0], u[1], d, np)
    wanted = {1 / d: a * a, 3 / (d * (d + 2)): a**4, 0.0: a * b, 1 / (d * (d + 2)): a * a * b * b}
    for truth, x in wanted.items():
        assert abs(x.mean() - truth) <= 4.5 * x.std() / math.sqrt(x.size)


@given(
    w=st.lists(st.one_of(log_floats(1e-3, 1e3), st.integers(-9, 9).map(lambda k: 2.0**k), st.just(0.0)), min_size=1),
    address=st.integers(0, 10**6),
)
def test_ladders_give_the_sums_that_exponentials_give(w: list[float], address: int) -> None:
    """Rounding: w |s| units from the product, one of exp, doubled on each rung; 2^8 at most, or w if that is more."""
    windows, grid = np.array(w), grid_of(np.array(w))
    u = uniforms(0, "ladders", address, (3, 2, 17))
    scores, value = 2 * u[0] - 1, u[1]
    sums = softmax_sums(scores, [value], grid, np, Workspace())
    unit = np.finfo(float).eps
    for place, window in enumerate(windows):
        g = np.exp(window * (scores - scores.max(axis=-1, keepdims=True)))
        at = sums.at_levels[:, grid.at[place], :]
        error = unit * (64 + 8 * max(2.0**LOST_BITS, window)) / 2
        for computed, plain in ((at[:, 0], g.sum(-1)), (at[:, 1], (g * value).sum(-1))):
            assert np.all(np.abs(computed - plain) <= error * plain + 20 * 1e-30)
        above = sums.at_levels[:, grid.at[place] + 1, 0]
        assert np.all(np.abs(above - (g * g).sum(-1)) <= 2 * error * above + 20 * 1e-30)


@given(cut=st.integers(1, 29), w=log_floats(1e-2, 1e4), address=st.integers(0, 10**6))
def test_sums_of_stretches_merge(cut: int, w: float, address: int) -> None:
    """A context whose tokens come in two stretches has the sums of one that is whole."""
    grid = grid_of(np.array([w, 2 * w]))
    scores, value = uniforms(0, "stretches", address, (2, 5, 30))
    whole = softmax_sums(scores, [value], grid, np, Workspace())
    halves = [softmax_sums(scores[:, k], [value[:, k]], grid, np, Workspace()) for k in (slice(cut), slice(cut, None))]
    both = merged(halves[0], halves[1], grid, np)
    bound = np.finfo(float).eps * (64 + 16 * max(2.0**LOST_BITS, 4 * w))
    np.testing.assert_allclose(both.at_levels, whole.at_levels, rtol=bound, atol=1e-28)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_long_contexts_are_streamed(sampling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with n beyond a chunk: a context in parts has the samples of one in one piece."""
    problem, w = Problem(d=4, n=1000, law=ReLU()), np.array([0.5, 1.0, 50.0])
    whole = sampler(problem, w, sampling=sampling, stream="stream").chunk(0)[:1]
    monkeypatch.setattr("lipverify.loss.montecarlo.reduced.TOKENS", 64)
    monkeypatch.setattr("lipverify.loss.montecarlo.full.COORDINATES", 256)
    pieces = sampler(problem, w, sampling=sampling, stream="stream").chunk(0)
    assert len(pieces) == 1
    if sampling == "reduced":  # in full, a chunk has other contexts when it has another size
        np.testing.assert_allclose(pieces, whole, rtol=1e-11)
    assert np.all(pieces > 0)


def test_sampling_on_the_sphere_needs_no_square_matrix() -> None:
    terms = loss_terms(Problem(d=1_000_000, n=9, law=Affine()), 1.0, "montecarlo", contexts=200)
    exact = loss_terms(terms.problem, 1.0)
    assert abs(terms.bias - exact.bias) <= terms.bias_error + exact.bias_error


def test_a_multiple_of_the_identity_is_its_window() -> None:
    problem = Problem(d=3, n=20, law=ReLU())
    scaled = loss_terms(problem, [1.0, 2.0], "montecarlo", contexts=500, M=3 * np.eye(3), sampling="full")
    window = loss_terms(problem, [3.0, 6.0], "montecarlo", contexts=500, sampling="full")
    np.testing.assert_allclose(scaled.bias, window.bias, rtol=1e-12)
    np.testing.assert_allclose(scaled.noise, window.noise, rtol=1e-12)


def wavy(rng: np.random.Generator, contexts: int, d: int) -> Any:
    """The cosine law again, as a sampler."""
    q = on_sphere(rng.standard_normal((contexts, 1, d)), np)
    return lambda x: np.cos(3 * (q * x).sum(axis=-1))


def test_a_law_that_is_only_a_sampler() -> None:
    problem = Problem(d=3, n=15, law=Sampled(wavy, extent=2.0))
    sampled = loss_terms(problem, 2.0, "montecarlo", contexts=20_000)
    exact = loss_terms(problem.replace(law=Cosine(3.0)), 2.0)
    assert float(sampled.bias_error) < 0.05 * float(exact.bias)
    assert abs(float(sampled.bias - exact.bias)) <= float(sampled.bias_error)
    with pytest.raises(InvalidInput, match="montecarlo"):
        loss_terms(problem, 2.0)


def test_covariates_of_ones_own() -> None:
    """Uniform on the sphere, as a map of normals."""
    sphere = MappedNormals(lambda z: on_sphere(z, np), radius=1.0)
    plain, own = (
        loss_terms(Problem(d=3, n=15, law=ReLU(), covariates=x), 2.0, "montecarlo", contexts=500, sampling="full")
        for x in (Sphere(), sphere)
    )
    assert np.array_equal(plain.bias, own.bias)
    short = MappedNormals(lambda z: z, radius=1.0)
    with pytest.raises(InvalidInput, match="radius"):
        loss_terms(Problem(d=3, n=15, law=ReLU(), covariates=short), 2.0, "montecarlo", contexts=500)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_windows_beyond_reason_are_the_nearest_neighbour(sampling: Any) -> None:
    """Without a warning; the smallest windows are w = 0."""
    problem = Problem(d=3, n=10, law=ReLU())
    terms = loss_terms(problem, [0.0, 5e-324, 1e9, 1e18, 1e100, 1.7e308], "montecarlo", contexts=80, sampling=sampling)
    np.testing.assert_allclose(terms.bias[:2], terms.bias[0], rtol=1e-13)
    np.testing.assert_allclose(terms.bias[2:], terms.bias[2], rtol=1e-13)
    np.testing.assert_allclose(terms.noise, [0.1, 0.1, 1.0, 1.0, 1.0, 1.0], rtol=1e-12)


def test_the_size_of_a_matrix_is_a_window() -> None:
    problem = Problem(d=3, n=10, law=ReLU(), covariates=Ellipsoid([4.0, 1.0, 1.0]))
    one, other = (
        loss_terms(problem, w, "montecarlo", contexts=200, M=M)
        for w, M in ((3.0, np.eye(3)), (3e300, 1e-300 * np.eye(3)))
    )
    np.testing.assert_allclose(one.bias, other.bias, rtol=1e-12)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_results_have_the_shape_of_the_windows(shape: tuple[int, ...]) -> None:
    w = np.ones(shape)
    terms = loss_terms(Problem(d=3, n=10, law=ReLU()), w, "montecarlo", contexts=80)
    assert np.shape(terms.bias) == np.shape(terms.noise_error) == np.shape(terms.total) == shape


@pytest.mark.parametrize(("extent", "least", "most"), [(2.0, 1.0, 1.0), (20.0, 30.0, 300.0), (2000.0, 1e5, 1e7)])
def test_the_result_says_what_a_wide_extent_costs(extent: float, least: float, most: float) -> None:
    """Against the normal interval of the same samples, which it names."""

    def tanh(rng: np.random.Generator, contexts: int, d: int) -> Any:
        q = rng.standard_normal((contexts, 1, d))
        return lambda x: np.tanh((q * x).sum(axis=-1))

    problem = Problem(d=3, n=20, law=Sampled(tanh, extent=extent))
    checked, betting, normal = (
        loss_terms(problem, 2.0, "montecarlo", contexts=2000, interval=interval) for interval in INTERVALS
    )
    stated = re.search(r"bias at w = 2 is (\S+) times as wide as a normal one, for which (\S+) times", betting.reason)
    times = float(stated[1]) if stated else 1.0
    assert least <= times <= most
    assert normal.reason == "Intervals: normal, not checked against rare samples."
    assert checked.reason.startswith("Intervals: normal, checked against rare samples.")
    assert normal.bias_error < checked.bias_error < betting.bias_error
    if stated:
        assert times == pytest.approx(float(betting.bias_error / normal.bias_error), rel=0.05)
        assert float(stated[2]) == pytest.approx(times**2, rel=0.1)
