"""Write the outputs for readers: PDF, web page, files for other programs, and the page to explore."""

from __future__ import annotations

import contextlib
import os
import sys
import webbrowser
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console

from lipverify.claims.ledger.record import Ledger, read_ledger
from lipverify.claims.plan.registry import entitled
from lipverify.cli.app import ReportOptions
from lipverify.errors import InvalidInput
from lipverify.foundation.files import reason, require_target
from lipverify.foundation.quoting import shown
from lipverify.report import write_report, write_web_page

WRITERS: dict[str, Callable[[Ledger, Path, bool], None]] = {
    "report.pdf": lambda ledger, path, evidence: write_report(ledger, path, evidence=evidence),
    "report.html": lambda ledger, path, _: write_web_page(ledger, path),
}
"""The reports next to a ledger, and how they are written: the web page has the evidence in any case."""
WEB = (".html", ".htm")


def write_reports(ledger: Ledger, folder: Path, evidence: bool) -> dict[str, str]:
    """Write the PDF and the web page; return the failures with their reasons. One failure does not stop the other."""
    failed = {}
    for name, write in WRITERS.items():
        try:
            write(ledger, folder / name, evidence)
        except Exception as error:  # the ledger is already saved, and the other report may succeed
            failed[name] = " ".join(f"{type(error).__name__}: {error}".split())
    return failed


def report_on(ledger: Path, out: Path | None, html: bool, looks: ReportOptions) -> int:
    """Make the report of an existing ledger: a PDF, or a web page if that or a browser is requested."""
    web = html or looks.open or (out is not None and out.suffix.lower() in WEB)
    if web and out is not None and out.suffix.lower() not in WEB:
        raise InvalidInput(f"out = {shown(str(out))}: a web page is a file whose name ends in .html.")
    if out is not None and out.suffix.lower() not in (".pdf", *WEB):
        raise InvalidInput(f"out = {shown(str(out))}: a report is a file whose name ends in .pdf or .html.")
    content = read_ledger(ledger)
    title, author = entitled((), looks.title or content.title, looks.author or content.author)
    content = replace(content, title=title, author=author)
    name = "report.html" if web else "report.pdf"
    target = out if out is not None else ledger.with_name(name)
    require_target("out", target)
    require_writable(target.parent)
    try:
        WRITERS[name](content, target, looks.evidence)
    except OSError as error:
        raise InvalidInput(f"out = {shown(str(target))}: cannot be written ({reason(error)}).") from None
    Console(stderr=True, highlight=False).print(str(target), soft_wrap=True)
    if looks.open:
        show(target)
    return 0


def show(page: Path) -> None:
    """Show a web page in the browser, or print its path if there is none."""
    if not (has_screen() and webbrowser.open(page.resolve().as_uri())):
        print(f"lipverify: no browser to show it in; the page is {page.resolve()}", file=sys.stderr)


def has_screen() -> bool:
    """True if a browser window can open. Without a screen a text browser would take over the terminal."""
    chosen = any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    return chosen or sys.platform in ("darwin", "win32")


def require_writable(folder: Path) -> None:
    """Refuse an output folder that cannot be written, before any work is done for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".lipverify-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"out = {shown(str(folder))}: the folder cannot be written ({reason(error)}).") from None


def export(ledger: Path, formats: Sequence[str], out: Path | None) -> int:
    """Write the files and print their paths."""
    from lipverify.export import export_ledger

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
    """All formats. NetCDF is left out, with a message, if its libraries are missing."""
    from lipverify.export import FORMATS
    from lipverify.export.arrays import require_libraries

    try:
        require_libraries()
    except InvalidInput as missing:
        print(f"lipverify: left out: {missing}", file=sys.stderr)
        return [name for name in FORMATS if name != "netcdf"]
    return list(FORMATS)


def explore(laws: Sequence[str], port: int, show: bool) -> int:
    """Serve the page, and open it in a browser if there is one; Ctrl-C ends it."""
    from lipverify.cli.numbers import in_file, law_at
    from lipverify.explore import serve

    own = {law: made for law in laws if (made := in_file(law)) is not None}
    for law in set(laws) - set(own):
        law_at(law, 1.0)  # refuses what is no law
    server = serve(port, laws, own)
    address = f"http://127.0.0.1:{server.server_port}/"
    print(f"{address} (Ctrl-C ends it)", flush=True)
    if show and has_screen() and not webbrowser.open(address):
        print(f"lipverify: no browser to show it in; open {address}", file=sys.stderr)
    with contextlib.suppress(KeyboardInterrupt), server:
        server.serve_forever()
    return 0
