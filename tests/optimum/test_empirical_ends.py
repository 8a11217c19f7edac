"""Sampled minima at the ends are refused, whatever noise does to a loss that is flat there."""

from __future__ import annotations

import numpy as np
import pytest

from lipverify import Problem, optimal_window
from lipverify.errors import OutOfReach
from lipverify.laws import Quadratic
from lipverify.optimum.matrix import Unconstrained
from lipverify.optimum.matrix.descent import End  # internal: an end that no descent reaches
from lipverify.optimum.matrix.estimate import require_bounded  # internal: its decision alone
from lipverify.optimum.window import empirical_window

FALSE_ALARMS = (14, 28, 33, 35, 38, 91)


def test_a_minimum_at_zero_is_never_reported_inside() -> None:
    """Sampling gives half of these losses a slope at 0 and so a minimum inside, sometimes with an error bar."""
    problem = Problem(d=2, n=3, law=Quadratic(), sigma=0.3)
    assert optimal_window(problem).where == "zero"
    messages = []
    for seed in (*FALSE_ALARMS, *range(8)):
        with pytest.raises(OutOfReach) as refusal:
            empirical_window(problem, contexts=640, seed=seed)
        messages.append(str(refusal.value))
    assert sum("is below that at w = 0" in message for message in messages) >= len(FALSE_ALARMS)


@pytest.mark.parametrize("farther", [1 - 1e-15, 1.0, 1 + 1e-15])
def test_a_matrix_on_flat_ground_is_refused_on_either_side_of_rounding(farther: float) -> None:
    """Scores so large that one token has all the weight: at larger M the loss is the same up to its last digit."""
    problem, end = Problem(d=2, n=5, law=Quadratic()), End(M=50 * np.eye(2), loss=1.0, stationarity=0.0)
    with pytest.raises(OutOfReach, match="does not rise"):
        require_bounded(lambda M: (farther, M), Unconstrained(), end, problem)
    require_bounded(lambda M: (1.001, M), Unconstrained(), end, problem)
