"""The lineage of trained models, each grown from shorter and narrower ones (`parents`), and the effort for each.

Models go one by one into a folder of witnesses, so that an interruption loses only one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.streams import generator
from lipverify.linear_transformer.families import START, Diag, Full, LowRank, Omega, SafeFull, family_named
from lipverify.linear_transformer.gdplusplus.optimum import grown_gdplusplus
from lipverify.linear_transformer.published import regression_named
from lipverify.linear_transformer.regression.adjusted import SEQUENCES
from lipverify.linear_transformer.training.objective import Arithmetic
from lipverify.linear_transformer.training.record import Trained
from lipverify.linear_transformer.training.stages import Plan, Stage, Start, fit
from lipverify.linear_transformer.training.witness import (
    Witness,
    name_of,
    names_of,
    read_witness,
    witness_of,
    write_witness,
)

NARROW = Plan((Stage(2048, 60, 2, 1.0), Stage(8192, 120, 0, 1e3), Stage(32_768, 60, 0, 1e5)), draws=1, random=2)
"""Effort for families of at most four weights a layer."""
WIDE = Plan((Stage(2048, 100, 1, 1.0), Stage(8192, 200, 0, 1e4), Stage(32_768, 150, 0, 1e6)), draws=1, random=2)
"""Effort for families whose layers are matrices, up to `SHALLOW` layers."""
DEEP = Plan((Stage(2048, 100, 1, 1.0), Stage(8192, 600, 0, 1e4), Stage(32_768, 300, 0, 1e6)), draws=1, random=2)
"""Effort for the same families beyond `SHALLOW` layers, where descents are longer."""
RARE = Plan((Stage(2048, 60, 1, 1.0), Stage(8192, 120, 0, 1e5), Stage(32_768, 80, 0, 1e12)), draws=1, random=2)
"""Effort where single contexts have huge losses: the cap of the last stage excludes hardly any."""
BACK = Plan((Stage(8192, 60, 0, 10.0), Stage(32_768, 30, 0, 1e3)), draws=0, random=0)
"""Effort for a family that starts only from the weights of another."""
PLANS: Mapping[str, tuple[Plan, Plan]] = {
    "DIAG": (NARROW, NARROW),
    "SAFE": (RARE, RARE),
    "OMEGA": (NARROW, NARROW),
    "LOWRANK": (WIDE, DEEP),
    "FULL": (WIDE, DEEP),
    "SAFEFULL": (BACK, BACK),
}
"""The effort for each family: for models of up to `SHALLOW` layers, and for deeper ones."""
SHALLOW = 4
"""Largest depth with the first plan of a family."""


def plan_of(family: str, layers: int) -> Plan:
    return PLANS[family][layers > SHALLOW]


def parents(family: str, layers: int) -> list[tuple[str, int]]:
    """The models (family, layers) that a model is grown from: one layer less, and DIAG or FULL of the same depth."""
    if family == "SAFEFULL":
        return [("FULL", layers)]
    older = [(family, layers - 1)] if layers > 1 else []
    narrower = [("DIAG", layers)] if family != "DIAG" else []
    return older + narrower + ([("FULL", layers)] if family == "LOWRANK" else [])


def trained(
    noise: str,
    family: str,
    layers: int,
    seed: int,
    grown_from: Sequence[Trained] = (),
    arithmetic: Arithmetic | None = None,
) -> Trained:
    """Train a model of one of `families.NAMES`, grown from the models of `parents`, in their order."""
    kind, plan = family_named(family, regression_named(noise)), plan_of(family, layers)
    samples = f"trained/{kind.regression.noise.label}"  # the same for all models, to compare losses
    stream = f"{samples}/{family}/{layers}"
    if isinstance(kind, SafeFull):
        return fit(kind, [Start("FULL", grown_from[0].array)], plan, seed, samples, arithmetic)
    starts = inserted(kind, grown_from[0].array, plan.draws, seed, stream) if layers > 1 else []
    if isinstance(kind, Diag):
        seen = 10.0**kind.rare if kind.rare else float(SEQUENCES)
        optimum = grown_gdplusplus(kind.regression, layers, seen)[-1]
        starts.append(Start("GD++", of_gdplusplus(kind, optimum.layers)))
    if family != "DIAG":
        same = {parent.family: parent.array for parent in grown_from if parent.layers == layers}
        starts += widened(kind, "DIAG", same["DIAG"], seed, stream)
        if isinstance(kind, LowRank):
            starts.append(Start("FULL", kind.of_full(same["FULL"])))
    starts += random_starts(kind, layers, plan.random, seed, stream)
    return fit(kind, starts, plan, seed, samples, arithmetic)


def inserted(family: Omega | Full, shorter: Floats, draws: int, seed: int, stream: str) -> list[Start]:
    """A random layer near the identity, inserted before and after each layer of the shorter model."""
    return [
        Start(f"layer {position + 1} put in", np.concatenate([shorter[:position], layer, shorter[position:]]))
        for position in range(len(shorter) + 1)
        for draw in range(draws)
        for layer in [family.at_random(_normals(family, 1, seed, f"{stream}/insert/{position}/{draw}"))]
    ]


def random_starts(family: Omega | Full, layers: int, draws: int, seed: int, stream: str) -> list[Start]:
    return [
        Start(
            f"random start {draw + 1}",
            family.at_random(_normals(family, layers, seed, f"{stream}/random/{draw}")),
            alone=True,
        )
        for draw in range(draws)
    ]


def widened(family: Omega | Full, origin: str, diagonal: Floats, seed: int, stream: str) -> list[Start]:
    """Convert one diagonal head a layer, weights as in `Diag`, to a start for the family.

    At a diagonal model the loss of free matrices is stationary in every off-diagonal direction, so a small random part
    is added. Each inner layer also gets a column P_xy, which no diagonal head has: it adds a multiple of the label to
    one direction of the covariates, where later layers can use it.
    """
    if not isinstance(family, Full):
        return [Start(origin, family.of_diag(diagonal))]
    narrow = Diag(family.regression)
    written = family.of_diag(narrow.of_four(narrow.numbers(diagonal)))
    noisy = written + family.at_random(_normals(family, len(diagonal), seed, f"{stream}/widened"), START / 10)
    starts = [Start(origin, written), Start(f"{origin}, off the diagonal too", noisy)]
    for layer in range(1, len(diagonal) - 1):
        direction = family.column(_normals(family, 1, seed, f"{stream}/column/{layer}")[0])
        stored = noisy.copy()
        stored[layer] = family.with_column(noisy[layer], 3.0 * direction / np.linalg.norm(direction))
        starts.append(Start(f"{origin}, a column in layer {layer + 1}", stored))
    return starts


def of_gdplusplus(family: Diag, layers: tuple[tuple[float, float], ...]) -> Floats:
    """Convert GD++ weights (xx, yx) layer by layer to one diagonal head; the last xx, which does nothing, is 0."""
    return family.of_four(np.asarray([[xx, 0.0, yx, 0.0] for xx, yx in layers]))


def _normals(family: Omega | Full, layers: int, seed: int, stream: str) -> Floats:
    return generator(seed, stream, 0).standard_normal((layers, *family.shape))


class Model(NamedTuple):
    """The coordinates of a model of the table: law of the noise, family, depth and seed."""

    noise: str
    family: str
    layers: int
    seed: int


Made = Callable[[int, int, Model, Witness, bool], None]
"""A callback with (count so far, total, model, its witness, True if it was trained just now)."""


def in_order(models: Iterable[Model]) -> tuple[Model, ...]:
    """The models and all their ancestors, each after its parents."""
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
    """The witnesses of the models in a folder; one that is missing, or has other settings or parents, is trained, each
    after its parents. `made` is called for each model.
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
    noise, family, layers, seed = model
    clock = time.process_time()
    result = trained(noise, family, layers, seed, [witness.trained for witness in older], arithmetic)
    digests = tuple(witness.digest for witness in older)
    fresh = witness_of(result, seed, plan_of(family, layers), digests, time.process_time() - clock)
    write_witness(fresh, folder)
    return fresh
