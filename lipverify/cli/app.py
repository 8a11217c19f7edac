"""The commands and their options; the work is imported by the command that does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from lipverify import __version__
from lipverify.cli.words import length, natural, positive

app = App(
    name="lipverify",
    version=__version__,
    suppress_keyboard_interrupt=False,
    help="Check scaling theorems about in-context learning: measure, decide, report.",
)

Natural = Annotated[int, Parameter(converter=natural)]
Positive = Annotated[int, Parameter(converter=positive)]
Length = Annotated[int | float, Parameter(converter=length)]
Json = Annotated[bool, Parameter(name="--json", negative="")]
Open = Annotated[bool, Parameter(name="--open", negative="")]
Lipschitz = Annotated[float, Parameter(name="--L")]
Format = Literal["csv", "netcdf", "svg", "pdf", "tex"]
Windows = Annotated[list[float], Parameter(name="--w", consume_multiple=True, negative="")]


@app.command
def verify(
    *ids: str,
    profile: str = "quick",
    out: Path = Path("reports"),
    backend: str = "numpy",
    jobs: Positive | None = None,
    cluster: str | None = None,
    limit: float | None = None,
    decide: float | None = None,
    seed: Natural = 0,
    json: Json = False,
    table: Annotated[bool, Parameter(negative="")] = False,
    strict: Annotated[bool, Parameter(negative="")] = False,
    resume: Annotated[bool, Parameter(negative="")] = False,
    evidence: Annotated[bool, Parameter(negative="")] = False,
    open: Open = False,
) -> int:
    """Verify claims; write OUT/ledger.json, OUT/report.pdf and OUT/report.html.

    Verdicts are shown as they are made, a line a theorem; the end says what became of all of them.

    Exit codes: 0 every verdict is as recorded; 1 a verdict differs from the record or a twin did not come out the
    other way (with --strict also on any refuted claim); 2 bad input; 3 a check broke.

    Parameters
    ----------
    ids
        Claims by id, by the beginning of an id up to "/" or ".", or with wildcards; all by default. Files with claims
        of your own by their paths (my_claims.py), see `lipverify new claim`; a claims file is code, and is run.
    profile
        quick (minutes on two cores) or full (hours).
    out
        Folder for the ledger and the reports; made if it is not there.
    backend
        numpy, native or cupy; see `lipverify loss --help`.
    jobs
        Processes; one a processor by default.
    cluster
        Address of a running Dask scheduler, such as tcp://host:8786, whose workers measure in place of processes here.
    limit
        Seconds that one measurement may take before it is given up; 1800 in quick and 21600 in full by default.
    decide
        Seconds to spend on claims that are left open: more contexts, more points, another method, the cheapest first.
        What each open claim needs, and at what cost, is said in any case.
    seed
        Seed of all sampled evidence.
    json
        Print the ledger on standard output, and all else on standard error.
    table
        Print every claim with what it states and what was measured.
    strict
        Refuted claims also give exit code 1.
    resume
        Go on with a run that was interrupted: what it finished, with these settings and this version, is in OUT.
    evidence
        Add every cell, cross-check and figure to the PDF, as an appendix; the web page and the ledger have them anyway.
    open
        Show OUT/report.html in the browser.
    """
    from lipverify.cli.verify import How, Shown, verify_claims

    measured = {
        "profile": profile,
        "seed": seed,
        "backend": backend,
        "jobs": jobs,
        "cluster": cluster,
        "limit": limit,
        "decide": decide,
    }
    how = How(**measured, resume=resume, evidence=evidence)  # type: ignore[arg-type]
    return verify_claims(ids, how, out, Shown(json=json, table=table, strict=strict, open=open))


@app.command(name="list")
def list_(*ids: str, json: Json = False) -> int:
    """List the claims with their recorded verdicts, and the counts of printed statements.

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
    """Explain a claim: statement, kind, source, assumptions, twins and how it is decided.

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


@app.command
def prove(
    *ids: str,
    law: str | None = None,
    d: Annotated[list[int] | None, Parameter(consume_multiple=True, negative="")] = None,
    least_lambda: float | None = None,
    least_tokens: float | None = None,
    out: Path | None = None,
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
    json
        Print an array of proofs.
    """
    from lipverify.cli.prove import Wanted, prove_claims

    return prove_claims(Wanted(ids, law, d, least_lambda, least_tokens), out, json)


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

    Draws the coordinates of `over` (laws written out, d, n, w, sigma, ...), steers towards a refutation, makes what it
    finds as simple as it can, measures it again by the other exact route, by balls or by sampling where these reach it,
    and writes it as a claims file that `lipverify verify` runs. What was found is tried first next time. Whatever is
    found counts only where the claim is meant to hold: `search=` of the claim says where that is. Needs the extra
    `testing`.

    Exit codes: 0 no counterexample; 1 one or more; 2 bad input; 3 nothing could be measured, or two methods disagree.

    Parameters
    ----------
    file
        A file with claims; it is code, and is run.
    id
        One of its claims by id, or the beginning of several; all by default.
    seconds
        For each claim.
    seed
        Seed of what is drawn.
    out
        Folder for the counterexamples; made if it is not there.
    json
        Print an array of objects.
    """
    from lipverify.cli.falsify import falsify_claims

    return falsify_claims(file, id, seconds, seed, out, json)


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
def train(
    id: str,
    /,
    *,
    noise: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    family: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    layers: Annotated[list[int] | None, Parameter(consume_multiple=True, negative="")] = None,
    seeds: Annotated[list[int] | None, Parameter(consume_multiple=True, negative="")] = None,
    backend: str | None = None,
    out: Path = Path("models"),
    json: Json = False,
) -> int:
    """Train the models that claims rest on, from nothing: `lipverify train lt.table-1 --noise uniform-3 --layers 1 2`.

    The models that come with lipverify are data, which `verify` evaluates and never trains. This makes them anew, each
    after those that it is grown from, and says whether the weights are the same, bit for bit (as on the machine, with
    the libraries and with the compiler that the file names), or by how much the loss differs. The same command goes on
    where it was stopped.

    Cost, in processor time with a C compiler: a few seconds for a layer or two, a minute for a diagonal model of seven,
    some minutes for free matrices of seven; five times that without one. The time of each model is in its file.

    Parameters
    ----------
    id
        What the models are for: lt.table-1; or softmax.norm-growth, softmax.trained-form or lowrank.nonlinear, all of
        whose trainings are made anew.
    noise
        Laws of the noise, such as uniform-3 or levels-1-3; all ten by default. uniform-3@5x10 is that law at another
        size, d = 5 and n = 10.
    family
        Any of DIAG, SAFE, OMEGA, LOWRANK, FULL and SAFEFULL; all by default. GD++ is searched on exact integrals.
    layers
        Depths; 1 to 7 by default.
    seeds
        Seeds of all that is drawn; 0 1 2 by default.
    backend
        native, the compiled kernel, or numpy; native where there is a C compiler by default.
    out
        Folder of the models, one file each; made if it is not there.
    json
        Print an array of objects instead of the table.
    """
    from lipverify.cli.train import Which, train_models

    return train_models(id, Which(noise, family, layers, seeds), backend, out, json)


@app.command
def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print what makes a shell complete commands and ids: `source <(lipverify completion bash)`.

    Parameters
    ----------
    shell
        Whose completion it is.
    """
    from lipverify.cli.completion import SHELLS

    print(SHELLS[shell], end="")
    return 0


@app.command(show=False)
def complete(word: str = "", /) -> int:
    """Print what a word may become; shells call this.

    Parameters
    ----------
    word
        The beginning of a command, of a stem or of an id.
    """
    from lipverify.cli.completion import candidates

    for candidate in candidates(word, tuple(name for name in app if not name.startswith("-"))):
        print(candidate)
    return 0


@app.command
def report(
    ledger: Path,
    /,
    *,
    html: Annotated[bool, Parameter(negative="")] = False,
    out: Path | None = None,
    evidence: Annotated[bool, Parameter(negative="")] = False,
    open: Open = False,
) -> int:
    """Make a report of a ledger: a PDF (two pages for anyone, a page for each theorem), or with --html a web page.

    Parameters
    ----------
    ledger
        A ledger.json that `verify` wrote.
    html
        A web page, with filters, a link to every claim and all its evidence, in place of the PDF.
    out
        The file; report.pdf or report.html beside the ledger by default. A name that ends in .html asks for a web page.
    evidence
        Add every cell, cross-check and figure to the PDF, as an appendix; a web page and the ledger have them anyway.
    open
        Show the web page in the browser; implies --html.
    """
    from lipverify.cli.reports import report_on

    return report_on(ledger, out, html, evidence, open)


@app.command
def audit(ledger: Path, /, *, json: Json = False) -> int:
    """Judge a ledger again from its own data: every verdict, margin, twin and grade.

    Exit codes: 0 all of it follows; 1 something does not; 2 bad input.

    Parameters
    ----------
    ledger
        A ledger.json that `verify` wrote.
    json
        Print an array of differences.
    """
    from lipverify.cli.audit import audit_ledger

    return audit_ledger(ledger, json)


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
    ledger: Path = Path("reports/ledger.json"),
    /,
    *,
    format: Annotated[list[Format] | None, Parameter(name="--format", consume_multiple=True, negative="")] = None,
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
        (lipverify.sty, theorems.tex, verdicts.tex); all by default.
    latex
        Folder for what a paper needs, and nothing else: the same as --format tex --out FOLDER.
    out
        Folder for the files; export/ beside the ledger by default, made if it is not there.
    """
    from lipverify.cli.export import export as write

    return write(ledger, ("tex",) if latex is not None else format or (), out if latex is None else latex)


@app.command
def loss(
    *,
    d: Positive,
    n: Length,
    w: Windows,
    law: str = "relu",
    L: Lipschitz = 1.0,
    sigma: float = 1.0,
    method: str = "exact",
    route: str | None = None,
    contexts: Positive | None = None,
    rtol: float | None = None,
    sampling: str | None = None,
    backend: str | None = None,
    jobs: Positive | None = None,
    seed: Natural = 0,
    json: Json = False,
) -> int:
    """Bias and noise of the loss at one or more values of w.

    Parameters
    ----------
    d
        Ambient dimension, >= 2.
    n
        Context length, 1 to 1e30.
    w
        Values of w, >= 0, the inverse squared width of the window: w grows, the window narrows.
    law
        affine, relu, cosine or quadratic; one that is written out, "relu + 2*cosine(3)"; or my.py:NAME, a law of a file
        of yours (which is code, and is run).
    L
        Lipschitz constant; what is written out is multiplied by it.
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
    d: Positive,
    n: Length,
    law: str = "relu",
    L: Lipschitz = 1.0,
    sigma: float = 1.0,
    json: Json = False,
) -> int:
    """The w* that minimises the loss, whose window is about w*^{-1/2} wide, and the loss there.

    Parameters
    ----------
    d
        Ambient dimension, >= 2.
    n
        Context length, 1 to 1e30.
    law
        affine, relu, cosine or quadratic; one that is written out, "relu + 2*cosine(3)"; or my.py:NAME, a law of a file
        of yours (which is code, and is run).
    L
        Lipschitz constant; what is written out is multiplied by it.
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
    d: Positive,
    n: Length,
    law: str = "relu",
    L: Lipschitz = 1.0,
    sigma: float = 1.0,
    covariance: Annotated[list[float] | None, Parameter(consume_multiple=True, negative="")] = None,
    ball: float | None = None,
    attention: str = "softmax",
    contexts: Positive = 640,
    seed: Natural = 0,
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
        affine, relu, cosine or quadratic; one that is written out, "relu + 2*cosine(3)"; or my.py:NAME, a law of a file
        of yours (which is code, and is run).
    L
        Lipschitz constant; what is written out is multiplied by it.
    sigma
        Standard deviation of the label noise.
    covariance
        Diagonal of Sigma, for covariates Sigma^{1/2} U; the sphere by default.
    ball
        Bound on the spectral norm of M, which is then symmetric; none by default.
    attention
        softmax or linear.
    contexts
        How many contexts to draw, >= 640: a first look takes a second; and 64000 have a tenth of its error.
    seed
        Seed of the draws.
    json
        Print an object.
    """
    from lipverify.cli.matrices import print_matrix

    search = {"attention": attention, "contexts": contexts, "seed": seed}
    return print_matrix(d, n, law, L, sigma, covariance, ball, search, json)
