"""Trained models against the ridge baselines and the floor of not knowing sigma, all on the same fresh contexts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from lipverify.linear_transformer.gdplusplus.optimum import optimal_gdplusplus
from lipverify.linear_transformer.layer import Layer, Parametrisation
from lipverify.linear_transformer.regression.adjusted import (
    SEQUENCES,
    Estimator,
    Evaluation,
    SampledMean,
    evaluation,
    printed_error,
    protocol_losses,
    sampled_mean,
)
from lipverify.linear_transformer.regression.bayes import Bayes
from lipverify.linear_transformer.regression.contexts import Contexts, Regression, draw_contexts
from lipverify.linear_transformer.regression.noise import NoiseLaw
from lipverify.linear_transformer.regression.ridge import AdaRR, best_constant, tuned_ridge
from lipverify.linear_transformer.training.record import Trained, estimate

BASELINES = ("ConstRR", "AdaRR", "TunedRR", "Bayes")
FEW = 8192
"""Contexts for controls, and for tuning the baselines in proportion."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One model on fresh contexts.

    Attributes
    ----------
    model, layers
        "GD++" or the family, and its depth.
    loss
        The adjusted loss.
    protocol
        The same by the paper's protocol: one sampled query a sequence, and the true weights in place of their average.
    printed_error
        Standard error that the printed number of this entry carries, 0 where none is printed.
    wrong_sign
        The loss with the sign of every layer exchanged, that of a context counting as at most d/2.
    less
        The loss less that of each of `BASELINES`, paired.
    """

    model: str
    layers: int
    loss: SampledMean
    protocol: SampledMean
    printed_error: float
    wrong_sign: float
    less: tuple[SampledMean, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All models under one law of the noise, and the losses of `BASELINES`."""

    baselines: tuple[SampledMean, ...]
    models: tuple[Compared, ...]

    def depths(self, model: str) -> tuple[int, ...]:
        """The depths of a model, ascending."""
        return tuple(sorted(each.layers for each in self.models if each.model == model))

    def of(self, model: str, layers: int) -> Compared:
        """One model."""
        return next(each for each in self.models if (each.model, each.layers) == (model, layers))


class Printed(msgspec.Struct, frozen=True):
    """A number of the paper: the model, its depth and the value."""

    model: str
    layers: int
    value: float


def comparison(
    noise: NoiseLaw, d: int, n: int, contexts: int, seed: int, printed: tuple[Printed, ...], *models: Trained
) -> Comparison:
    """The trained models, and GD++ at its optimum as deep as these, on contexts that nothing was fitted to."""
    regression = Regression(d, n, noise)
    cell = f"comparison/{noise.label}"
    tuned = tuned_ridge(evaluation(draw_contexts(regression, contexts, seed, f"{cell}/tuning")))
    held_out = evaluation(draw_contexts(regression, contexts, seed, f"{cell}/report"))
    values = {(entry.model, entry.layers): entry.value for entry in printed}
    baselines = [held_out.losses(each) for each in (best_constant(regression), AdaRR(), tuned, Bayes(noise))]
    entries = [("GD++", layers, each) for layers, each in enumerate(_gdplusplus(regression, models), 1)]
    entries += [(each.family, each.layers, each.model) for each in models]
    return Comparison(
        baselines=tuple(map(sampled_mean, baselines)),
        models=tuple(
            _compared(
                held_out,
                name,
                model,
                values.get((name, layers), 0.0),
                baselines,
                tuned,
                f"{cell}/{name}/{layers}",
                seed,
            )
            for name, layers, model in entries
        ),
    )


class Model:
    """Layers as an estimator that remembers what it made of the contexts that it saw last."""

    def __init__(self, layers: tuple[Parametrisation, ...]) -> None:
        self.layers = layers
        self._last: tuple[Contexts, np.ndarray] | None = None

    def __call__(self, contexts: Contexts) -> np.ndarray:
        """W after the last layer."""
        if self._last is None or self._last[0] is not contexts:
            self._last = contexts, estimate(self.layers, contexts)
        return self._last[1]


def _gdplusplus(regression: Regression, models: Sequence[Trained]) -> list[tuple[Parametrisation, ...]]:
    depth = max((each.layers for each in models), default=1)
    return [tuple(optimum.model) for optimum in optimal_gdplusplus(regression, depth, float(SEQUENCES))]


def _compared(
    held_out: Evaluation,
    name: str,
    layers: tuple[Parametrisation, ...],
    printed: float,
    baselines: Sequence[np.ndarray],
    tuned: Estimator,
    cell: str,
    seed: int,
) -> Compared:
    model = Model(layers)
    losses = held_out.losses(model)
    return Compared(
        model=name,
        layers=len(layers),
        loss=sampled_mean(losses),
        protocol=sampled_mean(protocol_losses(held_out, model, seed, cell)),
        printed_error=_printed_error(held_out, (model, tuned), printed),
        wrong_sign=_wrong_sign(held_out, layers),
        less=tuple(sampled_mean(losses - other) for other in baselines),
    )


def _printed_error(held_out: Evaluation, like: Sequence[Estimator], printed: float) -> float:
    """The least of the errors that estimators like the printed one give its number; 0 where none is printed.

    A model of which rare contexts rule the mean would grant the printed number an error that is far too large.
    """
    return min((printed_error(held_out, each, printed).value for each in like), default=0.0) if printed > 0 else 0.0


def _wrong_sign(held_out: Evaluation, layers: tuple[Parametrisation, ...]) -> float:
    """The loss with P of every layer negated, that of a context counting as at most d/2."""
    few = slice(0, min(FEW, len(held_out.contexts)))
    part = held_out.contexts
    contexts = Contexts(part.gram[few], part.task[few], part.sigma[few], part.n)
    written = (layer.layer(part.gram.shape[-1] - 1) for layer in layers)
    wrong = estimate(tuple(Layer(-layer.P, layer.Q) for layer in written), contexts)
    with np.errstate(over="ignore", invalid="ignore"):
        losses = np.nan_to_num(((wrong - held_out.oracle[few]) ** 2).sum(axis=-1) / 2, nan=np.inf)
    return float(np.minimum(losses, held_out.oracle.shape[-1] / 2).mean())


__all__ = ["BASELINES", "Compared", "Comparison", "Model", "Printed", "comparison"]
