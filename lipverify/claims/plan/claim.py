"""A claim with its evidence as planned: what is stated, what is to be measured, what is allowed, and its controls.

Claims are declared (`lipverify.claims.language.claim`); the plan is what a run works through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from lipverify.claims.ledger.figure import Figure
from lipverify.claims.ledger.reach import Spot
from lipverify.claims.ledger.record import Grade, Heading, Kind, Ray, Source, Table, Tried
from lipverify.claims.ledger.symbols import Scalar, on_one_line
from lipverify.claims.ledger.verdict import Allowed, Interval, Verdict
from lipverify.errors import InvalidInput
from lipverify.foundation.quoting import shown as quoted

Side = Literal["lower", "upper"]


@dataclass(frozen=True)
class Measurement:
    """A function and its arguments, measured once in a run for all cells that name it.

    What it `needs` is measured before, and follows the arguments; function and arguments alone tell measurements apart.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    needs: tuple[Measurement, ...] = ()

    @cached_property
    def address(self) -> str:
        """The name of the measurement."""
        return f"{self.function.__name__}({', '.join(map(str, self.arguments))})"

    def run(self, *needed: Any) -> Any:
        """Measure, given the results of what is needed."""
        return self.function(*self.arguments, *needed)

    def with_needs(self) -> Iterator[Measurement]:
        """All that must be measured for this one, each after what it needs, and this one last."""
        for need in self.needs:
            yield from need.with_needs()
        yield self


@dataclass(frozen=True)
class Estimate:
    """What a measurement says of a quantity.

    `interval` is what the verdict is made from; `shown` is what was measured, where a further argument (the note says
    which) has narrowed it. Where another quantity decides, `quantity` names it, as text with `$LaTeX$`, and `allowed`
    is what the claim allows of that one.
    """

    interval: Interval
    note: str = ""
    shown: Interval | None = None
    quantity: str = ""
    allowed: Allowed | None = None


Read = Callable[[Any, Allowed], Estimate]
"""An estimate from a result; it is given the allowed range, because at equality of exponents the ratio decides."""


@dataclass(frozen=True)
class ControlPlan:
    """The claim with one thing changed, which must come out the other way.

    Attributes
    ----------
    says
        The control's statement about the quantity, such as "≥ 0.54".
    allowed
        What it allows: a range, or how to make one from the estimate (the nearest statement that it bears out).
    measurement
        What is measured in its place, where the control falsifies the object and not the range.
    edges
        The range as formulas in the coordinates, where these say it all.
    """

    says: str
    allowed: Allowed | Callable[[Interval], Allowed]
    measurement: Measurement | None = None
    edges: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CellPlan:
    """One piece of evidence to gather.

    `false` is the control of a cell that supports the claim, `true` that of one that refutes it.
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
    """How it is measured, as the claim says; None where it says nothing of its own function."""
    grade: Grade | None = None
    """The best grade that the claim states for it; what ran decides (`lipverify.claims.run.ran`)."""
    of: str = ""
    """Which quantity of the result is read."""
    edges: dict[str, str] = field(default_factory=dict)
    """The allowed range as formulas in the coordinates, where these say it all."""
    quantity_latex: str = ""
    claimed_latex: str = ""

    @property
    def ray(self) -> Ray | None:
        """What grows, where a limit is taken."""
        return next((each for each in self.measurement.arguments if isinstance(each, Ray)), None)

    @property
    def given(self) -> dict[str, Scalar]:
        """Numbers and text that the function is given beside the coordinates, or that is given to what it is handed."""
        own = [each for each in self.measurement.arguments if isinstance(getattr(each, "where", None), dict)]
        handed = {address for each in own for address in getattr(each, "alone", {}).values()}
        behind = self.measurement.with_needs() if handed else ()
        calls = [each for need in behind if need.address in handed for each in need.arguments if hasattr(each, "where")]
        taken: dict[str, Any] = {}
        for each in (*own, *calls):
            taken |= {k: v for k, v in each.where.items() if k not in taken}
        return {k: v for k, v in taken.items() if k not in self.where and isinstance(v, str | int | float)}

    def measurements(self) -> Iterator[Measurement]:
        """All that is measured for the cell and its controls."""
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
    """What the functions are called."""
    measurements: tuple[Measurement, Measurement]
    read: Callable[[Any, Any], Side_by_side]
    quantity_latex: str = ""
    of: tuple[str, str] = ("", "")
    """Which quantity of the result of each is read."""


@dataclass(frozen=True)
class Shown:
    """Something that a function makes from measurements by name: a figure, a table, a sentence."""

    function: Callable[..., Any]
    measurements: dict[str, Measurement]
    given: dict[str, Any]

    @property
    def name(self) -> str:
        """What the function is called."""
        return getattr(self.function, "__name__", repr(self.function))

    @property
    def makes(self) -> str:
        """The name of the type that the function says it returns; empty where it says none."""
        said = getattr(self.function, "__annotations__", {}).get("return", "")
        return said if isinstance(said, str) else getattr(said, "__name__", "")

    def made(self, results: dict[str, Any]) -> Any:
        """What the function makes of the results, by address."""
        found = {name: results[each.address] for name, each in self.measurements.items()}
        return on_one_line(self.function(**found, **self.given))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that a claim asks to be measured, and what is shown of it."""

    cells: tuple[CellPlan, ...]
    cross_checks: tuple[CrossPlan, ...] = ()
    figure: Callable[[dict[str, Any]], tuple[Figure, ...]] | None = None
    """The figure that the form of the claim draws of itself."""
    shows: tuple[Shown, ...] = ()
    """What makes the figures and tables that are asked for."""
    finding: Shown | str = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement to be verified; the evidence that it asks for is planned when it is looked at.

    Attributes
    ----------
    id
        The row of the claims table, then whatever of law, side and reading tells it apart, joined by "/".
    title, statement
        What is claimed, in words and in LaTeX.
    source
        Paper, place, and what is printed there.
    kind
        What the claim is beside its source: printed there, a convention it leaves open, stronger, derived, or sharp.
    claimed, false_control, true_control
        The claim and its controls in a few words, derived from what the cells allow.
    expected
        The recorded verdict: compared with what is computed, never used in its place. None for a claim that is new.
    plan
        Plans the evidence.
    spots
        Where it will be measured, which is known without a plan.
    corrected
        What holds in place of what is printed; text that may hold `$LaTeX$`.
    proves
        The id of the claim that this one is a proof of; empty if it is none.
    reading
        The reading of an open wording that the claim belongs to; empty where it is one by itself.
    heading
        Where the claim stands in the report.
    file
        The claims file that it is from, as the command line calls it; empty for claims of `checks/`.
    false_latex, true_latex
        The controls as text that may hold `$LaTeX$`.
    tried
        The steps that were taken to decide it.
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
    heading: Heading | None = None
    file: str = ""
    false_latex: str = ""
    true_latex: str = ""
    tried: tuple[Tried, ...] = ()

    @property
    def control(self) -> str:
        """The control that is expected to come out the other way."""
        return self.true_control if self.expected == "refuted" else self.false_control

    @cached_property
    def evidence(self) -> Evidence:
        """What is to be measured and shown."""
        return self.plan()

    @property
    def cells(self) -> tuple[CellPlan, ...]:
        """The pieces of evidence, one by one."""
        return self.evidence.cells

    @cached_property
    def measurements(self) -> dict[str, Measurement]:
        """All measurements of the claim by address, each after those that it needs."""
        gathered = self.evidence
        finding = [gathered.finding] if isinstance(gathered.finding, Shown) else []
        shown = [*gathered.shows, *finding]
        every = [
            *(each for cell in gathered.cells for each in cell.measurements()),
            *(each for cross in gathered.cross_checks for each in cross.measurements),
            *(each for made in shown for each in made.measurements.values()),
        ]
        return {each.address: each for wanted in every for each in wanted.with_needs()}

    def made_shows(self, results: dict[str, Any]) -> tuple[tuple[Figure, ...], tuple[Table, ...]]:
        """The figures and the tables that are asked for, from the results by address.

        Where no figure is asked for but for the first page, the figure that the form draws of itself is added.

        Raises
        ------
        InvalidInput
            If a function makes something else.
        """
        gathered = self.evidence
        made = [(each, shown) for each in gathered.shows for shown in several(each.made(results))]
        for each, shown in made:
            if not isinstance(shown, Figure | Table):
                rule = "what a claim shows is a Figure or a Table, or several"
                raise InvalidInput(f"shows: {each.name} returned {quoted(shown)}; {rule}.")
        figures = tuple(shown for _, shown in made if isinstance(shown, Figure))
        tables = tuple(shown for _, shown in made if isinstance(shown, Table))
        if gathered.figure is None or any(figure.layer != "front" for figure in figures):
            return figures, tables
        return figures + gathered.figure(results), tables

    def made_finding(self, results: dict[str, Any]) -> str:
        """What the evidence shows, in sentences."""
        finding = self.evidence.finding
        return str(finding.made(results)) if isinstance(finding, Shown) else finding


def several(made: Any) -> tuple[Any, ...]:
    """One thing, or several."""
    return tuple(made) if isinstance(made, list | tuple) else (made,)
