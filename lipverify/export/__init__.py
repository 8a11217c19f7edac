"""Export a ledger as tables, labelled arrays, figures and LaTeX.

`rows` makes tables of the ledger and writes them as CSV. `arrays` writes NetCDF, `figures` SVG and PDF, and `package`
LaTeX.
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
    """Write a ledger in other formats; each file appears whole or not at all and replaces an older one.

    All contents are made and all targets checked before the first file is written, so a refusal leaves no files.

    Parameters
    ----------
    ledger
        The ledger.
    folder
        An existing folder.
    formats
        ``"csv"``: cells.csv, claims.csv, cross_checks.csv, curves.csv, heat_maps.csv. ``"netcdf"``: cells.nc with one
        group for each statement. ``"svg"``, ``"pdf"``: figures/, with a list in figures.csv. ``"tex"``: lipverify.sty,
        theorems.tex, verdicts.tex.

    Returns
    -------
    The files that were written.

    Raises
    ------
    InvalidInput
        If a format is not known, a target exists and is not a regular file, or `netcdf` is requested without the extra
        `data`.
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
