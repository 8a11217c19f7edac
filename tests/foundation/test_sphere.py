"""Sines and cosines by tangents, compared with balls."""

import numpy as np
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from lipverify.foundation.sphere import sine_and_cosine, versine  # internal: no loss shows single numbers
from tests.strategies import target

EPS = float(np.finfo(float).eps)
ANGLES = st.one_of(
    st.floats(1e-150, float(np.pi)), st.floats(-100, 1).map(np.exp), st.floats(1e-16, 1).map(lambda x: np.pi - x)
)


def off(value: float, exact: arb, unit: float) -> float:
    return abs(float((arb(value) - exact) / arb(unit))) / EPS


@given(ANGLES, st.sampled_from([-1, 1]))
def test_errors_of_sine_cosine_and_versine_are_as_stated(size: float, sign: int) -> None:
    # vector instructions process full registers, another function the rest: both are tested
    x = np.full(9, sign * size)
    before, ctx.prec = ctx.prec, 300
    try:
        ball = arb(float(x[0]))
        sines, cosines, versines = *sine_and_cosine(x), versine(x)
        exact = float(ball.sin())
        for at in (0, 8):
            sine = off(sines[at], ball.sin(), abs(exact) if size <= np.pi / 2 else 1.5)
            cosine = off(cosines[at], ball.cos(), 1.0 if size <= np.pi / 2 else 1.5)
            one = off(versines[at], 2 * (ball / 2).sin() ** 2, float(versines[at]))
            worst = max(sine / 2, cosine / 2, one / 4)
            target(worst, label=str(at))
            assert worst <= 1, (x[0], sine, cosine, one)
    finally:
        ctx.prec = before
