"""Claims: statements about scaling, the evidence for or against them, and the verdict.

A claims file imports from here what it declares with:

    from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile

A file that draws its own figures or tables also needs the records they are made of:

    from lipverify.claims.ledger import Figure, Panel, Series, Table
"""

from lipverify.claims.language.claim import agree, at, claim
from lipverify.claims.language.form import bound, exponent, identity
from lipverify.claims.plan.profile import per_profile
from lipverify.errors import InvalidInput
from lipverify.foundation.lazy import directory

__all__ = ["agree", "at", "bound", "claim", "exponent", "identity", "per_profile"]
__dir__ = directory(__name__)
RETIRED = {
    "draw": "draw(function, name=...) is written at(function, name=...) now; import at",
    "needs": "@needs(name=calls) is written at(function, name=at(...)) now, where a claim calls it",
    "DIMENSIONS": "DIMENSIONS is written out now, such as per_profile((2, 3), (2, 3, 5, 8))",
    "Source": "Source(paper, place, printed) is written (paper, place, printed) now; nothing is imported for it",
    **dict.fromkeys(
        ("Band", "Figure", "HeatMap", "Panel", "Region", "Series", "Table"),
        "records of figures and tables come from lipverify.claims.ledger now",
    ),
}
"""Names of earlier versions, and their replacements."""


def __getattr__(name: str) -> object:
    """Refuse a name of an earlier version and name its replacement."""
    if name in RETIRED:
        raise InvalidInput(f"{name}: {RETIRED[name]}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
