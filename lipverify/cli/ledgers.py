"""Commands about ledgers: report, audit, compare, export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from lipverify.cli.app import USUAL_REPORT, Flag, Json, ReportOptions, app

Format = Literal["csv", "netcdf", "svg", "pdf", "tex"]


@app.command
def report(
    ledger: Path,
    /,
    *,
    html: Flag = False,
    out: Path | None = None,
    looks: ReportOptions = USUAL_REPORT,
) -> int:
    """Make a report of a ledger: a PDF (two pages of overview, then the theorems), or with --html a web page.

    Parameters
    ----------
    ledger
        A ledger.json that `verify` wrote.
    html
        Make a web page instead, with filters, a link to every claim and all evidence; --open implies it.
    out
        The file; report.pdf or report.html next to the ledger by default. A name that ends in .html implies --html.
    """
    from lipverify.cli.reports import report_on

    return report_on(ledger, out, html, looks)


@app.command
def audit(ledger: Path, /, *, again: Flag = False, json: Json = False) -> int:
    """Judge a ledger again from its own data: digests, verdicts, margins, controls, grades, ranges and words.

    Grades are made again from what each cell rests on, theorems are compared with their proof files and expressions are
    expanded again. That the measured values are those of the functions, and the claims those of the sources, only a
    new run and `lipverify diff` can tell.

    Exit codes: 0 everything follows from the data; 1 something does not; 2 bad input.

    Parameters
    ----------
    ledger
        A ledger.json that `verify` wrote.
    again
        Also certify the proof files again with the checker, which takes seconds.
    json
        Print an array of differences.
    """
    from lipverify.cli.compare import audit_ledger

    return audit_ledger(ledger, again, json)


@app.command
def diff(before: Path, after: Path, /, *, json: Json = False) -> int:
    """Compare two ledgers: print which verdicts moved, and why.

    Exit codes: 0 nothing moved; 1 a verdict, a control or the evidence changed, or a value moved beyond its errors;
    2 bad input.

    Parameters
    ----------
    before
        Ledger A, a ledger.json that `verify` wrote.
    after
        Ledger B.
    json
        Print an object.
    """
    from lipverify.cli.compare import diff_ledgers

    return diff_ledgers(before, after, json)


@app.command
def export(
    ledger: Path = Path("reports/ledger.json"),
    /,
    *,
    format: Annotated[list[Format] | None, Parameter(name="--format", consume_multiple=1, negative="")] = None,
    latex: Path | None = None,
    out: Path | None = None,
) -> int:
    """Write a ledger as CSV, NetCDF, figures and LaTeX.

    Parameters
    ----------
    ledger
        A ledger.json that `verify` wrote.
    format
        Any of csv, netcdf (needs the extra `data`), svg, pdf (figures, as wide as a paper's column or page) and tex
        (theorems.tex, a table for an article); all by default.
    latex
        Folder for theorems.tex alone: the same as --format tex --out FOLDER.
    out
        Folder for the files; export/ next to the ledger by default, created if missing.
    """
    from lipverify.cli.reports import export as write

    return write(ledger, ("tex",) if latex is not None else format or (), out if latex is None else latex)
