"""The tests' random inputs: the public strategies, and the two laws for which the exact method is fastest."""

from __future__ import annotations

import math

import hypothesis
from hypothesis import strategies as st

from lipverify import Problem, strategies
from lipverify.laws import RidgeLaw
from lipverify.strategies import constants as log_floats
from lipverify.strategies import few_tokens_a_window, lengths, named_laws
from tests import PROFILE

__all__ = ["few_tokens_a_window", "laws", "lengths", "log_floats", "problems", "target"]


def target(observation: float, label: str = "") -> float:
    """A number that a search makes large; in the default run it has no effect, because it is rounding in part."""
    assert math.isfinite(observation)
    return observation if PROFILE == "ci" else hypothesis.target(observation, label=label)


def laws() -> st.SearchStrategy[RidgeLaw]:
    return named_laws("affine", "relu")


def problems() -> st.SearchStrategy[Problem]:
    """Problems with these laws, d from 2 to 20."""
    return strategies.problems(law=laws())
