"""The table of statements, "theorem | printed | measured ± | verdict, range, grade", which every report prints.

A row is made from the ledger alone. Its fields are text that may hold `$LaTeX$`, so that a PDF, a page, a table of a
paper and a file of numbers can all be written from it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from lipverify.claims.ledger.outcomes import behind, grounds, measured, passages, resting_on
from lipverify.claims.ledger.reach import reach_of_record, telling
from lipverify.claims.ledger.record import KINDS, Cell, Kind, Ledger, Passage, Record
from lipverify.claims.ledger.symbols import Scalar
from lipverify.claims.ledger.verdict import Verdict
from lipverify.foundation.latex import plain
from lipverify.report import coordinates, digits, readings, sources
from lipverify.report.visible import called

__all__ = ["Entry", "Number", "Row", "entries", "heading", "numbers", "ratio", "rows", "sentence"]


class Number(msgspec.Struct, frozen=True, kw_only=True):
    r"""The deciding number of one quantity of a claim, and the value that it should match.

    Attributes
    ----------
    quantity
        The measured quantity.
    case
        The point at which it was measured, such as "$d = 2$"; empty if the claim has only one.
    value, error
        The value and its half-width, in units of the quantity; None if no finite value is known.
    measured
        Both in print, with two digits of the error.
    low, high
        The values that the claim allows there; None is unbounded.
    claimed
        The same in print, with the value of its formula at the point: "$\geq 1/d$ = 0.5".
    ratio
        What a ratio showed where the exponents are equal; empty if the exponents decided.
    margin
        Distance from the edge of the allowed range: positive inside; None if it has no finite edge.
    """

    quantity: str
    case: str
    value: float | None
    error: float | None
    measured: str
    low: float | None
    high: float | None
    claimed: str
    ratio: str
    margin: float | None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One claim: what is printed, what was measured, and the verdict with its range and grade.

    Attributes
    ----------
    id
        The claim.
    kind
        Its relation to the source; only "printed" counts for or against a paper.
    paper, place
        The paper, in short, and the place in it.
    title
        The statement in words; empty if the claim has none but its formula.
    apart
        What tells the claim from others of its passage with the same formula; empty if nothing has to.
    statement
        The formula, LaTeX without dollar signs.
    printed
        The words of the source.
    numbers
        The deciding number of each quantity, the one that decides the claim first; empty if nothing was measured.
    verdict
        One of docs/verdicts.md.
    range
        Where it holds, fails or is open; empty if the check broke.
    grade, reasons, theorems
        The weakest grade of the evidence, that of a claim that proves this one included, empty without evidence; the
        reasons for it, and the sentences of the certified theorems that it rests on.
    instead
        What holds in place of a refuted statement, or more sharply.
    problem
        Why the claim is open, or what broke.
    """

    id: str
    kind: Kind
    paper: str
    place: str
    title: str
    apart: str
    statement: str
    printed: str
    numbers: tuple[Number, ...]
    verdict: Verdict
    range: str
    grade: str
    reasons: tuple[str, ...]
    theorems: tuple[str, ...]
    instead: str
    problem: str

    @property
    def heading(self) -> str:
        """The place and the title: "Theorem 6. The box kernel attains the bound"."""
        return heading(self.place, self.title)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """All claims about one place of a source.

    Attributes
    ----------
    anchor
        Its name in a report: theorem-1, theorem-2, ...
    place, title
        The place and what is said there; the title may be empty.
    passage
        Its outcome; None if nobody printed what the claims say, but they follow from it or sharpen it.
    claims
        All claims about the place, those that decide first.
    rows
        A row for each claim of the kind "printed", or for those of the deciding reading.
    others
        A row for each other claim: those of the other verdict first, and then those nearest to print.
    """

    anchor: str
    place: str
    title: str
    passage: Passage | None
    claims: tuple[Record, ...]
    rows: tuple[Row, ...]
    others: tuple[Row, ...]

    @property
    def heading(self) -> str:
        """The place and the title: "Theorem 6. The box kernel attains the bound"."""
        return heading(self.place, self.title)


def rows(ledger: Ledger) -> list[Row]:
    """The table of statements: every printed claim and every deciding reading, in the order of the ledger."""
    return [row for entry in entries(ledger) for row in entry.rows]


def entries(ledger: Ledger) -> list[Entry]:
    """The places that the claims of a ledger quote, in order of first mention."""
    places: dict[tuple[str, str], list[Record]] = {}
    for record in ledger.claims:
        places.setdefault((record.source.paper, record.source.place), []).append(record)
    judged = {(passage.paper, passage.place): passage for passage in passages(measured(ledger.claims))}
    proofs = tuple(record for record in ledger.claims if record.proves)
    chosen = {key: _deciding(records, judged.get(key), proofs) for key, records in places.items()}
    headings = Counter(_under(records[0]) for records in chosen.values())
    return [
        _entry(f"theorem-{k}", chosen[key], records, judged.get(key), proofs, headings[_under(chosen[key][0])] == 1)
        for k, (key, records) in enumerate(places.items(), 1)
    ]


def heading(place: str, title: str) -> str:
    """A place and a title, each as a sentence.

    >>> heading("Theorem 6", "the box kernel attains the bound"), heading("Theorem 6", "")
    ('Theorem 6. The box kernel attains the bound', 'Theorem 6')
    """
    return ". ".join(filter(None, [place.strip().rstrip("."), sentence(title)]))


def sentence(words: str) -> str:
    """Words with a capital letter at the beginning, unless a symbol or a formula is there.

    >>> sentence("attention is a kernel"), sentence("w* tends to infinity"), sentence("log(a / b) > 0")
    ('Attention is a kernel', 'w* tends to infinity', 'log(a / b) > 0')
    """
    first = words.partition(" ")[0].rstrip(",:")
    return words[:1].upper() + words[1:] if first == "a" or (len(first) > 1 and first.isalpha()) else words


def _deciding(records: Sequence[Record], passage: Passage | None, proofs: Sequence[Record]) -> list[Record]:
    """The claims of a place with a row: the printed ones, or the deciding reading, or else the one nearest to print.

    Of several readings that decide, the first with the grade of the passage.
    """
    if passage is None:
        return [min(records, key=lambda record: [*KINDS].index(record.kind))]
    printed = [record for record in records if record.kind == "printed"]
    groups: dict[str, list[Record]] = {}
    for record in records:
        if record.id in passage.telling:
            groups.setdefault(record.reading or record.id, []).append(record)
    return printed or next(
        (held for held in groups.values() if behind(held, proofs) == passage.grade), next(iter(groups.values()))
    )


def _under(record: Record) -> str:
    """The title of a heading of lipverify's own claims; empty for a user's."""
    return record.heading.title if record.heading is not None else ""


def _entry(
    anchor: str,
    chosen: Sequence[Record],
    records: Sequence[Record],
    passage: Passage | None,
    proofs: Sequence[Record],
    alone: bool,
) -> Entry:
    """The entry of a place; `alone` if no other place has claims under its heading; `proofs` of any place."""
    title = (alone and _under(chosen[0])) or next(filter(None, map(_title, chosen)), "") or _under(chosen[0])
    others = sorted(
        (record for record in records if record not in chosen),
        key=lambda record: (record.verdict == chosen[0].verdict, [*KINDS].index(record.kind)),
    )
    claims = (*chosen, *others)
    same: dict[tuple[str, str], list[Record]] = {}
    for record in claims:
        same.setdefault((_title(record), record.statement), []).append(record)
    made = [_row(record, _title(record) or title, same[_title(record), record.statement], proofs) for record in claims]
    return Entry(
        anchor=anchor,
        place=chosen[0].source.place,
        title=title,
        passage=passage,
        claims=claims,
        rows=tuple(made[: len(chosen)]),
        others=tuple(made[len(chosen) :]),
    )


def _title(record: Record) -> str:
    """The title of a claim alone, without that of its heading and without the names of its reading.

    Empty if the claim has no words but its formula.
    """
    title = record.title.removeprefix(f"{_under(record)}: ") if _under(record) else record.title
    words, _, label = title.rpartition(": ")
    parts = {*readings.label(record).split("/"), ""}
    if words and all(part.removesuffix(" bound").rpartition(" = ")[2] in parts for part in label.split(", ")):
        title = words
    formulas = (plain(record.statement), record.claimed.replace("; ", ", "), record.id)
    return "" if title.replace("; ", ", ") in formulas else title


def _apart(record: Record, same: Sequence[Record]) -> str:
    """What tells a claim from others with the same formula: the coordinates that its id names, in words."""
    if len(same) == 1:
        return ""
    label = readings.short_labels([record, *(other for other in same if other is not record)])[0]
    # a coordinate that varies among the cells is none of the id, even if one of its values looks like it
    where: Mapping[str, Scalar] = coordinates.shared([cell.where for cell in (*record.cells, *record.cells[:1])])
    names = {str(value): name for name, value in where.items() if name != "reading"}
    return ", ".join(
        coordinates.words({names[part]: where[names[part]]}) if part in names else part.replace("-", " ")
        for part in filter(None, label.split("/"))
    )


def _row(record: Record, title: str, same: Sequence[Record], proofs: Sequence[Record]) -> Row:
    of = resting_on(record, proofs)
    reasons, theorems = grounds(of.cells)
    if of is not record:
        reasons = (f"proved by {of.id}", *reasons)
    if record.by_hand:
        reasons = (f"by hand for every {', '.join(record.forall)}: {record.by_hand}", *reasons)
    return Row(
        id=record.id,
        kind=record.kind,
        paper=sources.short(record.source.paper),
        place=record.source.place,
        title=title,
        apart=_apart(record, same),
        statement=record.statement,
        printed=record.source.printed,
        numbers=numbers(record),
        verdict=record.verdict,
        range=reach_of_record(of, latex=True),
        grade=of.grade or "",
        reasons=reasons,
        theorems=theorems,
        instead=record.corrected if readings.differs(record) else "",
        problem=called(record.problem),
    )


def numbers(record: Record) -> tuple[Number, ...]:
    """The deciding number of each quantity of a claim, the one that decides the claim first."""
    return tuple(_number(cell, record.cells) for cell in telling(record.cells))


def _number(cell: Cell, cells: Sequence[Cell]) -> Number:
    same = coordinates.shared([other.where for other in cells])
    return Number(
        quantity=cell.quantity_latex or cell.quantity,
        case=coordinates.words(coordinates.without(cell.where, same)),
        value=cell.measured,
        error=cell.error,
        measured=digits.with_error(cell.measured, cell.error),
        low=cell.allowed.low,
        high=cell.allowed.high,
        claimed=_claimed(cell),
        ratio=ratio(cell),
        margin=cell.margin,
    )


def _claimed(cell: Cell) -> str:
    r"""The claim about a number, with the values of its formulas: "$\geq 1/d$ = 0.5"."""
    claimed = cell.claimed_latex or cell.claimed
    ends = dict.fromkeys(end for end in (cell.allowed.low, cell.allowed.high) if end is not None)
    if "within" in cell.edges and len(ends) == 2:  # the value to match, between its tolerances
        ends = dict.fromkeys([sum(ends) / 2])
    formulas = [*cell.edges.values()] or [plain(claimed)]
    if not ends or not any(re.search(r"[^\W\d_]", re.sub(_NUMBER, "", formula)) for formula in formulas):
        return claimed
    return f"{claimed} = {' to '.join(digits.typeset(digits.beside(end, cell.error)) for end in ends)}"


_NUMBER = r"\d[\d.]*(e[-+]?\d+)?"
_EXPONENT = re.compile(r"limit exponent of \$(.*)\$ in \$(.*)\$")


def ratio(cell: Cell) -> str:
    """What the ratio of a quantity to the claimed power showed; empty if the exponents decided."""
    ratio, of = cell.ratio, _EXPONENT.fullmatch(cell.quantity_latex)
    if ratio is None or of is None:
        return ""
    exponent = str(Fraction(ratio.power).limit_denominator(99))
    base = {"0": "", "1": rf" / {of[2]}"}.get(exponent, rf" / {of[2]}^{{{exponent}}}")
    limit = " ± ".join(map(digits.typeset, digits.with_error(ratio.value, ratio.error).split(" ± ")))
    return rf"exponent equal; ${of[1]}{base}$ → {limit}"
