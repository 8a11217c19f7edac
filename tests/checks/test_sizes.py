"""Ratios of losses at other sizes, by definition: layers as matrices, ridge regression by a solve, capped means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lipverify.checks.linear_transformers.other_sizes import quotients
from lipverify.linear_transformer import draw_contexts, estimate, trainings
from lipverify.linear_transformer.published import regression_named

COLUMN, CONTEXTS = "uniform-3@5x20", 2048


@pytest.fixture(scope="module")
def found() -> Any:
    return quotients(COLUMN, 5 * CONTEXTS, 0)


def ridge(contexts: Any, penalty: Any) -> Any:
    d = contexts.task.shape[1]
    shifted = contexts.covariance + np.reshape(penalty, (-1, 1, 1)) * np.eye(d)
    return np.linalg.solve(shifted, contexts.alpha[..., None])[..., 0]


@pytest.mark.parametrize("family", ["DIAG", "OMEGA", "FULL"])
def test_a_quotient_is_the_mean_of_logarithms_of_capped_means(found: Any, family: str) -> None:
    contexts = draw_contexts(regression_named(COLUMN), CONTEXTS, 0, f"sizes/{COLUMN}/report")
    oracle = ridge(contexts, contexts.sigma**2)

    def mean(w: Any) -> float:
        return float(np.mean(np.minimum(np.sum((w - oracle) ** 2, axis=1) / 2, 0.1 * 5 / 2)))

    deep, shallow = (
        [mean(estimate(each.model, contexts)) for each in trainings(COLUMN, family, layers).values()]
        for layers in (3, 2)
    )
    constant = mean(ridge(contexts, 3.0))
    assert len(deep) == len(shallow) == 3
    for name, others in (("a layer less", shallow), ("ConstRR", [constant] * 3)):
        expected = np.mean([math.log(one / other) for one, other in zip(deep, others, strict=True)])
        value, error, why = found[f"{family} 3 over {name}"]
        assert value == pytest.approx(expected, rel=1e-9)
        assert not why
        assert 0 < error < 0.5


def test_full_is_compared_with_diag_of_the_same_depth(found: Any) -> None:
    assert {"DIAG 5 over FULL", "FULL 5 over a layer less"} <= found.keys()
    assert found.keys().isdisjoint({"DIAG 1 over a layer less", "FULL 5 over FULL"})
    away = [found[f"{family} 4 over TunedRR"][0] for family in ("DIAG", "FULL")]
    assert found["DIAG 4 over FULL"][0] == pytest.approx(away[0] - away[1], abs=1e-12)
