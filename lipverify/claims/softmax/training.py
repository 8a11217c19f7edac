r"""Measurements of training: what descent on M makes of a small start, run by run, and intervals over seeds.

The sources print figures and no hyperparameters, so every measurement is made with at least two `Recipe`s. Runs that
are compared share their address, and with it their tokens, directions and starts: what is averaged over seeds is a
paired difference.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from lipverify.covariates import Covariates, Ellipsoid, ProductOfSpheres, Sphere, axes
from lipverify.laws import law_named
from lipverify.loss import loss_terms
from lipverify.loss.attention import attention_named
from lipverify.loss.streams import normals
from lipverify.optimum.jackknife import mean_interval
from lipverify.optimum.matrix.sampled import draw_loss
from lipverify.optimum.pretraining import Trajectory, pretrain
from lipverify.problem import Problem

Floats = NDArray[np.float64]
Curves = tuple[tuple[float, ...], ...]
"""One curve for each seed."""

LEVEL = 0.99
"""Of the t-intervals over seeds: a run of the program looks at some hundred of them."""
SPREAD = 0.1
"""A start is w_0 (I + 0.1 G) with standard normal entries of G, so that no run begins on an axis of symmetry."""
RELEVANT = 2
"""The dimension k of col(B) for covariates that are products of spheres."""
NODES = 13
"""Windows at which the exact loss is computed for a descent on it."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """What the sources leave open: the optimiser, its step, how many steps, contexts a step, and the start w_0."""

    optimiser: str
    learning_rate: float
    steps: int
    batch: int
    start: float

    @property
    def words(self) -> str:
        """The recipe in words, for the list of assumptions."""
        name = {"gd": "gradient descent", "adam": "Adam"}[self.optimiser]
        return (
            f"{name}, learning rate {self.learning_rate:g}, {self.steps} steps of {self.batch} fresh contexts, "
            f"start $w_0 = {self.start:g}$"
        )

    def run(self, problem: Problem, attention: str, every: int, held_out: int, seed: int, cell: str) -> Trajectory:
        """Train M by this recipe."""
        noise = normals(seed, f"{cell}/perturbation", 0, (problem.d, problem.d))
        return pretrain(
            problem,
            optimiser=self.optimiser,
            learning_rate=self.learning_rate,
            steps=self.steps,
            batch=self.batch,
            start=self.start * (np.eye(problem.d) + SPREAD * noise),
            attention=attention,
            every=every,
            held_out=held_out,
            seed=seed,
            cell=cell,
        )


class NormGrowth(msgspec.Struct, frozen=True, kw_only=True):
    """The spectral norm of M and its trace over d along training, [L][seed][record], after so many steps."""

    L: tuple[float, ...]
    steps: tuple[int, ...]
    norms: tuple[Curves, ...]
    scales: tuple[Curves, ...]

    def log_ratio(self, smaller: int, larger: int, record: int) -> tuple[float, float]:
        """The logarithm of the norm at L[larger] over that at L[smaller], mean over seeds and half-width."""
        high, low = (np.array(self.norms[at])[:, record] for at in (larger, smaller))
        return paired_interval(np.log(high / low))


def paired_interval(differences: Sequence[float] | Floats) -> tuple[float, float]:
    """The mean of paired differences and the half-width of its 99 % t-interval.

    >>> mean, error = paired_interval([1.0, 2.0, 3.0])
    >>> mean, round(error, 2)
    (2.0, 5.73)
    """
    return mean_interval(np.asarray(differences, dtype=np.float64), LEVEL)


def covariates_named(name: str, d: int) -> Covariates:
    """Covariates of the training figures: "sphere", "ellipsoid" (axes 2 to 1/2), or "product" of spheres over axes."""
    if name == "ellipsoid":
        return Ellipsoid(np.geomspace(2.0, 0.5, d).tolist())
    return ProductOfSpheres(axes(d, RELEVANT)) if name == "product" else Sphere()


def norm_growth(
    law: str,
    covariates: str,
    d: int,
    n: int,
    sigma: float,
    constants: tuple[float, ...],
    recipe: Recipe,
    seeds: int,
    seed: int,
) -> NormGrowth:
    """Train M on the same covariates and directions for each Lipschitz constant."""
    every = recipe.steps // 8
    runs = [
        [
            recipe.run(
                Problem(d=d, n=n, law=law_named(law, L=L), sigma=sigma, covariates=covariates_named(covariates, d)),
                "softmax",
                every,
                64,
                seed,
                f"norm/{law}/{covariates}/{d}/{replication}",
            )
            for replication in range(seeds)
        ]
        for L in constants
    ]
    return NormGrowth(
        L=constants,
        steps=tuple(map(int, runs[0][0].steps)),
        norms=tuple(tuple(norms(run.M) for run in of_one) for of_one in runs),
        scales=tuple(tuple(floats(np.trace(run.M, axis1=1, axis2=2) / d) for run in of_one) for of_one in runs),
    )


def descended_window(
    law: str, d: int, n: int, sigma: float, L: float, recipe: Recipe, reach: float
) -> tuple[float, float]:
    r"""The window after gradient descent on the exact loss, w <- w - learning_rate L'(w) / d, and its error.

    Along M = w I the gradient in M of an isotropic problem is L'(w) I / d, so this is the descent that stochastic
    gradients follow. The derivative is that of a spline through exact losses at windows up to `reach`; the error is the
    change when every other one is left out.
    """
    nodes = np.linspace(0.0, reach, NODES)
    losses = loss_terms(Problem(d=d, n=n, law=law_named(law, L=L), sigma=sigma), nodes).total

    def end(every: int) -> float:
        slope = CubicSpline(nodes[::every], losses[::every]).derivative()
        w = recipe.start
        for _ in range(recipe.steps):
            w -= recipe.learning_rate * float(slope(w)) / d
        return w

    fine = end(1)
    return fine, abs(fine - end(2))


def gradient_at_zero(
    law: str, covariates: str, d: int, n: int, sigma: float, L: float, contexts: int, seed: int
) -> tuple[float, float]:
    """-tr of the gradient in M at M = 0, mean over contexts and half-width of its 95 % interval."""
    problem = Problem(d=d, n=n, law=law_named(law, L=L), sigma=sigma, covariates=covariates_named(covariates, d))
    loss = draw_loss(problem, attention_named("softmax"), contexts, seed, f"zero/{law}/{covariates}/{d}/{n}/{L}")
    return mean_interval(-np.trace(loss.gradients_of_batches(np.zeros((d, d))), axis1=1, axis2=2))


def derived_gradient_at_zero(covariates: str, d: int, n: int, L: float) -> tuple[float, float]:
    r"""The same for the ReLU law, derived: at M = 0 the gradient is -(1 - 1/n) L^2 Sigma^2 / (3 d^3).

    At first order in M only -2 E f(x) sum_i (s_i - mean s) f(x_i) / n counts, which is -2 (1 - 1/n) tr(M^T G) with
    G = E_f g g^T, g = E_x f(x) x = (l_1 - l_2) Sigma q / (2 d).

    >>> round(derived_gradient_at_zero("sphere", 3, 16, 1.0)[0], 6)
    0.034722
    """
    problem = Problem(d=d, n=n, law=law_named("relu", L=L), covariates=covariates_named(covariates, d))
    Sigma = problem.covariates.shape(d)
    assert Sigma is not None
    return (1 - 1 / n) * L**2 * float(np.trace(Sigma @ Sigma)) / (3 * d**3), 0.0


def norms(matrices: Floats) -> tuple[float, ...]:
    """Spectral norms of (R, d, d) matrices."""
    return floats(np.linalg.norm(matrices, 2, axis=(1, 2)))


def floats(values: Floats) -> tuple[float, ...]:
    """An array as plain numbers, for a record."""
    return tuple(map(float, values))
