"""Measurements of training against what can be derived, and the claims that are read off them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, target
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from checks import lowrank_nonlinear, norm_growth, trained_form
from lipverify import Problem, optimal_window
from lipverify.claims.claim import CellPlan, Claim
from lipverify.claims.registry import profile_named
from lipverify.claims.softmax.block_training import (
    OFFSET,
    SPURIOUS,
    BlockTraining,
    block_training,
    linear_relevant_scale,
    low_rank_law,
    minimised_scales,
)
from lipverify.claims.softmax.trained_form import FormTraining
from lipverify.claims.softmax.training import (
    LEVEL,
    RELEVANT,
    NormGrowth,
    Recipe,
    covariates_named,
    derived_gradient_at_zero,
    descended_window,
    gradient_at_zero,
    paired_interval,
)
from lipverify.claims.verdict import decide
from lipverify.laws import law_named
from lipverify.loss import loss_terms
from lipverify.loss.attention import attention_named, mean_loss_and_gradient, samples
from lipverify.loss.montecarlo.contexts import draw_contexts
from lipverify.loss.streams import normals
from tests.strategies import log_floats

Floats = NDArray[np.float64]
EPS = float(np.finfo(float).eps)
QUICK = profile_named("quick")
D = RELEVANT + SPURIOUS


@given(values=st.lists(st.integers(-1000, 1000), min_size=2, max_size=20, unique=True))
def test_the_interval_is_where_a_t_test_says_one_percent(values: list[int]) -> None:
    mean, error = paired_interval([float(value) for value in values])
    assert ttest_1samp(values, mean + error).pvalue == pytest.approx(1 - LEVEL, rel=1e-6)


@pytest.mark.parametrize(("covariates", "d", "n"), [("sphere", 2, 4), ("sphere", 4, 10), ("ellipsoid", 3, 5)])
def test_the_gradient_at_zero_is_the_derived_one(covariates: str, d: int, n: int) -> None:
    """At twice the 95 % half-width; the control leaves the factor 1 - 1/n out."""
    sampled, error = gradient_at_zero("relu", covariates, d, n, 0.7, 2.0, 160_000, seed=5)
    derived, _ = derived_gradient_at_zero(covariates, d, n, 2.0)
    assert abs(sampled - derived) <= 2 * error
    assert abs(sampled - derived / (1 - 1 / n)) > 2 * error


def test_descent_on_the_exact_loss_ends_at_its_minimum() -> None:
    recipe = Recipe(optimiser="gd", learning_rate=20.0, steps=3000, batch=1, start=0.1)
    best = optimal_window(Problem(d=3, n=100, law=law_named("cosine", L=1.0), sigma=0.5))
    w, error = descended_window("cosine", 3, 100, 0.5, 1.0, recipe, 2 * best.w)
    assert abs(w - best.w) <= 2 * error
    assert error < 0.01 * best.w


def test_one_step_of_that_descent_is_the_derivative_over_d() -> None:
    recipe = Recipe(optimiser="gd", learning_rate=0.5, steps=1, batch=1, start=2.0)
    p, h = Problem(d=4, n=200, law=law_named("affine", L=2.0), sigma=0.5), 1e-3
    below, above = loss_terms(p, [2.0 - h, 2.0 + h]).total
    w, error = descended_window("affine", 4, 200, 0.5, 2.0, recipe, 6.0)
    assert abs(w - (2.0 - 0.5 * (above - below) / (2 * h) / 4)) <= 4 * error
    assert error < 0.01 * abs(w - 2.0)


def test_a_recipe_starts_where_it_says_and_is_a_function_of_its_address() -> None:
    recipe = Recipe(optimiser="adam", learning_rate=0.1, steps=4, batch=4, start=2.0)
    problem = Problem(d=3, n=5, law=law_named("relu", L=1.0))
    one, again, other = (recipe.run(problem, "softmax", 2, 64, 1, cell) for cell in ("a", "a", "b"))
    np.testing.assert_allclose(
        one.M[0], 2.0 * (np.eye(3) + 0.1 * normals(1, "a/perturbation", 0, (3, 3))), rtol=4 * EPS
    )
    assert np.array_equal(one.M, again.M)
    assert not np.any(one.M == other.M)
    for words in ("Adam", "0.1", "4 steps", "w_0 = 2"):
        assert words in recipe.words


@pytest.mark.parametrize(
    ("family", "link"),
    [("affine", lambda z: z + 2), ("quadratic", lambda z: z * z), ("cosine", lambda z: np.cos(4 * z))],
)
def test_the_families_are_those_of_the_slide(family: str, link: Any) -> None:
    """Functions of the first k coordinates alone, by directions of norm 1 in them."""
    law = low_rank_law(family)
    tasks = law.draw(np.random.default_rng(0), 5, D)
    np.testing.assert_allclose(np.linalg.norm(tasks[:, :RELEVANT], axis=1), 1, rtol=4 * EPS)
    assert not np.any(tasks[:, RELEVANT:])
    points = np.random.default_rng(1).standard_normal((5, 7, D))
    [values] = law.values(tasks, points, np)
    wanted = math.sqrt(law.amplitude_variance) * link(np.einsum("cd,cid->ci", tasks, points))
    np.testing.assert_allclose(math.sqrt(law.amplitude_variance) * values, wanted, rtol=0, atol=64 * EPS)


@given(size=log_floats(1e-2, 1e2), name=st.sampled_from(["sphere", "product"]))
def test_linear_attention_cannot_predict_the_offset(size: float, name: str) -> None:
    """The prediction is odd in the query: with the query's mirror image the mean error is 2^2 or more."""
    problem = Problem(d=D, n=6, law=low_rank_law("affine"), covariates=covariates_named(name, D))
    contexts = draw_contexts(problem, 50, 0, f"odd/{size}")
    M = size * normals(0, f"odd/{size}/matrix", 0, (D, D))
    s = np.einsum("cni,ij,cj->cn", contexts.tokens, M, contexts.query)
    prediction = np.mean(s * contexts.values[0], axis=1)
    target_at, mirrored_at = contexts.targets[0], 2 * OFFSET - contexts.targets[0]
    error = ((prediction - target_at) ** 2 + (-prediction - mirrored_at) ** 2) / 2
    scale = np.max(np.abs(prediction)) + OFFSET + 1
    target(-float(np.min(error)))
    assert np.min(error) >= OFFSET**2 - 16 * EPS * scale**2
    _, bias = samples(attention_named("linear"), contexts, M)
    np.testing.assert_allclose(bias, (prediction - target_at) ** 2, rtol=0, atol=64 * EPS * scale**2)


@pytest.mark.parametrize("family", ["quadratic", "cosine"])
def test_linear_attention_has_no_slope_at_zero_on_even_families(family: str) -> None:
    """Contexts with the mirror image of the query: the gradient at M = 0 vanishes; on the affine family it does not."""

    def slope(name: str) -> float:
        problem = Problem(d=D, n=6, law=low_rank_law(name), covariates=covariates_named("product", D))
        contexts = draw_contexts(problem, 400, 0, "even")
        _, gradient = mean_loss_and_gradient(attention_named("linear"), contexts, np.zeros((D, D)), 0.0, 1.0)
        targets = contexts.targets[0] if name != "affine" else 2 * OFFSET - contexts.targets[0]
        s = np.einsum("c,cn,cni,cj->ij", targets, contexts.values[0], contexts.tokens, -contexts.query) * -2 / 6 / 400
        return float(np.linalg.norm(gradient + s))

    assert slope(family) <= 1e3 * EPS
    assert slope("affine") > 0.01


@pytest.mark.parametrize(("n", "sigma"), [(4, 0.1), (16, 1.0)])
def test_the_relevant_scale_of_linear_attention_in_closed_form(n: int, sigma: float) -> None:
    """At twice the half-width; the control forgets the constant in the mean square of a label."""
    found, error, spurious, spurious_error = minimised_scales(n, sigma, 16_384, seed=2)
    assert abs(spurious) <= 2 * spurious_error < found  # a spurious scale like the relevant one would be seen
    assert abs(found - linear_relevant_scale(n, sigma)) <= 2 * error
    assert error < 0.2 * found
    v = OFFSET**2 + 1 / RELEVANT + sigma**2
    without_offset = (1 / RELEVANT**2) / ((1 - 1 / n) / RELEVANT**3 + (v - OFFSET**2) / (n * RELEVANT))
    assert abs(found - without_offset) > 2 * error


def test_rho_is_the_spurious_block_over_the_relevant_one() -> None:
    recipe = Recipe(optimiser="adam", learning_rate=0.05, steps=40, batch=16, start=1.0)
    softmax, linear = (
        block_training("quadratic", kind, "product", 8, 0.1, recipe, 8, 0) for kind in ("softmax", "linear")
    )
    assert len(softmax.steps) == 11
    assert softmax.rho[0][0] == linear.rho[0][0]
    assert softmax.nothing == linear.nothing
    start = np.eye(D) + 0.1 * normals(0, "block/quadratic/product/0/perturbation", 0, (D, D))
    norms = [np.linalg.norm(start[block, block], 2) for block in (slice(RELEVANT), slice(RELEVANT, D))]
    assert softmax.rho[0][0] == pytest.approx(norms[1] / norms[0], rel=1e-12)
    assert sum(softmax.log_change("rho")) < 0 < linear.log_change("rho")[0] + linear.log_change("rho")[1]


GROWING = NormGrowth(
    L=(1.0, 2.0),
    steps=tuple(range(9)),
    norms=(((1.0,) * 9, (1.1,) * 9, (0.9,) * 9), ((2.0,) * 9, (2.1,) * 9, (1.9,) * 9)),
    scales=(((1.0,) * 9,) * 3, ((2.0,) * 9,) * 3),
)


def verdicts(cell: CellPlan, result: Any) -> tuple[str, str]:
    """The cell's verdict and its control's on a result."""
    return (
        decide(cell.read(result, cell.allowed).interval, cell.allowed),
        decide(cell.read(result, cell.control).interval, cell.control),
    )


def first(claims: tuple[Claim, ...], id: str) -> tuple[CellPlan, ...]:
    [found] = [claim for claim in claims if claim.id == id]
    return found.cells


def test_the_order_of_norms_is_read_off_as_it_is() -> None:
    """The same numbers, and the same turned around."""
    cell = first(norm_growth.claims(QUICK), "softmax.norm-growth/relu/isotropic")[0]
    turned = NormGrowth(L=GROWING.L, steps=GROWING.steps, norms=GROWING.norms[::-1], scales=GROWING.scales)
    assert verdicts(cell, GROWING) == ("supported", "refuted")
    assert verdicts(cell, turned) == ("refuted", "supported")


def test_a_row_of_the_scale_of_m_refutes_the_block_form() -> None:
    cells = first(trained_form.claims(QUICK), "softmax.trained-form/relu/row")[:3]

    def form(row: tuple[float, float], curvature: float) -> FormTraining:
        spread = (0.99, 1.0, 1.01)
        rows = tuple((row[0], row[1] * s) for s in spread)
        bends = tuple(curvature * s for s in spread)
        return FormTraining(steps=(0, 1), scale=rows, row=rows, column=rows, corner=rows, curvature=bends, unseen=0.0)

    assert [verdicts(cell, form((0.3, 0.03), 0.2)) for cell in cells] == [("supported", "refuted")] * 3
    assert [verdicts(cell, form((0.3, 0.7), -0.2)) for cell in cells] == [("refuted", "supported")] * 3


@pytest.mark.parametrize(("attention", "end"), [("softmax", 0.1), ("linear", 1.1)])
def test_the_fall_of_rho_is_read_off_as_it_is(attention: str, end: float) -> None:
    cell = first(lowrank_nonlinear.claims(QUICK), f"lowrank.nonlinear/quadratic/{attention}/rho")[0]

    def block(last: float) -> BlockTraining:
        curves = tuple((1.0, last * s) for s in (0.99, 1.0, 1.01))
        return BlockTraining(steps=(0, 1), rho=curves, relevant=curves, loss=curves, nothing=(1.0,) * 3)

    other = {0.1: 1.1, 1.1: 0.1}[end]
    assert verdicts(cell, block(end)) == ("supported", "refuted")
    assert verdicts(cell, block(other))[0] == "refuted"


@pytest.mark.parametrize("module", [norm_growth, trained_form, lowrank_nonlinear])
def test_every_claim_has_two_settings_a_figure_and_a_control(module: Any) -> None:
    for claim in module.claims(QUICK):
        settings = {
            str(argument)
            for task in claim.tasks.values()
            for argument in task.arguments
            if isinstance(argument, Recipe)
        }
        assert len(settings) >= 2, claim.id
        assert claim.figures is not None
        assert all(cell.control != cell.allowed for cell in claim.cells)
