"""Training in stages: many starts on few contexts, the best of them on more, the best of these on most.

Starts are compared on contexts of a second address, and the reported loss is that on a third, which no decision used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.linear_transformer.families import Full, Omega
from lipverify.linear_transformer.regression.adjusted import Evaluation, evaluation
from lipverify.linear_transformer.regression.contexts import draw_contexts
from lipverify.linear_transformer.training.objective import Arithmetic, Objective, Sample, arithmetic_here, draw_sample
from lipverify.linear_transformer.training.record import Trained, estimate
from lipverify.problem.prompts import Prompts

STALLED = 1e-8
"""Least relative gain of a step. The objectives are logarithms, so this is about one part in 10^8 of the loss."""


class Start(NamedTuple):
    """Initial weights and their origin; `alone` is True for random weights that stem from no other model."""

    origin: str
    weights: Floats
    alone: bool = False


class Descent(NamedTuple):
    """The best point of a descent, the objective and the norm of its gradient there, and the gradients that it took."""

    weights: Floats
    value: float
    slope: float
    evaluations: int


def descend(objective: Callable[[Floats], tuple[float, Floats]], start: Floats, iterations: int) -> Descent:
    """Descend at most a number of steps; stop earlier if a step gains less than `STALLED` of the value."""

    def flat(point: Floats) -> tuple[float, Floats]:
        value, gradient = objective(point.reshape(start.shape))
        return value, gradient.reshape(-1)

    options = {"maxiter": iterations, "maxfun": 4 * iterations, "maxcor": 30, "ftol": STALLED, "gtol": 0.0}
    result = minimize(flat, start.reshape(-1), jac=True, method="L-BFGS-B", options=options)
    return Descent(
        result.x.reshape(start.shape), float(result.fun), float(np.linalg.norm(result.jac)), int(result.nfev)
    )


@dataclass(frozen=True)
class Stage:
    """One stage: its contexts (a multiple of 1024) and steps; the grown and the random starts that continue, each
    `kept` (0: the best of all); and the cap of the loss of a context, in units of the current loss.
    """

    contexts: int
    iterations: int
    kept: int
    cap: float


@dataclass(frozen=True)
class Plan:
    """The effort of a training: its stages; the random layers inserted at each position, and the starts from random
    weights alone; the contexts on which starts are compared, and those on which the loss is reported.
    """

    stages: tuple[Stage, ...]
    draws: int
    random: int
    chosen_on: int = 16_384
    reported_on: int = 100_000


class Candidate(NamedTuple):
    """A candidate: its start and weights, the end of its last descent, and its loss on the selection contexts."""

    start: Start
    end: Descent
    chosen: float


def fit(
    family: Omega | Full,
    starts: Sequence[Start],
    plan: Plan,
    seed: int,
    stream: str,
    arithmetic: Arithmetic | None = None,
) -> Trained:
    """Train the best of the starts through all stages, and return it with its loss on fresh contexts."""
    if not starts:
        raise InvalidInput("starts = []: training begins from at least one.")
    used = arithmetic or arithmetic_here()
    choosing = draw_sample(family.regression, plan.chosen_on, seed, f"{stream}/choice", family.rare)
    level, spent = family.regression.d / 2, 0
    candidates = [Candidate(start, Descent(start.weights, math.inf, math.inf, 0), math.inf) for start in starts]
    for number, stage in enumerate(plan.stages):
        sample = draw_sample(family.regression, stage.contexts, seed, f"{stream}/train/{number}", family.rare)
        objective = Objective(family, sample, stage.cap * level, used)
        candidates = [
            candidate._replace(end=descend(objective, candidate.end.weights, stage.iterations))
            for candidate in candidates
        ]
        spent += stage.contexts * sum(candidate.end.evaluations for candidate in candidates)
        candidates = _kept(_ranked(candidates, family, choosing, used), stage.kept)
        level = min(level, candidates[0].chosen)
    best, layers = candidates[0], len(starts[0].weights)
    held_out = _held_out(family.regression, plan.reported_on, seed, f"{stream}/report")
    return Trained(
        family=type(family).__name__.upper(),
        noise=family.regression.noise,  # type: ignore[arg-type]
        d=family.regression.d,
        n=int(family.regression.n),
        layers=layers,
        weights=tuple(map(float, best.end.weights.reshape(-1))),
        loss=held_out.loss(partial(estimate, family.model(best.end.weights))),
        training=math.exp(best.end.value),
        slope=best.end.slope,
        origin=best.start.origin,
        gradients=spent * layers / 1e6,
        arithmetic=used,
    )


def _ranked(
    candidates: Sequence[Candidate], family: Omega | Full, choosing: Sample, used: Arithmetic
) -> list[Candidate]:
    """The candidates, best first, by their loss on contexts not used in training, capped far above the best loss."""
    cap = family.regression.d / 2
    for _ in range(2):
        objective = Objective(family, choosing, cap, used)
        losses = [float(objective.capped(candidate.end.weights)[0] @ choosing.share) for candidate in candidates]
        cap = 30.0 * min(losses)  # later stages repair rare large losses
    ranked = [candidate._replace(chosen=loss) for candidate, loss in zip(candidates, losses, strict=True)]
    return sorted(ranked, key=lambda candidate: candidate.chosen)


def _kept(ranked: Sequence[Candidate], count: int) -> list[Candidate]:
    """The best grown and the best random candidates; after the last stage (count 0) the best of all."""
    if count == 0:
        return list(ranked[:1])
    # a grown start has the lower loss at first, even if a random start leads to a deeper minimum
    alone = [candidate for candidate in ranked if candidate.start.alone]
    grown = [candidate for candidate in ranked if not candidate.start.alone]
    return sorted(alone[:count] + grown[:count], key=lambda candidate: candidate.chosen)


@lru_cache(maxsize=1)
def _held_out(regression: Prompts, count: int, seed: int, stream: str) -> Evaluation:
    return evaluation(draw_contexts(regression, count, seed, stream))
