"""Properties that every correct law or estimator has, for tests of your own.

Each function takes concrete values, so it works with and without Hypothesis. It raises `AssertionError` with the
values, the rule and the excess, and returns error / allowed, for `hypothesis.target`. NaN fails.
docs/testing.md has a table of them.
"""

from lipverify.foundation.lazy import directory
from lipverify.properties.laws import is_isotropic, is_lipschitz, keeps_its_extents
from lipverify.properties.methods import agree, bias_scales, covers, noise_scales
from lipverify.properties.terms import (
    is_a_minimum,
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
    "noise_is_between",
    "noise_scales",
    "weights_are_equal",
]
__dir__ = directory(__name__)
