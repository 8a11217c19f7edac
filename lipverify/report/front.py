"""The first layer: the question, the outcome of each statement, and the main figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from lipverify.claims.ledger.figure import Figure
from lipverify.claims.ledger.outcomes import by_outcome, controls, counts, measured, passages
from lipverify.claims.ledger.record import Ledger, Record
from lipverify.foundation.quoting import counted
from lipverify.report import readings, sources
from lipverify.report.drawings import joined
from lipverify.report.model import Drawing, Front
from lipverify.report.standing import judged_by
from lipverify.report.statements import Entry, entries
from lipverify.report.text import Text, rich

Draw = Callable[[Figure], Drawing]
"""A function that places a figure and returns the page's reference to it."""
CONTROLS = "(if a claim holds, its control is a false statement; if it fails, a true one)"
OFTEN, SHORT = 8, 30
"""An assumption under so many headings, and longer than so many characters, is printed once, on the first page."""
Contents = tuple[tuple[str, tuple[Entry, ...]], ...]
"""The sections in order, each with the places that its claims quote."""


def contents_of(ledger: Ledger) -> Contents:
    """The sections and their places, in the order of first mention in the ledger."""
    sections: dict[str, list[Entry]] = {}
    for entry in entries(ledger):
        heading = entry.claims[0].heading
        sections.setdefault(heading.section if heading is not None else "", []).append(entry)
    return tuple((title, tuple(held)) for title, held in sections.items())


def front(ledger: Ledger, contents: Contents, draw: Draw) -> Front:
    """The first layer, without its symbols."""
    groups = [entry.claims for _, held in contents for entry in held]
    printed = passages(measured(ledger.claims))
    return Front(
        summary=summary(ledger, contents),
        counts=tuple((name, len(held)) for name, held in by_outcome(printed).items()),
        pictures=tuple(draw(figure) for group in groups for figure in _front_figures(group)[:1]),
        symbols=(),
        defines=ledger.symbols,
        setting=tuple(map(rich, setting(groups))),
    )


def setting(groups: Sequence[Sequence[Record]]) -> tuple[str, ...]:
    """The assumptions of many theorems, in order of first mention."""
    under = Counter(text for group in groups for text in dict.fromkeys(shared_by(judged_by(group))))
    return tuple(text for text, headings in under.items() if headings >= OFTEN and len(text) > SHORT)


def shared_by(records: Sequence[Record]) -> tuple[str, ...]:
    """The assumptions common to all of some readings."""
    first, *others = records
    return tuple(
        text
        for text in dict.fromkeys(first.assumptions)
        if text.strip() and all(text in record.assumptions for record in others)
    )


def _front_figures(records: Sequence[Record]) -> tuple[Figure, ...]:
    return joined(figure for record in records for figure in record.figures if figure.layer == "front")


def summary(ledger: Ledger, contents: Contents) -> tuple[Text, ...]:
    """The question, the outcome, and the trust in the evidence: one paragraph each."""
    if not ledger.claims:
        return (rich("The ledger holds no claims: nothing was checked."),)
    return tuple(map(rich, (_asked(ledger), _outcome(ledger, contents), _trust(ledger))))


def _asked(ledger: Ledger) -> str:
    papers = list(dict.fromkeys(sources.short(record.source.paper) for record in ledger.claims))
    cells = sum(len(record.cells) for record in ledger.claims)
    count = len(passages(measured(ledger.claims)))
    asked = f"This report tests {counted(count, 'passage')} of" if count else "This report tests claims about"
    return (
        f"{asked} {'; '.join(papers)}, by {counted(len(ledger.claims), 'claim')} measured at {counted(cells, 'cell')}."
    )


def _outcome(ledger: Ledger, contents: Contents) -> str:
    surprises = sum(record.moved for record in ledger.claims)
    led = f"{counts(measured(ledger.claims)).rpartition('; ')[2]}. {_listed(ledger, contents)}"
    new = sum(record.expected is None for record in ledger.claims)
    compared = _compared(surprises, new, len(ledger.claims))
    return f"{led}{compared[0].upper()}{compared[1:]}"


def _listed(ledger: Ledger, contents: Contents) -> str:
    """Where the claims stand, so that a reader can add them up."""
    decided = sum(len(entry.rows) for _, held in contents for entry in held)
    rest = len(ledger.claims) - decided
    shown = f"The table has the {counted(decided, 'claim')} that decide{'s' if decided == 1 else ''}"
    return f"{shown}; the entries below list or count the other {rest}. " if rest else ""


def _compared(surprises: int, new: int, claims: int) -> str:
    """Compare the verdicts with the recorded ones; a new claim has none."""
    if new == claims:
        return "no claim records a verdict yet."
    rest = "every other verdict" if new else "every verdict"
    first = f"{counted(new, 'claim')} without a recorded verdict; " if new else ""
    return first + (
        f"{rest} is the one that its file expects."
        if not surprises
        else f"{counted(surprises, 'verdict')} not the one that its file expects (marked ≠)."
    )


def _trust(ledger: Ledger) -> str:
    checks, apart = readings.compared(ledger.claims)
    clause = controls(ledger.claims)
    told = f"{clause[0].upper()}{clause[1:]} {CONTROLS}"
    if not checks:
        return f"{told}."
    methods = f"{counted(checks, 'number')} computed by two methods"
    return f"{told}; {methods} " + (f"differ in {apart} cases." if apart else "agree within their errors.")
