"""What is made of a ledger for readers: a PDF and a web page, and a browser to see the page in."""

from __future__ import annotations

import os
import sys
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console

from lipverify.claims.ledger.record import Ledger, read_ledger
from lipverify.claims.plan.registry import entitled
from lipverify.cli.folders import require_writable
from lipverify.errors import InvalidInput
from lipverify.foundation.files import reason, require_target
from lipverify.foundation.quoting import shown
from lipverify.report import write_report, write_web_page


def _write_pdf(ledger: Ledger, path: Path, evidence: bool) -> None:
    write_report(ledger, path, evidence=evidence)


def _write_page(ledger: Ledger, path: Path, evidence: bool) -> None:
    """A page always holds the evidence: there it is closed until it is asked for."""
    write_web_page(ledger, path)


WRITERS = {"report.pdf": _write_pdf, "report.html": _write_page}
"""The names of the reports beside a ledger, and what writes each, with the evidence in a PDF or without."""
WEB = (".html", ".htm")


def write_reports(ledger: Ledger, folder: Path, evidence: bool) -> dict[str, str]:
    """Write the PDF and the web page; those that failed with their reasons, which cost nothing but themselves."""
    failed = {}
    for name, write in WRITERS.items():
        try:
            write(ledger, folder / name, evidence)
        except Exception as error:  # hours of evidence are safe in the ledger, and the other report may succeed
            failed[name] = " ".join(f"{type(error).__name__}: {error}".split())
    return failed


@dataclass(frozen=True)
class Wanted:
    """What is wanted of a report."""

    html: bool = False
    evidence: bool = False
    open: bool = False
    title: str | None = None
    author: str | None = None
    """In place of what the ledger says."""


def report_on(ledger: Path, out: Path | None, wanted: Wanted) -> int:
    """The report of a ledger that exists: a PDF, or a web page where that or a browser is asked for."""
    web = wanted.html or wanted.open or (out is not None and out.suffix.lower() in WEB)
    if web and out is not None and out.suffix.lower() not in WEB:
        raise InvalidInput(f"out = {shown(str(out))}: a web page is a file whose name ends in .html.")
    if out is not None and out.suffix.lower() not in (".pdf", *WEB):
        raise InvalidInput(f"out = {shown(str(out))}: a report is a file whose name ends in .pdf or .html.")
    content = read_ledger(ledger)
    title, author = entitled((), wanted.title or content.title, wanted.author or content.author)
    content = replace(content, title=title, author=author)
    name = "report.html" if web else "report.pdf"
    target = out if out is not None else ledger.with_name(name)
    require_target("out", target)
    require_writable(target.parent)
    try:
        WRITERS[name](content, target, wanted.evidence)
    except OSError as error:
        raise InvalidInput(f"out = {shown(str(target))}: cannot be written ({reason(error)}).") from None
    Console(stderr=True, highlight=False).print(str(target), soft_wrap=True)
    if wanted.open:
        show(target)
    return 0


def show(page: Path) -> None:
    """Show a web page in the browser; where there is none, say where the page lies."""
    if not (has_screen() and webbrowser.open(page.resolve().as_uri())):
        print(f"lipverify: no browser to show it in; the page is {page.resolve()}", file=sys.stderr)


def has_screen() -> bool:
    """Whether a browser can appear: without a screen, one in the terminal would take the terminal away."""
    chosen = any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    return chosen or sys.platform in ("darwin", "win32")
