"""Laws of prompts: what is drawn, by which address, and on which array library."""

from __future__ import annotations

from typing import Any

import array_api_strict
import msgspec
import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.covariates import Coordinates, Covariates, Gaussian, MappedNormals, Mixture, Pool, Sparse, Sphere
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation import Floats
from lipverify.laws import RBF, Affine, Cosine, ReLU, Sampled
from lipverify.linear_transformer import CategoricalNoise, UniformNoise
from lipverify.prompts import Prompts, predictors, risk

SOME = Prompts(d=3, n=5, tasks=Pool(4, seed=2), sigma=UniformNoise(1.0), query=Sphere())


def task_of(prompts: Prompts, seed: int = 0) -> Floats:
    return np.asarray(prompts.draw(1000, seed=seed).task)


def test_prompt_number_j_is_a_function_of_its_address() -> None:
    few, many = (SOME.draw(count, seed=1, stream="a") for count in (5, 3000))
    other = SOME.draw(5, seed=1, stream="b")
    for a, b, c in zip(few, many, other, strict=True):
        assert np.array_equal(a, b[:5])
        assert not np.array_equal(a, c)


def test_another_library_gets_the_same_numbers() -> None:
    for a, b in zip(SOME.draw(7, seed=0), SOME.draw(7, seed=0, xp=array_api_strict), strict=True):
        assert b.__array_namespace__() is array_api_strict
        assert np.array_equal(a, np.asarray(b))


@pytest.mark.parametrize(
    "prompts",
    [
        SOME,
        Prompts(d=2, n=4, covariates=Mixture([(0.5, Sphere()), (0.5, Coordinates("gamma", 2.0))]), tasks=Sparse(1)),
        Prompts(d=2, n=4, covariates=Gaussian([2.0, 0.0]), tasks=ReLU(L=2.0), sigma=CategoricalNoise((0.0, 1.0))),
    ],
)
def test_a_law_prints_hashes_and_is_written_to_json(prompts: Prompts) -> None:
    again = eval(repr(prompts))
    assert again == prompts
    assert hash(again) == hash(prompts)
    assert prompts.replace(n=9) != prompts == prompts.replace()
    law = prompts.covariates
    if not isinstance(law, Mixture):
        written = msgspec.json.encode(prompts)
        kept = msgspec.json.decode(
            msgspec.json.decode(written, type=dict[str, msgspec.Raw])["covariates"], type=type(law)
        )
        assert kept == law


def test_labels_are_the_task_and_its_noise() -> None:
    drawn = SOME.replace(sigma=0.0).draw(2000, seed=0)
    assert drawn.task is not None
    np.testing.assert_allclose(drawn.y, np.einsum("cnd,cd->cn", drawn.x, drawn.task), rtol=1e-12)
    np.testing.assert_allclose(drawn.target, np.einsum("cd,cd->c", drawn.query, drawn.task), rtol=1e-12)
    assert np.allclose(np.linalg.norm(drawn.query, axis=1), 1)
    for sigma, second in ((0.5, 0.25), (UniformNoise(3.0), 3.0), (CategoricalNoise((1.0, 3.0)), 5.0)):
        noisy = SOME.replace(sigma=sigma)
        noise = noisy.draw(2000, seed=0).y - drawn.y
        assert noisy.noise.second_moment == second
        assert np.mean(noise**2) == pytest.approx(second, rel=0.1)


def test_a_pool_has_its_members_in_every_prompt_and_no_others() -> None:
    """The old law of prompts drew normal tasks with the second moment of the pool."""
    members = SOME.tasks.vectors(3)
    for seed in (0, 1):
        task = task_of(SOME, seed)
        assert {tuple(row) for row in task} == {tuple(row) for row in members}
    given = Pool(members)
    assert {tuple(row) for row in task_of(SOME.replace(tasks=given))} == {tuple(row) for row in members}
    assert not np.array_equal(Pool(4, seed=3).vectors(3), members)


def test_sparse_and_low_rank_tasks_are_such() -> None:
    task = task_of(SOME.replace(tasks=Sparse(2, Coordinates("sign"))))
    assert np.all(np.sum(np.abs(task) == 1, axis=1) == 2)
    assert np.abs(np.mean(task != 0, axis=0) - 2 / 3).max() < 0.06
    B = np.array([[1.0], [2.0], [0.0]])
    low = task_of(SOME.replace(tasks=Gaussian(B @ B.T)))
    np.testing.assert_allclose(np.cross(low, B[:, 0]), 0, atol=1e-7)


@pytest.mark.parametrize("law", [Affine(), ReLU(L=2.0), Cosine(3.0), ReLU() + 2 * Cosine(3.0)])
def test_functions_have_the_loss_of_the_exact_method(law: Any) -> None:
    exact = loss_terms(Problem(d=3, n=10, law=law, sigma=0.5), 4.0).total
    here = Prompts(d=3, n=10, covariates=Sphere(), tasks=law, sigma=0.5)
    value, half_width = risk(here, predictors.softmax_attention(4.0), contexts=20_000)
    assert abs(value - float(exact)) < 1.5 * half_width < 0.1 * float(exact)


def test_a_sampler_of_functions_is_drawn() -> None:
    def slopes(rng: np.random.Generator, contexts: int, d: int) -> Any:
        q = rng.standard_normal((contexts, 1, d))
        return lambda x: (q * x).sum(axis=-1)

    here = Prompts(d=2, n=6, tasks=Sampled(slopes, extent=1.0))
    assert here.draw(3, seed=0).task is None
    assert risk(here, predictors.ridge(0.0), contexts=500, most=1.0)[0] < 1e-20


LONG = Prompts(d=2, n=1e30)
REFUSED: dict[str, tuple[Any, str]] = {
    "no dimension": (lambda: Prompts(d=0, n=5), "d = 0"),
    "no tokens": (lambda: Prompts(d=2, n=0), "n = 0"),
    "covariates": (lambda: Prompts(d=2, n=5, covariates=[1.0, 2.0]), "covariates = "),  # type: ignore[arg-type]
    "another dimension": (lambda: Prompts(d=3, n=5, covariates=Gaussian([1.0, 1.0])), "Sigma has 2 rows and d = 3"),
    "tasks": (lambda: Prompts(d=2, n=5, tasks=np.eye(2)), "tasks = .*law of w"),
    "fields": (lambda: Prompts(d=2, n=5, tasks=RBF()), "tasks = RBF"),
    "noise": (lambda: Prompts(d=2, n=5, sigma=-1.0), r"sigma = -1\.0"),
    "another field": (lambda: SOME.replace(m=3), "m is not a field"),
    "too long": (lambda: LONG.draw(1, seed=0), "numbers a prompt"),
    "seed": (lambda: SOME.draw(1, seed=-1), "seed = -1"),
    "contexts": (lambda: SOME.draw(0, seed=0), "contexts = 0"),
    "marginal": (lambda: Coordinates("cauchy"), "marginal = 'cauchy'"),
    "parameter": (lambda: Coordinates("student", 2.0), r"parameter = 2\.0"),
    "no parameter": (lambda: Coordinates("gamma"), "parameter = None"),
    "one too many": (lambda: Coordinates("uniform", 2.0), "has none"),
    "scale": (lambda: Coordinates(scale=0.0), r"scale = 0\.0"),
    "empty pool": (lambda: Pool(0), "members = 0"),
    "ragged members": (lambda: Pool([[1.0, 2.0], [1.0]]), "members = "),
    "too many": (lambda: SOME.draw(10**15, seed=0), "contexts = 1000000000000000"),
    "large scale": (lambda: Coordinates(scale=1e200), "scale = "),
    "no members": (lambda: Pool([]), "members = "),
    "members": (lambda: Prompts(d=3, n=5, tasks=Pool([[1.0, 2.0]])), "members are in R"),
    "law of members": (lambda: Pool(3, law=3), "law = 3"),  # type: ignore[arg-type]
    "active": (lambda: Prompts(d=3, n=5, tasks=Sparse(4)), "active = 4"),
    "mixture": (lambda: Mixture([(0.5, Sphere())]), "sum to 1"),
    "parts": (lambda: Mixture([(1.0, 3)]), "law = 3"),  # type: ignore[list-item]
    "of a problem": (
        lambda: loss_terms(Problem(d=2, n=3, law=ReLU(), covariates=Pool(3)), 1.0, "montecarlo", interval="normal"),
        r"lipverify\.prompts\.Prompts",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_breaks_its_rule_is_refused_in_one_line(name: str) -> None:
    call, words = REFUSED[name]
    with pytest.raises((InvalidInput, OutOfReach), match=words) as error:
        call()
    assert "\n" not in str(error.value)


def test_covariates_of_your_own_are_drawn() -> None:
    ball: Covariates = MappedNormals(lambda z: z / (1 + abs(z).max(axis=-1, keepdims=True)), radius=2.0)
    assert np.abs(Prompts(d=2, n=3, covariates=ball).draw(100, seed=0).x).max() < 1
