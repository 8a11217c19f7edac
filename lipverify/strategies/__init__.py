"""Hypothesis strategies for the library's inputs: problems, laws, covariates, values of w.

Every drawn object is valid by construction, and an invalid bound is refused when the strategy is made. Everything
shrinks towards the simplest problem: d = 2, n = 2, the affine law, L = sigma = 1, w = 0, the sphere. They need the
extra `testing`: `pip install 'lipverify[testing]'`.

| strategy | draws | region by default |
|---|---|---|
| `dimensions` | d | 2 to 20 |
| `lengths` | n | 2 to 20 half of the time, else log-uniform to 1e30 |
| `windows` | w | sometimes 0, else log-uniform from 1e-6 to 1e4 |
| `constants` | L, sigma | log-uniform from 0.1 to 10 |
| `named_laws` | affine, ReLU, cosine, quadratic | L from 0.1 to 10 |
| `ridge_laws` | custom links: powers, waves, kinked | up to four kinks anywhere in (-1, 1) |
| `zonal_laws` | laws given by their covariance | spectra up to degree 8, power series |
| `directed_laws` | low-rank and linearly transformed laws | any rank, condition numbers up to 100 |
| `laws` | named, ridge and zonal laws | as above |
| `covariates` | sphere, ellipsoids, products of spheres | semi-axes from 0.1 to 10 |
| `rotations`, `points` | orthogonal matrices, points on the sphere | all |
| `problems` | problems | all of the above, isotropic by default |
"""

try:
    import hypothesis  # noqa: F401
except ModuleNotFoundError:
    raise ImportError(
        "lipverify.strategies needs Hypothesis, which is not installed: pip install 'lipverify[testing]'."
    ) from None

from lipverify.foundation.lazy import directory
from lipverify.strategies.geometry import covariates, points, rotations
from lipverify.strategies.laws import directed_laws, laws, named_laws, ridge_laws, zonal_laws
from lipverify.strategies.numbers import constants, dimensions, few_tokens_a_window, lengths, windows
from lipverify.strategies.problems import problems

__all__ = [
    "constants",
    "covariates",
    "dimensions",
    "directed_laws",
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
