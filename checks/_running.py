"""What `python checks/FILE.py` does."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def run_file(path: str) -> None:
    """Verify the claims of one file, with the options of `lipverify verify`."""
    from lipverify.claims.registry import profile_named
    from lipverify.cli import main

    place = Path(path).resolve().relative_to(Path(__file__).resolve().parent).with_suffix("")
    claims = import_module(".".join(("checks", *place.parts))).claims(profile_named("quick"))
    main(["verify", *(claim.id for claim in claims), *sys.argv[1:]])
