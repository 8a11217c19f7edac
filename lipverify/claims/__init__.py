"""Claims: statements about scaling, the evidence for or against them, and the verdict.

A claims file imports from here what it declares with:

    from lipverify.claims import Source, agree, at, bound, claim, exponent, identity, per_profile
"""

from lipverify.claims.language.claim import agree, at, claim
from lipverify.claims.language.form import bound, exponent, identity
from lipverify.claims.ledger.figure import Band, Figure, HeatMap, Panel, Region, Series
from lipverify.claims.ledger.record import Source, Table
from lipverify.claims.plan.profile import DIMENSIONS, per_profile
from lipverify.errors import InvalidInput
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
    "exponent",
    "identity",
    "per_profile",
]
__dir__ = directory(__name__)


def __getattr__(name: str) -> object:
    """Refuse a name of earlier versions by what is written in its place."""
    if name == "draw":
        raise InvalidInput("draw(function, name=...) is written at(function, name=...) now; import at.")
    if name == "needs":
        raise InvalidInput("@needs(name=calls) is written at(function, name=at(...)) now, where a claim calls it.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
