"""Commands about claims: verify, list, explain and falsify them, train their models, begin files of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from cyclopts import App, Parameter

from lipverify.cli.app import USUAL_REPORT, Flag, Integers, Json, Names, Natural, ReportOptions, app
from lipverify.errors import InvalidInput

LIMITS = {"quick": 1800.0, "full": 21600.0}
"""Seconds that one measurement may take, many times what any of ours does."""


@Parameter(name="*")
@dataclass(frozen=True)
class How:
    """How claims are verified: what the ledger depends on, and who measures.

    Parameters
    ----------
    profile
        quick (minutes on two cores) or full (hours).
    backend
        numpy, native or cupy; see `lipverify loss --help`.
    jobs
        Processes that measure; one a processor by default. 0 measures in this process, for a debugger: a measure that
        ends, blocks or forks its process then does so to the whole run.
    cluster
        Address of a running Dask scheduler, such as tcp://host:8786, whose workers measure in place of processes here.
    limit
        Seconds that one measurement may take before it is given up; 1800 in quick and 21600 in full by default.
    decide
        Seconds to spend on claims that are left open: more contexts, more points, another method, the cheapest first,
        for one cell that may refute a claim or for all that may support it. What each open claim needs, and at what
        cost, is said in any case; a step that did not decide is not taken again.
    seed
        Seed of all sampled evidence.
    resume
        Go on with a run that was interrupted: what it finished, with these settings and this version, is in OUT.
    """

    profile: str = "quick"
    seed: Natural = 0
    backend: str = "numpy"
    jobs: Natural | None = None
    cluster: str | None = None
    limit: float | None = None
    decide: float | None = None
    resume: Flag = False

    def __post_init__(self) -> None:
        if self.jobs is not None and self.jobs < 0:
            raise InvalidInput(f"jobs = {self.jobs}: the number of processes must be 0 (this one) or more.")
        if self.jobs is not None and self.cluster is not None:
            raise InvalidInput(f"jobs = {self.jobs} and cluster = {self.cluster!r}: give one of them.")
        if self.limit is not None and not 0 < self.limit < math.inf:
            raise InvalidInput(f"limit = {self.limit:g}: the seconds for one measurement must be positive and finite.")
        if self.jobs == 0 and self.limit is not None:
            rule = "nothing ends a measurement in this process"
            raise InvalidInput(f"jobs = 0 and limit = {self.limit:g}: {rule}; give jobs = 1, which is a process too.")
        if self.decide is not None and not 0 < self.decide < math.inf:
            raise InvalidInput(f"decide = {self.decide:g}: the seconds for open claims must be positive and finite.")

    @property
    def seconds(self) -> float:
        """What one measurement may take."""
        return self.limit if self.limit is not None else LIMITS[self.profile]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Shown:
    """What is shown beside the verdicts as they come, and whether a refuted claim is a failure.

    Parameters
    ----------
    json
        Print the ledger on standard output, and all else on standard error.
    table
        Print every claim with what it states and what was measured.
    strict
        Refuted claims also give exit code 1.
    """

    json: Json = False
    table: Flag = False
    strict: Flag = False

    def __post_init__(self) -> None:
        if self.json and self.table:
            raise InvalidInput("--json and --table: both would go to standard output; give one of them.")


AS_USUAL, USUALLY_SHOWN = How(), Shown()


@app.command
def verify(
    *ids: str,
    out: Path = Path("reports"),
    how: How = AS_USUAL,
    shown: Shown = USUALLY_SHOWN,
    report: ReportOptions = USUAL_REPORT,
) -> int:
    """Verify claims; write OUT/ledger.json, OUT/report.pdf and OUT/report.html.

    Verdicts are shown as they are made, a line a theorem; the end says what became of all of them.

    Exit codes: 0 every verdict is as recorded; 1 a verdict differs from the record or a control did not come out the
    other way (with --strict also on any refuted claim); 2 bad input; 3 a check broke.

    Parameters
    ----------
    ids
        Claims by id, by the beginning of an id up to "/" or ".", or with wildcards; all by default. Files with claims
        of your own by their paths (my_claims.py), see `lipverify new claim`; a claims file is code, and is run.
    out
        Folder for the ledger and the reports; made if it is not there.
    """
    from lipverify.cli.verify import verify_claims

    return verify_claims(ids, how, report, out, shown)


@app.command(name="list")
def list_(*ids: str, passages: Flag = False, json: Json = False) -> int:
    """List the claims with their recorded verdicts, and the counts of passages.

    A passage is what a source prints in one place: it counts once, with one outcome, however many claims it needs.

    Parameters
    ----------
    ids
        Claims or files, as for `verify`; all claims by default. With --passages also a ledger: its verdicts and grades.
    passages
        List the passages of the sources instead: where each is printed, its outcome, and what holds instead.
    json
        Print an array of objects.
    """
    from lipverify.cli.catalogue import list_claims, list_passages

    return list_passages(ids, json) if passages else list_claims(ids, json)


@app.command
def explain(id: str, /, *ids: str, json: Json = False) -> int:
    """Explain a claim: statement, kind, source, assumptions, controls and how it is decided.

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

    Searches the range that the statement speaks of: d from 2 to 50, n to 1e6, w to 1000, L and sigma a decade beyond
    their values, laws and covariates written out; any other number between its least and its largest declared value;
    text and coordinates of the control as declared. An assumption of the claim binds ("n >= 100") or is the range
    ("0 <= p <= 1"), and the last line says what was searched. Steers towards a refutation, makes what it finds as
    simple as it can, measures it again by the other exact route, by balls or by sampling where these reach it, and
    writes it as a claims file that `lipverify verify` runs. A point at which the function raises is no counterexample.
    What was found is tried first next time. Needs the extra `testing`.

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
def claim(path: Path = Path("my_claims.py"), /, *, bound: Flag = False) -> int:
    """Write a claims file to start from: a law and a claim of your own; `lipverify verify PATH` verifies it.

    Parameters
    ----------
    path
        The file; never overwritten.
    bound
        A bound on a value and a law that is only a sampler, in place of an exponent and a link.
    """
    from lipverify.cli.catalogue import write_claim

    return write_claim(path, bound)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Which models of the table, by what each coordinate may be; None for all.

    Parameters
    ----------
    noise
        Laws of the noise, such as uniform-3 or levels-1-3; all ten by default. uniform-3@5x10 is that law at another
        size, d = 5 and n = 10.
    family
        Any of DIAG, SAFE, OMEGA, LOWRANK, FULL and SAFEFULL; all by default. GD++ is searched on exact integrals.
    layers
        Depths; 1 to 7 by default.
    seeds
        Seeds of all that is drawn; 0 1 2 by default.
    """

    noise: Names = None
    family: Names = None
    layers: Integers = None
    seeds: Integers = None


ALL_MODELS = ModelOptions()


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
    backend
        native, the compiled code, or numpy; native where there is a C compiler by default.
    out
        Folder of the models, one file each; made if it is not there.
    json
        Print an array of objects instead of the table.
    """
    from lipverify.cli.train import train_models

    return train_models(id, models, backend, out, json)
