"""Verdicts in words: one line for each claim or theorem, and the end of a run, which names what is false or open."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from rich.cells import cell_len

from lipverify.claims.evidence.grade import GRADES
from lipverify.claims.ledger.outcomes import behind, by_outcome, counts, measured, passages
from lipverify.claims.ledger.reach import in_line, reach_of_record, wants
from lipverify.claims.ledger.record import Ledger, Outcome, Passage, Record
from lipverify.claims.ledger.verdict import OTHER_WAY
from lipverify.foundation.latex import plain
from lipverify.foundation.quoting import counted
from lipverify.report.readings import holds_at, ranges_of
from lipverify.report.terminal.tables import LOOKS, SIGNS, wrapped
from lipverify.report.visible import called, visible

AS_RECORDED, DIFFERS, BROKE = 0, 1, 3
"""Exit codes of `verify`; 2 is the interpreter's code for a wrong command line."""
SCREEN, LEAST = 80, 18
"""Most lines of a whole run, and the lines that its end may have however many theorems stand above it."""
Trouble = Literal["broke", "moved", "not caught", "open", "false"]
TROUBLES: dict[Trouble, str] = {"broke": "!", "moved": "≠", "not caught": "‡", "open": "?", "false": "✗"}
"""The sign of each trouble, the most urgent first."""


class Named(NamedTuple):
    """A claim that the end of a run names, and the passage that it makes false or leaves open, if it does."""

    trouble: Trouble
    record: Record
    passage: Passage | None = None


def exit_code(ledger: Ledger, strict: bool) -> int:
    """3 if a check broke, 1 if a verdict differs from the recorded one or a control escaped, else 0."""
    if any(record.verdict == "error" for record in ledger.claims):
        return BROKE
    differs = any(record.moved or not record.control.caught for record in ledger.claims)
    refuted = strict and any(record.verdict == "refuted" for record in ledger.claims)
    return DIFFERS if differs or refuted else AS_RECORDED


def ending(ledger: Ledger, files: Sequence[Path], strict: bool, width: int) -> list[str]:
    """The last lines of a run, none wider than `width`: counts, what is false, open or broken by name, and files."""
    named = _named(ledger)
    head = _wrapped([*_counted(ledger, width), *_controls(ledger), *_new(ledger)], width)
    tail = _wrapped([*_where(ledger, files, named), _exit(ledger, strict)], width)
    above = len({stem_of(record.id) for record in ledger.claims}) + len(HEADING.splitlines())
    room = max(SCREEN - 1 - above, LEAST) - len(head) - len(tail)
    return [*head, *_listed(ledger, named, width, max(room, 2)), *tail]


def _wrapped(lines: Iterable[str], width: int) -> list[str]:
    return [line for paragraph in lines for line in wrapped(paragraph, width, "    ")]


def _counted(ledger: Ledger, width: int) -> Iterator[str]:
    """Count passages by outcome, then grades, then claims."""
    judged = measured(ledger.claims)
    grades = Counter(item.grade for item in passages(judged) or judged)
    told = ", ".join(f"{grades[grade]} {grade}" for grade in GRADES if grades[grade])
    first, *others = counts(judged).split("; ")
    if len(first) > width:
        first = re.sub(r" (?:hold|holds|is|are) (in one|false|open)(?: of (?:its|their) readings)?", r" \1", first)
        first = first.replace(" in one", " in one reading")
    yield first
    if told:
        yield f"grades: {told}"
    yield from others


def _controls(ledger: Ledger) -> Iterator[str]:
    """The number of decided cells with a control; a control that was not caught has a line of its own."""
    decided = [cell for record in ledger.claims for cell in record.cells if cell.verdict in OTHER_WAY]
    declared = [cell for cell in decided if cell.control.declared]
    if declared and all(cell.caught for cell in declared):
        every = len(declared) == len(decided) > 1
        some = "each" if every else f"{len(declared)}"
        have = "has" if every or len(declared) == 1 else "have"
        yield f"controls: {some} of {counted(len(decided), 'decided cell')} {have} one, and it got the opposite verdict"


def _new(ledger: Ledger) -> Iterator[str]:
    """Count the claims without a recorded verdict, and show for the first how to record it."""
    new = [record for record in ledger.claims if record.expected is None and record.verdict in OTHER_WAY]
    if new:
        first = f'expected="{new[0].verdict}" in {visible(new[0].id)}'
        which = f"{counted(len(new), 'verdict')} {'is' if len(new) == 1 else 'are'} not recorded"
        yield f"{which}: write {first}, and a later run notices a change"


def _named(ledger: Ledger) -> list[Named]:
    """What the end of a run names, the most urgent first, and in each group printed statements before others.

    A passage is named once, by the first claim that makes it false or leaves it open. A refuted claim that belongs to
    no passage is named while its verdict is not recorded.
    """
    named = [Named(trouble, record) for record in ledger.claims if (trouble := _trouble_of(record))]
    every = {record.id: record for record in ledger.claims}
    judged, seen = passages(measured(ledger.claims)), {name.record.id for name in named}
    for passage in judged:
        outcomes: dict[Outcome, Trouble] = {"false as printed": "false", "open": "open"}
        trouble = outcomes.get(passage.outcome)
        if trouble and not seen & {*passage.telling}:
            named.append(Named(trouble, every[passage.telling[0]], passage))
    inside = {id for passage in judged for id in passage.claims}
    refuted = [record for record in ledger.claims if record.verdict == "refuted" and record.expected is None]
    named += [Named("false", record) for record in refuted if record.id not in inside]
    order = [*TROUBLES]
    return sorted(named, key=lambda name: (order.index(name.trouble), name.record.kind != "printed"))


def _trouble_of(record: Record) -> Trouble | None:
    """The reason why a claim by itself needs attention."""
    if record.verdict == "error":
        return "broke"
    if record.moved:
        return "moved"
    if record.verdict == "inconclusive":
        return "open"
    return None if record.control.caught else "not caught"


def _listed(ledger: Ledger, named: Sequence[Named], width: int, room: int) -> list[str]:
    """The lines about what is named: in full while there is room, then in one line each; the rest is counted.

    Of false passages all are in full or none.
    """
    if not named:
        return _wrapped(["nothing is open, false as printed or broken"], width)
    lines, short = list[str](), False
    texts = [wrapped(_in_full(ledger, name), width, "    ") for name in named]
    for k, name in enumerate(named):
        after = [len(text) if name.trouble == "false" else 1 for text in texts[k + 1 :]]
        if not short and len(lines) + len(texts[k]) + sum(after) <= room:
            lines += texts[k]
        elif len(lines) + 1 + min(len(after), 1) <= room:
            lines.append(_briefly(name, width))
            short = True
        else:
            return [*lines, *_wrapped([_left_out(named[k:])], width)]
    return lines


def _in_full(ledger: Ledger, name: Named) -> str:
    """The claim, its state, the reason, and what holds instead or the next step."""
    record = name.record
    decided = record.verdict in OTHER_WAY  # the reason of an open claim says where
    where = visible(reach_of_record(record)) if decided else ""
    became = {
        "broke": "broke",
        "moved": f"moved from {record.expected} to {record.verdict} {where}".rstrip(),
        "not caught": f"is {record.verdict} {where}, its control not caught",
        "open": "is open",
        "false": "is false as printed" if name.passage else "is refuted",
    }[name.trouble]
    place = f" ({visible(plain(record.source.place))})" if name.passage else ""
    if name.trouble == "false":
        then = f"; instead: {visible(plain(record.corrected))}" if record.corrected else ""
    else:
        then = f"; next: {'try another reading' if name.passage else _next_step(ledger, record)}"
    return f"{TROUBLES[name.trouble]} {visible(record.id)} {became}{place}: {_reason(name)}{then}"


def _briefly(name: Named, width: int) -> str:
    """The place of a passage, which says more than its id, or the id of a claim; then the beginning of the reason."""
    place = plain(name.passage.place).strip() if name.passage else ""
    text = f"{TROUBLES[name.trouble]} {visible(place or name.record.id)}: {_reason(name)}"
    first, *more = wrapped(text, width)
    cut = f"{wrapped(text, width - 4)[0]} ..."
    return cut if more and cell_len(cut) <= width else first


def _left_out(named: Sequence[Named]) -> str:
    """Count what is not named, by its trouble, and say where it is listed."""
    many = Counter(name.trouble for name in named)
    told = [f"{many[trouble]} {trouble}" for trouble in TROUBLES if many[trouble]]
    return f"also, {', '.join(told)}: --table and the report name them"


def _reason(name: Named) -> str:
    record, passage = name.record, name.passage
    if record.problem:
        return visible("; ".join(filter(None, [called(record.problem.rstrip(".")), wants(record)])))
    if passage is not None and passage.outcome == "open":
        return f"no reading that was tried holds ({len(passage.fails)} fail)"
    missed = next((cell for cell in record.cells if not cell.caught), None)
    if not record.control.caught and missed is not None:
        return f"the control {visible(missed.quantity)} {visible(missed.control.says)} is {missed.control.verdict}"
    return f"{visible(record.measured)}, where {visible(record.claimed)} is claimed"


def _next_step(ledger: Ledger, record: Record) -> str:
    if record.verdict == "error":
        return "fix the cause, then repeat the command with --resume"
    if "disagree" in record.problem:
        return f"one of the two methods is wrong there: {record.reproduce} --seed {ledger.seed + 1}"
    if any(cell.uncontrolled for cell in record.cells):
        return "give control= a statement that is false where the claim is true"
    if record.verdict == "inconclusive":
        return "reduce the error" + f", or {record.reproduce} --profile full" * (ledger.profile == "quick")
    if not record.control.caught:
        return "choose a control that the evidence can distinguish from the claim"
    return "lipverify diff OLD NEW shows which numbers moved"


def _where(ledger: Ledger, files: Sequence[Path], named: Sequence[Named]) -> Iterator[str]:
    """The folder of the ledger and its reports, and the commands that show more."""
    took = f"{counted(len(ledger.claims), 'claim')} in {ledger.provenance.seconds:.0f} s"
    written = f": {', '.join(file.name for file in files)} in {files[0].parent}" if files else ""
    yield f"{took}{written}"
    if ledger.claims:
        first = named[0].record if named else ledger.claims[0]
        yield f"more: {_explaining(first)}; every claim: --table"


def _explaining(record: Record) -> str:
    """The command that explains a theorem, with the file of its claims."""
    _, _, *file = shlex.split(record.reproduce)[:-1] or ("lipverify", "verify")
    return visible(shlex.join(["lipverify", "explain", *file, stem_of(record.id)]))


def _exit(ledger: Ledger, strict: bool) -> str:
    code, claims = exit_code(ledger, strict), ledger.claims
    if code == AS_RECORDED:
        new = sum(record.expected is None for record in claims)
        return f"exit code 0: no verdict moved, {new} new" if new else "exit code 0: every verdict is as recorded"
    decided = [record for record in claims if record.verdict != "error"]
    counts = (
        (len(claims) - len(decided), "check", "broke", "broke"),
        (sum(r.moved for r in decided), "verdict", "differs from the record", "differ from the record"),
        (sum(not r.control.caught and not r.moved for r in decided), "control", "was not caught", "were not caught"),
        (strict * sum(r.verdict == "refuted" for r in claims), "claim", "is refuted", "are refuted"),
    )
    told = [f"{counted(count, noun)} {does if count == 1 else do}" for count, noun, does, do in counts if count]
    told[-1] += ", and --strict was given" * (counts[-1][0] > 0)
    return f"exit code {code}: {'; '.join(told)}"


SHORT: dict[Outcome, str] = {
    "holds as printed": "hold", "holds in one of its readings": "in one reading", "false as printed": "false",
    "open": "open",
}  # fmt: skip
"""The outcome after a number of passages."""
STEM, OUTCOME, GRADE, WIDTH = 33, 21, 13, 80
"""Column widths, which with the verdicts that follow add up to eighty."""
LEGEND = "  ✓ holds, supported  ≈ holds in one reading  ✗ false, refuted  ? open  ! error"
HEADING = f"{LEGEND}\n  {'theorem':<{STEM}}{'outcome':<{OUTCOME}}{'grade':<{GRADE}}claims"
FEW = 10
"""Most theorems of a run that prints their ranges, in lines of their own; a whole run has a line a theorem."""


def stem_of(id: str) -> str:
    """The part of an id that all readings of one theorem share."""
    return id.partition("/")[0]


def theorem_line(stem: str, records: Sequence[Record], among: Sequence[Record] = (), *, ranges: bool = True) -> str:
    """One line for a theorem: the outcomes of its passages, their grade, the verdicts on all claims; and its ranges.

    `among` are the records of all theorems that share passages with it.
    """
    ids, among = {record.id for record in records}, among or records
    printed = [passage for passage in passages(measured(among)) if ids & {*passage.claims}]
    outcomes = {name: held for name, held in by_outcome(printed).items() if held}
    own = [record for record in among if any(record.id in passage.claims for passage in printed)] or records
    counts = Counter[str](record.verdict for record in records)
    alike = LOOKS[records[0].verdict][0] if len(counts) == 1 else " "
    sign = "!" if counts["error"] else SIGNS[list(outcomes)[-1]] if outcomes else alike
    tally = " ".join(f"{counts[verdict]}{look}" for verdict, (look, _) in LOOKS.items() if counts[verdict])
    grade = behind(own, among) or "none"
    summary = f"{_told(outcomes, counts) + ' ':<{OUTCOME}}{grade + ' ':<{GRADE}}{tally}{_notes(records)}"
    # a longer stem moves the next column to the right rather than being cut
    line = f"{sign} {visible(stem) + ' ':<{min(STEM, WIDTH - 2 - len(summary))}}{summary}"
    where = _holding(own, among, printed) if ranges else ""
    return f"{line}\n    {visible(where)}" if where else line


def _told(outcomes: Mapping[Outcome, Sequence[Passage]], verdicts: Counter[str]) -> str:
    """The outcome of all passages, or their number for each outcome; without passages the verdicts of the claims."""
    if not outcomes:
        alike = len(set(verdicts.elements())) == 1
        return next(iter(verdicts)) if alike else f"{verdicts['supported']} of {verdicts.total()} supported"
    if len(outcomes) == 1:
        return next(iter(outcomes)).replace("one of its readings", "one reading")
    several = [f"{len(held)} {SHORT[name]}" for name, held in outcomes.items()]
    return ", ".join("1 holds" if told == "1 hold" else told for told in several)


def _holding(own: Sequence[Record], records: Sequence[Record], printed: Sequence[Passage]) -> str:
    """The range of each outcome, with its name if there are several."""
    if not printed:
        return holds_at(own, records, latex=False)
    ranges = ranges_of(own, printed, records, latex=False)
    return "; ".join(f"{name}: {where}" if len(ranges) > 1 else where for name, where in ranges.items() if where)


def claim_line(record: Record) -> str:
    """One line for a claim: the verdict, the id, and the measurement."""
    sign, _ = LOOKS[record.verdict]
    evidence = "; ".join(filter(None, [record.problem or record.measured, wants(record)]))
    where = in_line(record)
    evidence = visible(f"{where}: {evidence}" if where and not record.problem else evidence)
    return f"{sign} {record.verdict:<13}{visible(record.id)}  {evidence}{_notes([record])}"


def _notes(records: Sequence[Record]) -> str:
    moved = sum(record.moved and record.verdict != "error" for record in records)
    missed = sum(not record.control.caught and not record.problem for record in records)
    notes = [f"{moved} MOVED"] * bool(moved) + [f"{missed} CONTROL NOT CAUGHT"] * bool(missed)
    return "".join(f"  {note}" for note in notes)
