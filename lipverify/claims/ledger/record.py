"""The ledger: everything that a run found, as one JSON file that the report is made from."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from lipverify.claims.ledger.figure import Figure, Layer, Number, read_back
from lipverify.claims.ledger.symbols import Scalar, said
from lipverify.claims.ledger.verdict import OTHER_WAY, Allowed, Interval, Verdict, decide
from lipverify.errors import InvalidInput
from lipverify.foundation.files import content, write_whole
from lipverify.foundation.ladder import ASSUMPTION, ladder
from lipverify.foundation.quoting import shown as quoted
from lipverify.foundation.showing import Shown, axes, table

FORMAT = "lipverify-ledger-3"
Kind = Literal["printed", "convention", "stronger", "derived", "sharp"]
KINDS: dict[Kind, str] = {
    "printed": "the statement for the very law, range and convention of its source",
    "convention": "a reading that the source leaves open",
    "stronger": "nobody printed it: another law, every window, every n, ...",
    "derived": "what follows from what the source prints",
    "sharp": "the exact rate or value",
}
"""What a claim is beside its source; only what is printed counts for or against a paper."""
Grade = Literal["proved", "bounded", "extrapolated", "sampled", "estimated", "observed"]
GRADES: dict[Grade, str] = {
    "proved": "a proof that the tool made or checked: computer algebra, exact numbers, balls, a proof file",
    "bounded": "an error bound that a method of lipverify made",
    "extrapolated": f"a limit, from local slopes over many decades: right {ASSUMPTION}",
    "sampled": "an interval at 95 %",
    "estimated": "an error that nobody bounded, or that the claim's own function states",
    "observed": "training, with the spread of its seeds",
}
"""What stands behind a number, the strongest first; a claim has the weakest grade of its cells."""
Exact = Literal["symbolic", "fraction", "ball", "proof file"]
WHOLE = ("n", "d")
"""What grows through whole numbers: tokens and dimensions."""
_MESSAGE = 200
"""Letters that an error may quote of a file."""


class Source(msgspec.Struct, frozen=True):
    """Where a claim comes from, and what is printed there (text that may hold `$LaTeX$`).

    Claims with the same paper and place are of one passage, which counts once (`lipverify.claims.ledger.outcomes`).

    Attributes
    ----------
    paper
        The paper, or its letter.
    place
        A theorem, lemma, display, figure, table or sentence; may hold `$LaTeX$`.
    printed
        What is printed there.

    >>> Source("My notes", "Theorem 1", "$w^*$ grows with $n$").place
    'Theorem 1'
    """

    paper: str
    place: str
    printed: str


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """Where a claim stands in the report: its section, and the title that all readings of it share.

    Attributes
    ----------
    section
        A title of the report's contents.
    title
        The title that the readings share.
    """

    section: str
    title: str


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A small table of a claim, such as constants that were derived; its text may hold `$LaTeX$`.

    Attributes
    ----------
    caption
        Text below it.
    header, rows
        Cells as text.
    layer
        The layer of a report that shows it: a long one stands with the evidence.

    >>> Table(caption="Constants.", header=("d", "k"), rows=(("2", "0.5"),)).layer
    'theorem'
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    layer: Layer = "theorem"


class Ray(msgspec.Struct, frozen=True):
    """What grows, from where to where, on how many points.

    Attributes
    ----------
    along
        The coordinate that grows.
    start, stop
        Its ends, in its own units.
    points
        How many points, a constant factor apart.

    >>> str(Ray("n", 1e4, 1e30, 12))
    'n from 10000 to 1e+30 in 12 points'
    """

    along: str
    start: float
    stop: float
    points: int

    def __str__(self) -> str:
        return f"{self.along} from {self.start:g} to {self.stop:g} in {self.points} points"

    @property
    def ladder(self) -> tuple[float, ...]:
        """The points; those of n and of d are whole numbers.

        Raises
        ------
        InvalidInput
            If no limit could be seen on them: fewer than 8, or less than two decades.
        """
        rungs = ladder(self.start, self.stop, self.points)
        return tuple(dict.fromkeys(float(round(s)) for s in rungs)) if self.along in WHOLE else rungs


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """The false control of a claim; caught if the control of every cell comes out the other way.

    Attributes
    ----------
    statement
        The near statement in plain text.
    caught
        Whether it came out the other way in every cell.
    latex
        The statement as text that may hold `$LaTeX$`; empty where there is none.
    """

    statement: str
    caught: bool
    latex: str = ""


class CellControl(msgspec.Struct, frozen=True, kw_only=True):
    """The control of a cell: the claim with one thing changed, which must come out the other way.

    Beside a cell that supports the claim it is false and must be refuted; beside one that refutes it, it is true and
    must be supported.

    Attributes
    ----------
    says
        What it states of the quantity, such as "≥ 0.54".
    low, high, open
        The range that it allows, in units of the quantity; None is unbounded, `open` leaves the ends out.
    edges
        That range as formulas in the coordinates, by name (low, high, equals, within), where these say it all.
    interval
        What was measured for it, in units of the quantity: the cell's own interval, unless another object was measured.
    verdict
        What the interval says of it.
    expects
        What it must be: "refuted" for a false control, "supported" for a true one.
    margin
        Distance from the interval to the edge, in units of the quantity: positive inside; None where no edge is finite.
    quantity
        What the numbers are of, where that is not the quantity of the cell.
    unnoticed
        Distance of its edge from the claim's, in units of the quantity: a smaller error could go unnoticed. None where
        something else was measured for it.
    """

    says: str
    low: float | None = None
    high: float | None = None
    open: bool = False
    edges: dict[str, str] = {}
    interval: Interval
    verdict: Verdict
    expects: Verdict = "refuted"
    margin: float | None
    quantity: str = ""
    unnoticed: float | None = None

    @property
    def allowed(self) -> Allowed:
        """The range that the control allows."""
        return Allowed(low=self.low, high=self.high, open=self.open)


class ProofRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What proves a number: an exact result that the library saw when its function returned it, or a proof file.

    Attributes
    ----------
    kind
        "symbolic", "fraction", "ball" or "proof file".
    statement
        The exact value as text; of a file, its theorem in words.
    digest
        SHA-256 of the statement, 64 hexadecimal digits; of a proof file that of the file, of several one a line.
    symbols
        The symbols that stand for all their values.
    """

    kind: Exact
    statement: str
    digest: str
    symbols: tuple[str, ...] = ()


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of evidence: what was measured where, its error, and its own verdict.

    Attributes
    ----------
    where
        The coordinates that tell this cell apart: `d`, `law`, ...
    given
        What its function was given beside these.
    ray
        What grew, where a limit was taken; else None.
    quantity, quantity_latex
        What was measured: plain text, and text that may hold `$LaTeX$`.
    method
        What ran, or the word of the claim where that says no more.
    grade
        What stands behind the number.
    measured, error
        The number and its half-width, in units of the quantity; None where nothing finite is known.
    interval
        What the verdict is made from: measured ± error, unless the note says how it was narrowed.
    claimed, claimed_latex
        What is claimed of it: plain text, and text that may hold `$LaTeX$`.
    allowed
        The values that the claim allows, in units of the quantity.
    edges
        That range as formulas in the coordinates, by name, where these say it all.
    verdict
        What the interval says of the claim; inconclusive unless the control comes out the other way.
    margin
        Distance from the interval to the edge, in units of the quantity: positive inside, negative outside, 0 across
        it; None where no edge is finite.
    control
        The claim with one thing changed, on the same evidence.
    note
        What the verdict rests on beside the interval, in words.
    proof
        What proves the number, where it is proved; else None.
    """

    where: dict[str, Scalar]
    given: dict[str, Scalar] = {}
    ray: Ray | None = None
    quantity: str
    method: str
    grade: Grade
    measured: float | None
    error: float | None
    interval: Interval
    claimed: str
    allowed: Allowed
    edges: dict[str, str] = {}
    verdict: Verdict
    margin: float | None
    control: CellControl
    note: str = ""
    quantity_latex: str = ""
    claimed_latex: str = ""
    proof: ProofRecord | None = None

    def __post_init__(self) -> None:
        if self.grade == "proved" and self.proof is None:
            rule = "only a proof that the library saw makes a cell proved"
            raise ValueError(f"grade = 'proved' of {self.quantity} without a proof; {rule}.")

    @property
    def alone(self) -> Verdict:
        """What the interval says of the claim, before the control is looked at."""
        return decide(self.interval, self.allowed)

    @property
    def caught(self) -> bool:
        """True if the control came out the other way."""
        return self.control.verdict == self.control.expects

    @property
    def uncontrolled(self) -> bool:
        """True if the control came out as the claim did: it holds too, or fails too, so it is no control."""
        return self.alone in OTHER_WAY and self.control.verdict == self.alone


class CrossCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The same number by two methods: they agree, or the claim is not decided.

    Attributes
    ----------
    where
        The coordinates at which both measured.
    quantity, quantity_latex
        What both give: plain text, and text that may hold `$LaTeX$`.
    methods
        What tells the two apart: what ran, else the names of the functions, else the quantities that were read.
    values, errors
        The two numbers and their half-widths, in units of the quantity.
    agrees
        Whether they differ by no more than twice their errors together.
    """

    where: dict[str, Scalar]
    quantity: str
    methods: tuple[str, str]
    values: tuple[Number, Number]
    errors: tuple[Number, Number]
    agrees: bool
    quantity_latex: str = ""

    def __post_init__(self) -> None:
        read_back(self, "values", "errors")


What = Literal["contexts", "points", "method"]
Route = Literal["refute", "support"]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What would decide an open claim next.

    Attributes
    ----------
    route
        Whether one cell is predicted to refute the claim, or all that are open to support it.
    cell
        Which of its cells needs most, counted from 0.
    cells
        All cells for which the step is taken.
    error
        The error there now, in units of the quantity; None where it is infinite.
    needed
        The error at which it would be decided, in the same units; None where the present one is infinite.
    what
        More contexts, more points on a ray, or another method.
    times
        How many times as many.
    seconds
        What the step is predicted to take, from what the cells took.
    """

    route: Route = "support"
    cell: int
    cells: tuple[int, ...] = ()
    error: float | None
    needed: float | None
    what: What
    times: float
    seconds: float


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """A step that was taken for a cell, and the error that it had before; None where that was infinite.

    Attributes
    ----------
    cell
        Which cell, counted from 0.
    what
        More contexts, more points on a ray, or another method.
    times
        How many times as many.
    error
        The error before, in units of the quantity; None where it was infinite.
    """

    cell: int
    what: What
    times: float
    error: float | None


class Record(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """One claim and what became of it: the verdict with all that led to it.

    Attributes
    ----------
    id
        What the claim is called; permanent.
    title
        The statement in words; may hold `$LaTeX$`.
    statement
        LaTeX, without dollar signs.
    source
        Where the claim comes from, and what is printed there.
    kind
        What the claim is beside its source.
    grade
        The weakest grade of the cells; None where there are none.
    assumptions
        What is assumed, as texts that may hold `$LaTeX$`.
    verdict
        What the evidence says.
    expected
        The recorded verdict; None where the claim is new and nothing is recorded yet.
    range
        Where the verdict holds: the points, the limits, what was proved for all (`lipverify.claims.ledger.reach`).
    condition
        What the verdict assumes of limits that are extrapolated; empty where there are none.
    measured
        What was found at the telling case, of each quantity that the claim speaks of, in words.
    claimed
        What is claimed there, in words.
    margin
        The margin of the telling case, which `measured` names first, in units of its quantity; None without one.
    control
        The control of the claim as a whole.
    finding
        What the evidence shows, in sentences that may hold `$LaTeX$`; empty when there is no more to say.
    seconds
        What its measurements took together.
    cells
        The evidence, piece by piece.
    cross_checks
        The same numbers by two methods.
    figures, tables
        What is shown of the evidence.
    reproduce
        The command that repeats it.
    problem
        Why the verdict is `error`, or what left it open.
    heading
        Where it stands in the report; None for claims of one's own.
    corrected
        What holds in place of what is printed, where the two differ; text that may hold `$LaTeX$`.
    step
        What would decide an open claim, where something is known; else None.
    tried
        The steps that were taken, in their order.
    proves
        The id of the claim that this one is a proof of, if it is.
    reading
        The reading of an open wording that the claim belongs to; empty where it is one by itself.
    file
        The claims file that it is from; empty for the claims that come with lipverify.
    """

    id: str
    title: str
    statement: str
    source: Source
    kind: Kind
    grade: Grade | None
    assumptions: tuple[str, ...]
    verdict: Verdict
    expected: Verdict | None
    range: str = ""
    condition: str = ""
    measured: str
    claimed: str
    margin: float | None
    control: Control
    finding: str
    seconds: float
    cells: tuple[Cell, ...]
    cross_checks: tuple[CrossCheck, ...] = ()
    figures: tuple[Figure, ...] = ()
    reproduce: str = ""
    problem: str = ""
    heading: Heading | None = None
    corrected: str = ""
    tables: tuple[Table, ...] = ()
    step: Step | None = None
    tried: tuple[Tried, ...] = ()
    proves: str = ""
    reading: str = ""
    file: str = ""

    def _title(self) -> str:
        return f"{self.id} {self.verdict}"

    def _columns(self) -> dict[str, Any]:
        names = list(dict.fromkeys(name for cell in self.cells for name in cell.where))
        places = {name: [str(cell.where.get(name, "")) for cell in self.cells] for name in names}
        numbers = {name: [getattr(cell, name) for cell in self.cells] for name in ("quantity", "measured", "error")}
        return {
            **places,
            **numbers,
            "claimed": [c.claimed for c in self.cells],
            "cell": [c.verdict for c in self.cells],
        }

    def __repr__(self) -> str:
        return f"Record({self.id}: {self.verdict}, {self.grade or 'no evidence'}, {self.measured})"

    def _repr_latex_(self) -> str:
        return f"${self.statement}$"

    def plot(self, ax: Any = None) -> Any:
        """What was measured in each cell, over what the claim allows there; the axes."""
        return draw_cells(self, ax)

    @property
    def moved(self) -> bool:
        """Whether the verdict differs from the recorded one; that of a new claim cannot."""
        return self.expected is not None and self.verdict != self.expected


def weakest(grades: Iterable[Grade]) -> Grade | None:
    """The grade of a claim from those of its cells.

    >>> weakest(["proved", "sampled", "bounded"])
    'sampled'
    """
    order = list(GRADES)
    return max(grades, key=order.index, default=None)


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What produced the ledger.

    Attributes
    ----------
    versions
        Versions of lipverify and of what it computes with, by name.
    machine
        System, processors and Python.
    started
        ISO 8601, UTC.
    seconds
        What the run took.
    """

    versions: dict[str, str]
    machine: str
    started: str
    seconds: float


Outcome = Literal["holds as printed", "holds in one of its readings", "false as printed", "open"]


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """What a source prints in one place, and what became of it.

    Attributes
    ----------
    paper, place
        The paper, and where in it; text that may hold `$LaTeX$`.
    outcome
        What became of it.
    claims
        The ids of the claims that it is judged by: those that are just what is printed, else all its readings.
    telling
        Of these the ones that make the outcome: those that hold, those that fail, those that leave it open.
    holds, fails
        The readings that are supported, and those that are refuted, where the wording leaves several open.
    instead
        What holds in its place where it is false, or no reading holds; what holds more sharply where it holds.
    grade
        What stands behind the outcome: the weakest grade that it needs; None where nothing does.
    cells
        Of these claims together, how many cells are supported, and how many there are.
    """

    paper: str
    place: str
    outcome: Outcome
    claims: tuple[str, ...]
    telling: tuple[str, ...]
    holds: tuple[str, ...]
    fails: tuple[str, ...]
    instead: tuple[str, ...]
    grade: Grade | None
    cells: tuple[int, int]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was asked to gather for one claim, and the digest of what became of it.

    Attributes
    ----------
    id
        The claim.
    cells, cross_checks
        How many of each were asked for.
    digest
        SHA-256 of the record, 64 hexadecimal digits.
    """

    id: str
    cells: int
    cross_checks: int
    digest: str


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """All records of one run, with the manifest by which `audit` sees that none was changed, added or left out.

    Attributes
    ----------
    profile, seed, backend
        What the run was asked for: how much evidence, the seed of what is drawn, the array library of sampling.
    provenance
        What produced the ledger.
    claims
        The records, in their order.
    title
        Title of the report; empty for lipverify's own.
    author
        Who states the claims; empty where nobody is named.
    asked
        The manifest: one entry a claim, in the order of the claims.
    passages
        The passages of the sources that the claims are from, each with one outcome.
    counts
        How many passages there are by outcome, and how many claims by verdict, in a sentence.
    digest
        SHA-256 of all but the records, whose digests are in the manifest.
    format
        Name and version of the format.
    """

    profile: str
    seed: int
    backend: str
    provenance: Provenance
    claims: tuple[Record, ...]
    title: str = ""
    author: str = ""
    asked: tuple[Asked, ...] = ()
    passages: tuple[Passage, ...] = ()
    counts: str = ""
    digest: str = ""
    format: str = FORMAT

    def __repr__(self) -> str:
        counts = Counter(record.verdict for record in self.claims)
        told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no claims"
        return f"Ledger({told}; profile {self.profile}, seed {self.seed}, {self.provenance.started})"

    def _repr_html_(self) -> str:
        names = ("id", "kind", "verdict", "grade", "measured")
        columns = {name: [str(getattr(record, name) or "") for record in self.claims] for name in names}
        return table(repr(self), columns)


WRITTEN = "; `lipverify verify --out FOLDER` writes FOLDER/ledger.json"
"""Where a ledger comes from, for those who have none."""


class _Head(msgspec.Struct, frozen=True):
    """What is read first: it says whether the rest can be."""

    format: str = FORMAT


def write_ledger(ledger: Ledger, path: Path) -> None:
    """Write the ledger as JSON; the file appears whole or not at all."""
    write_whole(path, ledger_bytes(ledger))


def ledger_bytes(ledger: Ledger) -> bytes:
    """The ledger as its file holds it: whose SHA-256 is that of the file."""
    return msgspec.json.format(msgspec.json.encode(ledger), indent=1)


def read_ledger(path: Path) -> Ledger:
    """Read a ledger back; a file that is not one is refused with the reason."""
    text = content("ledger", path, WRITTEN)
    try:
        form = msgspec.json.decode(text, type=_Head).format
        if form == FORMAT:
            return msgspec.json.decode(text, type=Ledger)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = textwrap.shorten(str(error), _MESSAGE)
        raise InvalidInput(f"ledger = {quoted(str(path))}: not a lipverify ledger ({what}){WRITTEN}.") from None
    shown = textwrap.shorten(repr(form), _MESSAGE)
    raise InvalidInput(
        f"ledger = {quoted(str(path))}: its format is {shown}, this version reads {FORMAT!r}; verify again."
    )


COLORS = {"supported": "#00664a", "refuted": "#b03a00", "inconclusive": "#4f555c", "error": "#7a2f82"}
WIDE = 0.4
"""Half the room of a cell: what it allows is shaded there."""
BEYOND = 0.15
"""Share of what is seen that is shaded beyond an edge with nothing behind it."""


def draw_cells(record: Record, ax: Any = None) -> Any:
    """The interval of each cell, in the colour of its verdict, over the shaded range that the claim allows; the axes.

    A cell without a finite interval has no place in it, and is named all the same.
    """
    ax = axes(ax)
    finite = [cell for cell in record.cells if cell.measured is not None and math.isfinite(cell.error or 0.0)]
    seen = [end for cell in finite for end in (*_ends(cell), cell.allowed.low, cell.allowed.high) if end is not None]
    room = BEYOND * (max(seen, default=1.0) - min(seen, default=0.0)) or BEYOND
    floor, ceiling = min(seen, default=0.0) - room, max(seen, default=1.0) + room
    for k, cell in enumerate(record.cells):
        low = floor if cell.allowed.low is None else cell.allowed.low
        high = ceiling if cell.allowed.high is None else cell.allowed.high
        ax.fill_between([k - WIDE, k + WIDE], low, high, color="#9fb8cc", alpha=0.45, linewidth=0)
        if cell in finite:
            color = COLORS[cell.verdict]
            ax.errorbar([k], [cell.measured], [cell.error or 0.0], fmt="o", capsize=3, color=color)
    ax.set_xticks(range(len(record.cells)), _names(record.cells), rotation=30, ha="right")
    quantities = list(dict.fromkeys(cell.quantity.replace("$", r"\$") for cell in record.cells))
    ax.set(ylim=(floor, ceiling), ylabel="; ".join(quantities), title=f"{record.id}: {record.verdict}")
    return ax


def _ends(cell: Cell) -> tuple[float, float]:
    assert cell.measured is not None
    return cell.measured - (cell.error or 0.0), cell.measured + (cell.error or 0.0)


def _names(cells: Sequence[Cell]) -> list[str]:
    """Where each cell is, by the coordinates in which they differ."""
    keys = dict.fromkeys(key for cell in cells for key in cell.where)
    varying = [key for key in keys if len({cell.where.get(key) for cell in cells}) > 1]
    return [", ".join(said(key, cell.where[key]) for key in varying if key in cell.where) for cell in cells]


def schema() -> dict[str, Any]:
    """The JSON Schema of a ledger, named by the format that it describes; `docs/ledger.schema.json` holds it.

    >>> schema()["$id"]
    'lipverify-ledger-3'
    """
    return {"$id": FORMAT, **msgspec.json.schema(Ledger)}
