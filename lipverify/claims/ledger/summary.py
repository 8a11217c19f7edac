"""What a record says of its cells and cross-checks: it follows from these alone, and an audit computes it again."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from lipverify.claims.ledger.reach import at, condition, reach
from lipverify.claims.ledger.record import Cell, CrossCheck, weakest
from lipverify.claims.ledger.verdict import OTHER_WAY, Interval, Verdict, conclude

POWER = "power of"
"""How the name of the power of a logarithm begins, where that decides."""
ALARM_FACTOR = 2.0
SHOWN = 4
"""Quantities of a claim whose numbers a line of text shows."""


def follows(id: str, cells: Sequence[Cell], crossed: Sequence[CrossCheck]) -> dict[str, Any]:
    """What a record says of its cells and cross-checks, by field: `audit` computes it again from these alone."""
    verdict = conclude((cell.verdict for cell in cells), (check.agrees for check in crossed))
    return {
        "verdict": verdict,
        "problem": open_because(cells, crossed) if verdict == "inconclusive" else "",
        "grade": weakest(cell.grade for cell in cells),
        "measured": summary(cells),
        "margin": telling_margin(cells),
        "range": reach(cells, verdict, id),
        "condition": condition(cells, verdict),
    }


def repeated_by(file: str, id: str) -> str:
    """The command that verifies one claim again."""
    return shlex.join(["lipverify", "verify", *filter(None, [file]), id])


def controls_caught(verdict: Verdict, cells: Sequence[Cell]) -> bool:
    """True if every control that the verdict needs came out the other way.

    A refutation stands on its refuting cells, which have theirs; any other verdict needs the control of each cell
    whose interval alone would decide.
    """
    return verdict == "refuted" or all(cell.caught for cell in cells if cell.alone in OTHER_WAY)


def agree(values: tuple[float, float], errors: tuple[float, float]) -> bool:
    """Whether two values differ by no more than twice their errors together; an infinite error agrees with nothing.

    >>> agree((1.0, 1.1), (0.03, 0.03)), agree((1.0, 1.1), (0.02, float("inf")))
    (True, False)
    """
    return math.isfinite(sum(errors)) and abs(values[0] - values[1]) <= ALARM_FACTOR * sum(errors)


def open_because(cells: Sequence[Cell], crossed: Sequence[CrossCheck]) -> str:
    """What left a claim open: the first of a disagreement, a control that was not caught, an interval too wide."""
    for check in crossed:
        if not check.agrees:
            one, other = check.methods
            values = ", ".join(f"{value:.6g}" for value in check.values)
            return f"{one} and {other} disagree on {check.quantity}{_at(check.where)}: {values}"
    for cell in cells:
        if cell.alone in OTHER_WAY and not cell.caught:
            return _not_caught(cell)
    wide = next((cell for cell in cells if cell.verdict == "inconclusive"), None)
    if wide is None:
        return ""
    if wide.measured is None:
        return f"{wide.quantity}{_at(wide.where)}: {wide.note or 'its error is infinite'}"
    return (
        f"{wide.quantity}{_at(wide.where)} is {wide.measured:.6g} ± {wide.error:.2g}, across the edge of {wide.claimed}"
    )


def _not_caught(cell: Cell) -> str:
    """Why a cell decides nothing though its interval would: its control agrees with the claim, or is not decided."""
    measured, error = middle(cell.control.interval)
    value = "" if measured is None else f" ({measured:.6g} ± {error:.2g})"
    control = f"the control, {cell.control.quantity or cell.quantity} {cell.control.says},"
    if not cell.uncontrolled:
        return f"{control} is not decided{_at(cell.where)}{value}"
    outcome = "holds" if cell.control.verdict == "supported" else "fails"
    return f"{control} {outcome} too{_at(cell.where)}{value}: it is no control"


def _at(where: Mapping[str, Any]) -> str:
    return f" at {at(where)}" if where else ""


def summary(cells: Sequence[Cell]) -> str:
    """What the cells found, in a few words: the number of the telling case, of each quantity that they are of."""
    told = telling(cells)
    more = len(told) - SHOWN
    parts = [_case(cell, cells) for cell in told[:SHOWN]] + [f"{more} more quantities"] * (more > 0)
    return "; ".join(parts)


def telling(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The telling case of each quantity, the one that decides first.

    That is the smallest point that refutes; else the first that is open; else the one that is nearest to its edge, as
    a share of the number itself. A claim that is refuted is told by what refutes it, and one that is open by what is.
    """
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.quantity, []).append(cell)
    return tuple(sorted(map(_telling, groups.values()), key=lambda cell: (_rank(cell), _nearness(cell))))


def telling_margin(cells: Sequence[Cell]) -> float | None:
    """The margin of the case that decides, which is that of the claim; None where nothing bounds it."""
    told = telling(cells)
    return told[0].margin if told else None


def _telling(cells: Sequence[Cell]) -> Cell:
    """The telling case of cells that are of one quantity."""
    worst = min(map(_rank, cells))
    found = [cell for cell in cells if _rank(cell) == worst]
    if worst == _REFUTES:
        sizes = [tuple(value for value in cell.where.values() if not isinstance(value, str)) for cell in found]
        return found[min(range(len(sizes)), key=sizes.__getitem__)]
    return found[0] if worst == _OPEN else min(found, key=_nearness)


_REFUTES, _OPEN, _HOLDS = 0, 1, 2


def _rank(cell: Cell) -> int:
    """What a cell does to its claim: it refutes it, leaves it open, or bears it out."""
    return {"refuted": _REFUTES, "supported": _HOLDS}.get(cell.verdict, _OPEN)


def _nearness(cell: Cell) -> float:
    """How far inside what is allowed, as a share of the number itself."""
    if cell.margin is None:
        return math.inf
    near = cell.margin / (abs(cell.measured) if cell.verdict == "supported" and cell.measured else 1.0)
    return float(f"{near:.9g}")  # which of several cells that are as near to rounding is told must not hang on it


def _case(cell: Cell, cells: Sequence[Cell]) -> str:
    """The value of one cell, of what it is where others are of other things, and where it stands among its like."""
    alike = [each for each in cells if each.quantity == cell.quantity]
    what = f"{cell.quantity} = " if len(alike) < len(cells) or beside_exponent(cell) else ""
    if len({_value(each) for each in alike}) == 1:
        return f"{what}{_value(cell)}"
    varying = {name: value for name, value in cell.where.items() if len({c.where.get(name) for c in alike}) > 1}
    same = [each for each in alike if _rank(each) == _rank(cell)]
    word = {_REFUTES: "refuted", _OPEN: "open"}.get(_rank(cell), "")
    many = f" ({word} in {len(same)} of {len(alike)})" if word else f" (of {len(alike)} the nearest to its edge)"
    return f"{what}{_value(cell)}{_at(varying)}{many if word == '' or len(same) < len(alike) else ''}"


def beside_exponent(cell: Cell) -> bool:
    """True if the power of a logarithm decides: a number that is not of the quantity that the statement names."""
    return cell.quantity.startswith(POWER)


def _value(cell: Cell) -> str:
    """The number, and its error where that is seen in three digits."""
    if cell.measured is None:
        return "unknown"
    seen = cell.error is not None and cell.error > 5e-4 * abs(cell.measured)
    return f"{cell.measured:.3g}" + (f" ± {cell.error:.2g}" if seen else "")


def middle(interval: Interval) -> tuple[float | None, float | None]:
    """The middle and the half-width of an interval; neither where an end is infinite."""
    low, high = interval.low, interval.high
    return (None, None) if low is None or high is None else (float(low + high) / 2, float(high - low) / 2)
