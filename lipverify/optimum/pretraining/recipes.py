r"""Recipes: what papers leave open of a training run, as a record, and the exact descent that it follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from scipy.interpolate import CubicSpline

from lipverify.foundation.arrays import Floats
from lipverify.foundation.streams import normals
from lipverify.loss import loss_terms
from lipverify.optimum.pretraining.kept import Arrays, kept
from lipverify.optimum.pretraining.optimisers import optimiser_named
from lipverify.optimum.pretraining.training import Settings, Trajectory, pretrain_together
from lipverify.problem import Problem

NODES = 13
"""Windows at which the exact loss is computed for a descent on it."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """The optimiser, its step, how many steps, contexts a step, and the start.

    Attributes
    ----------
    optimiser, learning_rate, steps, batch
        "gd" or "adam", the size of a step, how many, and fresh contexts for each.
    start, spread
        M begins at start (I + spread G), the entries of G standard normal: no run begins on an axis of symmetry.

    >>> print(Recipe(optimiser="gd", learning_rate=0.5, steps=100, batch=32, start=0.1))
    gradient descent, learning rate 0.5, 100 steps of 32 fresh contexts, start $w_0 = 0.1$
    """

    optimiser: str
    learning_rate: float
    steps: int
    batch: int
    start: float
    spread: float = 0.1

    def __str__(self) -> str:
        name = {"gd": "gradient descent", "adam": "Adam"}[self.optimiser]
        return (
            f"{name}, learning rate {self.learning_rate:g}, {self.steps} steps of {self.batch} fresh contexts, "
            f"start $w_0 = {self.start:g}$"
        )

    def run(self, problem: Problem, *, stream: str, **options: Any) -> Trajectory:
        """Train M by this recipe, once; see `runs`."""
        return self.runs(problem, [stream], **options)[0]

    def runs(
        self,
        problem: Problem,
        streams: Sequence[str],
        *,
        attention: str = "softmax",
        every: int,
        held_out: int = 64,
        seed: int,
    ) -> list[Trajectory]:
        """Train M by this recipe, once for each stream, side by side.

        Runs with one seed and stream share their start, and what is drawn of their tokens and directions: of two
        problems that differ in L alone, the difference of two such runs is that of L.

        Parameters
        ----------
        problem
            Any problem whose law can be drawn.
        streams, seed
            Addresses of the random numbers.
        attention, every, held_out
            As for `pretrain`.
        """
        d = problem.d
        noises = [normals(seed, f"{stream}/perturbation", 0, (d, d)) for stream in streams]
        starts = [self.start * (np.eye(d) + self.spread * noise) for noise in noises]
        rule = optimiser_named(self.optimiser, self.learning_rate)
        settings = Settings(
            rule=rule, steps=self.steps, batch=self.batch, attention=attention, every=every, held_out=held_out
        )
        return pretrain_together(problem, settings, streams, starts, seed=seed)

    def kept(self, name: str, problem: Problem, streams: Sequence[str], **options: Any) -> Floats:
        """M (run, record, d, d) of `runs`, from a file if there is one: see `kept`."""

        def train(some: Sequence[str], steps: int) -> Arrays:
            found = msgspec.structs.replace(self, steps=steps).runs(problem, some, **options)
            return {"M": np.array([run.M for run in found])}

        asked = {"problem": problem, "recipe": self, "streams": list(streams), **options}
        return kept(name, asked, train, steps=self.steps, every=options["every"])["M"]


def descended_window(problem: Problem, recipe: Recipe, reach: float) -> tuple[float, float]:
    r"""The window after gradient descent on the exact loss, w <- w - learning_rate L'(w) / d, and its error.

    Along M = w I the gradient in M of an isotropic problem is L'(w) I / d, so this is the descent that stochastic
    gradients follow.

    Parameters
    ----------
    problem
        Any isotropic problem whose law the exact method knows.
    recipe
        Its learning rate, steps and start; the rest does not matter.
    reach
        A window that the descent does not pass.

    Returns
    -------
    The window; the derivative is that of a spline through exact losses at windows up to `reach`, and the error is the
    change when every other one is left out.

    >>> from lipverify.laws import Affine
    >>> recipe = Recipe(optimiser="gd", learning_rate=20.0, steps=500, batch=1, start=0.1)
    >>> w, error = descended_window(Problem(d=3, n=100, law=Affine(), sigma=0.5), recipe, reach=6.0)
    >>> round(w, 2), error < 0.01
    (4.44, True)
    """
    nodes = np.linspace(0.0, reach, NODES)
    losses = loss_terms(problem, nodes).total

    def end(every: int) -> float:
        slope = CubicSpline(nodes[::every], losses[::every]).derivative()
        w = recipe.start
        for _ in range(recipe.steps):
            w -= recipe.learning_rate * float(slope(w)) / problem.d
        return w

    fine = end(1)
    return fine, abs(fine - end(2))
