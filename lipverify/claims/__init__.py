"""Claims: statements about scaling, the evidence for or against them, and the verdict.

A claims file imports from here what it declares with:

    from lipverify.claims import Source, agree, at, bound, claim, draw, exponent, identity, needs, per_profile
"""

from lipverify.claims.language.claim import agree, at, claim, draw
from lipverify.claims.language.form import bound, exponent, identity
from lipverify.claims.ledger.figure import Band, Figure, HeatMap, Panel, Region, Series
from lipverify.claims.ledger.record import Source, Table
from lipverify.claims.plan.profile import DIMENSIONS, per_profile
from lipverify.foundation.calls import needs
from lipverify.foundation.lazy import directory

__all__ = [
    "DIMENSIONS",
    "Band",
    "Figure",
    "HeatMap",
    "Panel",
    "Region",
    "Series",
    "Source",
    "Table",
    "agree",
    "at",
    "bound",
    "claim",
    "draw",
    "exponent",
    "identity",
    "needs",
    "per_profile",
]
__dir__ = directory(__name__)
