r"""Recipes: the choices of a training run that papers do not state, as a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.optimisers import optimiser_named
from lipverify.foundation.streams import normals
from lipverify.optimum.pretraining.kept import Arrays, kept
from lipverify.optimum.pretraining.training import Settings, Trajectory, pretrain_together
from lipverify.problem import Problem


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """The optimiser, its learning rate, the number of steps, the contexts per step, and the start.

    Attributes
    ----------
    optimiser, learning_rate, steps, batch
        "gd" or "adam", its learning rate, the number of steps, and the fresh contexts for each step.
    start, spread
        M starts at start (I + spread G), with the entries of G standard normal, so that no run starts at a symmetric
        point.

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
        """Train M by this recipe once for each stream, all runs together.

        Runs with the same seed and stream share their start, tokens and directions: if two problems differ in L only,
        so do their runs.

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
        """M (run, record, d, d) of `runs`, read from a file if there is one; see `kept`."""

        def train(some: Sequence[str], steps: int) -> Arrays:
            runs = msgspec.structs.replace(self, steps=steps).runs(problem, some, **options)
            return {"M": np.array([run.M for run in runs])}

        question = {"problem": problem, "recipe": self, "streams": list(streams), **options}
        return kept(name, question, train, steps=self.steps, every=options["every"])["M"]
