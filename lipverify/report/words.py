"""The fixed texts of the report, independent of the ledger."""

from __future__ import annotations

from functools import cache

import msgspec

from lipverify.foundation.shipped import table

VERDICTS = {
    "supported": "supported",
    "refuted": "refuted",
    "inconclusive": "inconclusive",
    "error": "error",
}
"""The word for a verdict, short enough for a table."""
SIGNS = {"supported": "✓", "refuted": "✗", "inconclusive": "?", "error": "!"}

LEGEND = (
    "A number with its signed distance to the edge of the set that a reading allows: ✓ inside, ✗ outside, ? across the "
    "edge; ‡ marks a control that was not caught there. Readings of one statement that rest on the same measurement "
    "share a table, with a column for each. A dash means that no finite edge bounds the set."
)
"""Explains the tables of evidence."""

HOW_VERDICTS_ARE_MADE = (
    "A measurement is an interval, the measured value ± its error; a claim allows a set of values. If the interval "
    "lies inside the set, the claim is supported at that point; if it lies outside, it is refuted there; if it "
    "crosses the edge, the point is inconclusive. A narrower interval can decide an open case and never overturns a "
    "decided one.",
    "A claim over several points is refuted if it is refuted at any of them, and supported only if it is supported "
    "at all of them; its range names these points. The number beside a claim is that of one point: the smallest "
    "that refutes it, or else the first that is inconclusive, or else the one nearest to the edge of what the claim "
    "allows.",
    "Every point has a control, a similar statement with the opposite answer, which the same measurement must "
    "decide: a false one where the claim holds, a true one (its correction) where it fails. Otherwise the point is "
    "inconclusive, and so is a claim for which two methods disagree.",
    "Only claims of the kind printed, which state exactly the law, range and convention of their source, count for "
    "or against a paper. A claim has the weakest grade of its points; if another claim proves the same quantity and "
    "bounds at all of them, it has that grade. A claim that needs an argument in words is by hand, and names the "
    "document.",
    "An asymptotic claim ($\\Omega$, $O$, $\\Theta$) is decided by the limit of the local exponent along a ray, "
    "extrapolated over many decades with a stated error; where that equals the claimed exponent, by whether the "
    "ratio of the quantity to the claimed power tends to a positive constant. Such evidence is numerical: a finite "
    "computation does not establish a limit; a proof does, with its constants and range.",
)


class Entry(msgspec.Struct, frozen=True):
    """A symbol, its meaning, and the forms in LaTeX that it stands for."""

    symbol: str
    meaning: str
    names: frozenset[str]
    of: tuple[str, ...] = ()
    """The first words of the ids of lipverify's claims for which it has this meaning; empty if it has it everywhere."""

    def holds_for(self, stem: str, own: bool) -> bool:
        """True if the symbol has this meaning in a statement; users' claims (not `own`) define their own letters."""
        return not self.of or (own and stem.partition(".")[0] in self.of)


@cache
def notation() -> tuple[Entry, ...]:
    """Symbols in the order in which a page defines them: those of the shipped claims, and Landau's."""
    shipped = [
        Entry(symbol, meaning, frozenset(names.split()), tuple(group["of"]))
        for group in table()["symbols"]
        for names, symbol, meaning in group["rows"]
    ]
    orders = "at least, at most, and exactly of the order of, up to a constant"
    names = frozenset((r"\Omega", r"\Theta", "O", r"\mathcalO"))
    return (*shipped, Entry(r"$\Omega, \mathcal{O}, \Theta$", orders, names))
