"""The commands and their options, a file for each noun; the work is imported by the command that does it."""

from __future__ import annotations

from lipverify.cli.commands import claims, ledgers, losses, proofs, shell
from lipverify.cli.commands.root import app

__all__ = ["app", "claims", "ledgers", "losses", "proofs", "shell"]
