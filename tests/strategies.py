"""Problems drawn at random, over the whole domain that a test can afford."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from lipverify import Problem
from lipverify.laws import Affine, Law, ReLU


def log_floats(low: float, high: float) -> st.SearchStrategy[float]:
    """Floats spread evenly over their logarithm."""
    return st.floats(math.log(low), math.log(high)).map(math.exp)


def lengths(low: float = 2, high: float = 1e30) -> st.SearchStrategy[float]:
    """Context lengths, spread over the decades; small ones come up often."""
    return st.one_of(st.integers(int(low), 20), log_floats(low, high).map(lambda n: float(round(n))))


def laws(L: st.SearchStrategy[float] | None = None) -> st.SearchStrategy[Law]:
    """Affine and ReLU laws."""
    constants = L if L is not None else log_floats(0.1, 10)
    return st.one_of(constants.map(Affine), constants.map(ReLU))


def few_tokens_a_window(d: int, n: float, w: float) -> bool:
    """Whether windows hold few tokens: there the ReLU average over kinks costs seconds."""
    return bool(w ** ((d - 1) / 2) > 0.05 * n)


@st.composite
def problems(draw: st.DrawFn, law: st.SearchStrategy[Law] | None = None, n_high: float = 1e30) -> Problem:
    """Problems with d from 2 to 20."""
    return Problem(
        d=draw(st.integers(2, 20)),
        n=draw(lengths(high=n_high)),
        law=draw(law if law is not None else laws()),
        sigma=draw(log_floats(0.1, 10)),
    )
