"""Matrices as fields of frozen records: tuples of rows, which can be hashed and written to JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.quoting import shown

Rows = tuple[tuple[float, ...], ...]
ORTHONORMAL = 1e-10
"""Largest entry of B^T B - I that is accepted: a basis typed with ten digits is meant to be orthonormal."""


def rows(name: str, value: Any) -> Rows:
    """A matrix as rows of floats, refused unless it is a two-dimensional array of finite numbers."""
    try:
        matrix = np.asarray(value).astype(np.float64, casting="safe" if np.iscomplexobj(value) else "unsafe")
    except (TypeError, ValueError, OverflowError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.size == 0 or not np.all(np.isfinite(matrix)):
        raise InvalidInput(f"{name} = {shown(value)}: {name} must be a matrix of finite real numbers.")
    return tuple(tuple(row) for row in matrix.tolist())


def orthonormal_rows(name: str, value: Any) -> Rows:
    """The matrix as `rows` returns it; refused unless its columns are orthonormal."""
    matrix = np.array(rows(name, value))
    gap = float(np.max(np.abs(matrix.T @ matrix - np.eye(matrix.shape[1]))))
    if gap > ORTHONORMAL:
        raise InvalidInput(
            f"{name}: its columns must be orthonormal, and {name}^T {name} differs from the identity by {gap:.2g}; "
            f"use numpy.linalg.qr({name})[0]."
        )
    return rows(name, matrix)


def complement(B: Floats) -> Floats:
    """Orthonormal columns that span the orthogonal complement of B's columns."""
    return np.linalg.qr(B, mode="complete")[0][:, B.shape[1] :]


def square_root(matrix: Floats) -> Floats:
    """The symmetric square root of a positive semidefinite matrix; an eigenvalue below 0 by rounding counts as 0."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)
