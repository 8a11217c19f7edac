"""Claims: statements about scaling, the evidence for or against them, and the verdict.

A claims file imports from here all that it declares, measures and shows with:

    from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile
    from lipverify.claims import between, proved, proved_optimum, proved_rates, proved_window
    from lipverify.claims import makes, remembered
    from lipverify.claims import Band, Figure, HeatMap, Panel, Region, Series, Table
"""

from lipverify.claims.language.claim import agree, at, claim
from lipverify.claims.language.form import bound, exponent, identity
from lipverify.claims.ledger.figure import Band, Figure, HeatMap, Panel, Region, Series
from lipverify.claims.ledger.record import Table
from lipverify.claims.plan.profile import per_profile
from lipverify.claims.plan.proved import between, proved, proved_optimum, proved_rates, proved_window
from lipverify.foundation.lazy import directory
from lipverify.foundation.noted import makes, remembered

__all__ = [
    "Band",
    "Figure",
    "HeatMap",
    "Panel",
    "Region",
    "Series",
    "Table",
    "agree",
    "at",
    "between",
    "bound",
    "claim",
    "exponent",
    "identity",
    "makes",
    "per_profile",
    "proved",
    "proved_optimum",
    "proved_rates",
    "proved_window",
    "remembered",
]
__dir__ = directory(__name__)
