"""Verdicts in words: one line for each claim or theorem, and a summary of the run in ten lines."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from lipverify.claims.evidence.grade import GRADES
from lipverify.claims.ledger.outcomes import behind, by_outcome, controls, counts, measured, passages
from lipverify.claims.ledger.reach import briefly, condition, in_line, reach_of_record
from lipverify.claims.ledger.record import Ledger, Outcome, Passage, Record
from lipverify.claims.run.deciding import wants
from lipverify.foundation.quoting import counted
from lipverify.report.readings import holds_at, ranges_of
from lipverify.report.terminal.tables import LOOKS, SIGNS, wrapped
from lipverify.report.visible import visible

AS_RECORDED, DIFFERS, BROKE = 0, 1, 3
"""Exit codes of `verify`; 2 is the interpreter's code for a wrong command line."""
DECIDE = " --decide "
"""Separates the command of a claim from the seconds of the steps that were taken for it."""
Trouble = Literal["broke", "moved", "not caught", "open"]
LEFT_OUT: dict[Trouble, str] = {
    "broke": "broke", "moved": "moved", "not caught": "{} without a control that was caught", "open": "{} open",
}  # fmt: skip
"""The words after the count of verdicts that the summary leaves out."""


def exit_code(ledger: Ledger, strict: bool) -> int:
    """3 if a check broke, 1 if a verdict differs from the recorded one or a control escaped, else 0."""
    if any(record.verdict == "error" for record in ledger.claims):
        return BROKE
    differs = any(record.moved or not record.control.caught for record in ledger.claims)
    refuted = strict and any(record.verdict == "refuted" for record in ledger.claims)
    return DIFFERS if differs or refuted else AS_RECORDED


def ending(ledger: Ledger, files: Sequence[Path], strict: bool, width: int) -> list[str]:
    """The lines of the summary, none wider than `width`, and at most ten if the required content fits."""
    head = _wrapped([*_counted(ledger, width), *_new(ledger)], width)
    tail = _wrapped([*_where(ledger, files), _exit(ledger, strict)], width)
    return [*head, *_troubles(ledger, width, max(10 - len(head) - len(tail), 2)), *tail]


def _wrapped(lines: Iterable[str], width: int) -> list[str]:
    return [line for paragraph in lines for line in wrapped(paragraph, width, "    ")]


def needs_a_look(record: Record) -> bool:
    """True if a verdict moved, is open, or its control was not caught."""
    return record.moved or record.verdict in ("error", "inconclusive") or not record.control.caught


def _counted(ledger: Ledger, width: int) -> Iterator[str]:
    """Count passages by outcome, then grades, then claims; if no verdict needs attention, ranges too."""
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
    if told and not any(map(needs_a_look, ledger.claims)):
        named = {id for passage in passages(judged) for id in passage.telling}
        yield from _ranges([record for record in ledger.claims if record.id in named] or ledger.claims)
    yield from others


def _ranges(own: Sequence[Record]) -> Iterator[str]:
    """Where the verdicts hold: the common range, or the counts of ranges, limits and points."""
    ranges = [(reach_of_record(record), record) for record in own if record.verdict != "error"]
    if len({words for words, _ in ranges}) == 1:
        yield "range: " + visible(", ".join(filter(None, [ranges[0][0], briefly(own)])))
        return
    # if a claim has several ranges, some may be points: it counts as a range only if none is
    general = sum(words.startswith("for every ") and " and " not in words for words, _ in ranges)
    limits = sum(bool(condition(record.cells, record.verdict)) for _, record in ranges)
    counts = {
        "for every value": general,
        "as limits": limits,
        "at listed points": len(ranges) - general - limits,
    }
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    if told:
        yield f"ranges of the {len(ranges)} deciding claims: {told}"


def _new(ledger: Ledger) -> Iterator[str]:
    """Name the first claim without a recorded verdict, and count them."""
    new = [record for record in ledger.claims if record.expected is None and record.verdict in ("supported", "refuted")]
    if new:
        first = f'{visible(new[0].id)}: expected="{new[0].verdict}"'
        yield f"{len(new)} new, with no verdict recorded; next: record it, as {first}"


def _troubles(ledger: Ledger, width: int, most: int) -> list[str]:
    """Name the verdicts that need attention with reason and next step, the most urgent first; count the rest."""
    troubles = sorted(filter(needs_a_look, ledger.claims), key=_urgency)
    if not troubles:
        return _wrapped([f"no verdict moved, none is open; {controls(ledger.claims)}"], width)
    lines = _trouble(ledger, troubles[0], width, most - (len(troubles) > 1))
    for named, record in enumerate(troubles[1:], 1):
        more, last = _trouble(ledger, record, width), named + 1 == len(troubles)
        if len(lines) + len(more) + (not last) > most:
            return [*lines, *_wrapped([_left_out(troubles[named:])], width)]
        lines += more
    return lines


def _trouble(ledger: Ledger, record: Record, width: int, most: float = math.inf) -> list[str]:
    """The lines about one claim. If they do not fit, the reason is cut at its beginning, which states the point."""
    next_step, words, cut = _next_step(ledger, record), _reason(record).split(), ""
    while True:
        because = f": {cut}{' '.join(words)}" if words else ""
        text = f"! {visible(record.id)} {_became(record)}{because}; next: {next_step}"
        lines = wrapped(text, width, "    ")
        if len(lines) <= most or not words:
            return lines
        words, cut = words[1:], "... "


def _left_out(records: Sequence[Record]) -> str:
    """Count the verdicts that are not named, by their trouble, and say where they are listed."""
    many = Counter(_trouble_of(record) for record in records)
    counts = ((many[name], LEFT_OUT[name]) for name in get_args(Trouble) if many[name])
    clauses = ", ".join(f"{count} {words.format('is' if count == 1 else 'are')}" for count, words in counts)
    return f"! also, {clauses}: --table and the report name them"


def _urgency(record: Record) -> tuple[int, bool]:
    """Sort key: the most urgent trouble first, and printed statements before others."""
    return get_args(Trouble).index(_trouble_of(record)), record.kind != "printed"


def _trouble_of(record: Record) -> Trouble:
    """The reason why a record needs attention, as a key of `LEFT_OUT`."""
    if record.verdict == "error":
        return "broke"
    if record.moved:
        return "moved"
    return "open" if record.verdict == "inconclusive" else "not caught"


def _became(record: Record) -> str:
    decided = record.verdict in ("supported", "refuted")  # the reason of an open claim states where
    where = visible(reach_of_record(record)) if decided else ""
    return {
        "broke": "broke",
        "moved": f"moved from {record.expected} to {record.verdict} {where}".strip(),
        "open": "is open",
        "not caught": f"is {record.verdict} {where}, its control not caught",
    }[_trouble_of(record)]


def _reason(record: Record) -> str:
    if record.problem:
        return visible("; ".join(filter(None, [record.problem.rstrip("."), wants(record)])))
    missed = next((cell for cell in record.cells if not cell.caught), None)
    if not record.control.caught and missed is not None:
        return f"the control {visible(missed.quantity)} {visible(missed.control.says)} is {missed.control.verdict}"
    return f"{visible(record.measured)}, where {visible(record.claimed)} is claimed"


def _next_step(ledger: Ledger, record: Record) -> str:
    if record.verdict == "error":
        return "fix the cause, then repeat the command with --resume"
    if "disagree" in record.problem:
        return f"one of the two methods is wrong there: {record.reproduce} --seed {ledger.seed + 1}"
    if record.step is not None:
        command, _, spent = record.reproduce.partition(DECIDE)  # a repeated run takes the earlier steps again
        return f"{command}{DECIDE}{math.ceil(float(spent or 0) + 2 * record.step.seconds)}"
    if any(cell.uncontrolled for cell in record.cells):
        return "give control= a statement that is false where the claim is true"
    if record.verdict == "inconclusive":
        return f"{record.reproduce} --profile full" if ledger.profile == "quick" else "reduce the error"
    if not record.control.caught:
        return "choose a control that the evidence can distinguish from the claim"
    return "lipverify diff OLD NEW shows which numbers moved"


def _where(ledger: Ledger, files: Sequence[Path]) -> Iterator[str]:
    """The folder of the ledger and its reports, and the commands that show more."""
    took = f"{counted(len(ledger.claims), 'claim')} in {ledger.provenance.seconds:.0f} s"
    written = f": {', '.join(file.name for file in files)} in {files[0].parent}" if files else ""
    yield f"{took}{written}"
    if ledger.claims:
        yield f"more: {_explaining(ledger.claims[0])}; every claim: --table"


def _explaining(record: Record) -> str:
    """The command that explains a theorem, with the file of its claims."""
    command, _, _ = record.reproduce.partition(DECIDE)
    _, _, *file = shlex.split(command)[:-1] or ("lipverify", "verify")
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
    "holds as printed": "holds", "holds in one of its readings": "in one reading", "false as printed": "false",
    "open": "open",
}  # fmt: skip
STEM, OUTCOME, GRADE, WIDTH = 33, 21, 13, 80
"""Column widths, which with the verdicts that follow add up to eighty."""
HEADING = f"  {'theorem':<{STEM}}{'what is printed':<{OUTCOME}}{'grade':<{GRADE}}claims"


def stem_of(id: str) -> str:
    """The part of an id that all readings of one theorem share."""
    return id.partition("/")[0]


def _told(outcomes: Mapping[Outcome, int], printed: Sequence[Passage]) -> str:
    if len(outcomes) != 1:
        return ", ".join(f"{count} {SHORT[name]}" for name, count in outcomes.items()) or "nothing printed"
    told = SHORT[next(iter(outcomes))]
    return "holds with slack" if told == "holds" and any(passage.instead for passage in printed) else told


def _holding(own: Sequence[Record], records: Sequence[Record], printed: Sequence[Passage], several: bool) -> str:
    """Where the outcomes of a theorem hold, each with its name if there are `several`."""
    if not printed:
        return holds_at(own, records, latex=False)
    ranges = {name: words for name, words in ranges_of(own, printed, records, latex=False).items() if words}
    return "; ".join(f"{SHORT[name]} {words}" if several else words for name, words in ranges.items())


def theorem_line(stem: str, records: Sequence[Record]) -> str:
    """One line for a theorem: the outcomes of its passages, their grade, and the verdicts on all claims."""
    printed = passages(measured(records))
    outcomes = {name: len(held) for name, held in by_outcome(printed).items() if held}
    own = [record for record in records if any(record.id in passage.claims for passage in printed)] or records
    sign = SIGNS[list(outcomes)[-1]] if outcomes else "·"
    told, where, below = _told(outcomes, printed), _holding(own, records, printed, len(outcomes) > 1), ""
    if len(f"{told} {where}") < OUTCOME:
        told = f"{told} {where}".strip()
    elif where:
        below = f"\n    {visible(where)}"
    grade = behind(own, records) or "no evidence"
    counts = Counter[str](record.verdict for record in records)
    tally = " ".join(f"{counts[verdict]}{look}" for verdict, (look, _) in LOOKS.items() if counts[verdict])
    summary = f"{told + ' ':<{OUTCOME}}{grade + ' ':<{GRADE}}{tally}{_notes(records)}"
    # a longer stem moves the next column to the right rather than being cut
    return f"{sign} {visible(stem) + ' ':<{min(STEM, WIDTH - 2 - len(summary))}}{summary}{below}"


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
