"""`prove` and `check-proof`: theorems with explicit constants."""

from __future__ import annotations

import json as json_module
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from lipverify.claims.registry import select_claims
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.problem.laws import law_named
from lipverify.proofs import Proof, prove_window

PROVABLE = (
    "softmax.noise-rate",
    "softmax.bias-",
    "softmax.window-printed",
    "softmax.window-derived",
    "softmax.window-theorem",
    "softmax.generalization-",
)
"""The statements that follow from a window theorem and its envelopes."""
NAMED = ("affine", "quadratic", "relu", "cosine")


def prove_claims(
    ids: Sequence[str],
    dimensions: Sequence[int],
    least_lambda: float | None,
    least_tokens: float | None,
    out: Path | None,
    json: bool,
) -> int:
    """Prove the window theorem of each law that the claims speak of."""
    proved, console = [], Console(highlight=False)
    beyond = 0
    for law in laws_of(ids):
        for d in dimensions:
            begun = time.perf_counter()
            try:
                theorem = prove_window(law_named(law), d, least_lambda=least_lambda, least_tokens=least_tokens)
            except OutOfReach as error:
                print(error, file=sys.stderr)
                beyond += 1
                continue
            proved.append(theorem)
            if not json:
                show(console, theorem, time.perf_counter() - begun)
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                theorem.save(out / f"{law}-{d}.json")
    if json:
        json_module.dump([theorem.data for theorem in proved], sys.stdout)
        sys.stdout.write("\n")
    return 1 if beyond else 0


def laws_of(ids: Sequence[str]) -> list[str]:
    """The laws that the claims name; affine and ReLU where they are about the noise, which is the same for all."""
    claims = select_claims(ids)
    other = [claim.id for claim in claims if not claim.id.startswith(PROVABLE)]
    if other:
        raise InvalidInput(
            f"{other[0]}: no theorem with constants is known for it; those that follow from one begin with "
            f"{', '.join(PROVABLE)}."
        )
    found = {law for claim in claims for law in NAMED if law in claim.id.split("/")}
    return sorted(found or {"affine", "relu"})


def show(console: Console, proof: Proof, seconds: float) -> None:
    """A proof as text."""
    console.print(f"[bold]{proof.statement}[/bold]", soft_wrap=True)
    for lemma in proof.lemmas:
        where = f", from w = {lemma.constants['u']:g} on" if "u" in lemma.constants else ""
        console.print(f"  {lemma.name}{where}: {lemma.says}", markup=False, soft_wrap=True)
        console.print(f"    {lemma.because}", markup=False, soft_wrap=True)
        constants = ", ".join(f"{name} = {value:.8g}" for name, value in lemma.constants.items())
        console.print(f"    {constants}", markup=False, soft_wrap=True)
    console.print(f"  proved and checked in {seconds:.2f} s\n", soft_wrap=True)


def check_files(files: Sequence[Path]) -> int:
    """Run the checker as a program of its own."""
    spec = find_spec("lipverify.proofs.checker")
    folder = str(Path(str(spec.origin)).parent) if spec else ""
    return subprocess.run([sys.executable, folder, *map(str, files)], check=False).returncode
