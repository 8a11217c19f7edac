"""Trained models, GD++, the ridge baselines and the floor of not knowing sigma, all on the same fresh contexts.

A model is trained with several seeds, and what is said of it covers both their spread and that of the contexts. The
target is the paper's: the mean over as many sequences as it has; over more of them rarer contexts rule the means of
deep models, and it is another number. Several independent samples of that size show how far such a mean depends on
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.batches import mean_interval
from lipverify.foundation.means.samples import RARE, SampledMean, sampled_mean
from lipverify.linear_transformer.families import NAMES
from lipverify.linear_transformer.gdplusplus.eigenvalues import follow
from lipverify.linear_transformer.gdplusplus.known import known_depth, known_model
from lipverify.linear_transformer.layer import GDPlusPlus
from lipverify.linear_transformer.published import MODELS, printed, problem
from lipverify.linear_transformer.regression.adjusted import (
    SEQUENCES,
    Estimator,
    Evaluation,
    evaluation,
    printed_error,
    protocol_losses,
    protocol_queries,
)
from lipverify.linear_transformer.regression.bayes import Bayes
from lipverify.linear_transformer.regression.contexts import Regression, draw_contexts
from lipverify.linear_transformer.regression.eigenbasis import Eigenbasis, SpectralEstimator
from lipverify.linear_transformer.regression.ridge import AdaRR, best_constant, tuned_ridge
from lipverify.linear_transformer.regression.thinned import thinned, thinned_mean
from lipverify.linear_transformer.training.record import Trained
from lipverify.linear_transformer.training.witness import depths_of, seeds_of, trainings

ESTIMATORS = ("ConstRR", "AdaRR", "TunedRR", "Bayes")
"""What models are compared with: the ridge baselines, and the floor of not knowing sigma."""
TUNED = ESTIMATORS.index("TunedRR")
TUNED_ON = 4096
"""Contexts that cap and factor of TunedRR are fitted to: their loss is a part in 10^3 or so from the least."""
TRAININGS = 3
"""Trainings of a model, with a seed each, that a claim about it needs at least."""
PAIRS = (("DIAG", "FULL"), ("LOWRANK", "FULL"), ("SAFE", "DIAG"), ("SAFEFULL", "FULL"))
"""Families of which the trainings are compared seed by seed."""
CAP = 0.1
"""What a context counts there at most, in units of d/2, the loss of the prediction 0: rare ones would rule some means
otherwise, and their errors could not be believed. One layer loses more than that on many contexts."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One model on fresh contexts.

    Attributes
    ----------
    model, layers
        "GD++", a family or one of `ESTIMATORS`, and its depth; estimators have 0 layers.
    each
        The adjusted loss of each training, by seed; of GD++ and of estimators, which are not trained, there is one.
    loss
        Their mean, with the error of the contexts.
    spread
        Half-width of the 95 % t interval of the mean over trainings: infinite if there is one, 0 if nothing is trained.
    samples
        The same mean on each of the independent samples.
    protocol
        The loss of the first training by the paper's protocol: one sampled query a sequence, and the true weights in
        place of their average.
    printed_error
        Standard error that the printed number of this entry carries, 0 where none is printed.
    less
        The loss less that of each of `ESTIMATORS`, paired; the spread over trainings is that of the loss.
    best, best_less
        Which training lost least where it was reported, on contexts of its own, and the same differences of it alone.
    """

    model: str
    layers: int
    each: tuple[SampledMean, ...]
    loss: SampledMean
    spread: float
    samples: tuple[float, ...]
    protocol: SampledMean
    printed_error: float
    less: tuple[SampledMean, ...]
    best: int
    best_less: tuple[SampledMean, ...]

    def half_width(self, mean: SampledMean, errors: float) -> float:
        """Of the loss or of a difference: its spread over trainings and so many standard errors of the contexts."""
        return math.inf if self.doubtful else self.spread + errors * mean.standard_error

    @property
    def doubtful(self) -> str:
        """Why nothing rests on this entry, if so."""
        if len(self.each) < TRAININGS and self.model in NAMES:
            return f"{len(self.each)} of {TRAININGS} trainings are there"
        return "" if self.loss.trusted else RARE


class LogQuotient(msgspec.Struct, frozen=True):
    """The mean over trainings of the logarithm of a quotient of means.

    Attributes
    ----------
    value, spread
        The mean, and the half-width of its 95 % t interval over the trainings.
    standard_error
        That of the contexts, by the delta method.
    doubtful
        Why nothing rests on it, if so.
    """

    value: float
    spread: float
    standard_error: float
    doubtful: str = ""

    def half_width(self, errors: float) -> float:
        """The spread over trainings and so many standard errors of the contexts."""
        return math.inf if self.doubtful else self.spread + errors * self.standard_error


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """Two families of one depth: the loss of one over that of the other, seed by seed, on the same contexts.

    A context counts as `CAP` d/2 at most.
    """

    one: str
    other: str
    layers: int
    quotient: LogQuotient


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All entries under one law of the noise, and the quotients of `PAIRS`."""

    entries: tuple[Compared, ...]
    pairs: tuple[Paired, ...]

    def quotient(self, one: str, other: str, layers: int) -> LogQuotient:
        """One of `PAIRS`, at a depth at which both may have been trained."""
        found = (each.quotient for each in self.pairs if (each.one, each.other, each.layers) == (one, other, layers))
        return next(found, log_quotient([], sampled_mean))

    def of_baseline(self, name: str) -> SampledMean:
        """The loss of one of `ESTIMATORS`."""
        return self.of(name, 0).loss

    def depths(self, model: str) -> tuple[int, ...]:
        """The depths of a model, ascending."""
        return tuple(sorted(each.layers for each in self.entries if each.model == model))

    def has(self, model: str, layers: int) -> bool:
        """Whether there is such an entry."""
        return layers in self.depths(model)

    def of(self, model: str, layers: int) -> Compared:
        """One entry."""
        return next(each for each in self.entries if (each.model, each.layers) == (model, layers))


def comparison(noise: str, contexts: int, samples: int, seed: int) -> Comparison:
    """Every witness under a law of the noise, GD++ and the estimators, on contexts that nothing was fitted to.

    Parameters
    ----------
    noise
        The law by its name.
    contexts, samples
        So many samples of so many contexts each, a multiple of `thinned.GROUP`, thinned out of `thinned.POOL` times as
        many: 6144 stand for nearly as many as the paper has sequences.
    seed
        Of the fresh contexts; the seeds of the trainings are those of the witnesses.
    """
    regression = problem(noise)
    stream = f"comparison/{regression.noise.label}"
    rows = _rows(noise, regression, seed, stream)
    found: list[list[_Seen]] = [[] for _ in rows]
    shares = []
    for number in range(samples):
        fresh = f"{stream}/report/{number}"
        few, share = thinned(regression, contexts, seed, fresh)
        held_out = evaluation(few, share)
        shares.append(share)
        beside = [held_out.weights(estimator) for _, _, [estimator] in rows[: len(ESTIMATORS)]]
        others = [held_out.losses(_constantly(w)) for w in beside]
        query = protocol_queries(held_out, seed, fresh)
        for seen, (name, layers, estimators) in zip(found, rows, strict=True):
            w = [held_out.weights(each) for each in estimators]
            error = _printed_error(held_out, (w[0], beside[TUNED]), _printed(noise, name, layers))
            seen.append(_seen(held_out, w, _best(estimators), others, error, query))
    seen_of = {(name, layers): seen for (name, layers, _), seen in zip(rows, found, strict=True)}
    return Comparison(
        entries=tuple(_compared(row, seen) for row, seen in zip(rows, found, strict=True)),
        pairs=tuple(
            Paired(one=one, other=other, layers=k, quotient=_paired(noise, k, (one, other), seen_of, shares))
            for one, other in PAIRS
            for k in depths_of(noise, one)
            if k in depths_of(noise, other)
        ),
    )


def log_quotient(pairs: Sequence[tuple[Floats, Floats]], mean: Callable[[Floats], SampledMean]) -> LogQuotient:
    """Of the means of losses: a pair is those of a training and of what it is compared with, on the same contexts.

    >>> losses = np.linspace(1.0, 2.0, 1000)
    >>> found = log_quotient([(2 * losses, losses)] * 3, sampled_mean)
    >>> round(found.value / math.log(2), 12), found.half_width(2.0) < 1e-12
    (1.0, True)
    """
    if len(pairs) < TRAININGS:
        return LogQuotient(0.0, math.inf, 0.0, f"{len(pairs)} of {TRAININGS} trainings are there")
    means = [(mean(one), mean(other)) for one, other in pairs]
    if not all(0 < each.value < math.inf for pair in means for each in pair):
        return LogQuotient(0.0, math.inf, 0.0, RARE)
    value, spread = mean_interval(np.asarray([math.log(one.value / other.value) for one, other in means]))
    parts = [a / one.value - b / other.value for (a, b), (one, other) in zip(pairs, means, strict=True)]
    trusted = all(each.trusted for pair in means for each in pair)
    return LogQuotient(value, spread, mean(np.mean(parts, axis=0)).standard_error, "" if trusted else RARE)


Row = tuple[str, int, Sequence[Estimator]]


def _rows(noise: str, regression: Regression, seed: int, stream: str) -> list[Row]:
    """The estimators, one each, and then the models with all their trainings."""
    tuned = tuned_ridge(evaluation(draw_contexts(regression, TUNED_ON, seed, f"{stream}/tuning")))
    estimators: Sequence[Estimator] = (best_constant(regression), AdaRR(), tuned, Bayes(regression.noise))
    models = [(family, layers) for family in NAMES for layers in depths_of(noise, family)]
    depths = range(1, known_depth(noise, float(SEQUENCES)) + 1)
    gdplusplus = [known_model(noise, layers, float(SEQUENCES)) for layers in depths]
    return [
        *((name, 0, [each]) for name, each in zip(ESTIMATORS, estimators, strict=True)),
        *(("GD++", k, [Filter(each)]) for k, each in enumerate(gdplusplus, 1)),
        *((*model, trainings(noise, *model)) for model in models),
    ]


@dataclass(frozen=True)
class Filter(SpectralEstimator):
    """A model of GD++, which every eigenvector of Sigma has to itself: w = p(Sigma) alpha."""

    layers: tuple[GDPlusPlus, ...]

    def coordinates(self, basis: Eigenbasis) -> Floats:
        """p(t) z."""
        return np.asarray(follow(basis.values, self.layers).p * basis.moment)


def _best(estimators: Sequence[Estimator]) -> int:
    """Which training was reported with the least loss; what is not trained is alone."""
    reported = [each.loss.value for each in estimators if isinstance(each, Trained)]
    return int(np.argmin(reported)) if reported else 0


class _Seen(msgspec.Struct, frozen=True):
    """A row on one sample."""

    each: tuple[SampledMean, ...]
    loss: SampledMean
    protocol: SampledMean
    printed_error: float
    less: tuple[SampledMean, ...]
    best_less: tuple[SampledMean, ...]
    losses: Sequence[Floats]


def _seen(
    held_out: Evaluation,
    weights: Sequence[Floats],
    best: int,
    others: Sequence[Floats],
    printed_error: float,
    query: Floats,
) -> _Seen:
    """A row from what its estimators, or those of its trainings, make of the contexts, beside the baselines' losses."""
    losses = [held_out.losses(_constantly(w)) for w in weights]
    mean = np.mean(losses, axis=0)
    return _Seen(
        tuple(map(held_out.mean, losses)),
        held_out.mean(mean),
        held_out.mean(protocol_losses(held_out, _constantly(weights[0]), query)),
        printed_error,
        tuple(held_out.mean(mean - other) for other in others),
        tuple(held_out.mean(losses[best] - other) for other in others),
        losses,
    )


def _constantly(w: Floats) -> Estimator:
    """An estimator that has made its w already."""
    return lambda contexts: w


def _printed_error(held_out: Evaluation, like: Sequence[Floats], entry: float) -> float:
    """The least of the errors that the w of estimators like the printed one give its number; 0 where none is printed.

    A model of which rare contexts rule the mean would grant the printed number an error that is far too large.
    """
    alike = [each for each in map(_constantly, like) if np.any(held_out.losses(each) > 0)] if entry > 0 else []
    return min((printed_error(held_out, each, entry).value for each in alike), default=0.0)


def _compared(row: Row, seen: Sequence[_Seen]) -> Compared:
    """One entry from all samples."""
    name, layers, estimators = row
    each = tuple(_combined(parts) for parts in zip(*(sample.each for sample in seen), strict=True))
    return Compared(
        model=name,
        layers=layers,
        each=each,
        loss=_combined([sample.loss for sample in seen]),
        spread=_spread(name, each),
        samples=tuple(sample.loss.value for sample in seen),
        protocol=_combined([sample.protocol for sample in seen]),
        printed_error=float(np.mean([sample.printed_error for sample in seen])),
        less=tuple(_combined(parts) for parts in zip(*(sample.less for sample in seen), strict=True)),
        best=_best(estimators),
        best_less=tuple(_combined(parts) for parts in zip(*(sample.best_less for sample in seen), strict=True)),
    )


def _paired(
    noise: str,
    layers: int,
    families: tuple[str, str],
    seen_of: dict[tuple[str, int], list[_Seen]],
    shares: Sequence[Floats],
) -> LogQuotient:
    """The quotient for the seeds that both have, over the contexts of all samples."""
    most = CAP * problem(noise).d / 2

    def losses(family: str) -> dict[int, Floats]:
        samples = zip(*(sample.losses for sample in seen_of[family, layers]), strict=True)
        return {
            seed: np.fmin(np.concatenate(each), most)
            for seed, each in zip(seeds_of(noise, family, layers), samples, strict=True)
        }

    one, other = map(losses, families)

    def mean(values: Floats) -> SampledMean:
        parts = zip(np.split(values, len(shares)), shares, strict=True)
        return _combined([thinned_mean(part, share) for part, share in parts])

    return log_quotient([(one[seed], other[seed]) for seed in one if seed in other], mean)


def _spread(name: str, each: Sequence[SampledMean]) -> float:
    if name not in NAMES:
        return 0.0
    return mean_interval(np.asarray([loss.value for loss in each]))[1] if len(each) > 1 else math.inf


def _combined(means: Sequence[SampledMean]) -> SampledMean:
    """The mean of independent means of as many contexts each; its doubt falls like its error."""
    count = len(means)
    return SampledMean(
        value=float(np.mean([mean.value for mean in means])),
        standard_error=math.hypot(*(mean.standard_error for mean in means)) / count,
        doubt=max(mean.doubt for mean in means) / math.sqrt(count),
    )


def _printed(noise: str, name: str, layers: int) -> float:
    """The printed number of a row, 0 where there is none."""
    known = (layers > 0 and name in MODELS) or (layers == 0 and name in ESTIMATORS[:-1])
    return printed(noise, name, layers).value if known else 0.0
