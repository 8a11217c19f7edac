r"""Training in stages: many starts on few contexts, the best of them on more, the best of these on most.

The starts descend on one address of the random stream, are compared on a second, and the loss that is reported is
that on a third, which no decision has seen. A stage's cap is a multiple of the loss that the stage before it left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from lipverify.errors import InvalidInput
from lipverify.foundation.means.samples import SampledMean
from lipverify.linear_transformer.families import Full, Omega
from lipverify.linear_transformer.regression.adjusted import Evaluation, evaluation
from lipverify.linear_transformer.regression.contexts import Regression, draw_contexts
from lipverify.linear_transformer.training.descent import Descent, descend
from lipverify.linear_transformer.training.growth import Start
from lipverify.linear_transformer.training.objective import Arithmetic, Objective, Sample, arithmetic_here, draw_sample
from lipverify.linear_transformer.training.record import Trained, estimate


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes
    ----------
    contexts, iterations
        The sample, a multiple of 1024, and steps on it.
    kept
        How many go on from here, of the starts that were grown and of those from nowhere; 0 for the best of all alone.
    cap
        Of the loss of a context, in units of the loss so far.
    """

    contexts: int
    iterations: int
    kept: int
    cap: float


@dataclass(frozen=True)
class Plan:
    """How much is spent.

    Attributes
    ----------
    stages
        In order.
    draws, random
        Random layers put in at each place, and starts from random weights alone.
    chosen_on, reported_on
        Contexts on which starts are compared, and on which the loss is reported.
    """

    stages: tuple[Stage, ...]
    draws: int
    random: int
    chosen_on: int = 16_384
    reported_on: int = 100_000


class Candidate(NamedTuple):
    """A start on its way: where it is, what its last stage found, and its loss on the contexts that choose."""

    start: Start
    end: Descent
    chosen: float


CHOICE = 30.0
"""The cap under which candidates are compared, in units of the best one's loss: later stages mend rare disasters."""


def fit(
    family: Omega | Full,
    starts: Sequence[Start],
    plan: Plan,
    seed: int,
    stream: str,
    arithmetic: Arithmetic | None = None,
) -> Trained:
    """The best of the starts after all stages, with its loss on fresh contexts.

    Raises
    ------
    InvalidInput
        If there is no start.
    """
    if not starts:
        raise InvalidInput("starts = []: training begins from at least one.")
    used = arithmetic or arithmetic_here()
    choosing = draw_sample(family.regression, plan.chosen_on, seed, f"{stream}/choice", family.rare)
    level, spent = family.regression.d / 2, 0
    found = [Candidate(start, Descent(start.weights, math.inf, math.inf, 0, 0), math.inf) for start in starts]
    for number, stage in enumerate(plan.stages):
        sample = draw_sample(family.regression, stage.contexts, seed, f"{stream}/train/{number}", family.rare)
        objective = Objective(family, sample, stage.cap * level, used)
        found = [_improved(candidate, objective, stage.iterations) for candidate in found]
        spent += stage.contexts * sum(candidate.end.evaluations for candidate in found)
        found = _kept(_ranked(found, family, choosing, used), stage.kept)
        level = min(level, found[0].chosen)
    best, layers = found[0], len(starts[0].weights)
    return Trained(
        family=type(family).__name__.upper(),
        noise=family.regression.noise,  # type: ignore[arg-type]
        d=family.regression.d,
        n=family.regression.n,
        layers=layers,
        weights=tuple(map(float, best.end.weights.reshape(-1))),
        loss=_reported(family, best, plan.reported_on, seed, f"{stream}/report"),
        training=math.exp(best.end.value),
        slope=best.end.slope,
        origin=best.start.origin,
        gradients=spent * layers / 1e6,
        arithmetic=used,
    )


def _improved(candidate: Candidate, objective: Objective, iterations: int) -> Candidate:
    return candidate._replace(end=descend(objective, candidate.end.weights, iterations))


def _ranked(found: Sequence[Candidate], family: Omega | Full, choosing: Sample, used: Arithmetic) -> list[Candidate]:
    """The candidates, best first, by their loss on contexts that none was trained on, capped far above the best."""
    cap = family.regression.d / 2
    for _ in range(2):
        objective = Objective(family, choosing, cap, used)
        losses = [objective.average(candidate.end.weights) for candidate in found]
        cap = CHOICE * min(losses)
    ranked = [candidate._replace(chosen=loss) for candidate, loss in zip(found, losses, strict=True)]
    return sorted(ranked, key=lambda candidate: candidate.chosen)


def _kept(ranked: Sequence[Candidate], count: int) -> list[Candidate]:
    """The best of those that were grown and the best of those from nowhere; at the end (count 0) the best of all.

    A grown start is ahead at first, whichever valley is deeper.
    """
    if count == 0:
        return list(ranked[:1])
    alone = [candidate for candidate in ranked if candidate.start.alone]
    grown = [candidate for candidate in ranked if not candidate.start.alone]
    return sorted(alone[:count] + grown[:count], key=lambda candidate: candidate.chosen)


def _reported(family: Omega | Full, best: Candidate, count: int, seed: int, stream: str) -> SampledMean:
    held_out = _held_out(family.regression, count, seed, stream)
    return held_out.loss(lambda contexts: estimate(family.model(best.end.weights), contexts))


@lru_cache(maxsize=1)
def _held_out(regression: Regression, count: int, seed: int, stream: str) -> Evaluation:
    return evaluation(draw_contexts(regression, count, seed, stream))
