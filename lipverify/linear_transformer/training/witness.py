"""Witnesses: trained models as data, one file for each law of the noise, so that claims need no training.

A line of `NOISE/models.json.xz`, named FAMILY-LAYERS-SEED, has the weights, the way they were found, its cost and the
digests of the models that it was grown from. A digest of all of this reveals a model that was edited, truncated or
renamed, which is refused. The weights are evidence because the claims evaluate them on new contexts.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace

from lipverify.errors import InvalidInput
from lipverify.foundation.provenance import machine_here
from lipverify.foundation.shipped import shipped, table
from lipverify.foundation.store import names_in, read_record, sealed, write_record
from lipverify.linear_transformer.published import regression_named
from lipverify.linear_transformer.training.record import Trained
from lipverify.linear_transformer.training.stages import Plan

FORMAT = 1
"""Version of the file's format; any other version is refused."""
DECIMALS = 10
"""Decimals of a weight that comes with lipverify, in the units of its family, in which weights are of order 1."""


class Witness(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A trained model with everything needed to train it again: `noise` names the law, and `grown_from` are the digests
    of the models of `lineage.parents`.
    """

    format: int
    command: str
    noise: str
    family: str
    layers: int
    seed: int
    plan: Plan
    grown_from: tuple[str, ...]
    seconds: float
    machine: str
    trained: Trained
    digest: str = ""

    @property
    def name(self) -> str:
        return name_of(self.noise, self.family, self.layers, self.seed)


def name_of(noise: str, family: str, layers: int, seed: int) -> str:
    """The name of a model, its law and its key in the file of that law: uniform-3/DIAG-2-0."""
    return f"{noise}/{family}-{layers}-{seed}"


def models_path(folder: Path, noise: str) -> Path:
    return folder / noise / "models.json.xz"


def witness_of(trained: Trained, seed: int, plan: Plan, grown_from: tuple[str, ...], seconds: float) -> Witness:
    noise, layers = trained.regression.noise.name, trained.layers
    made = Witness(
        format=FORMAT, command=command_of(noise, trained.family, layers, seed), noise=noise, family=trained.family,
        layers=layers, seed=seed, plan=plan, grown_from=grown_from, seconds=round(seconds, 2), machine=machine_here(),
        trained=trained,
    )  # fmt: skip
    return sealed(made)


def rounded(trained: Trained) -> Trained:
    """The model as it comes with lipverify, with weights of `DECIMALS` decimals."""
    if trained.regression.noise.second_moment == 0:
        return trained  # the losses are squares of 1e-6 and less, which another weight would change
    return replace(trained, weights=tuple(round(weight, DECIMALS) for weight in trained.weights))


def read_witness(name: str, folder: Path) -> Witness:
    """The witness of this name in a folder of models; refused if there is none or the file was edited."""
    noise, _, model = name.partition("/")
    subject, way_out = f"witness {name}", f"`{command_of(noise, *model.rsplit('-', 2))}` makes it again"
    witness = read_record(models_path(folder, noise), Witness, FORMAT, subject, way_out, model)
    if witness.name != name or not _consistent(witness):
        raise InvalidInput(f"{subject} holds {witness.name!r}: a line is named after its model; {way_out}.")
    return witness


def write_witness(witness: Witness, folder: Path) -> None:
    """Add a witness to the file of its law in a folder of models; the file is replaced as a whole."""
    write_record(witness, models_path(folder, witness.noise), witness.name.partition("/")[2])


def names_of(noise: str, folder: Path | None = None) -> tuple[str, ...]:
    """The names of the models for a law in a folder of models; by default the shipped ones."""
    return tuple(f"{noise}/{model}" for model in names_in(models_path(folder or models_folder(), noise)))


def trained_claims() -> str:
    """The claims that rest on trained models, by the beginning of their ids."""
    return str(table()["trained"])


def command_of(noise: str, family: str, layers: int | str, seed: int | str) -> str:
    """The command that trains a model."""
    return f"lipverify train {trained_claims()} --noise {noise} --family {family} --layers {layers} --seeds {seed}"


def models_folder() -> Path:
    return shipped() / "linear_transformers" / "models"


@cache
def witness(noise: str, family: str, layers: int, seed: int = 0) -> Witness:
    """A shipped witness, which many claims ask for."""
    return read_witness(name_of(noise, family, layers, seed), models_folder())


def seeds_of(noise: str, family: str, layers: int) -> tuple[int, ...]:
    """The seeds for which such a model is shipped, ascending; empty if there are none."""
    first = f"{noise}/{family}-{layers}-"
    return tuple(sorted(int(name.removeprefix(first)) for name in names_of(noise) if name.startswith(first)))


def trainings(noise: str, family: str, layers: int) -> dict[int, Trained]:
    """The models of one form and depth that come with lipverify.

    Parameters
    ----------
    noise
        The name of the law of the noise, as for `regression_named`.
    family
        The form: "OMEGA", "DIAG", "FULL" or another one of those that `lipverify train` trains.
    layers
        The depth.

    Returns
    -------
    dict[int, Trained]
        By seed, ascending; empty if there are none. Called with contexts, a model gives its weights w; its `model` are
        the layers, and its `origin` is the start that won.

    Raises
    ------
    InvalidInput
        If there is no such law, or a file was edited.

    Examples
    --------
    >>> sorted(trainings("uniform-3", "DIAG", 2))
    [0, 1, 2]
    """
    regression_named(noise)
    return {seed: witness(noise, family, layers, seed).trained for seed in seeds_of(noise, family, layers)}


def depths_of(noise: str, family: str) -> tuple[int, ...]:
    """The depths in which such models are shipped, ascending."""
    parts = (name.rsplit("-", 2) for name in names_of(noise) if name.startswith(f"{noise}/{family}-"))
    return tuple(sorted({int(layers) for _, layers, _ in parts}))


def _consistent(witness: Witness) -> bool:
    """True if the model matches the coordinates of its record and has the number of weights of its form."""
    model = witness.trained
    of_record = (regression_named(witness.noise), witness.family, witness.layers)
    same = (model.regression, model.family, model.layers) == of_record
    return same and len(model.weights) == model.layers * int(np.prod(model.kind.shape))
