"""The commands and their options; the work is imported by the command that does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from lipverify import __version__

app = App(
    name="lipverify",
    version=__version__,
    suppress_keyboard_interrupt=False,
    help="Check scaling theorems about in-context learning: measure, decide, report.",
)

Json = Annotated[bool, Parameter(name="--json", negative="")]
Lipschitz = Annotated[float, Parameter(name="--L")]
Format = Literal["csv", "netcdf", "svg", "pdf", "tex"]
Windows = Annotated[list[float], Parameter(name="--w", consume_multiple=True, negative="")]


@app.command
def verify(
    *ids: str,
    profile: str = "quick",
    out: Path = Path("reports"),
    backend: str = "numpy",
    jobs: int | None = None,
    cluster: str | None = None,
    limit: float | None = None,
    seed: int = 0,
    json: Json = False,
    strict: Annotated[bool, Parameter(negative="")] = False,
    resume: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Verify claims; write OUT/ledger.json and OUT/report.pdf.

    Exit codes: 0 every verdict is as recorded; 1 a verdict differs from the record or a control was not
    caught (with --strict also on any refuted claim); 2 bad input; 3 a check broke.

    Parameters
    ----------
    ids
        Claims by id, by the beginning of an id up to "/" or ".", or with wildcards; all by default. Files with claims
        of your own by their paths (my_claims.py), see `lipverify new claim`; a claims file is code, and is run.
    profile
        quick (minutes on two cores) or full (hours: it trains the whole of Table 1).
    out
        Folder for the ledger and the report; made if it is not there.
    backend
        numpy, native or cupy; see `lipverify loss --help`.
    jobs
        Processes; one a processor by default.
    cluster
        Address of a running Dask scheduler, such as tcp://host:8786, whose workers measure in place of processes here.
    limit
        Seconds that one measurement may take before it is given up; 1800 in quick and 21600 in full by default.
    seed
        Seed of all sampled evidence.
    json
        Print the ledger instead of the table.
    strict
        Refuted claims also give exit code 1.
    resume
        Go on with a run that was interrupted: what it finished, with these settings and this version, is in OUT.
    """
    from lipverify.cli.verify import How, verify_claims

    how = How(profile=profile, seed=seed, backend=backend, jobs=jobs, cluster=cluster, limit=limit, resume=resume)
    return verify_claims(ids, how, out, json, strict)


@app.command(name="list")
def list_(*ids: str, json: Json = False) -> int:
    """List the claims with their recorded verdicts.

    Parameters
    ----------
    ids
        Claims or files, as for `verify`; all claims by default.
    json
        Print an array of objects.
    """
    from lipverify.cli.catalogue import list_claims

    return list_claims(ids, json)


@app.command
def explain(id: str, /, *ids: str, json: Json = False) -> int:
    """Explain a claim: statement, source, assumptions, control and how it is decided.

    Parameters
    ----------
    id
        A claim's id, the beginning of several, or a file with claims.
    ids
        More of them.
    json
        Print an array of objects.
    """
    from lipverify.cli.catalogue import explain_claims

    return explain_claims((id, *ids), json)


new = App(name="new", help="Write a commented start of a file of your own.")
app.command(new)


@new.command
def claim(path: Path = Path("my_claims.py"), /, *, bound: Annotated[bool, Parameter(negative="")] = False) -> int:
    """Write a claims file to start from: a law and a claim of your own; `lipverify verify PATH` verifies it.

    Parameters
    ----------
    path
        The file; never overwritten.
    bound
        A bound on a value and a law that is only a sampler, in place of an exponent and a link.
    """
    from lipverify.cli.new import write_claim

    return write_claim(path, bound)


@app.command
def report(ledger: Path, /, *, out: Path | None = None) -> int:
    """Typeset a ledger as PDF.

    Parameters
    ----------
    ledger
        A ledger.json that `verify` wrote.
    out
        The PDF file; report.pdf beside the ledger by default.
    """
    from lipverify.cli.verify import typeset

    return typeset(ledger, out)


@app.command
def diff(before: Path, after: Path, /, *, json: Json = False) -> int:
    """Compare two ledgers: which verdicts moved, and why.

    Exit codes: 0 nothing moved; 1 a verdict, a control, a value beyond its errors or the evidence is not what it was;
    2 bad input.

    Parameters
    ----------
    before
        A ledger.json that `verify` wrote (A).
    after
        Another (B).
    json
        Print an object.
    """
    from lipverify.cli.diff import diff_ledgers

    return diff_ledgers(before, after, json)


@app.command
def export(
    ledger: Path,
    /,
    *,
    format: Annotated[list[Format] | None, Parameter(name="--format", consume_multiple=True, negative="")] = None,
    out: Path | None = None,
) -> int:
    """Write a ledger as CSV, NetCDF, figures and LaTeX.

    Parameters
    ----------
    ledger
        A ledger.json that `verify` wrote.
    format
        Any of csv, netcdf (needs the extra `data`), svg, pdf (figures, as wide as a paper's column or page) and tex
        (a table of the verdicts); all by default.
    out
        Folder for the files; export/ beside the ledger by default, made if it is not there.
    """
    from lipverify.cli.export import export as write

    return write(ledger, format or (), out)


@app.command
def loss(
    *,
    d: int,
    n: float,
    w: Windows,
    law: str = "relu",
    L: Lipschitz = 1.0,
    sigma: float = 1.0,
    method: str = "exact",
    route: str | None = None,
    contexts: int | None = None,
    rtol: float | None = None,
    sampling: str | None = None,
    backend: str | None = None,
    jobs: int | None = None,
    seed: int = 0,
    json: Json = False,
) -> int:
    """Bias and noise of the loss at one or more windows.

    Parameters
    ----------
    d
        Ambient dimension, >= 2.
    n
        Context length, 1 to 1e30.
    w
        Windows, >= 0.
    law
        affine, relu, cosine or quadratic.
    L
        Lipschitz constant.
    sigma
        Standard deviation of the label noise.
    method
        exact, montecarlo, asymptotic or certified.
    route
        For exact: ridge or zonal, two quadratures that share nothing.
    contexts
        For montecarlo: how many contexts to draw.
    rtol
        For montecarlo: relative accuracy wanted; as many contexts are drawn as it takes.
    sampling
        For montecarlo: reduced (two numbers a token) or full (whole contexts in R^d).
    backend
        For montecarlo: numpy, native (needs a C compiler) or cupy (needs a GPU); the same points on all.
    jobs
        For montecarlo: threads; one a processor by default. They change nothing but the time.
    seed
        For montecarlo: seed of the draws.
    json
        Print an object.
    """
    from lipverify.cli.numbers import print_loss

    given = {"contexts": contexts, "rtol": rtol, "sampling": sampling, "backend": backend, "workers": jobs}
    sampled = {name: value for name, value in given.items() if value is not None} | {"seed": seed}
    return print_loss(d, n, w, law, L, sigma, method, route, sampled, json)


@app.command
def window(
    *,
    d: int,
    n: float,
    law: str = "relu",
    L: Lipschitz = 1.0,
    sigma: float = 1.0,
    json: Json = False,
) -> int:
    """The optimal window and the loss there.

    Parameters
    ----------
    d
        Ambient dimension, >= 2.
    n
        Context length, 1 to 1e30.
    law
        affine, relu, cosine or quadratic.
    L
        Lipschitz constant.
    sigma
        Standard deviation of the label noise.
    json
        Print an object.
    """
    from lipverify.cli.numbers import print_window

    return print_window(d, n, law, L, sigma, json)


@app.command
def matrix(
    *,
    d: int,
    n: float,
    law: str = "relu",
    L: Lipschitz = 1.0,
    sigma: float = 1.0,
    covariance: Annotated[list[float] | None, Parameter(consume_multiple=True, negative="")] = None,
    ball: float | None = None,
    attention: str = "softmax",
    contexts: int | None = None,
    seed: int = 0,
    json: Json = False,
) -> int:
    """The matrix M that minimises the loss, by sampling; errors are half-widths of 95 % intervals.

    Parameters
    ----------
    d
        Ambient dimension, >= 2.
    n
        Context length.
    law
        affine, relu, cosine or quadratic.
    L
        Lipschitz constant.
    sigma
        Standard deviation of the label noise.
    covariance
        Diagonal of Sigma, for covariates Sigma^{1/2} U; the sphere by default.
    ball
        Bound on the spectral norm of M, which is then symmetric; none by default.
    attention
        softmax or linear.
    contexts
        How many contexts to draw.
    seed
        Seed of the draws.
    json
        Print an object.
    """
    from lipverify.cli.matrices import print_matrix

    search = {"attention": attention, "contexts": contexts, "seed": seed}
    return print_matrix(d, n, law, L, sigma, covariance, ball, search, json)
