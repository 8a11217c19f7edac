"""The power of n in the loss at a w that was tuned to another law, compared with slopes of the loss in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from lipverify.laws import Affine, Cosine, ReLU
from lipverify.loss.asymptotic import d, leading, transferred_power

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
