"""The outcome of each passage of the sources, and the counts that open a run, the README, the report and the findings.

A passage is the text of a source in one place: a theorem, a lemma, a display, a figure, a table or a sentence. Its
claims name that place. A passage counts once, with one outcome, however many claims it needs; claims are counted
separately.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from lipverify.claims.evidence.grade import speaks_for, strongest, weakest
from lipverify.claims.evidence.ranges import squeezed
from lipverify.claims.ledger.record import Cell, Kind, Outcome, Passage, Record
from lipverify.claims.ledger.verdict import OTHER_WAY, VERDICTS, Verdict, combine
from lipverify.foundation.noted import Grade
from lipverify.foundation.quoting import counted


def behind(judged: Iterable[Record], records: Iterable[Record]) -> Grade | None:
    """The weakest grade behind a set of verdicts; `records` are all readings of the statement."""
    every = tuple(records)
    return weakest(grade for claim in judged if (grade := resting_on(claim, every).grade) is not None)


def resting_on(claim: Record, records: Iterable[Record]) -> Record:
    """The record whose evidence a claim has: its own, or that of the claim that proves it.

    A claim that proves it has the same quantity and bounds at every measured point and the same verdict. A claim is
    refuted at a single point, so a proof at one refuting point is enough.
    """
    return next((record for record in records if record.proves == claim.id and _covered(claim, record)), claim)


def grounds(cells: Sequence[Cell]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The reasons for the grades of some cells, counted if they differ, and the sentences of their theorems."""
    reasons = Counter(f"{cell.grade}: {'; '.join(cell.reasons)}" for cell in cells)
    counts = {reason: f" ({count} of {len(cells)} cells)" for reason, count in reasons.items() if len(reasons) > 1}
    sentences = dict.fromkeys(theorem.sentence for cell in cells for theorem in cell.basis.returned.theorems)
    return tuple(f"{reason}{counts.get(reason, '')}" for reason in reasons), tuple(sentences)


def contradicted(records: Iterable[Record]) -> list[tuple[Record, Record]]:
    """Decided claims whose proof comes to the opposite verdict, each with the claim that proves it."""
    every = {record.id: record for record in records}
    pairs = ((every.get(record.proves), record) for record in every.values())
    return [(claim, proof) for claim, proof in pairs if claim and {claim.verdict, proof.verdict} == {*OTHER_WAY}]


def _covered(claim: Record, proof: Record | None) -> bool:
    """True if a proof supports a claim at all its points, or refutes it at one, comparing only shared coordinates."""
    if proof is None or proof.verdict != claim.verdict or not proof.control.caught:
        return False
    telling = [cell for cell in claim.cells if claim.verdict != "refuted" or cell.verdict == "refuted"]
    found = [any(_same(cell, other) for other in proof.cells if other.verdict == proof.verdict) for cell in telling]
    return any(found) if claim.verdict == "refuted" else bool(found) and all(found)


def _same(cell: Cell, other: Cell) -> bool:
    """True if two cells say the same: one quantity, the same bounds, and no coordinate at another value."""
    quantities = (squeezed(one.quantity_latex or one.quantity) for one in (cell, other))
    ends = zip(cell.allowed.ends, other.allowed.ends, strict=True)
    return (
        cell.allowed.open == other.allowed.open
        and all(a == b or math.isclose(a, b, rel_tol=1e-12) for a, b in ends)
        and len(set(quantities)) == 1
        and all(cell.where[name] == value for name, value in other.where.items() if name in cell.where)
        and (other.grade != "proved" or speaks_for(other.basis, {**cell.given, **cell.where}))
    )


OUTCOMES: dict[Outcome, str] = {
    "holds as printed": "every claim of the kind printed is supported",
    "holds in one of its readings": "the wording allows several readings, and one of them is supported",
    "false as printed": "a claim of the kind printed is refuted",
    "open": "not decided, or no tested reading holds and the wording allows others",
}
COUNTED: tuple[Kind, ...] = ("printed", "convention")
"""Kinds of claims that state what a source prints; the others are consequences, sharper or stronger statements."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A claim and its verdict: the fields that the counts need.

    Attributes
    ----------
    id
        The claim.
    kind
        Its relation to its source; None if it is not stated.
    verdict
        Its verdict; None if it is not known.
    paper, place
        The passage to which it belongs.
    reading
        The reading to which it belongs, if the wording allows several; empty if it is a reading by itself.
    corrected
        The statement that holds in place of the printed one, or a sharper one.
    grade
        The grade of the verdict; None if the claim is not measured.
    cells
        The number of supported cells and of all cells; zeros if the claim is not measured.
    """

    id: str
    kind: Kind | None = None
    verdict: Verdict | None = None
    paper: str = ""
    place: str = ""
    reading: str = ""
    corrected: str = ""
    grade: Grade | None = None
    cells: tuple[int, int] = (0, 0)


def measured(records: Sequence[Record]) -> list[Judged]:
    """The claims of a ledger with their verdicts; a claim that another one proves has the grade of the proof."""
    proofs = tuple(record for record in records if record.proves)
    return [
        Judged(
            id=record.id, kind=record.kind, verdict=record.verdict, paper=record.source.paper,
            place=record.source.place,
            reading=record.reading, corrected=record.corrected.strip(), grade=behind([record], proofs),
            cells=(sum(cell.verdict == "supported" for cell in record.cells), len(record.cells)),
        )
        for record in records
    ]  # fmt: skip


def outcome(printed: Iterable[Verdict | None], readings: Iterable[Iterable[Verdict | None]] = ()) -> Outcome:
    """The outcome of a passage from the verdicts of its claims; None is a claim that is not decided yet.

    If there are claims of the kind "printed", they alone decide: all of them must be supported, and one refuted claim
    makes the passage false. Otherwise its readings decide. Each reading is a conjunction of claims, and one supported
    reading is enough. If all readings are refuted the passage stays open: a wording that allows these readings allows
    others, and only a printed statement counts against a paper. A verdict found later can decide an open passage and
    cannot change any other outcome.

    >>> outcome(["supported", "refuted"])
    'false as printed'
    >>> outcome([], [["supported", "supported"], ["refuted"]])
    'holds in one of its readings'
    >>> outcome([], [["refuted"], ["refuted"]])
    'open'
    """
    stated = list(printed)
    if stated:
        decided: dict[Verdict, Outcome] = {"supported": "holds as printed", "refuted": "false as printed"}
        return decided.get(_joined(stated), "open")
    return "holds in one of its readings" if "supported" in map(_joined, readings) else "open"


def _joined(verdicts: Iterable[Verdict | None]) -> Verdict:
    return combine(verdict or "inconclusive" for verdict in verdicts)


def passages(claims: Iterable[Judged]) -> tuple[Passage, ...]:
    """The passages of some claims, in the order of first mention."""
    quoted: dict[tuple[str, str], list[Judged]] = {}
    for claim in claims:
        if claim.kind in COUNTED:
            quoted.setdefault((claim.paper, claim.place), []).append(claim)
    return tuple(_passage(claims) for claims in quoted.values())


def _passage(claims: Sequence[Judged]) -> Passage:
    """One passage from all its claims of a counted kind."""
    printed = [claim for claim in claims if claim.kind == "printed"]
    readings = {} if printed else _readings(claims)
    verdicts = {name: _joined(claim.verdict for claim in group) for name, group in readings.items()}
    holds, fails = ([name for name in readings if verdicts[name] == verdict] for verdict in ("supported", "refuted"))
    became = outcome((claim.verdict for claim in printed), zip(verdicts.values(), strict=True))
    decide = printed or claims
    supported, every = map(sum, zip(*(claim.cells for claim in decide), strict=True))
    telling = {
        "holds as printed": printed,
        "holds in one of its readings": [claim for name in holds for claim in readings[name]],
        "false as printed": [claim for claim in printed if claim.verdict == "refuted"],
        "open": [claim for claim in decide if claim.verdict != "supported"],
    }[became]
    return Passage(
        paper=claims[0].paper,
        place=claims[0].place,
        outcome=became,
        claims=tuple(claim.id for claim in decide),
        telling=tuple(claim.id for claim in telling),
        holds=tuple(holds),
        fails=tuple(fails),
        instead=tuple(dict.fromkeys(claim.corrected for claim in telling if claim.corrected)),
        grade=_grade(became, [readings[name] for name in holds] or [*readings.values()] or [printed]),
        cells=(supported, every),
    )


def _readings(claims: Iterable[Judged]) -> dict[str, list[Judged]]:
    """The claims of each reading; a claim that names none is one by itself."""
    readings: dict[str, list[Judged]] = {}
    for claim in claims:
        readings.setdefault(claim.reading or claim.id, []).append(claim)
    return readings


def _grade(became: Outcome, readings: Iterable[Sequence[Judged]]) -> Grade | None:
    """The grade of an outcome: the best grade among the readings that decide it; of an open passage the weakest."""
    grades = [grade for grade in map(_of_reading, readings) if grade is not None]
    return weakest(grades) if became == "open" else strongest(grades)


def _of_reading(claims: Sequence[Judged]) -> Grade | None:
    """The grade of a reading: the weakest of its claims, or the strongest refutation if any claim is refuted."""
    by_verdict = {name: [claim.grade for claim in claims if claim.verdict == name and claim.grade] for name in VERDICTS}
    if any(claim.verdict == "refuted" for claim in claims):
        return strongest(by_verdict["refuted"])
    undecided = [claim.grade for claim in claims if claim.verdict != "supported" and claim.grade]
    return weakest(undecided or by_verdict["supported"])


def by_outcome(passages: Iterable[Passage]) -> dict[Outcome, list[Passage]]:
    """Sort passages by outcome; every outcome has an entry, possibly empty."""
    sorted_out: dict[Outcome, list[Passage]] = {name: [] for name in OUTCOMES}
    for passage in passages:
        sorted_out[passage.outcome].append(passage)
    return sorted_out


def counts(claims: Sequence[Judged]) -> str:
    """Count passages by outcome and claims by verdict, in one sentence.

    >>> one = Judged(id="a.b", kind="printed", verdict="refuted", paper="P", place="Lemma 1")
    >>> counts([one, Judged(id="a.b/c", kind="stronger", verdict="supported")])
    '1 passage: 1 is false as printed; 2 claims: 1 supported, 1 refuted'
    """
    told = []
    if judged := passages(claims):
        outcomes = [numbered(name, len(held)) for name, held in by_outcome(judged).items() if held]
        told.append(f"{len(judged)} {'passage' if len(judged) == 1 else 'passages'}: {', '.join(outcomes)}")
    if claims:
        verdicts = Counter[str](claim.verdict or "new" for claim in claims)
        tallies = [f"{verdicts[name]} {name}" for name in (*VERDICTS, "new") if verdicts[name]]
        told.append(f"{len(claims)} {'claim' if len(claims) == 1 else 'claims'}: {', '.join(tallies)}")
    return "; ".join(told) or "no claims"


def numbered(name: Outcome, number: int) -> str:
    """A number of passages with their outcome, in words.

    >>> numbered("false as printed", 1), numbered("holds as printed", 30)
    ('1 is false as printed', '30 hold as printed')
    """
    if not name.startswith("holds"):
        return f"{number} {'is' if number == 1 else 'are'} {name}"
    return f"{number} {name if number == 1 else name.replace('holds', 'hold').replace('its', 'their')}"


def controls(records: Iterable[Record]) -> str:
    """Describe how the controls came out, cell by cell, as a clause about these records.

    A cell decides nothing unless its control comes out the other way, so the controls of decided cells must all be
    caught. In an edited ledger they are counted as they are.
    """
    cells = [cell for record in records for cell in record.cells]
    decided = [cell for cell in cells if cell.verdict in OTHER_WAY]
    declared = [cell for cell in decided if cell.control.declared]
    missed = sum(not cell.caught for cell in decided)
    powerless = sum(not cell.caught for cell in cells) - missed
    undecided = len(cells) - len(decided)
    if not decided:
        told = "no cell is decided"
    elif missed:
        told = f"{missed} of {counted(len(decided), 'decided cell')} had a control that did not come out the other way"
    elif not declared:
        told = f"no control is declared for the {counted(len(decided), 'decided cell')}"
    elif len(declared) < len(decided):
        told = f"{len(declared)} of {len(decided)} decided cells have a declared control, which came out the other way"
    else:
        every = "the one decided cell" if len(decided) == 1 else f"each of {len(decided)} decided cells"
        told = f"the control of {every} came out the other way"
    if not undecided:
        return told
    apart = f"; {counted(undecided, 'cell')} {'is' if undecided == 1 else 'are'} undecided"
    some = "" if powerless == undecided else f", {powerless}"
    whose = "its control" if powerless == 1 else "their controls"
    return told + apart + (f"{some} because {whose} did not come out the other way" if powerless else "")
