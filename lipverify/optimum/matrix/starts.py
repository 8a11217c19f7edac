"""Starting points of the descents over M, and their units."""

from __future__ import annotations

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.streams import normals
from lipverify.optimum.matrix.constraints import Constraint
from lipverify.optimum.matrix.descent import Units
from lipverify.optimum.matrix.sampled import SampledLoss
from lipverify.problem import Problem

SCALES = 2.0 ** np.arange(-4, 11)
"""Grid of w from which the unit of M is chosen, for covariates of radius 1."""
SMALL = 1e-3
LEAST_EIGENVALUE = 1e-6


def natural_units(problem: Problem, loss: SampledLoss, constraint: Constraint) -> Units:
    """The w of the best w I on a coarse grid within the constraint, the loss there, and a matrix that whitens queries.

    Raises
    ------
    InvalidInput
        If the loss is zero there.
    """
    grid = SCALES / problem.covariates.scale**2
    windows = grid[grid <= max(constraint.reach, grid[0])]
    losses = [loss.mean(w * np.eye(problem.d)) for w in windows]
    best = int(np.argmin(losses))
    if not losses[best] > 0:
        raise InvalidInput(f"the loss is zero at M = {windows[best]:g} I: there is no minimiser to find.")
    return Units(matrix=float(windows[best]), whitening=_whitening(loss), loss=losses[best])


def starting_points(problem: Problem, units: Units, starts: int, seed: int, stream: str) -> list[Floats]:
    """The best w I of the grid, a random matrix near zero, and then random matrices of the size of w I.

    Nothing but w I assumes a form of the minimiser.
    """
    d = problem.d
    random = units.matrix / np.sqrt(d) * normals(seed, f"{stream}/starts", 0, (max(starts, 2), d, d))
    return [units.matrix * np.eye(d), SMALL * random[0], *random[1:]][:starts]


def _whitening(loss: SampledLoss) -> Floats:
    """S^{-1/2} with S the queries' second moments divided by their mean eigenvalue; small eigenvalues are raised."""
    S = np.mean([block.query.T @ block.query / len(block.query) for block in loss.blocks], axis=0)
    values, vectors = np.linalg.eigh(S)
    relative = np.maximum(values / np.mean(values), LEAST_EIGENVALUE)
    return np.asarray((vectors / np.sqrt(relative)) @ vectors.T)
