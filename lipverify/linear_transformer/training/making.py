"""Train witnesses model by model: valid files are kept, and an interruption loses only the model in progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lipverify.errors import InvalidInput
from lipverify.linear_transformer.training.lineage import parents, plan_of, trained
from lipverify.linear_transformer.training.objective import Arithmetic
from lipverify.linear_transformer.training.witness import (
    Witness,
    name_of,
    names_of,
    read_witness,
    witness_of,
    write_witness,
)


class Model(NamedTuple):
    """The coordinates of a model of the table: law of the noise, family, depth and seed."""

    noise: str
    family: str
    layers: int
    seed: int


Made = Callable[[int, int, Model, Witness, bool], None]
"""A callback with (count so far, total, model, its witness, True if it was trained just now)."""


def in_order(models: Iterable[Model]) -> tuple[Model, ...]:
    """The models and all their ancestors, each after its parents.

    >>> [(each.family, each.layers) for each in in_order([Model("uniform-3", "FULL", 2, 0)])]
    [('DIAG', 1), ('FULL', 1), ('DIAG', 2), ('FULL', 2)]
    """
    return tuple(dict.fromkeys(ancestor for model in models for ancestor in _line(model)))


def _line(model: Model) -> Iterator[Model]:
    """The ancestors of a model and the model itself, which is last."""
    for family, layers in parents(model.family, model.layers):
        yield from _line(model._replace(family=family, layers=layers))
    yield model


def make(
    models: Sequence[Model],
    folder: Path,
    arithmetic: Arithmetic | None = None,
    made: Made | None = None,
) -> list[Witness]:
    """The witnesses of the models in a folder; missing ones are trained, each after its parents.

    Parameters
    ----------
    models
        The models to make.
    folder
        The folder of the witnesses. A stored model is not trained again if it has the same settings, a valid digest,
        and the stored models as parents.
    arithmetic
        As for `lineage.trained`.
    made
        Called for each model.

    Raises
    ------
    InvalidInput
        If a file of the folder holds something else.
    """
    every, witnesses = in_order(models), dict[Model, Witness]()
    for noise in dict.fromkeys(model.noise for model in every):
        names_of(noise, folder)  # refuse a folder that cannot be written before any work
    for count, model in enumerate(every, 1):
        older = [
            witnesses[model._replace(family=family, layers=k)] for family, k in parents(model.family, model.layers)
        ]
        kept = _kept(model, folder, older, arithmetic)
        witnesses[model] = kept or _made(model, folder, older, arithmetic)
        if made is not None:
            made(count, len(every), model, witnesses[model], kept is None)
    return [witnesses[model] for model in models]


def _kept(model: Model, folder: Path, older: Sequence[Witness], arithmetic: Arithmetic | None) -> Witness | None:
    """The stored witness if training would reproduce it, else None."""
    try:
        there = read_witness(name_of(*model), folder)
    except InvalidInput:
        return None
    settings = (there.plan, there.grown_from)
    wanted = (plan_of(model.family, model.layers), tuple(witness.digest for witness in older))
    other_arithmetic = arithmetic is not None and there.trained.arithmetic != arithmetic
    return None if other_arithmetic or settings != wanted else there


def _made(model: Model, folder: Path, older: Sequence[Witness], arithmetic: Arithmetic | None) -> Witness:
    """Train a model and store it at once."""
    noise, family, layers, seed = model
    clock = time.process_time()
    result = trained(noise, family, layers, seed, [witness.trained for witness in older], arithmetic)
    digests = tuple(witness.digest for witness in older)
    fresh = witness_of(result, seed, plan_of(family, layers), digests, time.process_time() - clock)
    write_witness(fresh, folder)
    return fresh
