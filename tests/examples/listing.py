"""The list in `examples/theorems/README.md`, from the files: `python -m tests.examples.listing` writes it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from lipverify.claims.plan import claims_of, profile_named
from tests import ROOT

FOLDER = ROOT / "examples" / "theorems"
PAGE = FOLDER / "README.md"
LIST = re.compile(r"(?<=<!-- list -->\n).*(?=<!-- /list -->)", re.DOTALL)
MARKS = {"supported": "✓", "refuted": "✗"}


def theorems() -> list[Path]:
    return sorted(FOLDER.glob("*.py"))


def entry(path: Path) -> str:
    """A file, its theorem, and its claims with their recorded verdicts."""
    about = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").splitlines()[0].rstrip(".")
    found = claims_of(str(path), profile_named("quick"))
    verdicts = ", ".join(f"`{claim.id}` {MARKS[str(claim.expected)]}" for claim in found)
    return f"| [{path.name}]({path.name}) | {about} ({found[0].source.paper}) | {verdicts} |\n"


def listing() -> str:
    return "\n| file | theorem | claims |\n|---|---|---|\n" + "".join(map(entry, theorems())) + "\n"


if __name__ == "__main__":
    PAGE.write_text(LIST.sub(lambda _: listing(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
