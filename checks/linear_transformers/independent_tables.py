r"""Quantities of the theorems on trained models: losses over independent tables, and their ratios on the same contexts.

A table is a mean over 100,000 sequences, as each printed entry is. Deep models are polynomials of degree 3^L, whose
expectation depends on contexts that no table shows. So the theorems compare the median over tables, with the interval
that its order statistics give for any law. Ratios are taken table by table, both models on the same contexts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, takewhile
from types import SimpleNamespace
from typing import Any

from lipverify.checks.linear_transformers.quantities import Value, printed
from lipverify.claims import at, bound, per_profile

ROWS = {"gdpp": "GD++", "diag": "DIAG", "full": "FULL"}
FORMS = {"DIAG": ("DIAG", "SAFE"), "FULL": ("FULL", "SAFEFULL", "LOWRANK", "DIAG", "SAFE")}
"""The form of each family: a diagonal head is a head with free matrices, and so is a model retrained on rare contexts."""
LEVEL = 0.95
"""The level of intervals."""
TWICE = 2.0
"""A table explodes if it exceeds this multiple of the printed entry."""
TENTH = 0.1
"""Tolerance relative to a printed number: an entry is reproduced to a tenth, beyond the error from noise."""
ERRORS = 3.5
"""Tolerance in standard errors of a printed number: in one of nine tables one of 240 entries exceeds it by chance."""
RARE = 1 / 20
"""A loss that a smaller share of tables has is not a loss of the model."""
NOTHING = 1e-20
"""A bound on squares of rounding errors: without noise ridge regression has loss 0, and 0 is printed."""


def column(noise: str, fresh: int, seed: int) -> Any:
    """The measurement from which all entries of a column of the table are read: one comparison on the same contexts.

    If `fresh` is 1, all tables are measured again; otherwise they are read, and a part of one is measured again.
    """
    from lipverify import linear_transformer

    return linear_transformer.column(noise, fresh * linear_transformer.stored_tables(noise).count, seed)


TABLES: dict[str, Any] = {"found": at(column, fresh=per_profile(0, 1))}
"""The arguments of the functions below: a column of tables stored as data, or in the full profile of as many new ones."""


def whole(noise: str, found: Any) -> Any:
    """The column itself, for figures and tables."""
    return found


def opened(found: Any) -> Any:
    """A measured column, which a stored result has as plain data."""
    return SimpleNamespace(**found) if isinstance(found, dict) else found


@cache
def beyond(level: float, count: int) -> int:
    """Values on either side of an interval of this level for the median of `count` values; -1 if they are too few."""
    subsets = accumulate(math.comb(count, k) for k in range(count + 1))  # 2^count times the law of Binomial(count, 1/2)
    return sum(1 for _ in takewhile(lambda below: below < (1 - level) / 2 * 2**count, subsets)) - 1


def ends(values: Sequence[float], level: float = LEVEL) -> Value:
    """Two order statistics that enclose the median for any law (binomial); infinite if there are too few values."""
    ordered, outside = sorted(values), beyond(level, len(values))
    return (float(ordered[outside]), float(ordered[-1 - outside])) if outside >= 0 else (-math.inf, math.inf)


def median(values: Sequence[float]) -> Value:
    """The median, and the larger distance to an end of its interval."""
    import numpy as np

    middle, (low, high) = float(np.median(values)), ends(values)
    return middle, float(max(middle - low, high - middle))


def share(count: int, total: int, level: float = LEVEL) -> Value:
    """Middle and half-width of the interval of Clopper and Pearson for a probability."""
    from scipy.special import betaincinv

    low = float(betaincinv(count, total - count + 1, (1 - level) / 2)) if count else 0.0
    high = float(betaincinv(count + 1, total - count, (1 + level) / 2)) if count < total else 1.0
    return (low + high) / 2, (high - low) / 2


def least(models: Sequence[Sequence[float]]) -> Value:
    """The smallest median of several models, as middle and half-width; their intervals hold simultaneously (Bonferroni)."""
    intervals = [ends(each, 1 - (1 - LEVEL) / len(models)) for each in models]
    low, high = (min(each) for each in zip(*intervals, strict=True))
    return ((low + high) / 2, (high - low) / 2) if math.isfinite(high - low) else (models[0][0], math.inf)


def between(values: Sequence[float]) -> Value:
    """The interval of the median itself, as middle and half-width: `median` is in it, but not in its middle."""
    return least([values])


def of_form(noise: str, form: str, layers: int) -> list[str]:
    """All trainings of a form with the given number of layers."""
    from lipverify.linear_transformer import trainings

    return [f"{family}-{layers}-{seed}" for family in FORMS[form] for seed in trainings(noise, family, layers)]


def unit(noise: str, model: str, layers: int, here: Any) -> float:
    """The tolerance of a printed number: a tenth of it, its rounding, and its noise."""
    entry, name = printed(noise, model, layers), f"{model}-{layers}" if layers else model
    explained = entry.rounding + ERRORS * here.printed_errors.get(name, 0.0)
    return float(explained + TENTH * entry.value) or NOTHING


def measured(noise: str, model: str, layers: int, here: Any) -> Value:
    """The loss of an entry: for GD++ by quadrature over the eigenvalues that a table shows, otherwise the smallest
    median over tables among trainings of the form.
    """
    if model == "GD++":
        from lipverify.linear_transformer import known_optimum

        found = known_optimum(noise, layers, 1e5).loss
        return found.value, found.error
    names = of_form(noise, model, layers) if layers else [model]
    value, error = least([here.means[name] for name in names])
    return (value, error) if value > NOTHING else (0.0, 0.0)


def away(noise: str, model: str, layers: int, found: Any, times: float = 1.0) -> Value:
    """The difference of a loss from `times` the printed one, in units of the tolerance."""
    model, here = ROWS.get(model, model), opened(found)
    value, error = measured(noise, model, layers, here)
    whole_unit = unit(noise, model, layers, here)
    target = times * printed(noise, model, layers).value or (times - 1) * whole_unit * 1e10
    return (value - target) / whole_unit, error / whole_unit


def below(model: str) -> float:
    """Tolerances below the printed losses that no table of a form is: the control of an upper bound."""
    return {"gdpp": -2.0, "diag": -0.6, "full": -0.8}[model]


def beside(model: str, noise: str) -> float:
    """1.7 tolerances from the printed loss, on the side from which the control of an equality is nearer."""
    if model == "full":
        return -1.72
    return -1.7 if noise == "uniform-1" and model in ("ConstRR", "AdaRR", "TunedRR") else 1.7


def in_tables(noise: str, model: str, layers: int, side: str, found: Any, times: float = 1.0) -> Value:
    """The share of tables in which a loss is `times` the printed one or further to a side, "below" or "above" it.

    The loss is that of the model of the form with the smallest median; a tenth and the rounding are allowed. This needs
    no error of the printed number, which without noise is unknown: rare contexts dominate it.
    """
    model = ROWS.get(model, model)
    means, entry = medians(noise, model, layers, opened(found))[1], printed(noise, model, layers)
    sign = 1 if side == "below" else -1
    edge = times * (1 + sign * TENTH) * entry.value + sign * entry.rounding
    return share(sum(sign * (edge - each) >= 0 for each in means), len(means))


def medians(noise: str, model: str, layers: int, here: Any) -> tuple[float, Sequence[float]]:
    """The smallest median over tables among trainings of a form, or that of GD++, and the means of its tables."""
    from statistics import median as middle

    names = of_form(noise, model, layers) if model in FORMS else [f"{model}-{layers}"]
    return min((middle(here.means[name]), here.means[name]) for name in names)


def exploding(noise: str, family: str, layers: int, training: int, found: Any) -> Value:
    """The share of tables in which a training loses more than twice the printed entry, with its binomial interval."""
    return share(*exploded(opened(found).means[f"{family}-{layers}-{training}"], printed(noise, family, layers).value))


def exploded(means: Sequence[float], entry: float) -> tuple[int, int]:
    """(tables that lose more than twice an entry, tables)."""
    return sum(each > TWICE * entry for each in means), len(means)


def quotient(
    noise: str, family: str, layers: int, training: int, against: str, found: Any, times: float = 1.0
) -> Value:
    """The loss of a training divided by that of another model, times a number: the median over tables of the quotient.

    `against` is a baseline, or a family, meaning its training with the same depth and seed. Where some tables explode
    the interval is far from symmetric about the median; it is given by its middle.
    """
    means = opened(found).means
    other = means[against if against in means else f"{against}-{layers}-{training}"]
    value, error = between([a / b for a, b in zip(means[f"{family.upper()}-{layers}-{training}"], other, strict=True)])
    return times * value, times * error


def stored(noise: str, found: Any) -> Value:
    """Mean of log10 of the stored losses, over the models and the part of a table that are measured again."""
    return _logarithm(opened(found).stored)


def again(noise: str, found: Any) -> Value:
    """The same mean, measured now."""
    return _logarithm(opened(found).anew)


def _logarithm(means: dict[str, float]) -> Value:
    logs = [math.log10(max(each, NOTHING)) for each in means.values()]
    return math.fsum(logs) / len(logs), 1e-6  # rounding is amplified on contexts where a model explodes


def protocol(noise: str, model: str, layers: int, found: Any) -> dict[str, Value]:
    """The mean loss of a shallow model, expected and by the paper's protocol, on the same contexts."""
    name = f"{ROWS[model]}-{layers}" + ("" if model == "gdpp" else "-0")
    loss, sampled = opened(found).protocol[name]
    return {"expected": (loss[0], 2 * loss[1]), "sampled": (sampled[0], 2 * sampled[1])}


def no_more_than(against: str, high: Any, control: Any) -> Any:
    """The claim that trained models lose at most a multiple of the loss of a ridge regression."""
    return bound(
        at(quotient, **TABLES, against=against),
        rf"\mathcal{{L}}_{{\mathrm{{trained}}}} / \mathcal{{L}}_{{\mathrm{{{against}}}}}",
        high=high,
        control=control,
        method=("montecarlo", "observed"),
    )
