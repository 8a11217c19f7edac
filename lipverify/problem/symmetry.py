r"""The rotations that leave a problem unchanged, and the form that they give to its optimal matrix.

If Rx has the law of x and f(Rx) the law of f(x), the loss of R M R^T equals that of M. This holds for every orthogonal
R that commutes with the shapes of covariates and law. If the two shapes commute, these R are the products of the
orthogonal groups of the joint eigenspaces V_j, and the matrices that commute with all of them are
sum_j c_j P_j, P_j the projector on V_j: a unique minimiser is of this form.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.problem.composed import LowRank, Transformed
from lipverify.problem.law import Law, by_law
from lipverify.problem.problem import Problem

SAME = 1e-9
"""Eigenvalues that differ by less than this share of the largest count as equal."""


class Symmetry(msgspec.Struct, frozen=True):
    """Projectors P_1, ..., P_J on the joint eigenspaces, each d x d; none if no rotation is known but +-1."""

    projectors: tuple[Floats, ...]

    def average(self, M: Floats) -> Floats:
        """The average of R M R^T over the group: sum_j tr(P_j M) / tr(P_j) P_j; M itself if there are no projectors."""
        if not self.projectors:
            return M
        return np.asarray(sum(np.trace(P @ M) / np.trace(P) * P for P in self.projectors))


@by_law
def shape_of(law: Law, d: int) -> Floats | None:
    """A matrix S such that f(Rx) is drawn like f(x) for every orthogonal R with R S R^T = S; None if unknown."""
    return np.eye(d) if law.isotropic else None


@shape_of.register(Transformed, LowRank)
def _of_map(law: Transformed, d: int) -> Floats:
    """BB^T: if R commutes with it, RB = BO with O orthogonal, and O q is drawn like q."""
    B = np.array(law.B)
    return np.asarray(B @ B.T)


def symmetry(problem: Problem) -> Symmetry:
    """The symmetry of a problem, as far as the shapes of its covariates and law determine it."""
    d = problem.d
    shapes: list[Any] = [problem.covariates.shape(d), shape_of(problem.law, d)]
    if any(shape is None for shape in shapes):
        return Symmetry(())
    # only the eigenspaces of a shape matter, not its scale; a zero shape has the same eigenspaces as the identity
    first, second = (shape / np.linalg.norm(shape, 2) if np.any(shape) else np.eye(d) for shape in shapes)
    if np.max(np.abs(first @ second - second @ first)) > SAME:
        return Symmetry(())
    # a mixture with an irrational factor has a distinct eigenvalue for each pair of eigenvalues
    values, vectors = np.linalg.eigh(first + np.sqrt(2) * second)
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf) > SAME)
    spaces = np.split(vectors, starts[1:], axis=1)
    return Symmetry(tuple(space @ space.T for space in spaces))
