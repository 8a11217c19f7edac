"""Properties of a covariance: symmetric and positive semidefinite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Floats
from lipverify.problem.own import Zonal
from lipverify.properties.ratio import ROUNDING, require


def is_symmetric(covariance: Callable[[Floats, Floats], Any], points: Floats) -> float:
    """Require K(x, x') = K(x', x) at all pairs of points.

    Parameters
    ----------
    covariance
        K, a function of two arrays of points, (m, 1, d) and (1, m, d), with values (m, m).
    points
        (m, d), two or more.

    Returns
    -------
    float
        The largest difference / allowed rounding error.

    Raises
    ------
    AssertionError
        If two values differ by more than rounding.

    >>> is_symmetric(lambda x, y: (x * y).sum(axis=-1), np.eye(3))
    0.0
    """
    x = _points(points)
    values = np.asarray(covariance(x[:, None, :], x[None, :, :]), dtype=float)
    allowed = ROUNDING * float(np.max(np.abs(values)))
    return require("K(x, x') = K(x', x)", abs(values - values.T), allowed, K=values, mirrored=values.T)


def is_positive(covariance: Zonal | Callable[[Floats], Any], points: Floats) -> float:
    """Require that the matrix K(<x_i, x_j>) has no negative eigenvalue: covariances are positive semidefinite.

    Parameters
    ----------
    covariance
        A `Zonal` law, or K as a function of the cosine <x, x'>.
    points
        Points on the sphere, (m, d), two or more. A function may be positive semidefinite in one dimension and not in
        the next, and few points detect only few harmonics.

    Returns
    -------
    float
        The size of the most negative eigenvalue / allowed rounding error; 0 if there is none.

    Raises
    ------
    AssertionError
        If an eigenvalue is negative by more than rounding.

    >>> is_positive(Zonal(spectrum=(0.0, 1.0)), np.eye(3))
    0.0
    """
    x = _points(points)
    cosines = np.clip(x @ x.T, -1, 1)
    np.fill_diagonal(cosines, 1.0)
    K = covariance if callable(covariance) else covariance.covariance(x.shape[1])
    values = np.asarray(K(cosines), dtype=float)
    if getattr(covariance, "variogram", None) is not None:  # a constant in K changes no difference
        values = values - values.mean(axis=0) - values.mean(axis=1)[:, None] + values.mean()
    smallest = float(np.linalg.eigvalsh(values)[0])
    # cosines have rounding errors, and so has every entry
    allowed = 64 * EPS * len(x) * float(np.max(np.abs(values)))
    return require("K is positive semidefinite", -smallest, allowed, eigenvalue=smallest, points=len(x))


def _points(points: Floats) -> Floats:
    x = np.asarray(points, dtype=float)
    if x.ndim != 2 or len(x) < 2:
        raise InvalidInput(f"points have the shape {x.shape}: a covariance is tested at two or more, (m, d).")
    return x
