"""Training by the common protocol: Adam from small random weights, a fresh batch a step, the best of five runs.

The other models of this package are found by quasi-Newton descents that grow from shorter models. If one of them is
better than a printed entry, this module shows where plain training ends. Weights are in the units of the data, and the
loss is half the squared error of the prediction against the noiseless target. All runs see the same batches; seeds
differ in the initial weights. The runs are shipped as data.

    python -m lipverify.linear_transformer.training.protocol --steps 20000
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.provenance import machine_here
from lipverify.foundation.store import read_record, sealed, write_record
from lipverify.foundation.streams import generator
from lipverify.linear_transformer.layer import Diagonal, Layer, Parametrisation
from lipverify.linear_transformer.published import problem
from lipverify.linear_transformer.regression.contexts import draw_contexts
from lipverify.linear_transformer.training.native import Packed
from lipverify.linear_transformer.training.witness import models_folder

BATCH, RATE = 2048, 1e-4
"""Contexts of a step, and the learning rate of Adam."""
BEGIN = {"GD++": 0.002, "DIAG": 0.02, "FULL": 0.02}
"""Standard deviation of the initial weights; those of GD++ are smaller because they stand for products of two."""
DECAYS, TINY = (0.9, 0.999), 1e-8
"""Decay rates of Adam's two averages, and the constant that prevents division by zero."""
SEEDS = (0, 1, 2, 3, 4)
MODELS = tuple((family, layers) for layers in (2, 3) for family in ("GD++", "DIAG"))
EVERY = 500
"""Number of steps between stored weights."""
FORMAT = 1
COMMAND = "python -m lipverify.linear_transformer.training.protocol"


class Run(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One training run: its final weights, and its losses on the way.

    Attributes
    ----------
    family, layers, seed
        Which.
    weights
        At the end: (xx, yx) of GD++, (p_x, p_y, q_x, q_y) of DIAG, P and Q of FULL, layer by layer.
    losses
        Mean loss over the batches of each `EVERY` steps, contexts that are no double left out.
    """

    family: str
    layers: int
    seed: int
    weights: tuple[float, ...]
    losses: tuple[float, ...]

    @property
    def model(self) -> tuple[Parametrisation, ...]:
        """The trained weights as layers that can be applied, the first one first."""
        numbers = _numbers(self.family, np.asarray(self.weights).reshape(self.layers, *_shape(self.family)))
        if self.family == "FULL":
            return tuple(Layer(P[None], Q[None]) for P, Q in numbers)
        return tuple(Diagonal(*map(float, four)) for four in numbers)


class Runs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All runs for one law of the noise, with their settings."""

    format: int
    command: str
    noise: str
    batch: int
    rate: float
    begin: dict[str, float]
    steps: int
    seconds: float
    machine: str
    runs: tuple[Run, ...]
    digest: str = ""

    def of(self, family: str, layers: int) -> list[Run]:
        """The runs of a model, by seed."""
        return [run for run in self.runs if (run.family, run.layers) == (family, layers)]


def _shape(family: str) -> tuple[int, ...]:
    """Shape of the weights of one layer, for d = 10."""
    return {"GD++": (2,), "DIAG": (4,), "FULL": (2, 11, 11)}[family]


def _numbers(family: str, weights: Floats) -> Floats:
    """The parameters of the compiled code: four numbers a layer, (xx, xy, yx, yy), or P and Q."""
    if family == "GD++":
        return np.stack([weights[:, 0], 0 * weights[:, 0], weights[:, 1], 0 * weights[:, 0]], axis=1)
    return (weights[:, :2, None] * weights[:, None, 2:]).reshape(-1, 4) if family == "DIAG" else weights


def _pulled(family: str, weights: Floats, gradient: Floats) -> Floats:
    """The gradient in the weights, from the gradient in the parameters of the compiled code."""
    if family == "GD++":
        return gradient[:, [0, 2]]
    if family == "FULL":
        return gradient
    outer = gradient.reshape(-1, 2, 2)
    p, q = weights[:, :2], weights[:, 2:]
    return np.concatenate([(outer @ q[:, :, None])[..., 0], (p[:, None, :] @ outer)[:, 0, :]], axis=1)


class _Training:
    """A training in progress, with Adam's averages."""

    def __init__(self, family: str, layers: int, seed: int) -> None:
        self.family, self.layers, self.seed, self.step = family, layers, seed, 0
        normals = generator(seed, f"protocol/{family}/{layers}", 0).standard_normal((layers, *_shape(family)))
        self.weights, self.first, self.second = BEGIN[family] * normals, 0.0 * normals, 0.0 * normals
        self.recent: list[float] = []
        self.losses: list[float] = []

    def move(self, batch: Packed) -> None:
        """One step of Adam on the mean loss of a batch."""
        losses, gradient = batch.losses(_numbers(self.family, self.weights), np.inf)
        slope = _pulled(self.family, self.weights, gradient)
        self.step += 1
        self.first = DECAYS[0] * self.first + (1 - DECAYS[0]) * slope
        self.second = DECAYS[1] * self.second + (1 - DECAYS[1]) * slope**2
        mean, square = (
            each / (1 - decay**self.step) for each, decay in zip((self.first, self.second), DECAYS, strict=True)
        )
        self.weights = self.weights - RATE * mean / (np.sqrt(square) + TINY)
        self.recent.append(float(np.mean(losses[np.isfinite(losses)])))
        if self.step % EVERY == 0:
            self.losses.append(float(f"{np.mean(self.recent):.6g}"))
            self.recent.clear()

    def record(self) -> Run:
        """The current weights, and the losses so far."""
        return Run(
            family=self.family, layers=self.layers, seed=self.seed, losses=tuple(self.losses),
            weights=tuple(map(float, self.weights.reshape(-1))),
        )  # fmt: skip


def trained(noise: str, steps: int) -> Iterator[Runs]:
    """Run all trainings, yielding their state after every thousandth step and at the end."""
    clock, here = time.process_time(), problem(noise)
    every = [_Training(family, layers, seed) for family, layers in MODELS for seed in SEEDS]
    share = np.full(BATCH, 1 / BATCH)
    for step in range(1, steps + 1):
        drawn = draw_contexts(here, BATCH, 0, f"protocol/{noise}/{step}")
        batch = Packed(drawn.gram, drawn.task, share)
        with np.errstate(over="ignore", invalid="ignore"):
            for each in every:
                each.move(batch)
        if step % (2 * EVERY) == 0 or step == steps:
            found = Runs(
                format=FORMAT, command=f"{COMMAND} --steps {step}", noise=noise, batch=BATCH, rate=RATE, begin=BEGIN,
                steps=step, seconds=round(time.process_time() - clock, 1), machine=machine_here(),
                runs=tuple(each.record() for each in every),
            )  # fmt: skip
            yield sealed(found)


def runs_path(noise: str) -> Path:
    """The shipped file of a law."""
    return models_folder() / noise / "protocol.json"


@cache
def runs(noise: str) -> Runs:
    """The runs that come with lipverify.

    Raises
    ------
    InvalidInput
        If there are none, or they were edited.

    >>> runs("uniform-3").batch
    2048
    """
    return read_record(runs_path(noise), Runs, FORMAT, f"protocol {noise}", f"`{COMMAND}` makes it anew")


def main() -> None:
    """Train, and write the file after each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noise", default="uniform-3")
    parser.add_argument("--steps", type=int, default=20_000)
    asked = parser.parse_args()
    for found in trained(asked.noise, asked.steps):
        write_record(found, runs_path(asked.noise))
        ends = {f"{family} {k}": min(run.losses[-1] for run in found.of(family, k)) for family, k in MODELS}
        print(found.steps, found.seconds, ends, flush=True)


if __name__ == "__main__":
    main()
