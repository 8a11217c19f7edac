"""The optimal matrix: known optima within errors, wrong ones outside of them, coverage, and refusals.

A half-width is 2.13 standard errors with 15 degrees of freedom. The truth may differ by FAR = 2.5 half-widths, which
happens with probability 1e-4 for one entry and 3e-2 for any of the 300 entries that are compared here, once and for
all: the seeds are fixed. A wrong matrix must differ by CLEAR = 3 of them at some entry.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lipverify import Problem, optimal_matrix, optimal_window
from lipverify.covariates import Ellipsoid, ProductOfSpheres, Sphere, axes
from lipverify.foundation import Floats
from lipverify.laws import Affine, Law, LowRank, Quadratic, ReLU, Ridge, Sampled, Transformed
from lipverify.loss.attention import scores  # internal: the definition, without a slope
from lipverify.loss.montecarlo.contexts import draw_contexts  # internal: a few contexts, whose scores are compared
from lipverify.optimum import MatrixOptimum, SpectralBall, Symmetric
from lipverify.optimum.matrix.constraints import Constraint  # internal: for annotations
from lipverify.optimum.matrix.sampled import BATCHES, draw_loss  # internal: at other matrices
from lipverify.problem.symmetry import symmetry  # internal: the group under which a minimum may be averaged
from tests.strategies import log_floats

EPS = float(np.finfo(float).eps)
FAR, CLEAR = 2.5, 3.0
REPETITIONS, MOST_MISSES = 50, 9


def misses(found: MatrixOptimum, truth: Floats, raw: bool = False) -> NDArray[np.bool_]:
    """The entries whose distance from the truth exceeds the claimed error."""
    M, error = (found.M_raw, found.M_raw_error) if raw else (found.M, found.M_error)
    return np.asarray(np.abs(M - truth) > error)


def test_its_intervals_cover() -> None:
    """Of 50 intervals at 95 %, more than 9 miss with probability 1.6e-4; seven such counts, once and for all."""
    problem = Problem(d=2, n=4, law=Affine(L=3.0))
    exact = optimal_window(problem)
    truth = exact.w * np.eye(2)
    found = [
        optimal_matrix(problem, contexts=640, starts=2, seed=seed, stream="coverage") for seed in range(REPETITIONS)
    ]
    assert all(one.averaged and 0 < one.M_error[0, 0] < 0.2 * exact.w for one in found)
    assert np.all(sum(misses(one, truth, raw=True).astype(int) for one in found) <= MOST_MISSES)
    assert sum(bool(misses(one, truth)[0, 0]) for one in found) <= MOST_MISSES
    assert sum(abs(one.loss - exact.loss) > one.loss_error for one in found) <= MOST_MISSES
    # the asymmetry is a valid test: its chances fall below 0.05 no more often than they say
    assert sum(one.asymmetry_chance < 0.05 for one in found) <= MOST_MISSES
    # power: nearly all intervals miss an optimum that is wrong by a fifth
    assert sum(bool(misses(one, 0.8 * truth)[0, 0]) for one in found) > 45


@pytest.mark.parametrize(
    ("share", "repetitions", "most"),
    # of 25 and 200 intervals at 95 %, more misses than these have a probability of 2e-4
    [(1.03, 25, 6), *(pytest.param(share, 200, 22, marks=pytest.mark.slow) for share in (0.9, 0.97, 1.0, 1.03, 1.1))],
)
def test_intervals_cover_where_a_bound_is_hardly_felt(share: float, repetitions: int, most: int) -> None:
    """C within an error of w*: the bound is active for some draws only. The minimiser is min(w*, C) I."""
    problem = Problem(d=2, n=4, law=Affine(L=3.0))
    w = optimal_window(problem).w
    ball, truth = SpectralBall(C=share * w), min(1.0, share) * w * np.eye(2)
    found = [optimal_matrix(problem, constraint=ball, contexts=640, starts=2, seed=seed) for seed in range(repetitions)]
    assert np.all(sum(misses(one, truth, raw=True).astype(int) for one in found) <= most)
    assert np.all(sum(misses(one, truth).astype(int) for one in found) <= most)
    # a jackknife at the bound alone gives 1e-6
    assert np.median([one.M_error[0, 0] for one in found]) > 0.05 * w
    assert all(np.linalg.norm(one.M, 2) <= ball.C * (1 + 8 * EPS) for one in found)


def test_an_active_bound_is_recognised() -> None:
    problem = Problem(d=2, n=4, law=Affine(L=3.0))
    C = optimal_window(problem).w / 3
    found = optimal_matrix(problem, constraint=SpectralBall(C=C), contexts=640, starts=2)
    assert np.max(np.abs(found.M - C * np.eye(2))) <= 8 * EPS
    assert np.max(found.M_error) < 1e-4 * C


@pytest.mark.parametrize(("law", "d"), [(Affine(L=3.0), 3), (ReLU(L=2.0), 2), (Quadratic(L=3.0), 2)])
def test_the_isotropic_optimum_is_a_window(law: Law, d: int) -> None:
    problem = Problem(d=d, n=100, law=law)
    truth = optimal_window(problem).w * np.eye(d)
    found = optimal_matrix(problem, contexts=1000, starts=3)
    assert found.averaged
    assert np.all(found.M_error <= 0.1 * truth[0, 0])
    assert np.all(np.abs(found.M - truth) <= FAR * found.M_error)
    assert np.all(np.abs(found.M_raw - truth) <= FAR * found.M_raw_error)
    # averaging over the group cuts the variance: by about d where entries of the diagonal are independent
    assert np.mean(np.diag(found.M_error)) < np.mean(np.diag(found.M_raw_error))


@settings(max_examples=5)
@given(d=st.integers(2, 4), n=st.integers(3, 30), L=log_floats(1.0, 10.0), sigma=log_floats(0.3, 3.0))
def test_the_optimum_is_the_exact_window_of_any_problem(d: int, n: int, L: float, sigma: float) -> None:
    """Affine laws. The seed comes from the parameters; five problems have at most 17 entries each."""
    problem = Problem(d=d, n=n, law=Affine(L=L), sigma=sigma)
    truth = optimal_window(problem).w * np.eye(d)
    found = optimal_matrix(problem, contexts=1920, starts=2, stream=f"window/{d}/{n}/{L}/{sigma}")
    assert np.all(np.abs(found.M_raw - truth) <= FAR * found.M_raw_error)
    assert abs(found.M[0, 0] - truth[0, 0]) <= FAR * found.M_error[0, 0]
    assert found.M_error[0, 0] < 0.5 * truth[0, 0] + 0.5  # at least the scale on which weights change


def cubic(z: Floats) -> Floats:
    return 3 * z * z * z


def whitened(Sigma: Floats, law: Any = None) -> Problem:
    """A problem that is the isotropic one after whitening."""
    covariates = Ellipsoid(Sigma)
    root = np.linalg.inv(covariates.root)
    return Problem(
        d=len(Sigma), n=10, law=Transformed((root + root.T) / 2, law or Affine(L=3.0)), covariates=covariates
    )


ROTATION = np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2 + np.eye(3))[0]
SIGMA = ROTATION @ np.diag([4.0, 1.0, 0.25]) @ ROTATION.T
SIGMA = (SIGMA + SIGMA.T) / 2


@pytest.mark.parametrize(
    ("law", "constraint"), [(Affine(L=3.0), None), (Affine(L=3.0), Symmetric()), (Ridge(cubic), None)]
)
def test_anisotropic_covariates_are_inverted(law: Any, constraint: Constraint | None) -> None:
    """x = Sigma^{1/2} U and f(x) = g(Sigma^{-1/2} x): scores x_i^T w Sigma^{-1} x are those of w I on U."""
    w = optimal_window(Problem(d=3, n=10, law=law)).w
    truth = w * np.linalg.inv(SIGMA)
    found = optimal_matrix(whitened(SIGMA, law), constraint=constraint, contexts=4000, starts=2)
    assert found.averaged
    assert np.all(found.M_error <= 0.1 * np.linalg.norm(truth))
    assert np.all(np.abs(found.M - truth) <= FAR * found.M_error)
    assert np.all(np.abs(found.M_raw - truth) <= FAR * found.M_raw_error)
    # the control: neither a multiple of the identity nor the inverse root is within the same errors
    for wrong in (np.eye(3), np.linalg.inv(Ellipsoid(SIGMA).root), SIGMA):
        scale = np.sum(wrong * found.M) / np.sum(wrong * wrong)
        assert np.max(np.abs(found.M - scale * wrong) / found.M_error) > CLEAR
        assert np.max(np.abs(found.M_raw - scale * wrong) / found.M_raw_error) > CLEAR


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("covariates", [Sphere(), ProductOfSpheres(axes(3, 2), 1.0, 1.0)])
def test_low_rank_laws_are_recovered(covariates: Any, C: float) -> None:
    """f = a^T B^T x without noise, two tokens: M* = c BB^T, 0 < c <= C; at C = 1 the bound is active."""
    B, projector = axes(3, 2), np.diag([1.0, 1.0, 0.0])
    problem = Problem(d=3, n=2, law=LowRank(B), sigma=0.0, covariates=covariates)
    found = optimal_matrix(problem, constraint=SpectralBall(B, C), contexts=4000, starts=3)
    c = found.M[0, 0]
    assert found.averaged
    assert 0 < c <= C * (1 + 8 * EPS)
    assert (c == pytest.approx(1.0, rel=8 * EPS)) == (C == 1.0)
    assert np.all(np.abs(found.M - c * projector) <= FAR * found.M_error)
    assert found.M_error[2, 2] <= 0.2 * c
    wrong = np.abs(found.M_raw - c * projector) > FAR * found.M_raw_error
    assert not np.any(wrong[projector == 0])
    # the control: c I is outside of the same errors
    assert np.abs(found.M - c * np.eye(3))[2, 2] > CLEAR * found.M_error[2, 2]


def least_squares(problem: Problem, contexts: int, stream: str) -> Floats:
    """The minimiser of the same sampled loss of linear attention on an affine law, by the normal equations."""
    d, n = problem.d, int(problem.n)
    v = problem.law.amplitude_variance  # type: ignore[attr-defined]
    loss = draw_loss(problem, "linear", contexts, 0, stream)
    matrix, right = np.zeros((d * d, d * d)), np.zeros(d * d)
    for block in loss.blocks:
        [f], [g] = block.values, block.targets
        features = np.einsum("cni,cj->cnij", block.tokens, block.query).reshape(*f.shape, d * d) / n
        prediction = np.einsum("cn,cnk->ck", f, features)
        matrix += v * prediction.T @ prediction + problem.sigma**2 * np.einsum("cnk,cnl->kl", features, features)
        right += v * g @ prediction
    return np.asarray(np.linalg.solve(matrix, right).reshape(d, d))


def test_linear_attention_is_least_squares() -> None:
    """On the same draws; in the mean w* I with w* = (v/d^2) / ((v/d^2) (1/n + (1 - 1/n)/d) + sigma^2/(n d))."""
    d, n, L = 3, 10, 3.0
    problem = Problem(d=d, n=n, law=Affine(L=L))
    found = optimal_matrix(problem, attention="linear", contexts=2000, starts=2, use_symmetry=False)
    v = L**2 / 3 / d**2
    truth = v / (v * (1 / n + (1 - 1 / n) / d) + 1 / (n * d)) * np.eye(d)
    assert np.all(np.abs(found.M - truth) <= FAR * found.M_error)
    assert np.max(found.M_error) < 0.1 * truth[0, 0]
    solved = least_squares(problem, 2000, "/matrix")
    loss = draw_loss(problem, "linear", 2000, 0, "/matrix")
    reached, least = found.losses[0], loss(solved)[0]
    assert abs(reached - least) <= 1e-12 * least
    # the value is corrected for the bias of the minimiser, by less than its error
    assert np.max(np.abs(found.M - solved)) <= np.max(found.M_error)
    assert loss(solved.T)[0] > least * (1 + 1e-9)  # the control: a transposed matrix is outside of the errors


def test_a_rotation_of_the_question_rotates_the_answer() -> None:
    """Covariates mapped by a rotation and the same law: the symmetric form must not depend on coordinate axes."""
    found = optimal_matrix(whitened(SIGMA), contexts=640, starts=2)
    group = symmetry(found.problem)
    assert np.max(np.abs(group.average(found.M) - found.M)) <= 100 * EPS * np.linalg.norm(found.M)
    assert len(group.projectors) == 3


def test_the_coordinates_of_the_descent_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without whitening, the same minimiser to the tolerance of the descent, which is far below the errors."""
    problem = whitened(np.diag([9.0, 1.0, 1 / 9]))
    white = optimal_matrix(problem, contexts=640, starts=2)
    monkeypatch.setattr("lipverify.optimum.matrix._whitening", lambda loss: np.eye(3))
    plain = optimal_matrix(problem, contexts=640, starts=2)
    assert white.losses[0] == pytest.approx(plain.losses[0], rel=1e3 * EPS)
    assert np.all(np.abs(white.M_raw - plain.M_raw) <= 1e-3 * white.M_raw_error)


def test_it_is_a_function_of_its_address() -> None:
    problem = Problem(d=2, n=5, law=ReLU(L=3.0))
    first, again, seed, stream = (
        optimal_matrix(problem, contexts=640, starts=2, **address)
        for address in ({"seed": 1}, {"seed": 1}, {"seed": 2}, {"seed": 1, "stream": "other"})
    )
    for name in ("M", "M_error", "M_raw", "M_raw_error", "loss", "losses"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
        assert not np.array_equal(getattr(first, name), getattr(seed, name))
        assert not np.array_equal(getattr(first, name), getattr(stream, name))


def test_an_even_law_has_two_optima_and_the_record_says_so() -> None:
    """f(-x) = f(x): M and -M have the same mean loss. The reported matrix has a trace >= 0."""
    problem = Problem(d=2, n=20, law=Quadratic(L=3.0))
    found = [optimal_matrix(problem, contexts=1280, starts=5, seed=seed) for seed in range(3)]
    assert all(np.trace(one.M) > 0 for one in found)
    assert any(one.rivals > 0 for one in found)
    assert all(one.rivals + one.agreeing == 5 for one in found)


def test_a_law_without_the_symmetry_is_seen() -> None:
    """Functions of the first coordinate: two constants, not one; and no average if that is requested."""
    problem = Problem(d=2, n=10, law=LowRank(axes(2, 1), ReLU(L=5.0)))
    found = optimal_matrix(problem, contexts=2000, starts=2)
    isotropic = found.M_raw - np.trace(found.M_raw) / 2 * np.eye(2)
    assert found.averaged  # over reflections: the form diag(c, c')
    assert np.max(np.abs(isotropic) / found.M_raw_error) > CLEAR
    plain = optimal_matrix(problem, contexts=2000, starts=2, use_symmetry=False)
    assert not plain.averaged
    assert np.array_equal(plain.M, plain.M_raw)
    assert np.array_equal(plain.M_raw, found.M_raw)


def test_an_average_rejected_by_the_draws_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem that is wrongly treated as isotropic: the average over all rotations would be a wrong answer."""
    isotropic = symmetry(Problem(d=2, n=2, law=Affine()))
    monkeypatch.setattr("lipverify.optimum.matrix.symmetry", lambda problem: isotropic)
    found = optimal_matrix(whitened(np.diag([4.0, 0.25])), contexts=2000, starts=2)
    assert found.asymmetry_chance < 1e-6
    assert not found.averaged
    assert np.array_equal(found.M, found.M_raw)


def test_a_ball_that_breaks_the_symmetry_is_not_averaged_over() -> None:
    found = optimal_matrix(
        Problem(d=2, n=5, law=Affine(L=3.0)), constraint=SpectralBall(axes(2, 1), C=0.5), contexts=640, starts=2
    )
    assert not found.averaged
    assert found.M[0, 0] == pytest.approx(0.5, rel=8 * EPS)
    assert found.M[1, 1] > 1


def test_a_law_that_is_only_a_sampler() -> None:
    def planes(rng: np.random.Generator, contexts: int, d: int) -> Any:
        q = rng.standard_normal((contexts, 1, d))
        q *= 3.0 / math.sqrt(3) / np.linalg.norm(q, axis=-1, keepdims=True)
        return lambda x: np.sum(q * x, axis=-1)

    truth = optimal_window(Problem(d=2, n=5, law=Affine(L=3.0))).w * np.eye(2)
    found = optimal_matrix(Problem(d=2, n=5, law=Sampled(planes, extent=4.0)), contexts=4000, starts=2)
    assert np.all(np.abs(found.M - truth) <= FAR * found.M_error)
    assert np.max(found.M_error) < 0.1 * truth[0, 0]


@pytest.mark.parametrize(("attention", "law"), [("softmax", Affine(L=0.0)), ("linear", Quadratic(L=0.0))])
def test_a_constant_law_has_its_optimum_at_zero(attention: Any, law: Law) -> None:
    """The error covers the tolerance of the descent, without any help from sampling."""
    found = optimal_matrix(Problem(d=2, n=5, law=law), attention=attention, contexts=640, starts=3)
    assert found.agreeing == 3
    assert np.all(np.abs(found.M_raw) <= found.M_raw_error)
    assert np.max(found.M_raw_error) < 1e-3


def test_progress_counts_every_descent() -> None:
    seen: list[tuple[int, int]] = []
    optimal_matrix(
        Problem(d=2, n=3, law=Affine(L=3.0)),
        contexts=640,
        starts=3,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(done, 3 + BATCHES) for done in range(1, 4 + BATCHES)]


def test_batches_equal_the_complements_of_the_left_out_draws() -> None:
    """The mean without batch b, from the means of the batches; several blocks, the last one not full."""
    problem = Problem(d=2, n=5000, law=Affine())
    loss = draw_loss(problem, "softmax", 100, 0, "batches")
    assert len(loss.blocks) > 1
    M = np.array([[3.0, 1.0], [0.0, 2.0]])
    means, counts = loss.of_batches(M), np.bincount(np.arange(100) % BATCHES, minlength=BATCHES)
    whole, gradient = loss(M)
    assert loss.mean(M) == whole
    assert whole == pytest.approx(np.sum(means * counts) / 100, rel=32 * EPS)
    without = np.array([loss(M, without=batch)[0] for batch in range(BATCHES)])
    np.testing.assert_allclose(without, (100 * whole - means * counts) / (100 - counts), rtol=64 * EPS)
    own = loss.gradients_of_batches(M)
    np.testing.assert_allclose(np.einsum("bij,b->ij", own, counts / 100), gradient, rtol=0, atol=64 * EPS)
    gradients = [loss(M, without=batch)[1] * (100 - counts[batch]) for batch in range(BATCHES)]
    np.testing.assert_allclose(sum(gradients) / (BATCHES - 1) / 100, gradient, rtol=0, atol=64 * EPS)


def test_scores_put_the_token_on_the_left() -> None:
    contexts = draw_contexts(Problem(d=2, n=3, law=Affine()), 4, 0, "scores")
    M = np.array([[0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(scores(contexts, M, np), contexts.tokens[:, :, 0] * contexts.query[:, 1:])


@pytest.mark.parametrize("n", [2, 20])
def test_a_ball_holds_where_the_loss_falls_without_end(n: int) -> None:
    """Two points and a circle, no noise: every w I beyond the ball is better, and none may set the scale."""
    B = axes(3, 1)
    problem = Problem(d=3, n=n, law=LowRank(B), sigma=0.0, covariates=ProductOfSpheres(B))
    found = optimal_matrix(problem, constraint=SpectralBall(B=B, C=1.0), contexts=2000, starts=2)
    assert abs(found.M[0, 0] - 1.0) <= found.M_error[0, 0] < 1e-3
    spurious, error = found.M - np.diag([found.M[0, 0], 0.0, 0.0]), found.M_error
    assert np.all(np.abs(spurious)[1:] <= FAR * error[1:])
    assert np.all(error <= 0.2)
