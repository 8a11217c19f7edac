"""Sets of matrices over which the loss is minimised, each with its Euclidean projection."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import msgspec
import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import number
from lipverify.problem.matrices import orthonormal_rows

TOUCHING = 1e-9
"""A singular value this close to C, relatively, is at C: projections put it there."""


class Constraint(msgspec.Struct, frozen=True, tag_field="constraint"):
    """A closed convex set of d x d matrices; see the subclasses."""

    name: ClassVar[str] = "constraint"
    linear: ClassVar[bool] = True
    """True if the set is a linear space that contains W M W with M for every symmetric W."""

    @property
    def reach(self) -> float:
        """The largest w for which w I is in the set."""
        return math.inf

    def project(self, M: Floats) -> Floats:
        """The matrix of the set that is nearest to M in the Frobenius norm."""
        raise NotImplementedError

    @property
    def relaxed(self) -> Constraint:
        """The smallest linear space that holds the set."""
        return self

    def require_dimension(self, d: int) -> None:
        """Refuse a dimension in which the set is not defined; most sets are defined in every dimension."""

    def shape(self, d: int) -> Floats:
        """A matrix S such that the set holds R M R^T with M for every orthogonal R with R S R^T = S."""
        return np.eye(d)


class Unconstrained(Constraint, frozen=True, tag="unconstrained"):
    """All matrices.

    Examples
    --------
    >>> Unconstrained().project(np.array([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """

    name: ClassVar[str] = "unconstrained"

    def project(self, M: Floats) -> Floats:
        """M."""
        return M


class Symmetric(Constraint, frozen=True, tag="symmetric"):
    """M = M^T.

    Examples
    --------
    >>> Symmetric().project(np.array([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """

    name: ClassVar[str] = "symmetric"

    def project(self, M: Floats) -> Floats:
        """(M + M^T) / 2."""
        return (M + M.T) / 2


class SpectralBall(Constraint, frozen=True, tag="spectral-ball"):
    r"""||B^T M B||_2 <= C, among symmetric matrices.

    Parameters
    ----------
    B
        A d x k matrix with orthonormal columns; by default the identity.
    C
        The radius, finite and > 0.

    Raises
    ------
    InvalidInput
        If a value breaks its rule.

    Source: Collins et al., slides, Theorem 4.

    Examples
    --------
    >>> SpectralBall(B=[[1.0], [0.0]], C=2.0).project(np.diag([3.0, 7.0])).tolist()
    [[2.0, 0.0], [0.0, 7.0]]
    """

    B: Any = None
    C: float = 1.0

    name: ClassVar[str] = "spectral-ball"
    linear: ClassVar[bool] = False

    @property
    def reach(self) -> float:
        """C."""
        return self.C

    def __post_init__(self) -> None:
        if self.B is not None:
            msgspec.structs.force_setattr(self, "B", orthonormal_rows("B", self.B))
        number("C", self.C, "the radius of the ball", above=0)

    def project(self, M: Floats) -> Floats:
        """M + B (A' - A) B^T, where A = B^T M B and A' is A with its singular values cut at C.

        In the orthonormal basis [B, B'] only the block A is constrained. The symmetric part is taken first: the ball
        contains the transpose of each of its matrices, so the two projections compose to that on the intersection.
        """
        M = Symmetric().project(M)
        B = self.basis(len(M))
        U, values, Vt = np.linalg.svd(B.T @ M @ B)
        if values[0] <= self.C:
            return M
        excess = Symmetric().project((U * np.maximum(values - self.C, 0.0)) @ Vt)
        return np.asarray(M - B @ excess @ B.T)

    @property
    def relaxed(self) -> Constraint:
        """The symmetric matrices."""
        return Symmetric()

    def require_dimension(self, d: int) -> None:
        """B has d rows."""
        if self.B is not None and len(self.B) != d:
            raise InvalidInput(f"the constraint's B has {len(self.B)} rows and d = {d}: they must agree.")

    def shape(self, d: int) -> Floats:
        """BB^T: rotations of the columns of B and of their complement keep the norm of B^T M B."""
        B = self.basis(d)
        return np.asarray(B @ B.T)

    def basis(self, d: int) -> Floats:
        """B as an array."""
        return np.eye(d) if self.B is None else np.array(self.B)
