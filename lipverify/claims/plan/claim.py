"""A claim with its planned evidence: the statement, the measurements, the allowed ranges, and the controls.

Claims are declared in `lipverify.claims.language.claim`; a run executes their plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from lipverify.claims.ledger.figure import Figure
from lipverify.claims.ledger.outcomes import Judged
from lipverify.claims.ledger.reach import Spot
from lipverify.claims.ledger.record import Cell, Heading, Kind, Ratio, Ray, Source, Table
from lipverify.claims.ledger.symbols import Scalar, on_one_line
from lipverify.claims.ledger.verdict import Allowed, Interval, Verdict
from lipverify.errors import InvalidInput
from lipverify.foundation.noted import Grade
from lipverify.foundation.quoting import shown as quoted


@dataclass(frozen=True)
class Measurement:
    """A function and its arguments, measured once per run for all cells that use it.

    The measurements in `needs` run first, and their results are appended to the arguments. Function and arguments alone
    identify a measurement.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    needs: tuple[Measurement, ...] = ()

    @cached_property
    def address(self) -> str:
        """The unique name of the measurement."""
        return f"{self.function.__name__}({', '.join(map(str, self.arguments))})"

    @property
    def ray(self) -> Ray | None:
        """The growing coordinate and its points, if a limit is taken."""
        return next((argument for argument in self.arguments if isinstance(argument, Ray)), None)

    def run(self, *needed: Any) -> Any:
        """Measure, given the results of `needs`."""
        return self.function(*self.arguments, *needed)

    def with_needs(self) -> Iterator[Measurement]:
        """The measurement and everything it needs, each after its needs; on a ray the far end comes first."""
        for need in self.needs[::-1] if self.ray else self.needs:
            yield from need.with_needs()
        yield self

    @property
    def far_end(self) -> tuple[Measurement, ...]:
        """The measurement at the last point of its ray, where a law is out of reach if it is so anywhere."""
        return self.needs[-1:] if self.ray else ()


@dataclass(frozen=True)
class Estimate:
    """The estimate of a quantity from a measurement.

    The verdict uses `interval`. If the ratio or a further argument, stated in the note, has narrowed it, `measured` is
    the interval before. If another quantity decides, `quantity` names it, as text with `$LaTeX$`, and `allowed` is the
    claim's range for it.
    """

    interval: Interval
    note: str = ""
    measured: Interval | None = None
    quantity: str = ""
    allowed: Allowed | None = None
    ratio: Ratio | None = None


Read = Callable[[Any, Allowed], Estimate]
"""Makes an estimate from a result and the allowed range: at equality of exponents the ratio decides."""


@dataclass(frozen=True)
class ControlPlan:
    """The claim with one thing changed, which must come out the other way.

    Attributes
    ----------
    says
        The control's statement about the quantity, such as "≥ 0.54".
    allowed
        The allowed range; None if the claim declares no control for a cell that refutes it.
    measurement
        The measurement to use instead, if the control changes the measured object and not the range.
    edges
        The range as formulas in the coordinates, if formulas can express it.
    """

    says: str
    allowed: Allowed | None
    measurement: Measurement | None = None
    edges: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CellPlan:
    """The plan of a cell: one piece of evidence.

    `false` is the control if the cell supports the claim, `true` if it refutes the claim.
    """

    where: dict[str, Scalar]
    measurement: Measurement
    quantity: str
    read: Read
    claimed: str
    allowed: Allowed
    false: ControlPlan
    true: ControlPlan
    method: str | None = None
    """The method stated by the claim; None if the claim states none."""
    grade: Grade | None = None
    """The best grade that the claim states; its evidence decides the grade (`lipverify.claims.evidence`)."""
    of: str = ""
    """The name of the quantity in the result."""
    edges: dict[str, str] = field(default_factory=dict)
    """The allowed range as formulas in the coordinates, if formulas can express it."""
    quantity_latex: str = ""
    claimed_latex: str = ""

    @property
    def ray(self) -> Ray | None:
        """The growing coordinate and its points, if a limit is taken."""
        return self.measurement.ray

    @property
    def given(self) -> dict[str, Scalar]:
        """Numbers and text among the arguments that are not coordinates, including those of nested calls."""
        arguments = self.measurement.arguments
        own = [argument for argument in arguments if isinstance(getattr(argument, "where", None), dict)]
        handed = {address for point in own for address in getattr(point, "alone", {}).values()}
        behind = self.measurement.with_needs() if handed else ()
        calls = [point for need in behind if need.address in handed for point in need.arguments]
        taken: dict[str, Any] = {}
        for point in (*own, *(call for call in calls if hasattr(call, "where"))):
            taken |= {k: v for k, v in point.where.items() if k not in taken}
        return {k: v for k, v in taken.items() if k not in self.where and isinstance(v, str | int | float)}

    def measurements(self) -> Iterator[Measurement]:
        """All measurements of the cell and its controls."""
        yield self.measurement
        for control in (self.false, self.true):
            if control.measurement is not None:
                yield control.measurement


Side_by_side = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class CrossPlan:
    """The same quantity by two methods; `read` gives (values, errors) from the results of both measurements."""

    where: dict[str, Scalar]
    quantity: str
    functions: tuple[str, str]
    """The names of the functions."""
    measurements: tuple[Measurement, Measurement]
    read: Callable[[Any, Any], Side_by_side]
    quantity_latex: str = ""
    of: tuple[str, str] = ("", "")
    """The name of the quantity in the result of each."""


@dataclass(frozen=True)
class Shown:
    """A function that makes a figure, a table or a sentence from named measurements."""

    function: Callable[..., Any]
    measurements: dict[str, Measurement]
    given: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", repr(self.function))

    @property
    def makes(self) -> str:
        """The name of the function's declared return type; empty if it declares none."""
        annotation = getattr(self.function, "__annotations__", {}).get("return", "")
        return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")

    def made(self, results: dict[str, Any]) -> Any:
        """Call the function with the results, which are given by address."""
        values = {name: results[measurement.address] for name, measurement in self.measurements.items()}
        return on_one_line(self.function(**values, **self.given))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All measurements that a claim asks for, and the figures and tables made of them."""

    cells: tuple[CellPlan, ...]
    cross_checks: tuple[CrossPlan, ...] = ()
    figure: Callable[[Mapping[str, Any], Sequence[Cell]], tuple[Figure, ...]] | None = None
    """Makes the default figures from the results and the cells."""
    shows: tuple[Shown, ...] = ()
    """Make the figures and tables that the claim asks for."""
    finding: Shown | str = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement to verify; its evidence is planned on first access.

    Attributes
    ----------
    id
        The statement's name, then the law, side and reading that identify the claim, joined by "/".
    title, statement
        The statement in words and in LaTeX.
    source
        Paper, place, and the text printed there.
    kind
        Its relation to the source: printed there, a convention that it leaves open, stronger, derived, or sharp.
    claimed, false_control, true_control
        The claim and its controls in a few words, derived from the allowed ranges of the cells.
    expected
        The recorded verdict, which is compared with the computed one and never replaces it. None for a new claim.
    plan
        Function that plans the evidence.
    spots
        The places of its cells, which are known without a plan.
    corrected
        The statement that holds in place of the printed one; text that may hold `$LaTeX$`.
    proves
        The id of the claim that this one proves; empty if it proves none.
    reading
        The reading that the claim belongs to, if the wording allows several; empty if it is a reading by itself.
    forall, by_hand
        The range that it declares, and the document with the argument for it, if it needs one.
    heading
        The place of the claim in the report.
    file, symbols
        The path of the claims file as given on the command line, and the symbols that it defines, with their meanings;
        empty for claims of `checks/`.
    false_latex, true_latex
        The controls as text that may hold `$LaTeX$`.
    """

    id: str
    title: str
    statement: str
    source: Source
    kind: Kind
    claimed: str
    false_control: str
    true_control: str
    expected: Verdict | None
    plan: Callable[[], Evidence] = field(compare=False)
    spots: Callable[[], tuple[Spot, ...]] = field(default=lambda: (), compare=False)
    assumptions: tuple[str, ...] = ()
    corrected: str = ""
    proves: str = ""
    reading: str = ""
    forall: tuple[str, ...] = ()
    by_hand: str = ""
    heading: Heading | None = None
    file: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict, compare=False)
    false_latex: str = ""
    true_latex: str = ""

    @property
    def control(self) -> str:
        """The control that should come out the other way if the expected verdict is right."""
        return self.true_control if self.expected == "refuted" else self.false_control

    @cached_property
    def evidence(self) -> Evidence:
        """The plan, made at first use, because a list of claims needs none."""
        return self.plan()

    @property
    def cells(self) -> tuple[CellPlan, ...]:
        """One plan for each point of the family."""
        return self.evidence.cells

    @cached_property
    def measurements(self) -> dict[str, Measurement]:
        """All measurements of the claim by address, each after those it needs, and those at far ends of rays first."""
        gathered = self.evidence
        finding = [gathered.finding] if isinstance(gathered.finding, Shown) else []
        shows = [*gathered.shows, *finding]
        every = [
            *(measurement for cell in gathered.cells for measurement in cell.measurements()),
            *(measurement for cross in gathered.cross_checks for measurement in cross.measurements),
            *(measurement for show in shows for measurement in show.measurements.values()),
        ]
        ends = (end for wanted in every for end in wanted.far_end)
        return {needed.address: needed for wanted in (*ends, *every) for needed in wanted.with_needs()}

    def made_shows(
        self, results: dict[str, Any], cells: Sequence[Cell]
    ) -> tuple[tuple[Figure, ...], tuple[Table, ...]]:
        """Make the figures and the tables of the claim from the results by address.

        If the claim asks for no figure, or only for one on the first page, the default figures are added.

        Raises
        ------
        InvalidInput
            If a function returns anything else.
        """
        gathered = self.evidence
        made = [_written(show, output) for show in gathered.shows for output in several(show.made(results))]
        figures = tuple(output for output in made if isinstance(output, Figure))
        tables = tuple(output for output in made if isinstance(output, Table))
        if gathered.figure is None or any(figure.layer != "front" for figure in figures):
            return figures, tables
        return figures + gathered.figure(results, cells), tables

    def made_finding(self, results: dict[str, Any]) -> str:
        """The finding: what the evidence shows, in sentences."""
        finding = self.evidence.finding
        return str(finding.made(results)) if isinstance(finding, Shown) else finding


def _written(show: Shown, output: Any) -> Any:
    """A figure or table as a ledger holds it, with Python's numbers in place of those of NumPy."""
    rule = "what a claim shows is a Figure or a Table, or several"
    if not isinstance(output, Figure | Table):
        raise InvalidInput(f"shows: {show.name} returned {quoted(output)}; {rule}.")
    try:
        plain = msgspec.to_builtins(output, enc_hook=lambda value: value.tolist())
        return msgspec.convert(plain, type(output))
    except (AttributeError, TypeError, msgspec.ValidationError) as error:
        raise InvalidInput(f"shows: {show.name} returned one with other content ({error}); {rule}.") from None


def several(made: Any) -> tuple[Any, ...]:
    """A single value as a tuple of one; several values as a tuple."""
    return tuple(made) if isinstance(made, list | tuple) else (made,)


def recorded(claims: Iterable[Claim]) -> list[Judged]:
    """Unmeasured claims with their recorded verdicts; their grades are known only after a run."""
    return [
        Judged(
            id=claim.id, kind=claim.kind, verdict=claim.expected, paper=claim.source.paper, place=claim.source.place,
            reading=claim.reading, corrected=claim.corrected.strip(),
        )
        for claim in claims
    ]  # fmt: skip
