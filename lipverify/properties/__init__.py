"""Properties that every correct law or estimator has, for tests of your own.

Each function takes concrete values, so it works with and without Hypothesis. It raises `AssertionError` with the
values, the rule and the excess, and returns error / allowed, for `hypothesis.target`. NaN fails.

| on | properties |
|---|---|
| the two terms of the loss | `noise_is_between`, `noise_grows`, `weights_are_equal` |
| how they scale | `noise_scales`, `bias_scales` |
| several methods | `agree`, `covers` |
| a law of tasks | `is_isotropic`, `is_lipschitz`, `keeps_its_extents` |
| an optimal w | `is_a_minimum` |
"""

from lipverify.foundation.lazy import directory
from lipverify.properties.laws import is_isotropic, is_lipschitz, keeps_its_extents
from lipverify.properties.methods import agree, bias_scales, covers, noise_scales
from lipverify.properties.terms import (
    is_a_minimum,
    noise_grows,
    noise_is_between,
    weights_are_equal,
)

__all__ = [
    "agree",
    "bias_scales",
    "covers",
    "is_a_minimum",
    "is_isotropic",
    "is_lipschitz",
    "keeps_its_extents",
    "noise_grows",
    "noise_is_between",
    "noise_scales",
    "weights_are_equal",
]
__dir__ = directory(__name__)
