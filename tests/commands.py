"""Run commands of lipverify in this process, which saves seconds of imports, and a claims file for them."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple
from unittest import mock

import pytest

from lipverify.claims.run.kept import NAME  # internal: the folder of unfinished work, which is not output
from lipverify.cli import main

CLAIMS_FILE = dedent("""\
    from time import sleep
    from lipverify.claims import bound, claim

    def square(x):
        sleep(0.25)
        return x * x, 1e-12

    claim(
        "mine.square",
        bound(square, "x^2", high="x", control="x / 20"),
        over={"x": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)},
        source=("My notes", "Lemma 1", "smaller"),
        kind="printed",
        expected="supported",
    )
""")
"""Eight measurements of a quarter of a second each, and a true claim about them."""
QUICK_FILE = CLAIMS_FILE.replace("    sleep(0.25)\n", "")


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def exit_code(arguments: Sequence[str]) -> int:
    """The exit code of a command. Without --jobs the command measures in one process."""
    with warnings.catch_warnings(), mock.patch("os.cpu_count", return_value=1):
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # of the tests
        try:
            main(arguments)
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 1
    return 0


class Commands:
    """Run `lipverify(*arguments)` as a user does, and return the exit code and the output."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self.capture = capture

    def __call__(self, *arguments: str) -> Done:
        self.capture.readouterr()
        code = exit_code(arguments)
        return Done(code, *self.capture.readouterr())


def kept_in(folder: Path) -> int:
    """The number of finished measurements that a folder keeps."""
    if not (folder / NAME).exists():
        return 0
    with closing(sqlite3.connect(folder / NAME)) as kept:
        try:
            return int(kept.execute("SELECT count(*) FROM finished").fetchone()[0])
        except sqlite3.OperationalError:
            return 0
