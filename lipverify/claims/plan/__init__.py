"""The plan of a claim: its cells, their controls, its cross-checks, and its figures and tables.

claim         a claim, its cells, controls and cross-checks before anything is measured
registry      the claims of the library and of a file, and those that a pattern selects
profile       the amount of evidence: quick or full
cells, measured, figure, declaration   turn the declarations of a claims file into a plan

This is the package's public interface: tests and other programs import the names below from here.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.claims.plan.cells import estimate as estimate
    from lipverify.claims.plan.claim import (
        CellPlan as CellPlan,
        Claim as Claim,
        ControlPlan as ControlPlan,
        CrossPlan as CrossPlan,
        Estimate as Estimate,
        Evidence as Evidence,
        Measurement as Measurement,
        recorded as recorded,
    )
    from lipverify.claims.plan.profile import profile_named as profile_named
    from lipverify.claims.plan.registry import (
        all_claims as all_claims,
        claims_of as claims_of,
        library_claims as library_claims,
        select_claims as select_claims,
    )

lazy()
