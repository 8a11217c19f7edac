"""Hypothesis strategies for the library's inputs: problems, laws, covariates, values of w.

Every drawn object is valid by construction, and an invalid bound is refused when the strategy is made. Everything
shrinks towards the simplest problem: d = 2, n = 2, the affine law, L = sigma = 1, w = 0, the sphere. They need the
extra `testing`: `pip install 'lipverify[testing]'`.
docs/testing.md has a table of what each draws.
"""

try:
    import hypothesis  # noqa: F401
except ModuleNotFoundError:
    raise ImportError(
        "lipverify.strategies needs Hypothesis, which is not installed: pip install 'lipverify[testing]'."
    ) from None

from lipverify.foundation.lazy import directory
from lipverify.strategies.geometry import covariates, points, rotations
from lipverify.strategies.laws import laws, named_laws, ridge_laws, zonal_laws
from lipverify.strategies.numbers import constants, dimensions, few_tokens_a_window, lengths, windows
from lipverify.strategies.problems import problems

__all__ = [
    "constants",
    "covariates",
    "dimensions",
    "few_tokens_a_window",
    "laws",
    "lengths",
    "named_laws",
    "points",
    "problems",
    "ridge_laws",
    "rotations",
    "windows",
    "zonal_laws",
]
__dir__ = directory(__name__)
