r"""The range of a verdict in words: the points measured, the limits taken, what an expression or a theorem holds for.

    holds at d = 2, 3; n = 100, 1000       four cells, one for each pair of values
    holds at d = 2, …, 8 as n → ∞          seven cells, each a limit along n
    fails at (d, n) = (2, 10), (5, 100)    two refuting cells among others
    holds for every m                      an expression with the symbol m
    holds for every n >= 2                 the range that the claim declares, which its evidence covers
    holds at d = 2; by hand for every d    the same with an argument in words

These words, and all others in a record that describe its evidence, follow from its cells and cross-checks alone, so
`lipverify audit` can recompute them.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lipverify.claims.evidence.grade import of_claim
from lipverify.claims.evidence.ranges import KINDS, NAME, letters
from lipverify.claims.ledger.record import Cell, CrossCheck, Ray, Record
from lipverify.claims.ledger.symbols import Scalar, is_letter, letter, named
from lipverify.claims.ledger.verdict import OTHER_WAY, Interval, Verdict, conclude
from lipverify.foundation.ladder import ASSUMPTION, BRIEFLY
from lipverify.foundation.latex import plain

__all__ = ["Spot", "at", "at_points", "condition", "number", "reach", "reach_of"]


@dataclass(frozen=True)
class Spot:
    """The place of a planned cell; its allowed range need not be known.

    Attributes
    ----------
    where
        The coordinates that identify the cell.
    given
        The other arguments of the function.
    ray
        The growing coordinate and its points, if a limit is taken; else None.
    quantity, quantity_latex
        The measured quantity in plain text, and in text that may hold `$LaTeX$`.
    """

    where: dict[str, Scalar]
    given: dict[str, Scalar]
    ray: Ray | None
    quantity: str
    quantity_latex: str


LISTED = 4
"""Most values of a coordinate, or quantities of a claim, that are listed; of more, the number is given."""
Point = dict[str, Scalar]
Place = Cell | Spot
"""A measured cell or a planned one."""


def decisive(cells: Sequence[Cell], verdict: Verdict) -> tuple[Cell, ...]:
    """The cells behind a verdict: all cells of a claim that holds, the refuting cells, or the open ones.

    If two methods disagree, no single cell is open and the claim is open at all of them.
    """
    if verdict == "refuted":
        return tuple(cell for cell in cells if cell.verdict == "refuted")
    if verdict == "inconclusive":
        return tuple(cell for cell in cells if cell.verdict == "inconclusive") or tuple(cells)
    return tuple(cells) if verdict == "supported" else ()


def reach(
    cells: Sequence[Cell],
    verdict: Verdict,
    id: str = "",
    *,
    forall: Sequence[str] = (),
    by_hand: str = "",
    latex: bool = False,
) -> str:
    """The range of a verdict in words; empty for an error. See `reach_of` for the other arguments."""
    holds, every = verdict == "supported", _every(forall, latex)
    declared = tuple(forall) if holds and not by_hand else ()
    told = reach_of(decisive(cells, verdict), id, cells, general=holds, latex=latex, declared=declared)
    return f"{told}; by hand {every}" if holds and by_hand and forall else told


def reach_of(
    cells: Sequence[Place],
    id: str = "",
    among: Sequence[Place] = (),
    *,
    general: bool = True,
    latex: bool = False,
    declared: tuple[str, ...] = (),
) -> str:
    """The points of some cells in words; `among` are all cells of the claim, if these are only a part.

    A text value that all cells share and the `id` of the claim contains is not repeated. With `general` an expression
    counts for all values of its symbols, as it does if the claim holds, but not if it fails. A `declared` range that
    the evidence covers is said in its place.
    """
    if not cells:
        return ""
    label_parts = _said_by(id, among or cells)
    groups: dict[str, list[str]] = {}
    for cell, group in _groups(cells, label_parts, general, declared):
        words = _words(group, label_parts, general, latex, declared)
        name = (cell.quantity_latex if latex else "") or cell.quantity
        if words and name not in groups.setdefault(words, []):
            groups[words].append(name)
    if not groups and label_parts:
        return reach_of(cells, general=general, latex=latex, declared=declared)
    if not groups:
        return "in the one case measured" if len(cells) == 1 else f"in the {len(cells)} cases measured"
    if not general or len({name for names in groups.values() for name in names}) == 1 or len(groups) == 1:
        return " and ".join(groups)
    return " and ".join(f"{words} ({', '.join(names)})" for words, names in groups.items())


def condition(cells: Sequence[Cell], verdict: Verdict) -> str:
    """The assumption of a verdict about its limits, with the decades followed; empty if no limit was taken.

    An extrapolated exponent or limit is right if its corrections are of the kinds that were tried.
    """
    return condition_of(decisive(cells, verdict))


def briefly(records: Iterable[Record]) -> str:
    """A short form of `condition` for records, for a line that shows a verdict; empty if no limit was taken."""
    return BRIEFLY if any(condition(record.cells, record.verdict) for record in records) else ""


def reach_of_record(record: Record, *, latex: bool = False) -> str:
    """The range of a record's verdict in words."""
    forall, by_hand = record.forall, record.by_hand
    return reach(record.cells, record.verdict, record.id, forall=forall, by_hand=by_hand, latex=latex)


def in_line(record: Record) -> str:
    """The range of a record's verdict and the assumption about its limits, in one line."""
    return ", ".join(filter(None, [reach_of_record(record), briefly([record])]))


def condition_of(cells: Iterable[Place]) -> str:
    """The assumption about the limits of some cells."""
    rays: dict[str, list[Ray]] = {}
    for cell in cells:
        if cell.ray is not None:
            rays.setdefault(cell.ray.along, []).append(cell.ray)
    told = [f"{plain(letter(name))} → ∞ is extrapolated from {_spans(name, ends)}" for name, ends in rays.items()]
    return f"{' and '.join(told)}; this holds {ASSUMPTION}" if told else ""


def _spans(name: str, rays: Sequence[Ray]) -> str:
    """The range over which limits were followed."""
    spans = {(ray.start, ray.stop) for ray in rays}
    if len(spans) == 1:
        ((start, stop),) = spans
        return f"{plain(letter(name))} = {number(start)} to {number(stop)}"
    decades = sorted({math.floor(math.log10(stop / start) + 1e-9) for start, stop in spans})
    return f"{decades[0]} to {decades[-1]} decades" if len(decades) > 1 else f"{decades[0]} decades"


def _said_by(id: str, cells: Sequence[Place]) -> frozenset[str]:
    """The coordinates with a text value that all cells share and the id contains."""
    parts = {part for name in id.split("/")[1:] for part in (name, *name.split("-to-"))}
    shared = {name: value for name, value in cells[0].where.items() if isinstance(value, str) and value in parts}
    return frozenset(name for name, value in shared.items() if all(cell.where.get(name) == value for cell in cells))


def _free(cell: Place, general: bool, declared: tuple[str, ...]) -> tuple[str, ...]:
    """The conditions on what a number holds for all values of: those declared, and the other symbols of its basis."""
    if not general:
        return ()
    said = {name for condition in declared for name in letters(condition)}
    symbols = cell.basis.returned.symbols if isinstance(cell, Cell) else ()
    return (*declared, *(symbol for symbol in symbols if not letters(symbol) & said))


def _point(cell: Place, label_parts: frozenset[str], free: Sequence[str]) -> Point:
    """The coordinates to print: those of the cell, and the symbolic arguments of its function."""
    given = {name: value for name, value in cell.given.items() if is_letter(name) and not isinstance(value, str)}
    every = {name for condition in free for name in letters(condition)}
    return {
        name: value for name, value in {**cell.where, **given}.items() if name not in label_parts and name not in every
    }


def _groups(
    cells: Sequence[Place], label_parts: frozenset[str], general: bool, declared: tuple[str, ...]
) -> Iterable[tuple[Place, list[Place]]]:
    """Group cells by quantity, coordinate names, growing coordinate and free symbols.

    If a claim fails, only its points matter and the quantity is ignored.
    """
    groups: dict[Any, list[Place]] = {}
    for cell in cells:
        free = _free(cell, general, declared)
        along = cell.ray.along if cell.ray is not None else ""
        key = (cell.quantity if general else "", tuple(_point(cell, label_parts, free)), along, free)
        groups.setdefault(key, []).append(cell)
    return [(group[0], group) for group in groups.values()]


def _words(
    group: Sequence[Place], label_parts: frozenset[str], general: bool, latex: bool, declared: tuple[str, ...]
) -> str:
    """Describe one group, for example: for every m, at d = 2, 3 as n → ∞."""
    cell, free = group[0], _free(group[0], general, declared)
    points = at_points([_point(point, label_parts, free) for point in group], latex=latex)
    every = _every(free, latex)
    told = ", ".join(filter(None, (every, f"at {points}" if points else "")))
    if cell.ray is None:
        return told
    grows = rf"${letter(cell.ray.along)} \to \infty$" if latex else f"{plain(letter(cell.ray.along))} → ∞"
    return f"{told} as {grows}".strip()


def _every(conditions: Sequence[str], latex: bool) -> str:
    told = ", ".join(_condition(condition, latex) for condition in conditions)
    return f"for every {told}" if told else ""


def _condition(condition: str, latex: bool) -> str:
    """A condition with the letters of its coordinates: "n >= 2" as n ≥ 2."""
    word, _, rest = condition.partition(" ") if condition.partition(" ")[0] in KINDS else ("", "", condition)
    letters_in = re.sub(NAME, lambda match: named(match[0]).strip("$") if latex else _name(match[0], False), rest)
    for written, sign, command in ((">=", "≥", r"\geq"), ("<=", "≤", r"\leq"), ("!=", "≠", r"\neq")):
        letters_in = letters_in.replace(written, command if latex else sign)
    return f"{word} ${letters_in}$".strip() if latex else f"{word} {letters_in}".strip()


def at(where: Mapping[str, Scalar]) -> str:
    """Describe one point: d = 2, n = 1e6."""
    return ", ".join(f"{plain(named(name))} = {_value(value, False)}" for name, value in where.items())


def at_points(points: Sequence[Point], *, latex: bool = False) -> str:
    """Describe points with the same coordinates: each coordinate separately if they fill a grid, else as tuples.

    >>> at_points([{"d": 2, "n": 10}, {"d": 2, "n": 1000000}, {"d": 3, "n": 10}, {"d": 3, "n": 1000000}])
    'd = 2, 3; n = 10, 1e6'
    >>> at_points([{"law": "relu", "d": 2, "n": 10}, {"law": "relu", "d": 3, "n": 100}])
    'law = relu; (d, n) = (2, 10), (3, 100)'
    """
    rest = list(points[0]) if points else []
    together = {tuple(point[name] for name in rest) for point in points}
    order = list(rest)
    alone: list[str] = []
    for name in order:  # a coordinate is separate if each of its values occurs with all values of the others
        others = [key for key in rest if key != name]
        without = {tuple(point[key] for key in others) for point in points}
        if len(together) == len(without) * len({point[name] for point in points}):
            alone.append(name)
            rest, together = others, without
    parts = {name: _values(name, [point[name] for point in points], latex) for name in alone}
    if rest:
        parts[rest[0]] = _jointly(rest, [tuple(point[name] for name in rest) for point in points], latex)
    return "; ".join(parts[name] for name in order if name in parts)


def _jointly(names: Sequence[str], points: Sequence[tuple[Scalar, ...]], latex: bool) -> str:
    """Describe points that fill no grid: list a few as tuples; of more, give the number and the values."""
    distinct = list(dict.fromkeys(points))
    called = f"({', '.join(_name(name, latex) for name in names)})"
    if len(distinct) < LISTED:
        listed = (", ".join(_value(value, latex) for value in point) for point in distinct)
        return f"{called} = {', '.join(f'({point})' for point in listed)}"
    values = [_values(name, [point[k] for point in distinct], latex) for k, name in enumerate(names)]
    return f"{called} at {len(distinct)} points with {' and '.join(values)}"


def _values(name: str, values: Iterable[Scalar], latex: bool) -> str:
    """The values of a coordinate: all if they are few or consecutive integers, otherwise the ends and the number."""
    distinct = list(dict.fromkeys(values))
    called = _name(name, latex)
    numbers = sorted(value for value in distinct if not isinstance(value, str))
    if len(numbers) < len(distinct):
        more = len(distinct) - LISTED
        listed = ", ".join(_value(value, latex) for value in distinct[: LISTED if more <= 0 else 1])
        return f"{called} = {listed}" + (f" and {len(distinct) - 1} more" if more > 0 else "")
    pieces = _runs(numbers, latex)
    if len(pieces) <= LISTED:
        return f"{called} = {', '.join(pieces)}"
    ends = f"{_value(numbers[0], latex)} to {_value(numbers[-1], latex)}"
    return f"{called} = {ends} ({len(numbers)} values)"


def _runs(numbers: Sequence[int | float], latex: bool) -> list[str]:
    """List numbers in order, with four or more consecutive integers as "2, …, 8"."""
    pieces: list[str] = []
    start = 0
    for k in range(1, len(numbers) + 1):
        whole = k < len(numbers) and isinstance(numbers[k - 1], int) and isinstance(numbers[k], int)
        if whole and numbers[k] == numbers[k - 1] + 1:
            continue
        run = [_value(value, latex) for value in numbers[start:k]]
        pieces += run if len(run) < LISTED else [f"{run[0]}, …, {run[-1]}"]
        start = k
    return pieces


def _name(name: str, latex: bool) -> str:
    return named(name) if latex else plain(named(name))


def _value(value: Scalar, latex: bool) -> str:
    """A printed value; text with a comma is quoted, so that the comma does not look like a separator."""
    if isinstance(value, str):
        text = f"“{value}”" if "," in value or ";" in value else value
        return text.replace("$", r"\$") if latex else text
    mantissa, _, power = number(value).partition("e")
    if not (latex and power):
        return number(value)
    factor = "" if mantissa == "1" else rf"{mantissa} \times "
    return f"${factor}10^{{{power}}}$"


def number(value: int | float) -> str:
    """A number with all its digits, in the shortest form.

    >>> number(2), number(1000.0), number(1e30), number(10**6), number(0.05), number(2500000), number(1 / 3)
    ('2', '1000', '1e30', '1e6', '0.05', '2.5e6', '1/3')
    """
    if isinstance(value, float) and len(repr(value)) > 12:  # it may round a short fraction
        fraction = Fraction(value).limit_denominator(99)
        if float(fraction) == value:
            return str(fraction)
    if isinstance(value, float) and not (value.is_integer() and abs(value) < 1e15):
        mantissa, _, power = repr(value).partition("e")
        return f"{mantissa.removesuffix('.0')}e{int(power)}" if power else mantissa
    digits = str(int(value))
    shortest = digits.lstrip("-").rstrip("0")
    order = len(digits.lstrip("-")) - 1
    if order < 6 or len(shortest) > LISTED:
        return digits
    sign = "-" if value < 0 else ""
    return f"{sign}{shortest[0]}{'.' + shortest[1:] if shortest[1:] else ''}e{order}"


POWER = "power of"
"""The first words of the quantity of a cell that measures the power of a logarithm."""


def follows(
    id: str, cells: Sequence[Cell], crossed: Sequence[CrossCheck], forall: Sequence[str] = (), by_hand: str = ""
) -> dict[str, Any]:
    """The fields of a record that follow from its cells and cross-checks; `audit` recomputes them from these alone."""
    verdict = conclude((cell.verdict for cell in cells), (check.agrees for check in crossed))
    return {
        "verdict": verdict,
        "problem": open_because(cells, crossed) if verdict == "inconclusive" else "",
        "grade": of_claim((cell.grade for cell in cells), by_hand),
        "measured": summary(cells),
        "margin": telling_margin(cells),
        "range": reach(cells, verdict, id, forall=forall, by_hand=by_hand),
        "condition": condition(cells, verdict),
    }


def repeated_by(file: str, id: str) -> str:
    """The command that verifies one claim again."""
    return shlex.join(["lipverify", "verify", *filter(None, [file]), id])


def controls_caught(verdict: Verdict, cells: Sequence[Cell]) -> bool:
    """True if every control that the verdict needs came out the other way.

    A refutation rests on its refuting cells, whose controls were caught. Any other verdict needs the control of each
    cell whose interval alone would decide.
    """
    return verdict == "refuted" or all(cell.caught for cell in cells if cell.alone in OTHER_WAY)


def agree(values: tuple[float, float], errors: tuple[float, float]) -> bool:
    """True if two values differ by at most twice the sum of their errors; an infinite error agrees with nothing.

    >>> agree((1.0, 1.1), (0.03, 0.03)), agree((1.0, 1.1), (0.02, float("inf")))
    (True, False)
    """
    # not the sum itself, which 95 % intervals exceed once in a while
    return math.isfinite(sum(errors)) and abs(values[0] - values[1]) <= 2 * sum(errors)


def open_because(cells: Sequence[Cell], crossed: Sequence[CrossCheck]) -> str:
    """The reason why a claim is open: the first disagreement, uncaught control or wide interval, in this order."""
    for check in crossed:
        if not check.agrees:
            first, second = check.methods
            values = ", ".join(f"{value:.6g}" for value in check.values)
            return f"{first} and {second} disagree on {check.quantity}{_at(check.where)}: {values}"
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


def wants(record: Record) -> str:
    """The error that would decide the first open sampled cell, if its value stays, and the contexts that it takes."""
    for cell in record.cells:
        value, error = middle(cell.interval)
        if cell.alone == "inconclusive" and cell.basis.draws and value is not None and error is not None:
            needed = min(abs(value - edge) for edge in cell.allowed.ends)
            if needed > 0:
                return f"an error of {needed:.2g} would decide it: {(error / needed) ** 2:.2g} times the contexts"
    return ""


def _not_caught(cell: Cell) -> str:
    """The reason why a decisive interval decides nothing: its control agrees with the claim, or is not decided."""
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
    """Summarise the cells in a few words: for each quantity, the value of its decisive cell."""
    told = telling(cells)
    more = len(told) - LISTED
    parts = [_case(cell, cells) for cell in told[:LISTED]] + [f"{more} more quantities"] * (more > 0)
    return "; ".join(parts)


def telling(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The decisive cell of each quantity, ordered so that the cell that decides the claim comes first.

    The decisive cell is the refuting cell at the smallest point, or else the first open cell, or else the cell nearest
    to its edge relative to its value.
    """
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.quantity, []).append(cell)
    return tuple(sorted(map(_telling, groups.values()), key=lambda cell: (_rank(cell), _nearness(cell))))


def telling_margin(cells: Sequence[Cell]) -> float | None:
    """The margin of the cell that decides the claim; None if its range has no finite edge."""
    told = telling(cells)
    return told[0].margin if told else None


def _telling(cells: Sequence[Cell]) -> Cell:
    """The decisive cell among cells of one quantity."""
    worst = min(map(_rank, cells))
    decisive_cells = [cell for cell in cells if _rank(cell) == worst]
    if worst == _REFUTES:
        sizes = [tuple(value for value in cell.where.values() if not isinstance(value, str)) for cell in decisive_cells]
        return decisive_cells[min(range(len(sizes)), key=sizes.__getitem__)]
    return decisive_cells[0] if worst == _OPEN else min(decisive_cells, key=_nearness)


_REFUTES, _OPEN, _HOLDS = 0, 1, 2
"""Ranks of a cell, the gravest first."""


def _rank(cell: Cell) -> int:
    """The effect of a cell on its claim, as a rank: it refutes it, leaves it open, or supports it."""
    return {"refuted": _REFUTES, "supported": _HOLDS}.get(cell.verdict, _OPEN)


def _nearness(cell: Cell) -> float:
    """The margin, relative to the measured value if the cell is supported."""
    if cell.margin is None:
        return math.inf
    near = cell.margin / (abs(cell.measured) if cell.verdict == "supported" and cell.measured else 1.0)
    return float(f"{near:.9g}")  # rounded, so that rounding errors do not choose among cells that are equally near


def _case(cell: Cell, cells: Sequence[Cell]) -> str:
    """The value of one cell, with its quantity and place if others differ in them, and how many cells are like it."""
    alike = [other_cell for other_cell in cells if other_cell.quantity == cell.quantity]
    what = f"{cell.quantity} = " if len(alike) < len(cells) or beside_exponent(cell) else ""
    if len({_measured(other_cell) for other_cell in alike}) == 1:
        return f"{what}{_measured(cell)}"
    varying = {name: value for name, value in cell.where.items() if len({c.where.get(name) for c in alike}) > 1}
    same = [other_cell for other_cell in alike if _rank(other_cell) == _rank(cell)]
    word = {_REFUTES: "refuted", _OPEN: "open"}.get(_rank(cell), "")
    many = f" ({word} in {len(same)} of {len(alike)})" if word else f" (of {len(alike)} the nearest to its edge)"
    return f"{what}{_measured(cell)}{_at(varying)}{many if word == '' or len(same) < len(alike) else ''}"


def beside_exponent(cell: Cell) -> bool:
    """True if a cell measures the power of a logarithm, which is not the quantity that the statement names."""
    return cell.quantity.startswith(POWER)


def _measured(cell: Cell) -> str:
    """The measured value, with its error if three digits of the value would show it."""
    if cell.measured is None:
        return "unknown"
    seen = cell.error is not None and cell.error > 5e-4 * abs(cell.measured)
    return f"{cell.measured:.3g}" + (f" ± {cell.error:.2g}" if seen else "")


def middle(interval: Interval) -> tuple[float | None, float | None]:
    """The middle and half-width of an interval; two Nones if an end is infinite."""
    low, high = interval.low, interval.high
    return (None, None) if low is None or high is None else (float(low + high) / 2, float(high - low) / 2)
