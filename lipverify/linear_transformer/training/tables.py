"""Independent replications of Table 1: the number that the table would print of a model, any number of times.

An entry is a mean over 100,000 sequences of a law with a heavy tail: most tables are near its median, and occasionally
one context makes the mean a hundred times as large. All estimators see the same contexts. This takes an hour, so the
means are shipped, and every use measures the first part of one table again.

    python -m lipverify.linear_transformer.training.tables --tables 20 [LAW ...]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.samples import sampled_mean
from lipverify.foundation.noted import makes
from lipverify.foundation.provenance import machine_here
from lipverify.foundation.store import read_record, sealed, write_record
from lipverify.linear_transformer.families import NAMES
from lipverify.linear_transformer.gdplusplus.known import known_depth, known_model
from lipverify.linear_transformer.gdplusplus.loss import follow
from lipverify.linear_transformer.layer import GDPlusPlus
from lipverify.linear_transformer.published import BASELINES, MODELS, NOISES, printed, regression_named
from lipverify.linear_transformer.regression.adjusted import (
    SEQUENCES,
    Estimator,
    Evaluation,
    evaluation,
    protocol_losses,
    protocol_queries,
)
from lipverify.linear_transformer.regression.bayes import Bayes
from lipverify.linear_transformer.regression.contexts import draw_contexts
from lipverify.linear_transformer.regression.eigenbasis import Eigenbasis, SpectralEstimator
from lipverify.linear_transformer.regression.ridge import AdaRR, TunedRR, best_constant, tuned_ridge
from lipverify.linear_transformer.training.witness import depths_of, models_folder, seeds_of, witness

PARTS = 10
"""Parts of a table, each with its own address of contexts: 10,000 contexts fit into memory."""
BEYOND = 1e300
"""Replaces a mean that overflows."""
FORMAT = 1
"""Version of the file's format; any other version is refused."""
COMMAND = "python -m lipverify.linear_transformer.training.tables"


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """Tables (`means` as in `Tables`), and the first part of table `number` measured again: of one in three estimators
    the mean as `stored` and `anew`; of models with one or two layers the mean and its standard error, and both by the
    paper's `protocol`, with one query a sequence and the true weights; of printed numbers their standard error.
    """

    means: dict[str, tuple[float, ...]]
    printed_errors: dict[str, float]
    number: int
    stored: dict[str, float]
    anew: dict[str, float]
    protocol: dict[str, tuple[tuple[float, float], tuple[float, float]]]


class Tables(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean loss over each of some independent tables, and over its first part (`heads`), for one law of the noise.

    By estimator: "FULL-5-0" is FULL with 5 layers and seed 0, or "GD++-2", or "TunedRR", whose cap and factor (`tuned`)
    are fitted to separate contexts. `models` has the digest of each trained model that was measured.
    """

    format: int
    command: str
    noise: str
    seed: int
    contexts: int
    seconds: float
    machine: str
    models: dict[str, str]
    tuned: tuple[float, float]
    means: dict[str, tuple[float, ...]]
    heads: dict[str, tuple[float, ...]]
    digest: str = ""

    @property
    def count(self) -> int:
        """The number of tables with a mean of every estimator."""
        return min(map(len, self.means.values()), default=0)


@dataclass(frozen=True)
class Filter(SpectralEstimator):
    """A GD++ model as a filter, which acts on each eigenvector of Sigma alone: w = p(Sigma) alpha."""

    layers: tuple[GDPlusPlus, ...]

    def coordinates(self, basis: Eigenbasis) -> Floats:
        return np.asarray(follow(basis.values, self.layers).p * basis.moment)


def estimators(noise: str, tuned: tuple[float, float]) -> Mapping[str, Estimator]:
    """All shipped models of a law and the baselines, by name; TunedRR with its cap and factor."""
    here = regression_named(noise)
    ridges = {"ConstRR": best_constant(here), "AdaRR": AdaRR(), "TunedRR": TunedRR(*tuned), "Bayes": Bayes(here.noise)}
    depths = range(1, known_depth(noise, float(SEQUENCES)) + 1)
    filters = {f"GD++-{k}": Filter(known_model(noise, k, float(SEQUENCES))) for k in depths}
    models = {
        f"{family}-{k}-{seed}": witness(noise, family, k, seed).trained
        for family in NAMES for k in depths_of(noise, family) for seed in seeds_of(noise, family, k)
    }  # fmt: skip
    return {**ridges, **filters, **models}


def part(noise: str, number: int, piece: int, seed: int) -> Evaluation:
    stream = f"tables/{noise}/{number}/{piece}"
    return evaluation(draw_contexts(regression_named(noise), SEQUENCES // PARTS, seed, stream))


@makes("sampled", "montecarlo")
def part_means(held_out: Evaluation, measured: Mapping[str, Estimator]) -> dict[str, float]:
    """The mean loss of each estimator over the contexts of a part; `BEYOND` if it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        means = {name: float(np.mean(held_out.losses(estimator))) for name, estimator in measured.items()}
    return {name: mean if mean < BEYOND else BEYOND for name, mean in means.items()}


def table(noise: str, number: int, seed: int, measured: Mapping[str, Estimator]) -> tuple[dict[str, float], ...]:
    """(means over a whole table, means over its first part) of the given estimators."""
    parts = [part_means(part(noise, number, piece, seed), measured) for piece in range(PARTS)]
    whole = {name: float(np.mean([means[name] for means in parts])) for name in measured}
    return whole, parts[0]


def fresh_tables(noise: str, count: int, seed: int) -> Tables:
    """Tables of which every part is measured now and none is read from a file."""
    clock = time.process_time()
    # on so many contexts the loss of the fitted constants is about 1e-4 above the least, relatively
    fitted = tuned_ridge(evaluation(draw_contexts(regression_named(noise), 32_768, 0, f"tables/{noise}/tuning")))
    every = estimators(noise, (fitted.cap, fitted.factor))
    made = [table(noise, number, seed, every) for number in range(count)]
    means, heads = (
        {name: tuple(float(f"{part[name]:.9g}") for part in parts) for name in every}
        for parts in zip(*made, strict=True)
    )
    models = {name: _digest(noise, name) for name in every if name.count("-") == 2}
    found = Tables(
        format=FORMAT, command=f"{COMMAND} {noise}", noise=noise, seed=seed, contexts=SEQUENCES,
        seconds=round(time.process_time() - clock, 1), machine=machine_here(), models=models,
        tuned=(fitted.cap, fitted.factor), means=means, heads=heads,
    )  # fmt: skip
    return sealed(found)


def _digest(noise: str, name: str) -> str:
    """The digest of a trained model, such as FULL-5-0."""
    family, layers, training = name.split("-")
    return witness(noise, family, int(layers), int(training)).digest


def column(noise: str, tables: int, seed: int) -> Column:
    """Tables of all models for a law: those that come with lipverify, or new ones. A part is always measured again.

    Parameters
    ----------
    noise
        The name of the law of the noise.
    tables
        How many new tables; 0 for the stored ones.
    seed
        Addresses new tables, and chooses the part that is measured again.

    Returns
    -------
    Column
        The mean loss of each estimator in each table, and the part.

    Raises
    ------
    InvalidInput
        If there are no stored tables of this law, or they were edited.

    Examples
    --------
    >>> column("uniform-9", 0, seed=0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    lipverify.errors.InvalidInput: tables uniform-9 cannot be read ...
    """
    stored = fresh_tables(noise, tables, seed) if tables else stored_tables(noise)
    number = seed % stored.count
    held_out, every = part(noise, number, 0, stored.seed), estimators(noise, stored.tuned)
    again = list(every)[number % 3 :: 3]
    shallow = [name for name in every if name.endswith(("-1-0", "-2-0")) or name in ("GD++-1", "GD++-2")]
    query = protocol_queries(held_out, seed, f"tables/{noise}/queries")
    entries = {name: number_of for name in every if (number_of := _printed(noise, name)) > 0}
    weights = {name: held_out.weights(every[name]) for name in {*again, *shallow, *entries, "TunedRR"}}
    given = {name: _giving(w) for name, w in weights.items()}
    return Column(
        means=stored.means,
        printed_errors={
            name.removesuffix("-0"): _printed_error(held_out, (weights[name], weights["TunedRR"]), number_of)
            for name, number_of in entries.items()
        },
        number=number,
        stored={name: stored.heads[name][number] for name in again},
        anew=part_means(held_out, {name: given[name] for name in again}),
        protocol={
            name: (_mean(held_out.losses(given[name])), _mean(protocol_losses(held_out, given[name], query)))
            for name in shallow
        },
    )


def _giving(w: Floats) -> Estimator:
    """The estimator with these weights, whatever the contexts are."""
    return lambda _: w


def _mean(values: Floats) -> tuple[float, float]:
    interval = sampled_mean(values)
    return interval.value, interval.standard_error


def _printed(noise: str, name: str) -> float:
    """The printed number of an estimator; 0 if there is none."""
    if name in BASELINES:
        return printed(noise, name).value
    model, _, layers = name.removesuffix("-0").rpartition("-")
    return printed(noise, model, int(layers)).value if model in MODELS else 0.0


@np.errstate(over="ignore", invalid="ignore")
def _printed_error(held_out: Evaluation, like: Sequence[Floats], entry: float) -> float:
    """The least error of a printed number among the w of estimators like the printed one."""
    # the mean of some models is dominated by rare contexts: their error would be far too large for the printed number
    alike = [_giving(w) for w in like if np.any((w - held_out.oracle) ** 2 > 0)]
    return min((held_out.printed_error(estimator, entry).value for estimator in alike), default=0.0)


def tables_path(noise: str) -> Path:
    return models_folder() / noise / "tables.json.xz"


@cache
def stored_tables(noise: str) -> Tables:
    """The tables of a law that come with lipverify, as stored.

    Parameters
    ----------
    noise
        The name of the law of the noise.

    Returns
    -------
    Tables
        `means`, the mean loss of each estimator in each table, and `count`, the number of tables.

    Raises
    ------
    InvalidInput
        If there are none, they were edited, or are those of other models than those that come with lipverify.

    Examples
    --------
    >>> stored_tables("uniform-3").contexts
    100000
    """
    tables = read_record(tables_path(noise), Tables, FORMAT, f"tables {noise}", f"`{COMMAND} {noise}` makes them again")
    for name, digest in tables.models.items():
        if _digest(noise, name) != digest:
            raise InvalidInput(f"tables {noise}: {name} has changed since; `{COMMAND} {noise}` measures it again.")
    return tables


def main() -> None:
    """Make tables of one law after the other, and write each as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("law", nargs="*", default=[law.name for law in NOISES])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for noise in asked.law:
        made = fresh_tables(noise, asked.tables, asked.seed)
        write_record(made, tables_path(noise))
        print(noise, made.count, made.seconds, flush=True)


if __name__ == "__main__":
    main()
