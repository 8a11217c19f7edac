"""Laws composed with a linear map, and laws that are given only by a sampler of their functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.random import Generator

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats, Matrix, to_device, to_host
from lipverify.foundation.validation import number
from lipverify.problem.law import Bound, FunctionLaw, Law, RidgeLaw, by_law, require_dimension
from lipverify.problem.laws import Linear
from lipverify.problem.matrices import orthonormal_rows, rows


class Transformed(FunctionLaw, frozen=True, tag="transformed"):
    r"""f(x) = g(B^T x), g drawn from a ridge law on the sphere of R^k: f(x) = sum_l l_l h_l(<B q, x>), q in S^{k-1}.

    With B = Sigma^{-1/2} on an `Ellipsoid`, f is isotropic after whitening; with orthonormal columns it is
    `LowRank`.

    Parameters
    ----------
    B
        A d x k matrix of finite numbers.
    ridge
        The ridge law of g.

    Raises
    ------
    InvalidInput
        If `B` is not a matrix of finite numbers.

    Source: Collins et al., slides, Lemma 1.

    Examples
    --------
    >>> from lipverify.problem.laws import Affine
    >>> Transformed([[2.0, 0.0], [0.0, 1.0]], Affine()).bounds(radius=1.0)[0].extent
    4.0
    """

    B: Matrix
    ridge: RidgeLaw = Linear()

    name: ClassVar[str] = "transformed"

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "B", rows("B", self.B))
        if not isinstance(self.ridge, RidgeLaw):
            raise InvalidInput(f"ridge = {self.ridge!r}: a transformed law is made of a ridge law, for example ReLU().")

    @property
    def constant(self) -> bool:
        """True if every function of the ridge law is constant, or B = 0."""
        return self.ridge.constant or not np.any(self.B)

    @property
    def amplitude_variance(self) -> float:
        """The variance of the ridge law's amplitude."""
        return self.ridge.amplitude_variance

    def draw(self, rng: Generator, contexts: int, d: int) -> Array:
        """Directions B q, (contexts, d)."""
        B = np.array(self.B)
        return self.ridge.draw(rng, contexts, B.shape[1]) @ B.T

    def values(self, tasks: Array, points: Array, xp: Any) -> list[Array]:
        """h_l(<B q, x>)."""
        return self.ridge.values(tasks, points, xp)

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        """Those of the ridge law over |B^T x| <= |B| radius; of its slopes nothing is known off the sphere."""
        bounds = self.ridge.bounds(radius * float(np.linalg.norm(np.array(self.B), 2)))
        return tuple(msgspec.structs.replace(bound, slope=math.inf) for bound in bounds)


class LowRank(Transformed, frozen=True, tag="low-rank"):
    r"""f(x) = g(B^T x) with orthonormal columns B: functions of k directions.

    By default f(x) = a^T B^T x with a uniform on S^{k-1}.

    Parameters
    ----------
    B
        A d x k matrix with orthonormal columns.
    ridge
        The ridge law of g on the sphere of R^k; linear by default.

    Raises
    ------
    InvalidInput
        If `B` is not a matrix of finite numbers, or its columns are not orthonormal.

    Source: Collins et al., slides, Theorem 4 and the last slide.

    Examples
    --------
    >>> LowRank([[1.0], [0.0]]).bounds()[0].extent
    2.0
    """

    name: ClassVar[str] = "low-rank"

    def __post_init__(self) -> None:
        super().__post_init__()
        orthonormal_rows("B", self.B)


@by_law
def ridge_form(law: Law, d: int) -> tuple[RidgeLaw, Floats] | None:
    """(ridge, B) with f(x) = g(B^T x), g drawn from the ridge law; None if the law is not of this form."""
    return None


@require_dimension.register(Transformed, LowRank)
def _require_rows(law: Transformed, d: int) -> None:
    if len(law.B) != d:
        raise InvalidInput(f"the law's matrix has {len(law.B)} rows and d = {d}: they must agree.")


ridge_form.register(RidgeLaw)(lambda law, d: (law, np.eye(d)))
ridge_form.register(Transformed, LowRank)(lambda law, d: (law.ridge, np.array(law.B)))


class Sampled(FunctionLaw, frozen=True, tag="sampled"):
    """A law of yours that is given only by a sampler.

    Parameters
    ----------
    sampler
        sampler(rng, contexts, d) draws as many functions as contexts with the NumPy generator `rng` and
        returns one callable that evaluates them: points (contexts, m, d) -> values (contexts, m), both NumPy's
        wherever contexts are drawn.
    extent
        A finite bound on max f - min f over the covariates; intervals of sampled losses use it.
    magnitude
        A bound on max |f|; only attention whose weights do not sum to one needs it.

    Raises
    ------
    InvalidInput
        If a value breaks its rule.

    Examples
    --------
    >>> def tanh(rng, contexts, d):
    ...     q = rng.standard_normal((contexts, 1, d))
    ...     return lambda x: np.tanh((q * x).sum(axis=-1))
    >>> Sampled(tanh, extent=2.0).bounds()[0].extent
    2.0
    """

    sampler: Callable[[Generator, int, int], Callable[[Array], Array]]
    extent: float
    magnitude: float | None = None

    name: ClassVar[str] = "sampled"

    def __post_init__(self) -> None:
        if not callable(self.sampler):
            raise InvalidInput(f"sampler = {self.sampler!r} is not a function sampler(rng, contexts, d).")
        number("extent", self.extent, "a bound on max f - min f", least=0)

    @property
    def constant(self) -> bool:
        """True if the extent is 0."""
        return self.extent == 0

    def draw(self, rng: Generator, contexts: int, d: int) -> Callable[[Array], Array]:
        """The functions, as one callable."""
        functions = self.sampler(rng, contexts, d)
        if not callable(functions):
            raise InvalidInput(f"the sampler returned {functions!r}; it must return a function of points.")
        return functions

    def values(self, tasks: Callable[[Array], Array], points: Array, xp: Any) -> list[Array]:
        """f(x); refused unless it is one finite number for each point."""
        f = tasks(to_host(points))
        shape = tuple(points.shape[:-1])
        if tuple(getattr(f, "shape", ())) != shape or not np.all(np.isfinite(f)):
            raise InvalidInput(f"the sampled functions must return finite values of shape {shape}, one a point.")
        return [to_device(f, xp, getattr(points, "device", None))]

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        """The given extent and magnitude."""
        return (Bound(self.extent, math.inf if self.magnitude is None else self.magnitude),)
