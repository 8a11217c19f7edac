"""Training as the paper trains: Adam from small random weights, a fresh batch a step, the best of five runs.

Vladymyrov et al. (NeurIPS 2024, section 6) print: Adam, 200 000 steps, learning rate 0.0001, batches of 2048, the best
of five seeds; they do not print the initial weights. A printed training takes hours on a processor. These runs are
shorter: four fifths of their steps have a higher rate, ten times the printed one unless the command says otherwise. All
runs see the same batches; seeds differ in the initial weights. The runs are shipped as data.

    python -m lipverify.linear_transformer.training.protocol --family DIAG --layers 1 2 3 4 --steps 12000
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from lipverify.foundation.arrays import Floats
from lipverify.foundation.optimisers import Adam, Moments
from lipverify.foundation.provenance import machine_here
from lipverify.foundation.store import read_record, sealed, write_record
from lipverify.foundation.streams import generator
from lipverify.linear_transformer.families import model_of, products, pull_products
from lipverify.linear_transformer.layer import Parametrisation
from lipverify.linear_transformer.published import regression_named
from lipverify.linear_transformer.regression.contexts import Contexts, draw_contexts
from lipverify.linear_transformer.training.native import Packed
from lipverify.linear_transformer.training.record import by_compiled, read_out
from lipverify.linear_transformer.training.witness import models_folder

BATCH, RATE = 2048, 1e-4
"""Contexts of a step, and the learning rate of Adam, as the paper prints them."""
FAST, BEGIN = 10 * RATE, 0.02
"""The default learning rate of the first 80 % of the steps, and the standard deviation of the initial weights."""
SHAPES = {"GD++": (3,), "DIAG": (4,), "FULL": (2, 11, 11)}
"""Shapes of a layer's weights for d = 10: (p_x, p_y, q_x), as q_y = 0; (p_x, p_y, q_x, q_y); P and Q."""
EVERY = 500
"""Number of steps between stored losses."""
FORMAT = 2
"""Version of the stored runs; a file with another one is refused."""
COMMAND = "python -m lipverify.linear_transformer.training.protocol"


class Run(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One training run, which is an estimator, as `record.Trained` is.

    `rate` is the learning rate until four fifths of the steps are done, `weights` are those at the end as in `SHAPES`,
    and `losses` are means over the batches of each `EVERY` steps. A context counts as at most d/2, which the prediction
    0 loses.
    """

    family: str
    layers: int
    seed: int
    steps: int
    rate: float
    weights: tuple[float, ...]
    losses: tuple[float, ...]

    @property
    def numbers(self) -> Floats:
        """The four weights (xx, xy, yx, yy) of each layer, (layers, 4); of FULL P and Q, (layers, 2, 11, 11)."""
        return _numbers(self.family, np.asarray(self.weights).reshape(self.layers, *SHAPES[self.family]))

    @property
    def model(self) -> tuple[Parametrisation, ...]:
        """The trained weights as layers that can be applied, the first one first."""
        return model_of(self.numbers)

    def __call__(self, contexts: Contexts) -> Any:
        return by_compiled(self.numbers, contexts, partial(read_out, self.model))


class Runs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All runs for one law of the noise, with their settings and the processor time of each command."""

    format: int
    noise: str
    batch: int
    rate: float
    begin: float
    seconds: dict[str, float]
    machine: str
    runs: tuple[Run, ...]
    digest: str = ""

    @property
    def models(self) -> tuple[tuple[str, int], ...]:
        """(family, layers) of all that were trained."""
        return tuple(dict.fromkeys((run.family, run.layers) for run in self.runs))

    def of(self, family: str, layers: int) -> list[Run]:
        """The runs of a model, by seed."""
        return [run for run in self.runs if (run.family, run.layers) == (family, layers)]

    def best(self, family: str, layers: int) -> Run:
        """The run with the least loss over its last batches, each measured before the step that uses it."""
        return min(self.of(family, layers), key=lambda run: run.losses[-1])


def _numbers(family: str, weights: Floats) -> Floats:
    """Four numbers a layer, (xx, xy, yx, yy), or P and Q, as the compiled code takes them."""
    return weights if family == "FULL" else products(_whole(family, weights))


def _pulled(family: str, weights: Floats, gradient: Floats) -> Floats:
    """The gradient in the weights, from the gradient in the numbers."""
    if family == "FULL":
        return gradient
    return pull_products(_whole(family, weights), gradient)[:, : SHAPES[family][0]]


def _whole(family: str, weights: Floats) -> Floats:
    """(p_x, p_y, q_x, q_y) of each layer: GD++ has q_y = 0."""
    return np.pad(weights, ((0, 0), (0, 1))) if family == "GD++" else weights


class _Training:
    def __init__(self, family: str, layers: int, seed: int, rate: float = FAST) -> None:
        self.family, self.layers, self.seed, self.rate = family, layers, seed, rate
        normals = generator(seed, f"protocol/{family}/{layers}", 0).standard_normal((layers, *SHAPES[family]))
        self.weights, self.moments = BEGIN * normals, Moments.none(*normals.shape)
        self.recent: list[float] = []
        self.losses: list[float] = []

    def move(self, batch: Packed, slow: bool = False) -> None:
        losses, gradient = batch.losses(_numbers(self.family, self.weights), np.inf)
        rule = Adam(RATE if slow else self.rate)
        self.moments, change = rule.step(self.moments, _pulled(self.family, self.weights, gradient))
        self.weights = self.weights + change
        self.recent.append(float(np.minimum(losses, batch.goal.shape[1] / 2).mean()))
        if self.moments.steps % EVERY == 0:
            self.losses.append(float(f"{np.mean(self.recent):.6g}"))
            self.recent.clear()

    def record(self) -> Run:
        return Run(
            family=self.family, layers=self.layers, seed=self.seed, steps=self.moments.steps, rate=self.rate,
            losses=tuple(self.losses),
            weights=tuple(float(f"{weight:.7g}") for weight in self.weights.reshape(-1)),
        )  # fmt: skip


def trained(
    noise: str, models: Sequence[tuple[str, int]], steps: int, rate: float = FAST
) -> Iterator[tuple[int, list[Run]]]:
    """Train (family, layers) from all seeds, yielding (step, runs) at every thousandth step and at the end."""
    here, share = regression_named(noise), np.full(BATCH, 1 / BATCH)
    every = [_Training(family, layers, seed, rate) for family, layers in models for seed in range(5)]
    for step in range(1, steps + 1):
        drawn = draw_contexts(here, BATCH, 0, f"protocol/{noise}/{step}")
        batch = Packed(drawn.gram, drawn.task, share)
        with np.errstate(over="ignore", invalid="ignore"):
            for model in every:
                model.move(batch, slow=step > 0.8 * steps)
        if step % (2 * EVERY) == 0 or step == steps:
            yield step, [model.record() for model in every]


def runs_path(noise: str) -> Path:
    return models_folder() / noise / "protocol.json.xz"


@cache
def runs(noise: str) -> Runs:
    """The trainings as the paper trains, by Adam from random weights, that come with lipverify.

    Parameters
    ----------
    noise
        The name of the law of the noise.

    Returns
    -------
    Runs
        `models`, and for each of them the runs (`of`) and the best of them (`best`).

    Raises
    ------
    InvalidInput
        If there are none, or they were edited.

    Examples
    --------
    >>> runs("uniform-3").batch
    2048
    """
    return read_record(runs_path(noise), Runs, FORMAT, f"protocol {noise}", f"`{COMMAND}` makes it again")


def main(arguments: list[str] | None = None) -> None:
    """Train the models that are named, and put them into the file in the place of older runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noise", default="uniform-3")
    parser.add_argument("--family", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--layers", nargs="+", type=int, default=[1, 2, 3, 4])
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--rate", type=float, default=FAST)
    parser.add_argument("--out", type=Path, help="the file; by default the shipped one")
    asked = parser.parse_args(arguments)
    path, clock = asked.out or runs_path(asked.noise), time.process_time()
    models = [(family, layers) for family in asked.family for layers in asked.layers]
    fresh = Runs(
        format=FORMAT, noise=asked.noise, batch=BATCH, rate=RATE, begin=BEGIN, machine=machine_here(),
        seconds={}, runs=(),
    )  # fmt: skip
    kept = read_record(path, Runs, FORMAT, "protocol", "delete it") if path.exists() else fresh
    of_these = f"--family {' '.join(asked.family)} --layers {' '.join(map(str, asked.layers))} --steps {asked.steps}"
    command = f"{COMMAND} --noise {asked.noise} {of_these} --rate {asked.rate:g}"
    older = [run for run in kept.runs if (run.family, run.layers) not in models]
    for step, trainings in trained(asked.noise, models, asked.steps, asked.rate):
        spent = round(time.process_time() - clock, 1)
        print(step, spent, *(f"{loss:.5g}" for run in trainings for loss in run.losses[-1:]), flush=True)
        # A stopped command leaves the runs as far as they came.
        seconds = {**kept.seconds, command: spent}
        write_record(sealed(replace(fresh, runs=(*older, *trainings), seconds=seconds)), path)


if __name__ == "__main__":
    main()
