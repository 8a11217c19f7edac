"""Claims: statements about scaling, the evidence for or against them, and the verdict.

A claims file imports from here all that it declares, measures and shows with:

    from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile
    from lipverify.claims import proved, proved_optimum, proved_rates, proved_window
    from lipverify.claims import makes, remembered
    from lipverify.claims import Band, Figure, HeatMap, Panel, Region, Series, Table
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.claims.language.claim import agree as agree, at as at, claim as claim
    from lipverify.claims.language.form import bound as bound, exponent as exponent, identity as identity
    from lipverify.claims.ledger.figure import (
        Band as Band,
        Figure as Figure,
        HeatMap as HeatMap,
        Panel as Panel,
        Region as Region,
        Series as Series,
    )
    from lipverify.claims.ledger.record import Table as Table
    from lipverify.claims.plan.profile import per_profile as per_profile
    from lipverify.claims.evidence.theorems import (
        proved as proved,
        proved_optimum as proved_optimum,
        proved_rates as proved_rates,
        proved_window as proved_window,
    )
    from lipverify.foundation.noted import makes as makes, remembered as remembered

lazy()
