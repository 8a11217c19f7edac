"""Commands about claims: verify, list, explain and falsify them, train their models, and start a claims file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from cyclopts import App, Parameter

from lipverify.cli.app import USUAL_REPORT, Flag, Integers, Json, Names, Natural, ReportOptions, app
from lipverify.errors import InvalidInput

LIMITS = {"quick": 1800.0, "full": 21600.0}
"""Longest time in seconds for one measurement, many times the slowest one of lipverify's own claims."""


@Parameter(name="*")
@dataclass(frozen=True)
class How:
    """How claims are verified: the settings that the ledger records, and the processes that measure.

    Parameters
    ----------
    profile
        quick (minutes on two cores) or full (hours).
    backend
        numpy, native or cupy; see `lipverify loss --help`.
    jobs
        Number of measuring processes; one for each processor by default. 0 measures in this process, for a debugger: a
        function that exits, blocks or forks then affects the whole run.
    cluster
        Address of a running Dask scheduler, such as tcp://host:8786, whose workers measure instead of local processes.
    limit
        Longest time in seconds for one measurement; 1800 in quick and 21600 in full by default.
    decide
        Seconds to spend on open claims: more contexts, more points or another method, the cheapest step first, for one
        cell that may refute a claim or for all cells that may support it. The next step of each open claim and its
        cost are printed in any case. A step that did not decide is not repeated.
    seed
        Seed of all sampled evidence.
    resume
        Continue an interrupted run: OUT keeps its finished measurements for the same settings and version.
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
        """Longest time in seconds for one measurement."""
        return self.limit if self.limit is not None else LIMITS[self.profile]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Output:
    """The output in addition to the verdicts, and whether a refuted claim is a failure.

    Parameters
    ----------
    json
        Print the ledger on standard output, and everything else on standard error.
    table
        Print every claim with its claimed value and its measured value.
    strict
        Refuted claims also give exit code 1.
    """

    json: Json = False
    table: Flag = False
    strict: Flag = False

    def __post_init__(self) -> None:
        if self.json and self.table:
            raise InvalidInput("--json and --table: both would go to standard output; give one of them.")


AS_USUAL, USUAL_OUTPUT = How(), Output()


@app.command
def verify(
    *ids: str,
    out: Path = Path("reports"),
    how: How = AS_USUAL,
    output: Output = USUAL_OUTPUT,
    report: ReportOptions = USUAL_REPORT,
) -> int:
    """Verify claims; write OUT/ledger.json, OUT/report.pdf and OUT/report.html.

    Verdicts are printed as they are made, one line for each theorem, and a summary at the end.

    Exit codes: 0 every verdict is as recorded; 1 a verdict differs from the record or a control did not come out the
    other way (with --strict also on any refuted claim); 2 bad input; 3 a check broke.

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
        A claim's id, the beginning of several, or a file with claims.
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
    their values, written-out laws and covariates; any other number between its least and its largest declared value;
    text and coordinates of the control as declared. An assumption of the claim restricts the range ("n >= 100") or
    sets it ("0 <= p <= 1"), and the last line prints the searched range. The search moves towards a refutation,
    simplifies a counterexample, measures it again by the other exact route, by balls or by sampling where these apply,
    and writes it as a claims file that `lipverify verify` runs. A point at which the function raises is no
    counterexample. The next search tries known counterexamples first. Needs the extra `testing`.

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


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The models of the table to train, by the values of each coordinate; None for all values.

    Parameters
    ----------
    noise
        Laws of the noise, such as uniform-3 or levels-1-3; all ten by default. uniform-3@5x10 is the same law for
        d = 5 and n = 10.
    family
        Any of DIAG, SAFE, OMEGA, LOWRANK, FULL and SAFEFULL; all by default. GD++ is not trained: its optimum comes
        from exact integrals.
    layers
        Numbers of layers; 1 to 7 by default.
    seeds
        Seeds of the random starts and contexts; 0 1 2 by default.
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
