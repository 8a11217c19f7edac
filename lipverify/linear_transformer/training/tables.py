"""Independent replications of Table 1: the number that the table would print of a model, any number of times.

An entry of the table is a mean over 100,000 sequences. A model is a polynomial of degree 3^L in the data, so the law of
such a mean has a heavy tail: most tables are near its median, and occasionally one context makes the mean a hundred
times as large. The expectation then describes an entry poorly; the median over tables and the share of tables that
explode describe it well.

All models, GD++ and the ridge regression baselines are measured on the same contexts, so that ratios can be formed
table by table. This takes an hour, so the means are shipped as data, one file for each law of the noise. The first
part of each table is stored separately, and every use of the file measures one of these parts again.

    python -m lipverify.linear_transformer.training.tables --tables 20 [LAW ...]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.samples import sampled_mean
from lipverify.foundation.noted import makes
from lipverify.foundation.provenance import machine_here
from lipverify.foundation.store import read_record, sealed, write_record
from lipverify.linear_transformer.families import NAMES
from lipverify.linear_transformer.gdplusplus.eigenvalues import follow
from lipverify.linear_transformer.gdplusplus.known import known_depth, known_model
from lipverify.linear_transformer.layer import GDPlusPlus
from lipverify.linear_transformer.published import MODELS, NOISES, printed, regression_named
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

BASELINES = ("ConstRR", "AdaRR", "TunedRR", "Bayes")
"""The estimators that models are compared with: ridge regression baselines, and the floor of not knowing sigma."""
PARTS = 10
"""Parts of a table, each with its own address of contexts: 10,000 contexts fit into memory."""
TUNED_ON = 32_768
"""Contexts to which cap and factor of TunedRR are fitted: their loss is then about 1e-4 above the least, relatively."""
CHECKED = 3
"""One of this number of estimators is measured again; the seed of a run determines which one, and in which table."""
BEYOND = 1e300
"""Replaces a mean that overflows."""
DIGITS = 9
"""Digits of a stored mean, whose own noise is in the third."""
FORMAT = 1
"""Version of the file's format; any other version is refused."""
COMMAND = "python -m lipverify.linear_transformer.training.tables"


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """Tables for one law of the noise, with a part that was measured again now.

    Attributes
    ----------
    means
        As in `Tables`.
    printed_errors
        Standard error of the printed number of an entry, such as "FULL-5" or "AdaRR".
    number, stored, anew
        The index of a table, and the means over its first part of one in `CHECKED` estimators, as stored and as
        measured now.
    protocol
        For the first training of each model with one or two layers, over that part: the mean loss and its standard
        error, and both for the paper's sampling, with one query a sequence and the true weights.
    """

    means: dict[str, tuple[float, ...]]
    printed_errors: dict[str, float]
    number: int
    stored: dict[str, float]
    anew: dict[str, float]
    protocol: dict[str, tuple[tuple[float, float], tuple[float, float]]]


class Tables(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Means over the contexts of independent tables, for one law of the noise.

    Attributes
    ----------
    format, command
        `FORMAT`; the command that makes the file.
    noise, seed
        The name of the law; the seed of all contexts.
    contexts
        Number of contexts of a table.
    seconds, machine
        Processor time, and the machine.
    models
        Digest of each trained model that was measured.
    tuned
        Cap and factor of TunedRR, fitted to separate contexts.
    means
        By estimator ("FULL-5-0" is FULL with 5 layers and seed 0, "GD++-2", "TunedRR"): the mean of each table.
    heads
        The means over the first part of each table alone.
    digest
        Digest of all other fields.
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
        """p(t) z."""
        return np.asarray(follow(basis.values, self.layers).p * basis.moment)


@cache
def estimators(noise: str, tuned: tuple[float, float]) -> Mapping[str, Estimator]:
    """All shipped models of a law and the baselines, by name; TunedRR with its cap and factor.

    >>> [name for name in estimators("uniform-7@5x20", (1.0, 1.0)) if "-" not in name]
    ['ConstRR', 'AdaRR', 'TunedRR', 'Bayes']
    """
    here = regression_named(noise)
    ridges = dict(zip(BASELINES, (best_constant(here), AdaRR(), TunedRR(*tuned), Bayes(here.noise)), strict=True))
    depths = range(1, known_depth(noise, float(SEQUENCES)) + 1)
    filters = {f"GD++-{k}": Filter(known_model(noise, k, float(SEQUENCES))) for k in depths}
    models = {
        f"{family}-{k}-{seed}": witness(noise, family, k, seed).trained
        for family in NAMES for k in depths_of(noise, family) for seed in seeds_of(noise, family, k)
    }  # fmt: skip
    return {**ridges, **filters, **models}


def part(noise: str, number: int, piece: int, seed: int, contexts: int = SEQUENCES) -> Evaluation:
    """The contexts of one part of one table."""
    stream = f"tables/{noise}/{number}/{piece}"
    return evaluation(draw_contexts(regression_named(noise), contexts // PARTS, seed, stream))


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
    return next(_grown(_empty(noise, seed), count, at_once=count))


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
    again = list(every)[number % CHECKED :: CHECKED]
    shallow = [name for name in every if name.endswith(("-1-0", "-2-0")) or name in ("GD++-1", "GD++-2")]
    query = protocol_queries(held_out, seed, f"tables/{noise}/queries")
    entries = {name: number_of for name in every if (number_of := _printed(noise, name)) > 0}
    weights = {name: held_out.weights(every[name]) for name in {*again, *shallow, *entries, "TunedRR"}}
    given: dict[str, Estimator] = {name: lambda _, w=w: w for name, w in weights.items()}
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
            name: (
                _mean(held_out.losses(given[name])),
                _mean(protocol_losses(held_out, given[name], query)),
            )
            for name in shallow
        },
    )  # fmt: skip


def _mean(values: Floats) -> tuple[float, float]:
    interval = sampled_mean(values)
    return interval.value, interval.standard_error


def _printed(noise: str, name: str) -> float:
    """The printed number of an estimator; 0 if there is none."""
    model, _, layers = name.partition("-") if name in BASELINES else name.removesuffix("-0").rpartition("-")
    if model in MODELS or name in BASELINES[:-1]:
        return printed(noise, model, int(layers or 0)).value
    return 0.0


@np.errstate(over="ignore", invalid="ignore")
def _printed_error(held_out: Evaluation, like: Sequence[Floats], entry: float) -> float:
    """The least error of a printed number among the w of estimators like the printed one.

    The mean of some models is dominated by rare contexts; their error would be far too large for the printed number.
    """
    alike = [lambda _, w=w: w for w in like if np.any((w - held_out.oracle) ** 2 > 0)]
    return min((held_out.printed_error(estimator, entry).value for estimator in alike), default=0.0)


def tables_path(noise: str) -> Path:
    """The shipped file of a law."""
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
        family, layers, training = name.split("-")
        if witness(noise, family, int(layers), int(training)).digest != digest:
            raise InvalidInput(f"tables {noise}: {name} has changed since; `{COMMAND} {noise}` measures it again.")
    return tables


def _empty(noise: str, seed: int) -> Tables:
    fitted = tuned_ridge(evaluation(draw_contexts(regression_named(noise), TUNED_ON, 0, f"tables/{noise}/tuning")))
    return Tables(
        format=FORMAT, command=f"{COMMAND} {noise}", noise=noise, seed=seed, contexts=SEQUENCES, seconds=0.0,
        machine=machine_here(), models={}, tuned=(fitted.cap, fitted.factor), means={}, heads={},
    )  # fmt: skip


def _grown(tables: Tables, count: int, at_once: int = 1) -> Iterator[Tables]:
    """The tables extended by more tables or estimators, yielded after each batch."""
    every = estimators(tables.noise, tables.tuned)
    digests = {
        name: witness(tables.noise, family, int(layers), int(training)).digest
        for name in every if name.count("-") == 2 for family, layers, training in [name.split("-")]
    }  # fmt: skip
    same = {name for name in every if tables.models.get(name) == digests.get(name)}
    means = {name: list(tables.means.get(name, ())) if name in same else [] for name in every}
    heads = {name: list(tables.heads.get(name, ())) if name in same else [] for name in every}
    for number in range(count):
        clock = time.process_time()
        missing = {name: estimator for name, estimator in every.items() if len(means[name]) == number}
        if missing:
            whole, head = table(tables.noise, number, tables.seed, missing)
            for name in missing:
                means[name].append(_rounded(whole[name]))
                heads[name].append(_rounded(head[name]))
        tables = replace(tables, seconds=round(tables.seconds + time.process_time() - clock, 1))
        if missing and (number + 1) % at_once == 0:
            kept = replace(
                tables, models=digests, means={name: tuple(values) for name, values in means.items()},
                heads={name: tuple(values) for name, values in heads.items()},
            )  # fmt: skip
            yield sealed(kept)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def main() -> None:
    """Make tables of one law after the other, and write each as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("law", nargs="*", default=[law.name for law in NOISES])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for count in range(1, asked.tables + 1):
        for noise in asked.law:
            path = tables_path(noise)
            begin = stored_tables(noise) if path.exists() else _empty(noise, asked.seed)
            for record in _grown(begin, count):
                write_record(record, path)
                print(noise, record.count, record.seconds, flush=True)
            stored_tables.cache_clear()


if __name__ == "__main__":
    main()
