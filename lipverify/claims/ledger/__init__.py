"""The result of a run: records, their verdicts and grades, and everything derived from them alone.

record      a claim's record and its cells, the ledger of a run, and both as JSON
verdict     the decision of a claim from an interval and the allowed range: the only place where verdicts are made
outcomes    the outcome of each passage of the sources, and the counts by outcome
diff        the comparison of two ledgers, claim by claim
figure      figures as data
reach       the range over which a verdict holds, and the evidence of a claim's cells, in words
symbols     printed names of coordinates

This is the package's public interface: tests and other programs import the names below from here.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.claims.ledger.diff import ClaimChange as ClaimChange, Comparison as Comparison, compare as compare
    from lipverify.claims.ledger.figure import (
        Band as Band,
        Figure as Figure,
        HeatMap as HeatMap,
        Panel as Panel,
        Region as Region,
        Series as Series,
    )
    from lipverify.claims.ledger.outcomes import (
        OUTCOMES as OUTCOMES,
        Judged as Judged,
        behind as behind,
        controls as controls,
        counts as counts,
        measured as measured,
        outcome as outcome,
        passages as passages,
    )
    from lipverify.claims.evidence.grade import GRADES as GRADES
    from lipverify.claims.ledger.record import (
        Cell as Cell,
        CellControl as CellControl,
        Control as Control,
        CrossCheck as CrossCheck,
        Heading as Heading,
        Kind as Kind,
        Ledger as Ledger,
        Passage as Passage,
        Provenance as Provenance,
        Ratio as Ratio,
        Ray as Ray,
        Record as Record,
        Source as Source,
        Table as Table,
        read_ledger as read_ledger,
        schema as schema,
        write_ledger as write_ledger,
    )
    from lipverify.claims.ledger.symbols import Scalar as Scalar
    from lipverify.claims.ledger.verdict import (
        VERDICTS as VERDICTS,
        Allowed as Allowed,
        Interval as Interval,
        Verdict as Verdict,
        combine as combine,
        conclude as conclude,
        decide as decide,
        margin as margin,
        settled as settled,
    )
    from lipverify.foundation.noted import Grade as Grade

lazy()
