"""Data out: a ledger as tables, labelled arrays, figures and LaTeX, for use elsewhere.

`rows` lays the ledger out as tables, and every format writes what it finds there: `comma_separated` as CSV,
`arrays` as NetCDF, `figures` as SVG and PDF, `package` and `verdicts` as LaTeX.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lipverify.foundation.lazy import directory

if TYPE_CHECKING:
    from lipverify.claims.ledger.record import Ledger

__all__ = ["FORMATS", "export_ledger"]
__dir__ = directory(__name__)

FORMATS = ("csv", "netcdf", "svg", "pdf", "tex")


def export_ledger(ledger: Ledger, folder: Path, formats: Sequence[str] = FORMATS) -> tuple[Path, ...]:
    """Write a ledger in other formats; every file appears whole or not at all, in place of an older one.

    All are made, and all their targets asked, before the first is written: a refusal leaves nothing behind.

    Parameters
    ----------
    ledger
        What to write.
    folder
        Where; it must be there.
    formats
        ``"csv"``: cells.csv, claims.csv, cross_checks.csv, curves.csv, heat_maps.csv. ``"netcdf"``: cells.nc, a group a
        statement. ``"svg"``, ``"pdf"``: figures/, and figures.csv says what each file shows. ``"tex"``: lipverify.sty,
        theorems.tex, verdicts.tex.

    Returns
    -------
    The files that were written.

    Raises
    ------
    InvalidInput
        If a format is not known, a target is no regular file, or `netcdf` is asked for and the extra `data` is not
        installed.
    OSError
        If a file cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> from lipverify.claims.ledger.record import Ledger, Provenance
    >>> made = Provenance(versions={}, machine="", started="2025-01-01T00:00:00Z", seconds=0.0)
    >>> empty = Ledger(profile="quick", seed=0, backend="numpy", provenance=made, claims=())
    >>> with TemporaryDirectory() as name:
    ...     [path.name for path in export_ledger(empty, Path(name), ["tex"])]
    ['lipverify.sty', 'theorems.tex', 'verdicts.tex']
    """
    from lipverify.errors import InvalidInput
    from lipverify.export.files import files
    from lipverify.foundation.files import require_targets, write_whole

    for name in formats:
        if name not in FORMATS:
            raise InvalidInput(f"format = {name!r}: not one of {', '.join(FORMATS)}.")
    if "netcdf" in formats:
        from lipverify.export.arrays import require_libraries

        require_libraries()
    made = {folder / name: content for name, content in files(ledger, [each for each in FORMATS if each in formats])}
    require_targets("out", made)
    for path in made:
        path.parent.mkdir(exist_ok=True)
    for path, content in made.items():
        write_whole(path, content)
    return tuple(made)
