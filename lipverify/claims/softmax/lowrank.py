r"""Measurements for Theorem 4: the best M for f(x) = a^T B^T x, exactly in the invariant family and by sampling.

B is the first k coordinate axes and c_u = c_v = 1. Nothing is lost by that: the covariates and the law are invariant
under rotations, and other radii only change the units of c, c' and sigma.
"""

from __future__ import annotations

import msgspec
import numpy as np

from lipverify.optimum import SpectralBall, optimal_matrix
from lipverify.optimum.block import BlockOptimum, optimal_block
from lipverify.problem import Problem
from lipverify.problem.composed import LowRank
from lipverify.problem.covariates import ProductOfSpheres, Sphere, axes

STARTS = 2


class Setting(msgspec.Struct, frozen=True):
    """A low-rank problem and the radius of the ball: what a task's address holds."""

    covariates: str
    d: int
    k: int
    n: float
    sigma: float
    C: float

    def __str__(self) -> str:
        return f"{self.covariates}, d={self.d}, k={self.k}, n={self.n:g}, sigma={self.sigma:g}, C={self.C:g}"

    @property
    def problem(self) -> Problem:
        """The problem."""
        B = axes(self.d, self.k)
        covariates = Sphere() if self.covariates == "sphere" else ProductOfSpheres(B)
        return Problem(d=self.d, n=self.n, law=LowRank(B), sigma=self.sigma, covariates=covariates)

    @property
    def where(self) -> dict[str, int | float | str]:
        """The setting as the coordinates of a cell."""
        return {"d": self.d, "k": self.k, "n": self.n, "sigma": self.sigma, "C": self.C}


class Best(msgspec.Struct, frozen=True, kw_only=True):
    """The best M = c BB^T + c' (I - BB^T) in the ball, and the best with c' = 0."""

    c: float
    c_error: float
    c_perp: float
    c_perp_error: float
    loss: float
    loss_error: float
    aligned_c: float
    aligned_loss: float
    slope: float
    slope_error: float

    @property
    def ratio(self) -> tuple[float, float]:
        """(c'/c, its error)."""
        ratio = self.c_perp / self.c
        return ratio, (self.c_perp_error + abs(ratio) * self.c_error) / abs(self.c)

    @property
    def gain(self) -> float:
        """What a spurious part of M saves."""
        return self.aligned_loss - self.loss


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The best symmetric M in the ball, from sampled contexts: half-widths of 95 % intervals.

    c and c' are the averages of s^T M s over the unit vectors of col(B) and of its complement; `relevant` and
    `spurious` are its least and its largest absolute value there, from M before any averaging; `deviation` is the
    largest entry of M less c BB^T + c' (I - BB^T) in standard errors, and `chance` that of one as large if M* has
    this form.
    """

    c: float
    c_error: float
    c_perp: float
    c_perp_error: float
    relevant: float
    relevant_error: float
    spurious: float
    spurious_error: float
    loss: float
    loss_error: float
    deviation: float
    chance: float
    contexts: int


def best_block(setting: Setting) -> Best:
    """The best M of the invariant family, by the exact reduction."""
    found: BlockOptimum = optimal_block(setting.problem, setting.C)
    return Best(**{name: getattr(found, name) for name in Best.__struct_fields__})


def best_matrix(setting: Setting, contexts: int, seed: int) -> Found:
    """The best symmetric M, nothing assumed about its form."""
    k, problem = setting.k, setting.problem
    ball = SpectralBall(B=axes(setting.d, k), C=setting.C)
    cell = f"lowrank/{setting}"
    found = optimal_matrix(problem, constraint=ball, contexts=contexts, starts=STARTS, seed=seed, cell=cell)
    M, error = found.M_raw, found.M_raw_error
    return Found(
        c=float(found.M[0, 0]),
        c_error=float(found.M_error[0, 0]),
        c_perp=float(found.M[-1, -1]),
        c_perp_error=float(found.M_error[-1, -1]),
        relevant=float(np.linalg.eigvalsh(M[:k, :k])[0]),
        relevant_error=float(np.linalg.norm(error[:k, :k])),
        spurious=float(np.max(np.abs(np.linalg.eigvalsh(M[k:, k:])))),
        spurious_error=float(np.linalg.norm(error[k:, k:])),
        loss=found.loss,
        loss_error=found.loss_error,
        deviation=found.asymmetry,
        chance=found.asymmetry_chance,
        contexts=found.contexts,
    )
