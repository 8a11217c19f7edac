"""The result of a run: records, their verdicts and grades, and everything derived from them alone.

record      a claim's record and its cells, the ledger of a run, and both as JSON
verdict decide a claim from an interval and the allowed range: the only place where verdicts are made outcomes the
outcome of each passage of the sources, and the counts by outcome diff compare two ledgers, claim by claim figure
figures as data reach the range over which a verdict holds, in words symbols printed names of coordinates summary the
evidence of a claim's cells in a few words

This is the package's public interface: tests and other programs import the names below from here.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.claims.ledger.diff import ClaimChange, Comparison, compare
    from lipverify.claims.ledger.figure import Band, Figure, HeatMap, Panel, Region, Series
    from lipverify.claims.ledger.outcomes import (
        OUTCOMES,
        Judged,
        behind,
        controls,
        counts,
        measured,
        outcome,
        passages,
        recorded,
    )
    from lipverify.claims.ledger.record import (
        GRADES,
        Cell,
        CellControl,
        Control,
        CrossCheck,
        Heading,
        Kind,
        Ledger,
        Passage,
        Provenance,
        Ray,
        Record,
        Source,
        Step,
        Table,
        Tried,
        read_ledger,
        schema,
        write_ledger,
    )
    from lipverify.claims.ledger.symbols import Scalar
    from lipverify.claims.ledger.verdict import (
        VERDICTS,
        Allowed,
        Interval,
        Verdict,
        combine,
        conclude,
        decide,
        margin,
        settled,
    )
    from lipverify.foundation.noted import Grade

__all__ = [
    "GRADES",
    "OUTCOMES",
    "VERDICTS",
    "Allowed",
    "Band",
    "Cell",
    "CellControl",
    "ClaimChange",
    "Comparison",
    "Control",
    "CrossCheck",
    "Figure",
    "Grade",
    "Heading",
    "HeatMap",
    "Interval",
    "Judged",
    "Kind",
    "Ledger",
    "Panel",
    "Passage",
    "Provenance",
    "Ray",
    "Record",
    "Region",
    "Scalar",
    "Series",
    "Source",
    "Step",
    "Table",
    "Tried",
    "Verdict",
    "behind",
    "combine",
    "compare",
    "conclude",
    "controls",
    "counts",
    "decide",
    "margin",
    "measured",
    "outcome",
    "passages",
    "read_ledger",
    "recorded",
    "schema",
    "settled",
    "write_ledger",
]

__getattr__, __dir__ = lazy(__name__)
