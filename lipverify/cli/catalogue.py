"""`list`, `explain` and `new`: print claims without verifying them, and write the start of a claims file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from lipverify.claims.evidence.grade import OWN
from lipverify.claims.language.file import start
from lipverify.claims.language.form import UNDECLARED
from lipverify.claims.ledger.outcomes import Judged, counts, grounds, measured, passages, resting_on
from lipverify.claims.ledger.reach import condition_of, reach_of
from lipverify.claims.ledger.record import KINDS, Outcome, Passage, Record, read_ledger
from lipverify.claims.plan.claim import Claim, recorded
from lipverify.claims.plan.registry import select_claims
from lipverify.errors import InvalidInput
from lipverify.foundation.latex import plain
from lipverify.foundation.output import write_json
from lipverify.foundation.quoting import counted
from lipverify.report.sources import quotation, short
from lipverify.report.terminal.tables import SIGNS, grouped, wrapped
from lipverify.report.visible import visible

_INSTEAD: dict[Outcome, str] = {
    "holds as printed": "more sharply", "holds in one of its readings": "more sharply", "false as printed": "instead",
    "open": "what holds",
}  # fmt: skip
NAMED = 12
"""Width in columns of the names on the left of an explanation."""


def list_claims(ids: Sequence[str], json: bool) -> int:
    """Print the claims and their recorded verdicts."""
    claims = select_claims(ids)
    if json:
        write_json(msgspec.json.encode([_described(claim) for claim in claims]))
        return 0
    rows = [(claim.id, (claim.claimed, escape(_recorded(claim)))) for claim in claims]
    console = Console(highlight=False)
    console.print(grouped(("states", "recorded"), rows))
    console.print(Text("\n".join(wrapped(counts(recorded(claims)), console.width, "    "))), soft_wrap=True)
    return 0


def list_passages(ids: Sequence[str], json: bool) -> int:
    """Print the passages of the sources with their outcomes, by a ledger's verdicts or by the recorded ones."""
    judged = _judged(ids)
    listed = passages(judged)
    if json:
        write_json(msgspec.json.encode(listed))
        return 0
    console = Console(highlight=False)
    for passage in listed:
        console.print(Text("\n".join(_passage(passage, console.width))), soft_wrap=True)
    console.print(Text("\n".join(wrapped(counts(judged), console.width, "    "))), soft_wrap=True)
    return 0


def _judged(ids: Sequence[str]) -> list[Judged]:
    """The claims with their verdicts: those of a ledger, or the recorded ones."""
    if not any(id.endswith(".json") for id in ids):
        return recorded(select_claims(ids))
    if len(ids) > 1:
        raise InvalidInput(f"list --passages {' '.join(ids)}: give one ledger, or claims and files with claims.")
    return measured(read_ledger(Path(ids[0])).claims)


def _passage(passage: Passage, width: int) -> Iterator[str]:
    """The lines of one passage: place, outcome and grade, the readings that hold or fail, and the sharper statement."""
    yield from wrapped(f"{SIGNS[passage.outcome]} {visible(plain(f'{short(passage.paper)}, {passage.place}'))}", width)
    supported, cells = passage.cells
    judged = counted(len(passage.claims), "claim") + (
        f" ({supported} of {counted(cells, 'cell')} supported)" if cells else ""
    )
    stems = dict.fromkeys(id.partition("/")[0] for id in passage.claims)
    told = [
        f"{'; '.join(filter(None, (passage.outcome, passage.grade, judged)))} of {', '.join(stems)}",
        f"holds: {'; '.join(passage.holds)}" if passage.holds else "",
        f"refuted: {'; '.join(passage.fails)}" if passage.fails else "",
        f"{_INSTEAD[passage.outcome]}: {'; '.join(passage.instead)}" if passage.instead else "",
    ]
    for text in filter(None, told):
        yield from (f"    {line}" for line in wrapped(visible(plain(text)), width - 4, "    "))


def explain_claims(ids: Sequence[str], json: bool) -> int:
    """Print a claim's declaration in full, with formulas as plain text; as JSON they are LaTeX."""
    ledger = read_ledger(Path(ids[0])) if ids and ids[0].endswith(".json") else None
    claims = select_claims(ids[1:] if ledger else ids)
    known = {record.id: record for record in ledger.claims} if ledger else {}
    claims = tuple(claim for claim in claims if not ledger or claim.id in known)
    if json:
        write_json(msgspec.json.encode([_described(claim, known) for claim in claims]))
        return 0
    console = Console(highlight=False)
    for claim in claims:
        console.print(f"[bold]{claim.id}[/bold]", soft_wrap=True)
        for name, text in (
            ("title", claim.title),
            ("kind", f"{claim.kind}: {KINDS[claim.kind]}"),
            ("statement", plain(claim.statement)),
            ("claimed", claim.claimed),
            ("source", plain(quotation(claim.source))),
            *(("assumes", plain(assumption)) for assumption in claim.assumptions),
            ("control", f"where it holds, {claim.false_control} must come out refuted"),
            ("", f"where it fails, {_true_control(claim)}"),
            ("cells", f"{len(claim.cells)}: {'; '.join(dict.fromkeys(cell.quantity for cell in claim.cells))}"),
            ("measured", _where(claim)),
            *([("limits", condition_of(claim.spots()))] if condition_of(claim.spots()) else []),
            ("method", ", ".join(dict.fromkeys(cell.method or OWN for cell in claim.cells))),
            *([("for every", ", ".join(claim.forall))] if claim.forall else []),
            *([("by hand", claim.by_hand)] if claim.by_hand else []),
            *([("proves", claim.proves)] if claim.proves else []),
            *_graded(claim.id, known),
            ("recorded", _recorded(claim)),
        ):
            console.print(Text("\n".join(_lines(name, visible(text), console.width))), soft_wrap=True)
    return 0


def _true_control(claim: Claim) -> str:
    return "none is declared" if claim.true_control == UNDECLARED else f"{claim.true_control} must come out supported"


def _graded(id: str, known: Mapping[str, Record]) -> Iterator[tuple[str, str]]:
    """The grade of a claim in a ledger, with its reasons and the sentences of the theorems that it rests on."""
    if id in known:
        of = resting_on(known[id], tuple(known.values()))
        reasons, theorems = grounds(of.cells)
        yield "grade", f"{of.grade}, by {of.id}" if of.id != id else f"{of.grade}"
        yield from (("because" if k == 0 else "", plain(reason)) for k, reason in enumerate(reasons))
        yield from (("theorem" if k == 0 else "", sentence) for k, sentence in enumerate(theorems))


def _where(claim: Claim) -> str:
    return reach_of(claim.spots(), claim.id)


def _recorded(claim: Claim) -> str:
    """The recorded verdict and its range; a refuted claim fails at some point within the range."""
    words = {"supported": "supported", "refuted": "refuted, measured", "inconclusive": "inconclusive, measured"}
    return f"{words[claim.expected]} {_where(claim)}" if claim.expected in words else "new"  # no verdict is recorded


def _lines(name: str, text: str, width: int) -> list[str]:
    """Print the text to the right of its name, or below it if the line is too narrow."""
    wide = width > 4 * NAMED
    lines = wrapped(text, width - (NAMED if wide else 4)) if text else [""]
    if not wide:
        return [f"  {name}"] * bool(name) + [f"    {line}" for line in lines]
    return [f"{f'  {name}':<{NAMED}}{lines[0]}", *(f"{'':<{NAMED}}{line}" for line in lines[1:])]


def _described(claim: Claim, known: Mapping[str, Record] = MappingProxyType({})) -> dict[str, object]:
    graded = list(_graded(claim.id, known))
    return {
        **({"grade": graded[0][1], "reasons": [text for _, text in graded[1:]]} if graded else {}),
        "id": claim.id,
        "title": claim.title,
        "statement": claim.statement,
        "claimed": claim.claimed,
        "kind": claim.kind,
        "methods": list(dict.fromkeys(cell.method or OWN for cell in claim.cells)),
        "source": msgspec.to_builtins(claim.source),
        "assumptions": list(claim.assumptions),
        "control": claim.control,
        "forall": list(claim.forall),
        "by_hand": claim.by_hand,
        "proves": claim.proves,
        "expected": claim.expected,
        "range": _where(claim),
        "condition": condition_of(claim.spots()),
        "cells": [cell.where for cell in claim.cells],
    }


def write_claim(path: Path, bound: bool) -> int:
    """Write the start of a claims file; an existing file is never overwritten."""
    if path.suffix != ".py":
        raise InvalidInput(f"path = {str(path)!r}: a claims file is Python; give a name that ends in .py.")
    text = start("bound" if bound else "exponent").replace("my_claims.py", path.name)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidInput(f"path = {str(path)!r}: it is there and is not overwritten; give another name.") from None
    except OSError as error:
        raise InvalidInput(f"path = {str(path)!r}: it cannot be written ({error.strerror}).") from None
    print(f"{path}: a start; `lipverify verify {path}` verifies it")
    return 0
