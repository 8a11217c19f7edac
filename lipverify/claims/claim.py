"""A claim is data: what is stated, where, what would be measured, what is allowed, and its falsified twin."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy

from lipverify.claims.expression import expression
from lipverify.claims.figure import Figure
from lipverify.claims.ledger import Heading, Scalar, Source, Table
from lipverify.claims.place import HOME
from lipverify.claims.verdict import Allowed, Interval, Verdict
from lipverify.errors import InvalidInput

ID = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+(/[a-z0-9-]+)*")


@dataclass(frozen=True)
class Task:
    """One measurement: a module-level function and its arguments, shared by all cells that name it.

    The results of the tasks that it `needs` follow the arguments; function and arguments alone tell tasks apart.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    needs: tuple[Task, ...] = ()

    def __post_init__(self) -> None:
        """A function of a claims file, which no other process can import, goes there with its file."""
        home = getattr(sys.modules.get(getattr(self.function, "__module__", "")), HOME, None)
        if home is not None:
            object.__setattr__(self, "function", home.function(self.function))

    @property
    def address(self) -> str:
        """The name of the measurement, which also addresses its random numbers."""
        return f"{self.function.__name__}({', '.join(map(str, self.arguments))})"

    def run(self, *needed: Any) -> Any:
        """Measure, given the results of what is needed."""
        return self.function(*self.arguments, *needed)

    def with_needs(self) -> Iterator[Task]:
        """All that must be measured for this one, each after what it needs, and this one last."""
        for task in self.needs:
            yield from task.with_needs()
        yield self


@dataclass(frozen=True)
class Reading:
    """What a cell reads off a measurement.

    `interval` is what the verdict is made from; `shown` is what was measured, where a further argument
    (the note says which) has narrowed it.
    """

    interval: Interval
    note: str = ""
    shown: Interval | None = None


@dataclass(frozen=True)
class CellPlan:
    """One piece of evidence to gather.

    `read(result, allowed)` turns the task's result into an interval; it is given the allowed range
    because at equality of exponents the ratio to that very exponent decides.
    """

    where: dict[str, Scalar]
    task: Task
    quantity: str
    read: Callable[[Any, Allowed], Reading]
    claimed: str
    allowed: Allowed
    control: Allowed
    method: str = "exact"


@dataclass(frozen=True)
class CrossPlan:
    """The same quantity by two methods; `read` gives (values, errors) from the results of the tasks."""

    where: dict[str, Scalar]
    quantity: str
    methods: tuple[str, str]
    tasks: tuple[Task, ...]
    read: Callable[..., tuple[tuple[float, float], tuple[float, float]]]


def side_by_side(
    one: tuple[float, float], other: tuple[float, float]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """(values, errors) of two (value, error): what a `CrossPlan` reads off tasks that return these."""
    return (one[0], other[0]), (one[1], other[1])


@dataclass(frozen=True)
class Claim:
    r"""A statement to be verified.

    Attributes
    ----------
    id
        The row of the claims table, then whatever of law, side and reading tells it apart, joined by "/".
    title, statement
        What is claimed, in words and in LaTeX.
    source
        Paper, place, and what is printed there.
    claimed
        The claim in a few words, for the table.
    control
        The falsified twin in words; each cell carries its range.
    expected
        The recorded verdict: compared with what is computed, never used in its place. None for a claim that is new.
    cells, cross_checks
        The evidence.
    summary
        One line from the cells' readings, for the table.
    figures, finding
        Made from {address: result} of the claim's tasks.
    corrected
        What holds in place of what is printed: the corrected statement of a claim that is refuted, the sharp one
        of a claim that is true but not tight; text that may hold `$LaTeX$`. Empty where nothing is to be said.
    tables
        Small tables for the report, made like figures.
    heading
        Where the claim stands in the report; claims of `checks/` get theirs from the table of contents.
    file
        The claims file that it is from, as the command line calls it; empty for claims of `checks/`.
    """

    id: str
    title: str
    statement: str
    source: Source
    claimed: str
    control: str
    expected: Verdict | None
    cells: tuple[CellPlan, ...]
    assumptions: tuple[str, ...] = ()
    cross_checks: tuple[CrossPlan, ...] = ()
    summary: Callable[[dict[str, Any]], str] | None = None
    figures: Callable[[dict[str, Any]], tuple[Figure, ...]] | None = None
    finding: Callable[[dict[str, Any]], str] | str = ""
    extra_tasks: tuple[Task, ...] = field(default=())
    corrected: Callable[[dict[str, Any]], str] | str = ""
    tables: Callable[[dict[str, Any]], tuple[Table, ...]] | None = None
    heading: Heading | None = None
    file: str = ""

    def __post_init__(self) -> None:
        """Refuse a claim that could not be believed whatever it found."""
        if not ID.fullmatch(self.id):
            raise InvalidInput(f"id = {self.id!r}: an id is `family.name` and then parts joined by '/', in lower case.")
        for name in ("title", "statement", "claimed", "control"):
            if not getattr(self, name).strip():
                raise InvalidInput(f"claim {self.id}: {name} is empty; every claim states it.")
        if not self.source.place.strip() or not self.source.printed.strip():
            raise InvalidInput(f"claim {self.id}: the source needs its place and what is printed there.")
        if not self.cells:
            raise InvalidInput(f"claim {self.id}: there is no cell, so nothing could refute it.")

    @property
    def tasks(self) -> dict[str, Task]:
        """All measurements of the claim by address, each after those that it needs."""
        crossed = [task for cross in self.cross_checks for task in cross.tasks]
        every = [*(cell.task for cell in self.cells), *crossed, *self.extra_tasks]
        return {task.address: task for wanted in every for task in wanted.with_needs()}


def exponent(text: str, symbols: Sequence[str] = ("d",)) -> sympy.Expr:
    """A claimed exponent as an expression in the declared symbols, which are positive.

    Raises
    ------
    InvalidInput
        If it is not an expression, or holds another symbol.

    >>> exponent_at(exponent("1/d"), 4)
    0.25
    """
    return expression(text, symbols, "exponent", positive=True)


def exponent_at(expression: sympy.Expr, d: int) -> float:
    """The exponent at one dimension."""
    return float(expression.subs(sympy.Symbol("d", positive=True), d))
