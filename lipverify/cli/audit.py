"""`audit`: whether everything in a ledger follows from its own data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from lipverify.claims.ledger.record import Ledger, read_ledger
from lipverify.claims.plan.profile import profile_named
from lipverify.claims.plan.registry import all_claims, claims_of
from lipverify.claims.run.audit import Difference, audit, audit_against, unread
from lipverify.errors import InvalidInput
from lipverify.foundation.files import content
from lipverify.foundation.output import write_json
from lipverify.foundation.quoting import counted
from lipverify.report.visible import visible

SOUND, DIFFERS = 0, 1


def audit_ledger(path: Path, files: Sequence[Path], registry: bool, json: bool) -> int:
    """Print what does not follow; the exit code.

    Raises
    ------
    InvalidInput
        If it is no ledger of this format, its profile is not known, or a file is no claims file.
    """
    if files and not registry:
        raise InvalidInput(f"{files[0]}: claims files are compared with --registry; give that too.")
    ledger = read_ledger(path)
    found = (*unread(content("ledger", path), ledger), *audit(ledger))
    if registry:
        profile = profile_named(ledger.profile, ledger.seed, ledger.backend)
        claims = [*all_claims(profile), *(claim for file in files for claim in claims_of(str(file), profile))]
        found = (*found, *audit_against(ledger, claims))
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
