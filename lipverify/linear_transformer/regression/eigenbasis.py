"""The eigenbasis of a context's second moment, in which a ridge regression estimate is a division.

With Sigma = sum x x^T = V diag(t) V^T and z = V^T alpha, alpha = sum y x,

    w_ridge(lambda) = V (z / (t + lambda)),    sum (y - y_OLS)^2 = sum y^2 - sum z^2 / t.

Where n < d the d - n directions that no token has are known to have t = z = 0 and stay 0 in every estimate, so that
lambda = 0 gives the least-squares solution of least norm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lipverify.foundation.arrays import Array
from lipverify.linear_transformer.regression.contexts import Contexts


@dataclass(frozen=True)
class Eigenbasis:
    """Second moments of contexts, diagonalised.

    Attributes
    ----------
    values, vectors
        t, (contexts, d), ascending and >= 0, the first d - rank 0; and V, (contexts, d, d), one eigenvector a column.
    moment, energy, n
        z = V^T alpha, (contexts, d), 0 where t is; sum y^2, (contexts,); and tokens in a context.
    """

    values: Array
    vectors: Array
    moment: Array
    energy: Array
    n: int

    @property
    def d(self) -> int:
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
        """The residual sum of squares of least squares, (contexts,); known to a few epsilons of sum y^2."""
        xp = self.values.__array_namespace__()
        seen = self._seen(xp)
        explained = xp.where(seen, self.moment, 0.0) ** 2 / xp.where(seen, self.values, 1.0)
        residual_energy = self.energy - xp.sum(explained, axis=-1)
        return xp.where(residual_energy > 0, residual_energy, 0.0)

    def _seen(self, xp: Any) -> Array:
        return xp.arange(self.d, device=self.values.device) >= self.d - self.rank


def eigenbasis(contexts: Contexts) -> Eigenbasis:
    gram: Array = contexts.gram
    xp = gram.__array_namespace__()
    values, vectors = xp.linalg.eigh(gram[..., :-1, :-1])
    d = values.shape[-1]
    seen = xp.arange(d, device=values.device) >= d - min(contexts.n, d)
    moment = (gram[..., None, -1, :-1] @ vectors)[..., 0, :]
    return Eigenbasis(xp.where(seen, values, 0.0), vectors, xp.where(seen, moment, 0.0), gram[..., -1, -1], contexts.n)


class SpectralEstimator(ABC):
    """An estimator computed in the eigenbasis, so that many estimators share one decomposition."""

    @abstractmethod
    def coordinates(self, basis: Eigenbasis) -> Array:
        """The weights w in the eigenbasis, (contexts, d)."""

    def __call__(self, contexts: Contexts) -> Array:
        basis = eigenbasis(contexts)
        return basis.back(self.coordinates(basis))


def _column(value: Array, xp: Any) -> Array:
    """A number, or one for each context, as what broadcasts with (contexts, d)."""
    return value[:, None] if hasattr(value, "shape") and len(value.shape) == 1 else value
