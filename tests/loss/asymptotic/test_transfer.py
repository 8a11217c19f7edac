"""The loss at a w that was tuned elsewhere: powers in numbers, factors compared with minimised powers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from lipverify.laws import Affine, Cosine, ReLU
from lipverify.loss.asymptotic import d, home_factor, leading, mistuning_at, transferred_power
from lipverify.loss.asymptotic.transfer import mistuning  # internal: the factor alone, compared with a minimised power

ROUNDING = 1e-9
"""The error of a slope of logarithms that are evaluated to fifteen digits over ten decades."""


@pytest.mark.parametrize("trained", [Affine(), ReLU(), Cosine()])
@pytest.mark.parametrize("tested", [Affine(), ReLU(), Cosine()])
def test_transferred_powers_at_numbers(trained: Any, tested: Any) -> None:
    """The power is that of N + B of the tested law at the w of the trained one, for large n."""
    source, target = leading(trained, 4), leading(tested, 4)
    names = {symbol.name: symbol for symbol in source.window.free_symbols | target.bias.free_symbols}
    at = {names[name]: 1 for name in ("L", "sigma") if name in names}
    total = (target.noise + target.bias).subs(names["w"], source.window).subs(at)
    low, high = (float(sympy.log(total.subs(names["n"], sympy.Integer(10) ** k)).evalf()) for k in (400, 410))
    slope = (high - low) / (10 * np.log(10))
    assert slope == pytest.approx(float(transferred_power(trained, tested).subs(d, 4)), abs=ROUNDING)


@given(dimension=st.integers(2, 12), beta=st.sampled_from([1.5, 2.0]), log_rho2=st.floats(-6, 6))
def test_factors_are_those_of_the_minimised_powers(dimension: int, beta: float, log_rho2: float) -> None:
    a, rho2 = (dimension - 1) / 2, float(np.exp(log_rho2))

    def loss(x: float, bias: float) -> float:
        return float(np.exp(a * x) + bias * np.exp(-beta * x))

    home, away = (minimize_scalar(loss, bracket=(-1, 1), args=(bias,), tol=1e-12) for bias in (1.0, rho2))
    exact = sympy.nsimplify(beta), sympy.Float(rho2, 30)
    factors = [float(factor(*exact).subs(d, dimension)) for factor in (home_factor, mistuning)]
    # the minimiser knows x to the root of the rounding of a flat minimum; away from it the loss is not flat
    assert loss(home.x, rho2) / home.fun == pytest.approx(factors[0], rel=1e-6)
    assert loss(home.x, rho2) / away.fun == pytest.approx(factors[1], rel=1e-6)
    assert factors[1] >= 1 - 8 * np.finfo(float).eps


def test_two_laws_with_one_bias_cost_nothing() -> None:
    assert mistuning_at(Affine(L=2.0), Affine(L=2.0), 5) == 1
    assert mistuning_at(Cosine(L=10.0), Cosine(L=1.0), 2) == pytest.approx(4.293143, abs=5e-7)
