r"""The rotations that leave a problem as it is, and what they make of its optimal matrix.

If Rx is drawn like x and f(Rx) like f(x), the loss of R M R^T is that of M. The orthogonal R that commute with
the shapes of covariates and law are such. When the two shapes commute, they are the products of the
orthogonal groups of the joint eigenspaces V_j, and the matrices that commute with all of them are
sum_j c_j P_j, P_j the projector on V_j: if the minimiser is unique, it is of this form.
"""

from __future__ import annotations

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.problem.problem import Problem

SAME = 1e-9
"""Eigenvalues closer than this share of the largest are taken for one."""


class Symmetry(msgspec.Struct, frozen=True):
    """Projectors P_1, ..., P_J on the joint eigenspaces, each d x d; none if no rotation is known but +-1."""

    projectors: tuple[Floats, ...]

    def average(self, M: Floats) -> Floats:
        """The average of R M R^T over the group: sum_j tr(P_j M) / tr(P_j) P_j; M itself if there are no projectors."""
        if not self.projectors:
            return M
        return np.asarray(sum(np.trace(P @ M) / np.trace(P) * P for P in self.projectors))


def symmetry(problem: Problem) -> Symmetry:
    """The symmetry of a problem, as far as the shapes of its covariates and law tell.

    >>> from lipverify.laws import ReLU
    >>> len(symmetry(Problem(d=4, n=10, law=ReLU())).projectors)
    1
    """
    d = problem.d
    shapes = [problem.covariates.shape(d), problem.law.shape(d)]
    if any(shape is None for shape in shapes):
        return Symmetry(())
    # the size of a shape says nothing, and one that is zero says as much as the identity
    one, other = (shape / np.linalg.norm(shape, 2) if np.any(shape) else np.eye(d) for shape in shapes)
    if np.max(np.abs(one @ other - other @ one)) > SAME:
        return Symmetry(())
    # an irrational mixture has an eigenvalue for each pair of eigenvalues
    values, vectors = np.linalg.eigh(one + np.sqrt(2) * other)
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf) > SAME)
    spaces = np.split(vectors, starts[1:], axis=1)
    return Symmetry(tuple(space @ space.T for space in spaces))
