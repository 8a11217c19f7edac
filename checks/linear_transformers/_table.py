r"""The printed table of losses, as data.

`table1.csv` is Table 1 of Vladymyrov, von Oswald, Sandler, Ge, "Linear Transformers are Versatile In-Context Learners"
(NeurIPS 2024, vol. 37, 48784-48809; arXiv 2402.14180), digit by digit: one row for each number of layers and model (the
baselines have no layers), one column for each law of the noise level: sigma_max of sigma ~ Unif[0, sigma_max], or the
levels of a categorical law in braces.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files

from lipverify.claims.ledger import Source
from lipverify.errors import InvalidInput
from lipverify.linear_transformer.regression.contexts import Regression
from lipverify.linear_transformer.regression.noise import CategoricalNoise, NoiseLaw, UniformNoise

D, N = 10, 20
"""Dimension of the covariates and tokens in a context, of every entry."""
LAYERS = (1, 2, 3, 4, 5, 6, 7)
MODELS = ("GD++", "DIAG", "FULL")
BASELINES = ("ConstRR", "AdaRR", "TunedRR")
NOISES: tuple[NoiseLaw, ...] = (
    *(UniformNoise(float(sigma_max)) for sigma_max in range(8)),
    CategoricalNoise((1.0, 3.0)),
    CategoricalNoise((1.0, 3.0, 5.0)),
)
SOURCE = Source(
    paper="V",
    place="Table 1",
    printed="adjusted evaluation loss of trained GD++, DIAG and FULL models with 1 to 7 layers, and of ConstRR, AdaRR, TunedRR",
)


@dataclass(frozen=True)
class Printed:
    """One entry.

    Attributes
    ----------
    layers
        Of the model; 0 for a baseline.
    model
        One of `MODELS` or `BASELINES`.
    noise
        The law of the noise level.
    value
        As it is printed: half the mean squared error, less that of ridge with the true variance.
    rounding
        Half a unit of the last printed digit; 0 where the value is printed as an exact 0.
    """

    layers: int
    model: str
    noise: NoiseLaw
    value: float
    rounding: float

    @property
    def regression(self) -> Regression:
        """The problem that the entry was measured on."""
        return Regression(D, N, self.noise)


@lru_cache(maxsize=1)
def printed() -> tuple[Printed, ...]:
    """All entries, row by row.

    >>> len(printed()), len(printed_rows(MODELS))
    (240, 210)
    """
    text = (files("checks") / "linear_transformers" / "table1.csv").read_text(encoding="utf-8")
    _, *rows = csv.reader(text.splitlines())
    return tuple(
        Printed(int(layers), model, noise, float(digits), _rounding(digits))
        for layers, model, *values in rows
        for noise, digits in zip(NOISES, values, strict=True)
    )


def printed_rows(models: Sequence[str]) -> tuple[Printed, ...]:
    """The entries of some models."""
    return tuple(entry for entry in printed() if entry.model in models)


def printed_at(layers: int, model: str, noise: NoiseLaw) -> Printed:
    """The entry of a model under a law; a baseline has 0 layers.

    Raises
    ------
    InvalidInput
        If the table has none.

    >>> printed_at(3, "GD++", UniformNoise(5.0)).value, printed_at(0, "ConstRR", UniformNoise(5.0)).value
    (0.344, 0.365)
    """
    for entry in printed():
        if (entry.layers, entry.model, entry.noise) == (layers, model, noise):
            return entry
    raise InvalidInput(
        f"no entry for {layers} layers of {model!r} under {noise!r}; see LAYERS, MODELS, BASELINES, NOISES."
    )


def _rounding(digits: str) -> float:
    """Half a unit of the last digit.

    >>> _rounding("0.344"), _rounding("2.37e-10")
    (0.0005, 5e-13)
    """
    if Decimal(digits) == 0:
        return 0.0
    return float(Decimal((0, (5,), int(Decimal(digits).as_tuple().exponent) - 1)))
