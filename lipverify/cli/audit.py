"""`audit`: whether everything in a ledger follows from its own data."""

from __future__ import annotations

from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from lipverify.claims.audit import Difference, audit
from lipverify.claims.ledger import Ledger, read_ledger
from lipverify.foundation.output import write_json
from lipverify.foundation.quoting import counted
from lipverify.report.visible import visible

SOUND, DIFFERS = 0, 1


def audit_ledger(path: Path, json: bool) -> int:
    """Print what does not follow; the exit code."""
    ledger = read_ledger(path)
    found = audit(ledger)
    if json:
        write_json(msgspec.json.encode(found))
        return DIFFERS if found else SOUND
    console = Console(highlight=False)
    for difference in found:
        console.print(_line(difference), soft_wrap=True)
    console.print(Text(_summary(ledger, len(found))), soft_wrap=True)
    return DIFFERS if found else SOUND


def _line(difference: Difference) -> Text:
    place = f", {difference.where}" if difference.where else ""
    told = f"{difference.what} is {difference.stated}, and {difference.follows} follows"
    return Text.assemble((visible(difference.id), "bold"), visible(f"{place}: {told}"))


def _summary(ledger: Ledger, differences: int) -> str:
    cells = sum(len(record.cells) for record in ledger.claims)
    controls = "its control" if cells == 1 else "their controls"
    judged = f"{counted(len(ledger.claims), 'claim')}, {counted(cells, 'cell')} with {controls}"
    return f"{judged}: {counted(differences, 'difference') if differences else 'all of it follows'}"
