"""Claims: statements about scaling, the evidence for or against them, and the verdict.

A claims file imports from here what it declares with:

    from lipverify.claims import agree, at, bound, claim, exponent, identity, per_profile

A file that draws its own figures or tables also needs the records they are made of:

    from lipverify.claims.ledger import Figure, Panel, Series, Table
"""

from lipverify.claims.language.claim import agree, at, claim
from lipverify.claims.language.form import bound, exponent, identity
from lipverify.claims.plan.profile import per_profile
from lipverify.foundation.lazy import directory

__all__ = ["agree", "at", "bound", "claim", "exponent", "identity", "per_profile"]
__dir__ = directory(__name__)
