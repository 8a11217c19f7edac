"""`lipverify.verify`: the command `lipverify verify`, from Python."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import msgspec

from lipverify.claims.ledger.record import Ledger, Record, draw_cells
from lipverify.claims.plan.claim import Claim
from lipverify.claims.plan.profile import profile_named
from lipverify.claims.plan.registry import entitled, select_claims
from lipverify.claims.run.runner import Watch, run
from lipverify.errors import InvalidInput
from lipverify.foundation.files import require_target
from lipverify.foundation.lazy import directory
from lipverify.foundation.quoting import shown
from lipverify.foundation.showing import legend
from lipverify.foundation.style import in_style
from lipverify.foundation.validation import a_seed, chosen, require_processes
from lipverify.loss.terms import BackendName
from lipverify.report import write_report, write_web_page

__all__ = ["Verification", "verify"]
__dir__ = directory(__name__)

MOST = 24
"""Most claims in one figure: eight rows of three, each still legible on a screen."""
ACROSS = 3
"""Claims in a row of the figure."""
SIZE = (4.2, 2.8)
"""Width and height of one claim's axes in a figure with the names of its cells, in inches."""


class Verification(Ledger, frozen=True, kw_only=True):
    """The ledger that `verify` returns: a table in a notebook, records by id, a figure, a report.

    Fields: those of `lipverify.claims.ledger.record.Ledger`.

    Attributes
    ----------
    profile, seed, backend, title, author, asked
        The settings of the run, and the title and author of its report.
    claims
        A record for each claim: verdict, cells, controls, cross-checks.
    passages, counts
        Outcomes by passage; numbers of verdicts.
    provenance, digest, format
        Versions and machine; a digest of all else; the format's name.

    Examples
    --------
    >>> from lipverify import verify
    >>> verify("softmax.split")["softmax.split"].verdict
    'supported'
    """

    def __getitem__(self, id: str) -> Record:
        """The record of a claim.

        Raises
        ------
        KeyError
            If the ledger has no claim with this id; the message names similar ids.
        """
        records = {record.id: record for record in self.claims}
        if id not in records:
            similar = difflib.get_close_matches(str(id), records, n=3, cutoff=0)
            raise KeyError(f"id = {shown(id)} is not in this ledger; similar ids: {', '.join(similar)}.")
        return records[id]

    @in_style
    def plot(self, *ids: str) -> Any:
        """Plot the measured value of each cell over its shaded allowed range, beside its control.

        Axes without a point say why: no cell was measured, or none has a finite error.

        Parameters
        ----------
        ids
            The claims to draw, one pair of axes for each; all by default.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        KeyError
            If an id is not in the ledger.
        InvalidInput
            If there are more than 24 claims to draw, or none.
        """
        from matplotlib import pyplot

        records = [self[id] for id in ids] if ids else list(self.claims)
        if not 0 < len(records) <= MOST:
            rule = f"a figure shows 1 to {MOST}; name those that you want: .plot(id, ...)"
            raise InvalidInput(f"{len(records)} claims: {rule}.")
        across = min(ACROSS, len(records))
        down = math.ceil(len(records) / across)
        size = (SIZE[0] * across, SIZE[1] * down)
        figure, axes = pyplot.subplots(down, across, squeeze=False, layout="constrained", figsize=size)
        for k, ax in enumerate(axes.flat):
            if k < len(records):
                draw_cells(records[k], ax)
            else:
                ax.set_axis_off()
        legend(figure)
        return figure

    def to_dataframe(self, table: Literal["claims", "cells", "cross_checks", "curves", "heat_maps"] = "claims") -> Any:
        """One of the tables that `lipverify export` writes as CSV, as a pandas DataFrame.

        Parameters
        ----------
        table
            "claims" has a row for each claim, with the number that decides it as `value`, `error`, `low` and `high`;
            "cells" has a row for each measured point, with a column for each coordinate.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InvalidInput
            If pandas is not installed, or there is no such table.
        """
        from lipverify.export.rows import tables

        made = tables(self)
        chosen("table", table, made)
        if find_spec("pandas") is None:
            raise InvalidInput("to_dataframe needs pandas, which is not installed: pip install pandas.")
        import pandas

        return pandas.DataFrame(list(made[table].rows), columns=list(made[table].header))

    def report(self, path: str | os.PathLike[str], *, evidence: bool = False) -> Path:
        """Write the report: a PDF, or a web page if the name ends in .html.

        Parameters
        ----------
        path
            The file; an existing regular file is replaced.
        evidence
            Add every cell to the PDF, as an appendix; a web page always has them.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InvalidInput
            If the name has another ending, or the path exists and is not a regular file.
        OSError
            If the file cannot be written.
        """
        target = Path(path)
        require_target("path", target)
        match target.suffix.lower():
            case ".pdf":
                write_report(self, target, evidence=evidence)
            case ".html" | ".htm":
                write_web_page(self, target)
            case _:
                raise InvalidInput(f"path = {os.fspath(path)!r}: a report is a file whose name ends in .pdf or .html.")
        return target


def verify(
    *claims: str | os.PathLike[str],
    profile: Literal["quick", "full"] = "quick",
    seed: int = 0,
    backend: BackendName = "numpy",
    jobs: int | None = None,
    limit: float | None = None,
    title: str | None = None,
    author: str | None = None,
    quiet: bool = False,
) -> Verification:
    """Verify claims and return the ledger: every verdict with its evidence.

    Nothing is written to disk. For a long run that may be interrupted use the command, which stores finished
    measurements and continues with `--resume`.

    Parameters
    ----------
    claims
        Paths of files with your own claims, which are executed, and lipverify's own claims by id, by the beginning of
        an id up to "/" or ".", or with wildcards. By default all of lipverify's own claims.
    profile
        "quick" (minutes on two cores for all claims) or "full" (hours).
    seed
        Seed of all sampled evidence.
    backend
        "numpy", "native" or "cupy": the library that samples contexts.
    jobs
        Number of processes that measure, by default one a processor; 0 measures in this process, without a time limit.
    limit
        Time limit of one measurement in seconds; by default 1800 in the profile quick and 21600 in full.
    title, author
        Title and author of the report; by default `TITLE` and `AUTHOR` of the first claims file that has them.
    quiet
        Print nothing on standard error during the run.

    Returns
    -------
    Verification

    Raises
    ------
    InvalidInput
        If a claim is not known, a file is refused, or a setting is out of range.

    Examples
    --------
    >>> import lipverify
    >>> ledger = lipverify.verify("softmax.split", jobs=0, quiet=True)
    >>> ledger["softmax.split"].verdict
    'supported'
    """
    for claim in claims:
        if not isinstance(claim, str | os.PathLike):
            raise InvalidInput(f"claims = {shown(claim)}: give ids and paths as text, one after the other.")
    wanted: Sequence[str] = [os.fspath(name) for name in claims]
    require_processes(jobs, limit)
    amount = profile_named(profile, a_seed(seed), backend)
    selected = select_claims(wanted, amount)
    title, author = entitled(wanted, title, author)
    settings: dict[str, Any] = {"jobs": jobs, "limit": limit or amount.limit, "title": title, "author": author}
    with nullcontext(Watch()) if quiet else _screen(selected) as watch:
        ledger = run(selected, profile=profile, seed=seed, backend=backend, **settings, watch=watch)
    return Verification(**msgspec.structs.asdict(ledger))


def _screen(selected: Sequence[Claim]) -> AbstractContextManager[Watch]:
    from lipverify.report.terminal.screen import screen  # the library that draws it is imported if something is drawn

    return screen(selected, to_stderr=True)
