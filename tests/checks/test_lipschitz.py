"""Shared Lipschitz constants: powers agree with leading terms, factors with SymPy, and waves with their bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from lipverify import Problem, loss_terms, optimal_window
from lipverify.checks.softmax import other_constants, shared_constant
from lipverify.claims.evidence.returned import returned  # internal: what a function returned, as a run reads it
from lipverify.laws import Affine, Cosine, law_named
from lipverify.loss.asymptotic import leading

DIGITS = 1e-11
"""The relative error of SymPy's thirty digits as floats, and of Gauss's rule with 100 nodes for entire functions."""


def test_the_powers_are_those_of_the_leading_terms() -> None:
    assert returned(shared_constant.derivation())[0] == [0.0, 0.0]
    assert abs(returned(shared_constant.derivation(kinked="affine"))[0][0]) > 0.01


def test_the_cosine_is_as_smooth_as_the_law_that_replaces_it() -> None:
    assert leading(Cosine()).beta == leading(Affine()).beta


def bias_constant(law: str, L: float, d: int) -> float:
    """C in B ~ C w^-2."""
    constant = leading(law_named(law)).bias
    names = {symbol.name: symbol for symbol in constant.free_symbols}
    values = {names[name]: value for name, value in (("w", 1), ("d", d), ("L", L)) if name in names}
    return float(constant.subs(values).evalf(30))


@pytest.mark.parametrize("trained", ["affine", "cosine-smooth", "cosine-rough"])
@pytest.mark.parametrize("d", [2, 3, 8])
def test_the_factor_is_the_one_of_the_leading_terms(trained: str, d: int) -> None:
    """Leading noise and bias are minimised over log w, which the minimiser knows to the root of the rounding of a flat
    minimum; at the other law's w the loss is not flat.
    """
    constants = [bias_constant(law, L, d) for law, L in (other_constants.CLASSES[trained], ("cosine", 1.0))]

    def loss(x: float, constant: float) -> float:
        return math.exp((d - 1) / 2 * x) + constant * math.exp(-2 * x)

    elsewhere, best = (minimize_scalar(loss, bracket=(-1, 1), args=(constant,), tol=1e-12) for constant in constants)
    factor = loss(elsewhere.x, constants[1]) / best.fun
    assert other_constants.price(trained, d) == pytest.approx(factor, rel=1e-6)


@pytest.mark.parametrize(("law", "L"), [("affine", 2.0), ("cosine", 0.1), ("cosine", 10.0)])
def test_roughness_is_that_of_the_leading_bias(law: str, L: float) -> None:
    assert other_constants.roughness(law, L, 5) / 4 == pytest.approx(bias_constant(law, L, 5), rel=DIGITS)


def test_waves_are_1_lipschitz_with_growing_bias() -> None:
    factors = [shared_constant.on_waves(2, n)[0] for n in (1e3, 1e4, 1e5, 1e6)]
    assert factors[0] > 1
    assert np.all(np.diff(factors) > 0)
    tuned = optimal_window(Problem(d=2, n=1e3, law=Affine(), sigma=1.0))
    k = math.sqrt(tuned.w)
    own = optimal_window(Problem(d=2, n=1e3, law=Cosine(L=k), sigma=k))
    # the noise is the same for every law, so cos(k z) / k has this noise too
    assert tuned.noise < factors[0] * own.loss / k**2 < tuned.noise + 1 / k**2


def test_the_window_of_a_mixture_lies_between_those_of_its_classes() -> None:
    """The mean loss is least there: one percent to either side it is larger."""
    found = shared_constant.mixed(3, 1000.0, sigma=0.3)
    here = [Problem(d=3, n=1000, law=law_named(law), sigma=0.3) for law in shared_constant.CLASSES]
    windows = [optimal_window(each).w for each in here]
    w, error = found["w"]
    assert min(windows) < w < max(windows)
    assert error < 1e-6 * w
    low, least, high = np.mean([loss_terms(each, w * np.array([0.99, 1.0, 1.01])).total for each in here], axis=0)
    assert least < min(low, high)
    for law in shared_constant.CLASSES:
        assert 1 <= found[f"mixture on {law}"][0] < 1.1


def test_the_worst_task_costs_more_than_waves_and_less_than_jensen_says() -> None:
    tuned = optimal_window(Problem(d=2, n=1e4, law=law_named("relu"), sigma=1.0))
    found = shared_constant.worst_task(2, 1e4)
    # cos(k <q, x>) / k is 1-Lipschitz. Its loss at sigma = 1 is that of cos(k <q, x>) at sigma = k, divided by k^2
    k = math.sqrt(tuned.w)
    waves = float(loss_terms(Problem(d=2, n=1e4, law=law_named("cosine", L=k), sigma=k), tuned.w).total) / k**2
    # E sum a_i |x_i - x|^2 is about (d - 1) / w
    assert tuned.noise < waves < found["low"][0] < found["high"][0] < tuned.noise + 1.1 / tuned.w
    assert found["high"][0] - tuned.noise < 0.25 / tuned.w
