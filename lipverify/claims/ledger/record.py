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
BEFORE = "lipverify-ledger-2"
"""The format before, which held no proofs: it is read for comparison, and nothing in it is proved."""
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
    """Where a claim stands in the report: its section, and the title that all readings of it share."""

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
    """The false control of a claim; caught if the control of every cell comes out the other way."""

    statement: str
    caught: bool
    latex: str = ""
    """The statement as text that may hold `$LaTeX$`; empty where there is none."""


class CellControl(msgspec.Struct, frozen=True, kw_only=True):
    """The control of a cell: the claim with one thing changed, which must come out the other way.

    Beside a cell that supports the claim it is false and must be refuted; beside one that refutes it, it is true and
    must be supported.
    """

    says: str
    low: float | None = None
    high: float | None = None
    open: bool = False
    edges: dict[str, str] = {}
    """Its range as formulas in the coordinates, by name (low, high, equals, within), where these say it all."""
    interval: Interval
    """What was measured for the control: the cell's own interval, unless the control falsifies the object."""
    verdict: Verdict
    expects: Verdict = "refuted"
    """What it must be: "refuted" for a false control, "supported" for a true one."""
    margin: float | None
    quantity: str = ""
    """What `low`, `high` and the interval are of, where that is not the quantity of the cell."""
    unnoticed: float | None = None
    """Distance of the control's edge from the claim's: an error smaller than this could go unnoticed."""

    @property
    def allowed(self) -> Allowed:
        """The range that the control allows."""
        return Allowed(low=self.low, high=self.high, open=self.open)


class ProofRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What proves a number: an exact result that the library saw when its function returned it, or a proof file."""

    kind: Exact
    statement: str
    """The exact value as text; of a file, its theorem in words."""
    digest: str
    """SHA-256 of the statement; of a proof file that of the file, of several that of their digests, line by line."""
    symbols: tuple[str, ...] = ()
    """The symbols that stand for all their values."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of evidence: what was measured where, its error, and its own verdict."""

    where: dict[str, Scalar]
    """What tells this cell apart: `d`, `law`, ..."""
    given: dict[str, Scalar] = {}
    """What its function was given beside these."""
    ray: Ray | None = None
    """What grew, where a limit was taken."""
    quantity: str
    method: str
    grade: Grade
    measured: float | None
    error: float | None
    interval: Interval
    """What the verdict is made from: measured ± error, unless the note says how it was narrowed."""
    claimed: str
    allowed: Allowed
    edges: dict[str, str] = {}
    """The allowed range as formulas in the coordinates, by name, where these say it all."""
    verdict: Verdict
    """What the interval says of the claim; inconclusive unless the control comes out the other way."""
    margin: float | None
    control: CellControl
    note: str = ""
    quantity_latex: str = ""
    """The quantity as text that may hold `$LaTeX$`; empty where there is none."""
    claimed_latex: str = ""
    """What is claimed of it, likewise."""
    proof: ProofRecord | None = None
    """What proves the number, where it is proved."""

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
    """The same number by two methods: they agree, or the claim is not decided."""

    where: dict[str, Scalar]
    quantity: str
    methods: tuple[str, str]
    values: tuple[Number, Number]
    errors: tuple[Number, Number]
    agrees: bool
    quantity_latex: str = ""
    """The quantity as text that may hold `$LaTeX$`; empty where there is none."""

    def __post_init__(self) -> None:
        read_back(self, "values", "errors")


What = Literal["contexts", "points", "method"]
Route = Literal["refute", "support"]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What would decide an open claim next."""

    route: Route = "support"
    """Whether one cell is predicted to refute the claim, or all that are open to support it."""
    cell: int
    """Which of its cells needs most."""
    cells: tuple[int, ...] = ()
    """All cells for which the step is taken."""
    error: float | None
    """The error there, and ..."""
    needed: float | None
    """... the error at which it would be decided; None where the error is infinite."""
    what: What
    """More contexts, more points on a ray, or another method."""
    times: float
    seconds: float
    """What the step is predicted to take, from what the cells took."""


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """A step that was taken for a cell, and the error that it had before; None where that was infinite."""

    cell: int
    what: What
    times: float
    error: float | None


class Record(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """One claim and what became of it: the verdict with all that led to it."""

    id: str
    title: str
    statement: str
    """LaTeX, without dollar signs."""
    source: Source
    kind: Kind
    """What the claim is beside its source."""
    grade: Grade | None
    """The weakest grade of the cells; None where there are none."""
    assumptions: tuple[str, ...]
    verdict: Verdict
    expected: Verdict | None
    """The recorded verdict; None where the claim is new and nothing is recorded yet."""
    range: str = ""
    """Where the verdict holds: the points, the limits, what was proved for all (`lipverify.claims.ledger.reach`)."""
    condition: str = ""
    """What the verdict assumes of limits that are extrapolated; empty where there are none."""
    measured: str
    """What was found at the telling case, of each quantity that the claim speaks of."""
    claimed: str
    margin: float | None
    """The margin of the telling case, which `measured` names first."""
    control: Control
    finding: str
    """What the evidence shows, in sentences that may hold `$LaTeX$`; empty when there is no more to say."""
    seconds: float
    cells: tuple[Cell, ...]
    cross_checks: tuple[CrossCheck, ...] = ()
    figures: tuple[Figure, ...] = ()
    reproduce: str = ""
    problem: str = ""
    """Why the verdict is `error`, or what left it open."""
    heading: Heading | None = None
    corrected: str = ""
    """What holds in place of what is printed, where the two differ; text that may hold `$LaTeX$`."""
    tables: tuple[Table, ...] = ()
    step: Step | None = None
    """What would decide an open claim, where something is known."""
    tried: tuple[Tried, ...] = ()
    """The steps that were taken, in their order."""
    proves: str = ""
    """The id of the claim that this one is a proof of, if it is."""
    reading: str = ""
    """The reading of an open wording that the claim belongs to; empty where it is one by itself."""
    file: str = ""
    """The claims file that it is from; empty for the claims that come with lipverify."""

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
    """What produced the ledger."""

    versions: dict[str, str]
    machine: str
    started: str
    """ISO 8601, UTC."""
    seconds: float


Outcome = Literal["holds as printed", "holds in one of its readings", "false as printed", "open"]


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """What a source prints in one place, and what became of it."""

    paper: str
    place: str
    """Text that may hold `$LaTeX$`."""
    outcome: Outcome
    claims: tuple[str, ...]
    """The ids of the claims that it is judged by: those that are just what is printed, else all its readings."""
    telling: tuple[str, ...]
    """Of these the ones that make the outcome: those that hold, those that fail, those that leave it open."""
    holds: tuple[str, ...]
    """The readings that are supported, where the wording leaves several open."""
    fails: tuple[str, ...]
    """The readings that are refuted, likewise."""
    instead: tuple[str, ...]
    """What holds in its place where it is false, or no reading holds; what holds more sharply where it holds."""
    grade: Grade | None
    """What stands behind the outcome: the weakest grade that it needs."""
    cells: tuple[int, int]
    """Of these claims together, how many cells are supported, and how many there are: the entries of a table, say."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was asked to gather for one claim, and the digest of what became of it."""

    id: str
    cells: int
    cross_checks: int
    digest: str
    """SHA-256 of the record."""


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """All records of one run, with the manifest by which `audit` sees that none was changed, added or left out."""

    profile: str
    seed: int
    backend: str
    provenance: Provenance
    claims: tuple[Record, ...]
    title: str = ""
    """Of the report; empty for lipverify's own."""
    author: str = ""
    """Who states the claims; empty where nobody is named."""
    asked: tuple[Asked, ...] = ()
    """The manifest: one entry a claim, in the order of the claims."""
    passages: tuple[Passage, ...] = ()
    """The passages of the sources that the claims are from, each with one outcome."""
    counts: str = ""
    """How many passages there are by outcome, and how many claims by verdict, in a sentence."""
    digest: str = ""
    """SHA-256 of all but the records, whose digests are in the manifest."""
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
        if form == BEFORE:
            return msgspec.convert(_without_proofs(msgspec.json.decode(text, type=dict[str, Any])), Ledger)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError) as error:
        what = textwrap.shorten(str(error), _MESSAGE)
        raise InvalidInput(f"ledger = {quoted(str(path))}: not a lipverify ledger ({what}){WRITTEN}.") from None
    shown = textwrap.shorten(repr(form), _MESSAGE)
    raise InvalidInput(
        f"ledger = {quoted(str(path))}: its format is {shown}; this version reads {FORMAT!r} and {BEFORE!r}."
    )


def _without_proofs(ledger: dict[str, Any]) -> dict[str, Any]:
    """A ledger of the format before: what it called proved has no proof in it, so it is no more than estimated."""
    for record in ledger["claims"]:
        for cell in record["cells"]:
            if cell["grade"] == "proved":
                cell["grade"] = "estimated"
        record["grade"] = weakest(cell["grade"] for cell in record["cells"])
    return ledger


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
