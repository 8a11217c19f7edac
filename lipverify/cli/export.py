"""`export`: a ledger in the formats of other programs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lipverify.claims.ledger.record import read_ledger
from lipverify.errors import InvalidInput
from lipverify.export import FORMATS, export_ledger
from lipverify.export.arrays import require_libraries


def export(ledger: Path, formats: Sequence[str], out: Path | None) -> int:
    """Write the files and say which."""
    content = read_ledger(ledger)
    folder = out if out is not None else ledger.parent / "export"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = export_ledger(content, folder, formats or _available())
    except OSError as error:
        raise InvalidInput(f"out = {str(folder)!r}: cannot be written ({error.strerror or error}).") from None
    for name, count in Counter(path.parent if path.parent != folder else path for path in written).items():
        print(name if name.is_file() else f"{name}: {count} files")
    return 0


def _available() -> list[str]:
    """All formats; NetCDF where its libraries are, and a word where they are not."""
    try:
        require_libraries()
    except InvalidInput as missing:
        print(f"lipverify: left out: {missing}", file=sys.stderr)
        return [name for name in FORMATS if name != "netcdf"]
    return list(FORMATS)
