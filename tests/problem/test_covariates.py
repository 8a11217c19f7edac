"""Covariates beyond the sphere, laws composed of others, and the symmetries of a problem."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms, optimal_matrix, optimal_window
from lipverify.covariates import Covariates, Ellipsoid, Gaussian, MappedNormals, ProductOfSpheres, Sphere, axes
from lipverify.errors import InvalidInput
from lipverify.foundation import Floats, generator, normals
from lipverify.laws import (
    Affine,
    Cosine,
    Linear,
    LowRank,
    Quadratic,
    ReLU,
    Ridge,
    Sampled,
    Transformed,
    Zonal,
    law_named,
    mixture,
)
from lipverify.loss.methods import method_named
from lipverify.loss.montecarlo.accuracy import tally_of  # internal: samples are added until a count, not an error
from lipverify.loss.montecarlo.terms import sampler  # internal: samples at a matrix that is not isotropic
from lipverify.optimum import empirical_window
from lipverify.problem.matrices import complement  # internal: the complement of the relevant directions
from lipverify.problem.symmetry import Symmetry, symmetry  # internal: the group of a problem, and its average
from lipverify.problem.whitening import isotropic_form  # internal: the isotropic form by itself, with its rounding
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
BOTH = ReLU() + Cosine()


def rotation(d: int, address: int) -> Floats:
    return np.linalg.qr(normals(0, "rotation", address, (d, d)))[0]


@st.composite
def covariates(draw: st.DrawFn) -> tuple[int, Covariates]:
    d, address = draw(st.integers(2, 6)), draw(st.integers(0, 10**6))
    Q = rotation(d, address)
    kind = draw(st.sampled_from(["sphere", "ellipsoid", "product"]))
    if kind == "sphere":
        return d, Sphere()
    scale = st.floats(0.1, 10.0)
    if kind == "ellipsoid":
        Sigma = Q @ np.diag(draw(st.lists(scale, min_size=d, max_size=d))) @ Q.T
        return d, Ellipsoid((Sigma + Sigma.T) / 2)
    k = draw(st.integers(1, d - 1))
    return d, ProductOfSpheres(Q[:, :k], c_u=draw(scale), c_v=draw(scale))


@given(which=covariates(), address=st.integers(0, 10**6))
def test_points_lie_in_their_ball_and_on_their_surface(which: tuple[int, Covariates], address: int) -> None:
    d, law = which
    law.require_dimension(d)
    x = law.points(normals(0, "points", address, (50, d)), np)
    sizes = np.linalg.norm(x, axis=1)
    target(float(sizes.max() / law.radius))
    assert np.all(sizes <= law.radius * (1 + 64 * EPS))
    if isinstance(law, Ellipsoid):
        on_surface = np.einsum("ci,ij,cj->c", x, np.linalg.inv(np.array(law.Sigma)), x)
        np.testing.assert_allclose(on_surface, 1.0, rtol=1e4 * EPS)  # condition numbers up to 100
    if isinstance(law, ProductOfSpheres):
        B = np.array(law.B)
        np.testing.assert_allclose(np.linalg.norm(x @ B, axis=1), law.c_u, rtol=64 * EPS)
        np.testing.assert_allclose(np.linalg.norm(x @ complement(B), axis=1), law.c_v, rtol=64 * EPS)


@given(which=covariates())
def test_covariates_and_problems_survive_json(which: tuple[int, Covariates]) -> None:
    d, law = which
    kinds = Sphere | Ellipsoid | ProductOfSpheres
    assert msgspec.json.decode(msgspec.json.encode(law), type=kinds) == law
    problem = Problem(d=d, n=10, law=ReLU(), covariates=law)
    assert problem.replace(n=20).covariates == law
    assert hash(problem) == hash(problem.replace())


@given(which=covariates(), address=st.integers(0, 10**6))
def test_the_group_average_is_a_projection_on_commuting_matrices(which: tuple[int, Covariates], address: int) -> None:
    """The projection is idempotent and fixes the shapes, and the loss is invariant under the group."""
    d, law = which
    group = symmetry(Problem(d=d, n=10, law=Affine(), covariates=law))
    M = normals(0, "matrix", address, (d, d))
    average = group.average(M)
    np.testing.assert_allclose(group.average(average), average, atol=1e3 * EPS)
    shape = law.shape(d)
    assert shape is not None
    np.testing.assert_allclose(average @ shape, shape @ average, atol=float(1e4 * EPS * np.linalg.norm(shape)))
    assert math.isclose(np.trace(average), np.trace(M), abs_tol=1e3 * EPS)


def test_the_symmetry_of_the_theorems() -> None:
    """One space for the sphere, k and d - k for the low-rank problems, the eigenvectors for an ellipsoid."""

    def ranks(problem: Problem) -> list[int]:
        return sorted(round(float(np.trace(P))) for P in symmetry(problem).projectors)

    B = axes(5, 2)
    assert ranks(Problem(d=5, n=10, law=ReLU())) == [5]
    assert ranks(Problem(d=5, n=10, law=LowRank(B))) == [2, 3]
    assert ranks(Problem(d=5, n=10, law=LowRank(B), covariates=ProductOfSpheres(B))) == [2, 3]
    assert ranks(Problem(d=3, n=10, law=ReLU(), covariates=Ellipsoid([4.0, 1.0, 1.0]))) == [1, 2]
    assert ranks(Problem(d=2, n=10, law=Zonal(spectrum=(0.0, 1.0)))) == [2]


def test_no_symmetry_is_claimed_where_none_is_known() -> None:
    skew = np.array([[1.0, 0.5], [0.0, 1.0]])
    assert symmetry(Problem(d=2, n=4, law=Transformed(skew), covariates=Ellipsoid([4.0, 1.0]))).projectors == ()
    sampled = Sampled(lambda rng, contexts, d: lambda x: x[..., 0], extent=2.0)
    assert symmetry(Problem(d=2, n=4, law=sampled)).projectors == ()
    M = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert np.array_equal(Symmetry(()).average(M), M)


def test_a_projection_on_a_space_does_not_mix_it_with_its_complement() -> None:
    """The average of R M R^T over random R that commute with both shapes approaches the projection."""
    B = np.array(axes(3, 1))
    problem = Problem(d=3, n=4, law=LowRank(B))
    M = normals(0, "to average", 0, (3, 3))
    total = np.zeros((3, 3))
    for k in range(400):
        R = np.zeros((3, 3))
        R[0, 0] = 1.0 if normals(0, "sign", k, (1,))[0] > 0 else -1.0
        R[1:, 1:] = rotation(2, k) * (1.0 if normals(0, "reflection", k, (1,))[0] > 0 else -1.0)
        total += R @ M @ R.T / 400
    # 400 rotations: a standard error of |M| / sqrt(400), and five of them are allowed
    np.testing.assert_allclose(total, symmetry(problem).average(M), atol=float(5 * np.linalg.norm(M) / 20))


@pytest.mark.parametrize(
    ("law", "radius"),
    [
        (Affine(), 2.0),
        (Linear(), 2.0),
        (ReLU(), 2.0),
        (Cosine(0.7), 2.0),
        (Cosine(4.0), 2.0),
        (Quadratic(), 2.0),
        (Ridge(np.tanh), 3.0),
        (Transformed([[2.0, 0.0], [1.0, 1.0]], ReLU()), 1.5),
    ],
)
def test_bounds_bound_the_functions(law: Any, radius: float) -> None:
    """On a grid of a disc, for a few hundred functions."""
    angles = np.linspace(0, 2 * np.pi, 200)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    points = np.concatenate([radius * ring, radius / 2 * ring, np.zeros((1, 2))])
    tasks = law.draw(generator(0, "extents", 0), 300, 2)
    values = law.values(tasks, np.broadcast_to(points, (300, *points.shape)), np)
    for f, bound in zip(values, law.bounds(radius), strict=True):
        assert np.max(np.ptp(f, axis=1)) <= bound.extent * (1 + 16 * EPS)
        assert np.max(np.abs(f)) <= bound.magnitude * (1 + 16 * EPS)
        assert np.max(np.ptp(f, axis=1)) > 0.3 * bound.extent, "a bound that says something"


def test_the_linear_law_is_the_affine_one_with_a_fixed_amplitude() -> None:
    one = loss_terms(Problem(d=4, n=30, law=Linear(L=2.0)), [0.5, 5.0])
    other = loss_terms(Problem(d=4, n=30, law=Affine(L=2.0)), [0.5, 5.0])
    np.testing.assert_allclose(one.bias, 3 * other.bias, rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ellipsoid([1.0, -1.0]), "positive definite"),
        (lambda: Ellipsoid([[1.0, 0.5], [0.2, 1.0]]), "symmetric"),
        (lambda: Ellipsoid("wide"), "Sigma"),  # type: ignore[arg-type]
        (lambda: Ellipsoid([[1.0, 0.0]]), "symmetric"),
        (lambda: Ellipsoid([1.0, math.nan]), "finite"),
        (lambda: ProductOfSpheres([[1.0], [1.0]]), "orthonormal"),
        (lambda: ProductOfSpheres(np.eye(2)), "at least one dimension"),
        (lambda: ProductOfSpheres(axes(3, 1), c_v=0.0), "c_v = 0"),
        (lambda: axes(2, 3), "k = 3"),
        (lambda: axes(0, 1), "d = 0"),
        (lambda: MappedNormals(3.0, radius=1.0), "not a function"),  # type: ignore[arg-type]
        (lambda: MappedNormals(abs, radius=math.inf), "radius"),
        (lambda: LowRank([[2.0], [0.0]]), "orthonormal"),
        (lambda: Transformed([[1.0], [math.inf]]), "finite"),
        (lambda: Transformed(np.eye(2), law_of_no_kind), "ridge law"),  # type: ignore[arg-type]
        (lambda: Sampled(abs, extent=-1.0), "extent"),  # type: ignore[arg-type]
        (lambda: Sampled(1.0, extent=1.0), "sampler"),  # type: ignore[arg-type]
        (lambda: Problem(d=3, n=4, law=LowRank(axes(2, 1))), "d = 3"),
        (lambda: Problem(d=3, n=4, law=ReLU(), covariates=Ellipsoid([1.0, 2.0])), "d = 3"),
        (lambda: Problem(d=3, n=4, law=ReLU(), covariates="sphere"), "not covariates"),  # type: ignore[arg-type]
        *(
            (lambda law=law, L=L: law(L=L), "Lipschitz")
            for law in (Affine, ReLU, Cosine, Quadratic)
            for L in (-1.0, math.nan, math.inf, "1", None, True)
        ),
        (lambda: law_named("cubic"), "affine, relu, cosine, quadratic, linear"),
        (lambda: Zonal(), "give one of them"),
        (lambda: Zonal(K=abs, spectrum=(1.0,)), "one of them"),
        (lambda: Zonal(spectrum=()), "spectrum = "),
        (lambda: Zonal(spectrum=(0.0, -1.0)), "spectrum = "),
        (lambda: Zonal(spectrum=(math.inf,)), "spectrum = "),
        (lambda: ReLU() + LowRank([[1.0], [0.0]]), "not isotropic"),
        (lambda: mixture({ReLU(): 0.5}), "sum to 1"),
        (lambda: math.nan * Cosine(), "factor"),
        (lambda: Problem(d=2, n=9, law=BOTH, covariates=Ellipsoid([4, 1])), "a sum of laws needs covariates on the"),
        (lambda: loss_terms(Problem(d=2, n=9, law=BOTH), 4.0, "montecarlo", attention="linear"), "needs softmax"),
        (lambda: optimal_matrix(Problem(d=2, n=9, law=BOTH), attention="linear"), "needs softmax"),
    ],
)
def test_an_invalid_problem_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make()


law_of_no_kind = "affine"


@pytest.mark.parametrize("method", ["exact", "asymptotic", "certified"])
def test_methods_for_isotropic_problems_refuse_others(method: str) -> None:
    for problem in (
        Problem(d=2, n=4, law=ReLU(), covariates=Ellipsoid([4.0, 1.0])),
        Problem(d=2, n=4, law=LowRank(axes(2, 1))),
    ):
        with pytest.raises(InvalidInput, match="montecarlo"):
            loss_terms(problem, 1.0, method_named(method))
        with pytest.raises(InvalidInput, match="montecarlo"):
            optimal_window(problem)


# Problems that whitening makes isotropic: exact values against contexts drawn in the space of x, and refusals.


LEVEL = 1 - 1e-5


def whitened(d: int, address: int, law: Any = ReLU()) -> tuple[Problem, Floats]:  # noqa: B008
    """A problem on an ellipsoid with a law of Sigma^{-1/2} x, and Sigma^{-1}."""
    Q = np.linalg.qr(normals(0, "whitening", address, (d, d)))[0]
    values = np.geomspace(0.25, 4.0, d)
    Sigma, root = (Q * values) @ Q.T, (Q / np.sqrt(values)) @ Q.T
    covariates = Ellipsoid((Sigma + Sigma.T) / 2)
    return Problem(d=d, n=20, law=Transformed(root, law), covariates=covariates), (Q / values) @ Q.T


@settings(max_examples=4)
@given(d=st.integers(2, 5), w=log_floats(0.3, 8.0), factor=log_floats(0.1, 10.0), address=st.integers(0, 10**6))
def test_exact_terms_are_those_of_whole_contexts(d: int, w: float, factor: float, address: int) -> None:
    """False alarms: 1e-5 for each term of each example. The control: another factor is another loss."""
    problem, inverse = whitened(d, address)
    exact = loss_terms(problem, w / factor, "exact", M=factor * inverse)
    drawn = sampler(problem, np.array([w / factor]), factor * inverse, stream=f"{address}/{w}")
    value, half_width = tally_of(drawn, 6000).interval(LEVEL)
    units = np.array([problem.sigma**2, drawn.unit])
    truth = np.array([float(exact.noise), float(exact.bias)])
    target(float(np.max(np.abs(units * value - truth) / (units * half_width))))
    assert np.all(units * half_width < 0.5 * truth)
    assert np.all(np.abs(units * value - truth) <= units * half_width)
    other = loss_terms(problem, 2 * w / factor, "exact", M=factor * inverse)
    assert abs(units[0] * value[0] - float(other.noise)) > units[0] * half_width[0]


def test_errors_grow_by_how_far_the_matrices_are_off() -> None:
    """With M typed to eleven digits the change is within the error; otherwise the error is that of the exact method."""
    problem, inverse = whitened(3, 7)
    typed = inverse * (1 + 1e-11 * np.sign(inverse - np.mean(inverse)))
    one, other = (loss_terms(problem, 4.0, "exact", M=M) for M in (inverse, typed))
    assert isotropic_form(problem, typed).off > 1e-13
    assert float(one.bias_error) < 1e-11 * float(one.bias)
    assert float(other.bias_error) > float(one.bias_error)
    assert abs(float(other.bias) - float(one.bias)) <= float(other.bias_error) + float(one.bias_error)


def test_the_best_window_of_a_whitened_problem() -> None:
    problem, inverse = whitened(3, 3, Affine(L=2.0))
    sphere = optimal_window(Problem(d=3, n=20, law=Affine(L=2.0)))
    exact = optimal_window(problem, M=2 * inverse)
    assert exact.problem == problem
    assert exact.w == pytest.approx(sphere.w / 2, rel=1e-12)
    assert exact.loss == pytest.approx(sphere.loss, rel=1e-12)
    sampled = empirical_window(problem, M=2 * inverse, contexts=4000)
    assert sampled.w_error < 0.15 * sampled.w
    assert abs(sampled.w - exact.w) <= 2 * sampled.w_error
    assert abs(sampled.loss - exact.loss) <= 2 * sampled.loss_error


@pytest.mark.parametrize(
    ("changes", "M", "said"),
    [
        ({}, None, "A^T M A is no positive multiple"),
        ({}, -np.eye(3), "A^T M A is no positive multiple"),
        ({}, np.zeros((3, 3)), "A^T M A is no positive multiple"),
        ({"law": ReLU()}, "inverse", "f is not isotropic in u"),
        ({"law": LowRank(axes(3, 1), ReLU())}, "inverse", "f is not isotropic in u"),
        ({"covariates": Gaussian([1.0, 1.0, 2.0])}, None, "A^T M A is no positive multiple"),
        ({"covariates": ProductOfSpheres(axes(3, 1))}, "inverse", "neither an ellipsoid nor normal"),
        ({}, np.eye(2), "3 x 3"),
    ],
)
def test_a_problem_without_an_isotropic_form_is_refused(changes: dict[str, Any], M: Any, said: str) -> None:
    problem, inverse = whitened(3, 1)
    matrix = inverse if isinstance(M, str) else M
    with pytest.raises(InvalidInput) as refusal:
        loss_terms(problem.replace(**changes), 1.0, "exact", M=matrix)
    assert said in str(refusal.value)
    with pytest.raises(InvalidInput):
        optimal_window(problem.replace(**changes), M=matrix)


def test_only_the_exact_method_whitens() -> None:
    problem, inverse = whitened(3, 1)
    for method in ("asymptotic", "certified"):
        with pytest.raises(InvalidInput, match="isotropic"):
            loss_terms(problem, 1.0, method_named(method), M=inverse)
