"""The tests' random inputs: the public strategies, and the two laws for which the exact method is fastest."""

from __future__ import annotations

from hypothesis import strategies as st

from lipverify import Problem, strategies
from lipverify.laws import RidgeLaw
from lipverify.strategies import constants as log_floats
from lipverify.strategies import few_tokens_a_window, lengths, named_laws

__all__ = ["few_tokens_a_window", "laws", "lengths", "log_floats", "problems"]


def laws() -> st.SearchStrategy[RidgeLaw]:
    """Affine and ReLU laws."""
    return named_laws("affine", "relu")


def problems() -> st.SearchStrategy[Problem]:
    """Problems with these laws, d from 2 to 20."""
    return strategies.problems(law=laws())
