"""Audit a ledger: recompute its digests, verdicts, margins, controls, grades, ranges and words from its own data.

`audit` measures nothing and reads only the ledger. What its claims are in their sources, another run and `diff` show.
"""

from __future__ import annotations

import json
import math
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from hashlib import sha256
from itertools import zip_longest
from typing import Any

import msgspec

from lipverify.claims.evidence.returned import LONGEST, Certified, Returned, expanded
from lipverify.claims.evidence.theorems import shipped_proofs
from lipverify.claims.language.family import EDGES, Point, range_of
from lipverify.claims.ledger.outcomes import contradicted, counts, measured, passages
from lipverify.claims.ledger.reach import agree, beside_exponent, controls_caught, follows, repeated_by
from lipverify.claims.ledger.record import Asked, Cell, Ledger, Record
from lipverify.claims.ledger.verdict import OTHER_WAY, Allowed, Interval, contains, decide, margin, settled
from lipverify.claims.run.judgment import no_control, uncovered, unnoticed
from lipverify.errors import InvalidInput

__all__ = ["Difference", "audit", "audit_again", "ledger_digest", "sealed", "unread"]

NUMBER = r"[-+]?[0-9.]+(?:e[-+][0-9]+)?"


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A statement of a ledger that does not follow from its data."""

    id: str
    where: str
    what: str
    stated: str
    follows: str


def sealed(ledger: Ledger, asked: Mapping[str, tuple[int, int]] | None = None) -> Ledger:
    """The ledger with its manifest, passages, counts and digest.

    `asked` maps an id to its numbers of cells and cross-checks; the default is the present manifest. A digest detects
    changes by hand or by accident. It is not a signature: anyone who makes a ledger can make its digest.
    """
    sizes = asked or {claim.id: (claim.cells, claim.cross_checks) for claim in ledger.asked}
    manifest = tuple(
        Asked(id=claim.id, cells=sizes[claim.id][0], cross_checks=sizes[claim.id][1], digest=digest_of(claim))
        for claim in ledger.claims
    )
    judged = measured(ledger.claims)
    made = msgspec.structs.replace(ledger, asked=manifest, passages=passages(judged), counts=counts(judged))
    return msgspec.structs.replace(made, digest=ledger_digest(made))


def digest_of(record: Record) -> str:
    """SHA-256 of a record as it is read back, when an integer in a float field has become a float."""
    read = msgspec.json.decode(msgspec.json.encode(record), type=Record)
    return sha256(msgspec.json.encode(read)).hexdigest()


def ledger_digest(ledger: Ledger) -> str:
    """SHA-256 of a ledger without its records and without this digest."""
    return sha256(msgspec.json.encode(msgspec.structs.replace(ledger, claims=(), digest=""))).hexdigest()


def audit(ledger: Ledger) -> tuple[Difference, ...]:
    """All statements that do not follow from the data, claim by claim; empty for a sound ledger.

    The digests reveal a change by hand. All derived fields are recomputed as well: if someone changes a ledger and
    renews its digests, the words, ranges, counts and grades must still follow from the data.
    """
    ids = [record.id for record in ledger.claims]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    repeated = [Difference(id=id, where="", what="id", stated=f"{ids.count(id)} claims", follows="one") for id in twice]
    proved = [
        _difference(claim, "", "verdict", claim.verdict, f"{proof.verdict}, by {proof.id}")
        for claim, proof in contradicted(ledger.claims)
    ]
    of_records = (difference for record in ledger.claims for difference in _record(record))
    return (*repeated, *_manifest(ledger), *proved, *of_records)


def audit_again(ledger: Ledger) -> Iterator[Difference]:
    """The theorems of a ledger whose proof files the checker does not certify."""
    from lipverify.proofs import checker

    cells = ((record, cell) for record in ledger.claims for cell in record.cells)
    used = {theorem.digest: (record, theorem) for record, cell in cells for theorem in cell.basis.returned.theorems}
    for digest, (record, theorem) in used.items():
        text = theorem.proof or shipped_proofs().get(digest, "null")
        if missing := checker.failures(json.loads(text)):
            yield _difference(record, "", "proof", _short(theorem.sentence), f"no proof: {_short(missing[0])}")


def unread(text: str | bytes, ledger: Ledger) -> tuple[Difference, ...]:
    """Keys in a file that are not part of a ledger, are repeated, or are missing.

    Spaces, the order of keys and the notation of numbers may differ.
    """
    stated = Counter(_keys(json.loads(text, object_pairs_hook=tuple)))
    read = Counter(_keys(json.loads(msgspec.json.encode(ledger), object_pairs_hook=tuple)))
    unknown = (_of_ledger("key", "stated", "no such key, or not so often", where) for where in stated - read)
    return (*unknown, *(_of_ledger("key", "left out", "every key is written", where) for where in read - stated))


def _keys(value: Any, path: str = "") -> Iterator[str]:
    """The place of every key in JSON whose objects are tuples of pairs."""
    if isinstance(value, (tuple, list)):
        for at, entry in enumerate(value):
            name, inner = entry if isinstance(value, tuple) else (f"[{at}]", entry)
            where = f"{path}.{name}".lstrip(".").replace(".[", "[")
            if isinstance(value, tuple):
                yield where
            yield from _keys(inner, where)


def _manifest(ledger: Ledger) -> Iterator[Difference]:
    """Records that are missing, were not planned, or differ from their digests in the manifest."""
    asked = {claim.id: claim for claim in ledger.asked}
    for record in ledger.claims:
        entry = asked.pop(record.id, None)
        if entry is None:
            yield _difference(record, "", "manifest", "a claim", "no such claim was asked for")
            continue
        sizes = (len(record.cells), len(record.cross_checks))
        if record.verdict != "error" and sizes != (entry.cells, entry.cross_checks):
            stated = f"{len(record.cells)} cells and {len(record.cross_checks)} cross-checks"
            yield _difference(record, "", "manifest", stated, f"{entry.cells} and {entry.cross_checks} were asked for")
        if digest_of(record) != entry.digest:
            yield _difference(record, "", "digest", "that of another record", "the record was changed")
    order, ids = [claim.id for claim in ledger.asked], [record.id for record in ledger.claims]
    if ids != order and sorted(ids) == sorted(order):
        yield _of_ledger("manifest", "in another order", "that of the claims")
    for id in asked:
        yield Difference(id=id, where="", what="manifest", stated="left out", follows="it was asked for")
    judged = measured(ledger.claims)
    pairs: list[tuple[str, Any, Any]] = [("counts", ledger.counts, counts(judged))]
    pairs += [("passage", stated, follow) for stated, follow in zip_longest(ledger.passages, passages(judged))]
    for what, stated, follow in _unequal(pairs):
        yield _of_ledger(what, _short(stated), _short(follow))
    made = ledger.provenance
    if not math.isfinite(made.seconds) or made.seconds < 0:
        yield _of_ledger("seconds", f"{made.seconds}", "a time")
    if not _is_time(made.started):
        yield _of_ledger("start", _short(made.started), "a time by ISO 8601")
    if "lipverify" not in made.versions:
        yield _of_ledger("versions", "without lipverify's", "what made it")
    if ledger_digest(ledger) != ledger.digest:
        changed = "the profile, seed, backend, provenance or manifest was changed"
        yield _of_ledger("digest", "that of another ledger", changed)


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _record(record: Record) -> Iterator[Difference]:
    if faults := [(cell, fault) for cell in record.cells if (fault := _ray(cell))]:
        yield from (_difference(record, _place(cell), "ray", cell.ray, fault) for cell, fault in faults)
        return
    yield from _evidence(record)
    broken = any(cell.verdict == "error" for cell in record.cells)
    if record.verdict == "error" and not broken:
        if not record.problem:
            yield _difference(record, "", "problem", "none", "an error has a reason")
        if record.cells:
            yield _difference(record, "", "verdict", "error", "its cells are there, and none of them broke")
        return
    following = follows(record.id, record.cells, record.cross_checks, record.forall, record.by_hand)
    pairs = ((what, getattr(record, what), follow) for what, follow in following.items())
    yield from (_difference(record, "", *found) for found in _unequal(pairs))
    caught = controls_caught(record.verdict, record.cells)
    if record.control.caught != caught:
        yield _difference(record, "", "control", record.control.caught, caught)
    if record.verdict == "supported" and (why := uncovered(record.forall, record.by_hand, record.cells)):
        yield _difference(record, "", "range", ", ".join(record.forall), why)
    yield from _history(record)


def _evidence(record: Record) -> Iterator[Difference]:
    """The differences in the cells and cross-checks of a record."""
    for cell in record.cells:
        yield from (_difference(record, _place(cell), *found) for found in _cell(cell))
    for check in record.cross_checks:
        place, agrees = f"{check.quantity} {check.where}", agree(check.values, check.errors)
        if check.agrees != agrees:
            yield _difference(record, place, "agrees", check.agrees, agrees)
        if not all(error >= 0 for error in check.errors):
            yield _difference(record, place, "errors", check.errors, "two that are >= 0")


def _history(record: Record) -> Iterator[Difference]:
    """The differences in how a record was made: its command and its duration."""
    command = repeated_by(record.file, record.id)
    if record.reproduce != command:
        yield _difference(record, "", "reproduce", record.reproduce, command)
    if not math.isfinite(record.seconds) or record.seconds < 0:
        yield _difference(record, "", "seconds", record.seconds, "a time")


def _cell(cell: Cell) -> Iterator[tuple[str, Any, Any]]:
    """The differences in a cell and its control, as (field, stated, recomputed)."""
    control = cell.control
    if not _numbers(cell):
        yield "numbers", "not-a-number or infinite", "finite numbers, or none where unbounded"
    grade, reasons = cell.graded
    pairs: list[tuple[str, Any, Any]] = [
        ("verdict", cell.verdict, settled(cell.alone, control.verdict) if control.declared else cell.alone),
        ("margin", cell.margin, margin(cell.interval, cell.allowed)),
        ("control must be", control.expects, OTHER_WAY.get(cell.alone, "refuted")),
        ("grade", cell.grade, grade),
        ("reasons", cell.reasons, reasons),
    ]
    if control.declared:
        pairs += [
            ("control's verdict", control.verdict, decide(control.interval, control.allowed)),
            ("control's margin", control.margin, margin(control.interval, control.allowed)),
        ]
    elif control != no_control(control.expects):
        yield "control", control.says, "nothing, for none is declared"
    yield from _unequal(pairs)
    yield from _range("claimed", cell.claimed, cell.edges, cell.allowed, cell)
    if control.declared:
        yield from _range("control", control.says, control.edges, control.allowed, cell)
    yield from _basis(cell)
    distance = None if beside_exponent(cell) or control.quantity else unnoticed(cell.allowed, control.allowed)
    if None not in (distance, control.unnoticed) and distance != control.unnoticed:
        yield "what could go unnoticed", control.unnoticed, distance
    # a false control that allows all that the claim allows could not fail, nor a true one that allows no more than it;
    # if nothing is known of a cell, nothing is known of its control, even one at other coordinates
    known = any(map(math.isfinite, cell.interval.ends))
    alike = known and not control.quantity and control.interval == cell.interval
    wide, narrow = control.allowed, cell.allowed
    if control.expects == "supported":
        wide, narrow = narrow, wide
    if alike and contains(wide, narrow):
        yield "control", _said(control.allowed), "a statement that is not implied by the claim"
    if not _is_measured(cell):
        yield "interval", _said(cell.interval), f"{cell.measured} ± {cell.error}"
    elif not _is_noted(cell):
        yield "note", repr(cell.note), "what narrows the interval, or nothing"


def _is_noted(cell: Cell) -> bool:
    """True if the note of a cell agrees with its interval.

    A limit at equality is the power of a ratio that decides, an edge of the allowed range. A difference within its
    rounding is 0. Any other interval is the measured one. The note of an unbounded interval gives the reason in free
    text.
    """
    low, high = cell.interval.ends
    if not math.isfinite(high - low) or cell.measured is None or cell.error is None:
        return True
    whole = _within(Interval.around(cell.measured, cell.error), cell.interval)
    if (ratio := cell.ratio) is not None:
        at_edge = low == high == ratio.power and low in cell.allowed.ends
        return at_edge and cell.ray is not None and ratio.decides and not cell.note
    if rounded := re.fullmatch(rf"({NUMBER}), rounding explains {NUMBER}", cell.note):
        return low == high == 0 and float(rounded[1]) == float(f"{cell.measured:.3g}")
    if beside_exponent(cell):
        of_a_ray = rf"the exponent of s is {NUMBER}, and the power of log s decides"
    else:
        of_a_ray = (
            rf"it tends to 0 like a power: exponent {NUMBER} ± {NUMBER}|it is 0 within its error from {NUMBER} on"
        )
    return whole and (not cell.note or (cell.ray is not None and re.fullmatch(of_a_ray, cell.note) is not None))


def _ray(cell: Cell) -> str:
    """The reason why the ray of a cell cannot show a limit; empty if it can."""
    try:
        return "" if cell.ray is None or cell.ray.ladder else "a ladder"
    except InvalidInput as error:
        return str(error)


def _range(
    what: str, sentence: str, edges: dict[str, str], allowed: Allowed, cell: Cell
) -> Iterator[tuple[str, Any, Any]]:
    """Differences between a range, in numbers and words, and its formulas at the coordinates of the cell."""
    if not edges:
        return
    if unknown := sorted(set(edges) - {*EDGES, "within"}):
        yield what, f"an edge called {unknown[0]!r}", f"one of {', '.join((*EDGES, 'within'))}"
        return
    try:
        stated = range_of(**edges, strict=allowed.open)
        numbers = stated.allowed(Point(cell.where))
    except InvalidInput as error:
        yield what, ", ".join(f"{name} = {text}" for name, text in edges.items()), f"no range: {error}"
        return
    if not all(_equal(end, number) for end, number in zip(allowed.ends, numbers.ends, strict=True)):
        yield what, _said(allowed), f"{_said(numbers)}, by its formulas"
    words = stated.text("").strip()
    if sentence != words and not sentence.startswith(f"{words} with "):
        yield f"{what} in words", sentence, words


def _equal(first: float, second: float) -> bool:
    """True if two ends differ at most by the rounding differences between machines' math libraries."""
    return first == second or math.isclose(first, second, rel_tol=16 * sys.float_info.epsilon)


def _basis(cell: Cell) -> Iterator[tuple[str, Any, Any]]:
    """Differences between what a number is said to rest on and the number."""
    one, stated = cell.basis.returned, cell.basis.stated
    if cell.ray is None and cell.measured is not None and cell.error is not None:
        rounding = 4 * sys.float_info.epsilon * (abs(cell.measured) + cell.error)
        if stated is None or abs(stated - cell.error) > rounding:
            yield "stated error", stated, cell.error
    if one.form in ("number", "library"):
        if one.symbols or one.theorems or one.says:
            yield "evidence", f"a {one.form} with symbols, theorems or an exact text", "a number alone"
        return
    if (one.form in ("theorem", "computed")) != bool(one.theorems):
        yield "evidence", f"a {one.form} of {len(one.theorems)} theorems", "theorems for numbers that come from some"
    if stated is None or stated < one.error:
        yield "stated error", stated, f"at least {one.error:g}, the error of the exact value"
    at_one_point = None if cell.ray is not None else cell.measured
    yield from _exact_value(one, cell, at_one_point)
    if one.form == "symbolic" and len(one.says) < LONGEST and not re.match(r"\d+ of \d+ terms", one.says):
        yield from _expression(one, at_one_point)
    yield from (fault for theorem in one.theorems for fault in _theorem(theorem, cell))


def _expression(one: Returned, measured: float | None) -> Iterator[tuple[str, Any, Any]]:
    """The difference between an expression, expanded again, and the number."""
    found = expanded(one.says, one.symbols)
    if found is None:
        yield "expression", _short(one.says), "an expression that is decided"
    elif measured is not None and not _equal(float(found), measured):
        yield "expression", _short(one.says), f"{found}"


def _exact_value(one: Returned, cell: Cell, measured: float | None) -> Iterator[tuple[str, Any, Any]]:
    """Differences between an exact value as text, its error, and the number; None for the number of a limit."""
    known = _stated(one)
    if known is None:
        if one.form != "symbolic" and len(one.says) < LONGEST:
            yield "evidence", f"a {one.form}: {_short(one.says)}", "a number"
    elif measured is not None:
        if not _within(known, _around(cell, known)):
            yield "evidence", _short(one.says), f"{measured} was measured"
        if known.ends[1] - known.ends[0] > 2 * one.error + 4 * sys.float_info.epsilon * max(map(abs, known.ends)):
            yield "error of the exact value", one.error, f"half the width of {_short(one.says)}"


def _theorem(theorem: Certified, cell: Cell) -> Iterator[tuple[str, Any, Any]]:
    """Differences between a theorem, its proof file, and the number of the cell."""
    from lipverify.proofs import checker

    text = theorem.proof or shipped_proofs().get(theorem.digest, "")
    if sha256(text.encode()).hexdigest() != theorem.digest:
        yield "proof file", theorem.digest[:12], "that of a file of lipverify's, or of one in the ledger"
        return
    try:
        data = json.loads(text)
        said = checker.sentence(data)
    except (ValueError, ArithmeticError, LookupError, RecursionError) as error:
        yield "proof file", theorem.digest[:12], f"a proof: {_short(error)}"
        return
    fact, without = said.facts.get(theorem.fact), ("", "", "", said.ranges)
    stated = (fact.quantity, str(fact.low), str(fact.high), fact.ranges or said.ranges) if fact else without
    number = (theorem.quantity, theorem.low, theorem.high, theorem.ranges)
    pairs = [("theorem", theorem.sentence, said.text), ("number of the theorem", number, stated)]
    yield from ((what, _short(of), _short(follow)) for what, of, follow in _unequal(pairs))
    if theorem.fact and cell.ray is None and cell.measured is not None:
        try:
            bounds = Interval(float(Fraction(theorem.low)), float(Fraction(theorem.high)))
        except (ValueError, ZeroDivisionError, OverflowError):
            yield "number of the theorem", f"{theorem.low} to {theorem.high}", "two fractions"
            return
        if not (_within(bounds, _around(cell, Interval.around(0.0, 0.0))) and _within(cell.interval, bounds)):
            yield "number of the theorem", _said(bounds), f"{cell.measured} ± {cell.error}"


def _stated(one: Returned) -> Interval | None:
    """The interval that an exact value states as text: a fraction, a ball, or the number of terms left over."""
    match = re.match(r"(\d+) of \d+ terms (?:is|are) left\b", one.says)
    ball = re.fullmatch(rf"\[?({NUMBER})(?: (?:±|\+/-) ({NUMBER}))?\]?", one.says)
    try:
        if ball and ball[2]:
            return Interval.around(float(ball[1]), float(ball[2]))
        return Interval.around(float(Fraction(match[1] if match else one.says)), 0.0)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def _around(cell: Cell, stated: Interval) -> Interval:
    """The measured interval of a cell, widened by the width of the proof's interval."""
    low, high = stated.ends
    assert cell.measured is not None
    return Interval.around(cell.measured, (cell.error or 0.0) + high - low)


def _short(value: Any) -> str:
    return textwrap.shorten(str(value), 200)


def _is_measured(cell: Cell) -> bool:
    """True if the interval is measured ± error up to rounding, or lies within it and a ratio or a note says why."""
    low, high = cell.interval.ends
    if cell.measured is None or cell.error is None:
        return not math.isfinite(high - low)
    whole = Interval.around(cell.measured, cell.error)
    narrowed = bool(cell.note) or cell.ratio is not None
    return _within(cell.interval, whole) and (narrowed or _within(whole, cell.interval))


def _within(interval: Interval, outer: Interval) -> bool:
    """True if an interval lies in another one, up to rounding."""
    rounding = 12 * sys.float_info.epsilon * max(map(abs, outer.ends))
    return outer.ends[0] - rounding <= interval.ends[0] <= interval.ends[1] <= outer.ends[1] + rounding


def _numbers(cell: Cell) -> bool:
    control = cell.control
    numbers = [cell.measured, cell.error, cell.margin, control.margin]
    for held in (cell.allowed, cell.interval, control, control.interval):
        numbers += [held.low, held.high]
    return all(number is None or math.isfinite(number) for number in numbers)


def _place(cell: Cell) -> str:
    return f"{cell.quantity} at {', '.join(f'{name} = {value}' for name, value in cell.where.items()) or 'the point'}"


def _said(held: Allowed | Interval) -> str:
    low, high = held.ends
    return f"{low:g} to {high:g}"


def _unequal(pairs: Iterable[tuple[str, Any, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """Those of (field, stated, recomputed) that differ."""
    return (pair for pair in pairs if pair[1] != pair[2])


def _of_ledger(what: str, stated: str, follows: str, where: str = "") -> Difference:
    return Difference(id="ledger", where=where, what=what, stated=stated, follows=follows)


def _difference(record: Record, where: str, what: str, stated: Any, follows: Any) -> Difference:
    return Difference(id=record.id, where=where, what=what, stated=str(stated), follows=str(follows))
