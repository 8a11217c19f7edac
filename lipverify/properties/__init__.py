"""Properties that every correct law, estimator, interval or verdict has, for tests of your own.

Each function takes concrete values, so it works with and without Hypothesis. It raises `AssertionError` with the
values, the rule and the excess, and returns error / allowed, for `hypothesis.target`. NaN fails.

| on | properties |
|---|---|
| the two terms of the loss | `noise_is_between`, `bias_is_not_negative`, `noise_grows`, `weights_are_equal` |
| how they scale | `noise_scales`, `bias_scales` |
| several methods | `agree`, `covers`, `terms_cover` |
| a law of tasks | `is_isotropic`, `is_lipschitz`, `keeps_its_extents` |
| a covariance | `is_symmetric`, `is_positive` |
| an interval from samples | `interval_covers` |
| an optimal w | `is_a_minimum` |
| a limit exponent | `exponent_covers` |
| a verdict | `narrowing_never_overturns` |
"""

from lipverify.foundation.lazy import directory
from lipverify.properties.evidence import exponent_covers, interval_covers, narrowing_never_overturns
from lipverify.properties.laws import is_isotropic, is_lipschitz, is_positive, is_symmetric, keeps_its_extents
from lipverify.properties.methods import agree, bias_scales, covers, noise_scales, terms_cover
from lipverify.properties.terms import (
    bias_is_not_negative,
    is_a_minimum,
    noise_grows,
    noise_is_between,
    weights_are_equal,
)

__all__ = [
    "agree",
    "bias_is_not_negative",
    "bias_scales",
    "covers",
    "exponent_covers",
    "interval_covers",
    "is_a_minimum",
    "is_isotropic",
    "is_lipschitz",
    "is_positive",
    "is_symmetric",
    "keeps_its_extents",
    "narrowing_never_overturns",
    "noise_grows",
    "noise_is_between",
    "noise_scales",
    "terms_cover",
    "weights_are_equal",
]
__dir__ = directory(__name__)
