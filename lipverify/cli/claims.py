"""Commands about claims: verify, list, explain and falsify them, train their models, and start a claims file."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from lipverify.cli.app import (
    ALL_MODELS,
    AS_USUAL,
    USUAL_OUTPUT,
    USUAL_REPORT,
    Flag,
    How,
    Json,
    ModelOptions,
    Natural,
    Output,
    ReportOptions,
    app,
)


@app.command
def verify(
    *ids: str,
    out: Path = Path("reports"),
    how: How = AS_USUAL,
    output: Output = USUAL_OUTPUT,
    report: ReportOptions = USUAL_REPORT,
) -> int:
    """Verify claims; write OUT/ledger.json, OUT/report.pdf and OUT/report.html.

    Verdicts are printed as they are made, one line for each theorem, and at the end what is false, open or broken.

    Exit codes: 0 every verdict is as recorded; 1 a verdict differs from the record or a control did not get the
    opposite verdict (with --strict also on any refuted claim); 2 bad input; 3 a check broke.

    Parameters
    ----------
    ids
        Claims by id, by the beginning of an id up to "/" or ".", or with wildcards; all by default. Your own claims by
        the path of their file (my_claims.py), see `lipverify new claim`; a claims file is code and is run.
    out
        Folder for the ledger and the reports; created if missing.
    """
    from lipverify.cli.verify import verify_claims

    return verify_claims(ids, how, report, out, output)


@app.command(name="list")
def list_(*ids: str, passages: Flag = False, json: Json = False) -> int:
    """List the claims with their recorded verdicts, and the counts of passages.

    A passage is one statement printed in one place of a source. It counts once, with one outcome, however many claims
    it needs.

    Parameters
    ----------
    ids
        Claims or files, as for `verify`; all claims by default. With --passages also a ledger, for its verdicts and
        grades.
    passages
        List the passages of the sources instead: the place of each, its outcome, and the statement that holds instead.
    json
        Print an array of objects.
    """
    from lipverify.cli.catalogue import list_claims, list_passages

    return list_passages(ids, json) if passages else list_claims(ids, json)


@app.command
def explain(id: str, /, *ids: str, json: Json = False) -> int:
    """Explain a claim: statement, kind, source, assumptions, controls and method.

    Parameters
    ----------
    id
        A claim's id, the beginning of several, or a file with claims. After the path of a ledger: what it says of them,
        with grades, their reasons and the sentences of theorems.
    ids
        More ids or files.
    json
        Print an array of objects.
    """
    from lipverify.cli.catalogue import explain_claims

    return explain_claims((id, *ids), json)


@app.command
def falsify(
    file: str,
    id: str | None = None,
    /,
    *,
    seconds: float = 60.0,
    seed: Natural = 0,
    out: Path = Path("counterexamples"),
    json: Json = False,
) -> int:
    """Search the claims of a file for counterexamples, beyond the points at which they are measured.

    The search covers the range of the statement: d from 2 to 50, n to 1e6, w to 1000, L and sigma a decade beyond
    their values, laws and covariates as formulas; any other number between its least and its largest declared value;
    text and coordinates of the control as declared. An assumption of the claim restricts the range ("n >= 100") or
    sets it ("0 <= p <= 1"), and the last line prints the searched range. The search moves towards a refutation,
    simplifies a counterexample, measures it again by the other exact route, by balls or by sampling where these apply,
    and writes it as a claims file that `lipverify verify` runs. A point at which the function raises is no
    counterexample. Needs the extra `testing`.

    Exit codes: 0 no counterexample; 1 one or more; 2 bad input; 3 nothing could be measured, or two methods disagree.

    Parameters
    ----------
    file
        A claims file; it is code and is run.
    id
        The id of a claim in the file, or the beginning of several; all by default.
    seconds
        Duration of the search for each claim.
    seed
        Seed of the search.
    out
        Folder for the counterexamples; created if missing.
    json
        Print an array of objects.
    """
    from lipverify.cli.falsify import falsify_claims

    return falsify_claims(file, id, seconds, seed, out, json)


new = App(name="new", help="Write a commented template of a claims file.")
app.command(new)


@new.command
def claim(path: Path = Path("my_claims.py"), /, *, bound: Flag = False) -> int:
    """Write a claims file with a law and a claim to start from; `lipverify verify PATH` verifies it.

    Parameters
    ----------
    path
        The new file; an existing file is never overwritten.
    bound
        Start from a bound on a value and a law given by a sampler, instead of an exponent and a link.
    """
    from lipverify.cli.catalogue import write_claim

    return write_claim(path, bound)


@app.command
def train(
    id: str,
    /,
    *,
    models: ModelOptions = ALL_MODELS,
    backend: str | None = None,
    out: Path = Path("models"),
    json: Json = False,
) -> int:
    """Train the models that claims rest on, from scratch: `lipverify train lt.table-1 --noise uniform-3 --layers 1 2`.

    The models that come with lipverify are data, which `verify` evaluates and never trains. This command trains them
    again, each after the models that it is grown from. It reports whether the weights are the same bit for bit, once
    rounded as those are (as on the machine, with the libraries and with the compiler that the file names), or by how
    much the loss differs. The same command continues a stopped training.

    Cost, in processor time with a C compiler: a few seconds for a layer or two, a minute for a diagonal model with
    seven, some minutes for free matrices with seven; five times that without a compiler. The time of each model is in
    its file.

    Parameters
    ----------
    id
        The claims that use the models: lt.table-1.
    backend
        native, the compiled code, or numpy; native by default if there is a C compiler.
    out
        Folder of the models, one file each; created if missing.
    json
        Print an array of objects instead of the table.
    """
    from lipverify.cli.train import train_models

    return train_models(id, models, backend, out, json)
