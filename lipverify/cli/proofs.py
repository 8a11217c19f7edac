"""Commands about proofs: print one, and check one."""

from __future__ import annotations

from pathlib import Path

from lipverify.cli.app import Integers, Json, app


@app.command
def prove(
    *ids: str,
    law: str | None = None,
    d: Integers = None,
    least_lambda: float | None = None,
    least_tokens: float | None = None,
    out: Path | None = None,
    coq: Path | None = None,
    json: Json = False,
) -> int:
    """Prove the theorem behind a claim, with explicit constants: statement, lemmas, constants, time.

    Without a claim or a law it lists what can be proved.

    Exit codes: 0 all are proved; 1 one is out of reach; 2 bad input.

    Parameters
    ----------
    ids
        Claims by id or the beginning of it: those about noise, bias, optimal window and generalization in every
        dimension, and any that rests on a proof file.
    law
        The window theorem of this law: affine, relu, cosine or quadratic; one that is written out; or my.py:NAME, where
        NAME says what it is, as Ridge(Pieces(...)), Matern(nu=...) or Zonal(spectrum=...) do.
    d
        Ambient dimensions; for windows 2, 3 and 5 by default, for other claims all that they are about.
    least_lambda
        Of a window theorem: the least Lambda = n L^2 / sigma^2.
    least_tokens
        K: the theorem is about n >= K W^((d-1)/2 + max(beta, 1) - 1), W = Lambda^(1/((d-1)/2 + beta)).
    out
        Folder for the proof files; made if it is not there. None are written by default.
    coq
        A file for the proof assistant Coq, as affine_3.v: windows, envelopes, tradeoffs and transfers of smooth laws
        and two theorems on linear transformers, where numbers and algebra are proved and facts of analysis are named
        hypotheses; and claims that are algebra whole, as lt.momentum/printed. coqc compiles it first; what it does not
        accept is not written.
    json
        Print an array of proofs.
    """
    from lipverify.cli.prove import Wanted, prove_claims

    return prove_claims(Wanted(ids, law, d, least_lambda, least_tokens), out, coq, json)


@app.command
def check_proof(file: Path, /, *files: Path) -> int:
    """Certify proof files again, in a process with python-flint and the standard library alone.

    Exit codes: 0 all are proofs; 1 something does not follow; 2 a file cannot be read.

    Parameters
    ----------
    file
        A proof file, from `lipverify prove --out` or checks/proofs.
    files
        More of them.
    """
    from lipverify.cli.prove import check_files

    return check_files((file, *files))
