r"""Adam on fresh contexts at every step, as in the paper; with an explicit learning rate and a state that can be kept.

    m <- b1 m + (1 - b1) g,    v <- b2 v + (1 - b2) g^2,    weights <- weights - rate(t) mhat / (sqrt(vhat) + eps),

with mhat = m / (1 - b1^t) and vhat = v / (1 - b2^t). The gradient is that of the logarithm of the capped mean loss
of a batch, computed in the array library of the batch, on its device; step t draws its batch from an address of its
own, so that a run which was stopped and taken up again makes the same steps.

Source: Kingma, Ba, "Adam: a method for stochastic optimization", ICLR 2015; the use of it here: Vladymyrov, von
Oswald, Sandler, Ge, NeurIPS 2024, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput
from lipverify.linear_transformer.families import Full, Omega
from lipverify.linear_transformer.regression.adjusted import evaluation
from lipverify.linear_transformer.regression.contexts import draw_contexts
from lipverify.linear_transformer.training.objective import Objective, Sample
from lipverify.loss.counts import whole
from lipverify.loss.montecarlo.device import to_device

Floats = NDArray[np.float64]

DECAYS = (0.9, 0.999)
"""b1 and b2."""
EPS = 1e-8
"""What keeps the step finite where the gradient has always been 0."""


@dataclass(frozen=True)
class Schedule:
    """Learning rate: up to `peak` on a straight line over `warmup` steps, then down to 0 on a half cosine at `steps`.

    >>> schedule = Schedule(peak=0.1, warmup=10, steps=110)
    >>> [round(schedule(step), 4) for step in (1, 10, 60, 110)]
    [0.01, 0.1, 0.05, 0.0]
    """

    peak: float
    warmup: int
    steps: int

    def __post_init__(self) -> None:
        if not 0 < self.peak < math.inf:
            raise InvalidInput(f"peak = {self.peak!r}: a learning rate is a finite number > 0.")
        if not 0 <= self.warmup < self.steps:
            raise InvalidInput(f"warmup = {self.warmup!r}: it ends before step {self.steps!r}, the last.")

    def __call__(self, step: int) -> float:
        """The rate of step 1, 2, ..., steps."""
        if step <= self.warmup:
            return self.peak * step / self.warmup
        return self.peak * (1 + math.cos(math.pi * (step - self.warmup) / (self.steps - self.warmup))) / 2


class AdamState(msgspec.Struct, frozen=True, kw_only=True):
    """All that the next step depends on, as plain numbers: it can be kept in a file and taken up again.

    `weights`, `mean` and `square` are flat, in the order of the family's arrays.
    """

    step: int
    weights: tuple[float, ...]
    mean: tuple[float, ...]
    square: tuple[float, ...]

    @classmethod
    def begin(cls, weights: Floats) -> AdamState:
        """Before the first step."""
        nothing = (0.0,) * weights.size
        return cls(step=0, weights=tuple(map(float, weights.reshape(-1))), mean=nothing, square=nothing)


def adam(
    family: Omega | Full,
    begin: AdamState,
    schedule: Schedule,
    *,
    batch: int,
    cap: float,
    seed: int,
    cell: str,
    xp: Any = np,
    device: Any = None,
    steps: int | None = None,
    keep: Callable[[AdamState], None] | None = None,
    every: int = 100,
) -> AdamState:
    """Steps from a state to the end of the schedule, or `steps` of them.

    Parameters
    ----------
    family, begin, schedule
        What is trained, from where, at which rates.
    batch, cap
        Contexts a step, all fresh; and the cap on the loss of one, in units of the loss.
    xp, device
        Array library and device of the batches: NumPy, CuPy, ...
    keep
        Called with the state after every `every` steps and after the last.

    Raises
    ------
    InvalidInput
        If a count is not an integer >= 1.
    """
    batch, every = whole("batch", batch, least=1), whole("every", every, least=1)
    last = schedule.steps if steps is None else min(schedule.steps, begin.step + whole("steps", steps, least=1))
    state = begin
    while state.step < last:
        sample = _batch(family, batch, seed, f"{cell}/{state.step + 1}", xp, device)
        state = _stepped(state, Objective(family, sample, cap, "array"), schedule)
        if keep is not None and (state.step % every == 0 or state.step == last):
            keep(state)
    return state


def _stepped(state: AdamState, objective: Objective, schedule: Schedule) -> AdamState:
    """One step; a batch on which no loss is finite leaves the weights where they are."""
    weights, mean, square = (np.asarray(part) for part in (state.weights, state.mean, state.square))
    _, gradient = objective(weights.reshape(-1, *objective.family.shape))
    gradient, step = gradient.reshape(-1), state.step + 1
    (b1, b2), rate = DECAYS, schedule(step)
    mean = b1 * mean + (1 - b1) * gradient
    square = b2 * square + (1 - b2) * gradient**2
    moved = weights - rate * (mean / (1 - b1**step)) / (np.sqrt(square / (1 - b2**step)) + EPS)
    return AdamState(step=step, weights=_flat(moved), mean=_flat(mean), square=_flat(square))


def _batch(family: Omega | Full, count: int, seed: int, cell: str, xp: Any, device: Any) -> Sample:
    held_out = evaluation(draw_contexts(family.regression, count, seed, cell))
    gram, goal = (to_device(part, xp, device) for part in (held_out.contexts.gram, held_out.oracle))
    return Sample(gram, goal, np.full(count, 1 / count))


def _flat(values: Floats) -> tuple[float, ...]:
    return tuple(map(float, values))
