"""The one place where a grade is made, with its reasons.

returned    what a function returned: a theorem's number, an exact value, a number of lipverify, or a plain number
grade       the grade of a number, from that and from what ran; the grade of a claim from those of its cells
ranges      whether evidence covers the range that a claim declares
theorems    the committed proofs, certified again

A cell stores its `Basis` and the reasons; `lipverify audit` makes both again with the same functions.
"""

from typing import TYPE_CHECKING

from lipverify.foundation.lazy import lazy

if TYPE_CHECKING:
    from lipverify.claims.evidence.grade import GRADES as GRADES, Basis as Basis, grade_of as grade_of
    from lipverify.claims.evidence.returned import Certified as Certified, Returned as Returned, returned as returned

lazy()
