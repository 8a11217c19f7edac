r"""The eigenbasis of a context's second moment, in which a ridge regression estimate is a division.

With Sigma = sum x x^T = V diag(t) V^T and z = V^T alpha, alpha = sum y x,

    w_ridge(lambda) = (Sigma + lambda I)^{-1} alpha = V (z / (t + lambda)),
    sum (y - y_OLS)^2 = sum y^2 - sum z^2 / t.

One decomposition serves every constant. Where n < d the d - n directions that no token has are known to have t = z = 0
and stay 0 in every estimate, so that lambda = 0 gives the least-squares solution of least norm.

Large numbers of contexts are decomposed by jacobi.c, compiled on first use: for matrices as small as these LAPACK needs
two to five times as long.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.resources import files
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Array, Floats, address
from lipverify.foundation.compiling import compiled, has_compiler
from lipverify.linear_transformer.regression.contexts import Contexts

FEW = 512
"""Below this number of contexts, loading compiled code costs more time than it saves."""
LARGEST = 32
"""The largest d of the compiled code."""
ROUNDING = 1e-13
"""Tolerance of its test, relative to the norm of a matrix: the rounding of the few hundred rotations of each axis."""

Decomposition = tuple[Array, Array]
"""Eigenvalues, ascending, and the eigenvectors as columns."""


@dataclass(frozen=True)
class Eigenbasis:
    """Second moments of contexts, diagonalised.

    Attributes
    ----------
    values
        t, (contexts, d), ascending and >= 0; the first d - rank are 0.
    vectors
        V, (contexts, d, d), one eigenvector a column.
    moment
        z = V^T alpha, (contexts, d); 0 where t is.
    energy
        sum y^2, (contexts,).
    n
        Tokens in a context.
    """

    values: Array
    vectors: Array
    moment: Array
    energy: Array
    n: int

    @property
    def d(self) -> int:
        """Dimension of the covariates."""
        return int(self.values.shape[-1])

    @property
    def rank(self) -> int:
        """The number of directions that the tokens span: min(n, d), almost surely."""
        return min(self.n, self.d)

    def shrunk(self, penalty: Array) -> Array:
        """The coordinates z / (t + lambda), (contexts, d), for one lambda >= 0 or one a context."""
        xp = self.values.__array_namespace__()
        divisor = self.values + _column(penalty, xp)
        if self.rank == self.d:
            return self.moment / divisor
        seen = self._seen(xp)
        return xp.where(seen, self.moment, 0.0) / xp.where(seen, divisor, 1.0)

    def ridge_regression(self, penalty: Array) -> Array:
        """w_ridge(lambda), (contexts, d), for one lambda >= 0 or one a context."""
        return self.back(self.shrunk(penalty))

    def back(self, coordinates: Array) -> Array:
        """Vectors of R^d from coordinates in the eigenbasis, (contexts, d)."""
        return (self.vectors @ coordinates[..., None])[..., 0]

    def into(self, w: Array) -> Array:
        """Coordinates in the eigenbasis from vectors of R^d, (contexts, d)."""
        return (w[..., None, :] @ self.vectors)[..., 0, :]

    def posterior_variances(self, sigma: Array) -> Array:
        """Variances of w* given context and sigma along the eigenvectors, sigma^2 / (t + sigma^2), (contexts, d)."""
        xp = self.values.__array_namespace__()
        noise = _column(sigma, xp) ** 2
        divisor = self.values + noise
        return xp.where(divisor > 0, noise, 1.0) / xp.where(divisor > 0, divisor, 1.0)

    @cached_property
    def residual(self) -> Array:
        """The residual sum of squares of least squares, (contexts,).

        It is a difference: its absolute error is a few machine epsilons of sum y^2, below which it is not known.
        """
        xp = self.values.__array_namespace__()
        seen = self._seen(xp)
        explained = xp.where(seen, self.moment, 0.0) ** 2 / xp.where(seen, self.values, 1.0)
        residual_energy = self.energy - xp.sum(explained, axis=-1)
        return xp.where(residual_energy > 0, residual_energy, 0.0)

    def _seen(self, xp: Any) -> Array:
        """The directions that the tokens span, as a mask."""
        return xp.arange(self.d, device=self.values.device) >= self.d - self.rank


def eigenbasis(contexts: Contexts) -> Eigenbasis:
    """Diagonalise Sigma for every context.

    >>> from lipverify.linear_transformer.regression.contexts import Regression, draw_contexts
    >>> from lipverify.linear_transformer.regression.noise import UniformNoise
    >>> basis = eigenbasis(draw_contexts(Regression(3, 20, UniformNoise(0.0)), 5, seed=0, stream="a"))
    >>> basis.values.shape, bool((basis.residual < 1e-10).all())
    ((5, 3), True)
    """
    gram: Array = contexts.gram
    xp = gram.__array_namespace__()
    values, vectors = _diagonalised(gram[..., :-1, :-1])
    d = values.shape[-1]
    seen = xp.arange(d, device=values.device) >= d - min(contexts.n, d)
    moment = (gram[..., None, -1, :-1] @ vectors)[..., 0, :]
    return Eigenbasis(xp.where(seen, values, 0.0), vectors, xp.where(seen, moment, 0.0), gram[..., -1, -1], contexts.n)


def _diagonalised(matrices: Array) -> Decomposition:
    """The eigenvalues and eigenvectors of symmetric matrices, (count, d, d)."""
    many = isinstance(matrices, np.ndarray) and len(matrices) >= FEW and matrices.shape[-1] <= LARGEST
    rotated = _jacobi() if many and has_compiler() else None
    ready = None if rotated is None else rotated(np.asarray(matrices, dtype=float))
    return matrices.__array_namespace__().linalg.eigh(matrices) if ready is None else ready


@cache
def _jacobi() -> Callable[[Floats], Decomposition | None] | None:
    """The compiled decomposition; None if the compiler fails, or what it made fails its test."""
    source = (files(__package__) / "jacobi.c").read_text(encoding="utf-8")
    try:
        return partial(_by_rotations, compiled(f"#define MOST {LARGEST}\n{source}", diagonalises))
    except (InvalidInput, OutOfReach):
        return None


def _by_rotations(made: ctypes.CDLL, matrices: Floats) -> Decomposition | None:
    """The same by compiled code; None if a matrix does not converge. They may be blocks of larger matrices."""
    count, d, _ = matrices.shape
    step, row, column = (stride // matrices.itemsize for stride in matrices.strides)
    if column != 1:
        return _by_rotations(made, np.ascontiguousarray(matrices))
    values, vectors = np.empty((count, d)), np.empty((count, d, d))
    sizes = (ctypes.c_long(count), d, row, ctypes.c_long(step))
    pointers = (ctypes.c_void_p(address(each)) for each in (matrices, values, vectors))
    return (values, vectors) if made.jacobi(*sizes, *pointers) else None


def diagonalises(made: ctypes.CDLL) -> bool:
    """True if compiled code decomposes a small sample: V^T V = I and A V = V diag(t), up to rounding, with t ascending.

    The sample has several sizes, tokens that span fewer directions than there are, and more matrices than one vector.
    """
    if not hasattr(made, "jacobi"):
        return False
    random = np.random.default_rng(0)
    for d, n in ((1, 3), (4, 2), (7, 20), (LARGEST, 40)):
        tokens = random.standard_normal((17, n, d + 1))
        matrices = (tokens.swapaxes(1, 2) @ tokens)[:, :d, :d]
        ready = _by_rotations(made, matrices)
        if ready is None:
            return False
        values, vectors = ready
        moved = matrices @ vectors - vectors * values[:, None, :]
        turned = vectors.swapaxes(1, 2) @ vectors - np.eye(d)
        exact = np.abs(moved).max() <= ROUNDING * np.abs(matrices).max() and np.abs(turned).max() <= ROUNDING
        if not (exact and np.all(np.diff(values) >= 0)):
            return False
    return True


class SpectralEstimator(ABC):
    """An estimator computed in the eigenbasis, so that many estimators share one decomposition."""

    @abstractmethod
    def coordinates(self, basis: Eigenbasis) -> Array:
        """The weights w in the eigenbasis, (contexts, d)."""

    def __call__(self, contexts: Contexts) -> Array:
        """The weights w, (contexts, d)."""
        basis = eigenbasis(contexts)
        return basis.back(self.coordinates(basis))


def _column(value: Array, xp: Any) -> Array:
    """A number, or one for each context, as a column that broadcasts with (contexts, d)."""
    return value[:, None] if hasattr(value, "shape") and len(value.shape) == 1 else value
