r"""The published table of losses, as data.

`table1.csv` is Table 1 of Vladymyrov, von Oswald, Sandler, Ge, "Linear Transformers are Versatile In-Context Learners"
(NeurIPS 2024, vol. 37, 48784-48809; arXiv 2402.14180), digit by digit: one row for each number of layers and model (the
baselines have no layers), one column for each law of the noise level. An entry is the adjusted loss: half the mean
squared error, less that of ridge regression with the true variance.
"""

from __future__ import annotations

import csv
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from lipverify.errors import InvalidInput
from lipverify.problem.noise import CategoricalNoise, NoiseLaw, UniformNoise, noise_named
from lipverify.problem.prompts import Prompts

__all__ = [
    "BASELINES",
    "LAYERS",
    "MODELS",
    "NOISES",
    "D",
    "N",
    "Printed",
    "printed",
    "regression_named",
    "table",
]

D, N = 10, 20
"""Dimension of the covariates and number of tokens in a context, for every entry."""
LAYERS = (1, 2, 3, 4, 5, 6, 7)
"""The depths of the published table."""
MODELS = ("GD++", "DIAG", "FULL")
BASELINES = ("ConstRR", "AdaRR", "TunedRR")
NOISES: tuple[NoiseLaw, ...] = (
    *(UniformNoise(float(sigma_max)) for sigma_max in range(8)),
    CategoricalNoise((1.0, 3.0)),
    CategoricalNoise((1.0, 3.0, 5.0)),
)


class Printed(NamedTuple):
    """An entry: its value, and half a unit of its last digit, or 0 for a value printed as an exact 0."""

    value: float
    rounding: float


@cache
def table() -> dict[tuple[str, str, int], Printed]:
    """All 240 entries, by the name of the law of the noise, model and layers."""
    text = (files("lipverify.linear_transformer") / "table1.csv").read_text(encoding="utf-8")
    _, *rows = csv.reader(text.splitlines())
    return {
        (noise.name, model, int(layers)): Printed(float(digits), _rounding(digits))
        for layers, model, *values in rows
        for noise, digits in zip(NOISES, values, strict=True)
    }


def printed(noise: str, model: str, layers: int = 0) -> Printed:
    """The entry of a model in Table 1 of Vladymyrov et al.

    Parameters
    ----------
    noise
        The name of the law of the noise, such as "uniform-5".
    model
        "GD++", "DIAG", "FULL", "ConstRR", "AdaRR" or "TunedRR".
    layers
        The depth; 0 for a baseline.

    Returns
    -------
    Printed
        The value, and half a unit of its last digit.

    Raises
    ------
    InvalidInput
        If the table has no such entry.

    Examples
    --------
    >>> printed("uniform-5", "GD++", 3).value, printed("uniform-5", "ConstRR").value
    (0.344, 0.365)
    """
    entry = table().get((noise, model, layers))
    if entry is None:
        rule = "see LAYERS, MODELS, BASELINES, NOISES"
        raise InvalidInput(f"no entry for {layers} layers of {model!r} under {noise!r}; {rule}.")
    return entry


def regression_named(noise: str) -> Prompts:
    """The problem of a column of Table 1, d = 10 and n = 20.

    Parameters
    ----------
    noise
        The name of the law of the noise.

    Returns
    -------
    Prompts
        d, n and the law of the noise.

    Raises
    ------
    InvalidInput
        If it is not such a name.

    Examples
    --------
    >>> regression_named("levels-1-3").noise.second_moment
    5.0
    """
    return Prompts(d=D, n=N, sigma=noise_named(noise))


def _rounding(digits: str) -> float:
    """Half a unit of the last digit."""
    if Decimal(digits) == 0:
        return 0.0
    return float(Decimal((0, (5,), int(Decimal(digits).as_tuple().exponent) - 1)))
