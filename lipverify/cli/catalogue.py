"""`list` and `explain`: the claims themselves, without verifying them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import msgspec
from rich.console import Console

from lipverify.claims.claim import Claim
from lipverify.claims.ledger import KINDS, weakest
from lipverify.claims.outcomes import counts, recorded
from lipverify.claims.registry import select_claims
from lipverify.cli.tables import grouped

NEW = "new"
"""In place of a recorded verdict, where there is none yet."""


def list_claims(ids: Sequence[str], json: bool) -> int:
    """Claims and their recorded verdicts."""
    claims = select_claims(ids)
    if json:
        return _print_json([_described(claim) for claim in claims])
    rows = [(claim.id, (claim.claimed, claim.expected or NEW)) for claim in claims]
    console = Console(highlight=False)
    console.print(grouped(("states", "recorded"), rows))
    console.print(f"{len(claims)} claim{'s' * (len(claims) != 1)}. {counts(recorded(claims))}", soft_wrap=True)
    return 0


def explain_claims(ids: Sequence[str], json: bool) -> int:
    """Everything that a claim says of itself."""
    claims = select_claims(ids)
    if json:
        return _print_json([_described(claim) for claim in claims])
    console = Console(highlight=False)
    for claim in claims:
        console.print(f"[bold]{claim.id}[/bold]", soft_wrap=True)
        for name, text in (
            ("title", claim.title),
            ("kind", f"{claim.kind}: {KINDS[claim.kind]}"),
            ("statement", claim.statement),
            ("claimed", claim.claimed),
            ("source", f"{claim.source.paper}, {claim.source.place}: {claim.source.printed}"),
            *(("assumes", assumption) for assumption in claim.assumptions),
            ("control", f"where it holds, {claim.false_twin} must come out refuted"),
            ("", f"where it fails, {claim.true_twin} must come out supported"),
            ("cells", f"{len(claim.cells)}: {'; '.join(dict.fromkeys(cell.quantity for cell in claim.cells))}"),
            ("grade", str(weakest(cell.grade for cell in claim.cells))),
            *([("proves", claim.proves)] if claim.proves else []),
            ("recorded", claim.expected or NEW),
        ):
            console.print(f"  {name:<10}{text}", markup=False, soft_wrap=True)
    return 0


def _described(claim: Claim) -> dict[str, object]:
    return {
        "id": claim.id,
        "title": claim.title,
        "statement": claim.statement,
        "claimed": claim.claimed,
        "kind": claim.kind,
        "grade": weakest(cell.grade for cell in claim.cells),
        "source": msgspec.to_builtins(claim.source),
        "assumptions": list(claim.assumptions),
        "control": claim.control,
        "proves": claim.proves,
        "expected": claim.expected,
        "cells": [cell.where for cell in claim.cells],
    }


def _print_json(content: object) -> int:
    sys.stdout.write(msgspec.json.encode(content).decode() + "\n")
    return 0
