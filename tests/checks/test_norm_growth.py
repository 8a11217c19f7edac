"""The norm of M: its slope at 0 is the derived one, and training follows the exact descent."""

from __future__ import annotations

import pytest

from lipverify.checks.softmax import norms


@pytest.mark.parametrize("covariates", ["isotropic", "anisotropic"])
def test_the_slope_at_zero_is_the_derived_one(covariates: str) -> None:
    """The tolerance is twice the 95 % half-width. The control omits the factor 1 - 1/n."""
    sampled, error = norms.slope_at_zero("relu", covariates, 160_000, seed=5)
    derived, _ = norms.derived_slope("relu", covariates)
    assert abs(sampled - derived) <= 2 * error
    assert abs(sampled - derived / (1 - 1 / 16)) > 2 * error


@pytest.mark.parametrize("law", norms.REACH)
def test_descent_stays_within_reach(law: str) -> None:
    w, error = norms.descended(law, "isotropic")
    assert error < 0.01 * w < 0.01 * norms.REACH[law][1]


def test_runs_that_are_compared_share_their_start() -> None:
    found = norms.trained("cosine", "isotropic", "gd", seeds=2, seed=0)
    assert found["norms"]["0.5"][0] == found["norms"]["2"][0]
    assert found["norms"]["0.5"][8] != found["norms"]["2"][8]
    assert found["steps"] == list(range(0, 161, 20))
    assert set(found) == {
        "0.5 to 1 after 80", "0.5 to 1 after 160", "1 to 2 after 80", "1 to 2 after 160",
        "scale at 0.5", "scale at 1", "scale at 2", "steps", "norms",
    }  # fmt: skip
