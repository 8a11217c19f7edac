"""`prove` and `check-proof`: theorems with explicit constants."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from lipverify.claims.evidence.theorems import FOLDER, found_anew
from lipverify.claims.plan.claim import CellPlan, Claim
from lipverify.claims.plan.profile import Profile, profile_named
from lipverify.claims.plan.registry import select_claims
from lipverify.cli.numbers import law_at
from lipverify.cli.reports import require_writable
from lipverify.errors import OutOfReach
from lipverify.foundation.files import is_path
from lipverify.foundation.output import write_json
from lipverify.foundation.shipped import shipped
from lipverify.problem.law import Law
from lipverify.proofs import Proof, prove_window

Found = Callable[[], Mapping[str, Proof]]


@dataclass(frozen=True)
class Wanted:
    """The claims or the law to prove, and the dimensions."""

    ids: Sequence[str]
    law: str | None
    d: Sequence[int] | None


def prove_claims(wanted: Wanted, out: Path | None, json: bool) -> int:
    """Prove the theorems behind claims, or the window theorem of a law; without either, list what can be proved."""
    if not wanted.ids and wanted.law is None:
        return list_provable(json)
    if out is not None:
        out = out.absolute()
        require_writable(out)
    proved, console, refusals = [], Console(highlight=False), list[str]()
    for find in theorems(wanted):
        begun = time.perf_counter()
        try:
            proofs = find()
        except OutOfReach as error:
            if str(error) not in refusals:  # the same reason may apply in every dimension; print it once
                print(error, file=sys.stderr)
            refusals.append(str(error))
            continue
        for name, proof in proofs.items():
            proved.append(proof)
            if out is not None:
                proof.save(out / f"{name}.json")
            if not json:
                show(console, proof, (time.perf_counter() - begun) / len(proofs))
    if json:
        write_json([proof.data for proof in proved])
    if not proved and not refusals:
        asked = " ".join((*wanted.ids, *(f"d={d}" for d in wanted.d or ())))
        print(
            f"{asked}: no proof file is behind it; `lipverify prove` lists the claims that have one.", file=sys.stderr
        )
    return 1 if refusals or not proved else 0


def theorems(wanted: Wanted) -> Iterator[Found]:
    """The requested theorems, each as a function that proves it again and gives its proofs by the names of files."""
    claims = behind_each(wanted.ids, profile_named("full" if wanted.d else "quick")) if wanted.ids else ()
    if wanted.law is not None:
        stem, law = re.sub(r"\W+", "-", wanted.law.removesuffix(".py")).strip("-"), law_at(wanted.law, 1.0)
        for d in wanted.d or (2, 3, 5):
            yield partial(of_law, f"{stem}-{d}", law, d)
    known: dict[str, Proof] = {}
    for plan in (plan for claim in claims for plan in provable(claim)):
        if wanted.d is None or plan.where.get("d", wanted.d[0]) in wanted.d:
            yield partial(behind, plan, known)


def behind_each(ids: Sequence[str], profile: Profile) -> tuple[Claim, ...]:
    """The requested claims; a claim without a proof file is replaced by the claim that proves it."""
    chosen = select_claims(ids, profile)
    around = {claim.id.partition("/")[0] for claim in chosen} | {id for id in ids if is_path(id)}
    proofs = {claim.proves: claim for claim in select_claims(sorted(around), profile) if claim.proves}
    meant = (claim if provable(claim) else proofs.get(claim.id, claim) for claim in chosen)
    return tuple({claim.id: claim for claim in meant}.values())


def of_law(name: str, law: Law, d: int) -> dict[str, Proof]:
    """The theorem on w* of a law in dimension d."""
    return {name: prove_window(law, d)}


@cache
def without_file() -> tuple[str, ...]:
    """Claims that are proved by their own balls, as the folder of the claims lists them."""
    listed: list[str] = tomllib.loads((shipped() / FOLDER / "claims.toml").read_text("utf-8"))["without_file"]
    return tuple(listed)


def provable(claim: Claim) -> list[CellPlan]:
    """The cells of a claim that may have a proof file: those proved by balls, or in symbols by a claim of a proof."""
    if claim.id.startswith(without_file()):
        return []
    named = claim.id.endswith("/proved")
    return [plan for plan in claim.cells if plan.method == "certified" or (named and plan.method == "symbolic")]


def behind(plan: CellPlan, known: dict[str, Proof]) -> dict[str, Proof]:
    """Prove the theorems of a cell again; those that are known are left out, and new ones added to them."""
    with found_anew(known) as proofs:
        results: dict[str, Any] = {}
        for needed in plan.measurement.with_needs():
            results[needed.address] = needed.run(*(results[need.address] for need in needed.needs))
    fresh = {name: proof for name, proof in proofs.items() if name not in known}
    known |= fresh
    return fresh


def list_provable(json: bool) -> int:
    """Print the claims that rest on a proof file, with their dimensions."""
    plans = {claim.id: provable(claim) for claim in select_claims(())}
    rows = {
        id: " ".join(f"d={d}" for d in sorted({int(str(plan.where["d"])) for plan in found if "d" in plan.where}))
        for id, found in plans.items()
        if found
    }
    if json:
        write_json(rows)
        return 0
    for name, where in rows.items():
        print(f"{name}  {where}".rstrip())
    print("lipverify prove --law LAW: the window theorem of a law by its name, written out, or my.py:NAME  every d")
    return 0


def show(console: Console, proof: Proof, seconds: float) -> None:
    """Print the statement, each lemma with its reason, the constants and the time."""
    console.print(f"[bold]{proof.statement}[/bold]", soft_wrap=True)
    for lemma in proof.lemmas:
        where = f", from w = {lemma.constants['u']:g} on" if "u" in lemma.constants else ""
        console.print(f"  {lemma.name}{where}: {lemma.says}", markup=False, soft_wrap=True)
        console.print(f"    {lemma.because}", markup=False, soft_wrap=True)
        constants = ", ".join(f"{name} = {value:.8g}" for name, value in lemma.constants.items())
        console.print(f"    {constants}", markup=False, soft_wrap=True)
    console.print(f"  proved and checked in {seconds:.2f} s\n", soft_wrap=True)


def check_files(files: Sequence[Path]) -> int:
    """Run the checker as a separate program."""
    spec = find_spec("lipverify.proofs.checker")
    folder = str(Path(str(spec.origin)).parent) if spec else ""
    paths = [f".{os.sep}{file}" if str(file).startswith("-") else str(file) for file in files]  # `-h` may be a file
    return subprocess.run([sys.executable, folder, *paths], check=False).returncode
