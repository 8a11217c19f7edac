"""Strategies for the geometry of tokens: points, rotations, covariates."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import on_sphere
from lipverify.foundation.streams import standard_normals
from lipverify.foundation.validation import whole
from lipverify.problem.covariates import Covariates, Ellipsoid, ProductOfSpheres, Sphere
from lipverify.strategies.numbers import constants, dimensions

ADDRESSES = st.integers(0, 2**32 - 1)
"""Seeds of the random arrays: Hypothesis draws a seed and not an array, which it could not shrink."""


def rotations(d: int) -> st.SearchStrategy[Floats]:
    """Orthogonal d x d matrices, including reflections, Haar-distributed; shrinks to the identity.

    Parameters
    ----------
    d
        Dimension.

    Returns
    -------
    SearchStrategy[ndarray]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If `d` is not a dimension.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(rotations(2), lambda R: True).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    dimensions(d, d)
    return ADDRESSES.map(lambda address: _rotation(d, address))


def points(d: int, count: int = 1) -> st.SearchStrategy[Floats]:
    """`count` points on S^{d-1} as an array (count, d), uniform and independent.

    Parameters
    ----------
    d
        Dimension.
    count
        Number of points, >= 1.

    Returns
    -------
    SearchStrategy[ndarray]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If `d` is not a dimension or `count` is not positive.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(points(3, count=2), lambda x: True).shape
    (2, 3)
    """
    dimensions(d, d)
    count = whole("count", count, 1, "the number of points")
    return ADDRESSES.map(lambda address: np.asarray(on_sphere(_normals(address, (count, d)), np)))


def covariates(d: int) -> st.SearchStrategy[Covariates]:
    """Laws of the covariates in R^d: the sphere, ellipsoids, products of two spheres; shrinks to the sphere.

    Parameters
    ----------
    d
        Dimension.

    Returns
    -------
    SearchStrategy[Covariates]
        A Hypothesis strategy, for `@given`.

    Raises
    ------
    InvalidInput
        If `d` is not a dimension.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(covariates(3), lambda law: law.radius == 1)
    Sphere()
    """
    dimensions(d, d)
    radius = constants()
    axes = st.lists(radius, min_size=d, max_size=d)
    return st.one_of(
        st.just(Sphere()),
        st.builds(_ellipsoid, axes, rotations(d)),
        st.builds(_product, st.integers(1, d - 1), rotations(d), radius, radius),
    )


def _ellipsoid(axes: list[float], R: Floats) -> Ellipsoid:
    """An ellipsoid with semi-axes along the columns of R; averaging with the transpose removes asymmetric rounding."""
    Sigma = R @ np.diag(np.square(axes)) @ R.T
    return Ellipsoid((Sigma + Sigma.T) / 2)


def _product(k: int, R: Floats, c_u: float, c_v: float) -> ProductOfSpheres:
    """A product of a sphere in the span of the first k columns of R and one in the span of the others."""
    return ProductOfSpheres(R[:, :k], c_u, c_v)


def _normals(address: int, shape: tuple[int, ...]) -> Floats:
    return standard_normals(np.random.Generator(np.random.Philox(key=address)), shape)


def _rotation(d: int, address: int) -> Any:
    if address == 0:
        return np.eye(d)
    Q, R = np.linalg.qr(_normals(address, (d, d)))
    # multiply by these signs for the Haar distribution: LAPACK's choice of signs depends on the matrix
    return Q * np.sign(np.diag(R))
