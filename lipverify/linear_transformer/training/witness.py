"""Witnesses: trained models as data, one file each, by which a claim about a model is verified without training.

A file `NOISE/FAMILY-LAYERS-SEED.json` holds the weights, how they were found and what that cost. Its digest is of all
of that, so that a file that was edited, cut short or renamed is refused, and names those of the models that it was
grown from: a lineage is of one piece or it is made anew.

The weights are evidence because the claims evaluate them on contexts of their own; nothing else in the file is trusted.
"""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import scipy
from msgspec.structs import replace

from lipverify.errors import InvalidInput
from lipverify.foundation.compiling import compiler
from lipverify.foundation.shipped import shipped
from lipverify.linear_transformer.training.record import Trained
from lipverify.linear_transformer.training.stages import Plan

FORMAT = 1
"""The version of the file's form; another one is refused."""
REMAKE = "`lipverify train lt.table-1 --noise {} --family {} --layers {} --seeds {}` makes it anew"


class Witness(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A trained model with all that it takes to make it again.

    Attributes
    ----------
    format
        `FORMAT`.
    command
        What makes it, with the models that it is grown from.
    noise, family, layers, seed
        Which model it is; the law by its name.
    plan
        The settings.
    grown_from
        Digests of the models that it was grown from, in the order of `lineage.parents`.
    seconds, machine
        Processor time that it took, and where: bits are those of one processor, one library, one compiler.
    trained
        The model itself, with the loss that its maker reported.
    digest
        Of all else.
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
        """Its file in a folder of models."""
        return name_of(self.noise, self.family, self.layers, self.seed)


def name_of(noise: str, family: str, layers: int, seed: int) -> str:
    """The file of a model in a folder of models.

    >>> name_of("uniform-3", "DIAG", 2, 0)
    'uniform-3/DIAG-2-0.json'
    """
    return f"{noise}/{family}-{layers}-{seed}.json"


def witness_of(trained: Trained, seed: int, plan: Plan, grown_from: tuple[str, ...], seconds: float) -> Witness:
    """A model that was trained here just now, as a witness."""
    noise, layers = trained.noise.name, trained.layers
    command = f"lipverify train lt.table-1 --noise {noise} --family {trained.family} --layers {layers} --seeds {seed}"
    made = Witness(
        format=FORMAT,
        command=command,
        noise=noise,
        family=trained.family,
        layers=layers,
        seed=seed,
        plan=plan,
        grown_from=grown_from,
        seconds=round(seconds, 2),
        machine=machine_here(),
        trained=trained,
    )
    return replace(made, digest=digest_of(made))


def digest_of(witness: Witness) -> str:
    """A hash of everything but the digest."""
    return blake2b(msgspec.json.encode(replace(witness, digest="")), digest_size=16).hexdigest()


def read_witness(path: Path) -> Witness:
    """The witness in a file.

    Raises
    ------
    InvalidInput
        If there is no such file, or it is of another form, or was edited, or holds another model than its name says.
    """
    said = f"witness {'/'.join(path.parts[-2:])}"
    way_out = REMAKE.format(path.parent.name, *path.stem.rsplit("-", 2)) if path.stem.count("-") >= 2 else "remove it"
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{said} cannot be read ({error.strerror}); {way_out}.") from None
    form = _form(text)
    if form != FORMAT:
        raise InvalidInput(f"{said} has format {form!r}: this version reads format {FORMAT}; {way_out}.")
    try:
        found = msgspec.json.decode(text, type=Witness)
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"{said} is no witness ({error}); {way_out}.") from None
    if digest_of(found) != found.digest:
        rule = "its digest is not that of its content: the file was edited"
        raise InvalidInput(f"{said}: digest = {found.digest!r}, {rule}; restore it, or {way_out}.")
    if found.name != f"{path.parent.name}/{path.name}" or not _consistent(found):
        raise InvalidInput(f"{said} holds {found.name!r}: a file is named after its model; {way_out}.")
    return found


def write_witness(witness: Witness, folder: Path) -> Path:
    """The file of a witness in a folder of models, one field a line; it appears there whole or not at all."""
    path = folder / witness.name
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = msgspec.to_builtins(witness)
    lines = (f"{_json(name)}: {_json(value)}" for name, value in fields.items())
    half = path.with_name(f".{path.name}-{os.getpid()}")
    half.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    os.replace(half, path)
    return path


def models_folder() -> Path:
    """The folder of the witnesses that come with lipverify."""
    return shipped() / "linear_transformers" / "models"


@cache
def witness(noise: str, family: str, layers: int, seed: int = 0) -> Witness:
    """A witness that comes with lipverify.

    >>> witness("uniform-3", "DIAG", 2).trained.layers
    2
    """
    return read_witness(models_folder() / name_of(noise, family, layers, seed))


@cache
def seeds_of(noise: str, family: str, layers: int) -> tuple[int, ...]:
    """The seeds for which such a model comes with lipverify, ascending; none if it was not trained."""
    found = (models_folder() / noise).glob(f"{family}-{layers}-*.json")
    return tuple(sorted(int(path.stem.rpartition("-")[2]) for path in found))


def trainings(noise: str, family: str, layers: int) -> list[Trained]:
    """All trainings of a model that come with lipverify, by seed."""
    return [witness(noise, family, layers, seed).trained for seed in seeds_of(noise, family, layers)]


def depths_of(noise: str, family: str) -> tuple[int, ...]:
    """The depths in which such models come with lipverify, ascending."""
    found = (models_folder() / noise).glob(f"{family}-*-*.json")
    return tuple(sorted({int(path.stem.rsplit("-", 2)[1]) for path in found}))


def origins(noise: str, family: str, layers: int, seed: int = 0) -> tuple[str, ...]:
    """The starts that won, from the model's own back to the first of its line.

    >>> origins("uniform-3", "DIAG", 1)
    ('random start 2',)
    """
    origin = witness(noise, family, layers, seed).trained.origin
    if origin.startswith("layer ") and layers > 1:
        return (origin, *origins(noise, family, layers - 1, seed))
    wider = next((each for each in ("DIAG", "FULL") if origin.startswith(each)), "")
    return (origin, *origins(noise, wider, layers, seed)) if wider else (origin,)


def machine_here() -> str:
    """Processor, library and compiler: what bits depend on."""
    command = compiler()
    banner = _first_line([*command, "--version"]) if command else "no compiler"
    return f"{_processor()}; NumPy {np.__version__}; SciPy {scipy.__version__}; {banner}"


def _processor() -> str:
    """The model of the processor, as far as the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    numbers = [said[key] for key in ("cpu family", "model", "stepping") if key in said]
    return " ".join([said.get("model name") or platform.processor() or platform.machine(), *numbers])


def _first_line(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0].strip()


def _form(text: bytes) -> Any:
    """The format that a file claims, None for what is not one of ours."""
    try:
        head = msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return None
    return head.get("format") if isinstance(head, dict) else None


def _consistent(witness: Witness) -> bool:
    """Whether the model is the one that the fields beside it name, with as many weights as its form has."""
    model = witness.trained
    same = (model.noise.name, model.family, model.layers) == (witness.noise, witness.family, witness.layers)
    return same and len(model.weights) == model.layers * int(np.prod(model.kind.shape))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
