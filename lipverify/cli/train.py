"""`train`: train the models that claims rest on again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from rich.console import Console
from rich.table import Table

from lipverify.cli.app import ModelOptions
from lipverify.cli.reports import require_writable
from lipverify.errors import InvalidInput
from lipverify.foundation.output import write_json
from lipverify.foundation.process import INTERRUPTED
from lipverify.foundation.validation import chosen, whole
from lipverify.linear_transformer.families import NAMES
from lipverify.linear_transformer.published import LAYERS, NOISES
from lipverify.linear_transformer.training.lineage import Model, make
from lipverify.linear_transformer.training.witness import (
    models_folder,
    names_of,
    read_witness,
    rounded,
    trained_claims,
)
from lipverify.report.terminal.progress import progress_of

BACKENDS = {"native": "native", "numpy": "array"}
"""The command line's names of the arithmetics of training."""


def models_of(options: ModelOptions) -> list[Any]:
    """The models of the table with these coordinates; refused if a coordinate has an unknown value."""
    laws = [law.name for law in NOISES]
    noises = options.noise or laws
    for noise in noises:
        chosen("noise", noise, laws)
    families = [chosen("family", family, NAMES) for family in options.family or NAMES]
    # three show whether a result depends on the seed
    seeds = [whole("seeds", seed, least=0, what="a seed") for seed in options.seeds or (0, 1, 2)]
    depths = [whole("layers", depth, least=1, what="a depth") for depth in options.layers or LAYERS]
    if max(depths) > LAYERS[-1]:
        raise InvalidInput(f"layers = {max(depths)}: the table has {LAYERS[0]} to {LAYERS[-1]} layers.")
    return [
        Model(noise, family, depth, seed)
        for noise in noises
        for family in families
        for seed in seeds
        for depth in depths
    ]


class Line(NamedTuple):
    """One row of the table: a model, its loss, and the comparison with the shipped one."""

    model: str
    loss: str
    origin: str
    seconds: float
    shipped: str


def train_models(id: str, options: ModelOptions, backend: str | None, out: Path, json: bool) -> int:
    """Train the missing models, report each, and compare it with the one that comes with lipverify."""
    chosen("id", id, (trained_claims(),))
    arithmetic: Any = None if backend is None else BACKENDS[chosen("backend", backend, BACKENDS)]
    models = models_of(options)
    require_writable(out)
    try:
        with progress_of("models") as progress:
            witnesses = make(
                models, out, arithmetic,
                lambda done, total, model, witness, fresh: progress(done, total, _said(witness)),
            )  # fmt: skip
    except KeyboardInterrupt:
        print(f"lipverify: interrupted; the models in {out} are kept: the same command continues.", file=sys.stderr)
        return INTERRUPTED
    lines = [_line(witness) for witness in witnesses]
    if json:
        write_json(msgspec.json.format(msgspec.json.encode([line._asdict() for line in lines]), indent=1))
        return 0
    table = Table("model", "adjusted loss", "start that won", "CPU s", "shipped with lipverify", box=None)
    for line in lines:
        table.add_row(line.model, line.loss, line.origin, f"{line.seconds:.1f}", line.shipped)
    Console(highlight=False).print(table)
    return 0


def _line(witness: Any) -> Line:
    loss = witness.trained.loss
    doubt = "" if loss.trusted else ", untrusted"
    return Line(
        model=_said(witness),
        loss=f"{loss.value:.5g} ± {loss.standard_error:.1g}{doubt}",
        origin=witness.trained.origin,
        seconds=witness.seconds,
        shipped=_beside_shipped(witness),
    )


def _beside_shipped(witness: Any) -> str:
    """Compare the model with the one of the same name that comes with lipverify."""
    if witness.name not in names_of(witness.noise):
        return "there is none"
    shipped = read_witness(witness.name, models_folder())
    if shipped.plan != witness.plan:
        return "other settings"
    if shipped.trained == rounded(witness.trained):
        return "the same bits"
    if shipped.machine != witness.machine:
        return f"another machine; loss {_apart(witness, shipped)}"
    return f"other bits on the same machine; loss {_apart(witness, shipped)}"


def _apart(witness: Any, shipped: Any) -> str:
    return f"{witness.trained.loss.value / shipped.trained.loss.value - 1:+.2g} of it"


def _said(witness: Any) -> str:
    return str(witness.name)
