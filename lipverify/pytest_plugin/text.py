"""The text that pytest shows for a claim whose verdict is not as it should be."""

from __future__ import annotations

from textwrap import indent

from lipverify.claims.ledger.reach import condition, reach
from lipverify.claims.ledger.record import Cell, CrossCheck, Record

MOST_CELLS = 12
"""Most cells that are listed; for the others only their number is given."""


def differs(record: Record, strict: bool) -> bool:
    """True if a claim fails: its control was not caught, its verdict is not the recorded one, or `strict` and refuted.

    An undecided claim neither passes nor fails, unless its control was not caught. A new claim without a recorded
    verdict must not be refuted.
    """
    if not record.control.caught:
        return True
    if record.verdict == "inconclusive":
        return False
    must_hold = strict or record.expected is None
    return record.moved or (must_hold and record.verdict == "refuted")


def headline(record: Record) -> str:
    """The verdict in one line; pytest prints the id before it."""
    if not record.control.caught:
        return f"control not caught: {record.control.statement}"
    recorded = "no verdict is recorded" if record.expected is None else f"recorded as {record.expected}"
    where = reach(record.cells, record.verdict, record.id)
    return f"{f'{record.verdict} {where}'.strip()}, {recorded}: {record.measured}"


def reason(record: Record) -> str:
    """The reason why a claim is not decided, in one line."""
    apart = [cross for cross in record.cross_checks if not cross.agrees]
    if apart:
        return f"{record.id}: {headline(record)}; {_apart(apart[0])}"
    why = record.problem or f"the evidence does not decide between {record.claimed} and its opposite"
    return f"{record.id}: {headline(record)}; {why}"


def told(record: Record) -> str:
    """The text of a claim with its evidence."""
    lines = {
        "title": record.title,
        "statement": record.statement,
        "source": f"{record.source.paper}, {record.source.place}: {record.source.printed}",
        "assumptions": "; ".join(record.assumptions),
        "claimed": record.claimed,
        "measured": record.measured,
        "margin": "" if record.margin is None else f"{record.margin:.4g}",
        "limits": condition(record.cells, record.verdict),
        "control": f"{record.control.statement} ({'caught' if record.control.caught else 'NOT caught'})",
        "finding": record.finding,
        "what holds": record.corrected,
        "again with": record.reproduce,
    }
    said = [f"{name + ':':<13}{text}" for name, text in lines.items() if text]
    evidence = [_cell(cell) for cell in _telling(record)]
    more = len(record.cells) - len(evidence)
    rest = [f"and {more} more"] if more > 0 else []
    return "\n".join([headline(record), "", *said, "evidence:", indent("\n".join([*evidence, *rest]), "  ")])


def _telling(record: Record) -> list[Cell]:
    """Up to `MOST_CELLS` cells: first those that are not supported or whose control was not caught, then the others."""
    ranked = sorted(record.cells, key=lambda cell: cell.verdict == "supported" and cell.caught)
    return ranked[:MOST_CELLS]


def _cell(cell: Cell) -> str:
    """Describe one cell in a line."""
    where = ", ".join(f"{name} = {value}" for name, value in cell.where.items())
    value = "unbounded" if cell.measured is None else f"{cell.measured:.6g} ± {cell.error or 0:.2g}"
    margin = "" if cell.margin is None else f", margin {cell.margin:.3g}"
    control = "" if cell.caught or cell.verdict == "inconclusive" else ", control NOT caught"
    return (
        f"{where}: {cell.quantity} = {value} ({cell.method}), allowed {cell.claimed}: {cell.verdict}{margin}{control}"
    )


def _apart(cross: CrossCheck) -> str:
    """Describe two methods that disagree."""
    (one, other), (error, other_error) = cross.values, cross.errors
    first, second = cross.methods
    return (
        f"the methods disagree on {cross.quantity}: {first} {one:.6g} ± {error:.2g}, "
        f"{second} {other:.6g} ± {other_error:.2g}"
    )
