r"""Measurements of training on low-rank families: what becomes of the spurious block of M, and of the test error."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.claims.softmax.training import RELEVANT, Curves, Recipe, covariates_named, floats, norms, paired_interval
from lipverify.covariates import axes
from lipverify.laws import Cosine, LowRank, Quadratic, Ridge, RidgeLaw
from lipverify.optimum.matrix import optimal_matrix
from lipverify.optimum.pretraining import pretrain
from lipverify.problem import Problem

Floats = NDArray[np.float64]

SPURIOUS = 3
"""The dimension d - k of the complement of col(B)."""
OFFSET = 2.0
"""The constant that the affine family of the last slide adds."""
HELD_OUT = 1024
"""Contexts that no step sees, on which the test error is taken."""


class BlockTraining(msgspec.Struct, frozen=True, kw_only=True):
    """rho(M, B), the relevant scale tr(B^T M B) / k and the loss on held-out contexts, [seed][record].

    `nothing` is the loss of predicting 0 on the same held-out contexts, [seed].
    """

    steps: tuple[int, ...]
    rho: Curves
    relevant: Curves
    loss: Curves
    nothing: tuple[float, ...]

    def log_change(self, name: str) -> tuple[float, float]:
        """The logarithm of the last record over the first, of rho or of the loss, mean over seeds and half-width."""
        curves = np.array(getattr(self, name))
        return paired_interval(np.log(curves[:, -1] / curves[:, 0]))


def low_rank_law(family: str) -> LowRank:
    """The three families of the last slide with w = B a, a uniform on S^{k-1}, B the first k axes.

    >>> low_rank_law("affine").ridge.link(1.0)
    3.0
    """
    links: dict[str, RidgeLaw] = {"affine": Ridge(_with_offset), "quadratic": Quadratic(), "cosine": Cosine(L=4.0)}
    return LowRank(axes(RELEVANT + SPURIOUS, RELEVANT), links[family])


def block_training(
    family: str, attention: str, covariates: str, n: int, sigma: float, recipe: Recipe, seeds: int, seed: int
) -> BlockTraining:
    r"""Train M on a low-rank family; rho(M, B) = |B'^T M B'|_2 / |B^T M B|_2, spurious over relevant."""
    d = RELEVANT + SPURIOUS
    problem = Problem(d=d, n=n, law=low_rank_law(family), sigma=sigma, covariates=covariates_named(covariates, d))
    cells = [f"block/{family}/{covariates}/{replication}" for replication in range(seeds)]
    runs = [recipe.run(problem, attention, recipe.steps // 10, HELD_OUT, seed, cell) for cell in cells]
    relevant, spurious = np.s_[:, :RELEVANT, :RELEVANT], np.s_[:, RELEVANT:, RELEVANT:]
    return BlockTraining(
        steps=tuple(map(int, runs[0].steps)),
        rho=tuple(floats(np.divide(norms(run.M[spurious]), norms(run.M[relevant]))) for run in runs),
        relevant=tuple(floats(np.trace(run.M[relevant], axis1=1, axis2=2) / RELEVANT) for run in runs),
        loss=tuple(floats(run.loss) for run in runs),
        nothing=tuple(_of_nothing(problem, seed, cell) for cell in cells),
    )


def linear_relevant_scale(n: int, sigma: float) -> float:
    r"""The c of the minimiser M = c BB^T of linear attention on the affine family and a product of unit spheres.

    With v = |offset|^2 + 1/k + sigma^2, the mean square of a label, the loss of c BB^T + c' B'B'^T is a constant plus

        -2 c / k^2 + c^2 ((1 - 1/n) / k^3 + v / (n k)) + c'^2 v / (n (d - k)),

    so that c' = 0, and c is the ratio of the two coefficients.

    >>> round(linear_relevant_scale(16, 0.1), 4)
    0.9685
    """
    k, v = RELEVANT, OFFSET**2 + 1 / RELEVANT + sigma**2
    return (1 / k**2) / ((1 - 1 / n) / k**3 + v / (n * k))


def minimised_scales(n: int, sigma: float, contexts: int, seed: int) -> tuple[float, float, float, float]:
    """The same c, its error, c' and its error by minimising the sampled loss over all matrices; 95 % half-widths."""
    d = RELEVANT + SPURIOUS
    problem = Problem(d=d, n=n, law=low_rank_law("affine"), sigma=sigma, covariates=covariates_named("product", d))
    found = optimal_matrix(
        problem, attention="linear", contexts=contexts, starts=2, seed=seed, cell="block/affine/minimised"
    )
    entries = (found.M[0, 0], found.M_error[0, 0], found.M[-1, -1], found.M_error[-1, -1])
    return (float(entries[0]), float(entries[1]), float(entries[2]), float(entries[3]))


def _with_offset(z: Floats) -> Floats:
    """The argument and 2."""
    return z + OFFSET


def _of_nothing(problem: Problem, seed: int, cell: str) -> float:
    """E f(x)^2 on held-out contexts: linear attention with M = 0."""
    zero = np.zeros((problem.d, problem.d))
    run = pretrain(problem, steps=1, batch=1, attention="linear", start=zero, held_out=HELD_OUT, seed=seed, cell=cell)
    return float(run.loss[0])
