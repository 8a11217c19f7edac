"""Measurements of training on low-rank families agree with derived results."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify.checks.softmax import lowrank_training as theorem
from lipverify.foundation import normals

# internal: a step of the training
from lipverify.loss.attention import attention_named, losses_and_slopes, samples
from lipverify.loss.montecarlo.contexts import draw_contexts  # internal: the contexts of the training
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
D, K, OFFSET = theorem.D, theorem.K, theorem.OFFSET


@pytest.mark.parametrize(
    ("family", "link"),
    [("affine", lambda z: z + 2), ("quadratic", lambda z: z * z), ("cosine", lambda z: np.cos(4 * z))],
)
def test_the_families_are_those_of_the_slide(family: str, link: Any) -> None:
    """The functions depend only on the first k coordinates, through directions of norm 1."""
    law = theorem.problem(family, "product").law
    tasks = law.draw(np.random.default_rng(0), 5, D)
    np.testing.assert_allclose(np.linalg.norm(tasks[:, :K], axis=1), 1, rtol=4 * EPS)
    assert not np.any(tasks[:, K:])
    points = np.random.default_rng(1).standard_normal((5, 7, D))
    [values] = law.values(tasks, points, np)
    wanted = math.sqrt(law.amplitude_variance) * link(np.einsum("cd,cid->ci", tasks, points))
    np.testing.assert_allclose(math.sqrt(law.amplitude_variance) * values, wanted, rtol=0, atol=64 * EPS)


@given(size=log_floats(1e-2, 1e2), name=st.sampled_from(["sphere", "product"]))
def test_linear_attention_cannot_predict_the_offset(size: float, name: str) -> None:
    """The prediction is odd in the query, so its mean error on a query and its mirror image is at least 2^2."""
    problem = theorem.problem("affine", name, 6, 0.0)
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
    """Averaged over a query and its mirror image, the gradient at M = 0 vanishes, except on the affine family."""

    def slope(name: str) -> float:
        problem = theorem.problem(name, "product", 6, 0.0)
        contexts = draw_contexts(problem, 400, 0, "even")
        _, z = losses_and_slopes(attention_named("linear"), contexts, np.zeros((D, D)), 0.0, 1.0)
        gradient = z.T @ contexts.query / len(z)
        targets = contexts.targets[0] if name != "affine" else 2 * OFFSET - contexts.targets[0]
        s = np.einsum("c,cn,cni,cj->ij", targets, contexts.values[0], contexts.tokens, -contexts.query) * -2 / 6 / 400
        return float(np.linalg.norm(gradient + s))

    assert slope(family) <= 1e3 * EPS
    assert slope("affine") > 0.01


@pytest.mark.parametrize(("n", "sigma"), [(4, 0.1), (16, 1.0)])
def test_the_relevant_scale_of_linear_attention_in_closed_form(n: int, sigma: float) -> None:
    """The tolerance is twice the half-width. The control omits the constant in the mean square of a label."""
    both = theorem.minimised("affine", 16_384, 2, n, sigma)
    (found, error), (spurious, spurious_error) = both["c"], both["c_perp"]
    assert abs(spurious) <= 2 * spurious_error < found  # the error would reveal an equal spurious scale
    assert abs(found - theorem.closed_form("affine", n, sigma)["c"][0]) <= 2 * error
    assert error < 0.2 * found
    v = OFFSET**2 + 1 / K + sigma**2
    without_offset = (1 / K**2) / ((1 - 1 / n) / K**3 + (v - OFFSET**2) / (n * K))
    assert abs(found - without_offset) > 2 * error


def test_rho_is_the_spurious_block_over_the_relevant_one() -> None:
    softmax, linear = (theorem.trained("quadratic", kind, "product", "adam", 8, 0) for kind in ("softmax", "linear"))
    assert len(softmax["shares"]) == 11
    assert softmax["curves"]["rho"][0] == linear["curves"]["rho"][0]
    # E cos^4 of a uniform angle from 8 x 1024 contexts. The tolerance is four standard errors
    assert abs(linear["nothing"] - 3 / 8) <= 4 * math.sqrt((35 / 128 - 9 / 64) / (8 * 1024)) < 0.02
    starts = [np.eye(D) + 0.1 * normals(0, f"block/quadratic/product/{k}/perturbation", 0, (D, D)) for k in range(8)]
    blocks = slice(K), slice(K, D)
    relevant, spurious = ([np.linalg.norm(start[b, b], 2) for start in starts] for b in blocks)
    assert softmax["curves"]["rho"][0][0] == pytest.approx(np.mean(np.divide(spurious, relevant)), rel=1e-12)
    assert sum(softmax["rho"]) < 0 < sum(linear["rho"])
