"""Commands about proofs: print a proof, and check a proof file."""

from __future__ import annotations

from pathlib import Path

from lipverify.cli.app import Integers, Json, app


@app.command
def prove(
    *ids: str,
    law: str | None = None,
    d: Integers = None,
    out: Path | None = None,
    json: Json = False,
) -> int:
    """Prove the theorem behind a claim, with explicit constants: statement, lemmas, constants, time.

    Without a claim or a law, list what can be proved.

    Exit codes: 0 all are proved; 1 a theorem is out of reach, or no proof file is behind the claims; 2 bad input.

    Parameters
    ----------
    ids
        Claims by id or the beginning of an id, that rest on a proof file or are proved by one that does.
    law
        The window theorem of this law: affine, relu, cosine or quadratic; a formula; or my.py:NAME, a law whose
        definition is explicit, such as Ridge(Pieces(...)), Matern(nu=...) or Zonal(spectrum=...).
    d
        Ambient dimensions; by default 2, 3 and 5 of a law, and all dimensions of a claim.
    out
        Folder for the proof files; created if missing. By default none are written.
    json
        Print an array of proofs.
    """
    from lipverify.cli.prove import Wanted, prove_claims

    return prove_claims(Wanted(ids, law, d), out, json)


@app.command
def check_proof(file: Path, /, *files: Path) -> int:
    """Certify proof files again, in a process with python-flint and the standard library alone.

    Exit codes: 0 all are proofs; 1 something does not follow; 2 a file cannot be read.

    Parameters
    ----------
    file
        A proof file, from `lipverify prove --out` or checks/proofs.
    files
        More proof files.
    """
    from lipverify.cli.prove import check_files

    return check_files((file, *files))
