"""The strategies: their examples are valid, include the corners, and shrink to the simplest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from lipverify import Problem, loss_terms
from lipverify.covariates import Ellipsoid, ProductOfSpheres, Sphere
from lipverify.errors import InvalidInput
from lipverify.laws import Affine, Law, LowRank, Quadratic, ReLU, Ridge, RidgeLaw, Transformed, Zonal
from lipverify.strategies import (
    constants,
    covariates,
    dimensions,
    laws,
    lengths,
    named_laws,
    points,
    problems,
    ridge_laws,
    rotations,
    windows,
    zonal_laws,
)

EXAMPLES = 1000
"""Number of examples within which a corner must occur."""
SEARCH = settings(max_examples=EXAMPLES, database=None, derandomize=True, deadline=None, phases=[Phase.generate])
SIMPLEST = settings(SEARCH, phases=[Phase.generate, Phase.shrink])

# d, n and sigma are drawn whatever the law is, and to draw laws takes longest
DIRECTED = problems(d=5, isotropic=False).map(lambda problem: problem.law)
CORNERS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], bool]]] = {
    "two dimensions": (problems(law=Affine()), lambda p: p.d == 2),
    "twenty dimensions": (problems(law=Affine()), lambda p: p.d == 20),
    "two tokens": (problems(law=Affine()), lambda p: p.n == 2),
    "an odd number of tokens": (problems(law=Affine()), lambda p: p.n == 19),
    "1e30 tokens": (problems(law=Affine()), lambda p: p.n == 1e30),
    "some decade in between": (lengths(), lambda n: 1e14 < n < 1e15),
    "more than double precision": (lengths(), lambda n: 2.0**53 < n < 1e17),
    "little noise": (problems(law=Affine()), lambda p: p.sigma == 0.1),
    "much noise": (problems(law=Affine()), lambda p: p.sigma == 10.0),
    "a window of zero": (windows(), lambda w: w == 0),
    "the smallest w": (windows(), lambda w: 0 < w < 1e-5),
    "the largest w": (windows(), lambda w: w == 1e4),
    "affine": (laws(), lambda law: isinstance(law, Affine)),
    "relu": (laws(), lambda law: isinstance(law, ReLU)),
    "cosine": (laws(), lambda law: law.name == "cosine" and law.L > 5),
    "quadratic": (laws(), lambda law: isinstance(law, Quadratic)),
    "smooth link": (laws(), lambda law: isinstance(law, Ridge) and not law.kinks),
    "a kink off the equator": (laws(), lambda law: isinstance(law, Ridge) and any(abs(c) > 0.5 for c in law.kinks)),
    "four kinks": (ridge_laws(), lambda law: len(law.kinks) == 4),
    "a kink next to a pole": (ridge_laws(), lambda law: any(abs(c) == 0.99 for c in law.kinks)),
    "covariance by a spectrum with a gap": (laws(), lambda law: _spectrum(law)[-3:-1] == (0.0, 0.0)),
    "covariance by a function": (laws(), lambda law: isinstance(law, Zonal) and law.K is not None),
    "covariance of degree eight": (zonal_laws(), lambda law: len(_spectrum(law)) == 9),
    "an even law": (zonal_laws(), lambda law: not any(_spectrum(law)[1::2]) and law.spectrum is not None),
    "low rank": (DIRECTED, lambda law: isinstance(law, LowRank) and np.shape(law.B)[1] == 4),
    "transformed": (DIRECTED, lambda law: isinstance(law, Transformed) and not isinstance(law, LowRank)),
    "an ellipsoid of large condition": (
        covariates(3),
        lambda law: isinstance(law, Ellipsoid) and _condition(law) > 100,
    ),
    "products of every split": (
        covariates(4),
        lambda law: isinstance(law, ProductOfSpheres) and np.shape(law.B)[1] == 3,
    ),
    "a reflection": (rotations(3), lambda R: np.linalg.det(R) < 0),
    "a rotation": (rotations(3), lambda R: np.linalg.det(R) > 0 and abs(R[0, 0]) < 0.5),
    "both anisotropies at once": (
        problems(isotropic=False),
        lambda p: isinstance(p.law, Transformed) and isinstance(p.covariates, Ellipsoid),
    ),
}


def _spectrum(law: Law) -> tuple[float, ...]:
    return (law.spectrum if isinstance(law, Zonal) else None) or ()


def _condition(law: Ellipsoid) -> float:
    return float(np.linalg.cond(np.array(law.Sigma)))


@pytest.mark.parametrize("corner", CORNERS)
def test_every_corner_is_reached(corner: str) -> None:
    strategy, there = CORNERS[corner]
    assert there(find(strategy, there, settings=SEARCH))


def test_a_corner_that_is_out_of_bounds_is_not_reached() -> None:
    """The control of the test above."""
    with pytest.raises(NoSuchExample):
        find(
            problems(d=(2, 5), n=(2, 1e6), law=Affine()),
            lambda p: p.d > 5 or p.n > 1e6 or p.sigma > 10,
            settings=settings(SEARCH, max_examples=EXAMPLES // 4),
        )


MINIMA: list[tuple[st.SearchStrategy[Any], Callable[[Any], bool], Any]] = [
    (problems(), lambda p: True, Problem(d=2, n=2, law=Affine(L=1.0), sigma=1.0)),
    (problems(isotropic=False), lambda p: True, Problem(d=2, n=2, law=Affine(L=1.0), sigma=1.0)),
    (problems(), lambda p: p.d >= 7, Problem(d=7, n=2, law=Affine(L=1.0), sigma=1.0)),
    (problems(), lambda p: isinstance(p.law, ReLU), Problem(d=2, n=2, law=ReLU(L=1.0), sigma=1.0)),
    (problems(n=(1, 10), sigma=(2.0, 3.0)), lambda p: p.d > 2, Problem(d=3, n=1, law=Affine(), sigma=2.0)),
    (problems(law=ReLU(2.0), d=4), lambda p: True, Problem(d=4, n=2, law=ReLU(2.0), sigma=1.0)),
    (windows(), lambda w: True, 0.0),
    (windows(), lambda w: w > 0, 1.0),
    (lengths(), lambda n: n > 2, 3),
    (laws(), lambda law: not isinstance(law, RidgeLaw), Zonal(spectrum=(0.0, 1.0))),
    (covariates(3), lambda law: True, Sphere()),
]


@pytest.mark.parametrize(("strategy", "condition", "simplest"), MINIMA)
def test_examples_shrink_to_the_simplest(
    strategy: st.SearchStrategy[Any], condition: Callable[[Any], bool], simplest: Any
) -> None:
    found = find(strategy, condition, settings=SIMPLEST)
    # bounds that leave 1 out shrink to a number between them
    if isinstance(simplest, Problem) and simplest.sigma == 2.0:
        assert 2.0 <= found.sigma <= 3.0
        found = found.replace(sigma=2.0)
    assert found == simplest


@given(st.data(), st.integers(2, 20))
def test_drawn_problems_are_valid_and_within_their_bounds(data: st.DataObject, d: int) -> None:
    problem = data.draw(problems(d=d, n=(3, 1e9), sigma=(0.5, 0.7), isotropic=False))
    assert problem.d == d
    assert 3 <= problem.n <= 1e9
    assert float(problem.n).is_integer()
    assert 0.5 <= problem.sigma <= 0.7
    x = data.draw(points(d, 3))
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-14)
    R = data.draw(rotations(d))
    np.testing.assert_allclose(R @ R.T, np.eye(d), atol=1e-13)


@given(law=ridge_laws(L=(0.5, 3.0)))
def test_links_are_no_steeper_than_they_say_and_smooth_between_kinks(law: Ridge) -> None:
    z = np.linspace(-1, 1, 2001)
    slopes = np.diff(law.link(z)) / np.diff(z)
    assert np.max(np.abs(slopes)) <= 3.0 * (1 + 1e-9)
    jumps = np.abs(np.diff(slopes))
    near_a_kink = np.array([np.any(np.abs(z[1:-1, None] - np.array(law.kinks)) < 2e-3, axis=1)]).ravel()
    # a smooth slope moves by at most 3 * 2 pi between neighbours, times their distance
    assert not np.any(jumps[~near_a_kink] > 3.0 * 2 * np.pi * 1.1e-3)


@settings(max_examples=10)
@given(problem=problems(d=(2, 5), n=(2, 1e4), law=st.one_of(named_laws("affine", "quadratic"), zonal_laws(degree=3))))
def test_isotropic_problems_are_for_the_exact_method(problem: Problem) -> None:
    terms = loss_terms(problem, 1.0)
    assert terms.bias_error <= 1e-6 * terms.bias


@settings(max_examples=10)
@given(problem=problems(d=(2, 4), n=(2, 20), isotropic=False))
def test_any_problem_with_functions_is_for_sampling(problem: Problem) -> None:
    if not isinstance(problem.law, Zonal):
        terms = loss_terms(problem, 1.0, "montecarlo", contexts=64)
        assert np.isfinite(terms.total)


def test_drawn_laws_are_printed_as_python_that_makes_them() -> None:
    """A printed example can be typed in again."""
    law = find(ridge_laws("kinked"), lambda law: True, settings=SIMPLEST)
    assert repr(law) == "Ridge(link=Kinked(L=1.0, kinks=(0.0,)), kinks=(0.0,), jumps=())"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dimensions(1), "low = 1"),
        (lambda: dimensions(high=2.5), "high = 2.5"),  # type: ignore[arg-type]
        (lambda: dimensions(5, 3), "reversed"),
        (lambda: dimensions(True), "low = True"),
        (lambda: lengths(0), "low = 0"),
        (lambda: lengths(high=1e31), "high = 1e"),
        (lambda: lengths(2.5), "low = 2.5"),
        (lambda: lengths(10, 5), "reversed"),
        (lambda: windows(-1.0), "low = -1.0"),
        (lambda: windows(high=np.inf), "high = inf"),
        (lambda: windows(high=np.nan), "high = nan"),
        (lambda: constants(0.0), "low = 0.0"),
        (lambda: constants(2.0, 1.0), "reversed"),
        (lambda: constants("a", 1.0), "low = 'a'"),  # type: ignore[arg-type]
        (lambda: named_laws("cubic"), "cubic"),
        (lambda: named_laws(L=3.0), "L = 3.0"),  # type: ignore[arg-type]
        (lambda: named_laws(L=(3.0, 1.0)), "L = (3.0, 1.0)"),
        (lambda: ridge_laws("rough"), "kind = 'rough'"),
        (lambda: zonal_laws(degree=0), "degree = 0"),
        (lambda: covariates(1), "1"),
        (lambda: covariates(1), "low = 1"),
        (lambda: points(3, 0), "count = 0"),
        (lambda: problems(d=(1, 5)), "d = (1, 5)"),
        (lambda: problems(d=(2, 3, 4)), "d = (2, 3, 4)"),  # type: ignore[arg-type]
        (lambda: problems(d=1), "d = 1"),
        (lambda: problems(n=(2, 1e40)), "n = (2, 1e+40)"),
        (lambda: problems(n=0), "n = 0"),
        (lambda: problems(sigma=(0.0, 1.0)), "sigma = (0.0, 1.0)"),
        (lambda: problems(sigma=-1.0), "sigma = -1.0"),
        (lambda: problems(law="affine"), "law = 'affine'"),  # type: ignore[arg-type]
        (lambda: problems(covariates="sphere"), "covariates = 'sphere'"),  # type: ignore[arg-type]
        (lambda: problems(d=3, law=LowRank([[1.0], [0.0]])), "2 rows and d = 3"),
    ],
)
def test_a_bound_that_makes_no_sense_is_refused_at_once(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        make()
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_hypothesis_one_line_names_the_package() -> None:
    code = "import sys; sys.modules['hypothesis'] = None; import lipverify.strategies"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last == (
        "ImportError: lipverify.strategies needs Hypothesis, which is not installed: pip install 'lipverify[testing]'."
    )
