"""Folders that a command writes into."""

from __future__ import annotations

import os
from pathlib import Path

from lipverify.errors import InvalidInput
from lipverify.foundation.files import reason
from lipverify.foundation.quoting import shown


def require_writable(folder: Path) -> None:
    """Refuse a folder that cannot be written before any work is done for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".lipverify-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"out = {shown(str(folder))}: the folder cannot be written ({reason(error)}).") from None
