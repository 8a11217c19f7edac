"""The documents as data: their blocks, and a run of them that compares the output with the shown output.

    python      runs, in reading order; the names of a document are shared
    sh          its `lipverify` commands run, in a folder that the document shares
    output      the output of the block before it; `...` stands for anything
    text        is only shown

A remark before a block states how it differs: `<!-- not run: REASON -->`, `<!-- exits with 2 -->`.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests import ROOT
from tests.commands import exit_code

FENCE = re.compile(
    r"(?:^<!-- (?P<remark>[^\n]*?) -->\n\s*)?^(?P<ticks>```+)(?P<kind>[^\n`]*)\n(?P<body>.*?)^(?P=ticks)$",
    re.MULTILINE | re.DOTALL,
)
KINDS = frozenset({"python", "sh", "output", "text"})
NOT_RUN, EXITS = "not run: ", "exits with "
ERROR = re.compile(r"(?:±|\+/-) ?(\d[\d.]*(?:e-?\d+)?)")
ROUNDING = 4.0
"""Shown errors may differ by this factor. One digit leaves a factor of 2 open, as 1.49 is shown as 1 and 1.51 as 2;
and processors round differently: other vector units and kernels of the BLAS change errors by an eighth, for which there
is another factor of 2."""
PROGRESS = re.compile(r"measured \d+ of \d+ .*\n")


class NotAsShownError(AssertionError):
    """The output of a block differs from the document."""


@dataclass(frozen=True)
class Block:
    """One fenced block: its kind, its lines, the remark before it, and its first line."""

    kind: str
    body: str
    remark: str
    line: int

    @property
    def runs(self) -> bool:
        return self.kind in ("python", "sh") and not self.remark.startswith(NOT_RUN)

    @property
    def code(self) -> int:
        return int(self.remark.removeprefix(EXITS)) if self.remark.startswith(EXITS) else 0


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, without those that are directives."""
    found = (
        Block(match["kind"].strip(), match["body"], match["remark"] or "", text[: match.start("ticks")].count("\n") + 1)
        for match in FENCE.finditer(text)
    )
    return [block for block in found if not block.kind.startswith("{")]


def run(page: Path, folder: Path) -> int:
    """Run a page's blocks inside a folder; return the number of blocks run.

    Raises
    ------
    NotAsShownError
        If a block fails, prints something else than is shown, or is of an unknown kind.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    ran = 0
    every = blocks(page.read_text())
    with contextlib.chdir(folder):
        for block, after in pairwise([*every, Block("", "", "", 0)]):
            place = f"{page.name}:{block.line}"
            if block.kind not in KINDS:
                raise NotAsShownError(f"{place}: a block of kind {block.kind!r}; known are {', '.join(sorted(KINDS))}")
            if block.runs:
                printed = _python(block, place, names) if block.kind == "python" else _commands(block, place)
                if after.kind == "output":
                    _compare(after.body, printed, place)
                ran += 1
    return ran


def _python(block: Block, place: str, names: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            # as many empty lines before it as on the page, so that a traceback names the page's line
            exec(compile("\n" * block.line + block.body, place.partition(":")[0], "exec"), names)
        except Exception as error:
            raise NotAsShownError(f"{place}: {type(error).__name__}: {error}") from error
    return out.getvalue()


def _commands(block: Block, place: str) -> str:
    printed = ""
    for arguments in _lines(block, place):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = exit_code(arguments)
        if code != block.code:
            raise NotAsShownError(f"{place}: {shlex.join(arguments)} exits with {code}: {err.getvalue()}")
        printed += out.getvalue() + PROGRESS.sub("", err.getvalue())
    return printed


def _lines(block: Block, place: str) -> Iterator[list[str]]:
    for line in block.body.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] != "lipverify":
            raise NotAsShownError(f"{place}: {words[0]!r} is not run here; say why: <!-- {NOT_RUN}REASON -->")
        if words:
            yield words[1:]


def _compare(shown: str, printed: str, place: str) -> None:
    want, got = ("".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines()) for text in (shown, printed))
    (words, stated), (printed_words, found) = _parted(want), _parted(got)
    if not (doctest.OutputChecker().check_output(words, printed_words, doctest.ELLIPSIS) and _alike(stated, found)):
        raise NotAsShownError(f"{place}: prints\n{got}where this is shown:\n{want}")


def _parted(text: str) -> tuple[str, list[float]]:
    """A text without the sizes of errors, and these sizes."""
    return ERROR.sub("±", text), [float(error) for error in ERROR.findall(text)]


def _alike(stated: list[float], found: list[float]) -> bool:
    """True if errors agree up to rounding; the text behind an ellipsis has none to compare."""
    return len(stated) == len(found) and all(
        one <= ROUNDING * other and other <= ROUNDING * one for one, other in zip(stated, found, strict=True)
    )
