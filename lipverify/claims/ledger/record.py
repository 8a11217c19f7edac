"""The ledger: everything that a run found, as one JSON file. The report is made from it alone."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from lipverify.claims.evidence.grade import Basis, grade_of
from lipverify.claims.ledger.figure import CLAIMED, CONTROL, Figure, Layer, Number, Style, read_back
from lipverify.claims.ledger.symbols import Scalar, said
from lipverify.claims.ledger.verdict import OTHER_WAY, Allowed, Interval, Verdict, decide
from lipverify.errors import InvalidInput
from lipverify.foundation.files import content, write_whole
from lipverify.foundation.ladder import ladder
from lipverify.foundation.noted import Grade
from lipverify.foundation.quoting import shown as quoted
from lipverify.foundation.showing import Shown, axes, legend, table
from lipverify.foundation.style import BRACKETS, COLOURS, SHADE, bracket, in_style

FORMAT = "lipverify-ledger-5"
Kind = Literal["printed", "convention", "stronger", "derived", "sharp"]
KINDS: dict[Kind, str] = {
    "printed": "the statement for exactly the law, range and convention of its source",
    "convention": "a reading that the source leaves open",
    "stronger": "more general than the printed statement: another law, every w, every n, ...",
    "derived": "a consequence of the printed statement",
    "sharp": "the exact rate or value",
}
"""Relation of a claim to its source; only printed statements count for or against a paper."""


class Source(msgspec.Struct, frozen=True):
    """The source of a claim, and the text printed there (which may hold `$LaTeX$`).

    Claims with the same paper and place belong to one passage, which counts once (`lipverify.claims.ledger.outcomes`).

    Attributes
    ----------
    paper
        The paper, or its letter.
    place
        A theorem, lemma, display, figure, table or sentence; may hold `$LaTeX$`.
    printed
        The text printed there.

    Examples
    --------
    >>> Source("My notes", "Theorem 1", "$w^*$ grows with $n$").place
    'Theorem 1'
    """

    paper: str
    place: str
    printed: str


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a claim in the report: its section, and the title that all its readings share.

    Attributes
    ----------
    section
        A section title of the report.
    title
        The title that the readings share.
    """

    section: str
    title: str


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A small table of a claim, for example of derived constants; its text may hold `$LaTeX$`.

    Attributes
    ----------
    caption
        Text below the table.
    header, rows
        Cells as text.
    layer
        The layer of a report that shows it: a long table is put with the evidence.

    Examples
    --------
    >>> Table(caption="Constants.", header=("d", "k"), rows=(("2", "0.5"),)).layer
    'theorem'
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    layer: Layer = "theorem"


class Ray(msgspec.Struct, frozen=True):
    """A growing coordinate: its name, its range, and the number of points.

    Attributes
    ----------
    along
        The coordinate that grows.
    start, stop
        Its ends, in its own units.
    points
        The number of points, a constant factor apart.

    Examples
    --------
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
        """The points of the ray; those of n and d are integers.

        Raises
        ------
        InvalidInput
            If the points cannot show a limit: fewer than 8, or less than two decades.
        """
        rungs = ladder(self.start, self.stop, self.points)
        return tuple(dict.fromkeys(float(round(s)) for s in rungs)) if self.along in ("n", "d") else rungs


class Ratio(msgspec.Struct, frozen=True):
    """The limit of the ratio of a quantity to a power of s, which decides if the exponents are equal.

    Attributes
    ----------
    power
        The exponent of s.
    value, error
        The limit and its half-width, in units of the quantity.
    """

    power: float
    value: float
    error: float

    @property
    def decides(self) -> bool:
        """True if the limit is positive for certain, and known to a tenth."""
        return self.error < 0.1 * self.value


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """The control of a claim; caught if the control of every cell comes out the other way.

    Attributes
    ----------
    statement
        The near statement in plain text; "none declared" if there is none.
    caught
        True if it came out the other way in every cell that has one.
    latex
        The statement as text that may hold `$LaTeX$`; empty if there is no control.
    """

    statement: str
    caught: bool
    latex: str = ""


class CellControl(msgspec.Struct, frozen=True, kw_only=True):
    """The control of a cell: the claim with one thing changed, which must come out the other way.

    If the cell supports the claim, the control is false and must be refuted; if the cell refutes it, the control is
    true and must be supported.

    Attributes
    ----------
    says
        The relation it states for the quantity, such as "≥ 0.54".
    low, high, open
        The allowed range, in units of the quantity; None is unbounded, and `open` excludes the ends.
    edges
        The same range as formulas in the coordinates, by name (low, high, equals, within), if formulas can express it.
    interval
        The measured interval, in units of the quantity: that of the cell, unless the control measures another object.
    verdict
        The verdict of the interval on the control.
    expects
        The verdict it must have: "refuted" for a false control, "supported" for a true one.
    margin
        Distance from the interval to the edge, in units of the quantity: positive inside; None if no edge is finite.
    quantity
        The quantity that was measured, if it is not that of the cell.
    unnoticed
        Distance of its edge from the claim's, in units of the quantity: an error smaller than this could go unnoticed.
        None if the control measures another object.
    declared
        False if the claim declares no control for a cell that refutes it: nothing could fail, and nothing is counted.
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
    declared: bool = True

    @property
    def allowed(self) -> Allowed:
        """The range that the control allows."""
        return Allowed(low=self.low, high=self.high, open=self.open)


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of evidence: a measured value at one place, its error, and its verdict.

    Attributes
    ----------
    where
        The coordinates that identify the cell: `d`, `law`, ...
    given
        The other arguments of its function.
    ray
        The growing coordinate and its points, if a limit was taken; else None.
    quantity, quantity_latex
        The measured quantity: plain text, and text that may hold `$LaTeX$`.
    method
        The method that ran, or the claim's own name for its method if that is no more specific.
    grade
        The kind of evidence for the number.
    measured, error
        The value and its half-width, in units of the quantity; None if no finite value is known.
    interval
        The interval that the verdict uses: measured ± error, unless the ratio or the note says how it was narrowed.
    claimed, claimed_latex
        The claim about the quantity: plain text, and text that may hold `$LaTeX$`.
    allowed
        The values that the claim allows, in units of the quantity.
    edges
        The same range as formulas in the coordinates, by name, if formulas can express it.
    verdict
        The verdict of the interval on the claim; inconclusive unless the control comes out the other way.
    margin
        Distance from the interval to the edge, in units of the quantity: positive inside, negative outside, 0 across
        it; None if no edge is finite.
    control
        The claim with one thing changed, on the same evidence.
    ratio
        The ratio that decides where exponents are equal; the interval is then its power alone.
    note
        Further reasons for the verdict, in words.
    basis
        What the number rests on: all that its grade is made from.
    reasons
        The reasons for the grade, in sentences.
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
    ratio: Ratio | None = None
    note: str = ""
    quantity_latex: str = ""
    claimed_latex: str = ""
    basis: Basis = Basis()
    reasons: tuple[str, ...] = ()

    @property
    def graded(self) -> tuple[Grade, tuple[str, ...]]:
        """The grade and its reasons, made again from the basis."""
        of = (self.quantity_latex or self.quantity, {**self.given, **self.where})
        return grade_of(self.basis, *of, limit=self.ray is not None)

    @property
    def alone(self) -> Verdict:
        """The verdict of the interval alone, before the control is taken into account."""
        return decide(self.interval, self.allowed)

    @property
    def control_edges(self) -> tuple[tuple[Style, float], ...]:
        """The edges of its control that are not those of the claim; of an equality its value, or what it measures."""
        control, claimed = self.control, (self.allowed.low, self.allowed.high)
        if not control.declared or control.quantity not in ("", self.quantity):
            return ()
        ends: list[tuple[Style, float | None]] = [("lower", control.low), ("upper", control.high)]
        ends = [(style, end) for style, end in ends if end not in claimed]
        if control.unnoticed is None and claimed == (control.low, control.high):
            ends = [("points", _middle(control.interval.low, control.interval.high))]
        elif "equals" in control.edges:
            ends = [("value", _middle(control.low, control.high))]
        return tuple((style, end) for style, end in ends if end is not None and math.isfinite(end))

    @property
    def caught(self) -> bool:
        """True if the control came out the other way, or none is declared that could have failed."""
        return not self.control.declared or self.control.verdict == self.control.expects

    @property
    def uncontrolled(self) -> bool:
        """True if the control has the same verdict as the claim, so that it controls nothing."""
        return self.control.declared and self.alone in OTHER_WAY and self.control.verdict == self.alone


class CrossCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The same quantity by two methods: if they disagree, the claim is not decided.

    Attributes
    ----------
    where
        The coordinates at which both measured.
    quantity, quantity_latex
        The quantity that both compute: plain text, and text that may hold `$LaTeX$`.
    methods
        Names that distinguish the methods: the code that ran, or the functions, or the quantities that were read.
    values, errors
        The two values and their half-widths, in units of the quantity.
    agrees
        True if they differ by at most twice the sum of their errors.
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


class Record(Shown, msgspec.Struct, frozen=True, kw_only=True):
    """One claim with its verdict, and all the evidence for it.

    Attributes
    ----------
    id
        The permanent name of the claim.
    title
        The statement in words; may hold `$LaTeX$`.
    statement
        LaTeX, without dollar signs.
    source
        The source of the claim, and the text printed there.
    kind
        The relation of the claim to its source.
    grade
        The weakest grade of its cells; None without cells. Reports show that of the claim that proves it, if one does.
    assumptions
        The assumptions, as texts that may hold `$LaTeX$`.
    verdict
        The verdict of the evidence.
    expected
        The recorded verdict; None if the claim is new and has no recorded verdict yet.
    range
        The range of the verdict: the points, the limits, the symbols of proofs (`lipverify.claims.ledger.reach`).
    condition
        The assumption about extrapolated limits; empty if there are none.
    measured
        The value in the decisive cell of each quantity, in words.
    claimed
        The claim there, in words.
    margin
        The margin of the decisive cell, which `measured` names first, in units of its quantity; None without one.
    control
        The control of the claim as a whole.
    finding
        What the evidence shows beyond the verdict, in sentences that may hold `$LaTeX$`; may be empty.
    seconds
        Total time of its measurements.
    cells
        The evidence, one record for each point.
    cross_checks
        The same quantities by two methods.
    figures, tables
        Pictures and tables of the evidence.
    reproduce
        The command that verifies this claim again.
    problem
        The reason why the verdict is `error`, or why the claim is open.
    heading
        The place in the report; None for a user's own claims.
    corrected
        The statement that holds in place of the printed one, if they differ; may hold `$LaTeX$`.
    proves
        The id of the claim that this one proves, if it proves one.
    reading
        The reading that the claim belongs to, if the wording allows several; empty if it is a reading by itself.
    file
        The claims file that declares it; empty for the claims shipped with lipverify.
    forall
        The range that it declares, which its evidence covers if it is supported: "n >= 2", "L".
    by_hand
        The document with the argument in words, if it needs one for its range.
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
    proves: str = ""
    reading: str = ""
    file: str = ""
    forall: tuple[str, ...] = ()
    by_hand: str = ""

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

    @in_style
    def plot(self, ax: Any = None) -> Any:
        """Plot the measured value of each cell over what is claimed, beside its control; returns the axes."""
        drawn = draw_cells(self, ax)
        if ax is None:
            legend(drawn.figure)
        return drawn

    @property
    def moved(self) -> bool:
        """True if the verdict differs from the recorded one; always False for a new claim."""
        return self.expected is not None and self.verdict != self.expected


COPIED = (
    "title", "statement", "source", "kind", "claimed", "expected", "assumptions", "corrected", "proves", "heading",
    "reading", "forall", "by_hand",
)  # fmt: skip
"""Fields of a record that are those of its claim."""


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """The software, the machine and the time of a run.

    Attributes
    ----------
    versions
        Versions of lipverify and of the libraries it computes with, by name.
    machine
        System, processors and Python.
    started
        ISO 8601, UTC.
    seconds
        Duration of the run.
    """

    versions: dict[str, str]
    machine: str
    started: str
    seconds: float


Outcome = Literal["holds as printed", "holds in one of its readings", "false as printed", "open"]


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of a source, and its outcome.

    Attributes
    ----------
    paper, place
        The paper, and the place in it; text that may hold `$LaTeX$`.
    outcome
        The outcome.
    claims
        The ids of the claims that decide it: those of the kind "printed", or else all its readings.
    telling
        The ids of those that make the outcome: the ones that hold, the ones that fail, or the ones that leave it open.
    holds, fails
        The supported and the refuted readings, if the wording allows several.
    instead
        The statement that holds if the passage is false or no reading holds; a sharper statement if it holds.
    grade
        The weakest grade that the outcome needs; None if nothing was measured.
    cells
        The number of supported cells and of all cells of these claims.
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
    """The evidence that a run was asked to gather for one claim, and the digest of the record.

    Attributes
    ----------
    id
        The claim.
    cells, cross_checks
        The number of each that were planned.
    digest
        SHA-256 of the record, 64 hexadecimal digits.
    """

    id: str
    cells: int
    cross_checks: int
    digest: str


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """All records of one run, with a manifest that lets `audit` detect a record that was changed, added or removed.

    Attributes
    ----------
    profile, seed, backend
        The settings of the run: the amount of evidence, the seed of random draws, the array library of sampling.
    provenance
        The software, the machine and the time of the run.
    claims
        The records, in order.
    title
        Title of the report; empty for lipverify's own.
    author
        Author of the claims; may be empty.
    symbols
        The symbols that claims files define, in LaTeX without dollar signs, and their meanings, which may hold
        `$LaTeX$`.
    asked
        The manifest: one entry a claim, in the order of the claims.
    passages
        The passages of the sources to which the claims belong, each with one outcome.
    counts
        The numbers of passages by outcome and of claims by verdict, in a sentence.
    digest
        SHA-256 of everything but the records, whose digests are in the manifest.
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
    symbols: dict[str, str] = {}
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


class _Head(msgspec.Struct, frozen=True):
    """The format of a ledger, decoded first: it decides whether the rest can be read."""

    format: str = FORMAT


def write_ledger(ledger: Ledger, path: Path) -> None:
    """Write the ledger as JSON; the file appears whole or not at all."""
    write_whole(path, ledger_bytes(ledger))


def ledger_bytes(ledger: Ledger) -> bytes:
    """The content of a ledger's file, whose SHA-256 is that of the file."""
    return msgspec.json.format(msgspec.json.encode(ledger), indent=1)


def read_ledger(path: Path) -> Ledger:
    """Read a ledger. A file that is not a ledger is refused with the reason."""
    way_out = "; `lipverify verify --out FOLDER` writes FOLDER/ledger.json"
    text = content("ledger", path, way_out)
    try:
        form = msgspec.json.decode(text, type=_Head).format
        if form == FORMAT:
            return msgspec.json.decode(text, type=Ledger)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = textwrap.shorten(str(error), 200)
        raise InvalidInput(f"ledger = {quoted(str(path))}: not a lipverify ledger ({what}){way_out}.") from None
    name = textwrap.shorten(repr(form), 200)
    raise InvalidInput(
        f"ledger = {quoted(str(path))}: its format is {name}, this version reads {FORMAT!r}; verify again."
    )


def _middle(low: float | None, high: float | None) -> float | None:
    return None if low is None or high is None else (low + high) / 2


def draw_cells(record: Record, ax: Any = None) -> Any:
    """Plot the interval of each cell, one below the other, over what is claimed; returns the axes.

    Axes without a point say why.
    """
    ax = axes(ax)
    ax.set_title(_headline(f"{record.id}: {record.verdict}"), fontsize="small")
    known = {
        k: cell for k, cell in enumerate(record.cells) if cell.measured is not None and math.isfinite(cell.error or 0)
    }
    if not known:
        notes = (record.problem, *(cell.note for cell in record.cells))
        why = next((note for note in notes if note), "no cell was measured")
        ax.set(xticks=[], yticks=[])
        reason = textwrap.fill(f"Nothing to draw: {why}", 36).replace("$", r"\$")
        ax.text(0.5, 0.5, reason, ha="center", va="center", fontsize="small", transform=ax.transAxes)
        return ax
    ends = [_drawn_ends(cell) for cell in known.values()]
    finite = [end for group in ends for end in group]
    log = min(finite) > 0 and max(finite) > 30 * min(finite)  # as in the figures of a report
    margin = 0.15 * (max(finite) - min(finite)) or 0.15 * abs(max(finite)) or 0.15
    span = (min(finite) / 1.5, max(finite) * 1.5) if log else (min(finite) - margin, max(finite) + margin)
    for k, cell in known.items():
        _draw_cell(ax, k, cell, span)
    shown = range(0, len(record.cells), math.ceil(len(record.cells) / ROWS))
    names = _names(record.cells)
    ax.set_yticks(list(shown), [names[k] for k in shown], fontsize="small")
    quantities = list(dict.fromkeys(cell.quantity.replace("$", r"\$") for cell in record.cells))
    ax.set(xlim=span, ylim=(len(record.cells) - 0.4, -0.6), xlabel=textwrap.shorten("; ".join(quantities), 60))
    ax.set_xscale("log" if log else "linear")
    return ax


ROWS = 20
"""Most names beside the axes: more would overlap at the height of a default figure."""
MARKS = {"supported": "o", "refuted": "X", "inconclusive": "s", "error": "D"}
"""The marker of a cell by its verdict."""


def _headline(title: str) -> str:
    """A title in two lines if it is longer than the axes of one of three claims are wide."""
    cut = (title.rfind("/", 0, 42) + 1 or 42) if len(title) > 42 else 0
    return f"{title[:cut]}\n{title[cut:]}" if cut else title


def _drawn_ends(cell: Cell) -> list[float]:
    assert cell.measured is not None
    ends = (
        cell.measured - (cell.error or 0.0),
        cell.measured + (cell.error or 0.0),
        cell.allowed.low,
        cell.allowed.high,
    )
    return [end for end in (*ends, *(end for _, end in cell.control_edges)) if end is not None]


def _draw_cell(ax: Any, k: int, cell: Cell, span: tuple[float, float]) -> None:
    """One row: the allowed range with its edges, the measured interval, and the edges of the control."""
    ends = (cell.allowed.low, cell.allowed.high)
    low, high = (edge if end is None else end for end, edge in zip(ends, span, strict=True))
    ax.fill_betweenx([k - 0.4, k + 0.4], low, high, color=SHADE, alpha=0.45, linewidth=0, label=CLAIMED)
    ax.vlines([end for end in ends if end is not None], k - 0.4, k + 0.4, color="#555555", linewidth=0.9)
    dot = {"fmt": MARKS[cell.verdict], "color": COLOURS[0], "markersize": 4.5}
    ax.errorbar([cell.measured], [k], xerr=[cell.error or 0.0], label=cell.verdict, **dot)
    for style, end in cell.control_edges:
        shape = {"marker": bracket(style), "markersize": 9} if style in BRACKETS else {"marker": "o"}
        look = {"color": COLOURS[1], "markerfacecolor": "none", "markeredgewidth": 1.2, "label": CONTROL}
        ax.plot([end], [k], linestyle="none", **shape, **look)


def _names(cells: Sequence[Cell]) -> list[str]:
    """Names of cells: the coordinates in which they differ."""
    keys = dict.fromkeys(key for cell in cells for key in cell.where)
    varying = [key for key in keys if len({cell.where.get(key) for cell in cells}) > 1]
    return [", ".join(said(key, cell.where[key]) for key in varying if key in cell.where) for cell in cells]


def schema() -> dict[str, Any]:
    """The JSON Schema of a ledger, named after its format; a copy is in `docs/ledger.schema.json`.

    >>> schema()["$id"]
    'lipverify-ledger-5'
    """
    return {"$id": FORMAT, **msgspec.json.schema(Ledger)}
