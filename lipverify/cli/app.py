"""The root command, the types of option values, and the options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import App, Parameter

from lipverify.errors import InvalidInput
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import require_processes
from lipverify.foundation.version import __version__

app = App(
    name="lipverify",
    version=__version__,
    suppress_keyboard_interrupt=False,
    help="Check scaling theorems about in-context learning: measure, decide, report.\n\n"
    "Begin with `lipverify verify softmax.split`; for a theorem of yours, `lipverify new claim`.",
)


def natural(_: Any, tokens: Sequence[Any]) -> int:
    """An integer >= 0."""
    return _integer(tokens[0].value, 0)


def positive(_: Any, tokens: Sequence[Any]) -> int:
    """An integer >= 1."""
    return _integer(tokens[0].value, 1)


def naturals(_: Any, tokens: Sequence[Any]) -> list[int]:
    """Integers >= 0."""
    return [_integer(token.value, 0) for token in tokens]


def length(_: Any, tokens: Sequence[Any]) -> int | float:
    """A context length: an integer keeps every digit; any other number, such as 1e30, is a double."""
    word = tokens[0].value
    if _is_whole(word):
        return int(word)
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"{shown(word)} is not a number, such as 100 or 1e30.") from None


def _is_whole(word: str) -> bool:
    return re.fullmatch(r"[+-]?[0-9]+", word) is not None and len(word) <= 400  # no double has more digits


def _integer(word: str, least: int) -> int:
    if not _is_whole(word) or int(word) < least:
        raise ValueError(f"{shown(word)} is not an integer >= {least}.")
    return int(word)


Natural = Annotated[int, Parameter(converter=natural)]
Positive = Annotated[int, Parameter(converter=positive)]
Length = Annotated[int | float, Parameter(converter=length)]
Flag = Annotated[bool, Parameter(negative="")]
Json = Annotated[bool, Parameter(name="--json", negative="")]
Open = Annotated[bool, Parameter(name="--open", negative="")]
Lipschitz = Annotated[float, Parameter(name="--L")]
Windows = Annotated[list[float], Parameter(name="--w", consume_multiple=1, negative="")]
Integers = Annotated[list[int] | None, Parameter(converter=naturals, consume_multiple=1, negative="")]
Names = Annotated[list[str] | None, Parameter(consume_multiple=1, negative="")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ProblemOptions:
    """One problem, for `loss` and `window`.

    Parameters
    ----------
    d
        Ambient dimension, >= 2.
    n
        Context length, at least 1; exact methods take any up to 1e30.
    law
        affine, relu, cosine or quadratic; a formula such as "relu + 2*cosine(3)"; or my.py:NAME, a law in a file of
        yours (the file is code and is run).
    L
        Lipschitz constant; a formula is multiplied by it.
    sigma
        Standard deviation of the label noise.
    """

    d: Positive
    n: Length
    law: str = "relu"
    L: Lipschitz = 1.0
    sigma: float = 1.0


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """The appearance of a report.

    Parameters
    ----------
    evidence
        Add every cell, cross-check and figure to the PDF as an appendix; the web page and the ledger always have them.
    title
        Title of the report. By default the TITLE of the first claims file that has one, or that of the ledger.
    author
        Authors of the report. By default the AUTHOR of a claims file in the same way.
    open
        Show the web page in the browser.
    """

    evidence: Flag = False
    title: str | None = None
    author: str | None = None
    open: Open = False


USUAL_REPORT = ReportOptions()


@Parameter(name="*")
@dataclass(frozen=True)
class How:
    """How claims are verified: the settings that the ledger records, and the processes that measure.

    Parameters
    ----------
    profile
        quick (minutes on two cores) or full (hours).
    backend
        What draws the samples: numpy, native (needs a C compiler) or cupy (needs a GPU).
    jobs
        Number of measuring processes; one for each processor by default. 0 measures in this process, for a debugger: a
        function that exits, blocks or forks then affects the whole run.
    cluster
        Address of a running Dask scheduler, such as tcp://host:8786, whose workers measure instead of local processes.
    limit
        Longest time in seconds for one measurement; 1800 in quick and 21600 in full by default.
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
    resume: Flag = False

    def __post_init__(self) -> None:
        require_processes(self.jobs, self.limit, self.cluster)


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


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The models of the table to train, by the values of each coordinate; None for all values.

    Parameters
    ----------
    noise
        Laws of the noise, such as uniform-3 or levels-1-3; all ten by default.
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
